"""Edits of a network's variables and edges, with tables that grow and shrink and lose no number that still has a place.

Networks are values, and every edit gives another one. What is new is ignorance: a new variable has degrees that are all 1,
and so has a new state, in its own table and in the contexts of its children. A new parent says nothing yet, so the table
is repeated for each of its states. A parent that goes leaves the largest degree over its states (projection: what is
possible if nothing is known of it), which still peaks at 1. Bounds follow their tables; the support of a learned network
goes with the first edit, as in `Network.with_table`, and a gate goes with the family that it was made for.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from possnet.errors import InputError
from possnet.graph import Dag
from possnet.limits import refuse_over
from possnet.network.network import Network
from possnet.network.network_bounds import NetworkBounds
from possnet.possibility import check_conjunction
from possnet.variables import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from possnet.aliases import Floats
    from possnet.gates import Gate
    from possnet.possibility import Conjunction

    ArrayEdit: TypeAlias = Callable[[Floats], Floats]

_MOST_BYTES: Final = 1 << 26  # of one table that an edit makes: 8 million degrees


def add_variable(network: Network, variable: Variable) -> Network:
    """The network with one more variable, of which nothing is known: no parents, all degrees 1.

    >>> import possnet as pn
    >>> add_variable(pn.load_example("asia"), pn.Variable("age", ("young", "old"))).table("age")
    array([1., 1.])
    """
    if variable.name in network.dag.nodes:
        raise InputError(f"there is a variable {variable.name!r} already; expected another name")
    parents = {**_list_parents(network), variable.name: ()}
    return _rebuild(network, (*network.variables, variable), parents, {}, new={variable.name: np.ones(len(variable))})


def remove_variables(network: Network, names: Iterable[str]) -> Network:
    """The network without some variables; their children keep the largest degrees over them.

    >>> import possnet as pn
    >>> remove_variables(pn.load_example("asia"), ["asia", "tub"]).table("either")
    array([[1., 0.], [1., 1.]])
    """
    gone = {network.variable(name).name for name in names}
    parents, edits = {}, {}
    for variable in network.variables:
        if variable.name in gone:
            continue
        old = network.dag.parents(variable.name)
        parents[variable.name] = tuple(parent for parent in old if parent not in gone)
        axes = tuple(k for k, parent in enumerate(old) if parent in gone)
        if axes:
            edits[variable.name] = partial(np.max, axis=axes)
    kept = [variable for variable in network.variables if variable.name not in gone]
    return _rebuild(network, kept, parents, edits)


def add_edge(network: Network, parent: str, child: str) -> Network:
    """The network with an edge more; the child's table is repeated for every state of its new, last parent.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> add_edge(asia, "asia", "lung").table("lung")[:, 1].tolist() == asia.table("lung").tolist()
    True
    >>> add_edge(asia, "dysp", "smoke")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: edge from 'dysp' to 'smoke': it would close a cycle, smoke -> bronc -> dysp -> smoke; ...
    """
    above, old = network.variable(parent), network.dag.parents(network.variable(child).name)
    if parent in old:
        raise InputError(f"edge from {parent!r} to {child!r}: it is there already")
    path = _find_path(network.dag, child, parent)
    if path:
        raise InputError(
            f"edge from {parent!r} to {child!r}: it would close a cycle, {' -> '.join([*path, child])}; "
            "expected no way back from the child"
        )
    size = 8 * prod((*network.table(child).shape, len(above)))
    refuse_over(size, f"the table of {child!r} with {parent!r}", "use fewer parents or a gate", limit=_MOST_BYTES)
    parents = {**_list_parents(network), child: (*old, parent)}
    repeat = partial(_repeat_axis, times=len(above))
    return _rebuild(network, network.variables, parents, {child: repeat})


def remove_edge(network: Network, parent: str, child: str) -> Network:
    """The network without an edge; the child's table keeps the largest degree over the states of the parent.

    >>> import possnet as pn
    >>> remove_edge(pn.load_example("asia"), "tub", "either").table("either")
    array([[1., 0.], [1., 1.]])
    """
    old = network.dag.parents(network.variable(child).name)
    if parent not in old:
        raise InputError(
            f"edge from {parent!r} to {child!r}: there is none; expected one of {', '.join(old) or 'none'}"
        )
    parents = {**_list_parents(network), child: tuple(other for other in old if other != parent)}
    return _rebuild(network, network.variables, parents, {child: partial(np.max, axis=old.index(parent))})


def rename_variable(network: Network, name: str, new_name: str) -> Network:
    """The network with another name for a variable; all numbers stay, gates too.

    >>> import possnet as pn
    >>> rename_variable(pn.load_example("asia"), "smoke", "smoker").dag.parents("lung")
    ('smoker',)
    """
    old = network.variable(name)
    if new_name == name:
        return network
    if new_name in network.dag.nodes:
        raise InputError(f"there is a variable {new_name!r} already; expected another name for {name!r}")
    new = replace(old, name=new_name)
    names = {other: new_name if other == name else other for other in network.dag.nodes}
    parents = {names[child]: tuple(names[p] for p in above) for child, above in _list_parents(network).items()}
    gates = {names[child]: _rename_gate(gate, old, new) for child, gate in network.gates.items()}
    variables = [new if v.name == name else v for v in network.variables]
    return _rebuild(network, variables, parents, {}, names=names, gates=gates)


def change_states(network: Network, name: str, states: Sequence[tuple[str, str | None]], *, ordered: bool) -> Network:
    """The network with other states of a variable: each with the state that it was, or None if it is new.

    Degrees follow their states. A new state has degree 1, and the contexts of children in which it stands are all 1. Rows
    that lose their peak are normalised again by the network's conjunction; a row that loses all its positive degrees
    becomes all 1.

    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> states = [("none", "none"), ("high", "high"), ("very high", None)]
    >>> change_states(clinic, "fever", states, ordered=True).table("fever").shape
    (2, 2, 3)
    """
    old = network.variable(name)
    variable = Variable(name, tuple(state for state, _ in states), ordered=ordered)
    before = [-1 if was is None else old.index(was) for _, was in states]
    kept = [k for k in before if k >= 0]
    if len(set(kept)) < len(kept):
        raise InputError(f"variable {name!r}: one state becomes two; expected each state at most once")
    if variable.states == old.states and before == list(range(len(old))):
        variable = replace(old, ordered=ordered) if old.bins is None or ordered else variable
    children = network.dag.children(name)
    edits: dict[str, ArrayEdit] = {
        child: partial(_select_states, axis=network.dag.parents(child).index(name), before=before) for child in children
    }
    for child in children:
        size = 8 * network.table(child).size // len(old) * len(variable)
        refuse_over(size, f"the table of {child!r}", "use fewer states", limit=_MOST_BYTES)
    normalise = network.conjunction.normalise if network.is_normalised else None
    edits[name] = partial(_select_own_states, before=before, normalise=normalise)
    variables = [variable if v.name == name else v for v in network.variables]
    return _rebuild(network, variables, _list_parents(network), edits, given=name)


def rename_network(
    network: Network,
    *,
    name: str | None = None,
    description: str | None = None,
    conjunction: Conjunction | None = None,
) -> Network:
    """The network with another name, description or conjunction; gates are made for one conjunction and go with it.

    >>> import possnet as pn
    >>> rename_network(pn.load_example("asia"), name="chest", conjunction=pn.MIN)
    Network('chest', 8 variables, 8 edges, 36 degrees, min)
    """
    chosen = network.conjunction if conjunction is None else conjunction
    check_conjunction(chosen)
    same = chosen.name == network.conjunction.name
    return Network.unchecked(
        network.variables,
        network.dag,
        {v.name: network.table(v.name) for v in network.variables},
        conjunction=chosen,
        support=network.support,
        bounds=network.bounds,
        gates=network.gates if same else None,
        name=network.name if name is None else name,
        description=network.description if description is None else description,
        transform=network.transform if same else "",
    )


def _list_parents(network: Network) -> dict[str, tuple[str, ...]]:
    return {name: network.dag.parents(name) for name in network.dag.nodes}


def _find_path(dag: Dag, start: str, end: str) -> list[str]:
    """The nodes of a directed path, or none."""
    before: dict[str, str] = {start: start}
    frontier = [start]
    while frontier:
        node = frontier.pop(0)
        if node == end:
            path = [end]
            while path[-1] != start:
                path.append(before[path[-1]])
            return path[::-1]
        for child in dag.children(node):
            if child not in before:
                before[child] = node
                frontier.append(child)
    return []


def _repeat_axis(table: Floats, times: int) -> Floats:
    return np.repeat(table[..., np.newaxis, :], times, axis=-2)


def _select_states(table: Floats, axis: int, before: Sequence[int]) -> Floats:
    """Degrees at other places along an axis; what is new there is 1."""
    first = np.moveaxis(table, axis, 0)
    selected = np.ones((len(before), *first.shape[1:]))
    for place, k in enumerate(before):
        if k >= 0:
            selected[place] = first[k]
    return np.ascontiguousarray(np.moveaxis(selected, 0, axis))


def _select_own_states(table: Floats, before: Sequence[int], normalise: Callable[..., Floats] | None) -> Floats:
    selected = _select_states(table, table.ndim - 1, before)
    selected[~selected.any(axis=-1)] = 1.0
    return selected if normalise is None else normalise(selected, axis=-1)


def _rename_gate(gate: Gate, old: Variable, new: Variable) -> Gate:
    """A gate in which a variable has another name."""
    if old not in (gate.child, *gate.parents):
        return gate
    parameters = {
        key: {new.name if name == old.name else name: part for name, part in value.items()}
        if isinstance(value, dict)
        else value
        for key, value in gate.parameters.items()
    }
    parents = tuple(new if parent == old else parent for parent in gate.parents)
    return replace(gate, child=new if gate.child == old else gate.child, parents=parents, parameters=parameters)


def _rebuild(
    network: Network,
    variables: Iterable[Variable],
    parents: Mapping[str, tuple[str, ...]],
    edits: Mapping[str, ArrayEdit],
    *,
    new: Mapping[str, Floats] | None = None,
    names: Mapping[str, str] | None = None,
    gates: dict[str, Gate] | None = None,
    given: str = "",
) -> Network:
    """The network of other variables and parents, its arrays edited, renamed or new; a given table bounds itself."""
    listed = tuple(variables)
    known, called = set(parents), names or {}

    def edit_arrays(arrays: Mapping[str, Floats]) -> dict[str, Floats]:
        kept = {called.get(name, name): array for name, array in arrays.items()}
        edited = {name: edits[name](array) if name in edits else array for name, array in kept.items() if name in known}
        return {**edited, **(new or {})}

    tables = edit_arrays({v.name: network.table(v.name) for v in network.variables})
    bounds = None
    if network.bounds is not None:
        own = {given: tables[given]} if given else {}
        bounds = NetworkBounds(*({**edit_arrays(end), **own} for end in network.bounds))
    if gates is None:
        axes = {v.name: v for v in listed}
        gates = {
            name: gate
            for name, gate in network.gates.items()
            if name in known
            and name not in edits
            and (gate.child, *gate.parents) == tuple(axes[axis] for axis in (name, *parents[name]))
        }
    return Network.unchecked(
        listed,
        Dag(parents),
        {v.name: tables[v.name] for v in listed},
        conjunction=network.conjunction,
        bounds=bounds,
        gates=gates,
        name=network.name,
        description=network.description,
    )
