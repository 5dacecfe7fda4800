"""Imprecise data: variables and one set-valued column each."""

from possnet.dataset.coded_column import CodedColumn, code_column
from possnet.dataset.dataset import Dataset
from possnet.dataset.row_weights import weights_of_column
from possnet.dataset.streams import Batches, align_rows, batches_of, cut_batches, require_rows, require_sets
from possnet.dataset.variable_discovery import infer_variables, require_columns, variables_of
from possnet.kernels.grouping import RowGroups, group_rows

__all__ = [
    "Batches",
    "CodedColumn",
    "Dataset",
    "RowGroups",
    "align_rows",
    "batches_of",
    "code_column",
    "cut_batches",
    "group_rows",
    "infer_variables",
    "require_columns",
    "require_rows",
    "require_sets",
    "variables_of",
    "weights_of_column",
]
