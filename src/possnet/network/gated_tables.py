"""Tables that are near a gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from possnet.doors import check_arguments
from possnet.errors import InputError
from possnet.gates import find_nearest_gate

if TYPE_CHECKING:
    from possnet.gates import GateFit
    from possnet.network.network import Network


@check_arguments
def nearest_gate(network: Network, name: str) -> GateFit:
    """The gate nearest to a variable's table: how few numbers would do, and the largest difference of a degree.

    The difference is 0 if the table is a gate; otherwise a search has met no smaller one.

    >>> import possnet as pn
    >>> fit = nearest_gate(pn.load_example("asia"), "either")
    >>> fit.gate.kind, fit.difference
    ('or', 0.0)
    >>> pn.load_example("asia").with_table("either", fit.gate).gates["either"].numbers
    3
    """
    variable = network.variable(name)
    parents = [network.variable(parent) for parent in network.dag.parents(name)]
    fit = find_nearest_gate(variable, parents, network.table(name), network.conjunction)
    if fit is None:
        lacking = "no parents" if not parents else "states without an order" if len(variable) > 2 else "one state"
        raise InputError(
            f"nearest_gate: {name!r} has {lacking}; expected a variable with parents, and with two states or ordered ones"
        )
    return fit
