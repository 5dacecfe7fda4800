"""The report of the cut likelihood: what is identified, how well, its own limit, and one network's bounds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from possnet.experiment import TrialTask, read_experiment, repeat_learning
from possnet.report import state_answer
from possnet.report.narrative import list_settings, repeat_command
from possnet.report.verdicts import judge_rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cuts") / "run"
    how: dict[str, Any] = {
        "rows": [100, 2_000],
        "imprecision": [0.5, 1],
        "process": ["alpha-cut", "traced"],
        "repeats": 1,
        "rng": 1,
    }
    pn.evaluate(["clinic"], learners=["likelihood", "em", "cut"], workers=1, out=path, **how)
    pn.write_report(path)
    return path


def mean_of(results: pn.Results, metric: str, learner: str = "cut") -> float:
    """Mean over the settings with the most alpha-cut rows."""
    wanted = ("alpha-cut", 2_000, learner)
    values = [s.mean for s in results.summary(metric) if (s.process, s.rows, s.learner) == wanted]
    assert len(values) == 2
    return sum(values) / 2


def test_the_answer_says_what_is_identified_and_how_well(folder: Path) -> None:
    results = read_experiment(folder).results
    cuts, traced = state_answer(results)
    assert f"the cut likelihood {mean_of(results, 'child_affinity'):.2f}" in cuts
    (verdict, _) = judge_rows(results)
    assert verdict.means["em"] == pytest.approx(mean_of(results, "child_affinity", "em"))
    bias = [s.limit for s in results.summary("child_mean_error") if s.learner == "cut" and s.rows == 2_000]
    assert f"with endless rows it would be {sum(b or 0 for b in bias) / 2:.3f}" in cuts
    share, error = mean_of(results, "identified_share"), mean_of(results, "identified_error")
    assert f"{100 * share:.0f} % of the degrees exactly (identified; their mean error: {error:.3f})" in cuts
    assert f"{100 * mean_of(results, 'bound_coverage'):.3g} % of all true degrees lie within" in cuts
    assert "From 100 to 2,000 rows the mean error of the cut likelihood " in cuts
    assert "the mean error of EM " in traced


def test_the_cut_likelihood_is_run_on_alpha_cut_rows_alone_and_the_page_says_so(folder: Path) -> None:
    experiment = read_experiment(folder)
    assert {t.process for t in experiment.results.trials if t.learner == "cut"} == {"alpha-cut"}
    assert experiment.results.failed == []
    assert "by counting, EM and cut likelihood (alpha-cut rows alone)" in list_settings(experiment)
    assert "--learner likelihood,em,cut" in repeat_command(experiment)


def test_the_page_has_bounds_of_one_network_its_limit_and_its_metrics(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert ">What the rows tell</h2>" in text
    assert "cut likelihood, 2,000 alpha-cut rows, imprecision 1" in text
    assert re.search(r"<title>limit of the cut likelihood: 0\.\d{3}</title>", text)
    assert (folder / "figures" / "bounds-clinic.pdf").exists()
    head = re.findall(r'<button type="button">([^<]*)</button>', text)
    assert {"identified degrees", "error of identified degrees", "coverage of the bounds"} <= set(head)
    lines = re.findall(r"<tr(?: class=best)?><td.*?</tr>", text)
    assert {line.count("<td") for line in lines} == {len(head)}  # empty where a learner has no bounds
    for s in read_experiment(folder).results.summary("identified_share"):
        assert f'data-v="{s.mean:.6g}"' in text


def test_what_a_trial_learned_is_learned_again(folder: Path) -> None:
    experiment = read_experiment(folder)
    grid, results = experiment.grid, experiment.results
    trial = next(t for t in results.trials if t.learner == "cut")
    again = repeat_learning(TrialTask(trial, grid.texts["clinic"], grid.seed))
    assert isinstance(again, pn.CutResult)
    expected = results.outcomes[results.trials.index(trial)].metrics["child_affinity"][0]
    assert pn.compare(grid.networks["clinic"], again.network)["child_affinity"].value == expected


def test_results_without_bounds_have_no_words_and_no_picture_of_them() -> None:
    how: dict[str, Any] = {"rows": [50, 100], "imprecision": 1, "process": "alpha-cut", "repeats": 1, "rng": 1}
    answer = " ".join(state_answer(pn.evaluate(["asia"], learners="likelihood", **how)))
    assert "identified" not in answer
    assert "cut likelihood" not in answer
