"""Counts as JSON: exact integers, or floats where rows have fractional weights or degrees; only what occurs.

One object per variable: its states, its parents in table order, the contexts that occur (states of the parents as numbers),
N_ijk and N_ij; and, if they were counted, the distinct combinations of cells as hexadecimal masks with their counts. The
last member is a checksum of the file.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.counting import Counts, Focal
from possnet.doors import check_arguments
from possnet.errors import InputError
from possnet.graph import Dag
from possnet.io.atomic_files import write_text
from possnet.io.file_access import prefix_errors, read_bytes
from possnet.io.json_files import (
    choose_version,
    convert_document,
    describe_bins,
    parse_object,
    require_format,
    restore_variables,
    seal_json,
)
from possnet.kernels.tally import Tally

if TYPE_CHECKING:
    from pathlib import Path

    from possnet.aliases import Ints, Weights
    from possnet.io.json_schema import CountsJson, FamilyCountsJson, FocalJson
    from possnet.variables import Variable

_NAME = "possnet-counts"
_VERSION = 2  # 2 added bins
_LARGEST = 2**62  # sums of two counts still fit 64 bits
_ROUNDING = 1e-9  # of sums of fractions, relative


@check_arguments
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
            **describe_bins(variable),
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
    version = choose_version(counts.variables) if counts.is_exact else _VERSION
    head = f'  "format": "{_NAME}",\n  "version": {version},\n  "rows": {counts.rows},\n'
    write_text(path, seal_json("{\n" + head + '  "variables": [\n' + ",\n".join(entries) + "\n  ]\n}\n"))


@check_arguments
def read_counts(path: str | Path) -> Counts:
    """Counts of a JSON file that `write_counts` wrote.

    >>> read_counts("nowhere.json")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: nowhere.json: no such file; check the name
    """
    owner = str(path)
    document = parse_object(read_bytes(path), owner, "counts as JSON")
    require_format(document, owner, _NAME, _VERSION)
    from possnet.io.json_schema import CountsJson

    page = convert_document(document, CountsJson, owner, "expected what write_counts writes")
    with prefix_errors(owner):
        return _restore_counts(page)


def _restore_counts(document: CountsJson) -> Counts:
    rows, entries = document.rows, document.variables
    variables = restore_variables(entries)
    if not variables:
        raise InputError("no variables; expected at least one")
    if not 0 <= rows < _LARGEST:
        raise InputError(f"{rows} rows; expected a number from 0 to 2**62")
    dag = Dag({e.name: e.parents for e in entries})
    for e in entries:
        fits = rows * (1 - _ROUNDING) <= e.cell_sizes <= rows * len(e.states) * (1 + _ROUNDING)
        _require_sound(fits, f"cells of {e.name!r} of {e.cell_sizes} states in all")
    focal = {e.name: e.focal for e in entries if e.focal is not None}
    if focal and len(focal) < len(variables):
        raise InputError("some variables have focal counts and some have not; expected all or none")
    domains = {variable.name: variable for variable in variables}
    scopes = {e.name: [domains[n] for n in (*e.parents, e.name)] for e in entries}
    return Counts(
        variables,
        dag,
        {e.name: _restore_tally(e, scopes[e.name], rows) for e in entries},
        rows=rows,
        cell_sizes={e.name: e.cell_sizes for e in entries},
        focal_families={n: _restore_focal(n, entry, scopes[n], rows) for n, entry in focal.items()} if focal else None,
    ).with_one_type()


def _restore_tally(entry: FamilyCountsJson, scope: list[Variable], rows: float) -> Tally:
    *parents, child = scope
    owner = f"counts of {entry.name!r}"
    contexts = _whole_numbers(entry.contexts, (len(entry.contexts), len(parents)), owner)
    counts = _restore_numbers(entry.counts, (len(contexts), len(child)), owner)
    totals = _restore_numbers(entry.totals, (len(contexts),), owner)
    for largest, parent in zip(contexts.max(axis=0, initial=-1).tolist(), parents, strict=True):
        known = f"{parent.name!r}, which has {len(parent)} states"
        _require_sound(largest < len(parent), f"{owner}: state number {largest} of {known}")
    ascending = all(a < b for a, b in pairwise(contexts.tolist()))
    _require_sound(ascending, f"{owner}: contexts are not in ascending order, each once")
    near = 0.0 if totals.dtype.kind == "i" else _ROUNDING
    fits = (totals <= rows * (1 + near)).all() and bool(rows) == bool(len(totals))
    fits = fits and bool(parents or not rows or abs(totals[0] - rows) <= near * rows)
    _require_sound(fits, f"{owner}: contexts of {totals[:3].tolist()} rows of {rows} in all")
    counted = (counts.max(axis=1, initial=0) <= totals * (1 + near)).all() and totals.all() and counts.any(axis=1).all()
    _require_sound(counted, f"{owner}: a state is counted more often than its context, or a context never")
    return Tally(contexts.astype(np.int32), counts, totals)


def _restore_focal(name: str, entry: FocalJson, scope: list[Variable], rows: float) -> Focal:
    owner = f"focal counts of {name!r}"
    counts = _restore_numbers(entry.counts, (len(entry.cells),), owner)
    near = 0.0 if counts.dtype.kind == "i" else _ROUNDING
    adds_up = counts.all() and abs(sum(counts.tolist()) - rows) <= near * rows
    _require_sound(adds_up, f"{owner}: counts that do not add up to {rows} rows")
    try:
        masks_of_rows = [bytes.fromhex(text) for text in entry.cells]
    except ValueError:
        masks_of_rows = []
    _require_sound(len(masks_of_rows) == len(counts), f"{owner}: cells that are not hexadecimal masks")
    widths = [-(-len(variable) // 8) for variable in scope]
    width = sum(widths)
    ordered = all(len(row) == width for row in masks_of_rows) and all(a < b for a, b in pairwise(masks_of_rows))
    _require_sound(ordered, f"{owner}: cells are not {width} bytes each, in ascending order")
    octets = np.frombuffer(b"".join(masks_of_rows), dtype=np.uint8).reshape(-1, width).copy()
    for variable, masks in zip(scope, np.split(octets, np.cumsum(widths)[:-1], axis=1), strict=True):
        spare = len(variable) % 8
        in_range = not spare or int(masks[:, -1].max(initial=0)) >> spare == 0
        valid = masks.any(axis=1).all() and in_range
        _require_sound(valid, f"{owner}: a cell of {variable.name!r} is empty or has unknown states")
    return Focal(octets, counts)


def _restore_numbers(values: list[Any], shape: tuple[int, ...], owner: str) -> Weights:
    """Counts: whole numbers, or floats if some are written as such."""
    try:
        array = np.array(values).reshape(shape)
    except (ValueError, OverflowError):
        array = np.zeros(0, dtype=object)
    if array.size and array.dtype.kind == "f":
        _require_sound(((array >= 0.0) & (array < _LARGEST)).all(), f"{owner}: numbers below 0 or above 2**62")
        return array
    return _whole_numbers(values, shape, owner)


def _whole_numbers(values: list[Any], shape: tuple[int, ...], owner: str) -> Ints:
    try:
        array = np.array(values, dtype=np.int64).reshape(shape)
    except (ValueError, OverflowError):
        raise InputError(f"{owner}: not whole numbers of shape {shape}; the file is damaged") from None
    _require_sound(((array >= 0) & (array < _LARGEST)).all(), f"{owner}: numbers below 0 or above 2**62")
    return array


def _require_sound(sound: object, finding: str) -> None:
    if not sound:
        raise InputError(f"{finding}; the file is damaged")
