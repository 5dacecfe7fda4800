"""How a set-valued cell is written: one grammar for files, tables of other libraries, and the command line."""

from possnet.cells.cell_options import CellOptions, describe_syntaxes
from possnet.cells.cell_syntax import CellReading, CellSyntax, check_words
from possnet.cells.disguised_sets import describe_disguise, looks_like_ranges
from possnet.cells.parsed_cell import CellPart, ParsedCell
from possnet.cells.recalled_cells import recall_cell, spell_recalled
from possnet.cells.written_column import WrittenColumn, name_option
from possnet.cells.written_degrees import describe_degrees

__all__ = [
    "CellOptions",
    "CellPart",
    "CellReading",
    "CellSyntax",
    "ParsedCell",
    "WrittenColumn",
    "check_words",
    "describe_degrees",
    "describe_disguise",
    "describe_syntaxes",
    "looks_like_ranges",
    "name_option",
    "recall_cell",
    "spell_recalled",
]
