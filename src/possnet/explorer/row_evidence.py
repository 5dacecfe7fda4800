"""Rows of a table as evidence for the network on the page: what of them it knows, and what completes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from possnet.completion import complete
from possnet.dataset import Dataset
from possnet.errors import InputError, listing
from possnet.explanation import conflicts
from possnet.possibility import necessities

if TYPE_CHECKING:
    from possnet.network import Network

__all__ = ["list_rows", "read_row"]


def list_rows(data: Dataset, start: int, count: int) -> dict[str, Any]:
    """Some rows of a table as texts: a cell is its states, or None if it is unknown.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"rash": ["yes", {"yes", "no"}, None]})
    >>> list_rows(data, 1, 5)["rows"]
    [{'number': 1, 'cells': [['no', 'yes']]}, {'number': 2, 'cells': [None]}]
    """
    _require_row(data, start)
    names = [variable.name for variable in data.variables]
    stop = min(start + count, len(data))
    part = data[start:stop]
    unknown = {name: part.missing(name) for name in names}
    rows = [
        {
            "number": start + place,
            "cells": [None if unknown[name][place] else order_states(part, name, row[name]) for name in names],
        }
        for place, row in ((place, part.row(place)) for place in range(len(part)))
    ]
    return {"columns": names, "rows": rows, "count": len(data)}


def order_states(data: Dataset, name: str, states: frozenset[str]) -> list[str]:
    """The states of a cell in the order of their variable."""
    return [state for state in data.variable(name).states if state in states]


def _require_row(data: Dataset, number: int) -> None:
    if not 0 <= number < len(data):
        raise InputError(f"table: no row {number + 1}; expected 1 to {len(data)}")


def read_row(network: Network, data: Dataset, number: int) -> dict[str, Any]:
    """One row as evidence: what the network knows of it, what it would complete, and what contradicts itself.

    ``evidence`` has the cells that say something; ``left_out`` says what the network lacks; ``completed`` has, for every
    variable that the row leaves open, its most possible states and how certain they are; ``conflicts`` is None unless the
    network calls the row impossible.

    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> scope = [clinic.variable(name) for name in ("season", "fever", "flu")]
    >>> row = read_row(clinic, pn.Dataset.from_rows(scope, [("winter", {"mild", "high"}, None)]), 0)
    >>> row["evidence"], row["completed"]["fever"]["states"], round(row["completed"]["fever"]["certain"], 6)
    ({'season': ['winter'], 'fever': ['mild', 'high']}, ['mild'], 0.2)
    """
    _require_row(data, number)
    known = {variable.name: variable for variable in network.variables}
    evidence, left_out = {}, []
    part = data[number : number + 1]
    for name, states in part.row(0).items():
        if name not in known:
            left_out.append(f"{name}: no variable of the network")
            continue
        if part.missing(name)[0]:
            continue
        kept = [state for state in known[name].states if state in states]
        odd = order_states(part, name, states - set(kept))
        if odd:
            left_out.append(f"{name}: no state {listing(odd)} in the network")
        if kept and len(kept) < len(known[name]):
            evidence[name] = kept
    if len(left_out) == len(data.variables) and not evidence:
        raise InputError("table: the network has none of its columns; expected at least one that it has")
    completed, contradiction = _complete_row(network, evidence)
    return {
        "number": number,
        "count": len(data),
        "evidence": evidence,
        "left_out": left_out,
        "completed": completed,
        "conflicts": contradiction,
    }


def _complete_row(
    network: Network, evidence: dict[str, list[str]]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any] | None]:
    """What completes a row, or what contradicts itself in it."""
    sets = {name: set(states) for name, states in evidence.items()}
    cells = [sets.get(variable.name) for variable in network.variables]
    completion = complete(network, Dataset.from_rows(network.variables, [cells]))
    if len(completion.impossible):
        return {}, conflicts(network, sets).to_dict()
    completed = {}
    for name in completion.degrees:
        if len(completion.degrees[name].rows):
            degrees = completion.of(0, name).degrees
            states = [
                state for state, degree in zip(network.variable(name).states, degrees, strict=True) if degree == 1.0
            ]
            certain = float(necessities(degrees).max()) if len(states) == 1 else 0.0
            completed[name] = {"states": states, "certain": certain}
    return completed, None
