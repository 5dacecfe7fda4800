"""The worked examples: as scripts, as notebooks, and their pictures."""

from __future__ import annotations

import json
import re
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


@pytest.mark.parametrize("name", STORIES)
def test_a_committed_notebook_is_small_and_names_no_machine(name: str) -> None:
    text = (EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8")
    assert len(text) < 300_000
    assert not re.search(r"/(home|root|tmp|work|usr|opt)/", text)
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] is None for cell in cells)
    shown = [output for cell in cells for output in cell["outputs"] if output["output_type"] == "execute_result"]
    assert any("text/html" in output["data"] for output in shown)
    assert "<script" not in text


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
    values = [output["data"] for output in outputs if output["output_type"] == "execute_result"]
    (shown,) = [data["image/svg+xml"] for data in values if "image/svg+xml" in data]
    assert "<svg" in "".join(shown)
    committed = json.loads((EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    kept = [output for cell in committed if cell["cell_type"] == "code" for output in cell["outputs"]]
    assert "".join("".join(o["text"]) for o in kept if o["output_type"] == "stream") == said
    pages = ["".join(o["data"]["text/html"]) for o in kept if "text/html" in o.get("data", {})]
    assert pages == ["".join(data["text/html"]) for data in values if "text/html" in data]
    assert "<svg" in (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert [file.name for file in tmp_path.iterdir()] == ["picture.svg"]  # nothing else is left behind
