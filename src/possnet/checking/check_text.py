"""Checked cells in words and tables: one line for all, and every variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from possnet.errors import count_noun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.checking.cell_check import CellCheck

_SHOWN: Final = 60
_CUT_NOTE: Final = (
    "how often the cut holds the truth, and (its mean number of states); calibrated degrees keep the promise"
)
_CLAIM_NOTE: Final = "how often a state of that necessity is right, and (for which share of the cells one is claimed)"


class TableParts(NamedTuple):
    """A table: its head, its rows and a note below."""

    head: list[str]
    rows: list[list[str]]
    note: str


def state_verdict(cells: CellCheck, resolved: CellCheck | None) -> str:
    """The check in one line: how often it is right, against the baselines, and what its cuts keep."""
    parts = [_state_accuracy(cells, "hidden cell", "state"), _state_coverage(cells)]
    if resolved is not None:
        parts.insert(1, _state_accuracy(resolved, "ambiguous cell", "candidate"))
    if cells.impossible:
        parts.append(f"{count_noun(cells.impossible, 'cell')} in rows that it calls impossible")
    return "; ".join(parts)


def _state_accuracy(cells: CellCheck, noun: str, what: str) -> str:
    """How often it is right, and whether that is more than the most frequent state gives."""
    if cells.accuracy is None or cells.baseline is None or cells.random is None or cells.margin is None:
        return f"no {noun} is precise, so that accuracy is not known"
    gain = cells.accuracy - cells.baseline
    words = "better than" if gain > cells.margin else "worse than" if gain < -cells.margin else "no better than"
    return (
        f"right in {cells.accuracy:.3f} of {count_noun(cells.rows, noun)}, {words} the most frequent {what} "
        f"({cells.baseline:.3f}, random {cells.random:.3f})"
    )


def _state_coverage(cells: CellCheck) -> str:
    """What the cut nearest to 0.1 keeps of its promise."""
    level = min(cells.coverage, key=lambda level: abs(level - 0.1))
    coverage, size = cells.coverage[level], cells.size[level]
    verb = "meets" if not cells.rows else "holds"
    words = "as promised" if coverage >= 1.0 - level - 0.005 else "less than promised"
    states = "" if size is None else f" with {size:.1f} states"
    return f"the cut at {level:g} {verb} the truth in {coverage:.3f}, {words} ({1 - level:g}){states}"


def list_tables(variables: Mapping[str, CellCheck], overall: CellCheck, what: str, *, claims: bool) -> list[TableParts]:
    """Tables of some cells: accuracy, cuts, and claims if wanted; ``what`` competes, states or candidates."""
    tables = [_accuracy_table(variables, overall, what), _cut_table(variables, overall)]
    return [*tables, *([_claim_table(variables, overall)] if claims else [])]


def _list_cells(variables: Mapping[str, CellCheck], overall: CellCheck) -> list[tuple[str, CellCheck]]:
    """Every variable, and all of them if there are several; a long list is cut short."""
    shown = list(variables.items())[:_SHOWN]
    return [*shown, *([("all", overall)] if len(variables) > 1 else [])]


def _accuracy_table(variables: Mapping[str, CellCheck], overall: CellCheck, what: str) -> TableParts:
    cells = _list_cells(variables, overall)
    columns: dict[str, list[str]] = {
        "variable": [name for name, _ in cells],
        "cells": [f"{c.rows:,}" for _, c in cells],
    }
    notes = [f"{len(variables) - _SHOWN} more variables"] if len(variables) > _SHOWN else []
    if overall.sets:
        columns["sets"] = [f"{c.sets:,}" for _, c in cells]
        notes.append("sets: cells of which only a set is known; a cut holds it if it meets it")
    columns["right"] = [_format_share(c.accuracy) for _, c in cells]
    columns["±"] = [_format_share(c.margin) for _, c in cells]
    columns[f"most frequent {what}"] = [_format_share(c.baseline) for _, c in cells]
    columns["random"] = [_format_share(c.random) for _, c in cells]
    if overall.inside is not None and overall.inside < 1.0:
        columns["inside"] = [_format_share(c.inside) for _, c in cells]
        columns["right where inside"] = [_format_share(c.accuracy_inside) for _, c in cells]
        notes.append(f"inside: the truth is among the {what}s that compete")
    return TableParts(list(columns), [list(row) for row in zip(*columns.values(), strict=True)], "; ".join(notes))


def _cut_table(variables: Mapping[str, CellCheck], overall: CellCheck) -> TableParts:
    levels = list(overall.coverage)
    rows = [["promised", *(f"{1 - level:.3f}" for level in levels)]]
    for name, cells in _list_cells(variables, overall):
        rows.append([name, *(_pair_text(cells.coverage[a], cells.size[a], "{:.1f}") for a in levels)])
    return TableParts(["cut at", *(f"{level:g}" for level in levels)], rows, _CUT_NOTE)


def _claim_table(variables: Mapping[str, CellCheck], overall: CellCheck) -> TableParts:
    claims = list(overall.right)
    rows = [
        [name, *(_pair_text(cells.right[n], cells.claimed[n], "{:.3f}") for n in claims)]
        for name, cells in _list_cells(variables, overall)
    ]
    return TableParts(["necessity", *(f">= {n:g}" for n in claims)], rows, _CLAIM_NOTE)


def _format_share(share: float | None) -> str:
    return "" if share is None else f"{share:.3f}"


def _pair_text(first: float | None, second: float | None, form: str) -> str:
    words = "-" if first is None else f"{first:.3f}"
    return words if second is None else f"{words} ({form.format(second)})"
