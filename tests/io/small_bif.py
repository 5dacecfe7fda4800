"""A small BIF file, parts of which tests replace."""

from __future__ import annotations


def small_bif(body: str = "", **changes: str) -> bytes:
    """A small BIF file with a part replaced."""
    parts = {
        "rash": "variable rash { type discrete [ 2 ] { yes, no }; }",
        "fever": "variable fever { type discrete [ 3 ] { none, mild, high }; }",
        "p_rash": "probability ( rash ) { table 0.25, 0.75; }",
        "p_fever": "probability ( fever | rash ) {\n  (yes) .1, .2, .7;\n  (no) .6, .3, .1;\n}",
    } | changes
    return ("network test {\n}\n" + "\n".join(parts.values()) + body).encode()
