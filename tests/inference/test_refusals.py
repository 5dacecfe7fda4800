"""What is refused, and the sentence that says why; and the plan for people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import possnet as pn


def test_a_network_too_wide_is_refused_with_its_size_before_anything_is_allocated() -> None:
    parents = [f"p{k}" for k in range(30)]
    scope = [pn.Variable(name, ("a", "b")) for name in [*parents, *(f"c{j}{k}" for j in range(30) for k in range(j))]]
    dag = pn.Dag(
        dict.fromkeys(parents, ()) | {f"c{j}{k}": (parents[j], parents[k]) for j in range(30) for k in range(j)}
    )
    tables = {v.name: np.ones((2,) * (len(dag.parents(v.name)) + 1)) for v in scope}
    engine = pn.Inference(pn.Network(scope, dag, tables), limit=1 << 30)
    with pytest.raises(
        pn.TooLarge,
        match=r"inference needs .* GiB; the limit is 1 GiB. The widest clique has [0-9,]+ entries .*would help",
    ):
        engine.marginals()
    assert engine.query("p0").is_vacuous  # everything else is barren


def test_the_plan_can_be_printed() -> None:
    engine = pn.Inference(pn.load_example("asia"))
    text = engine.plan.describe([v.name for v in engine.network.variables])
    assert text.startswith("8 variables in 6 cliques, 40 entries in all")
    assert "either" in text


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"fevr": "high"}, r"evidence: no variable 'fevr' \(.*\); did you mean 'fever'"),
        ({"fever": "hihg"}, "'hihg' is not a state of 'fever' .*did you mean 'high'"),
        ({"fever": ["mild", "high"]}, r"evidence on 'fever': a list .*expected a state, a set such as"),
        ({"fever": ("mild",)}, "evidence on 'fever': a tuple"),
        ({"fever": set()}, "evidence on 'fever': nothing in it"),
        ({"fever": {}}, "evidence on 'fever': nothing in it"),
        ({"fever": {"mild": 1.5}}, "evidence on 'fever': degree of 'mild' 1.5; expected a number from 0 to 1"),
        ({"fever": {"mild": float("nan")}}, "degree of 'mild' nan"),
        ({"fever": {"mild": "x"}}, "degree of 'mild' 'x'; expected a number from 0 to 1"),
        ({"fever": {"mild": 10**400}}, "expected a number from 0 to 1"),
        ({"fever": {"mild": None}}, "degree of 'mild' None"),
        ({"fever": {"mild": np.array([1.0])}}, "degree of 'mild' array"),
        ([("fever", "high")], "expected a mapping such as"),
    ],
)
def test_bad_evidence_is_refused_with_a_sentence(evidence: Any, message: str) -> None:
    engine = pn.Inference(pn.load_example("clinic"))
    for ask in (
        lambda: engine.query("rash", evidence),
        lambda: engine.marginals(evidence),
        lambda: engine.most_possible(evidence),
    ):
        with pytest.raises(pn.InputError, match=message):
            ask()


def test_impossible_evidence_says_so() -> None:
    engine = pn.Inference(pn.load_example("asia"))
    with pytest.raises(pn.ImpossibleEvidence, match=r"the evidence \(lung=yes, either=no\) has possibility 0"):
        engine.query("smoke", {"lung": "yes", "either": "no"})
    with pytest.raises(pn.ImpossibleEvidence, match=r"lung=\{yes: 0\}"):
        engine.query("smoke", {"lung": {"yes": 0.0}})
    with pytest.raises(pn.ImpossibleEvidence, match="either=no, asia=no|yes"):
        engine.query("asia", {"lung": "yes", "either": "no", "asia": {"yes", "no"}})


def test_bad_questions_are_refused_with_a_sentence() -> None:
    engine = pn.Inference(pn.load_example("asia"))
    with pytest.raises(pn.InputError, match="no variable 'lugn' .*did you mean 'lung'"):
        engine.query("lugn")
    with pytest.raises(pn.InputError, match="expected one or more distinct names"):
        engine.query(["lung", "lung"])
    with pytest.raises(pn.InputError, match="k 0; expected a whole number from 1 on"):
        engine.most_possible_k(0)
    wrong: Any
    for wrong in (3, None, [["lung"]], {"lung"}):
        with pytest.raises(pn.InputError):
            engine.query(wrong)
    for wrong in ("a", 2.5):
        with pytest.raises(pn.InputError, match="expected a whole number"):
            engine.most_possible_k(wrong)
    odd = pn.Dataset.from_table({"weather": ["rain"]})
    with pytest.raises(pn.InputError, match="column 'weather', and the network has no such variable"):
        engine.query_many("lung", odd)
    with pytest.raises(pn.InputError, match=r"query_many, row 2, column 'smoke': 'nope' is not a state \(yes, no\)"):
        engine.query_many("lung", pn.Dataset.from_table({"smoke": ["no", "nope"]}))


@pytest.mark.parametrize("rows", [[3], [-1], [0, 3], [[0, 1]]])
def test_blocks_of_rows_that_the_data_do_not_have_are_refused(rows: Any) -> None:
    """There are three rows, numbered from 0: the last has number 2."""
    net = pn.load_example("clinic")
    data = pn.sample(net, 3, process="precise", rng=1)
    engine = pn.Inference(net)
    asked = {"flu": np.ones(1, dtype=np.bool_)}
    whole = engine.marginals_many(data)["flu"]
    ((start, stop, tables, _),) = engine.marginal_blocks(data, asked, np.array([2]))
    assert (start, stop) == (0, 1)
    assert tables["flu"] == pytest.approx(whole[2:])
    with pytest.raises(pn.InputError, match="marginal_blocks: rows .*; expected numbers of the 3 rows"):
        list(engine.marginal_blocks(data, {"flu": np.ones(len(rows), dtype=np.bool_)}, np.array(rows)))
