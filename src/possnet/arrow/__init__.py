"""Tables of other libraries to plain columns and back; the door to pyarrow, which is loaded on first use."""

from possnet.arrow.columns import Cell, CodedColumn, Column, ListColumn, MaskColumn, PackedColumn, Report, Seen
from possnet.arrow.tables import (
    columns_of_table,
    first_line,
    list_array,
    python_column,
    require_distinct,
    table_of_arrays,
    table_of_columns,
)

__all__ = [
    "Cell",
    "CodedColumn",
    "Column",
    "ListColumn",
    "MaskColumn",
    "PackedColumn",
    "Report",
    "Seen",
    "columns_of_table",
    "first_line",
    "list_array",
    "python_column",
    "require_distinct",
    "table_of_arrays",
    "table_of_columns",
]
