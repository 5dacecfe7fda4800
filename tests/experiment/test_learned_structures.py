"""Experiments that learn the structure from the rows too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from possnet.io import encode_network
from tests.commands import run


def test_an_experiment_learns_the_structure_from_the_rows_too() -> None:
    net = pn.load_example("clinic")
    options: dict[str, Any] = {"rows": 400, "imprecision": 0.5, "process": "traced", "repeats": 1, "rng": 3}
    found = pn.evaluate({"c": net}, learners=["likelihood", "em"], learn=["given", "mwst:chi2", "greedy"], **options)
    assert [trial.learner for trial in found.trials] == [
        "likelihood", "em", "likelihood@mwst:chi2", "em@mwst:chi2", "likelihood@greedy", "em@greedy",
    ]  # fmt: skip
    assert not found.failed
    by_learner = dict(zip([c.learner for c in found.trials], found.outcomes, strict=True))
    assert by_learner["em"].metrics["hamming"][0] == 0.0
    assert by_learner["likelihood@mwst:chi2"].metrics["hamming"][2] is None
    trial = found.trials[2]
    data = pn.sample(net, 400, imprecision=0.5, process="traced", rng=trial.derive_seed(3, encode_network(net)))
    learned = pn.fit(pn.learn_structure(data, "mwst", measure="chi2").dag, data)
    assert by_learner[trial.learner].metrics["affinity"][0] == pn.compare(net, learned)["affinity"].value
    plain = pn.evaluate({"c": net}, learners=["likelihood", "em"], **options)
    assert plain.trials == found.trials[:2]
    assert [o.metrics for o in plain.outcomes] == [o.metrics for o in found.outcomes[:2]]


@pytest.mark.usefixtures("no_report")
def test_experiments_refuse_structures_that_they_do_not_know(tmp_path: Path) -> None:
    for learn, message in (("gredy", "learn 'gredy'; expected 'given', or a method.*did you mean 'greedy'"),
                           ("greedy:bick", "did you mean 'bic'"), ([], "no learn"), (3, "evaluate: structure 3; expected a name"),
                           ("greedy:chi2", "evaluate: learn 'greedy:chi2': .*no price that would keep it from adding edges"),
                           ("hybrid-tree:bic", "evaluate: learn 'hybrid-tree:bic': .*expected measure specificity-gain"),
                           ("k2:bic", "learn 'k2:bic' from alpha-cut rows, which are imprecise")):  # fmt: skip
        with pytest.raises(pn.InputError, match=message):
            pn.evaluate(["asia"], rows=10, learn=learn, repeats=1)  # type: ignore[arg-type]
    shown = run("evaluate", "asia", "--rows", 50, "--imprecision", 1, "--process", "precise", "--learner", "likelihood",
                "--learn", "given,greedy:bic", "--repeats", 1, "--metric", "hamming", "--out", tmp_path / "run")  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    assert "counting on a structure by greedy, bic" in " ".join(shown.stdout.split())
    assert "likelihood@greedy:bic" in (tmp_path / "run" / "results.csv").read_text(encoding="utf-8")


def test_a_learner_may_be_named_with_its_structure() -> None:
    options: dict[str, Any] = {"rows": 50, "imprecision": 1, "process": "traced", "repeats": 1, "rng": 1, "workers": 1}
    named = pn.evaluate(["asia"], learners=["em", "em@mwst:chi2"], **options)
    learned = pn.evaluate(["asia"], learners="em", learn=["given", "mwst:chi2"], **options)
    assert named.trials == learned.trials
    assert [o.metrics for o in named.outcomes] == [o.metrics for o in learned.outcomes]
