"""Questions to small networks, and their answers by enumeration of all configurations."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, strategies as st
from numpy.typing import NDArray

import possnet as pn
from tests.inference.brute_force import conditioned, joint_table, observations, with_evidence
from tests.strategies import networks


def joint_with(net: pn.Network, evidence: dict[str, Any]) -> NDArray[np.float64]:
    """Π of every configuration together with the evidence."""
    return with_evidence(net, joint_table(net), evidence)


def project(net: pn.Network, joint: NDArray[np.float64], *names: str) -> NDArray[np.float64]:
    """Largest degree over all other variables, an axis for each name."""
    every = [v.name for v in net.variables]
    dropped = tuple(k for k, name in enumerate(every) if name not in names)
    kept = [name for name in every if name in names]
    table: NDArray[np.float64] = joint.max(axis=dropped).transpose([kept.index(name) for name in names])
    return table


def answer(net: pn.Network, target: str, evidence: dict[str, Any]) -> NDArray[np.float64] | None:
    """Π(target | evidence), from the definition; None if the evidence is impossible."""
    table = project(net, joint_with(net, evidence), target)
    return conditioned(net, table) if table.max() > 0.0 else None


@st.composite
def asked(
    draw: st.DrawFn, *, max_variables: int = 5, least_findings: int = 0
) -> tuple[pn.Network, str, dict[str, Any]]:
    """A network, a target and possible evidence on other variables: hard, set-valued or virtual; ties and zeros."""
    net = draw(networks(max_variables=max_variables))
    assume(len(net.variables) > least_findings)
    target = draw(st.sampled_from(net.variables)).name
    others = [v for v in net.variables if v.name != target]
    most = min(len(others), 3)
    chosen = (
        draw(st.lists(st.sampled_from(others), unique=True, min_size=least_findings, max_size=most)) if others else []
    )
    evidence = {v.name: draw(observations(v)) for v in chosen}
    assume(answer(net, target, evidence) is not None)
    return net, target, evidence
