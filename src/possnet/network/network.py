"""Possibilistic networks: a DAG, a conditional table for every variable, and a conjunction.

The table of a variable gives π(x | a) for every configuration a of its parents; its axes are the parents in the order of
the DAG, then the variable itself. The joint distribution is the chain rule

    π(x_1, ..., x_n) = conjunction over i of π(x_i | parents of x_i)                             (4) of [HLB]

with the product (`PRODUCT`, quantitative possibility theory) or the minimum (`MIN`, qualitative).

A network is checked once, when it is built: names, shapes, range of the degrees, and that every row of every table
peaks at 1. Code that has just computed valid tables uses `Network.unchecked`.

[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from possnet.doors import check_arguments, checks_itself
from possnet.errors import InputError, among, describe_value, listing
from possnet.gates import Gate
from possnet.graph import Dag
from possnet.limits import refuse_over
from possnet.network.network_bounds import NetworkBounds, check_bounds
from possnet.possibility import PRODUCT, Conjunction, as_degrees, check_conjunction, snap_tops
from possnet.variables import check_text, for_every_variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike

    from possnet.aliases import Bools, Floats
    from possnet.variables import Variable

_Derived = TypeVar("_Derived")


class Network:
    """A possibilistic network.

    Equation
    --------
    π(x_1, ..., x_n) = π(x_1 | pa_1) ⊗ ... ⊗ π(x_n | pa_n)

    Parameters
    ----------
    variables
        The variables, in any order.
    dag
        One node for each variable.
    tables
        Name -> degrees; axes are the parents in the order of the DAG, then the variable itself. Every row (the last
        axis) peaks at 1. For raw tables, see `normalise_tables` and `Network.subnormal`. A gate (`possnet.gate_or` and
        others) stands for its table, and its numbers are kept.
    conjunction
        ``PRODUCT`` or ``MIN``.
    support
        Name -> number of observations behind each row of the table, for a learned network.
    name, description
        Free text, shown to people.

    Examples
    --------
    >>> import possnet as pn
    >>> fever = pn.Variable("fever", ("none", "high"))
    >>> rash = pn.Variable("rash", ("yes", "no"))
    >>> dag = pn.Dag({"fever": (), "rash": ("fever",)})
    >>> net = Network((fever, rash), dag, {"fever": [1, 0.4], "rash": [[0.1, 1], [1, 0.5]]}, conjunction=pn.PRODUCT)
    >>> net
    Network(2 variables, 1 edge, 6 degrees, product)
    >>> net.joint({"fever": "high", "rash": "no"})
    0.2
    """

    __slots__ = (
        "_bounds", "_by_name", "_conjunction", "_dag", "_derived", "_description", "_gates", "_name", "_support",
        "_tables", "_transform",
    )  # fmt: skip
    _by_name: dict[str, Variable]
    _dag: Dag
    _tables: dict[str, Floats]
    _conjunction: Conjunction
    _support: dict[str, Floats] | None
    _bounds: NetworkBounds | None
    _gates: dict[str, Gate]
    _name: str
    _description: str
    _transform: str
    _derived: dict[Callable[[Network], object], object]

    @check_arguments
    def __init__(
        self,
        variables: Iterable[Variable],
        dag: Dag,
        tables: Mapping[str, ArrayLike],
        *,
        conjunction: Conjunction = PRODUCT,
        support: Mapping[str, ArrayLike] | None = None,
        name: str = "",
        description: str = "",
    ) -> None:
        self._set_checked(variables, dag, tables, conjunction, support, name, description)
        for child in self._by_name:
            self._require_peaks(child, self._tables[child])

    @classmethod
    @check_arguments
    def subnormal(
        cls,
        variables: Iterable[Variable],
        dag: Dag,
        tables: Mapping[str, ArrayLike],
        *,
        conjunction: Conjunction = PRODUCT,
        support: Mapping[str, ArrayLike] | None = None,
        name: str = "",
        description: str = "",
    ) -> Network:
        """Network whose rows need not peak at 1, such as raw histograms; otherwise checked like any other.

        >>> import possnet as pn
        >>> rash = pn.Variable("rash", ("yes", "no"))
        >>> Network.subnormal((rash,), pn.Dag({"rash": ()}), {"rash": [0.5, 0.2]})
        Network(1 variable, 0 edges, 2 degrees, product; subnormal)
        """
        self = object.__new__(cls)
        self._set_checked(variables, dag, tables, conjunction, support, name, description)
        return self

    @classmethod
    def unchecked(
        cls,
        variables: Iterable[Variable],
        dag: Dag,
        tables: dict[str, Floats],
        *,
        conjunction: Conjunction = PRODUCT,
        support: dict[str, Floats] | None = None,
        bounds: NetworkBounds | None = None,
        gates: dict[str, Gate] | None = None,
        name: str = "",
        description: str = "",
        transform: str = "",
    ) -> Network:
        """Network of values already known to be valid; nothing is checked, snapped or copied.

        >>> import possnet as pn
        >>> rash = pn.Variable("rash", ("yes", "no"))
        >>> Network.unchecked((rash,), pn.Dag({"rash": ()}), {"rash": np.array([1.0, 0.2])})
        Network(1 variable, 0 edges, 2 degrees, product)
        """
        self = object.__new__(cls)
        self._by_name = {variable.name: variable for variable in variables}
        self._dag, self._conjunction, self._name, self._description = dag, conjunction, name, description
        self._tables, self._support, self._bounds, self._transform = tables, support, bounds, transform
        self._gates, self._derived = gates or {}, {}
        for arrays in (tables, support or {}, *(bounds or ())):
            for array in arrays.values():
                array.flags.writeable = False
        return self

    def _set_checked(
        self,
        variables: Iterable[Variable],
        dag: Dag,
        tables: Mapping[str, ArrayLike],
        conjunction: Conjunction,
        support: Mapping[str, ArrayLike] | None,
        name: str,
        description: str,
    ) -> None:
        listed = tuple(variables)
        check_conjunction(conjunction)
        for text in (name, description):
            if text:
                check_text(text, "network name or description")
        self._name, self._description, self._conjunction, self._dag = name, description, conjunction, dag
        self._by_name = {variable.name: variable for variable in listed}
        if len(self._by_name) < len(listed):
            raise InputError(f"{self._error_owner()}: two variables have the same name; expected distinct names")
        if not listed:
            raise InputError(f"{self._error_owner()}: no variables; expected at least one")
        for_every_variable(dict.fromkeys(dag.nodes), self._by_name, self._error_owner(), "node of the dag")
        given = for_every_variable(tables, self._by_name, self._error_owner(), "table")
        self._tables = {child: self._checked_table(child, table) for child, table in given.items()}
        self._gates = {child: table for child, table in given.items() if isinstance(table, Gate)}
        self._support = self._bounds = None
        self._transform, self._derived = "", {}
        if support is not None:
            numbers = for_every_variable(support, self._by_name, self._error_owner(), "support")
            self._support = {child: self._checked_support(child, rows) for child, rows in numbers.items()}

    @property
    def name(self) -> str:
        """Short name, or empty."""
        return self._name

    @property
    def description(self) -> str:
        """Free text, or empty."""
        return self._description

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the order given."""
        return tuple(self._by_name.values())

    @property
    def dag(self) -> Dag:
        """The graph."""
        return self._dag

    @property
    def conjunction(self) -> Conjunction:
        """``PRODUCT`` or ``MIN``."""
        return self._conjunction

    @property
    def support(self) -> dict[str, Floats] | None:
        """Name -> observations behind each row of the table, for a learned network; otherwise None."""
        return None if self._support is None else dict(self._support)

    @property
    def bounds(self) -> NetworkBounds | None:
        """Lower and upper tables if the degrees are known within bounds, otherwise None: see `with_bounds`."""
        return None if self._bounds is None else NetworkBounds(*map(dict, self._bounds))

    @property
    def gates(self) -> dict[str, Gate]:
        """Name -> the gate that a table is made by, for those tables that are: see `possnet.gate_or`."""
        return dict(self._gates)

    @property
    def transform(self) -> str:
        """``ratio`` if the tables are probabilities divided by the largest of their context, otherwise empty.

        Tables that `possnet.fit_coarsened` learns are; `possnet.complete` then answers by the probabilities themselves.
        """
        return self._transform

    @property
    def backed_off(self) -> dict[str, Bools] | None:
        """Name -> which contexts without observations took the degrees of a smaller context; None without support.

        By a marginal prior (`possnet.fit`) they do; otherwise such contexts are all 1.
        """
        if self._support is None:
            return None
        return {name: (rows == 0.0) & (self._tables[name] < 1.0).any(axis=-1) for name, rows in self._support.items()}

    @property
    def is_normalised(self) -> bool:
        """Whether every row of every table peaks at 1."""
        return all((table.max(axis=-1) == 1.0).all() for table in self._tables.values())

    @check_arguments
    def derive(self, make: Callable[[Network], _Derived]) -> _Derived:
        """A value that follows from the network alone: made when first asked for, and kept with the network.

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> def count_degrees(network):
        ...     return sum(network.table(variable.name).size for variable in network.variables)
        >>> asia.derive(count_degrees)
        36
        """
        if make not in self._derived:
            self._derived[make] = make(self)
        return cast("_Derived", self._derived[make])

    def variable(self, name: str) -> Variable:
        """Variable of a name.

        >>> import possnet as pn
        >>> pn.load_example("asia").variable("smoke")
        Variable('smoke', ('yes', 'no'))
        """
        try:
            return self._by_name[name]
        except (KeyError, TypeError):
            shown = describe_value(name)
            raise InputError(f"{self._error_owner()}: no variable {shown}{among(name, self._by_name)}") from None

    def table(self, name: str) -> Floats:
        """Read-only degrees π(x | a); axes are the parents in order, then the variable itself.

        >>> import possnet as pn
        >>> pn.load_example("asia").table("tub")
        array([[0.05, 1.  ],
               [0.01, 1.  ]])
        """
        return self._tables[self.variable(name).name]

    @check_arguments
    def with_table(self, name: str, degrees: ArrayLike) -> Network:
        """The same network with another table for one variable; only that table is checked.

        A subnormal network takes any table; a normalised one takes tables whose rows peak at 1. Support is dropped for a
        learned network, because the new table was not learned from those observations, and so is `transform`. If the
        network carries bounds, those of other variables stay, and the new table is its own lower and upper bound: it is
        given, not learned.

        >>> import possnet as pn
        >>> pn.load_example("asia").with_table("smoke", [1, 0.5]).table("smoke")
        array([1. , 0.5])
        """
        table = self._checked_table(self.variable(name).name, degrees)
        gates = {child: gate for child, gate in self._gates.items() if child != name}
        if isinstance(degrees, Gate):
            gates[name] = degrees
        if self.is_normalised:
            self._require_peaks(name, table)
        bounds = self._bounds
        if bounds is not None:
            bounds = NetworkBounds({**bounds.lower, name: table}, {**bounds.upper, name: table})
        return self._with_tables({**self._tables, name: table}, None, bounds, gates=gates, transform="")

    @check_arguments
    def with_bounds(self, lower: Mapping[str, ArrayLike], upper: Mapping[str, ArrayLike]) -> Network:
        """The same network, whose true degrees are known to lie between two tables: lower <= π(x | a) <= upper.

        Parameters
        ----------
        lower, upper
            Name -> array like the table, for every variable, with 0 <= lower <= table <= upper <= 1. Lower rows need not
            peak at 1; upper rows do, because the table's rows do. `possnet.Inference.bounds` carries them through queries.

        Examples
        --------
        >>> import possnet as pn
        >>> rash = pn.Variable("rash", ("none", "spots"))
        >>> net = pn.Network((rash,), pn.Dag({"rash": ()}), {"rash": [1, 0.5]})
        >>> net.with_bounds({"rash": [1, 0.2]}, {"rash": [1, 0.6]})
        Network(1 variable, 0 edges, 2 degrees, product; with bounds)
        """
        return self._with_tables(
            self._tables, self._support, check_bounds(self._tables, lower, upper, self._error_owner())
        )

    @check_arguments
    def with_transform(self, transform: str) -> Network:
        """The same network, whose tables are said to be probabilities divided by the largest of their context, or not.

        >>> import possnet as pn
        >>> pn.load_example("asia").with_transform("ratio").transform
        'ratio'
        """
        if transform not in {"", "ratio"}:
            raise InputError(f"{self._error_owner()}: transform {transform!r}; expected 'ratio' or ''")
        return self._with_tables(self._tables, self._support, self._bounds, transform=transform)

    def _with_tables(
        self,
        tables: dict[str, Floats],
        support: dict[str, Floats] | None,
        bounds: NetworkBounds | None,
        *,
        gates: dict[str, Gate] | None = None,
        transform: str | None = None,
    ) -> Network:
        return Network.unchecked(
            self.variables,
            self._dag,
            tables,
            conjunction=self._conjunction,
            support=support,
            bounds=bounds,
            gates=self._gates if gates is None else gates,
            name=self._name,
            description=self._description,
            transform=self._transform if transform is None else transform,
        )

    @check_arguments
    @checks_itself("interventions")
    def do(self, interventions: Mapping[str, str]) -> Network:
        """The network after some variables have been set from outside: what would follow from doing, not from seeing.

        A variable that is set is cut off from its parents, and has its state for certain; everything else stays (the
        mutilated network of Pearl 2000, for possibilities Benferhat and Smaoui 2007):
        π(ω | do(x)) is the conjunction of all table entries of ω but those of the variables that are set, and 0 where ω
        differs from them. Queries of the result are conditioned by evidence as always. In a
        product-based network setting a variable without parents is conditioning on it.

        Equation
        --------
        π(ω | do(x)) = ⊗_{i not in x} π(ω_i | ω_{pa(i)}) if ω ∈ x, else 0

        >>> import possnet as pn
        >>> clinic = pn.load_example("clinic")
        >>> pn.Inference(clinic.do({"flu": "yes"})).query("season"), pn.Inference(clinic).query("season", {"flu": "yes"})
        (Possibility(season: winter 1, summer 1), Possibility(season: winter 1, summer 0.25))
        """
        if not isinstance(interventions, Mapping):
            raise InputError(
                f"{self._error_owner()}: do {describe_value(interventions)}; "
                "expected a mapping such as {'vaccinated': 'yes'}"
            )
        tables, parents = dict(self._tables), {name: self._dag.parents(name) for name in self._dag.nodes}
        lower, upper = (dict(end) for end in self._bounds or ({}, {}))
        for name, state in interventions.items():
            variable = self.variable(name)
            if not isinstance(state, str):
                raise InputError(
                    f"{self._error_owner()}: do sets {name!r} to {describe_value(state)}; expected one of its states "
                    f"({listing(variable.states)})"
                )
            tables[name] = np.zeros(len(variable))
            tables[name][variable.index(state)] = 1.0
            tables[name].flags.writeable = False
            parents[name] = ()
            lower[name] = upper[name] = tables[name]
        return Network.unchecked(
            self.variables,
            Dag(parents),
            tables,
            conjunction=self._conjunction,
            bounds=None if self._bounds is None else NetworkBounds(lower, upper),
            gates={name: gate for name, gate in self._gates.items() if name not in interventions},
            name=self._name,
            description=self._description,
            transform=self._transform,
        )

    @check_arguments
    def joint(self, configuration: Mapping[str, str]) -> float:
        """Degree of one complete configuration, by the chain rule (4) of [HLB].

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> healthy = {variable.name: "no" for variable in asia.variables}
        >>> asia.joint(healthy), asia.joint(healthy | {"smoke": "yes"})
        (1.0, 0.4)
        """
        states = {name: self.variable(name).index(state) for name, state in configuration.items()}
        missing = [name for name in self._by_name if name not in states]
        if missing:
            raise InputError(
                f"{self._error_owner()}: configuration lacks {listing(missing)}; expected a state for every variable"
            )
        degree = 1.0
        for child, table in self._tables.items():
            position = (*(states[parent] for parent in self._dag.parents(child)), states[child])
            degree = float(self._conjunction.combine(degree, table[position]))
        return degree

    @check_arguments
    def is_close(self, other: Network, *, tolerance: float = 1e-9) -> bool:
        """Whether variables, graph and conjunction are the same and no degree differs by more than the tolerance.

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> asia.is_close(asia.with_table("smoke", [1, 1 - 1e-12])), asia.is_close(asia.with_table("smoke", [1, 0.5]))
        (True, False)
        """
        return self._same_frame(other) and all(
            np.abs(table - other._tables[name]).max() <= tolerance for name, table in self._tables.items()
        )

    def __eq__(self, other: object) -> bool:
        """Same variables, graph, conjunction, degrees, support, bounds, transform; names and descriptions do not matter."""
        if not isinstance(other, Network):
            return NotImplemented
        return (
            self._same_frame(other)
            and _same_arrays(self._tables, other._tables)
            and _same_arrays(self._support or {}, other._support or {})
            and self._same_bounds(other)
            and self._transform == other._transform
        )

    def __hash__(self) -> int:
        return hash((frozenset(self._by_name.values()), self._dag, self._conjunction.name))

    def __reduce__(self) -> tuple[object, ...]:
        rebuild = partial(
            Network.unchecked,
            conjunction=self._conjunction,
            support=self._support,
            bounds=self._bounds,
            gates=self._gates,
            name=self._name,
            description=self._description,
            transform=self._transform,
        )
        return rebuild, (self.variables, self._dag, self._tables)

    def _repr_html_(self) -> str:
        """The graph for notebooks: marginals where they are cheap, else names of states; see `possnet.draw_network`.

        A notebook asks the value itself how it looks, and marginals need inference, a room above this one: the one name
        that is looked up there, when a notebook asks for it.
        """
        display: Callable[[Network], str] = import_module("possnet.plots").display_network
        return display(self)

    def __repr__(self) -> str:
        edges = len(self._dag.edges)
        parts = [
            f"{len(self._by_name)} variable{'s' * (len(self._by_name) != 1)}",
            f"{edges} edge{'s' * (edges != 1)}",
            f"{sum(table.size for table in self._tables.values())} degrees",
            self._conjunction.name,
        ]
        first = f"{self._name!r}, " if self._name else ""
        ending = "; with bounds" if self._bounds is not None else "" if self.is_normalised else "; subnormal"
        if self._gates:
            ending += f"; {len(self._gates)} gate{'s' * (len(self._gates) != 1)}"
        return f"Network({first}{', '.join(parts)}{ending})"

    def _error_owner(self) -> str:
        return f"network {self._name!r}" if self._name else "network"

    def _same_frame(self, other: Network) -> bool:
        return (
            self._by_name == other._by_name
            and self._dag == other._dag
            and self._conjunction.name == other._conjunction.name
        )

    def _same_bounds(self, other: Network) -> bool:
        if self._bounds is None or other._bounds is None:
            return self._bounds is other._bounds
        return all(_same_arrays(own, others) for own, others in zip(self._bounds, other._bounds, strict=True))

    def _contexts_shape(self, child: str) -> tuple[int, ...]:
        return tuple(len(self._by_name[parent]) for parent in self._dag.parents(child))

    def _checked_table(self, child: str, degrees: ArrayLike) -> Floats:
        if isinstance(degrees, Gate):
            self._require_own_gate(child, degrees)
        shape = (*self._contexts_shape(child), len(self._by_name[child]))
        axes = ", ".join((*self._dag.parents(child), child))
        table = as_degrees(degrees, shape, f"{self._error_owner()}: table of {child!r} with axes ({axes})")
        snap_tops(table, axis=-1)
        table.flags.writeable = False
        return table

    def _require_own_gate(self, child: str, gate: Gate) -> None:
        own = (self._by_name[child], tuple(self._by_name[parent] for parent in self._dag.parents(child)))
        if (gate.child, gate.parents) != own:
            raise InputError(
                f"{self._error_owner()}: the gate of {child!r} is that of {gate.child.name!r} given "
                f"({', '.join(p.name for p in gate.parents)}); expected the same variables, the parents in the order of "
                f"the dag ({', '.join(self._dag.parents(child))})"
            )
        if gate.conjunction.name != self._conjunction.name:
            raise InputError(
                f"{self._error_owner()}: the gate of {child!r} is for {gate.conjunction.name}; expected "
                f"conjunction={self._conjunction!r}, as the network has"
            )

    def _checked_support(self, child: str, numbers: ArrayLike) -> Floats:
        owner, shape = f"{self._error_owner()}: support of {child!r}", self._contexts_shape(child)
        try:
            refuse_over(8 * np.asarray(numbers).size, owner, "take fewer parents")
            support = np.array(numbers, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{owner}: not a rectangular array of numbers; expected shape {shape}") from None
        if support.shape != shape or not ((support >= 0) & np.isfinite(support)).all():
            raise InputError(f"{owner}: found shape {support.shape}; expected shape {shape}, numbers >= 0")
        support.flags.writeable = False
        return support

    def _require_peaks(self, child: str, table: Floats) -> None:
        tops = table.max(axis=-1)
        low = np.argwhere(tops != 1.0)
        if not len(low):
            return
        parents = self._dag.parents(child)
        context = ", ".join(
            f"{parent}={self._by_name[parent].states[k]}" for parent, k in zip(parents, low[0], strict=True)
        )
        raise InputError(
            f"{self._error_owner()}: table of {child!r}{f' given ({context})' if parents else ''} peaks at "
            f"{tops[tuple(low[0])]:.6g}{f' ({len(low)} such rows)' if len(low) > 1 else ''}; expected 1. "
            "Normalise it first: normalise_tables(...)"
        )


def _same_arrays(left: Mapping[str, Floats], right: Mapping[str, Floats]) -> bool:
    return left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)


