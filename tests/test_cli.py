"""The command line, run as a person would run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import possnet as pn

COMMAND = Path(sys.executable).parent / "possnet"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False, timeout=60)


def test_help_says_what_there_is() -> None:
    shown = run("--help")
    assert shown.returncode == 0
    assert "info" in shown.stdout
    assert "NET is a file or the name of a bundled network" in shown.stdout
    assert run("--version").stdout == f"possnet, version {pn.__version__}\n"


@pytest.mark.parametrize("name", ["asia", "clinic", "pump", "survey"])
def test_info_shows_every_bundled_network(name: str) -> None:
    shown = run("info", name)
    net = pn.load_example(name)
    assert shown.returncode == 0
    assert shown.stderr == ""
    assert f"{name}: a {net.conjunction.name}-based possibilistic network" in shown.stdout
    for variable in net.variables:
        assert f"\n  {variable.name} " in shown.stdout


def test_info_shows_a_file(tmp_path: Path) -> None:
    big = pn.random_network(100, states=(2, 9), rng=1)
    support = {v.name: big.table(v.name).sum(axis=-1) for v in big.variables}
    tables = {v.name: big.table(v.name) * 0.5 for v in big.variables}
    pn.write_network(pn.Network.subnormal(big.variables, big.dag, tables, support=support), tmp_path / "big.json")
    shown = run("info", tmp_path / "big.json")
    assert shown.returncode == 0
    assert "unnamed: a product-based possibilistic network" in shown.stdout
    assert "100, with 2 to 9 states" in shown.stdout
    assert "... and 40 more" in shown.stdout
    assert "some rows do not peak at 1" in shown.stdout
    assert "observations behind it" in shown.stdout


def test_mistakes_get_one_line_and_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("")
    for argument, message in [
        ("asai", "asai: no such file and no bundled network of that name (asia, clinic, pump, survey); did you mean 'asia'?"),
        ("nowhere.json", "nowhere.json: no such file; check the name"),
        (str(tmp_path / "empty.json"), f"{tmp_path / 'empty.json'}: the file is empty; expected a network as JSON"),
    ]:  # fmt: skip
        shown = run("info", argument)
        assert shown.returncode == 1
        assert shown.stdout == ""
        assert shown.stderr == f"Error: {message}\n"


def test_a_wrong_command_line_gets_exit_code_2_and_a_hint() -> None:
    shown = run("inof", "asia")
    assert shown.returncode == 2
    assert "no command 'inof'; did you mean 'info'?" in shown.stderr
    assert run("frobnicate").returncode == 2
    assert "(info" in run("frobnicate").stderr
    assert run("info").returncode == 2
