"""``possnet check`` and ``possnet complete --check``: a network on unseen rows, a recipe inside folds, the page."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from tests.commands import run

SURVEY = pn.load_example("survey")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Precise rows; rows whose last column is ambiguous, with its truth and a group beside it; a learned network."""
    path = tmp_path_factory.mktemp("check")
    rows = pn.sample(SURVEY, 120, process="precise", rng=1)
    pn.write_data(rows, path / "rows.csv")
    lines = (path / "rows.csv").read_text(encoding="utf-8").splitlines()
    states = SURVEY.variables[-1].states
    blurred = [f"{lines[0]},answer_true,who,score"]
    for number, line in enumerate(lines[1:]):
        start, _, truth = line.rpartition(",")
        other = states[(states.index(truth) + 1 + number % 2) % len(states)]
        blurred.append(f"{start},{truth}|{other},{truth},p{number // 4},{number}.5")
    (path / "blurred.csv").write_text("\n".join(blurred) + "\n", encoding="utf-8")
    pn.write_network(pn.fit(SURVEY.dag, rows), path / "learned.json")
    return path


def drop_times(document: Any) -> Any:
    return {
        name: value
        for name, value in document.items()
        if name not in {"seconds", "learning_seconds", "notes", "verdict"}
    }


def as_json(result: pn.Check) -> Any:
    return drop_times(json.loads(json.dumps(asdict(result))))


def test_a_network_is_checked_on_rows_that_it_has_not_seen(folder: Path) -> None:
    done = run("check", "survey", folder / "rows.csv", "--targets", "vote,answer")
    assert (done.returncode, done.stderr) == (0, "")
    result = pn.check(SURVEY, pn.read_data(folder / "rows.csv", SURVEY), ("vote", "answer"))
    assert done.stdout.splitlines()[0] == result.sentence
    assert "network 'survey': checked on rows that the network was not learned from (as you say)" in done.stdout
    told = json.loads(run("check", "survey", folder / "rows.csv", "--targets", "vote,answer", "--json").stdout)
    assert told["verdict"] == result.verdict
    assert drop_times(told) == as_json(result)


def test_data_alone_are_checked_inside_folds(folder: Path) -> None:
    how = ("--structure", "survey", "--learner", "em", "--pseudo", "1", "--folds", "3", "--seed", "4")
    done = run("check", folder / "rows.csv", *how, "--json")
    assert done.returncode == 0, done.stderr
    data = pn.read_data(folder / "rows.csv", SURVEY)
    recipe = pn.Recipe(learner="em", dag=SURVEY.dag, conjunction=SURVEY.conjunction, options={"pseudo": 1.0})
    assert drop_times(json.loads(done.stdout)) == as_json(pn.check(recipe, data, folds=3, rng=4))
    text = run(
        "check", folder / "rows.csv", "--method", "mwst", "--measure", "mutual-information", "--folds", "2"
    ).stdout
    assert (
        "structure by mwst, mutual-information, tables by the learner of the measure: checked on rows left out" in text
    )


@pytest.mark.parametrize("truth", ["answer=answer_true", "*=*_true"])
def test_truth_in_another_column_and_groups_that_never_part(folder: Path, truth: str) -> None:
    how = (
        "--structure",
        "survey",
        "--truth",
        truth,
        "--groups",
        "who",
        "--targets",
        "answer",
        "--folds",
        "4",
        "--json",
    )
    done = run("check", folder / "blurred.csv", *how)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    names = [*SURVEY.dag.nodes]
    data = pn.read_data(
        folder / "blurred.csv",
        [*(SURVEY.variable(n) for n in names), pn.Variable("answer_true", SURVEY.variables[-1].states)],
    )
    groups = [f"p{k // 4}" for k in range(120)]
    result = pn.check(
        pn.Recipe(dag=SURVEY.dag, conjunction=SURVEY.conjunction),
        data,
        ("answer",),
        truth={"answer": "answer_true"},
        groups=groups,
        folds=4,
    )
    assert told["groups"] == "who"
    assert told["resolved"]["answer"]["rows"] == 120
    assert told["resolved"]["answer"]["random"] == pytest.approx(0.5)
    assert drop_times(told) | {"groups": None} == as_json(result)
    network = run("check", "survey", folder / "blurred.csv", "--truth", truth, "--targets", "answer", "--json")
    assert json.loads(network.stdout)["resolved"]["answer"]["random"] == pytest.approx(0.5)