@check_arguments
def normalise_tables(tables: Mapping[str, ArrayLike], conjunction: Conjunction = PRODUCT) -> dict[str, Floats]:
    """Tables whose rows (the last axis) peak at exactly 1: ``PRODUCT`` divides them, ``MIN`` lifts their largest degrees.

    Equation
    --------
    π'(x | a) = π(x | a) / max_y π(y | a) (product)
    π'(x | a) = 1 if π(x | a) = max_y π(y | a), else π(x | a) (minimum)

    >>> import possnet as pn
    >>> normalise_tables({"rash": [[0.5, 0.2], [0.1, 1.0]]})
    {'rash': array([[1. , 0.4], [0.1, 1. ]])}
    """
    normalised = {}
    for name, degrees in tables.items():
        table = as_degrees(degrees, None, f"table of {name!r}")
        if table.ndim == 0 or table.size == 0:
            raise InputError(f"table of {name!r}: shape {table.shape}; expected one degree for every state")
        empty = np.argwhere(~table.any(axis=-1))
        if len(empty):
            row = ", ".join(str(k) for k in empty[0])
            raise InputError(
                f"table of {name!r}: row ({row}) is zero everywhere and cannot be normalised; "
                "expected a positive degree. If nothing is known there, set the row to 1"
            )
        normalised[name] = conjunction.normalise(table, axis=-1)
    return normalised
