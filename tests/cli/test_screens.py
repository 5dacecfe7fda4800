"""What every command shows on a terminal of 80 columns: headline first, nothing broken or cut, progress that says of what."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import possnet as pn
from possnet.cli import main
from tests.commands import COMMAND, run
from tests.paths import ROOT
from tests.terminals import in_terminal, plain_text

COMMANDS = sorted(main.commands)


def write_run(folder: Path) -> dict[str, list[str]]:
    """Files for every command, and words with which each runs, short and without a server."""
    clinic = pn.load_example("clinic")
    pn.write_data(pn.sample(clinic, 300, imprecision=0.5, process="traced", rng=1), folder / "rows.csv")
    pn.write_network(pn.fit(clinic.dag, pn.sample(clinic, 300, rng=2)), folder / "net.json")
    few = ["--rows", "20,40", "--repeats", "2", "--workers", "1"]
    return {
        "check": ["net.json", "rows.csv", "--out", "check.html"],
        "classify": ["rows.csv", "rows.csv", "--target", "measles", "--folds", "2", "--out", "predicted.csv"],
        "compare": ["clinic", "net.json"],
        "complete": ["net.json", "rows.csv", "--out", "completed.csv"],
        "convert": ["rows.csv", "rows.parquet"],
        "evaluate": ["clinic", *few],
        "fit": ["rows.csv", "--structure", "clinic", "--learner", "em", "--out", "fitted.json"],
        "info": ["rows.csv"],
        "learn": ["rows.csv", "--bootstrap", "2", "--explain", "measles->rash", "--out", "learned.json"],
        "query": ["clinic", "measles", "--given", "rash=spots"],
        "sample": ["clinic", "--rows", "50", "--out", "drawn.csv"],
        "score": ["clinic", "rows.csv"],
    }


OTHERWISE_TESTED = {"ask", "completion", "explore", "report"}  # a dialogue, a script, a server, the end of evaluate


@pytest.fixture(scope="module")
def screens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, list[str]]]:
    """What every command draws on a terminal of 80 columns, and the same lines as they stay on the screen."""
    folder = tmp_path_factory.mktemp("screens")
    screens = {}
    for name, words in write_run(folder).items():
        placed = [
            str(folder / word) if Path(word).suffix in {".csv", ".json", ".html", ".parquet"} else word
            for word in words
        ]
        code, drawn = in_terminal([name, *placed], 80)
        assert code == 0, drawn
        lines = [line.rpartition("\r")[2] for line in plain_text(drawn).replace("\r\n", "\n").split("\n")]
        screens[name] = drawn, [line.replace(f"{folder}/", "") for line in lines if "━" not in line]
    return screens


def test_no_command_breaks_a_line_inside_a_word_or_cuts_one_at_80_columns(
    screens: dict[str, tuple[str, list[str]]],
) -> None:
    for name, (_, lines) in screens.items():
        assert max(map(len, lines)) <= 80, name
        assert not any("…" in line for line in lines), name


def test_every_command_that_writes_says_what_and_where(screens: dict[str, tuple[str, list[str]]]) -> None:
    for name in COMMANDS:
        writes = any(param.name in {"out", "target"} for param in main.commands[name].params)
        if writes and name not in {"ask", "evaluate", "query"}:
            assert any(re.match(r"Wrote \S+\.\w+: \w+", line) for line in screens[name][1]), name


def test_progress_says_of_what(screens: dict[str, tuple[str, list[str]]]) -> None:
    for name, unit in {
        "check": "rows", "classify": "folds", "complete": "rows", "convert": "rows", "evaluate": "trials", "fit": "steps of EM",
        "learn": "bootstrap samples", "sample": "rows", "score": "rows",
    }.items():  # fmt: skip
        bars = re.findall(r"━[^\r\n]*", plain_text(screens[name][0]))
        assert any(re.search(rf"\d {unit}", bar) for bar in bars), name


def test_the_headline_stands_first_and_no_line_twice(screens: dict[str, tuple[str, list[str]]]) -> None:
    for name, (_, lines) in screens.items():
        shown = [line for line in lines if line.strip()]
        assert shown[0][0] != " ", name
        heads = [line for line in shown if re.fullmatch(r"  \S+(  +\S+)+", line)]
        assert len(heads) == len(set(heads)), name


def test_colour_never_changes_the_text_and_is_off_when_piped_or_not_wanted(tmp_path: Path) -> None:
    words = write_run(tmp_path)["query"]
    _, coloured = in_terminal(["query", *words], 80)
    piped = run("query", *words).stdout
    assert "\x1b[" in coloured
    assert plain_text(coloured).replace("\r\n", "\n") == piped
    for arguments, extra in (
        (["query"], {"NO_COLOR": "1"}),
        (["--no-color", "query"], {}),
        (["query"], {"TERM": "dumb"}),
    ):
        _, plain = in_terminal([*arguments, *words], 80, extra)
        assert plain.replace("\r\n", "\n") == piped
    assert "\x1b[" in run("--color", "query", *words).stdout
    assert json.loads(run("--color", "query", *words, "--json").stdout)["target"] == "measles"


def test_the_screens_are_those_of_all_commands(screens: dict[str, tuple[str, list[str]]]) -> None:
    assert set(screens) | OTHERWISE_TESTED == set(COMMANDS)


def test_compare_prints_groups_and_meanings_and_no_dust(screens: dict[str, tuple[str, list[str]]]) -> None:
    text = "\n".join(screens["compare"][1])
    for group in ("all tables", "tables of children", "the joint distribution", "the structure"):
        assert re.search(rf"^  {group} +learned +ignorance +meaning$", text, re.MULTILINE)
    assert "limit" not in text
    assert not re.search(r"\de-\d", text)
    assert "edges to add, delete or" in text


def test_the_demo_draws_bars_as_query_does_and_ends_with_the_explorer() -> None:
    done = subprocess.run(["make", "-n", "demo"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("make")]  # what make says of folders
    assert "demo.py --next" in lines[-1]
    python = COMMAND.parent / "python"
    ending = subprocess.run(
        [python, "examples/demo.py", "--next"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ending.stdout.splitlines()[-1].endswith("possnet explore clinic")
    shown = subprocess.run([python, "examples/demo.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    asked = run("query", "clinic", "measles", "--given", "fever=mild|high", "--given", "rash=spots").stdout
    bars = [line for line in asked.splitlines() if "Π" in line and "▒" in line]
    assert len(bars) == 2
    assert all(line in shown.splitlines() for line in bars)
