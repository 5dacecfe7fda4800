"""Counts: how many rows contain each configuration of a family. A value that adds.

For a variable i, a configuration j of its parents and a state k,

- N_ij is the number of rows whose parents' cells contain j,
- N_ijk the number of those whose own cell contains k too (section 3.2 of [HLB]).

One row counts in many places when its cells are sets, so N_ij is not the sum of N_ijk. *Focal counts* are the numbers of
rows whose cells *equal* given sets. Only what occurs is kept; adding is exact and in any order.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from possnet.errors import InputError, among
from possnet.kernels import bitmaps, tally
from possnet.kernels.grouping import sum_weights
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from possnet.aliases import Ints
    from possnet.graph import Dag
    from possnet.kernels.tally import Tally
    from possnet.variables import Variable

    Arrays: TypeAlias = tuple[NDArray[np.generic], ...]


class Focal(NamedTuple):
    """Distinct combinations of a family's cells, as masks (combinations, bytes) in sorted order, and how often they stand.

    The masks of the parents and then of the child follow each other, each of whole bytes, low bits first.
    """

    octets: NDArray[np.uint8]
    counts: Ints


def refuse_rows(rows: int) -> None:
    """Raise an `InputError` for more rows than counts can hold: none is larger than the number of rows."""
    if rows >= 2**62:
        raise InputError(f"counts of {rows:,} rows in all; expected fewer than 2**62, so that every count is exact")


def merge_focal(parts: Iterable[Focal]) -> Focal:
    """One sorted list of the combinations of several lists, without those that only rows of weight 0 have."""
    octets, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    codes, distinct = bitmaps.distinct_rows(octets)
    totals = sum_weights(codes, counts, len(distinct))
    return Focal(distinct[totals > 0], totals[totals > 0])


class Counts:
    """Counts of the families of a DAG; made by `possnet.count`.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"fever": ["mild", {"mild", "high"}], "rash": ["no", "yes"]})
    >>> counts = pn.count(pn.Dag({"fever": (), "rash": ("fever",)}), data)
    >>> counts
    Counts(2 rows, 2 variables, 3 contexts)
    >>> counts["rash"]
    array([[0, 1], [1, 1]])
    >>> counts.totals("rash")
    array([1, 2])
    >>> (counts + counts).rows
    4
    """

    __slots__ = ("_dag", "_families", "_focal", "_rows", "_sizes", "_variables")

    def __init__(
        self,
        variables: tuple[Variable, ...],
        dag: Dag,
        families: Mapping[str, Tally],
        *,
        rows: int,
        cell_sizes: Mapping[str, int],
        focal: Mapping[str, Focal] | None = None,
    ) -> None:
        self._variables = {variable.name: variable for variable in variables}
        self._dag, self._rows = dag, rows
        self._families, self._sizes = dict(families), dict(cell_sizes)
        self._focal = None if focal is None else dict(focal)
        for family in (*self._families.values(), *(self._focal or {}).values()):
            for array in family:
                array.flags.writeable = False

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the order of the dag's nodes."""
        return tuple(self._variables.values())

    @property
    def dag(self) -> Dag:
        """The structure that was counted."""
        return self._dag

    @property
    def rows(self) -> int:
        """Number of rows, each with its weight."""
        return self._rows

    @property
    def has_focal(self) -> bool:
        """Whether focal counts were asked for."""
        return self._focal is not None

    def variable(self, name: str) -> Variable:
        """Variable of a name.

        >>> import possnet as pn
        >>> pn.count(pn.Dag({"a": ()}), pn.Dataset.from_table({"a": ["x"]})).variable("a")
        Variable('a', ('x',))
        """
        if name not in self._variables:
            raise InputError(f"counts: no variable {name!r}{among(name, self._variables)}")
        return self._variables[name]

    def family(self, name: str) -> Tally:
        """What occurs of a family: contexts (states of the parents), N_ijk and N_ij, contexts in table order.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", "y"], "b": ["u", "u"]})
        >>> pn.count(pn.Dag({"a": (), "b": ("a",)}), data).family("b")
        Tally(contexts=array([[0], [1]], dtype=int32), counts=array([[1], [1]]), totals=array([1, 1]))
        """
        return self._families[self.variable(name).name]

    def __getitem__(self, name: str) -> Ints:
        """All N_ijk of a variable, axes as in its table; refused if that is too large."""
        return self._dense(name, self.family(name).counts, (len(self.variable(name)),))

    def totals(self, name: str) -> Ints:
        """All N_ij of a variable, axes as its parents.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}], "b": ["u", "u"]})
        >>> pn.count(pn.Dag({"a": (), "b": ("a",)}), data).totals("b")
        array([2, 1])
        """
        return self._dense(name, self.family(name).totals, ())

    def cell_size_sum(self, name: str) -> int:
        """Sum of the sizes of a variable's cells, over all rows.

        >>> import possnet as pn
        >>> pn.count(pn.Dag({"a": ()}), pn.Dataset.from_table({"a": ["x", {"x", "y"}]})).cell_size_sum("a")
        3
        """
        return self._sizes[self.variable(name).name]

    def focal(self, name: str) -> dict[tuple[frozenset[str], ...], int]:
        """Rows whose cells equal given sets: (parents' cells ..., own cell) -> how many.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "x"]})
        >>> sorted((len(cell), n) for (cell,), n in pn.count(pn.Dag({"a": ()}), data, focal=True).focal("a").items())
        [(1, 2), (2, 1)]
        """
        octets, counts = self.focal_arrays(name)
        family = self._scope(name)
        counts_of_cells = {}
        for row, count in zip(octets, counts.tolist(), strict=True):
            cells, start = [], 0
            for variable in family:
                width = -(-len(variable) // 8)
                mask = int.from_bytes(row[start : start + width].tobytes(), "little")
                cells.append(variable.states_in(mask))
                start += width
            counts_of_cells[tuple(cells)] = count
        return counts_of_cells

    def focal_arrays(self, name: str) -> Focal:
        """The same as arrays, for machines.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "x"]})
        >>> pn.count(pn.Dag({"a": ()}), data, focal=True).focal_arrays("a")
        Focal(octets=array([[1], [3]], dtype=uint8), counts=array([2, 1]))
        """
        if self._focal is None:
            raise InputError("counts: focal counts were not asked for; expected count(dag, data, focal=True)")
        return self._focal[self.variable(name).name]

    def __add__(self, other: Counts) -> Counts:
        """Counts of the rows of both."""
        if not isinstance(other, Counts):
            return NotImplemented
        if self._variables != other._variables or self._dag != other._dag:
            raise InputError("counts of different variables or structures cannot be added; expected the same")
        if (self._focal is None) != (other._focal is None):
            raise InputError(
                "counts with and without focal counts cannot be added; expected both with focal=True, or none"
            )
        refuse_rows(self._rows + other._rows)
        sizes = {name: [len(v) for v in self._scope(name)[:-1]] for name in self._variables}
        focal = None
        if self._focal is not None and other._focal is not None:
            focal = {name: merge_focal([self._focal[name], other._focal[name]]) for name in self._variables}
        return Counts(
            self.variables,
            self._dag,
            {n: tally.merge_tallies([self._families[n], other._families[n]], sizes[n]) for n in self._variables},
            rows=self._rows + other._rows,
            cell_sizes={name: self._sizes[name] + other._sizes[name] for name in self._variables},
            focal=focal,
        )

    def __eq__(self, other: object) -> bool:
        """Same variables, structure and counts, focal ones included."""
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            self._variables == other._variables
            and self._dag == other._dag
            and self._rows == other._rows
            and self._sizes == other._sizes
            and _same(self._families, other._families)
            and (self._focal is None) == (other._focal is None)
            and _same(self._focal or {}, other._focal or {})
        )

    def __hash__(self) -> int:
        return hash((frozenset(self._variables.values()), self._dag, self._rows))

    def __reduce__(self) -> tuple[object, ...]:
        rebuild = partial(Counts, rows=self._rows, cell_sizes=self._sizes, focal=self._focal)
        return rebuild, (self.variables, self._dag, self._families)

    def _repr_html_(self) -> str:
        """A line for every variable, for notebooks: contexts seen, and rows behind them."""
        from possnet.drawing import draw_table

        rows = []
        for name in list(self._variables)[:60]:
            totals = self._families[name].totals
            size = prod(len(v) for v in self._scope(name)[:-1])
            least, middle, most = (int(f(totals)) if len(totals) else 0 for f in (np.min, np.median, np.max))
            parents = ", ".join(self._dag.parents(name))
            rows.append([name, parents, f"{len(totals):,}", f"{size:,}", f"{least:,}", f"{middle:,}", f"{most:,}"])
        head = ["variable", "parents", "contexts seen", "possible", "rows: least", "median", "most"]
        left = len(self._variables) - 60
        return draw_table(head, rows, caption=repr(self)[7:-1], note=f"… {left} more variables" if left > 0 else "")

    def __repr__(self) -> str:
        contexts = sum(len(family.contexts) for family in self._families.values())
        variables = len(self._variables)
        text = f"{self._rows} row{'s' * (self._rows != 1)}, {variables} variable{'s' * (variables != 1)}"
        return f"Counts({text}, {contexts} context{'s' * (contexts != 1)}{', focal' if self.has_focal else ''})"

    def _scope(self, name: str) -> list[Variable]:
        return [self._variables[n] for n in (*self._dag.parents(name), name)]

    def _dense(self, name: str, values: Ints, last: tuple[int, ...]) -> Ints:
        sizes = tuple(len(variable) for variable in self._scope(name)[:-1])
        refuse_over(
            8 * prod((*sizes, *last)), f"the dense table of {name!r}", "use family(...), which holds only what occurs"
        )
        table = np.zeros((*sizes, *last), dtype=np.int64)
        contexts = self.family(name).contexts
        if len(contexts):
            table[tuple(contexts.T)] = values if sizes else values[0]
        return table


def _same(
    left: Mapping[str, tuple[NDArray[np.generic], ...]], right: Mapping[str, tuple[NDArray[np.generic], ...]]
) -> bool:
    return all(
        len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
        for a, b in ((left[name], right[name]) for name in left)
    )
