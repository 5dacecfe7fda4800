"""Networks from BIF files (the Bayesian Interchange Format), plain or gzipped.

The grammar is that of BIF 0.15 as it is found in the wild: ``network``, ``variable`` and ``probability`` blocks;
names plain or quoted, of any characters but white space and ``{}()[],;|"``; numbers separated by commas or blanks;
``property`` lines (ignored), ``//`` and ``/* */`` comments; rows by context ``(yes, no) .2, .8;``, a ``default`` row,
or one ``table`` of all numbers. In a ``table`` of a conditional distribution the variable itself varies slowest and
the last parent fastest, as in the format's own example.
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np

from possnet.errors import InputError, did_you_mean, listing
from possnet.io.files import file_error, position_of, read_bytes
from possnet.io.probability_tables import bayesian_network, check_table_size
from possnet.limits import memory_limit, readable_bytes
from possnet.variables import Variable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.network import Network
    from possnet.transforms import Transform

    FloatArray: TypeAlias = NDArray[np.float64]

__all__ = ["decode_bif", "read_bif", "read_plain_or_gzipped"]

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


def read_bif(path: str | Path, transform: Transform) -> Network:
    """Network of a ``.bif`` or ``.bif.gz`` file, its probabilities turned into possibilities."""
    return decode_bif(read_plain_or_gzipped(path), str(path), transform, name=Path(path).name.split(".")[0])


def read_plain_or_gzipped(path: str | Path) -> bytes:
    """Content of a file, unpacked if its name ends in ``.gz``; refused if it unpacks to more than memory allows."""
    if Path(path).suffix.lower() != ".gz":
        return read_bytes(path)
    limit = memory_limit()
    try:
        with gzip.open(path) as packed:
            content = packed.read(limit + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path}: {str(error) or 'cannot be unpacked'}; expected a gzipped file, whole") from None
    except (OSError, ValueError) as error:
        raise file_error(path, error) from None
    if len(content) > limit:
        raise InputError(f"{path}: unpacks to more than {readable_bytes(limit)}; expected less")
    return content


def decode_bif(content: bytes, owner: str, transform: Transform = "optimal", *, name: str = "") -> Network:
    """Network of the bytes of a BIF file; ``owner`` is named in errors.

    >>> text = b"network n { } variable rash { type discrete [ 2 ] { yes, no }; } probability ( rash ) { table .2, .8; }"
    >>> decode_bif(text, "n.bif").table("rash")
    array([0.2, 1. ])
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        try:
            text = _latin(content, owner)
        except InputError:
            where = position_of(content, error.start)
            raise InputError(f"{owner}, {where}: not text; expected a BIF file") from None
    if not text.strip():
        raise InputError(f"{owner}: the file is empty; expected a BIF file")
    plain = _without_comments(text)
    if '"' in plain:
        plain = _QUOTED.sub(lambda quoted: quoted.group().translate(_HIDE), plain)
    return _Reader(owner, plain).read(transform, name)


def _latin(content: bytes, owner: str) -> str:
    """Text in the usual 8-bit encoding of older files; bytes that are no text at all are refused."""
    if re.search(rb"[\x00-\x08\x0e-\x1f]", content):
        raise InputError(f"{owner}: not text")
    return content.decode("latin-1")


def _without_comments(text: str) -> str:
    """The text with blanks in place of comments, so that places stay as they are."""
    if "//" not in text and "/*" not in text:
        return text

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return _COMMENT.sub(blank, text)


