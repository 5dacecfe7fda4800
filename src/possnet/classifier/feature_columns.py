"""Columns of X as cells: numbers in bins, states, sets of states, and what is missing.

A column of numbers with more than ten distinct ones is binned, with edges from the rows of `fit`; with a known error a
number is the set of bins that it may lie in. Any other column has states. A value that `fit` has not seen says nothing
about its feature: the cell is unknown. So is a missing one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from possnet.em import FeatureCells
from possnet.errors import InputError
from possnet.measurements import Binning, find_mdl_edges, read_numbers
from possnet.variables import Bins, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Floats, Ints

    Column = NDArray[Any]

BinningWay: TypeAlias = Literal["quantile", "width", "mdl"]
BINNING_WAYS: Final = ("quantile", "width", "mdl")
_FEW: Final = 10  # distinct numbers that may well be states
_MANY_BINS: Final = 5  # above, bins are narrow, and their neighbours tell something of them
_BLUR: Final = 0.5
_MOST_STATES: Final = 1 << 16  # a range of whole numbers that is coded by a table


@dataclass(frozen=True, slots=True, eq=False)
class NumberColumn:
    """A column of numbers: inner edges of its bins, and the error of a number.

    >>> NumberColumn("x", np.array([1.0, 2.0])).code_cells(np.array([0.5, 1.0, 7.0, np.nan])).codes.tolist()
    [0, 1, 2, 3]
    """

    name: str
    edges: Floats
    error: float = 0.0

    @property
    def blur(self) -> float:
        """The share of a row that goes to the neighbouring bins where tables are estimated: half, if there are many."""
        return _BLUR if self.n_states > _MANY_BINS else 0.0

    @property
    def n_states(self) -> int:
        """Number of bins."""
        return len(self.edges) + 1

    def code_cells(self, column: Column) -> FeatureCells:
        """The cells of some rows."""
        numbers = _read_column(column, self.name)
        if not self.error:
            codes = np.searchsorted(self.edges, numbers, side="right")
            codes[np.isnan(numbers)] = -1
            return FeatureCells.from_states(codes, self.n_states, self.blur)
        binned = Binning(self.edges.tolist(), error=self.error).bin_intervals(read_numbers(numbers), name=self.name)
        first, last = binned.first, binned.last
        pairs = np.where(first < 0, 0, first) * self.n_states + np.where(last < 0, self.n_states - 1, last)
        single = (first == last) & (first >= 0)
        several, inverse = np.unique(pairs[~single], return_inverse=True)
        bins = np.arange(self.n_states)
        sets = (bins >= (several // self.n_states)[:, np.newaxis]) & (bins <= (several % self.n_states)[:, np.newaxis])
        codes = first.astype(np.int64)
        codes[~single] = self.n_states + inverse
        return FeatureCells(codes, np.concatenate([np.eye(self.n_states, dtype=np.bool_), sets]), self.blur)

    def variable(self) -> Variable:
        """The ordered variable of the bins."""
        bins = Bins(tuple(self.edges.tolist()))
        return Variable(self.name, bins.labels, ordered=True, bins=bins)


@dataclass(frozen=True, slots=True, eq=False)
class StateColumn:
    """A column of states, in the order of their numbers.

    >>> cells = StateColumn("x", ("blue", "red")).code_cells(np.array(["red", {"blue", "red"}, None, "new"], dtype=object))
    >>> cells.codes.tolist()
    [1, 2, 2, 2]
    """

    name: str
    states: tuple[Any, ...]

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.states)

    def code_cells(self, column: Column) -> FeatureCells:
        """The cells of some rows."""
        if column.dtype.kind in "iufb":
            return FeatureCells.from_states(self._code_numbers(column), self.n_states)
        place: dict[Any, int] = {state: number for number, state in enumerate(self.states)}
        cells = _freeze_cells(column)
        sets: dict[tuple[int, ...], int] = {}
        table = {
            cell: self._code_set(tuple(sorted({place.get(value, -1) for value in cell})), sets)
            if isinstance(cell, (frozenset, tuple))
            else place.get(cell, -1)
            for cell in set(cells)
        }
        codes = np.fromiter(map(table.__getitem__, cells), dtype=np.int64, count=len(cells))
        if not sets:
            return FeatureCells.from_states(codes, self.n_states)
        matrix = np.zeros((self.n_states + len(sets) + 1, self.n_states), dtype=np.bool_)
        matrix[: self.n_states] = np.eye(self.n_states)
        for members, code in sets.items():
            matrix[code, list(members)] = True
        matrix[-1] = True
        codes[codes < 0] = len(matrix) - 1
        return FeatureCells(codes, matrix)

    def _code_set(self, members: tuple[int, ...], sets: dict[tuple[int, ...], int]) -> int:
        if not members:
            raise InputError(
                f"PossibilisticClassifier: column {self.name!r} has an empty set; expected states, or None"
            )
        if members[0] < 0 or len(members) == self.n_states:  # a state that is not known: it may be any
            return -1
        return members[0] if len(members) == 1 else sets.setdefault(members, self.n_states + len(sets))

    def _code_numbers(self, column: Column) -> Ints:
        known = np.array(self.states, dtype=np.float64)
        low, high = (known[0], known[-1]) if len(known) else (0.0, -1.0)
        if column.dtype.kind in "iub" and high - low < _MOST_STATES and (known == np.floor(known)).all():
            table = np.full(int(high - low) + 3, -1)
            table[(known - low).astype(np.int64) + 1] = np.arange(len(known))
            if column.min(initial=int(low)) >= low and column.max(initial=int(high)) <= high:
                return np.take(table, column.astype(np.int64) - (int(low) - 1))
            places = np.clip(column.astype(np.int64) - int(low) + 1, 0, len(table) - 1)
            return np.take(table, places)
        numbers = column.astype(np.float64)
        places = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        return np.where(known[places] == numbers, places, -1)

    def variable(self) -> Variable:
        """The variable of the states."""
        names = [_name_state(state) for state in self.states]
        return Variable(self.name, tuple(names))


FeatureColumn: TypeAlias = NumberColumn | StateColumn


def _name_state(state: Any) -> str:
    number = state.item() if isinstance(state, np.generic) else state
    return f"{number:g}" if isinstance(number, float) else str(number)


def learn_column(
    name: str,
    column: Column,
    *,
    way: BinningWay = "quantile",
    bins: int = 5,
    error: float = 0.0,
    shares: Floats | None = None,
    weights: Floats | None = None,
) -> FeatureColumn:
    """What a column holds, from the rows of `fit`: numbers, with edges for some bins, or states.

    ``shares`` are those of the classes in every row, for edges by ``mdl``; ``weights`` those of the rows.

    >>> learn_column("x", np.arange(20.0), bins=2).edges.tolist()
    [10.0]
    >>> learn_column("x", np.array(["b", "a", None], dtype=object)).states
    ('a', 'b')
    """
    if column.dtype.kind in "iufb":
        states = _list_few(column)
        if states is not None:
            return StateColumn(name, states)
        numbers = _read_column(column, name)
        return NumberColumn(name, _find_edges(numbers, way, bins, shares, weights), error)
    values: set[Any] = set()
    for cell in set(_freeze_cells(column)):
        if isinstance(cell, (frozenset, tuple)):
            values.update(cell)
        elif not _is_missing(cell):
            values.add(cell)
    try:
        ordered = tuple(sorted(values))
    except TypeError:
        ordered = tuple(sorted(values, key=lambda value: (type(value).__name__, str(value))))
    return StateColumn(name, ordered or ("?",))


def _freeze_cells(column: Column) -> list[Any]:
    """The cells of a column, sets and lists as frozen sets."""
    cells: list[Any] = column.tolist()
    try:
        set(cells)
    except TypeError:
        return [frozenset(cell) if isinstance(cell, (set, list, np.ndarray)) else cell for cell in cells]
    return cells


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and cell != cell) or str(cell) in {"<NA>", "NaT"}  # noqa: PLR0124


def _list_few(column: Column) -> tuple[Any, ...] | None:
    """The distinct numbers, if there are few; a column of one number, or of none, has a single state."""
    if column.dtype.kind in "iub" and len(column):
        low, high = int(column.min()), int(column.max())
        if high - low < _MOST_STATES:
            used = np.flatnonzero(np.bincount((column.astype(np.int64) - low), minlength=1)) + low
            return tuple(used.tolist()) if len(used) <= _FEW else None
    sample = np.unique(column[:1000])
    if np.isfinite(sample).sum() > _FEW:
        return None
    distinct = np.unique(column)
    if np.isinf(distinct).any():
        return None
    distinct = distinct[~np.isnan(distinct)]
    return (tuple(distinct.tolist()) or (0.0,)) if len(distinct) <= _FEW else None


def _read_column(column: Column, name: str) -> Floats:
    """Numbers, NaN where they are missing; infinite ones are refused."""
    numbers = column.astype(np.float64, copy=False)
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        raise InputError(
            f"PossibilisticClassifier: X has an infinite number (inf) in row {row + 1}, column {name!r}; expected finite "
            "numbers, or NaN where one is missing"
        )
    return numbers


def _find_edges(numbers: Floats, way: BinningWay, bins: int, shares: Floats | None, weights: Floats | None) -> Floats:
    """Inner edges of bins: a number on an edge lies above it."""
    finite = np.isfinite(numbers)
    known = numbers[finite]
    edges: Any = ()
    if way == "mdl" and shares is not None:
        edges = find_mdl_edges(numbers, shares if weights is None else shares * weights[:, np.newaxis])
    elif way == "width":
        edges = np.linspace(known.min(), known.max(), bins + 1)[1:-1]
    if not len(edges):
        edges = _find_quantiles(known, None if weights is None else weights[finite], bins)
    found = np.unique(edges)
    found = found[(found > known.min()) & (found <= known.max())]
    if not len(found):  # nearly all numbers are the same
        found = np.unique(np.quantile(np.unique(known)[1:], np.linspace(0.0, 1.0, bins + 1)[:-1]))
    return np.asarray(found)


def _find_quantiles(numbers: Floats, weights: Floats | None, bins: int) -> Floats:
    """Numbers that have a k-th of the rows below them, k = 1 / bins, ...; a row of weight 2 is two rows."""
    if weights is None or (weights == weights[0]).all():
        ordered = np.sort(numbers)
        return np.asarray(ordered[(np.arange(1, bins) * len(ordered)) // bins])
    order = np.argsort(numbers, kind="stable")
    below = np.cumsum(weights[order])
    places = np.searchsorted(below, np.arange(1, bins) * below[-1] / bins * (1.0 + 1e-12), side="right")
    return np.asarray(numbers[order][np.minimum(places, len(order) - 1)])


def split_columns(X: Any) -> list[Column]:
    """The columns of a frame or an array, each as an array of numbers or of objects."""
    if hasattr(X, "columns") or hasattr(X, "__dataframe__"):
        names = list(X.columns)
        return [_take_column(X[name]) for name in names]
    array = np.asarray(X)
    columns = list(np.asfortranarray(array).T) if array.dtype != object else list(array.T)
    return [_read_objects(column) if column.dtype.kind not in "iufb" else column for column in columns]


def _take_column(series: Any) -> Column:
    values = series.to_list() if hasattr(series, "to_list") else list(series)
    kind = getattr(getattr(series, "dtype", None), "kind", None)
    if kind in {"i", "u", "f", "b"}:
        array = np.asarray(series)
        if array.dtype.kind in "iufb":
            return array
    return _read_objects(_as_objects(values))


def _as_objects(values: Sequence[Any]) -> Column:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _read_objects(column: Column) -> Column:
    """A column of objects; one of numbers alone as numbers."""
    listed = column.tolist()
    kinds = set(map(type, listed))
    numeric = all(issubclass(kind, (int, float, np.number)) for kind in kinds - {type(None)})
    if numeric and kinds - {type(None)}:
        return np.array([np.nan if cell is None else float(cell) for cell in listed])
    return column if column.dtype == object else _as_objects(listed)
