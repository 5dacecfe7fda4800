"""Columns as they are read, before and after their domain is known.

A column names the states that its cells hold (`RawColumn.domain_hints`), and, once the domain is known, becomes bitmaps
(`RawColumn.to_bitmaps`). There are three forms, after the shape in which cells arrive: codes into a list of distinct cells,
lists of members, and bit masks; a fourth keeps bitmaps until the domain is known. Cells that do not fit it are noted
in a `ProblemReport`, which names up to ten of them at once.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from possnet.arrow.reading_notes import ReadingNote, describe_notes
from possnet.errors import InputError, among, keep_findings, warn_user
from possnet.kernels import bitmaps
from possnet.kernels.graded_cells import GradedCells, grade_cells
from possnet.limits import refuse_over
from possnet.variables import Variable, require_same_bins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Words
    from possnet.variables import Bins


Cell: TypeAlias = tuple[str, ...] | None
Finding: TypeAlias = "str | Callable[[], str]"
"""A sentence, or how to make it: near names are looked up only for a message."""
_SURELY_FITS = 1 << 27
_EMPTY = "an empty set; expected at least one state, or nothing at all where nothing is known"


@dataclass(slots=True)
class ProblemReport:
    """Cells of one source that cannot be used: the first ten, and how many there are in all.

    ``first_row`` is the number of rows before those that are looked at, for sources read in batches. ``notes`` says of a
    column how its ambiguous cells were read; those of columns in ``warned`` have been told before.
    """

    owner: str
    first_row: int = 0
    notes: dict[str, ReadingNote] = field(default_factory=dict)
    warned: set[str] = field(default_factory=set)
    problems: list[tuple[int, str, str]] = field(default_factory=list)
    total: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add_problems(self, column: str, codes: NDArray[np.integer[Any]], findings: Mapping[int, Finding]) -> None:
        """Note the rows whose code has a finding; the sentences of the first ten are made."""
        if not findings:
            return
        bad = np.flatnonzero(np.isin(codes, list(findings)))
        first_ten = []
        for row in bad[:10].tolist():
            finding = findings[int(codes[row])]
            text = finding if isinstance(finding, str) else finding()
            first_ten.append((self.first_row + row + 1, column, text))
        with self._lock:
            self.total += len(bad)
            self.problems = sorted([*self.problems, *first_ten])[:10]

    def raise_if_any(self) -> None:
        """Raise one `InputError` that names the first ten problems; if there are none, warn of the notes, once a column."""
        if not self.problems:
            untold = {name: note for name, note in self.notes.items() if name not in self.warned}
            self.warned.update(untold)
            for sentence in describe_notes(untold):
                warn_user(f"{self.owner}, {sentence}")
            return
        lines = [f"{self.owner}, row {row}, column {column!r}: {finding}" for row, column, finding in self.problems]
        raise InputError(*keep_findings(lines, self.total, f"cells of {self.owner} that cannot be used"))


class DoubtfulText(NamedTuple):
    """A text that may be a state or name others, which only all cells of a column tell: its kind and the row it stands in.

    ``range``: ``b..d``, or a range of states in no known order (``order``); ``interval``: ``[20,30]``, a list or a bin;
    ``unclosed``: a bracket without its partner. ``names`` are the states that it may stand for, or their ends.
    """

    kind: Literal["range", "order", "interval", "unclosed"]
    text: str
    names: tuple[str, ...]
    row: int


@dataclass(frozen=True, slots=True)
class DomainHints:
    """What a column says of its domain: the states its cells name, and the domain it declares (a category), if any.

    ``doubtful`` are texts that may be states; ``lists`` says that other cells are lists in brackets, ``numbers`` that the
    states are whole numbers in their order, and ``guessed`` that texts were read without being told how.
    ``bins`` are where the numbers behind the declared states were cut.
    """

    states: frozenset[str]
    declared: tuple[str, ...] | None = None
    ordered: bool = False
    doubtful: frozenset[DoubtfulText] = frozenset()
    lists: bool = False
    numbers: bool = False
    guessed: bool = False
    bins: Bins | None = None


class RawColumn(Protocol):
    """A set-valued column whose domain may not be known yet."""

    @property
    def name(self) -> str:
        """Name of the column."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    def domain_hints(self) -> DomainHints:
        """What the column says of its domain."""

    def to_bitmaps(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None]:
        """Bitmaps of the states, and the bitmap of the unknown cells if there are any; misfits go to the report."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """For every row the number of its cell, and the distinct cells: tuples of states, or None where nothing is known.

    ``states`` is the domain if the source declares one, and ``ordered`` whether its order means something. ``findings``
    says what is wrong with cells that could not be read, ``sets`` numbers those that came as sets or lists, not as a text.
    """

    name: str
    codes: NDArray[np.integer[Any]]
    cells: list[Cell]
    states: tuple[str, ...] | None = None
    ordered: bool = False
    findings: Mapping[int, Finding] = field(default_factory=dict)
    sets: frozenset[int] = frozenset()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def with_unknown(self, unknown: Bools | None) -> TextColumn:
        """The same column with unknown cells in the rows that are marked."""
        if unknown is None:
            return self
        codes = np.where(unknown, len(self.cells), self.codes)
        return replace(self, codes=codes, cells=[*self.cells, None])

    def domain_hints(self) -> DomainHints:
        """States that the cells name, and the declared ones."""
        return DomainHints(frozenset(s for cell in self.cells if cell for s in cell), self.states, self.ordered)

    def to_bitmaps(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None]:
        """Bitmaps by look-up of every row's cell."""
        findings = dict(self.findings)
        needed = len(variable) * (self.rows // 8 + len(self.cells))
        if needed > _SURELY_FITS:
            refuse_over(needed, f"column {self.name!r} with {len(variable):,} states", "leave it out with variables=")
        cells = np.zeros((max(len(self.cells), 1), len(variable)), dtype=np.bool_)
        unknown = np.zeros(len(cells), dtype=np.bool_)
        for number, cell in enumerate(self.cells):
            if cell is None:
                cells[number] = unknown[number] = True
            elif number not in findings:
                if cell and all(state in variable for state in cell):
                    cells[number, [variable.index(state) for state in cell]] = True
                else:
                    findings[number] = partial(describe_misfit, cell, variable)
        report.add_problems(self.name, self.codes, findings)
        words = bitmaps.encode_cells(self.codes, cells)
        return words, bitmaps.encode_cells(self.codes, unknown[:, np.newaxis])[0] if unknown.any() else None


def _list_cells(octets: NDArray[np.uint8], texts: Sequence[str]) -> list[Cell]:
    return [tuple(compress(texts, inside)) for inside in bitmaps.unpack_sets(octets, len(texts))]


def describe_misfit(cell: tuple[str, ...], variable: Variable) -> str:
    """What keeps a set of states from being a cell of a variable."""
    strangers = [state for state in cell if state not in variable]
    if not strangers:
        return _EMPTY
    return f"{strangers[0]!r} is not a state{among(strangers[0], variable.states)}"


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A list of members in every row: ``members`` numbers into ``texts``, one list after the other, and ``lengths``.

    ``unknown`` marks the rows that have no list at all; their length is 0.
    """

    name: str
    members: NDArray[np.integer[Any]]
    texts: list[str]
    lengths: NDArray[np.integer[Any]]
    unknown: Bools | None
    states: tuple[str, ...] | None = None
    ordered: bool = False

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.lengths)

    def domain_hints(self) -> DomainHints:
        """States in the lists, and the declared ones."""
        return DomainHints(frozenset(self.texts), self.states, self.ordered)

    def to_bitmaps(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None]:
        """Bitmaps by OR-ing the members of every row into a mask; as text where cells do not fit and must be explained."""
        filled = self.lengths > 0
        explained = filled if self.unknown is None else filled | self.unknown
        if len(variable) > 64 or not explained.all() or not all(text in variable for text in self.texts):
            return self.to_text_column().to_bitmaps(variable, report)
        width = next(bits for bits in (8, 16, 32, 64) if len(variable) <= bits)
        bit = np.array([1 << variable.index(text) for text in self.texts] or [0], dtype=f"<u{width // 8}")
        masks = np.zeros(self.rows, dtype=bit.dtype)
        if len(self.members):
            starts = np.cumsum(self.lengths) - self.lengths
            joined = np.bitwise_or.reduceat(np.take(bit, self.members), starts if filled.all() else starts[filled])
            masks[filled] = joined
        return _with_unknown(bitmaps.encode_masks(masks, len(variable)), self.unknown)

    def to_text_column(self) -> TextColumn:
        """The same column as codes into its distinct cells."""
        inside = np.zeros((len(self.texts), self.rows), dtype=np.bool_)
        inside[self.members, np.repeat(np.arange(self.rows), self.lengths)] = True
        codes, octets = bitmaps.decode_cells(bitmaps.pack(inside), self.rows)
        column = TextColumn(self.name, codes, _list_cells(octets, self.texts), self.states, self.ordered)
        return column.with_unknown(self.unknown)


@dataclass(frozen=True, slots=True)
class MaskColumn:
    """A bit mask in every row over the states of a known variable: ``octets`` of shape (rows, bytes), low bits first."""

    variable: Variable
    octets: NDArray[np.uint8]
    unknown: Bools | None

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.variable.name

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.octets)

    def domain_hints(self) -> DomainHints:
        """The states of the variable, all declared."""
        return DomainHints(frozenset(), self.variable.states, self.variable.ordered, bins=self.variable.bins)

    def to_bitmaps(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None]:
        """Bitmaps bit by bit if the domain is the column's own and every mask is sound; otherwise as text."""
        require_same_bins(self.variable, variable, report.owner)
        if variable.states == self.variable.states:
            words, absent = _with_unknown(bitmaps.encode_masks(self.octets, len(variable)), self.unknown)
            covered = np.bitwise_or.reduce(words, axis=0)
            if self._is_in_range() and np.array_equal(covered, bitmaps.ones(self.rows)):
                return words, absent
        return self.to_text_column().to_bitmaps(variable, report)

    def _is_in_range(self) -> bool:
        """Whether no mask has a bit beyond the states; masks of 17 states have four bytes, of which three hold any."""
        full, spare = divmod(len(self.variable), 8)
        if not self.rows or full >= self.octets.shape[1]:
            return True
        return int(self.octets[:, full].max()) >> spare == 0 and not self.octets[:, full + 1 :].any()

    def to_text_column(self) -> TextColumn:
        """The same column as codes into its distinct cells."""
        codes, octets = bitmaps.distinct_rows(self.octets)
        size = len(self.variable)
        masks = [int.from_bytes(row.tobytes(), "little") for row in octets]
        findings: dict[int, Finding] = {
            number: f"mask {mask} has bits beyond the {size} states; the file is damaged"
            for number, mask in enumerate(masks)
            if mask >> size
        }
        cells = _list_cells(octets, self.variable.states)
        column = TextColumn(self.name, codes, cells, self.variable.states, self.variable.ordered, findings)
        return column.with_unknown(self.unknown)


@dataclass(frozen=True, slots=True)
class GradedMasks:
    """Masks of supports, and the degrees (graded cells, states) of the cells of some rows, over the masks' own states."""

    masks: MaskColumn
    graded_rows: NDArray[np.int64]
    table: NDArray[np.float64]

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.masks.name

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.masks.rows

    def domain_hints(self) -> DomainHints:
        """The states of the variable, all declared."""
        return self.masks.domain_hints()

    def to_bitmaps(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None]:
        """Bitmaps of the supports."""
        return self.masks.to_bitmaps(variable, report)

    def read_degrees(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None, GradedCells | None]:
        """Bitmaps of the supports, and the degrees in the order of the domain's states."""
        degrees = np.zeros((len(self.table), len(variable)))
        for place, state in enumerate(self.masks.variable.states):
            if state in variable:  # others are misfits where they stand
                degrees[:, variable.index(state)] = self.table[:, place]
        graded = grade_cells(self.graded_rows, np.arange(len(degrees)), degrees)
        return *self.masks.to_bitmaps(variable, report), graded


@dataclass(frozen=True, slots=True)
class PackedColumn:
    """A column already packed, over the states that it names itself: a few bits a row, until the domain is known."""

    name: str
    rows: int
    hints: DomainHints
    states: tuple[str, ...]
    words: Words
    unknown: Words | None

    @classmethod
    def pack_column(cls, column: RawColumn, report: ProblemReport) -> PackedColumn:
        """Pack a column over the states it names or declares."""
        hints = column.domain_hints()
        states = hints.declared or tuple(sorted(hints.states))
        words, unknown = column.to_bitmaps(Variable(column.name, states or ("?",)), report)
        return cls(column.name, column.rows, hints, states, words[: len(states)], unknown)

    def domain_hints(self) -> DomainHints:
        """What the column said of its domain."""
        return self.hints

    def to_bitmaps(self, variable: Variable, report: ProblemReport) -> tuple[Words, Words | None]:
        """The same bitmaps in the order of a domain that has all the states."""
        del report
        words = np.zeros((len(variable), len(bitmaps.zeros(self.rows))), dtype=bitmaps.WORD)
        words[[variable.index(state) for state in self.states]] = self.words
        if self.unknown is not None:
            words |= self.unknown
        return words, self.unknown


def _with_unknown(words: Words, unknown: Bools | None) -> tuple[Words, Words | None]:
    """Bitmaps in which unknown cells have every state, and the bitmap of these cells."""
    if unknown is None or not unknown.any():
        return words, None
    absent = bitmaps.pack(unknown)
    return words | absent, absent