@dataclass
class _Reader:
    owner: str
    text: str
    variables: dict[str, Variable] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tables: dict[str, FloatArray] = field(default_factory=dict)
    bodies: list[tuple[str, int, int]] = field(default_factory=list)

    def read(self, transform: Transform, name: str) -> Network:
        """All blocks, then all tables, because a file may give them in any order."""
        position = 0
        while match := _BLOCK.match(self.text, position):
            kind = match.group(1).lower()
            body = {"network": _NETWORK, "variable": _VARIABLE, "probability": _PROBABILITY}[kind]
            block = body.match(self.text, match.end())
            if block is None:
                self.fail(match.start(1), f"this {kind} block cannot be read", _SHAPES[kind])
            if kind == "variable":
                self.variable(block)
            elif kind == "probability":
                self.bodies.append((block.group(1), block.start(1), block.start(2)))
            elif (given := _plain(block.group(1) or "")) not in {"", "unknown"}:
                name = given
            position = block.end()
        if self.text[position:].strip():
            start = len(self.text) - len(self.text[position:].lstrip())
            self.fail(start, f"{_glimpse(self.text[start:])}", "a network, variable or probability block")
        if not self.variables:
            raise InputError(f"{self.owner}: no variable block; expected a BIF file")
        for head, at, body_at in self.bodies:
            self.probability(head, at, body_at)
        lacking = [variable for variable in self.variables if variable not in self.tables]
        if lacking:
            raise InputError(
                f"{self.owner}: no probability block for {listing(lacking)}; expected one for every variable"
            )
        return bayesian_network(
            self.owner, list(self.variables.values()), self.parents, self.tables, transform, name=name
        )

    def variable(self, block: re.Match[str]) -> None:
        """One variable and its states."""
        name = _plain(block.group(1))
        kind = _TYPE.search(block.group(2))
        if kind is None:
            self.fail(block.start(1), f"variable {name!r} has no type", "type discrete [ 2 ] { yes, no };")
        if kind.group(1).lower() != "discrete":
            self.fail(block.start(1), f"variable {name!r} is {kind.group(1)}", "a discrete variable")
        states = tuple(_plain(state) for state in _SPLIT_NAMES.findall(kind.group(3)))
        if _SPLIT_NAMES.sub("", kind.group(3)).replace(",", "").strip():
            self.fail(block.start(1), f"the states of {name!r} are not a list of names", "{ yes, no }")
        if len(states) != int(kind.group(2)[:18]):
            found = f"variable {name!r} declares {kind.group(2)[:18]} states and lists {len(states)}"
            self.fail(block.start(1), found, "the same number")
        if name in self.variables:
            self.fail(block.start(1), f"variable {name!r} is declared twice", "distinct names")
        try:
            self.variables[name] = Variable(name, states)
        except InputError as error:
            self.fail(block.start(1), str(error), "a name and distinct states")

    def probability(self, head: str, at: int, body_at: int) -> None:
        """One table: its rows by context, a default row, or all numbers at once."""
        first, bar, rest = head.partition("|")
        names = [_plain(name) for name in _SPLIT_NAMES.findall(first)]
        given = [_plain(name) for name in _SPLIT_NAMES.findall(rest)]
        if len(names) > 1 and not bar:  # older files write ( child parent parent )
            names, given = names[:1], names[1:]
        if len(names) != 1:
            self.fail(at, f"a probability of {len(names)} variables", "one variable, then | and its parents")
        child = names[0]
        for name in (child, *given):
            if name not in self.variables:
                self.fail(at, f"{name!r} is not a variable{did_you_mean(name, self.variables)}", "a declared variable")
        if child in self.tables:
            self.fail(at, f"a second probability block for {child!r}", "one for every variable")
        sizes = [len(self.variables[name]) for name in (*given, child)]
        check_table_size(self.owner, child, sizes)
        self.parents[child] = tuple(given)
        self.tables[child] = self.rows(child, tuple(given), sizes, body_at)

    def rows(self, child: str, given: tuple[str, ...], sizes: list[int], body_at: int) -> FloatArray:
        """The numbers of a block, as a table with the child last."""
        end = self.text.index("}", body_at)
        contexts: list[int] = []
        texts: list[str] = []
        default: FloatArray | None = None
        whole: FloatArray | None = None
        width = sizes[-1]
        lookups = [{state: k for k, state in enumerate(self.variables[parent].states)} for parent in given]
        position = body_at
        while (match := _ROW.match(self.text, position, end)) is not None:
            position = match.end()
            context, word, numbers = match.groups()
            kind = "row" if word is None else word.lower()
            if kind == "row":
                contexts.append(self.context(context, lookups, given, match.start(1)))
                texts.append(numbers)
            elif kind == "default" and default is None:
                default = self.numbers(numbers, width, match.start(3))
            elif kind == "table" and whole is None:
                whole = self.numbers(numbers, prod(sizes), match.start(3))
            elif kind != "property":
                self.fail(match.start(2), f"a second {kind} for {child!r}", "one")
        if self.text[position:end].strip():
            start = position + len(self.text[position:end]) - len(self.text[position:end].lstrip())
            self.fail(start, f"{_glimpse(self.text[start:end])} in the block of {child!r}", "rows that end with ;")
        if whole is not None:
            if contexts or default is not None:
                self.fail(body_at, f"both a table and rows for {child!r}", "one or the other")
            return np.ascontiguousarray(np.moveaxis(whole.reshape((width, *sizes[:-1])), 0, -1))
        return self.filled(child, given, sizes, contexts, texts, default, body_at)

    def filled(
        self,
        child: str,
        given: tuple[str, ...],
        sizes: list[int],
        contexts: list[int],
        texts: list[str],
        default: FloatArray | None,
        at: int,
    ) -> FloatArray:
        """Table of rows by context; contexts that are not named take the default row."""
        width, count = sizes[-1], prod(sizes[:-1])
        if len(set(contexts)) < len(contexts):
            self.fail(at, f"a context of {child!r} has two rows", "one row for every context")
        if len(contexts) < count and default is None:
            missing = next(k for k in range(count) if k not in set(contexts))
            states = np.unravel_index(missing, sizes[:-1]) if given else ()
            named = ", ".join(self.variables[p].states[k] for p, k in zip(given, states, strict=True))
            found = f"no row for ({named}) of {child!r} ({count - len(contexts)} such)"
            self.fail(at, found, "a row for every context, or a default row")
        table = np.empty((count, width))
        if default is not None:
            table[:] = default
        if contexts:
            try:
                values = np.array(" ".join(texts).replace(",", " ").split(), dtype=np.float64)
            except ValueError:
                values = np.empty(0)
            if len(values) != len(contexts) * width or any(len(t.replace(",", " ").split()) != width for t in texts):
                self.blame(texts, width, at)
            table[contexts] = values.reshape(-1, width)
        return table.reshape(sizes)

    def context(self, text: str, lookups: list[dict[str, int]], given: tuple[str, ...], at: int) -> int:
        """Number of a context from the names of the parents' states."""
        names = [part.strip() for part in text.split(",")]
        if len(names) != len(lookups) or '"' in text:
            names = [_plain(name) for name in _SPLIT_NAMES.findall(text)]
        if len(names) != len(lookups):
            self.fail(at, f"a row names {len(names)} states", f"one for each of {listing(given) or 'no parent at all'}")
        number = 0
        for name, lookup, parent in zip(names, lookups, given, strict=True):
            position = lookup.get(name)
            if position is None:
                self.fail(at, f"{name!r} is not a state of {parent!r}{did_you_mean(name, lookup)}", listing(lookup))
            number = number * len(lookup) + position
        return number

    def numbers(self, text: str, wanted: int, at: int) -> FloatArray:
        """Exactly so many numbers."""
        parts = text.replace(",", " ").split()
        try:
            values = np.array(parts, dtype=np.float64)
        except ValueError:
            values = None
        if values is None or not np.isfinite(values).all():
            wrong = next(part for part in parts if not _is_number(part))
            self.fail(at, f"{wrong!r} is not a number", "probabilities")
        if len(values) != wanted:
            self.fail(at, f"{len(values)} numbers", f"{wanted}")
        return values

    def blame(self, texts: list[str], width: int, at: int) -> NoReturn:
        """Find the row that is wrong, and fail there."""
        place = at
        for text in texts:
            place = self.text.index(text + ";", place)
            self.numbers(text, width, place)
        raise AssertionError("every row is right")  # pragma: no cover

    def fail(self, position: int, finding: str, expected: str) -> NoReturn:
        """Raise an `InputError` at a position of the text."""
        where = position_of(self.text.encode(), len(self.text[:position].encode()))
        raise InputError(f"{self.owner}, {where}: {finding}; expected {expected}")


_SHAPES = {
    "network": "network NAME { ... }",
    "variable": "variable NAME { type discrete [ 2 ] { yes, no }; }",
    "probability": "probability ( NAME | PARENT, ... ) { ... }",
}


def _plain(name: str) -> str:
    return name[1:-1].translate(_SHOW) if name.startswith('"') else name


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _glimpse(text: str) -> str:
    return repr(text.split(maxsplit=1)[0][:40]) if text.split() else "nothing"
