"""Variables: a name and its states, and the bins of those that were numbers."""

from possnet.variables.bins import Bins, number_text
from possnet.variables.variable import (
    Variable,
    check_text,
    for_every_variable,
    join_bins,
    list_differences,
    require_same_bins,
)

__all__ = [
    "Bins",
    "Variable",
    "check_text",
    "for_every_variable",
    "join_bins",
    "list_differences",
    "number_text",
    "require_same_bins",
]
