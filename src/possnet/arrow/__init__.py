"""Tables of other libraries to plain columns and back; the door to pyarrow, which is loaded on first use."""

from possnet.arrow.arrow_tables import (
    columns_of_table,
    first_line,
    list_array,
    python_column,
    require_distinct,
    table_of_arrays,
    table_of_columns,
)
from possnet.arrow.raw_columns import (
    Cell,
    DomainHints,
    DoubtfulText,
    Finding,
    ListColumn,
    MaskColumn,
    PackedColumn,
    ProblemReport,
    RawColumn,
    TextColumn,
    describe_misfit,
)
from possnet.arrow.scalar_values import scalar_values

__all__ = [
    "Cell",
    "DomainHints",
    "DoubtfulText",
    "Finding",
    "ListColumn",
    "MaskColumn",
    "PackedColumn",
    "ProblemReport",
    "RawColumn",
    "TextColumn",
    "columns_of_table",
    "describe_misfit",
    "first_line",
    "list_array",
    "python_column",
    "require_distinct",
    "scalar_values",
    "table_of_arrays",
    "table_of_columns",
]
