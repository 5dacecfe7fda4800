"""Manners of the command line: hints, pipes, terminals, interrupts, the Tab key, and a manual that tells the truth."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import click
import pytest

import possnet as pn
from possnet.cli import main
from possnet.cli.manual import manual
from tests.test_cli import COMMAND, everything, run, run_real

ROOT = Path(__file__).parent.parent
COMMANDS = sorted(main.commands)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rows") / "rows.csv"
    pn.write_data(pn.sample(pn.load_example("clinic"), 200, imprecision=0.5, rng=1), file)
    return file


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_examples_that_name_real_options(name: str) -> None:
    shown = run(name, "--help").stdout
    examples = re.findall(rf"^ +possnet (?:.*\| possnet )?{name} (.*)$", shown.partition("Examples:")[2], re.MULTILINE)
    assert examples or name == "evaluate"
    known = {option for p in main.commands[name].params if isinstance(p, click.Option) for option in p.opts}
    for example in examples:
        assert {word for word in example.partition(" | ")[0].split() if word.startswith("--")} <= known, example


def test_the_manual_is_that_of_the_commands() -> None:
    assert (ROOT / "docs" / "cli.md").read_text() == manual(), "run: make docs"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["evalute"], "did you mean 'evaluate'"),
        (["sample", "clinic", "--proces", "traced", "--out", "x.csv"], "--process"),
        (["sample", "clinic", "--process", "tracd", "--out", "x.csv"], "did you mean 'traced'"),
        (
            ["fit", "rows.csv", "--structure", "clinic", "--method", "likelyhood", "--out", "x.json"],
            "did you mean 'likelihood'",
        ),
        (["completion", "bsh"], "did you mean 'bash'"),
    ],
)
def test_a_command_typed_wrong_says_what_was_meant(arguments: list[str], hint: str) -> None:
    shown = run(*arguments)
    assert shown.returncode == 2
    assert hint in shown.stderr
    assert "Traceback" not in shown.stderr


def test_a_file_of_the_wrong_kind_says_what_it_looks_like_and_who_reads_it(rows: Path, tmp_path: Path) -> None:
    net, counts, folder = tmp_path / "net.json", tmp_path / "counts.json", tmp_path / "run"
    clinic = pn.load_example("clinic")
    pn.write_network(clinic, net)
    pn.write_counts(pn.count(clinic.dag, pn.sample(clinic, 10, rng=1)), counts)
    pn.evaluate(["asia"], rows=20, imprecision=1, learners="likelihood", repeats=1, rng=1, out=folder)
    disguised = tmp_path / "rows.json"
    shutil.copy(rows, disguised)
    cases: list[tuple[list[str | Path], str, str]] = [
        (["query", rows, "fever"], f"{rows} looks like data; expected a network", f"possnet info {rows}"),
        (["query", disguised, "fever"], "looks like data", "possnet info"),
        (["compare", "clinic", counts], "looks like counts; expected a network", "read_counts"),
        (["info", folder], "looks like an experiment", f"possnet report {folder}"),
        (
            ["fit", net, "--structure", "clinic", "--out", "x.json"],
            "looks like a network; expected data",
            f"possnet sample {net}",
        ),
        (
            ["complete", "clinic", "asia", "--out", "x.csv"],
            "asia looks like a network; expected data",
            "possnet sample asia",
        ),
        (["score", "clinic", folder], "looks like an experiment; expected data", "possnet report"),
    ]
    for arguments, finding, remedy in cases:
        shown = run(*arguments)
        assert shown.returncode == 1, arguments
        assert finding in shown.stderr, arguments
        assert remedy in shown.stderr, arguments
        assert len(shown.stderr.splitlines()) == 1


def piped(*arguments: str | Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([COMMAND, *arguments], input=given, capture_output=True, check=False, timeout=60)


def test_pipes_carry_data_and_networks(rows: Path, tmp_path: Path) -> None:
    drawn = piped("sample", "clinic", "--rows", "300", "--seed", "3", "--out", "-")
    pn.write_data(pn.sample(pn.load_example("clinic"), 300, rng=3), tmp_path / "same.csv")
    assert drawn.stdout == (tmp_path / "same.csv").read_bytes()
    fitted = piped("fit", "-", "--structure", "clinic", "--out", "-", given=drawn.stdout)
    assert fitted.returncode == 0, fitted.stderr
    (tmp_path / "fitted.json").write_bytes(fitted.stdout)
    assert pn.read_network(tmp_path / "fitted.json") == pn.fit(
        pn.load_example("clinic").dag, pn.read_data(tmp_path / "same.csv", variables=pn.load_example("clinic"))
    )
    asked = piped("query", "-", "flu", "--given", "fever=high", "--json", given=fitted.stdout)
    assert json.loads(asked.stdout)["target"] == "flu"
    done = piped("complete", "clinic", "-", "--out", "-", given=rows.read_bytes())
    assert len(done.stdout.splitlines()) == 201
    assert b"standard input: 200 rows" in done.stderr
    assert json.loads(piped("info", "clinic", "--json").stdout)["kind"] == "network"
    as_json = piped("convert", "clinic", "-")
    assert json.loads(as_json.stdout)["format"] == "possnet-network"
    pn.write_data(pn.read_data(rows), tmp_path / "rows.parquet")
    again = piped("convert", "-", tmp_path / "again.csv", given=(tmp_path / "rows.parquet").read_bytes())
    assert again.returncode == 0, again.stderr
    assert pn.read_data(tmp_path / "again.csv") == pn.read_data(rows)
    learned = piped("learn", "-", "--method", "mwst", "--measure", "chi2", "--out", "-", given=rows.read_bytes())
    assert json.loads(learned.stdout)["format"] == "possnet-network"
    assert b"mwst by chi2" in learned.stderr


def test_errors_in_standard_input_name_it() -> None:
    shown = piped("fit", "-", "--structure", "asia", "--out", "-", given=b"smoke,lung\nmaybe,no\n")
    assert shown.returncode == 1
    assert shown.stdout == b""
    assert b"standard input" in shown.stderr
    assert b"/tmp" not in shown.stderr
    broken = piped("query", "-", "smoke", given=b"{")
    assert broken.returncode == 1
    assert broken.stderr.startswith(b"Error: standard input, line 1")


def test_json_is_whole_for_machines(rows: Path, tmp_path: Path) -> None:
    data = json.loads(run("info", rows, "--json").stdout)
    assert (data["kind"], data["rows"]) == ("data", 200)
    assert 0 < data["variables"]["fever"]["imprecise_share"] < 1
    few = ["--rows", "30", "--imprecision", "1", "--process", "traced", "--repeats", "1", "--workers", "1"]
    found = json.loads(run("evaluate", "asia", *few, "--json").stdout)
    assert {s["learner"] for s in found["summary"]} == {"likelihood", "em"}
    shown = run_real("evaluate", "asia", *few, "--learner", "em", "--json", "--out", tmp_path / "run")
    assert json.loads(shown.stdout)["failed"] == []
    assert "Report:" in shown.stderr


def test_a_reader_that_leaves_early_ends_the_command_quietly() -> None:
    script = f"{COMMAND} sample asia --rows 200000 --out - | head -n 1"
    shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert shown.stdout.startswith("asia,")
    assert shown.stderr.count("\n") <= 1
    assert "Traceback" not in shown.stderr
    assert "Broken pipe" not in shown.stderr


def in_terminal(arguments: list[str], columns: int, extra: dict[str, str] | None = None) -> tuple[int, str]:
    """Run with both outputs on a terminal of some width; exit code and all that was drawn."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in {"COLUMNS", "LINES", "NO_COLOR"}}
    environment |= {"TERM": "xterm-256color", **(extra or {})}
    process = subprocess.Popen([COMMAND, *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    drawn = everything(master)
    return process.wait(60), drawn.decode(errors="replace")


@pytest.mark.parametrize("columns", [60, 200])
def test_pages_fit_the_terminal(columns: int) -> None:
    for arguments in (["info", "clinic"], ["--help"], ["evaluate", "--help"], ["query", "clinic", "fever"]):
        code, drawn = in_terminal(arguments, columns)
        assert code == 0
        lines = [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line) for line in drawn.splitlines()]
        examples = [line for line in lines if line.lstrip().startswith("possnet ")]  # to be copied, so never wrapped
        assert max(len(line) for line in lines if line not in examples) <= columns
        assert "Traceback" not in drawn


def test_progress_has_colour_unless_it_is_not_wanted(tmp_path: Path) -> None:
    arguments = ["sample", "asia", "--rows", "3000", "--seed", "1", "--out", str(tmp_path / "a.csv")]
    code, plain = in_terminal(arguments, 100, {"NO_COLOR": "1"})
    assert code == 0
    assert not re.search(r"\x1b\[(?:[0-9;]*)3[0-9]", plain)
    code, coloured = in_terminal(arguments, 100)
    assert code == 0
    assert re.search(r"\x1b\[(?:[0-9;]*)3[0-9]", coloured)


def started(arguments: list[str]) -> tuple[subprocess.Popen[bytes], int]:
    """A long command with its errors on a terminal, once its progress shows."""
    master, slave = pty.openpty()
    process = subprocess.Popen([COMMAND, *arguments], stdout=subprocess.PIPE, stderr=slave, start_new_session=True)
    os.close(slave)
    assert os.read(master, 1)
    time.sleep(0.3)
    return process, master


def test_ctrl_c_ends_with_one_word_and_leaves_nothing_behind(tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    process, master = started(["sample", "asia", "--rows", "50000000", "--out", str(out)])
    process.send_signal(signal.SIGINT)
    drawn = everything(master)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Stopped." in drawn
    assert b"Traceback" not in drawn
    assert list(tmp_path.iterdir()) == []


def test_a_closed_terminal_ends_the_command(tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    process, master = started(["sample", "asia", "--rows", "50000000", "--out", str(out)])
    os.close(master)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert not out.exists()


def completed_in_bash(line: str, folder: Path) -> list[str]:
    """What bash proposes for a command line whose last word is begun, with our script loaded."""
    words = line.split(" ")
    script = "\n".join(
        [
            'eval "$(possnet completion bash)"',
            f"COMP_WORDS=({' '.join(repr(word) for word in words)})",
            f"COMP_CWORD={len(words) - 1}",
            "_possnet_completion possnet",
            'printf "%s\\n" "${COMPREPLY[@]}"',
        ]
    )
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    shown = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=folder,
        timeout=60,
    )
    assert shown.returncode == 0, shown.stderr
    return shown.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("possnet eval", ["evaluate"]),
        ("possnet query cl", ["clinic"]),
        ("possnet query clinic mea", ["measles"]),
        ("possnet query clinic flu --given feve", ["fever="]),
        ("possnet evaluate --learner em,lik", ["em,likelihood", "em,likelihood-corrected"]),
        ("possnet sample asia --process tr", ["traced"]),
        ("possnet learn rows.csv --measure traced", ["traced-bic"]),
    ],
)
def test_bash_completes_commands_options_names_and_words(line: str, expected: list[str], tmp_path: Path) -> None:
    found = completed_in_bash(line, tmp_path)
    assert [word for word in found if word in expected] == expected
    assert not [
        word for word in found if word not in expected and not word.startswith(line.rsplit(" ", maxsplit=1)[-1])
    ]


def test_states_are_completed_after_the_equals_sign() -> None:
    from possnet.cli.inputs import complete_evidence

    context = click.Context(main.commands["query"])
    context.params["net"] = "clinic"
    option = click.Option(["--given"])
    assert complete_evidence(context, option, "fever=mi") == ["fever=mild"]
    assert complete_evidence(context, option, "fever=mild|h") == ["fever=mild|high"]
    context.params["net"] = "nothing"
    assert complete_evidence(context, option, "f") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_their_script(shell: str) -> None:
    assert "_POSSNET_COMPLETE" in run("completion", shell).stdout
