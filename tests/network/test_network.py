"""Laws of networks."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import possnet as pn
from tests import oracles
from tests.strategies import networks

FEVER = pn.Variable("fever", ("none", "mild", "high"))
RASH = pn.Variable("rash", ("yes", "no"))
DAG = pn.Dag({"fever": (), "rash": ("fever",)})
TABLES: dict[str, Any] = {"fever": [1, 0.6, 0.1], "rash": [[0.1, 1], [0.5, 1], [1, 0.3]]}


@pytest.mark.equation(4)
@given(networks())
def test_the_joint_is_the_chain_rule_for_both_conjunctions(net: pn.Network) -> None:
    joint = [net.joint(c) for c in oracles.configurations(net)]
    assert joint == pytest.approx([oracles.chain_rule(net, c) for c in oracles.configurations(net)])
    assert max(joint) == 1.0


@given(networks())
def test_a_network_is_an_immutable_value(net: pn.Network) -> None:
    tables = {v.name: net.table(v.name) for v in net.variables}
    twin = pn.Network(net.variables[::-1], net.dag, tables, conjunction=net.conjunction)
    assert twin == net
    assert hash(twin) == hash(net)
    assert net.is_close(twin)
    copy = pickle.loads(pickle.dumps(net))  # noqa: S301
    assert copy == net
    for one in (net, twin, copy):
        assert not any(one.table(v.name).flags.writeable for v in one.variables)
    with pytest.raises(AttributeError):
        net.dag = twin.dag  # type: ignore[misc]


def test_a_changed_table_makes_another_network() -> None:
    net = pn.Network((FEVER, RASH), DAG, TABLES, support={"fever": 10, "rash": [7, 2, 1]})
    other = net.with_table("fever", [0.2, 1, 0.1])
    assert other != net
    assert net.table("fever").tolist() == [1, 0.6, 0.1]
    assert other.table("fever").tolist() == [0.2, 1, 0.1]
    assert other.support is None
    assert net != "net"
    assert net != pn.Network((FEVER, RASH), DAG, TABLES)
    assert pn.Network((FEVER, RASH), DAG, TABLES) != pn.Network((FEVER, RASH), DAG, TABLES, conjunction=pn.MIN)
    with pytest.raises(pn.InputError, match=r"table of 'rash' given \(fever=mild\) peaks at 0.9"):
        net.with_table("rash", np.array([[1, 0], [0.9, 0], [0, 1]]))


def test_support_belongs_to_every_context() -> None:
    net = pn.Network((FEVER, RASH), DAG, TABLES, support={"fever": 10, "rash": [7, 2, 1]})
    assert net.support is not None
    assert net.support["rash"].tolist() == [7, 2, 1]
    assert net.support["fever"].shape == ()
    wrong: Any
    for wrong in ([7, 2], [7, 2, -1], [7, 2, float("nan")], ["a", 1, 2]):
        with pytest.raises(pn.InputError, match=r"support of 'rash'.* expected shape \(3,\)"):
            pn.Network((FEVER, RASH), DAG, TABLES, support={"fever": 10, "rash": wrong})
    with pytest.raises(pn.InputError, match="no support for rash; expected one"):
        pn.Network((FEVER, RASH), DAG, TABLES, support={"fever": 10})


def test_a_subnormal_network_is_built_only_when_asked_for_by_name() -> None:
    low = TABLES | {"rash": [[0.1, 0.5], [0.5, 1], [0, 0]]}
    net = pn.Network.subnormal((FEVER, RASH), DAG, low)
    assert "subnormal" in repr(net)
    assert not net.is_normalised
    assert net.joint({"fever": "none", "rash": "no"}) == 0.5
    assert net.with_table("fever", [0.5, 0.5, 0.1]).table("fever").max() == 0.5
    with pytest.raises(pn.InputError) as caught:
        pn.Network((FEVER, RASH), DAG, low, name="ward")
    assert str(caught.value) == (
        "network 'ward': table of 'rash' given (fever=none) peaks at 0.5 (2 such rows); expected 1. "
        "Normalise it first: normalise_tables(...)"
    )


def test_rows_within_a_billionth_of_one_are_snapped() -> None:
    net = pn.Network((FEVER, RASH), DAG, TABLES | {"rash": [[0.1, 1 - 5e-10], [0.5, 1 + 5e-10], [1, 0.3]]})
    assert net.table("rash").max(axis=-1).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("variables", "dag", "tables", "message"),
    [
        ((), pn.Dag({}), {}, "network 'n': no variables; expected at least one"),
        ((FEVER, RASH), DAG, TABLES | {"fever": [10**400, 0, 0]}, "degrees are not a rectangular array of numbers"),
        ((FEVER, RASH), DAG, TABLES | {"fever": ["1", "0.5", "0"]}, "degrees are not a rectangular array of numbers"),
        ((FEVER, FEVER), DAG, TABLES, "network 'n': two variables have the same name"),
        ((FEVER,), DAG, TABLES, "network 'n': node of the dag for 'rash', which is not a variable (fever)"),
        ((FEVER, RASH), pn.Dag({"fever": ()}), TABLES, "network 'n': no node of the dag for rash; expected one for every variable"),
        ((FEVER, RASH), DAG, {"fever": [1, 0, 0]}, "network 'n': no table for rash; expected one for every variable"),
        ((FEVER, RASH), DAG, TABLES | {"rsah": [1]}, "table for 'rsah', which is not a variable (fever, rash); did you mean 'rash'?"),
        ((FEVER, RASH), DAG, TABLES | {"rash": [1, 0]}, "table of 'rash' with axes (fever, rash): degrees have shape (2,); expected (3, 2)"),
        ((FEVER, RASH), DAG, TABLES | {"fever": [1, 2, 0]}, "table of 'fever' with axes (fever): degree 2 at position 1"),
        ((FEVER, RASH), DAG, TABLES | {"fever": [0.5, 0, 0]}, "table of 'fever' peaks at 0.5; expected 1."),
    ],
)  # fmt: skip
def test_bad_networks_are_refused_with_a_sentence(
    variables: tuple[pn.Variable, ...], dag: pn.Dag, tables: dict[str, Any], message: str
) -> None:
    with pytest.raises(pn.InputError) as caught:
        pn.Network(variables, dag, tables, name="n")
    assert message in str(caught.value)


def test_bad_questions_are_refused_with_a_sentence() -> None:
    net = pn.Network((FEVER, RASH), DAG, TABLES)
    with pytest.raises(pn.InputError, match=r"no variable 'feber' \(fever, rash\); did you mean 'fever'"):
        net.table("feber")
    with pytest.raises(pn.InputError, match="configuration lacks rash; expected a state for every variable"):
        net.joint({"fever": "none"})
    with pytest.raises(pn.InputError, match="'maybe' is not a state of 'rash'"):
        net.joint({"fever": "none", "rash": "maybe"})


def test_the_conjunction_is_checked_at_the_door() -> None:
    wrong: Any = "min"
    for build in (
        lambda: pn.Network((FEVER, RASH), DAG, TABLES, conjunction=wrong),
        lambda: pn.random_network(3, conjunction=wrong),
        lambda: pn.Possibility(RASH, [1, 0.5]).condition("yes", wrong),
        lambda: pn.Possibility(RASH, [0.2, 0.5]).normalise(wrong),
    ):
        with pytest.raises(pn.InputError, match="conjunction 'min'; expected possnet.PRODUCT or possnet.MIN"):
            build()
    with pytest.raises(pn.InputError, match="cannot be written as UTF-8"):
        pn.Network((FEVER, RASH), DAG, TABLES, name="\ud800")


def test_what_would_not_fit_is_refused_with_its_size() -> None:
    with pytest.raises(pn.TooLarge, match="the table of 'x.' needs"):
        pn.random_network(9, max_parents=8, states=1000, rng=0)
    big = [pn.Variable(f"v{k}", tuple(f"s{j}" for j in range(1000))) for k in range(5)]
    with pytest.raises(pn.TooLarge, match="a vacuous possibility needs"):
        pn.Possibility.vacuous(big)


def test_tables_are_normalised_row_by_row_by_the_conjunction() -> None:
    raw: dict[str, Any] = {"rash": [[0.1, 0.5], [0.5, 1]]}
    assert pn.normalise_tables(raw)["rash"].tolist() == [[0.2, 1], [0.5, 1]]
    assert pn.normalise_tables(raw, pn.MIN)["rash"].tolist() == [[0.1, 1], [0.5, 1]]
    with pytest.raises(pn.InputError, match=r"table of 'rash': row \(1\) is zero everywhere"):
        pn.normalise_tables({"rash": np.array([[0.1, 0.5], [0, 0]])})
    with pytest.raises(pn.InputError, match="table of 'rash': degrees are not a rectangular array"):
        pn.normalise_tables(raw | {"rash": [[0.1, 0.5], [0]]})
    with pytest.raises(pn.InputError, match=r"table of 'rash': shape \(\)"):
        pn.normalise_tables({"rash": 1.0})


def test_random_networks_have_what_was_asked_for() -> None:
    net = pn.random_network(200, max_parents=2, states=(3, 5), zeros=0.2, ties=0.3, rng=5)
    assert len(net.variables) == 200
    assert {len(net.dag.parents(v.name)) for v in net.variables} == {0, 1, 2}
    assert {len(v) for v in net.variables} == {3, 4, 5}
    assert net.is_normalised
    assert net == pn.random_network(
        200, max_parents=2, states=(3, 5), zeros=0.2, ties=0.3, rng=np.random.default_rng(5)
    )
    assert net != pn.random_network(200, max_parents=2, states=(3, 5), zeros=0.2, ties=0.3, rng=6)
    rows = np.concatenate([net.table(v.name).reshape(-1) for v in net.variables if len(v) == 4]).reshape(-1, 4)
    others = rows.size * 3 / 4
    zeros = (rows == 0).sum() / others
    distinct = np.array([len(set(row)) for row in rows])
    assert abs(zeros - 0.2) < 4 * np.sqrt(0.2 * 0.8 / others)
    assert (distinct < 4).mean() > 0.4
    plain = pn.random_network(50, rng=5)
    for v in plain.variables:
        rows = plain.table(v.name).reshape(-1, len(v))
        assert all(len(set(row)) == len(row) for row in rows.tolist())  # no ties unless asked for
    assert all((plain.table(v.name) > 0).all() for v in plain.variables)


@pytest.mark.parametrize(
    "options",
    [{"n": 0}, {"n": 2.5}, {"states": (3, 2)}, {"states": 0}, {"max_parents": -1}, {"zeros": 0.7, "ties": 0.7}],
)
def test_bad_random_networks_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(pn.InputError, match="random_network: "):
        pn.random_network(**({"n": 3} | options))  # type: ignore[arg-type]
    with pytest.raises(pn.InputError, match="rng -1; expected a whole number"):
        pn.random_network(3, rng=-1)
