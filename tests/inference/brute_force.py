"""The whole joint distribution of a small network, spelled out, and questions about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import possnet as pn
from tests.strategies import levels, networks


def joint_table(net: pn.Network) -> NDArray[np.float64]:
    """The whole joint distribution, one axis a variable: the chain rule, spelled out."""
    names = [v.name for v in net.variables]
    joint = np.ones([len(v) for v in net.variables])
    for variable in net.variables:
        scope = [names.index(n) for n in (*net.dag.parents(variable.name), variable.name)]
        order = sorted(range(len(scope)), key=scope.__getitem__)
        shape = [len(v) if k in scope else 1 for k, v in enumerate(net.variables)]
        table = net.table(variable.name).transpose(order).reshape(shape)
        joint = joint * table if net.conjunction is pn.PRODUCT else np.minimum(joint, table)
    return joint


def with_evidence(net: pn.Network, joint: NDArray[np.float64], evidence: dict[str, Any]) -> NDArray[np.float64]:
    for axis, variable in enumerate(net.variables):
        if variable.name in evidence:
            observation = evidence[variable.name]
            if isinstance(observation, str):
                observation = {observation: 1.0}
            elif not isinstance(observation, dict):
                observation = dict.fromkeys(observation, 1.0)
            degrees = np.array([observation.get(state, 0.0) for state in variable.states])
            shape = [-1 if k == axis else 1 for k in range(joint.ndim)]
            joint = net.conjunction.combine(joint, degrees.reshape(shape))
    return joint


def conditioned(net: pn.Network, table: NDArray[np.float64]) -> NDArray[np.float64]:
    top = table.max()
    return table / top if net.conjunction is pn.PRODUCT else np.where(table == top, 1.0, table)


@st.composite
def observations(draw: st.DrawFn, variable: pn.Variable) -> Any:
    kind = draw(st.sampled_from("hsv"))
    if kind == "h":
        return draw(st.sampled_from(variable.states))
    chosen = sorted(draw(st.sets(st.sampled_from(variable.states), min_size=1)))
    return set(chosen) if kind == "s" else {state: draw(levels) for state in chosen}


@st.composite
def questions(draw: st.DrawFn) -> tuple[pn.Network, dict[str, Any]]:
    net = draw(networks(max_variables=6))
    if draw(st.integers(0, 4)) == 0:  # subnormal: some tables scaled down
        tables = {v.name: net.table(v.name) * draw(st.sampled_from([1.0, 0.5])) for v in net.variables}
        net = pn.Network.subnormal(net.variables, net.dag, tables, conjunction=net.conjunction)
    chosen = draw(st.lists(st.sampled_from(net.variables), unique=True, max_size=3))
    return net, {v.name: draw(observations(v)) for v in chosen}
