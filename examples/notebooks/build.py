"""The notebooks of the examples, made from their scripts: ``python examples/notebooks/build.py``.

A script is cut at its ``# %%`` lines: ``[markdown]`` cells are comments without the hash, ``[script]`` cells are left out,
and all others are code, whose comments ``# The notebook shows NAME here.`` become a last line that shows a value. The cell
that draws the picture shows it, too. Notebooks are run, and hold their outputs. With ``--check`` nothing is run or written,
and the exit code says whether the notebooks, outputs apart, are those of the scripts.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent
EXAMPLES = ("clinic_records", "measles_explained", "sensor_errors", "survey_undecided")
SHOW = """\
from io import StringIO

import matplotlib as mpl
from IPython.display import SVG

page = StringIO()
with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "possnet"}):
    figure.savefig(page, format="svg", metadata={"Date": None})
SVG(page.getvalue())
"""


def cells(script: str) -> list[tuple[str, str]]:
    """Pairs (markdown or code, text) of a script."""
    found = []
    for kind, text in re.findall(r"^# %%[ ]*(\[\w+\])?\n(.*?)(?=^# %%|\Z)", script, flags=re.DOTALL | re.MULTILINE):
        if kind == "[markdown]":
            lines = [re.sub(r"^# ?", "", line) for line in text.strip().splitlines()]
            found.append(("markdown", "\n".join(lines)))
        elif kind != "[script]":
            code = re.sub(r"^# The notebook shows (\w+) here\.$", r"\1", text.strip(), flags=re.MULTILINE)
            found.append(("code", code.replace("import sys\n", "", 1).lstrip()))
    drawn = next(k for k, (kind, text) in enumerate(found) if kind == "code" and "figure = Figure(" in text)
    found[drawn] = ("code", f"{found[drawn][1]}\n\n{SHOW.strip()}")
    return found


def notebook(script: str) -> str:
    """The notebook of a script, as JSON."""
    listed = []
    for number, (kind, text) in enumerate(cells(script)):
        cell: dict[str, object] = {"cell_type": kind, "id": f"cell-{number:02d}", "metadata": {}}
        cell["source"] = text.splitlines(keepends=True)
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        listed.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {
        "cells": listed,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def run_notebook(text: str) -> str:
    """The same notebook with the outputs of its cells, without times and numbers of runs."""
    from tempfile import TemporaryDirectory

    import nbformat
    from nbclient import NotebookClient

    document = nbformat.reads(text, 4)
    with TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(document, timeout=120, kernel_name="python3", record_timing=False, resources=resources).execute()
    outputs = [[tidy_output(output) for output in cell.get("outputs", [])] for cell in document.cells]
    made = json.loads(text)
    for cell, listed in zip(made["cells"], outputs, strict=True):
        if cell["cell_type"] == "code":
            cell["outputs"] = listed
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def tidy_output(output: dict[str, Any]) -> dict[str, Any]:
    """An output as it is committed: a printed text, or a value as HTML or SVG, cut into lines."""
    if output["output_type"] == "stream":
        return {"name": output["name"], "output_type": "stream", "text": output["text"].splitlines(keepends=True)}
    if output["output_type"] != "execute_result":
        raise SystemExit(f"a cell gave {output}; expected a printed text or a value")
    data = {
        kind: str(output["data"][kind]).splitlines(keepends=True)
        for kind in ("text/html", "image/svg+xml", "text/plain")
        if kind in output["data"] and (kind != "text/plain" or "image/svg+xml" not in output["data"])
    }
    return {"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"}


def strip_outputs(text: str) -> str:
    """A notebook without the outputs of its cells."""
    document = json.loads(text)
    for cell in document["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def main() -> int:
    """Write the notebooks, or check them."""
    stale = 0
    for name in EXAMPLES:
        made = notebook((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
        target = FOLDER / f"{name}.ipynb"
        if "--check" not in sys.argv:
            target.write_text(run_notebook(made), encoding="utf-8")
        elif not target.exists() or strip_outputs(target.read_text(encoding="utf-8")) != made:
            print(f"{target.name} is not what {name}.py makes; run python examples/notebooks/build.py")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
