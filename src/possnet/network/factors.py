"""A network with the same joint distribution as a product of potentials.

A potential is a table over some variables that distinguishes no child among them. Eliminating the variables one by one
turns potentials into conditional tables: with ψ the product of the potentials that mention x, and m = max
over x of ψ, the table of x given the others in ψ is ψ / m, and m is a potential for the rest. What is left at the end is
the largest value of the product, by which the joint is divided: the result is the product scaled to a largest value of 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from possnet.errors import InputError, listing
from possnet.graph import Dag, triangulate
from possnet.limits import refuse_over
from possnet.network.network import Network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Floats
    from possnet.variables import Variable

    Factor: TypeAlias = tuple[tuple[int, ...], Floats]

_SAFE_SPAN = 600.0  # products above exp(-600) are far from the smallest float, exp(-708)


def network_of_factors(
    variables: Sequence[Variable], factors: Sequence[Factor], *, name: str = "", description: str = ""
) -> Network:
    """Product-based network whose joint is the product of the factors, divided by its largest value.

    Parameters
    ----------
    factors
        Pairs (positions of the variables, values): an axis for every variable, finite values >= 0.

    Examples
    --------
    >>> import possnet as pn
    >>> a, b = pn.Variable("a", ("x", "y")), pn.Variable("b", ("x", "y"))
    >>> net = network_of_factors([a, b], [((0, 1), np.array([[4.0, 1.0], [2.0, 2.0]]))])
    >>> net.joint({"a": "x", "b": "x"}), net.joint({"a": "y", "b": "x"})
    (1.0, 0.5)
    """
    sizes = [len(variable) for variable in variables]
    near = [0] * len(variables)
    for scope, _ in factors:
        together = sum(1 << node for node in scope)
        for node in scope:
            near[node] |= together & ~(1 << node)
    plan = triangulate(near, sizes)
    refuse_over(plan.entries * 8, "the network of these factors", "the graph is too dense for conditional tables")
    if any(not values.any() for _, values in factors):
        raise InputError("a factor is zero everywhere: nothing is possible; expected a value above 0")
    pool = [(scope, values / values.max()) for scope, values in factors]
    tables, parents = {}, {}
    for node, clique in zip(plan.order, plan.cliques, strict=True):
        around = tuple(k for k in range(len(variables)) if clique >> k & 1 and k != node)
        scope = (*around, node)
        mine = [factor for factor in pool if node in factor[0]]
        pool = [factor for factor in pool if node not in factor[0]]
        tables[node], rest = _conditional_table(
            [_shape_for_scope(factor, scope, sizes) for factor in mine], [sizes[k] for k in scope]
        )
        parents[node] = tuple(variables[k].name for k in around)
        if not rest.any():
            around_it = listing(variables[k].name for k in scope)
            raise InputError(f"factors around {around_it}: nothing is possible; expected a value above 0")
        pool.append((around, rest))
    names = [variable.name for variable in variables]
    return Network.unchecked(
        variables,
        Dag({names[node]: parents[node] for node in range(len(names))}),
        {names[node]: np.ascontiguousarray(tables[node]) for node in range(len(names))},
        name=name,
        description=description,
    )


def _conditional_table(parts: list[Floats], shape: list[int]) -> tuple[Floats, Floats]:
    """Product of factors as a table given all but its last axis, and its largest values there, scaled to at most 1.

    Computed on logarithms if a product might underflow.
    """
    span = sum(-float(np.log(part[part > 0.0].min(initial=1.0))) for part in parts)
    if span < _SAFE_SPAN:
        joined = np.ones(shape)
        for part in parts:
            joined = joined * part
        best = joined.max(axis=-1, keepdims=True)
        table = np.where(best > 0.0, joined / np.where(best > 0.0, best, 1.0), 1.0)
        return table, best[..., 0] / (float(best.max()) or 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.zeros(shape)
        for part in parts:
            logs = logs + np.log(part)
        best = logs.max(axis=-1, keepdims=True)
        table = np.where(np.isfinite(best), np.exp(logs - best), 1.0)
        return table, np.exp(best[..., 0] - best.max()) if np.isfinite(best).any() else np.zeros(shape[:-1])


def _shape_for_scope(factor: Factor, scope: tuple[int, ...], sizes: Sequence[int]) -> Floats:
    """Values of a factor shaped to be multiplied with a table over the scope."""
    inside, values = factor
    wanted = [node for node in scope if node in inside]
    moved = values.transpose([inside.index(node) for node in wanted])
    shaped: Floats = moved.reshape([sizes[node] if node in inside else 1 for node in scope])
    return shaped
