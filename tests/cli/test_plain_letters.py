"""Output in the letters of another locale: nothing is lost that has a plain twin, and nothing ends in a traceback."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import possnet as pn
from tests.commands import COMMAND


def run_with(encoding: str, *arguments: str | Path) -> tuple[str, str]:
    """What a command writes to a pipe that takes this encoding alone, and its errors."""
    done = subprocess.run(
        [COMMAND, *arguments],
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode(encoding), done.stderr.decode(encoding)


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A network with a name in Latin letters, states that no Western encoding has, and one beyond 16 bits."""
    fever = pn.Variable("fièvre", ("aucune", "熱", "😀"))
    pn.write_network(pn.Network([fever], pn.Dag({"fièvre": ()}), {"fièvre": [1, 0.5, 0.25]}), tmp_path / "a.json")
    return tmp_path / "a.json"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_bars_and_names_are_written_in_the_letters_that_there_are(encoding: str, named: Path) -> None:
    """Windows writes to files in cp1252: a result with bars ended in a UnicodeEncodeError there."""
    plain, errors = run_with(encoding, "query", named, "fièvre")
    rich, _ = run_with("utf-8", "query", named, "fièvre")
    assert "█" in rich
    assert "熱" in rich
    expected = rich.replace("█", "#").replace("▒", "+").replace("░", ".").replace("Π", "Pi")
    assert plain == expected.replace("熱", r"\u71b1").replace("😀", r"\U0001f600")
    assert "Traceback" not in errors


def test_json_is_the_same_document_in_every_encoding(named: Path) -> None:
    texts = [run_with(encoding, "query", named, "fièvre", "--json")[0] for encoding in ("utf-8", "latin-1")]
    assert "熱" in texts[0]
    assert "fièvre" in texts[1]
    assert json.loads(texts[0]) == json.loads(texts[1])
