"""Manners of the command line: hints, pipes, terminals, interrupts, the Tab key, and a manual that tells the truth."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import click
import pytest

import possnet as pn
from possnet.cli import main
from possnet.cli.manual import manual
from tests.commands import COMMAND, everything, run, run_real
from tests.paths import ROOT
from tests.terminals import in_terminal, plain_text

COMMANDS = sorted(main.commands)
REACHED = {**os.environ, "PATH": f"{COMMAND.parent}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rows") / "rows.csv"
    pn.write_data(pn.sample(pn.load_example("clinic"), 200, imprecision=0.5, rng=1), file)
    return file


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_examples_that_name_real_options(name: str) -> None:
    shown = run(name, "--help").stdout
    examples = re.findall(rf"^ +possnet (?:.*\| possnet )?{name} (.*)$", shown.partition("Examples:")[2], re.MULTILINE)
    assert len(examples) >= 2
    known = {option for p in main.commands[name].params if isinstance(p, click.Option) for option in p.opts}
    for example in examples:
        assert {word for word in example.partition(" | ")[0].split() if word.startswith("--")} <= known, example


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_breaks_no_word_and_no_flag_at_80_columns(name: str) -> None:
    """Every word of the help, as the command has it, stands on one line; examples fit, and can be copied."""
    command = main.commands[name] if name else main
    root = main.context_class(main, info_name="possnet", terminal_width=80, **main.context_settings)
    context = command.context_class(command, parent=root, info_name=name, terminal_width=80) if name else root
    page = command.get_help(context)
    assert max(map(len, page.splitlines())) <= 80
    whole = {word for word in str(command.help).split() if word != "\b"}
    for option in command.params:
        record = option.get_help_record(context)
        whole |= {word for part in record or () for word in part.split()}
    assert whole <= set(page.split())


def test_the_manual_is_that_of_the_commands() -> None:
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == manual(), "run: make docs"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["evalute"], "Did you mean 'evaluate'"),
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


def test_a_usage_error_is_folded_between_words() -> None:
    wrong = ["sample", "clinic", "--process", "tracd", "--out", "x.csv"]
    code, drawn = in_terminal(wrong, 50)
    lines = plain_text(drawn).replace("\r\n", "\n").split("\n")
    assert code == 2
    assert max(map(len, lines)) <= 50
    assert len(run(*wrong).stderr.splitlines()) == 4  # not folded where there is no terminal
    assert " ".join(drawn.split()).count("alpha-cut-text, alpha-cut-cuts,") == 1
    assert set(run(*wrong).stderr.split()) == set(" ".join(lines).split())


def test_a_file_of_the_wrong_kind_or_name_says_what_it_looks_like_and_who_reads_it(rows: Path, tmp_path: Path) -> None:
    net, counts, folder = tmp_path / "net.json", tmp_path / "counts.json", tmp_path / "run"
    clinic = pn.load_example("clinic")
    pn.write_network(clinic, net)
    pn.write_counts(pn.count(clinic.dag, pn.sample(clinic, 10, rng=1)), counts)
    pn.evaluate(["asia"], rows=20, imprecision=1, learners="likelihood", repeats=1, rng=1, out=folder)
    disguised, renamed = (shutil.copy(rows, tmp_path / name) for name in ("rows.json", "rows.txt"))
    net_as_text, net_as_rows = (shutil.copy(net, tmp_path / name) for name in ("net.txt", "net.csv"))
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(gzip.compress(rows.read_bytes()))
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
        (["info", renamed], "looks like data", "rename it to .csv or .parquet"),
        (["complete", "clinic", renamed, "--out", "x.csv"], "looks like data", "rename it to .csv or .parquet"),
        (["info", packed], "looks like data", "unpack it first"),
        (["query", net_as_text, "fever"], "looks like a network", "rename it to .json"),
        (["info", net_as_rows], "looks like a network", "rename it to .json"),
    ]
    for arguments, finding, remedy in cases:
        shown = run(*arguments)
        assert shown.returncode == 1, arguments
        assert finding in shown.stderr, arguments
        assert remedy in shown.stderr, arguments
        assert len(shown.stderr.splitlines()) == 1


def test_pipes_carry_data_and_networks(rows: Path, tmp_path: Path) -> None:
    drawn = run_real("sample", "clinic", "--rows", "300", "--seed", "3", "--out", "-")
    pn.write_data(pn.sample(pn.load_example("clinic"), 300, rng=3), tmp_path / "same.csv")
    assert drawn.stdout == (tmp_path / "same.csv").read_text(encoding="utf-8")
    fitted = run_real("fit", "-", "--structure", "clinic", "--out", "-", given=drawn.stdout)
    assert fitted.returncode == 0, fitted.stderr
    (tmp_path / "fitted.json").write_text(fitted.stdout, encoding="utf-8")
    assert pn.read_network(tmp_path / "fitted.json") == pn.fit(
        pn.load_example("clinic").dag, pn.read_data(tmp_path / "same.csv", variables=pn.load_example("clinic"))
    )
    asked = run_real("query", "-", "flu", "--given", "fever=high", "--json", given=fitted.stdout)
    assert json.loads(asked.stdout)["target"] == "flu"
    done = run("complete", "clinic", "-", "--out", "-", given=rows.read_bytes())
    assert len(done.stdout.splitlines()) == 201
    assert "standard input: 200 rows" in done.stderr
    assert json.loads(run("info", "clinic", "--json").stdout)["kind"] == "network"
    as_json = run("convert", "clinic", "-")
    assert json.loads(as_json.stdout)["format"] == "possnet-network"
    pn.write_data(pn.read_data(rows), tmp_path / "rows.parquet")
    again = run("convert", "-", tmp_path / "again.csv", given=(tmp_path / "rows.parquet").read_bytes())
    assert again.returncode == 0, again.stderr
    assert pn.read_data(tmp_path / "again.csv") == pn.read_data(rows)
    learned = run("learn", "-", "--method", "mwst", "--measure", "chi2", "--out", "-", given=rows.read_bytes())
    assert json.loads(learned.stdout)["format"] == "possnet-network"
    assert "(mwst by chi2)" in learned.stderr
    for option in (["--without", "season"], ["--variables", "clinic"]):
        assert run("learn", "-", "--method", "mwst", *option, given=rows.read_bytes()).returncode == 0


def test_errors_in_standard_input_name_it() -> None:
    shown = run("fit", "-", "--structure", "asia", "--out", "-", given=b"smoke,lung\nmaybe,no\n")
    assert shown.returncode == 1
    assert shown.stdout == ""
    assert "standard input" in shown.stderr
    assert tempfile.gettempdir() not in shown.stderr
    broken = run("query", "-", "smoke", given=b"{")
    assert broken.returncode == 1
    assert broken.stderr.startswith("Error: standard input, line 1")


@pytest.mark.usefixtures("no_report")
def test_json_is_whole_for_machines(rows: Path, tmp_path: Path) -> None:
    data = json.loads(run("info", rows, "--json").stdout)
    assert (data["kind"], data["rows"]) == ("data", 200)
    assert 0 < data["variables"]["fever"]["imprecise_share"] < 1
    few = ["--rows", "30", "--imprecision", "1", "--process", "traced", "--repeats", "1", "--workers", "1"]
    found = json.loads(run("evaluate", "asia", *few, "--json").stdout)
    assert {s["learner"] for s in found["summary"]} == {"likelihood", "em"}
    shown = run("evaluate", "asia", *few, "--learner", "em", "--json", "--out", tmp_path / "run")
    assert json.loads(shown.stdout)["failed"] == []
    assert f"Wrote {tmp_path / 'run' / 'report.html'}: the report" in shown.stderr


def test_a_reader_that_leaves_early_ends_the_command_quietly() -> None:
    script = f"{COMMAND} sample asia --rows 200000 --out - | head -n 1"
    shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert shown.stdout.startswith("asia,")
    assert shown.stderr.count("\n") <= 1
    assert "Traceback" not in shown.stderr
    assert "Broken pipe" not in shown.stderr


@pytest.mark.parametrize("columns", [60, 200])
def test_pages_fit_the_terminal(columns: int) -> None:
    for arguments in (["info", "clinic"], ["--help"], ["evaluate", "--help"], ["query", "clinic", "fever"]):
        code, drawn = in_terminal(arguments, columns)
        assert code == 0
        lines = [plain_text(line) for line in drawn.splitlines()]
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


def started(out: Path) -> tuple[subprocess.Popen[bytes], int]:
    """A long command with its errors on a terminal, once its progress shows."""
    master, slave = pty.openpty()
    words = [str(COMMAND), "sample", "asia", "--rows", "50000000", "--out", str(out)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=slave, start_new_session=True)
    os.close(slave)
    assert os.read(master, 1)
    time.sleep(0.3)
    return process, master


def test_ctrl_c_ends_with_one_word_and_leaves_nothing_behind(tmp_path: Path) -> None:
    process, master = started(tmp_path / "a.csv")
    process.send_signal(signal.SIGINT)
    drawn = everything(master)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Stopped." in drawn
    assert b"Traceback" not in drawn
    assert list(tmp_path.iterdir()) == []


def test_a_closed_terminal_ends_the_command(tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    process, master = started(out)
    os.close(master)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert not out.exists()


def completed_in_bash(line: str, folder: Path) -> list[str]:
    """What bash proposes for a command line whose last word is begun, with our script loaded."""
    shown = [word for word in re.split(r"(=)|\s", line) if word is not None]  # as bash breaks words
    script = "\n".join(
        [
            'eval "$(possnet completion bash)"',
            f"COMP_LINE={shlex.quote(line)}",
            f"COMP_POINT={len(line)}",
            f"COMP_WORDS=({' '.join(shlex.quote(word) for word in shown)})",
            f"COMP_CWORD={len(shown) - 1}",
            "_possnet_completion possnet",
            'printf "%s\\n" "${COMPREPLY[@]}"',
        ]
    )
    words = ["bash", "--norc", "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=REACHED, cwd=folder, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("possnet eval", ["evaluate"]),
        ("possnet query cl", ["clinic", "cl air.json"]),
        ("possnet query clinic mea", ["measles"]),
        ("possnet query clinic flu --given feve", ["fever="]),
        ("possnet query clinic flu --given fever=", ["none", "mild", "high"]),
        ("possnet query clinic flu --given fever=mi", ["mild"]),
        ("possnet evaluate --learner em,lik", ["em,likelihood", "em,likelihood-corrected"]),
        ("possnet sample asia --process tr", ["traced", "traced-text"]),
        ("possnet learn rows.csv --measure traced", ["traced-bic"]),
        ("possnet info fol", ["folder"]),
    ],
)
def test_bash_completes_commands_options_names_and_words(line: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "cl air.json").touch()
    assert completed_in_bash(line, tmp_path) == expected


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_tab_key_works_in_a_real_bash(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    words, environment = ["bash", "--norc", "--noprofile", "-i"], {**REACHED, "PS1": "$ ", "TERM": "dumb"}
    process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=tmp_path)
    os.close(slave)
    drawn = b""

    def typed(keys: bytes, until: bytes) -> None:
        nonlocal drawn
        os.write(master, keys)
        end = time.monotonic() + 20
        while until not in drawn and time.monotonic() < end:
            drawn += os.read(master, 4096)
        assert until in drawn

    typed(b'eval "$(possnet completion bash)"; echo rea""dy\n', b"ready\r\n")
    typed(b"possnet query clinic measles --given fev\t", b"--given fever=")
    typed(b"mi\t", b"fever=mild")
    typed(b"\n", b"given fever=mild")
    typed(b"exit\n", b"exit")
    process.wait(20)
    os.close(master)


def completed(command: str, argument: str, incomplete: str, **params: str) -> list[str]:
    """What the type of a parameter proposes."""
    context = click.Context(main.commands[command], resilient_parsing=True)
    context.params |= params
    param = next(param for param in main.commands[command].params if argument in (param.name, *param.opts))
    return [item.value for item in param.shell_complete(context, incomplete)]


def test_states_are_completed_after_the_equals_sign() -> None:
    assert completed("query", "--given", "fever=mi", net="clinic") == ["fever=mild"]
    assert completed("query", "--given", "fever=mild|h", net="clinic") == ["fever=mild|high"]
    assert completed("query", "--given", "f", net="nothing") == []


def test_columns_of_the_data_are_completed(rows: Path) -> None:
    data = str(rows)
    assert completed("learn", "--without", "fe", data=data) == ["fever"]
    assert completed("learn", "--order", "rash,fe", data=data) == ["rash,fever"]
    assert completed("learn", "--require", "fe", data=data) == ["fever"]
    assert completed("learn", "--require", "rash->fe", data=data) == ["rash->fever"]
    assert completed("info", "--bin", "fe", source=data) == ["fever"]
    assert completed("learn", "--without", "fe", data="nowhere.csv") == []
    assert completed("sample", "--imprecision", "fe", net="clinic") == ["fever="]
    assert completed("fit", "--total", "d") == ["data"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_their_script(shell: str) -> None:
    assert "_POSSNET_COMPLETE" in run("completion", shell).stdout


def test_semicolons_and_tabs_between_columns_are_seen(rows: Path, tmp_path: Path) -> None:
    for sign in (";", "\t"):
        file = tmp_path / "rows.csv"
        file.write_text(rows.read_text(encoding="utf-8").replace(",", sign), encoding="utf-8")
        assert json.loads(run("info", file, "--json").stdout)["variables"].keys() == {
            v.name for v in pn.load_example("clinic").variables
        }
        assert run("complete", "clinic", file, "--out", tmp_path / "out.csv").returncode == 0
        assert (tmp_path / "out.csv").read_text(encoding="utf-8").startswith("contact,")


def test_a_file_completed_in_place_keeps_what_it_is_told_to_keep(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("fever,ward\nmild,a\nhigh,b\n", encoding="utf-8")
    done = run("complete", "clinic", file, "--keep", "ward", "--out", file)
    assert done.returncode == 0, done.stderr
    assert file.read_text(encoding="utf-8") == "fever,ward\nmild,a\nhigh,b\n"
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.csv").write_text("fever,ward\nmild,a\n", encoding="utf-8")
    (tmp_path / "parts" / "b.csv").write_text("fever\n?\n", encoding="utf-8")
    assert run("complete", "clinic", tmp_path / "parts", "--keep", "ward", "--out", tmp_path / "x.csv").returncode == 1
    assert {path.name for path in tmp_path.iterdir()} == {"rows.csv", "parts"}


def test_standard_input_can_be_anything_but_twice(rows: Path) -> None:
    assert "standard input: 200 rows" in run("info", "-", given=rows.read_bytes()).stdout
    again = run("convert", "-", "-", given=rows.read_bytes()).stdout
    assert again.splitlines()[0] == rows.read_text(encoding="utf-8").splitlines()[0]
    assert len(again.splitlines()) == 201
    network = run("convert", "clinic", "-").stdout
    for begin in ("", " " * 40):
        assert "clinic: a product-based" in run("info", "-", given=(begin + network).encode()).stdout
    twice = run("complete", "-", "-", "--out", "-", given=rows.read_bytes())
    assert twice.returncode == 1
    assert "standard input looks like data; expected a network" in twice.stderr
    asked = run("query", "-", "flu", given=rows.read_bytes())
    assert "standard input looks like data; expected a network" in asked.stderr
    both = run("compare", "-", "-", given=network.encode())
    assert both.returncode == 2
    assert "given twice" in both.stderr


def test_closed_and_full_streams_end_without_a_traceback(rows: Path, tmp_path: Path) -> None:
    for script in (
        f"{COMMAND} info clinic > /dev/full",
        f"{COMMAND} complete clinic {rows} --out - > /dev/full",
        f"{COMMAND} query - flu <&-",
        f"{COMMAND} complete clinic - --out - <&-",
    ):
        shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=60)
        assert shown.returncode == 1, script
        assert "Traceback" not in shown.stderr
        assert len(shown.stderr.splitlines()) == 1, shown.stderr
    for script in (f"{COMMAND} info clinic >&-", f"{COMMAND} complete clinic {rows} --out {tmp_path}/x.csv 2>&-"):
        done = subprocess.run(["bash", "-c", script], capture_output=True, check=False, timeout=60)
        assert done.returncode == 0, script


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_request_to_end_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    process, master = started(tmp_path / "a.csv")
    process.send_signal(number)
    everything(master)
    process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert list(tmp_path.iterdir()) == []


def test_a_table_with_readings_takes_three_commands(tmp_path: Path) -> None:
    lines = [
        f"{name},{pain},{'yes' if pain > 5 else 'no'}" for name, pain in zip("abcdefghijkl", range(12), strict=True)
    ]
    table = tmp_path / "my.csv"
    table.write_text("\n".join(["name,pain,drug", *lines, "m,>7,?", "n,<2,no|yes"]) + "\n", encoding="utf-8")
    bins = ["--bin", "pain: edges=3,6 error=.5"]
    assert "pain: measurements? Bin them" in run("info", table).stdout
    assert "measurements?" not in run("info", table, *bins).stdout
    how = ["--without", "name", "--method", "mwst", "--measure", "chi2"]
    learned = run("learn", table, *bins, *how, "--out", tmp_path / "l.json")
    assert learned.returncode == 0, learned.stderr
    done = run("complete", tmp_path / "l.json", table, *bins, "--keep", "name", "--out", tmp_path / "out.csv")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[0] == "name,pain,drug"
    assert run("fit", table, "--structure", tmp_path / "l.json", *bins, "--out", tmp_path / "f.json").returncode == 0
    assert run("score", tmp_path / "f.json", table, *bins).returncode == 0
    wrong = run("learn", table, "--without", "nmae")
    assert "did you mean 'name'" in wrong.stderr


def test_answers_documents_sentences_and_names_of_files_are_never_cut_off(tmp_path: Path) -> None:
    for columns in (40, 60):
        _, drawn = in_terminal(["query", "clinic", "rash"], columns)
        assert drawn.count("N 0.") + drawn.count("N 1.") == 4  # of every state, and of the answer
        assert "…" not in drawn
    _, drawn = in_terminal(["info", "clinic", "--json"], 40)
    assert json.loads(drawn)["name"] == "clinic"
    _, drawn = in_terminal(["info", "pump"], 50)
    assert pn.load_example("pump").description in " ".join(drawn.split())
    _, drawn = in_terminal(["convert", "clinic", str(tmp_path / "a-network.uai")], 40)
    assert f"{tmp_path / 'a-network.uai.names.json'}:" in drawn


def test_one_word_for_one_thing_and_earlier_words_are_still_understood(rows: Path, tmp_path: Path) -> None:
    """A learner is --learner everywhere, a target --target; what these were called before works, and help is silent of it."""
    for name in COMMANDS:
        shown = run(name, "--help").stdout
        assert "--targets" not in shown, name
        assert "--method NAME" not in shown or name in {"check", "learn"}, name
    for word in ("--learner", "--method"):
        done = run("fit", rows, "--structure", "clinic", word, "histogram", "--out", tmp_path / f"{word}.json")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "--learner.json").read_bytes() == (tmp_path / "--method.json").read_bytes()
    checked = [run("check", "clinic", rows, word, "fever", "--json").stdout for word in ("--target", "--targets")]
    assert [json.loads(text)["overall"]["accuracy"] for text in checked].count(None) == 0
