"""Mutators of inputs: of bytes and words, of trees of JSON, of rows and fields.

Each takes an input, others to borrow from, words of the format and a generator, and returns another input; the same for the
same state of the generator.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

Mutator: TypeAlias = Callable[[bytes, Sequence[bytes], Sequence[bytes], Random], bytes]

MOST = 1 << 14  # bytes of an input: the rest is for the section of limits
_TOKEN = re.compile(rb"[A-Za-z_][A-Za-z0-9_-]*|[0-9][0-9.eE+-]*|\s+|[^\sA-Za-z0-9]")
_NUMBERS = [
    b"0", b"-0", b"-1", b"1", b"2", b"0.5", b".5", b"1e308", b"1e309", b"-1e-320", b"nan", b"inf", b"-inf", b"1e-17", b"1.0000001",
    b"255", b"65536", b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808", b"1" * 25, b"0x10", b"1_0", b"01",
]  # fmt: skip
_ODD = [
    b"", b"\0", b"\x1b[31m", b"\r", b"\n", b"\t", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\xe2\x80\xae", b"\xf0\x9f\xa6\xa0", b"\xed\xa0\x80",
    "é".encode(), "e\u0301".encode(), "\u2028".encode(), "\u00a0".encode(), b'"', b"'", b"\\", b"\\u0000", b"\\ud800", b"{}", b"[]", b"%s%n",
    b"../../x", b"__index_level_0__", b"?", b"*", b"|", b";", b",", b"!", b"..", b":", b"=", b"<", b">", b"&lt;", b"<!--", b"-->",
]  # fmt: skip


def _tokens(content: bytes) -> list[bytes]:
    return _TOKEN.findall(content)


def _change_bytes(content: bytes, rng: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(changed) + 1)
        match rng.randrange(5):
            case 0 if place < len(changed):
                changed[place] ^= 1 << rng.randrange(8)
            case 1 if place < len(changed):
                changed[place] = rng.randrange(256)
            case 2:
                del changed[place : place + rng.randint(1, 8)]
            case 3:
                changed[place:place] = rng.choice(_ODD)
            case _:
                changed[place:place] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 4)))
    return bytes(changed)


def _change_tokens(content: bytes, words: Sequence[bytes], rng: Random) -> bytes:
    tokens = _tokens(content) or [b""]
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(tokens)) if tokens else 0
        length = min(rng.choice((1, 1, 1, 2, 5, 20)), len(tokens) - place)
        match rng.randrange(8):
            case 0:
                del tokens[place : place + length]
            case 1:
                tokens[place:place] = tokens[place : place + length] * rng.choice((1, 1, 2, 30))
            case 2 if tokens:
                tokens[place] = rng.choice(tokens)
            case 3 if tokens:
                tokens[place] = rng.choice(_NUMBERS)
            case 4 if tokens and words:
                tokens[place] = rng.choice(words)
            case 5:
                tokens.insert(place, rng.choice(words) if words else rng.choice(_ODD))
            case 6 if tokens:
                other = rng.randrange(len(tokens))
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case _:
                tokens.insert(place, rng.choice(_ODD))
    return b"".join(tokens)


def mutate_text(content: bytes, others: Sequence[bytes], words: Sequence[bytes], rng: Random) -> bytes:
    """Bytes and words changed, the end cut off, or a piece of another input put in."""
    match rng.randrange(12):
        case 0 | 1 | 2:
            changed = _change_bytes(content, rng)
        case 3:
            changed = content[: rng.randrange(len(content) + 1)]
        case 4:
            other = rng.choice(others)
            changed = content[: rng.randrange(len(content) + 1)] + other[rng.randrange(len(other) + 1) :]
        case 5:
            lines = content.splitlines(keepends=True) or [b""]
            borrowed = rng.choice(rng.choice(others).splitlines(keepends=True) or [b""])
            place = rng.randrange(len(lines))
            lines[place : place + rng.randrange(2)] = [borrowed] * rng.choice((1, 1, 2, 40))
            changed = b"".join(lines)
        case _:
            changed = _change_tokens(content, words, rng)
    return changed[:MOST]


_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 0.5, 1.5, 1e308, -1e-300, 2**31, 2**63, 2**64, 10**30, "", "a", "\0", "\x1b[2J", "é", "\ud800", "x" * 300,
    [], [[]], {}, [0], [1.0, 1.0], [[1.0, 0.0], [0.0, 1.0]], {"a": 1}, "possnet-network", "1", "yes", ["yes", "no"], ["a", "a"],
]  # fmt: skip


def _list_places(tree: Any) -> list[tuple[Any, Any]]:
    """Parent and step of everything in a tree but the tree itself, from above."""
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for step, value in node.items() if type(node) is dict else enumerate(node):
            places.append((node, step))
            if type(value) in {dict, list}:
                walk(value)

    if type(tree) in {dict, list}:
        walk(tree)
    return places


def change_tree(tree: Any, rng: Random) -> Any:
    """A tree of JSON with a value replaced, removed, copied, renamed or nested; the tree given is changed too."""
    places = _list_places(tree)
    place = rng.randrange(-1, len(places))
    if place < 0:
        return rng.choice(_VALUES) if rng.random() < 0.1 else tree
    parent, step = places[place]
    match rng.randrange(7):
        case 0 | 1:
            parent[step] = rng.choice(_VALUES)
        case 2:
            del parent[step]
        case 3:
            source, key = rng.choice(places)
            parent[step] = json.loads(json.dumps(source[key]))
        case 4 if isinstance(parent, dict):
            parent[str(rng.choice(_VALUES))] = parent.pop(step)
        case 5 if isinstance(parent, list):
            parent[step:step] = [parent[step]] * rng.choice((1, 2, 30))
        case _:
            value = parent[step]
            if isinstance(value, int | float) and not isinstance(value, bool):
                parent[step] = rng.choice((-value, value + 1, value * 2, value / 2, value + 1e-12, int(value)))
            elif isinstance(value, str):
                parent[step] = value + rng.choice(("", "x", " ", "\0", value))
            else:
                parent[step] = [value] if rng.random() < 0.5 else value
    return tree


def mutate_json(content: bytes, others: Sequence[bytes], words: Sequence[bytes], rng: Random) -> bytes:
    """The tree of a JSON document changed, or its text."""
    if rng.random() < 0.3:
        return mutate_text(content, others, words, rng)
    try:
        tree = json.loads(content)
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            tree = change_tree(tree, rng)
        return json.dumps(tree, ensure_ascii=rng.random() < 0.5).encode(errors="surrogatepass")[:MOST]
    except (ValueError, RecursionError, OverflowError):
        return mutate_text(content, others, words, rng)


def mutate_rows(content: bytes, others: Sequence[bytes], words: Sequence[bytes], rng: Random) -> bytes:
    """Fields, rows and delimiters of a CSV file changed, or its text."""
    if rng.random() < 0.4:
        return mutate_text(content, others, words, rng)
    sign = rng.choice((b",", b",", b";", b"\t"))
    rows = [line.split(sign) for line in content.split(b"\n")]
    for _ in range(rng.randint(1, 4)):
        row = rng.choice(rows)
        place = rng.randrange(len(row))
        match rng.randrange(8):
            case 0 | 1:
                row[place] = rng.choice(words)
            case 2:
                row[place] = b'"' + row[place] + rng.choice((b'"', b"", b'""', b'\n"'))
            case 3:
                row.insert(place, rng.choice(words))
            case 4 if len(row) > 1:
                del row[place]
            case 5:
                rows.insert(rng.randrange(len(rows) + 1), list(row))
            case 6:
                row[place] += rng.choice((b"|", b";", b"..", b":", b"")) + rng.choice(words)
            case _:
                row[place] = rng.choice(_ODD + _NUMBERS)
    end = rng.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r"))
    other = rng.choice((sign, sign, sign, b";", b"\t", b"|"))
    return end.join(other.join(row) for row in rows)[:MOST]
