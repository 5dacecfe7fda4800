"""Formulas of docstrings, which are plain text that a terminal shows, as LaTeX for the site.

A docstring has its formulas under the heading ``Equation``, one a line:

    Equation
    --------
    Π(A) = max_{x ∈ A} π(x)
    N(A) = 1 - Π(not A)

Letters and signs of mathematics stand as themselves; ``_`` and ``^`` have letters and digits or ``{...}`` after them; other
braces are those of sets; words are upright, and names of functions are known.
"""

from __future__ import annotations

import re

HEADING = "Equation"
FUNCTIONS = {"max", "min", "ln", "log", "exp", "sup", "inf"}
JOINING = {
    "if",
    "else",
    "otherwise",
    "and",
    "or",
    "for",
    "all",
    "not",
    "where",
    "with",
    "without",
    "of",
    "is",
    "the",
    "in",
}
SIGNS = {
    "∈": "in", "∋": "ni", "∉": "notin", "∩": "cap", "∪": "cup", "⊆": "subseteq", "∅": "emptyset", "∑": "sum", "∏": "prod",
    "≤": "le", "≥": "ge", "≠": "neq", "⊗": "otimes", "·": "cdot", "…": "ldots", "→": "to", "∞": "infty", "¬": "neg",
}  # fmt: skip
PLAIN = {" | ": r" \mid ", "%": r"\%", "&": r"\&", "#": r"\#", "...": r"\ldots "}
TOKEN = re.compile(r"[_^]\{|[_^](?:[A-Za-z0-9*]+|[+-])|[A-Za-z]{2,}(?: [A-Za-z]{2,})+|[A-Za-z]+|√\(| \| |\.\.\.|\s+|.")


def write_latex(line: str) -> str:
    r"""A formula of plain text as LaTeX.

    >>> write_latex("Π(A) = max_{x ∈ A} π(x)")
    'Π(A) = \\max _{x \\in A} π(x)'
    >>> write_latex("N_ijk if {x : π(x) > 0}")
    'N_{ijk}\\text{ if }\\{x : π(x) > 0\\}'
    """
    pieces, braces, brackets = list[str](), list[str](), list[str]()
    for sign in TOKEN.findall(line):
        if sign in {"_{", "^{", "{"}:
            braces.append("}" if len(sign) > 1 else r"\}")
            pieces.append(sign if len(sign) > 1 else r"\{")
        elif sign == "}":
            pieces.append(braces.pop() if braces else r"\}")
        elif sign in {"√(", "("}:
            brackets.append("}" if len(sign) > 1 else ")")
            pieces.append(r"\sqrt{" if len(sign) > 1 else "(")
        elif sign == ")":
            pieces.append(brackets.pop() if brackets else ")")
        else:
            pieces.append(_write_token(sign))
    text = re.sub(r"\s*(\\text\{ [\w ]+ \})\s*", r"\1", "".join(pieces))
    return re.sub(r" +", " ", text).strip()


def _write_token(token: str) -> str:
    if token[0] in "_^":
        return f"{token[0]}{{{token[1:]}}}"
    if token in FUNCTIONS:
        return f"\\{token} "
    if token in JOINING or (" " in token and token[0].isalpha()):
        return rf"\text{{ {token} }}"
    if len(token) > 1 and token.isalpha():
        return rf"\mathrm{{{token}}}"
    return f"\\{SIGNS[token]} " if token in SIGNS else PLAIN.get(token, token)


def render_equations(lines: list[str]) -> list[str]:
    """The lines of a docstring with its equations as ``math`` directives, the heading left out."""
    rendered, place = list[str](), 0
    while place < len(lines):
        is_heading = lines[place].strip() == HEADING and place + 1 < len(lines)
        if not is_heading or set(lines[place + 1].strip()) != {"-"}:
            rendered.append(lines[place])
            place += 1
            continue
        place += 2
        while place < len(lines) and lines[place].strip():
            rendered += [".. math::", "", f"   {write_latex(lines[place].strip())}", ""]
            place += 1
    return rendered
