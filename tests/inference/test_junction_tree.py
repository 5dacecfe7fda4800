"""The junction tree for every semiring, and what it keeps when evidence changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.inference import (
    MAX_MIN,
    MAX_PRODUCT,
    MAX_SUM,
    SUM_PRODUCT,
    JunctionTree,
    Semiring,
    make_plan,
)
from tests.strategies import networks


@pytest.mark.parametrize("semiring", [MAX_PRODUCT, MAX_MIN, SUM_PRODUCT, MAX_SUM], ids=lambda a: a.name)
@given(net=networks(max_variables=6), data=st.data())
def test_the_junction_tree_is_right_for_every_semiring_as_evidence_changes(
    semiring: Semiring, net: pn.Network, data: st.DataObject
) -> None:
    names = [v.name for v in net.variables]
    scopes = [tuple(names.index(n) for n in (*net.dag.parents(name), name)) for name in names]
    with np.errstate(divide="ignore", invalid="ignore"):
        tables = [np.log(net.table(n)) if semiring is MAX_SUM else net.table(n) for n in names]
        tree = JunctionTree(make_plan([len(v) for v in net.variables], scopes), scopes, tables, semiring)
        for _ in range(3):
            observed = data.draw(st.sets(st.integers(0, len(names) - 1), max_size=2))
            evidence = {
                v: np.array(
                    data.draw(
                        st.lists(
                            st.sampled_from([semiring.zero, semiring.one]),
                            min_size=len(net.variables[v]),
                            max_size=len(net.variables[v]),
                        )
                    )
                )
                for v in observed
            }
            joint = np.full([len(v) for v in net.variables], semiring.one)
            factors = [*zip(scopes, tables, strict=True), *(((v,), degrees) for v, degrees in evidence.items())]
            for scope, table in factors:
                order = sorted(range(len(scope)), key=scope.__getitem__)
                shape = [len(v) if k in scope else 1 for k, v in enumerate(net.variables)]
                joint = semiring.combine(joint, table.transpose(order).reshape(shape))
            tree.set_evidence(evidence)
            assert tree.collect() == pytest.approx(float(semiring.project.reduce(joint, axis=None)), abs=1e-12)
            if semiring.project.reduce(joint, axis=None) == semiring.zero:
                continue
            for k, found in enumerate(tree.distribute()):
                expected = semiring.project.reduce(joint, axis=tuple(j for j in range(joint.ndim) if j != k))
                assert found.reshape(-1) == pytest.approx(expected, abs=1e-12)


def test_tables_that_the_evidence_does_not_touch_are_kept() -> None:
    net = pn.random_network(40, max_parents=2, rng=3)
    names = [v.name for v in net.variables]
    scopes = [tuple(names.index(n) for n in (*net.dag.parents(name), name)) for name in names]
    tree = JunctionTree(
        make_plan([len(v) for v in net.variables], scopes), scopes, [net.table(n) for n in names], MAX_PRODUCT
    )
    tree.collect()
    before = [tree.table(k) for k in range(len(tree.plan.cliques))]
    tree.set_evidence({0: np.eye(len(net.variables[0]))[0]})
    tree.collect()
    path, node = set(), tree.plan.home[0]
    while node >= 0:
        path.add(node)
        node = tree.plan.cliques[node].parent
    assert 0 < len(path) < len(before) / 2
    assert {k for k, table in enumerate(before) if tree.table(k) is not table} == path
