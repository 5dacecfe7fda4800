"""Learners: what their entries promise, and one that is registered from outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet.learners import LEARNERS, Learner, label_learner, resolve_learner
from tests.commands import run

ONE: dict[str, Any] = {
    "rows": [20, 50],
    "imprecision": [0.5, 1],
    "process": ["traced", "precise"],
    "repeats": 1,
    "rng": 1,
}


def learn_nothing(
    dag: pn.Dag, data: pn.Dataset, *, conjunction: pn.Conjunction, imprecision: float = 0.0
) -> pn.Network:
    """All degrees 1; the imprecision that it was told stands in the description."""
    sizes = {v.name: len(v) for v in data.variables}
    tables = {n: np.ones([*(sizes[p] for p in dag.parents(n)), sizes[n]]) for n in dag.nodes}
    return pn.Network(data.variables, dag, tables, conjunction=conjunction, description=f"told {imprecision}")


@pytest.fixture
def nothing() -> Iterator[Learner]:
    yield LEARNERS.register(Learner("nothing", "learning nothing", learn_nothing, needs_imprecision=True))
    LEARNERS.unregister("nothing")


def test_a_learner_from_outside_is_evaluated_like_any_other(nothing: Learner) -> None:
    """In this process: workers, which start afresh, would not know it."""
    results = pn.evaluate(["asia"], learners=["likelihood", "nothing"], **ONE)
    assert results.failed == []
    for summary in results.summary("affinity"):
        if summary.learner == nothing.name:
            assert summary.mean == pytest.approx(summary.vacuous)
            assert summary.limit is None
    assert any("learning nothing 0." in sentence for sentence in results.sentences())
    assert label_learner("nothing@greedy:bic") == "learning nothing on a structure by greedy, bic"
    results = pn.evaluate(["asia"], learners="nothing", learn="mwst:chi2", **{**ONE, "rows": 200})
    assert min(s.mean for s in results.summary("skeleton_recall")) > 0.0


def test_learners_that_need_the_imprecision_are_told_it(nothing: Learner) -> None:
    asia = pn.load_example("asia")
    data = pn.sample(asia, 20, rng=1)
    assert nothing.learn(asia.dag, data, 0.5, pn.PRODUCT).description == "told 0.5"
    assert nothing.learn(asia.dag, data, 0.0, pn.PRODUCT).description == "told 0.0"
    corrected = LEARNERS["likelihood-corrected"].learn(asia.dag, data, 0.5, pn.PRODUCT)
    assert corrected == pn.fit(asia.dag, data, imprecision=0.5)


@pytest.mark.filterwarnings("ignore:fit_cut. the rows do not tell their imprecision")  # variables of two states
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_takes_the_options_and_data_that_its_entry_names(name: str) -> None:
    learner, asia = LEARNERS[name], pn.load_example("asia")
    data = pn.sample(asia, 30, rng=1)
    values = {
        "imprecision": 0.5,
        "normalise": True,
        "prior": "marginal",
        "pseudo": 1.0,
        "total": 1.0,
        "transform": "symmetric",
    }
    values |= {"unknown": "focal", "options": None, "name": "learned", "progress": None}
    for option in learner.options & values.keys():
        assert learner.fit(asia.dag, data, conjunction=pn.MIN, **{option: values[option]}) is not None
    stream = pn.sample_batches(asia, 30, rng=1)
    if learner.takes_streams:
        assert learner.learn(asia.dag, stream, 0.5, pn.PRODUCT) == learner.learn(asia.dag, data, 0.5, pn.PRODUCT)


def test_the_limit_of_a_learner_is_that_of_its_counts() -> None:
    asia = pn.load_example("asia")
    for name, learner in LEARNERS.items():
        if learner.limit_label == "limit of counting" and learner.limit is not None:
            limit = learner.limit(asia, "traced-text", 0.5)
            assert limit == pn.sampling_limit(asia, process="traced", law="text", imprecision=0.5), name
    large = pn.random_network(30, max_parents=5, states=(6, 6), rng=1)
    compute = LEARNERS["likelihood"].limit
    assert compute is not None
    assert compute(large, "alpha-cut", 0.5) is None


def test_a_learned_structure_is_part_of_the_name() -> None:
    learner = resolve_learner("em@greedy:bic")
    assert (learner.name, learner.takes_imprecise_rows, learner.limit) == ("em@greedy:bic", False, None)
    assert LEARNERS["em"].takes_imprecise_rows
    with pytest.raises(pn.InputError, match="learner 'emm'; expected .*did you mean 'em'"):
        resolve_learner("emm@greedy")
    with pytest.raises(pn.InputError, match="learn 'gredy'; expected .*did you mean 'greedy'"):
        resolve_learner("em@gredy")


def test_the_cut_likelihood_has_its_own_limit_and_metrics_of_its_bounds() -> None:
    results = pn.evaluate(
        ["clinic"], rows=2_000, imprecision=[0.5], process="alpha-cut", learners=["likelihood", "cut"], repeats=2, rng=1
    )
    assert results.failed == []
    by_learner = {s.learner: s for s in results.summary("child_affinity")}
    assert by_learner["cut"].limit == pytest.approx(0.8996, abs=0.001)
    assert by_learner["likelihood"].limit == pytest.approx(0.679, abs=0.001)
    assert by_learner["cut"].mean > by_learner["cut"].vacuous > by_learner["likelihood"].mean
    assert results.table_rows()[0][-3:] == ("ignorance", "limit", "limit of cut")
    assert results.table_rows()[1][-2:] == ("0.679", "0.900")
    assert "limit of the cut likelihood 0.90" in results.sentences()[0]
    for metric, least in (("bound_coverage", 0.97), ("identified_share", 0.3)):
        (summary,) = results.summary(metric)
        assert summary.learner == "cut"
        assert summary.mean >= least
    (error,) = results.summary("identified_error")
    assert error.mean < 0.05 < error.vacuous


def test_the_cut_likelihood_and_the_automatic_choice_fit_from_the_command_line(tmp_path: Path) -> None:
    clinic = pn.load_example("clinic")
    data = pn.sample(clinic, 2_000, imprecision=0.5, rng=1)
    pn.write_data(data, tmp_path / "rows.parquet")
    for options, line in (
        (("cut", "--imprecision", ".5"), "of the degrees are identified, the others bounded"),
        (("cut",), "imprecision 0.5"),
        (("auto",), "alpha-cut rows (every variable has a state in all its cells"),
    ):
        out = tmp_path / "learned.json"
        done = run("fit", tmp_path / "rows.parquet", "--structure", "clinic", "--method", *options, "--out", out)
        assert done.returncode == 0, done.stderr
        assert line in done.stderr
        expected = pn.fit_cut(clinic.dag, data, imprecision=0.5 if "--imprecision" in options else None)
        learned = pn.read_network(out)
        assert learned.table("rash") == pytest.approx(expected.network.table("rash"))
        assert learned.bounds is not None
        for variable in clinic.dag.nodes:
            assert learned.bounds.lower[variable] == pytest.approx(expected.lower[variable])
            assert learned.bounds.upper[variable] == pytest.approx(expected.upper[variable])
    pn.write_data(pn.sample(clinic, 100, process="traced", rng=1), tmp_path / "traced.parquet")
    refused = run(
        "fit", tmp_path / "traced.parquet", "--structure", "clinic", "--method", "cut", "--out", tmp_path / "x.json"
    )
    assert refused.returncode == 1
    assert "these are not alpha-cut rows" in refused.stderr
    assert not (tmp_path / "x.json").exists()


def test_a_learner_that_gives_no_network_is_told_so_by_its_name(tmp_path: Path) -> None:
    LEARNERS.register(Learner("forgetful", "forgetting to return", lambda *_, **__: None))  # type: ignore[arg-type]
    try:
        results = pn.evaluate(["asia"], learners="forgetful", **(ONE | {"rows": 20}))
        told = {error for _, error in results.failed}
        assert told == {
            "InputError: learner 'forgetful' gave None; expected a network, or a result whose .network is one"
        }
        pn.write_data(pn.sample(pn.load_example("asia"), 20, rng=1), tmp_path / "rows.csv")
        done = run(
            "fit", tmp_path / "rows.csv", "--structure", "asia", "--learner", "forgetful", "--out", tmp_path / "n.json"
        )
        assert done.returncode == 1
        assert "learner 'forgetful' gave None; expected a network" in done.stderr
    finally:
        LEARNERS.unregister("forgetful")
