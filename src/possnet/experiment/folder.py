"""The folder of an experiment: what is asked, every finished cell, and what comes out.

``experiment.json`` says what is asked; ``cells/`` has a file for every finished cell, written beside and renamed, so that a
run that is killed at any moment goes on where it was. ``results.csv`` and ``results.parquet`` are made of the cells alone:
the same whatever interrupted the run, and however many workers there were.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from possnet.errors import InputError
from possnet.experiment.cell import Outcome
from possnet.io.files import file_error, write_text
from possnet.io.tidy import write_tidy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from possnet.experiment.grid import Cell, Grid

__all__ = ["Folder"]

COLUMNS: dict[str, type] = {
    "network": str,
    "process": str,
    "imprecision": float,
    "rows": int,
    "learner": str,
    "repeat": int,
    "metric": str,
    "value": float,
    "vacuous": float,
    "limit": float,
    "error": str,
}


class Folder:
    """Where an experiment is kept."""

    def __init__(self, path: str | Path, grid: Grid) -> None:
        given: object = path
        if not isinstance(given, str | Path):
            raise InputError(f"evaluate: out {path!r}; expected the name of a folder")
        self.path = Path(path)
        try:
            self._open(grid.description())
        except OSError as error:
            raise file_error(self.path, error) from None

    def _open(self, description: dict[str, Any]) -> None:
        asked = self.path / "experiment.json"
        for folder in (self.path, self.path / "cells"):
            if folder.is_dir():
                for begun in folder.glob(".*.part"):  # of a run that was killed while it wrote
                    begun.unlink(missing_ok=True)
        if asked.exists():
            try:
                known = json.loads(asked.read_text(encoding="utf-8"))
            except ValueError:
                known = None
            if known != description:
                raise InputError(
                    f"{self.path} holds another experiment; expected an empty folder, or the same options to go on with it"
                )
        elif self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise InputError(f"{self.path} is not empty and holds no experiment; expected a new or an empty folder")
        else:
            self.path.mkdir(parents=True, exist_ok=True)
            write_text(asked, json.dumps(description, indent=2, ensure_ascii=False) + "\n")
        (self.path / "cells").mkdir(exist_ok=True)

    def load(self, cell: Cell) -> Outcome | None:
        """What came of a cell, if it is finished."""
        file = self.path / "cells" / f"{cell.key}.json"
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            return Outcome({n: tuple(m) for n, m in found["measures"].items()}, found["error"], found["seconds"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # damaged from outside: run it again

    def save(self, cell: Cell, outcome: Outcome) -> None:
        """Keep what came of a cell, whole or not at all."""
        document = {"cell": asdict(cell), **outcome._asdict()}
        write_text(self.path / "cells" / f"{cell.key}.json", json.dumps(document, ensure_ascii=False) + "\n")

    def write_results(self, found: Iterable[tuple[Cell, Outcome]]) -> None:
        """Write ``results.csv``, ``results.parquet`` and ``timings.json``."""
        listed = list(found)
        rows = [row for cell, outcome in listed for row in result_rows(cell, outcome)]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(["" if value is None else value for value in row] for row in rows)
        write_text(self.path / "results.csv", text.getvalue())
        write_tidy(COLUMNS, rows, self.path / "results.parquet")
        timings = [{**asdict(cell), "seconds": outcome.seconds} for cell, outcome in listed]
        write_text(self.path / "timings.json", json.dumps(timings, indent=1, ensure_ascii=False) + "\n")


def result_rows(cell: Cell, outcome: Outcome) -> list[tuple[Any, ...]]:
    """Tidy rows of a cell: one for every metric, or one that holds the error."""
    head = (cell.network, cell.process, cell.imprecision, cell.rows, cell.learner, cell.repeat)
    if outcome.error is not None:
        return [(*head, None, None, None, None, outcome.error)]
    return [(*head, metric, *measured, None) for metric, measured in outcome.measures.items()]
