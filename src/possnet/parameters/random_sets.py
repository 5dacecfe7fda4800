"""The random sets behind the data: masses of a variable's cells given its parents' cells.

For cells A of a variable and j of its parents, m(A | j) = N(A, j) / N(j), the share of rows whose cells *equal* these sets:
the masses that maximise (8) of [HLB]. Only cells that occur are kept.

[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from possnet.counting import counts_of
from possnet.doors import check_arguments
from possnet.errors import InputError, among, listing
from possnet.randomset import MassFunction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.aliases import Progress
    from possnet.counting import Counts
    from possnet.dataset import Batches, Dataset
    from possnet.graph import Dag
    from possnet.possibility import Possibility
    from possnet.variables import Variable

Cells = tuple[frozenset[str], ...]


class RandomSets:
    """Masses of every variable's cells, for the parents' cells that occur; made by `possnet.fit_random_sets`.

    >>> import possnet as pn
    >>> fevers, rashes = ["mild", {"mild", "high"}, "mild", "mild"], ["no", "no", "yes", "no"]
    >>> data = pn.Dataset.from_table({"fever": fevers, "rash": rashes})
    >>> model = pn.fit_random_sets(pn.Dag({"fever": (), "rash": ("fever",)}), data)
    >>> model
    RandomSets(2 variables, 5 masses)
    >>> model.mass_function("fever")
    MassFunction(fever: {mild} 0.75, {high, mild} 0.25)
    >>> model.contour("rash", {"fever": "mild"})
    Possibility(rash: no 0.666667, yes 0.333333; subnormal)
    """

    __slots__ = ("_dag", "_masses", "_support", "_variables")

    @check_arguments
    def __init__(
        self,
        variables: tuple[Variable, ...],
        dag: Dag,
        masses: Mapping[str, Mapping[Cells, MassFunction]],
        support: Mapping[str, Mapping[Cells, int | float]],
    ) -> None:
        self._variables = {variable.name: variable for variable in variables}
        self._dag = dag
        self._masses = {name: dict(of_cells) for name, of_cells in masses.items()}
        self._support = {name: dict(of_cells) for name, of_cells in support.items()}

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables."""
        return tuple(self._variables.values())

    @property
    def dag(self) -> Dag:
        """The structure."""
        return self._dag

    @check_arguments
    def masses(self, name: str) -> dict[Cells, MassFunction]:
        """Parents' cells, in the order of the structure -> mass function of the variable's cell.

        >>> import possnet as pn
        >>> model = pn.fit_random_sets(pn.Dag({"a": ()}), pn.Dataset.from_table({"a": ["x", "x"]}))
        >>> model.masses("a")
        {(): MassFunction(a: {x} 1)}
        """
        return dict(self._masses[self._require_name(name)])

    @check_arguments
    def support(self, name: str) -> dict[Cells, int | float]:
        """Parents' cells -> number of rows that have them.

        >>> import possnet as pn
        >>> pn.fit_random_sets(pn.Dag({"a": ()}), pn.Dataset.from_table({"a": ["x", "x"]})).support("a")
        {(): 2}
        """
        return dict(self._support[self._require_name(name)])

    @check_arguments
    def mass_function(self, name: str, given: Mapping[str, str | Collection[str]] | None = None) -> MassFunction:
        """Mass function of a variable's cell for given cells of its parents; an error if no row had them.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", "y"], "b": ["u", "v"]})
        >>> pn.fit_random_sets(pn.Dag({"a": (), "b": ("a",)}), data).mass_function("b", {"a": "y"})
        MassFunction(b: {v} 1)
        """
        parents = self._dag.parents(self._require_name(name))
        cells = given or {}
        if set(cells) != set(parents):
            raise InputError(
                f"random sets of {name!r}: cells of {listing(cells) or 'nothing'}; expected cells of "
                f"{listing(parents) or 'nothing, for it has no parents'}"
            )
        for parent, cell in cells.items():
            given_cell: object = cell
            if not isinstance(given_cell, str | Collection):
                raise InputError(
                    f"random sets of {name!r}: {cell!r} as the cell of {parent!r}; expected a state or a set"
                )
        key = tuple(self._variables[p].states_in(self._variables[p].mask(cells[p])) for p in parents)
        if key not in self._masses[name]:
            shown = ", ".join(f"{p}={'|'.join(sorted(cell))}" for p, cell in zip(parents, key, strict=True))
            raise InputError(
                f"random sets of {name!r}: no row has {shown or 'any cell'}; see masses({name!r}) for those that occur"
            )
        return self._masses[name][key]

    @check_arguments
    def contour(self, name: str, given: Mapping[str, str | Collection[str]] | None = None) -> Possibility:
        """Possibility of each state, (3) of [HLB], for given cells of the parents; subnormal if no state is in every cell.

        >>> import possnet as pn
        >>> pn.fit_random_sets(pn.Dag({"a": ()}), pn.Dataset.from_table({"a": ["x", {"x", "y"}]})).contour("a")
        Possibility(a: x 1, y 0.5)
        """
        return self.mass_function(name, given).contour()

    def __repr__(self) -> str:
        count = sum(len(m.masses) for of_cells in self._masses.values() for m in of_cells.values())
        variables = len(self._variables)
        return f"RandomSets({variables} variable{'s' * (variables != 1)}, {count} mass{'es' * (count != 1)})"

    def _require_name(self, name: str) -> str:
        if name not in self._variables:
            raise InputError(f"random sets: no variable {name!r}{among(name, self._variables)}")
        return name


@check_arguments
def fit_random_sets(dag: Dag, data: Dataset | Batches | Counts, *, progress: Progress | None = None) -> RandomSets:
    """Masses m(A | j) of every variable's cells given its parents' cells: the maximum of (8) of [HLB].

    Equation
    --------
    m(A | B) = N(X_i = A, pa_i = B) / N(pa_i = B)

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"fever": ["mild", {"mild", "high"}, "mild", "mild"]})
    >>> fit_random_sets(pn.Dag({"fever": ()}), data).mass_function("fever")
    MassFunction(fever: {mild} 0.75, {high, mild} 0.25)
    """
    counts = counts_of(dag, data, "fit_random_sets", focal=True, progress=progress)
    masses: dict[str, dict[Cells, MassFunction]] = {}
    support: dict[str, dict[Cells, int | float]] = {}
    for variable in counts.variables:
        rows: dict[Cells, dict[int, int | float]] = {}
        for cells, number in counts.focal(variable.name).items():
            rows.setdefault(cells[:-1], {})[variable.mask(cells[-1])] = number
        totals = support[variable.name] = {key: sum(numbers.values()) for key, numbers in rows.items()}
        masses[variable.name] = {
            key: MassFunction.unchecked(variable, {mask: number / totals[key] for mask, number in numbers.items()})
            for key, numbers in rows.items()
        }
    return RandomSets(counts.variables, dag, masses, support)
