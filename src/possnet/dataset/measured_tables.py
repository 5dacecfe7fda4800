"""Columns of numbers in tables of other libraries, as cells of bins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from possnet.cells import recall_cell, spell_recalled
from possnet.errors import InputError, describe_value
from possnet.measurements import Binning, measured_cells, measured_column, parse_measurements, read_measurements

if TYPE_CHECKING:
    from possnet.arrow import Cell, Finding, RawColumn
    from possnet.cells import CellOptions
    from possnet.variables import Variable


def check_binnings(binnings: object, known: Mapping[str, Variable]) -> dict[str, Binning]:
    """Binnings of columns of a table; those without edges take the edges of a variable that remembers its own."""
    if not isinstance(binnings, Mapping | None):
        raise InputError(f"binnings {describe_value(binnings)}; expected a mapping from names of columns to Binnings")
    checked: dict[str, Binning] = {}
    for name, binning in (binnings or {}).items():
        if not isinstance(binning, Binning) or name == "*":
            shown = "'*'" if name == "*" else f"of {name!r}: {describe_value(binning)}"
            raise InputError(
                f"binning {shown}; expected names of columns, each with a Binning such as Binning([36, 37.5], error=0.2)"
            )
        if isinstance(binning.error, str) or binning.target is not None:
            raise InputError(
                f"binning of {name!r} names another column; expected numbers. Bin it first: possnet.bin_measurements("
                f"table[{name!r}], error=..., target=...), as a column of a mapping"
            )
        variable = known.get(name)
        if variable is not None and variable.bins is not None and isinstance(binning.edges, str):
            checked[name] = replace(Binning.from_variable(variable), error=binning.error, relative=binning.relative)
        else:
            checked[name] = binning
    return checked


def bin_values(name: str, binning: Binning, options: CellOptions, values: Any) -> RawColumn:
    """Column of numbers or readings, binned; edges that are not given are computed from it."""
    if hasattr(values, "to_bitmaps"):
        raise InputError(f"binning of {name!r}: cells that are states already; expected numbers to bin")
    if isinstance(values, list):
        unknown = set(options.unknown_words)
        known = [None if isinstance(value, str) and value.strip() in unknown else value for value in values]
        readings = parse_measurements(known, f"column {name!r}")
    else:
        spell = options.column_syntax(name).spell_reading
        readings = read_measurements(name, values, options.unknown_words, spell)
    settled = binning.settle_edges(readings.middles(), f"column {name!r}", date_unit=readings.date_unit)
    return settled.bin_intervals(readings, name=name)


def read_numbers(variable: Variable, options: CellOptions, values: Any) -> RawColumn | None:
    """Column of a variable with bins: of Arrow's numbers and texts, or of Python cells; None for anything else."""
    if isinstance(values, list):
        return measured_cells(variable.name, values, variable)
    if hasattr(values, "to_bitmaps"):
        return None

    asked, recalled = options.column_syntax(variable.name), options.recall_syntax(variable)
    syntax = recalled or asked

    def resolve_text(text: str, variable: Variable) -> tuple[Cell, Finding]:
        parsed = asked.parse(text)
        return (recall_cell(parsed, recalled, variable)[0] if recalled else parsed).resolve_states(variable)

    return measured_column(
        variable.name,
        Binning.from_variable(variable),
        values,
        resolve=resolve_text,
        known=True,
        unknown_words=syntax.unknown_words,
        spell=partial(spell_recalled, recalled=recalled) if recalled else syntax.spell_reading,
    )
