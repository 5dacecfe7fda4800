"""Networks from BIF files (the Bayesian Interchange Format), plain or gzipped, and probabilities of networks to them.

The grammar is that of BIF 0.15 as it is found in the wild: ``network``, ``variable`` and ``probability`` blocks;
names plain or quoted, of any characters but white space and ``{}()[],;|"``; numbers separated by commas or blanks;
``property`` lines (ignored), ``//`` and ``/* */`` comments; rows by context ``(yes, no) .2, .8;``, a ``default`` row,
or one ``table`` of all numbers. In a ``table`` of a conditional distribution the variable itself varies slowest and
the last parent fastest, as in the format's own example.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from possnet.errors import InputError, did_you_mean, listing
from possnet.io.atomic_files import write_text
from possnet.io.file_access import decode_text, file_stem, locate_offset
from possnet.io.formats import NetworkFormat
from possnet.io.kept_degrees import IDENTIFIER, format_rows, make_labels
from possnet.io.probability_tables import NetworkDraft, compute_probabilities, parse_numbers, require_transform

if TYPE_CHECKING:
    from pathlib import Path

    from possnet.aliases import Floats
    from possnet.network import Network
    from possnet.transforms import Transform


_NAME = r'(?:"[^"\n]*"|[^\s{}()\[\],;|"]+)'
_COMMENT = re.compile(r'"[^"\n]*"|(?<![^\s;{}()])//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_BLOCK = re.compile(r"\s*(network|variable|probability)\b", re.IGNORECASE)
_NETWORK = re.compile(rf"\s*(?:({_NAME})\s*)?\{{([^{{}}]*)\}}\s*;?")
_QUOTED = re.compile(r'"[^"\n]*"')
_SPECIAL = "{}()[],;| \t"  # inside quotes these stand for themselves; while reading they are letters of a private range
_HIDE = {ord(mark): 0xF0000 + k for k, mark in enumerate(_SPECIAL)}
_SHOW = {code: mark for mark, code in _HIDE.items()}
_VARIABLE = re.compile(rf"\s*({_NAME})\s*\{{((?:[^{{}}]|\{{[^{{}}]*\}})*)\}}\s*;?")
_TYPE = re.compile(r"\btype\s+(\w+)\s*\[\s*(\d+)\s*\]\s*\{([^{}]*)\}\s*;?", re.IGNORECASE)
_PROBABILITY = re.compile(r"\s*\(([^()]*)\)\s*\{([^{}]*)\}\s*;?")
_SPLIT_NAMES = re.compile(_NAME)
_ROW = re.compile(r"\s*(?:\(([^()]*)\)|(table|default|property)\b)([^;]*);", re.IGNORECASE)


def decode_bif(content: bytes, path: str | Path, transform: Transform = "optimal") -> Network:
    """Network of the bytes of a BIF file; its path is named in errors, and names a network that has no name.

    >>> text = b"network n { } variable rash { type discrete [ 2 ] { yes, no }; } probability ( rash ) { table .2, .8; }"
    >>> decode_bif(text, "n.bif").table("rash")
    array([0.2, 1. ])
    """
    owner = str(path)
    text = decode_text(content, owner, "a BIF file")
    plain = _without_comments(text)
    if '"' in plain:
        plain = _QUOTED.sub(lambda quoted: quoted.group().translate(_HIDE), plain)
    return _BifReader(owner, plain).read_network(transform, file_stem(path))


def _without_comments(text: str) -> str:
    """The text with blanks in place of comments, so that places stay as they are."""
    if "//" not in text and "/*" not in text:
        return text

    def blank(match: re.Match[str]) -> str:
        text = match.group()
        return text if text.startswith('"') else re.sub(r"[^\n]", " ", text)

    return _COMMENT.sub(blank, text)


class _BifReader:
    """Reader of the blocks of a text, which builds a network."""

    def __init__(self, owner: str, text: str) -> None:
        self.owner, self.text = owner, text
        self.draft = NetworkDraft(owner, "probability block")

    def read_network(self, transform: Transform, name: str) -> Network:
        """Read all blocks, and their tables at the end, because a file may give them in any order."""
        position = 0
        tables: list[re.Match[str]] = []
        while match := _BLOCK.match(self.text, position):
            kind = match.group(1).lower()
            pattern, shape = _BODIES[kind]
            block = pattern.match(self.text, match.end())
            if block is None:
                self.fail(match.start(1), f"this {kind} block cannot be read; expected {shape}")
            if kind == "variable":
                self.read_variable(block)
            elif kind == "probability":
                tables.append(block)
            elif (given := _unquote(block.group(1) or "")) not in {"", "unknown"}:
                name = given
            position = block.end()
        self.require_end(position, len(self.text), "; expected a network, variable or probability block")
        if not self.draft.variables:
            raise InputError(f"{self.owner}: no variable block; expected a BIF file")
        for block in tables:
            self.read_table(block)
        return self.draft.build_network(transform, name)

    def read_variable(self, block: re.Match[str]) -> None:
        """Read a variable block: its name and its states."""
        name = _unquote(block.group(1))
        fail = partial(self.fail, block.start(1))
        kind = _TYPE.search(block.group(2))
        if kind is None:
            fail(f"variable {name!r} has no type; expected type discrete [ 2 ] {{ yes, no }};")
        if kind.group(1).lower() != "discrete":
            fail(f"variable {name!r} is {kind.group(1)}; expected a discrete variable")
        if _SPLIT_NAMES.sub("", kind.group(3)).replace(",", "").strip():
            fail(f"the states of {name!r} are not a list of names; expected {{ yes, no }}")
        states, declared = _split_names(kind.group(3)), kind.group(2)[:18]
        if len(states) != int(declared):
            fail(f"variable {name!r} declares {declared} states and lists {len(states)}; expected the same number")
        self.draft.declare_variable(name, states, fail)

    def read_table(self, block: re.Match[str]) -> None:
        """Read a probability block: the child, its parents, and its table."""
        fail = partial(self.fail, block.start(1))
        first, bar, rest = block.group(1).partition("|")
        names, given = _split_names(first), _split_names(rest)
        if len(names) > 1 and not bar:  # older files write ( child parent parent )
            names, given = names[:1], names[1:]
        if len(names) != 1:
            fail(f"a probability of {len(names)} variables; expected one variable, then | and its parents")
        (child,) = names
        sizes = self.draft.table_shape(child, given, fail)
        self.draft.parents[child] = tuple(given)
        self.draft.tables[child] = self.parse_table(child, given, sizes, block)

    def parse_table(self, child: str, given: list[str], sizes: list[int], block: re.Match[str]) -> Floats:
        """Parse the rows of a block (by context, by default, or all at once) into a table with the child last."""
        position, end = block.span(2)
        width = sizes[-1]
        lookups = [{state: k for k, state in enumerate(self.draft.variables[parent].states)} for parent in given]
        rows: dict[int, tuple[str, int]] = {}  # for every context its numbers, and where they stand
        default: Floats | None = None
        whole: Floats | None = None
        while (match := _ROW.match(self.text, position, end)) is not None:
            position = match.end()
            context, word, numbers = match.groups()
            kind = "row" if word is None else word.lower()
            if kind == "row":
                number = self.parse_context(context, lookups, given, match.start(1))
                if number in rows:
                    self.fail(
                        match.start(1), f"a context of {child!r} has two rows; expected one row for every context"
                    )
                rows[number] = numbers, match.start(3)
            elif kind == "default" and default is None:
                default = self.parse_row(numbers, width, match.start(3))
            elif kind == "table" and whole is None:
                whole = self.parse_row(numbers, prod(sizes), match.start(3))
            elif kind != "property":
                self.fail(match.start(2), f"a second {kind} for {child!r}; expected one")
        self.require_end(position, end, f" in the block of {child!r}; expected rows that end with ;")
        if whole is None:
            contexts = prod(sizes[:-1])
            if len(rows) < contexts and default is None:
                missing = next(k for k in range(contexts) if k not in rows)
                self.fail(
                    block.start(2),
                    f"no row for ({self.name_context(missing, given)}) of {child!r} ({contexts - len(rows)} such); "
                    "expected a row for every context, or a default row",
                )
            return self.fill_table(sizes, rows, default)
        if rows or default is not None:
            self.fail(block.start(2), f"both a table and rows for {child!r}; expected one or the other")
        return np.ascontiguousarray(np.moveaxis(whole.reshape((width, *sizes[:-1])), 0, -1))

    def fill_table(self, sizes: list[int], rows: dict[int, tuple[str, int]], default: Floats | None) -> Floats:
        """Table of rows by context; contexts that are not named take the default row."""
        width = sizes[-1]
        table = np.empty((prod(sizes[:-1]), width))
        if default is not None:
            table[:] = default
        if rows:
            words = [_split_words(text) for text, _ in rows.values()]
            values = parse_numbers([word for row in words for word in row])
            if not np.isfinite(values).all() or any(len(row) != width for row in words):
                for text, place in rows.values():
                    self.parse_row(text, width, place)
            table[list(rows)] = values.reshape(-1, width)
        return table.reshape(sizes)

    def name_context(self, context: int, given: list[str]) -> str:
        """The states of the parents that a number stands for; the inverse of `parse_context`."""
        scope = [self.draft.variables[parent] for parent in given]
        places = np.unravel_index(context, [len(v) for v in scope]) if scope else ()
        return ", ".join(variable.states[k] for variable, k in zip(scope, places, strict=True))

    def parse_context(self, text: str, lookups: list[dict[str, int]], given: list[str], at: int) -> int:
        """Number of a context from the names of the parents' states."""
        names = [part.strip() for part in text.split(",")]
        if len(names) != len(lookups) or '"' in text:
            names = _split_names(text)
        if len(names) != len(lookups):
            expected = f"one for each of {listing(given) or 'no parent at all'}"
            self.fail(at, f"a row names {len(names)} states; expected {expected}")
        number = 0
        for name, lookup, parent in zip(names, lookups, given, strict=True):
            position = lookup.get(name)
            if position is None:
                near = did_you_mean(name, lookup)
                self.fail(at, f"{name!r} is not a state of {parent!r}{near}; expected {listing(lookup)}")
            number = number * len(lookup) + position
        return number

    def parse_row(self, text: str, wanted: int, at: int) -> Floats:
        """Parse a list of numbers of the wanted length."""
        words = _split_words(text)
        values = parse_numbers(words)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            self.fail(at, f"{words[wrong[0]]!r} is not a number; expected probabilities")
        if len(values) != wanted:
            self.fail(at, f"{len(values)} numbers; expected {wanted}")
        return values

    def require_end(self, position: int, end: int, expected: str) -> None:
        """Require that nothing but blanks follows."""
        left = self.text[position:end].lstrip()
        if left:
            self.fail(end - len(left), f"{left.split(maxsplit=1)[0][:40]!r}{expected}")

    def fail(self, position: int, sentence: str) -> NoReturn:
        """Raise an `InputError` at a position of the text."""
        where = locate_offset(self.text.encode(), len(self.text[:position].encode()))
        raise InputError(f"{self.owner}, {where}: {sentence}")


