"""Variables: a name and its states, and the bins of those that were numbers."""

from possnet.variables.bins import Bins, number_text
from possnet.variables.cell_writing import CellWriting
from possnet.variables.iso_dates import DATE_PATTERN, DATE_UNITS, DAY, parse_date
from possnet.variables.variable import (
    Variable,
    check_text,
    for_every_variable,
    join_bins,
    list_differences,
    require_same_bins,
)

__all__ = [
    "DATE_PATTERN",
    "DATE_UNITS",
    "DAY",
    "Bins",
    "CellWriting",
    "Variable",
    "check_text",
    "for_every_variable",
    "join_bins",
    "list_differences",
    "number_text",
    "parse_date",
    "require_same_bins",
]
