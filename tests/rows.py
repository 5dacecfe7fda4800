"""The rows of a data set, slowly and plainly."""

from __future__ import annotations

from typing import Any

import numpy as np

import possnet as pn


def rows_of(data: pn.Dataset) -> list[tuple[Any, ...]]:
    """Every row as (set or None for unknown) per variable, and its weight: the slow, plain view of a data set."""
    missing = {v.name: data.missing(v.name) for v in data.variables}
    weights = np.ones(len(data), dtype=np.int64) if data.weights is None else data.weights
    return [
        (*(None if missing[name][r] else cell for name, cell in data.row(r).items()), int(weights[r]))
        for r in range(len(data))
    ]
