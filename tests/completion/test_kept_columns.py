"""``possnet complete --keep``: names and patterns of columns that the network lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "t.csv"
    file.write_text(
        "id,fever,fever_true,rash,rash_true\n7,mild|high,mild,?,spots\n8,none,none,none,none\n", encoding="utf-8"
    )
    return file


def test_a_pattern_stands_for_the_columns_that_the_network_lacks(table: Path) -> None:
    done = run("complete", "clinic", table, "--keep", "*_true", "--keep", "fever_true", "--out", "-")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "fever,fever_true,rash,rash_true"
    assert "left out: id; name those" in done.stderr
    everything = run("complete", "clinic", table, "--keep", "*", "--out", "-").stdout
    assert everything.splitlines()[0] == "id,fever,fever_true,rash,rash_true"


def test_a_pattern_of_nothing_and_a_name_of_nothing_are_told(table: Path) -> None:
    assert "--keep *_ture: no such column" in run("complete", "clinic", table, "--keep", "*_ture", "--out", "-").stderr
    told = run("complete", "clinic", table, "--keep", "fever_ture", "--out", "-").stderr
    assert "--keep fever_ture: no such column" in told
    assert "did you mean 'fever_true'?" in told
    assert "which is kept anyway" in run("complete", "clinic", table, "--keep", "fever", "--out", "-").stderr
