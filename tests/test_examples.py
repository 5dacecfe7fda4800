"""The worked examples: as scripts, as notebooks, and their pictures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

EXAMPLES = ROOT / "examples"
STORIES = ("clinic_records", "measles_explained", "sensor_errors", "survey_undecided")
EXECUTE = """
import json, sys, nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": sys.argv[2]}}).execute()
outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
print(json.dumps(outputs))
"""


def test_the_notebooks_are_those_of_the_scripts() -> None:
    check = [sys.executable, str(EXAMPLES / "notebooks" / "build.py"), "--check"]
    run = subprocess.run(check, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    for name in STORIES:
        cells = json.loads((EXAMPLES / f"{name}.ipynb").read_text())["cells"]
        assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)


@pytest.mark.parametrize("name", STORIES)
def test_a_notebook_says_what_its_script_says_and_shows_the_picture(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), "--picture", "picture.svg"]
    script = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    execute = [sys.executable, "-c", EXECUTE, str(EXAMPLES / f"{name}.ipynb"), str(tmp_path)]
    run = subprocess.run(execute, capture_output=True, text=True, check=False)
    said, complaints = script.communicate(timeout=60)
    assert script.returncode == 0, complaints
    assert run.returncode == 0, run.stderr
    outputs = json.loads(run.stdout)
    assert "".join(output["text"] for output in outputs if output["output_type"] == "stream") == said
    (shown,) = [output for output in outputs if output["output_type"] == "execute_result"]
    assert "<svg" in "".join(shown["data"]["image/svg+xml"])
    assert "<svg" in (tmp_path / "picture.svg").read_text()
    assert [file.name for file in tmp_path.iterdir()] == ["picture.svg"]  # nothing else is left behind
