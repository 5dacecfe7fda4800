"""The junction tree for every semiring, and what it keeps when evidence changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.aliases import Floats
from possnet.inference import (
    MAX_MIN,
    MAX_PRODUCT,
    MAX_SUM,
    SUM_PRODUCT,
    JunctionTree,
    Projection,
    Semiring,
    junction_tree,
    make_plan,
    message_passing,
)
from possnet.inference.tree_layout import TreeLayout
from tests.strategies import networks


@contextmanager
def small_tables_count_as_large(most: int) -> Iterator[None]:
    """Tables of more entries are treated like those of millions: merged, buffered, not kept."""
    with (
        patch.object(message_passing, "_SMALL", most),
        patch.object(junction_tree, "KEPT_ENTRIES", most),
    ):
        yield


@pytest.mark.parametrize("units", [True, False], ids=["units", "plain"])
@pytest.mark.parametrize("semiring", [MAX_PRODUCT, MAX_MIN, SUM_PRODUCT, MAX_SUM], ids=lambda a: a.name)
@given(net=networks(max_variables=6), most=st.sampled_from([1, 6, 1 << 14]), data=st.data())
def test_the_junction_tree_is_right_for_every_semiring_as_evidence_changes(
    semiring: Semiring, units: bool, net: pn.Network, most: int, data: st.DataObject
) -> None:
    names = [v.name for v in net.variables]
    scopes = [tuple(names.index(n) for n in (*net.dag.parents(name), name)) for name in names]
    with np.errstate(divide="ignore", invalid="ignore"), small_tables_count_as_large(most):
        tables = [np.log(net.table(n)) if semiring is MAX_SUM else net.table(n) for n in names]
        plan = make_plan([len(v) for v in net.variables], scopes)
        normalised = [projects_to_one(table, semiring) for table in tables] if units else None
        tree = JunctionTree(plan, scopes, tables, semiring, normalised=normalised)
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
            for number, clique in enumerate(tree.plan.cliques):
                states = {v: data.draw(st.integers(0, len(net.variables[v]) - 1)) for v in clique.separator}
                whole = tree.table(number).reshape(clique.shape)
                for v in reversed(clique.separator):
                    whole = whole[..., states[v]]
                assert tree.column(number, states) == pytest.approx(whole.reshape(-1), abs=1e-12)
            for k, found in enumerate(tree.distribute()):
                expected = semiring.project.reduce(joint, axis=tuple(j for j in range(joint.ndim) if j != k))
                assert found.reshape(-1) == pytest.approx(expected, abs=1e-12)


def projects_to_one(table: Floats, semiring: Semiring) -> bool:
    return bool((np.abs(semiring.project.reduce(table, axis=-1) - semiring.one) < 1e-15).all())


def test_families_of_just_what_is_eliminated_send_ones() -> None:
    """a -> b -> c and a -> d, by hand: eliminating children first sends ones, eliminating a root does not."""
    scopes = [(0,), (0, 1), (1, 2), (0, 3)]
    plan = make_plan([2, 2, 2, 2], scopes, last=0b0001)  # c, b and d go before a
    layout = TreeLayout(plan, scopes)
    assert layout.unit_cliques([True] * 4) == frozenset(range(len(plan.cliques)))
    assert plan.home[2] not in layout.unit_cliques([True, True, False, True])  # the family of c does not peak at 1
    assert plan.home[2] in layout.unit_cliques([False, True, True, True])
    upwards = make_plan([2, 2, 2, 2], scopes, last=0b1000)  # a goes before d
    sends = TreeLayout(upwards, scopes).unit_cliques([True] * 4)
    assert upwards.home[0] not in sends or upwards.home[0] == upwards.home[3]
    assert upwards.home[2] in sends


def test_a_projection_on_all_axes_is_no_view_of_a_buffer_that_will_be_used_again() -> None:
    table = np.arange(6.0)
    projected = Projection((2, 3), (0, 1), (0, 1))(table, MAX_PRODUCT)
    assert projected.reshape(-1).tolist() == table.tolist()
    assert not np.shares_memory(projected, table)


def test_networks_of_equal_structure_share_a_plan() -> None:
    net = pn.random_network(12, max_parents=2, rng=1)
    name = net.variables[0].name
    other = net.with_table(name, np.ones(net.table(name).shape))
    assert pn.Inference(net).plan is pn.Inference(other).plan
    child = next(v for v in net.variables if net.dag.parents(v.name))
    assert pn.Inference(net.do({child.name: child.states[0]})).plan is not pn.Inference(net).plan


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


def test_a_projection_that_drops_axes_of_length_one_is_no_view() -> None:
    """The table may be a buffer that the next clique is written into."""
    table = np.arange(1024.0)
    projected = message_passing.Projection((1, 1024), (1,), (0, 1))(table, MAX_PRODUCT)
    assert not np.shares_memory(projected, table)
    assert projected.reshape(-1).tolist() == table.tolist()


@given(st.data())
def test_projections_on_several_scopes_are_those_on_each(data: st.DataObject) -> None:
    """Equal ones, one within another, all and nothing; a belief without rows and one with some."""
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    variables = tuple(data.draw(st.permutations(range(10, 10 + len(sizes)))))
    scope = st.sets(st.sampled_from(variables)).map(lambda chosen: tuple(v for v in variables if v in chosen))
    scopes = tuple(data.draw(st.lists(scope, max_size=6)))
    semiring = data.draw(st.sampled_from([MAX_PRODUCT, MAX_MIN, SUM_PRODUCT]))
    table = np.random.default_rng(data.draw(st.integers(0, 99))).random((*sizes, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(message_passing, "_SMALL", data.draw(st.sampled_from([0, 1 << 9])))
        of_one = message_passing.SharedProjections(tuple(sizes), variables, scopes, for_rows=False)
        single = of_one(table[..., 0].copy(), semiring)
        rows = message_passing.share_projections(tuple(sizes), variables, scopes).project_rows(table, semiring)
    assert len(single) == len(rows) == len(scopes)
    for kept, alone, several in zip(scopes, single, rows, strict=True):
        dropped = tuple(axis for axis, v in enumerate(variables) if v not in kept)
        expected = semiring.project.reduce(table, axis=dropped)
        assert alone.reshape(-1) == pytest.approx(expected[..., 0].reshape(-1))
        assert several == pytest.approx(expected.reshape(-1, 3))


def test_a_belief_is_read_once_for_children_whose_separators_have_much_in_common() -> None:
    shared = message_passing.SharedProjections((9, 8, 7), (0, 1, 2), [(2,), (1, 2), (2,), (1,)])
    sizes = [(source, projection.shape) for source, projection in shared._steps]
    assert sizes == [(-1, (9, 8, 7)), (0, (8, 7)), (0, (8, 7))]