def test_the_page_is_one_file_that_asks_nobody(folder: Path) -> None:
    page = folder / "check.html"
    how = ("--truth", "answer=answer_true", "--out", page)
    done = run("check", "survey", folder / "blurred.csv", *how)
    assert done.stderr.endswith(f"Wrote {page}: the page of this check, with reliability curves\n")
    text = page.read_text("utf-8")
    assert text.count("<svg") == 4
    assert "<h2" in text
    assert "Ambiguous cells" in text
    assert "http" not in text.replace("http://www.w3.org", "")
    for name in SURVEY.dag.nodes:
        assert f'<td class="text">{name}</td>' in text
    pipe = run("check", "survey", folder / "rows.csv", "--json", "--out", page)
    assert json.loads(pipe.stdout)["rows"] == 120


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["survey"], "survey is a network; expected rows that it has not seen too"),
        (["rows.csv", "rows.csv"], "rows.csv holds data; expected a network before DATA, or one file of data alone"),
        (["survey", "rows.csv", "--folds", "3"], "--folds is for learning inside folds, and survey is a network"),
        (["survey", "rows.csv", "--groups", "age"], "--groups is for learning inside folds"),
        (["survey", "rows.csv", "--out", "check.txt"], "--out check.txt: unknown suffix '.txt'; expected .html"),
        (["survey", "rows.csv", "--out", "nowhere/check.html"], "the folder does not exist"),
        (["survey", "rows.csv", "--truth", "answer"], "--truth 'answer'; expected VARIABLE=COLUMN"),
        (["survey", "rows.csv", "--truth", "answer=anwser"], "no column 'anwser' .*did you mean 'answer'"),
        (["survey", "rows.csv", "--truth", "*=*_true"], r"--truth \*=\*_true: no column has such another"),
        (["survey", "rows.csv", "--levels", "0"], "check: levels 0.0; expected degrees above 0, up to 1"),
        (["asia", "rows.csv"], "no column .* is a variable of the network"),
        (["rows.csv", "--groups", "whom"], "--groups whom: no such column"),
        (["rows.csv", "--targets", "vota"], "target 'vota' is no column of the data .*did you mean 'vote'"),
        (["rows.csv", "--folds", "1000", "--structure", "survey"], "120 rows for 1000 folds"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(
    folder: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    done = run("check", *arguments)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert re.search(message, done.stderr)
    assert sorted(folder.iterdir()) == before


def test_complete_says_how_its_network_does_on_known_cells_and_what_it_may_have_seen(folder: Path) -> None:
    rows, out = folder / "rows.csv", folder / "out.csv"
    done = run("complete", folder / "learned.json", rows, "--check", "--out", out)
    assert done.returncode == 0, done.stderr
    learned = pn.read_network(folder / "learned.json")
    verdict = pn.check(learned, pn.read_data(rows, learned)).verdict
    assert f"  Check: {verdict}; on as many rows as the network was learned from, so probably the same" in done.stdout
    told = json.loads(run("complete", "survey", rows, "--check", "--out", out, "--json").stdout)
    assert told["check"]["verdict"].endswith("on rows that the network may have been learned from; it does not say")
    (folder / "few.csv").write_text("vote,answer\n?,?\n", encoding="utf-8")
    empty = run("complete", "survey", folder / "few.csv", "--check", "--out", out)
    assert "Check: check: no cell of 'vote' is known, so that there is nothing to hide" in empty.stdout
