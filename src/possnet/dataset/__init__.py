"""Imprecise data: variables and one set-valued column each."""

from possnet.dataset.domains import require_columns, seen_variables, variables_of
from possnet.dataset.streams import Batches, batches_of, require_rows
from possnet.dataset.values import Dataset
from possnet.dataset.weights import weights_of_column

__all__ = [
    "Batches",
    "Dataset",
    "batches_of",
    "require_columns",
    "require_rows",
    "seen_variables",
    "variables_of",
    "weights_of_column",
]
