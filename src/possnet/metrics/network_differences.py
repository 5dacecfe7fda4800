"""Where two networks differ: variables, edges and tables, the worst table first.

`possnet.compare` gives numbers for two networks over the same variables; this says where they come from, and takes any two
networks: what both of them have is compared, and what only one has is listed. A table is compared in the contexts of the
first network. If the second has other parents, its degrees in those contexts are found by inference.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from possnet.errors import InputError, TooLarge, among, listing
from possnet.inference import Inference
from possnet.network import Network, permute_axes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.aliases import Floats

EdgeChange: TypeAlias = Literal["same", "added", "removed", "reversed"]


class TableDifference(NamedTuple):
    """How far the table of one variable differs, and in which contexts.

    Attributes
    ----------
    name
        The variable.
    largest, mean
        The largest and the mean absolute difference of a degree; NaN if the tables cannot be paired.
    contexts
        Numbers of the contexts of the first network in which a degree differs, those that differ most first.
    same_parents
        Whether the variable has the same parents in both.
    reason
        Why the tables cannot be paired; empty if they can.
    """

    name: str
    largest: float
    mean: float
    contexts: tuple[int, ...]
    same_parents: bool
    reason: str = ""


class PairedTables(NamedTuple):
    """Degrees of one variable in both networks, shape (contexts, states), as the first one orders them."""

    parents: tuple[str, ...]
    first: Floats
    second: Floats


@dataclass(frozen=True, slots=True)
class NetworkDifferences:
    """Where two networks differ.

    Attributes
    ----------
    first, second
        The networks.
    removed, added
        Variables that only the first, and only the second network has.
    other_states
        Variables that both have, with other states.
    edges
        (parent, child) -> ``same``, ``added`` (only the second has it), ``removed`` (only the first has it) or ``reversed``
        (as the first has it), over the edges of both.
    tables
        Variables that both have, with the same states, worst first.

    Examples
    --------
    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> differences = pn.metrics.compare_tables(asia, asia.with_table("smoke", [1, 0.5]))
    >>> differences.tables[0].name, round(differences.tables[0].largest, 6), differences.changed
    ('smoke', 0.5, ('smoke',))
    """

    first: Network
    second: Network
    removed: tuple[str, ...]
    added: tuple[str, ...]
    other_states: tuple[str, ...]
    edges: Mapping[tuple[str, str], EdgeChange]
    tables: tuple[TableDifference, ...]
    _pairs: Mapping[str, PairedTables] = field(repr=False)

    @property
    def changed(self) -> tuple[str, ...]:
        """Variables whose tables differ or cannot be paired, worst first."""
        return tuple(table.name for table in self.tables if table.reason or table.largest > 0.0)

    def pair_tables(self, name: str) -> PairedTables:
        """The tables of one variable side by side.

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> pn.metrics.compare_tables(asia, asia.with_table("smoke", [1, 0.5])).pair_tables("smoke").second
        array([[1. , 0.5]])
        """
        if name in self._pairs:
            return self._pairs[name]
        table = next((table for table in self.tables if table.name == name), None)
        if table is not None:
            raise InputError(f"compare: the tables of {name!r} cannot be paired: {table.reason}")
        raise InputError(f"compare: {name!r} is no variable of both networks{among(name, self._pairs)}")


def compare_tables(first: Network, second: Network) -> NetworkDifferences:
    """Where two networks differ, whatever variables they have: edges, and tables with the worst first.

    Names decide which variables, states and parents are the same, not their order. A degree of the second network in a
    context that it calls impossible is 1: it says nothing there.

    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> learned = pn.fit(pn.Dag({v.name: () for v in clinic.variables}), pn.sample(clinic, 500, rng=1))
    >>> differences = compare_tables(clinic, learned)
    >>> differences.edges["measles", "rash"], differences.tables[0].same_parents
    ('removed', False)
    """
    for given in (first, second):
        value: object = given
        if not isinstance(value, Network):
            raise InputError(f"compare: {value!r} is not a network; expected one")
    names, others = (dict.fromkeys(v.name for v in network.variables) for network in (first, second))
    both = [name for name in names if name in others]
    shared = {name for name in both if set(first.variable(name).states) == set(second.variable(name).states)}
    pairs: dict[str, PairedTables] = {}
    engine = Inference(second)
    tables = [_compare_table(first, engine, name, shared, pairs) for name in both if name in shared]
    tables.sort(key=lambda table: -(2.0 if table.reason else round(table.largest, 12)))
    return NetworkDifferences(
        first,
        second,
        tuple(name for name in names if name not in others),
        tuple(name for name in others if name not in names),
        tuple(name for name in both if name not in shared),
        _compare_edges(first, second),
        tuple(tables),
        pairs,
    )


def _compare_edges(first: Network, second: Network) -> dict[tuple[str, str], EdgeChange]:
    ours, theirs = set(first.dag.edges), set(second.dag.edges)
    changes: dict[tuple[str, str], EdgeChange] = {}
    for parent, child in first.dag.edges:
        if (parent, child) in theirs:
            changes[parent, child] = "same"
        else:
            changes[parent, child] = "reversed" if (child, parent) in theirs else "removed"
    for parent, child in second.dag.edges:
        if (parent, child) not in ours and (child, parent) not in ours:
            changes[parent, child] = "added"
    return changes


def _compare_table(
    first: Network, engine: Inference, name: str, shared: set[str], pairs: dict[str, PairedTables]
) -> TableDifference:
    """The difference of one table; adds the pair, if there is one."""
    parents, others = first.dag.parents(name), engine.network.dag.parents(name)
    same = set(parents) == set(others)
    lacking = [parent for parent in parents if parent not in shared]
    if lacking:
        return _cannot_pair(name, f"its parent {listing(lacking)} is not the same in the other network", same=False)
    try:
        degrees = _read_degrees(first, engine, name)
    except TooLarge as error:
        return _cannot_pair(name, str(error), same=same)
    states = len(first.variable(name))
    pair = PairedTables(parents, first.table(name).reshape(-1, states), degrees.reshape(-1, states))
    pairs[name] = pair
    gaps = np.abs(pair.first - pair.second)
    rows = gaps.max(axis=1)
    order = np.argsort(-np.round(rows, 12), kind="stable")
    contexts = tuple(int(number) for number in order if rows[number] > 0.0)
    return TableDifference(name, float(rows.max()), float(gaps.mean()), contexts, same)


def _cannot_pair(name: str, reason: str, *, same: bool) -> TableDifference:
    return TableDifference(name, float("nan"), float("nan"), (), same, reason)


def _read_degrees(first: Network, engine: Inference, name: str) -> Floats:
    """Degrees of a variable of the engine's network in the contexts of the first network, axes and states as there."""
    network = engine.network
    scope = [first.variable(own) for own in (*first.dag.parents(name), name)]
    own = network.dag.parents(name)
    if {*own, name} == {variable.name for variable in scope}:
        return permute_axes(network.table(name), [network.variable(n) for n in (*own, name)], scope)
    joint = engine.query([variable.name for variable in scope]).degrees
    degrees = permute_axes(joint, [network.variable(variable.name) for variable in scope], scope)
    if len(scope) == 1:
        return degrees
    tops = degrees.max(axis=-1, keepdims=True)
    return network.conjunction.normalise(np.where(tops > 0.0, degrees, 1.0), axis=-1)
