"""Data sets written and read in every layout that possnet writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import possnet as pn
from possnet.io import PlainColumns

LAYOUTS = ["data.csv", "data.parquet", "lists.parquet"]


def write_layout(data: pn.Dataset | pn.DataStream, path: Path, plain: PlainColumns | None = None) -> Path:
    layout = "lists" if path.name == "lists.parquet" else "masks"
    pn.write_data(data, path, layout=layout, weights="\twéight", plain=plain)
    return path


def read_layout(path: Path, data: pn.Dataset, reader: Any = pn.read_data) -> Any:
    weights = "\twéight" if data.weights is not None else None
    return reader(path, variables=data.variables, weights=weights)
