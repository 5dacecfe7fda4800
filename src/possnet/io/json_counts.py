"""Counts as JSON: exact integers, only what occurs.

One object per variable: its states, its parents in table order, the contexts that occur (states of the parents as numbers),
N_ijk and N_ij; and, if they were counted, the distinct combinations of cells as hexadecimal masks with their counts.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.counting import Counts, Focal
from possnet.errors import InputError
from possnet.graph import Dag
from possnet.io.file_access import prefix_errors, read_bytes, write_text
from possnet.io.json_files import convert_document, parse_object, require_format, restore_variables
from possnet.kernels.tally import Tally

if TYPE_CHECKING:
    from pathlib import Path

    from possnet.io.json_schema import CountsJson, FamilyCountsJson, FocalJson
    from possnet.variables import Variable

_NAME = "possnet-counts"
_LARGEST = 2**62


def write_counts(counts: Counts, path: str | Path) -> None:
    """Write counts as JSON, whole or not at all.

    >>> import possnet as pn, tempfile, pathlib
    >>> counts = pn.count(pn.Dag({"a": ()}), pn.Dataset.from_table({"a": ["x", {"x", "y"}]}), focal=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_counts(counts, pathlib.Path(folder) / "counts.json")
    ...     read_counts(pathlib.Path(folder) / "counts.json") == counts
    True
    """
    entries = []
    for variable in counts.variables:
        contexts, numbers, totals = counts.family(variable.name)
        entry: dict[str, Any] = {
            "name": variable.name,
            "states": variable.states,
            "ordered": variable.ordered,
            "parents": counts.dag.parents(variable.name),
            "cell_sizes": counts.cell_size_sum(variable.name),
            "contexts": contexts.tolist(),
            "counts": numbers.tolist(),
            "totals": totals.tolist(),
        }
        if counts.has_focal:
            octets, often = counts.focal_arrays(variable.name)
            entry["focal"] = {"cells": [row.tobytes().hex() for row in octets], "counts": often.tolist()}
        entries.append("    " + json.dumps(entry, ensure_ascii=False))
    head = f'  "format": "{_NAME}",\n  "version": 1,\n  "rows": {counts.rows},\n'
    write_text(path, "{\n" + head + '  "variables": [\n' + ",\n".join(entries) + "\n  ]\n}\n")


def read_counts(path: str | Path) -> Counts:
    """Counts of a JSON file that `write_counts` wrote.

    >>> read_counts("nowhere.json")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: nowhere.json: no such file; check the name
    """
    owner = str(path)
    document = parse_object(read_bytes(path), owner, "counts as JSON")
    require_format(document, owner, _NAME, 1)
    from possnet.io.json_schema import CountsJson

    page = convert_document(document, CountsJson, owner, "expected what write_counts writes")
    with prefix_errors(owner):
        return _restore_counts(page)


def _restore_counts(page: CountsJson) -> Counts:
    variables = restore_variables(page.variables)
    domains = {variable.name: variable for variable in variables}
    if not variables:
        raise InputError("no variables; expected at least one")
    dag = Dag({e.name: e.parents for e in page.variables})
    if not 0 <= page.rows < _LARGEST:
        raise InputError(f"{page.rows} rows; expected a whole number from 0 to 2**62")
    for entry in page.variables:
        if not page.rows <= entry.cell_sizes <= page.rows * len(entry.states):
            raise InputError(f"cells of {entry.name!r} of {entry.cell_sizes} states in all; the file is damaged")
    focal = {e.name: e.focal for e in page.variables if e.focal is not None}
    if focal and len(focal) < len(variables):
        raise InputError("some variables have focal counts and some have not; expected all or none")
    scopes = {e.name: [domains[n] for n in (*e.parents, e.name)] for e in page.variables}
    return Counts(
        variables,
        dag,
        {e.name: _restore_tally(e, scopes[e.name], page.rows) for e in page.variables},
        rows=page.rows,
        cell_sizes={e.name: e.cell_sizes for e in page.variables},
        focal={n: _restore_focal(n, entry, scopes[n], page.rows) for n, entry in focal.items()} if focal else None,
    )


def _restore_tally(entry: FamilyCountsJson, scope: list[Variable], rows: int) -> Tally:
    *parents, child = scope
    owner = f"counts of {entry.name!r}"
    contexts = _whole_numbers(entry.contexts, (len(entry.contexts), len(parents)), owner)
    for column, parent in zip(contexts.T, parents, strict=True):
        if len(column) and column.max() >= len(parent):
            raise InputError(f"{owner}: state number {column.max()} of {parent.name!r}, which has {len(parent)} states")
    listed = contexts.tolist()
    if any(a >= b for a, b in pairwise(listed)):
        raise InputError(f"{owner}: contexts are not in ascending order, each once; the file is damaged")
    counts = _whole_numbers(entry.counts, (len(contexts), len(child)), owner)
    totals = _whole_numbers(entry.totals, (len(contexts),), owner)
    if (totals > rows).any() or bool(rows) != bool(len(totals)) or (not parents and rows and totals[0] != rows):
        raise InputError(f"{owner}: contexts of {totals[:3].tolist()} rows of {rows} in all; the file is damaged")
    if (counts.max(axis=1, initial=0) > totals).any() or not totals.all() or not counts.any(axis=1).all():
        raise InputError(
            f"{owner}: a state is counted more often than its context, or a context never; the file is damaged"
        )
    return Tally(contexts.astype(np.int32), counts, totals)


def _restore_focal(name: str, entry: FocalJson, scope: list[Variable], rows: int) -> Focal:
    owner = f"focal counts of {name!r}"
    width = sum(-(-len(variable) // 8) for variable in scope)
    counts = _whole_numbers(entry.counts, (len(entry.cells),), owner)
    if not counts.all() or sum(counts.tolist()) != rows:
        raise InputError(f"{owner}: counts that do not add up to {rows} rows; the file is damaged")
    try:
        masks_of_rows = [bytes.fromhex(text) for text in entry.cells]
    except ValueError:
        raise InputError(f"{owner}: cells that are not hexadecimal masks; the file is damaged") from None
    ascending = all(a < b for a, b in pairwise(masks_of_rows))
    if any(len(row) != width for row in masks_of_rows) or not ascending:
        raise InputError(f"{owner}: cells are not {width} bytes each, in ascending order; the file is damaged")
    octets = np.frombuffer(b"".join(masks_of_rows), dtype=np.uint8).reshape(-1, width).copy()
    start = 0
    for variable in scope:
        stop = start + -(-len(variable) // 8)
        masks = octets[:, start:stop]
        spare = len(variable) % 8
        if not masks.any(axis=1).all() or (spare and len(masks) and int(masks[:, -1].max()) >> spare):
            raise InputError(
                f"{owner}: a cell of {variable.name!r} is empty or has unknown states; the file is damaged"
            )
        start = stop
    return Focal(octets, counts)


def _whole_numbers(values: list[Any], shape: tuple[int, ...], owner: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    try:
        array = np.array(values, dtype=np.int64).reshape(shape)
    except (ValueError, OverflowError):
        raise InputError(f"{owner}: not whole numbers of shape {shape}; the file is damaged") from None
    if (array < 0).any() or (array >= _LARGEST).any():
        raise InputError(f"{owner}: numbers below 0 or above 2**62; the file is damaged")
    return array