_BODIES = {
    "network": (_NETWORK, "network NAME { ... }"),
    "variable": (_VARIABLE, "variable NAME { type discrete [ 2 ] { yes, no }; }"),
    "probability": (_PROBABILITY, "probability ( NAME | PARENT, ... ) { ... }"),
}


def _unquote(name: str) -> str:
    return name[1:-1].translate(_SHOW) if name.startswith('"') else name


def _split_names(text: str) -> list[str]:
    return [_unquote(name) for name in _SPLIT_NAMES.findall(text)]


def _split_words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def write_bif(network: Network, path: str | Path, *, transform: str | None = None) -> None:
    """Write the probabilities of a product-based network as a BIF file; the inverse of ``transform`` gives them."""
    owner = str(path)
    chosen = require_transform(network, transform, owner, "BIF")
    probabilities = compute_probabilities(network, chosen, owner)
    quoted = {name: _quote(name, owner) for v in network.variables for name in (v.name, *v.states)}
    title = make_labels([network.name or "network"], IDENTIFIER)[0]
    lines = [f"network {title} {{", f"  // possibilities turned into probabilities with the inverse of '{chosen}'", "}"]
    for variable in network.variables:
        states = ", ".join(quoted[state] for state in variable.states)
        lines.append(f"variable {quoted[variable.name]} {{")
        lines.append(f"  type discrete [ {len(variable)} ] {{ {states} }};\n}}")
    for variable in network.variables:
        scope = [network.variable(parent) for parent in network.dag.parents(variable.name)]
        given = f" | {', '.join(quoted[parent.name] for parent in scope)}" if scope else ""
        lines.append(f"probability ( {quoted[variable.name]}{given} ) {{")
        contexts = product(*(parent.states for parent in scope))
        for context, row in zip(contexts, format_rows(probabilities[variable.name], ", "), strict=True):
            lines.append(f"  ({', '.join(quoted[state] for state in context)}) {row};" if scope else f"  table {row};")
        lines.append("}")
    write_text(path, "\n".join([*lines, ""]))


def _quote(name: str, owner: str) -> str:
    """A name as BIF has it: plain where it can be, otherwise in quotes, which nothing can stand for inside."""
    if re.fullmatch(_NAME, name) and not name.startswith(("//", "/*")) and '"' not in name:
        return name
    if re.search(r'["\x00-\x1f\x7f\x85\u2028\u2029]', name):
        raise InputError(f"{owner}: a BIF file cannot hold the name {name!r}, which has quotes or breaks; rename it")
    return f'"{name}"'


FORMAT = NetworkFormat(
    name="bif",
    label="BIF",
    suffixes=(".bif",),
    sniff=lambda head: re.match(rb"(network|variable)\s", head) is not None,
    options=("transform",),
    decode=decode_bif,
    write=write_bif,
    needs_transform=True,
)
