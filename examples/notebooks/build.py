"""The notebooks of the examples, made from their scripts: ``python examples/notebooks/build.py``.

A script is cut at its ``# %%`` lines: ``[markdown]`` cells are comments without the hash, ``[script]`` cells are left out,
and all others are code. The cell that draws the picture shows it, too. Notebooks hold no outputs. With ``--check`` nothing
is written, and the exit code says whether the notebooks are those of the scripts.
"""

import json
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent
EXAMPLES = ("clinic_records", "measles_explained", "sensor_errors", "survey_undecided")
SHOW = """\
from io import StringIO

from IPython.display import SVG

page = StringIO()
figure.savefig(page, format="svg")
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
            found.append(("code", text.strip().replace("import sys\n", "", 1).lstrip()))
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


def main() -> int:
    """Write the notebooks, or check them."""
    stale = 0
    for name in EXAMPLES:
        made = notebook((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
        target = FOLDER / f"{name}.ipynb"
        if "--check" not in sys.argv:
            target.write_text(made, encoding="utf-8")
        elif not target.exists() or target.read_text(encoding="utf-8") != made:
            print(f"{target.name} is not what {name}.py makes; run python examples/notebooks/build.py")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
