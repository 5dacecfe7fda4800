"""Sufficient statistics of a structure: how many rows contain each configuration of a family.

For a variable i, a configuration j of its parents and a state k,

- N_ij is the number of rows whose parents' cells contain j,
- N_ijk the number of those whose own cell contains k too (section 3.2 of [HLB]).

A row whose cells are sets counts in several places, so N_ij is not the sum of N_ijk. *Focal counts* are the numbers of
rows whose cells *equal* given sets. Only configurations that occur are kept. Counts of two data sets add up to the counts
of both together, exactly and in any order. They are exact integers, unless rows have fractional weights or cells with
degrees: then they are floats, and their type says so.

[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from possnet.counting.focal_counts import Focal, merge_focal
from possnet.counting.permuted_counts import (
    permute_focal,
    permute_tally,
    require_same_parents,
    require_same_states,
)
from possnet.doors import check_arguments, check_fields
from possnet.errors import InputError, among, describe_value
from possnet.kernels import bitmaps, tally
from possnet.limits import refuse_over
from possnet.variables import join_bins

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats, Ints, Weights
    from possnet.graph import Dag
    from possnet.kernels.tally import Tally
    from possnet.variables import Variable

    Arrays: TypeAlias = tuple[NDArray[np.generic], ...]


def refuse_rows(rows: float) -> None:
    """Raise an `InputError` for more rows than counts can hold: none is larger than the number of rows."""
    if rows >= 2**62:
        raise InputError(f"counts of {rows:,} rows in all; expected fewer than 2**62, so that every count is exact")


@check_fields
@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """Sufficient statistics N_ijk and N_ij of the families of a DAG; made by `possnet.count`.

    Attributes
    ----------
    variables, dag
        The variables, in the order of the structure's nodes, and the structure that was counted.
    families
        Name -> counts of the contexts that occur; see `family`.
    rows
        Number of rows: the sum of their weights.
    cell_sizes
        Name -> sum of the sizes of a variable's cells, over all rows.
    focal_families
        Name -> focal counts, if they were asked for; see `focal_arrays`.

    Examples
    --------
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

    variables: tuple[Variable, ...]
    dag: Dag
    families: Mapping[str, Tally]
    _: KW_ONLY
    rows: int | float
    cell_sizes: Mapping[str, int | float]
    focal_families: Mapping[str, Focal] | None = None

    def __post_init__(self) -> None:
        for family in (*self.families.values(), *(self.focal_families or {}).values()):
            for array in family:
                array.flags.writeable = False

    @property
    def is_exact(self) -> bool:
        """Whether the counts are exact integers (int64): all weights are whole, and no cell carries degrees."""
        return all(family.totals.dtype.kind == "i" for family in self.families.values())

    def with_one_type(self) -> Counts:
        """The same counts, all of them floats if some are.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", {"x": 1, "y": 0.5}], "b": ["u", "v"]})
        >>> pn.count(pn.Dag({"a": (), "b": ()}), data).with_one_type()["b"]
        array([1., 1.])
        """
        if self.is_exact:
            return self
        focal = self.focal_families
        return replace(
            self,
            families={
                n: f._replace(counts=_to_floats(f.counts), totals=_to_floats(f.totals))
                for n, f in self.families.items()
            },
            focal_families=focal and {n: f._replace(counts=_to_floats(f.counts)) for n, f in focal.items()},
        )

    @property
    def has_focal(self) -> bool:
        """Whether focal counts were asked for."""
        return self.focal_families is not None

    @cached_property
    def _by_name(self) -> dict[str, Variable]:
        return {variable.name: variable for variable in self.variables}

    def variable(self, name: str) -> Variable:
        """Variable of a name.

        >>> import possnet as pn
        >>> pn.count(pn.Dag({"a": ()}), pn.Dataset.from_table({"a": ["x"]})).variable("a")
        Variable('a', ('x',))
        """
        try:
            return self._by_name[name]
        except (KeyError, TypeError):
            raise InputError(f"counts: no variable {describe_value(name)}{among(name, self._by_name)}") from None

    def family(self, name: str) -> Tally:
        """Counts of a family: the contexts that occur (states of the parents, in table order), their N_ijk and N_ij.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", "y"], "b": ["u", "u"]})
        >>> pn.count(pn.Dag({"a": (), "b": ("a",)}), data).family("b")
        Tally(contexts=array([[0], [1]], dtype=int32), counts=array([[1], [1]]), totals=array([1, 1]))
        """
        return self.families[self.variable(name).name]

    def __getitem__(self, name: str) -> Weights:
        """All N_ijk of a variable, axes as in its table, int64 or float64; refused if that is too large."""
        return self._dense(name, self.family(name).counts, (len(self.variable(name)),))

    def totals(self, name: str) -> Weights:
        """All N_ij of a variable, axes as its parents.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}], "b": ["u", "u"]})
        >>> pn.count(pn.Dag({"a": (), "b": ("a",)}), data).totals("b")
        array([2, 1])
        """
        return self._dense(name, self.family(name).totals, ())

    def cell_size_sum(self, name: str) -> int | float:
        """Sum of the sizes of a variable's cells, over all rows; the size of a graded cell is the sum of its degrees.

        >>> import possnet as pn
        >>> pn.count(pn.Dag({"a": ()}), pn.Dataset.from_table({"a": ["x", {"x", "y"}]})).cell_size_sum("a")
        3
        """
        return self.cell_sizes[self.variable(name).name]

    def focal(self, name: str) -> dict[tuple[frozenset[str], ...], int | float]:
        """Rows whose cells equal given sets: (parents' cells ..., own cell) -> how many.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "x"]})
        >>> sorted((len(cell), n) for (cell,), n in pn.count(pn.Dag({"a": ()}), data, focal=True).focal("a").items())
        [(1, 2), (2, 1)]
        """
        codes, sets, counts = self.focal_codes(name)
        cells = [
            [variable.states_in(bitmaps.mask_of(inside)) for inside in distinct]
            for variable, distinct in zip(self._scope(name), sets, strict=True)
        ]
        columns = [[listed[code] for code in column] for listed, column in zip(cells, codes, strict=True)]
        return dict(zip(zip(*columns, strict=True), counts.tolist(), strict=True))

    def focal_codes(self, name: str) -> tuple[list[Ints], list[Bools], Weights]:
        """The numbers of `focal` by codes.

        For each parent and the variable: the code of its cell in every combination, and the distinct cells (cells, states)
        that the codes number. Then the counts of the combinations.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "x"]})
        >>> pn.count(pn.Dag({"a": ()}), data, focal=True).focal_codes("a")
        ([array([0, 1])], [array([[ True, False], [ True,  True]])], array([2, 1]))
        """
        octets, counts = self.focal_arrays(name)
        codes, sets, start = [], [], 0
        for variable in self._scope(name):
            stop = start + -(-len(variable) // 8)
            column, masks = bitmaps.distinct_rows(octets[:, start:stop])
            codes.append(column)
            sets.append(bitmaps.unpack_sets(masks, len(variable)))
            start = stop
        return codes, sets, counts

    def focal_arrays(self, name: str) -> Focal:
        """The numbers of `focal` as arrays: sets as packed bits, and counts.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "x"]})
        >>> pn.count(pn.Dag({"a": ()}), data, focal=True).focal_arrays("a")
        Focal(octets=array([[1], [3]], dtype=uint8), counts=array([2, 1]))
        """
        if self.focal_families is None:
            raise InputError("counts: focal counts were not asked for; expected count(dag, data, focal=True)")
        return self.focal_families[self.variable(name).name]

    def __add__(self, other: Counts) -> Counts:
        """Counts of the rows of both, variables, states and parents matched by name."""
        if not isinstance(other, Counts):
            return NotImplemented
        if self._by_name != other._by_name or self.dag != other.dag:
            other = other.with_order(self.variables, self.dag, "adding counts", ("the first", "the second"))
        variables = tuple(join_bins(v, other._by_name[v.name], "counts that are added") for v in self.variables)
        if (self.focal_families is None) != (other.focal_families is None):
            raise InputError(
                "counts with and without focal counts cannot be added; expected both with focal=True, or none"
            )
        refuse_rows(self.rows + other.rows)
        sizes = {name: [len(v) for v in self._scope(name)[:-1]] for name in self._by_name}
        focal = None
        if self.focal_families is not None and other.focal_families is not None:
            focal = {name: merge_focal([own, other.focal_families[name]]) for name, own in self.focal_families.items()}
        return Counts(
            variables,
            self.dag,
            {n: tally.merge_tallies([self.families[n], other.families[n]], sizes[n]) for n in self._by_name},
            rows=self.rows + other.rows,
            cell_sizes={name: self.cell_sizes[name] + other.cell_sizes[name] for name in self._by_name},
            focal_families=focal,
        ).with_one_type()

    @check_arguments
    def with_order(
        self,
        variables: Iterable[Variable],
        dag: Dag,
        owner: str = "counts",
        sides: tuple[str, str] = ("the structure", "the counts"),
    ) -> Counts:
        """The same counts in the order of given variables and a structure, matched by name.

        Unlike rows, counts do not tell unknown cells from others, so that a domain that lacks a state cannot be extended:
        other variables, states or parents are refused. ``sides`` is what the two are called then.

        >>> import possnet as pn
        >>> dag = pn.Dag({"a": ()})
        >>> counts = pn.count(dag, pn.Dataset.from_table({"a": ["x", "y", "y"]}))
        >>> counts.with_order([pn.Variable("a", ("y", "x"))], dag)["a"]
        array([2, 1])
        """
        known = {variable.name: variable for variable in variables}
        require_same_parents(self.dag, dag, owner, sides)
        require_same_states(self.variables, known.values(), owner, sides)
        ordered = tuple(known[node] for node in dag.nodes)
        if self.dag == dag and self.variables == ordered:
            return self
        scopes = {name: (self._scope(name), [known[n] for n in (*dag.parents(name), name)]) for name in dag.nodes}
        focal = self.focal_families
        return Counts(
            ordered,
            dag,
            {name: permute_tally(self.families[name], *scope) for name, scope in scopes.items()},
            rows=self.rows,
            cell_sizes={name: self.cell_sizes[name] for name in scopes},
            focal_families=None if focal is None else {n: permute_focal(focal[n], *scopes[n]) for n in scopes},
        )

    def __eq__(self, other: object) -> bool:
        """Same variables, structure and counts, focal ones included."""
        if not isinstance(other, Counts):
            return NotImplemented
        return (
            (self._by_name, self.dag, self.rows) == (other._by_name, other.dag, other.rows)
            and (self.cell_sizes, self.has_focal) == (other.cell_sizes, other.has_focal)
            and _same_arrays(self.families, other.families)
            and _same_arrays(self.focal_families or {}, other.focal_families or {})
        )

    def __hash__(self) -> int:
        return hash((frozenset(self._by_name.values()), self.dag, self.rows))

    def __reduce__(self) -> tuple[object, ...]:
        rebuild = partial(Counts, rows=self.rows, cell_sizes=self.cell_sizes, focal_families=self.focal_families)
        return rebuild, (self.variables, self.dag, self.families)

    def _repr_html_(self) -> str:
        """A line for every variable, for notebooks: contexts seen, and rows behind them."""
        from possnet.drawing import draw_table

        rows = []
        for name in list(self._by_name)[:60]:
            totals = self.families[name].totals
            size = prod(len(v) for v in self._scope(name)[:-1])
            numbers = [float(f(totals)) if len(totals) else 0.0 for f in (np.min, np.median, np.max)]
            texts = [f"{int(number):,}" if self.is_exact else f"{number:,.2f}" for number in numbers]
            rows.append([name, ", ".join(self.dag.parents(name)), f"{len(totals):,}", f"{size:,}", *texts])
        head = ["variable", "parents", "contexts seen", "possible", "rows: least", "median", "most"]
        left = len(self._by_name) - 60
        return draw_table(head, rows, caption=repr(self)[7:-1], note=f"… {left} more variables" if left > 0 else "")

    def __repr__(self) -> str:
        contexts = sum(len(family.contexts) for family in self.families.values())
        variables = len(self._by_name)
        rows = self.rows if isinstance(self.rows, int) else f"{self.rows:.6g}"
        text = f"{rows} row{'s' * (self.rows != 1)}, {variables} variable{'s' * (variables != 1)}"
        text += f", {contexts} context{'s' * (contexts != 1)}{'' if self.is_exact else ', floats'}"
        return f"Counts({text}{', focal' if self.has_focal else ''})"

    def _scope(self, name: str) -> list[Variable]:
        return [self._by_name[n] for n in (*self.dag.parents(name), name)]

    def _dense(self, name: str, values: Weights, last: tuple[int, ...]) -> Weights:
        sizes = tuple(len(variable) for variable in self._scope(name)[:-1])
        refuse_over(
            8 * prod((*sizes, *last)), f"the dense table of {name!r}", "use family(...), which holds only what occurs"
        )
        table: NDArray[Any] = np.zeros((*sizes, *last), dtype=values.dtype)
        contexts = self.family(name).contexts
        if len(contexts):
            table[tuple(contexts.T)] = values if sizes else values[0]
        return table


def _to_floats(numbers: Weights) -> Floats:
    return numbers.astype(np.float64)


def _same_arrays(left: Mapping[str, Arrays], right: Mapping[str, Arrays]) -> bool:
    return all(np.array_equal(a, b) for name in left for a, b in zip(left[name], right[name], strict=True))
