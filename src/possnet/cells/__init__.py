"""How a set-valued cell is written: one grammar for files, tables of other libraries, and the command line."""

from possnet.cells.cell_syntax import CellPart, CellSyntax, ParsedCell
from possnet.cells.written_column import WrittenColumn

__all__ = ["CellPart", "CellSyntax", "ParsedCell", "WrittenColumn"]
