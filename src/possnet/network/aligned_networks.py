"""Two networks over the same variables whose states, variables or parents stand in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.doors import check_arguments
from possnet.errors import InputError, listing
from possnet.graph import Dag
from possnet.network.network import Network
from possnet.network.network_bounds import NetworkBounds
from possnet.variables import list_differences, require_same_bins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Floats
    from possnet.variables import Variable


@check_arguments
def align_network(
    network: Network,
    frame: Network,
    *,
    owner: str = "align_network",
    sides: tuple[str, str] = ("the frame", "the network"),
) -> Network:
    """The same network with variables, states and parents in the order of another: names decide, positions do not.

    Every degree, bound and support number stands for the same event as before, so that tables of the two networks can be
    compared entry by entry. A variable with other parents than in the frame keeps its own. Variables are the frame's, so
    that states are ordered if they are there. The network itself is returned if nothing changes.

    Parameters
    ----------
    owner, sides
        Who asks, and what the frame and the network are called, in the sentence that refuses two networks with other
        variables, with other states, or with ordered states in contradictory orders.

    Examples
    --------
    >>> import possnet as pn
    >>> yes_no, no_yes = (pn.Variable("rash", states) for states in (("yes", "no"), ("no", "yes")))
    >>> frame = pn.Network((yes_no,), pn.Dag({"rash": ()}), {"rash": [1, 1]})
    >>> align_network(pn.Network((no_yes,), pn.Dag({"rash": ()}), {"rash": [0.2, 1]}), frame).table("rash")
    array([1. , 0.2])
    """
    for given in (network, frame):
        value: object = given
        if not isinstance(value, Network):
            raise InputError(f"{owner}: {value!r} is not a network; expected one")
    differences = list_differences(frame.variables, network.variables, sides)
    if differences:
        raise InputError(f"{owner}: {listing(differences, 6)}; expected the same variables and states")
    for variable in frame.variables:
        require_same_bins(variable, network.variable(variable.name), owner)
    dag = Dag({v.name: _order_parents(network.dag, frame.dag, v.name) for v in frame.variables})
    if network.variables == frame.variables and network.dag == dag:
        return network
    tables, support, bounds = {}, network.support, network.bounds
    aligned_support: dict[str, Floats] | None = None if support is None else {}
    aligned_bounds = None if bounds is None else NetworkBounds({}, {})
    for child in dag.nodes:
        scope, parents = [*network.dag.parents(child), child], dag.parents(child)
        before = [network.variable(name) for name in scope]
        after = [frame.variable(name) for name in (*parents, child)]
        tables[child] = permute_axes(network.table(child), before, after)
        if support is not None and aligned_support is not None:
            aligned_support[child] = permute_axes(support[child], before[:-1], after[:-1])
        for own, aligned in zip(bounds or (), aligned_bounds or (), strict=True):
            aligned[child] = permute_axes(own[child], before, after)
    return Network.unchecked(
        frame.variables,
        dag,
        tables,
        conjunction=network.conjunction,
        support=aligned_support,
        bounds=aligned_bounds,
        name=network.name,
        description=network.description,
        transform=network.transform,
    )


def permute_axes(table: Floats, before: Sequence[Variable], after: Sequence[Variable]) -> Floats:
    """Copy of an array with an axis for each variable, its axes and their states put into another order.

    Axes beyond the variables stay where they are.

    >>> from possnet.variables import Variable
    >>> rash, swapped = Variable("rash", ("yes", "no")), Variable("rash", ("no", "yes"))
    >>> permute_axes(np.array([0.2, 1.0]), [rash], [swapped])
    array([1. , 0.2])
    """
    place = {variable.name: axis for axis, variable in enumerate(before)}
    order = [place[variable.name] for variable in after]
    turned = table.transpose([*order, *range(len(order), table.ndim)])
    positions = [[before[axis].index(state) for state in own.states] for axis, own in zip(order, after, strict=True)]
    return np.array(turned[np.ix_(*positions)] if positions else turned, order="C")


def _order_parents(own: Dag, frame: Dag, child: str) -> tuple[str, ...]:
    """Parents of a node, in the order of the frame if it has the same."""
    expected, parents = frame.parents(child), own.parents(child)
    return expected if set(expected) == set(parents) else parents
