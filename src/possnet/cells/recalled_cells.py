"""Cells of a table that is read for variables made from another one, which remember how its cells were written.

A text is read as it was written there. What cannot be read so is read as usual, so that tables that possnet wrote (``a|b``)
are understood beside those that the variables were made from (``a,b``). A text that means one thing here and another there,
and has possnet's own signs, is read by these, unless they were the signs there too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from possnet.cells.cell_syntax import CellSyntax
    from possnet.cells.parsed_cell import ParsedCell
    from possnet.variables import Variable

_OWN_SIGNS = ("|", ";")


def recall_cell(parsed: ParsedCell, recalled: CellSyntax, variable: Variable) -> tuple[ParsedCell, bool]:
    """The cell as a variable remembers that such cells are written, or as it stands; and whether that was a choice.

    >>> import possnet as pn
    >>> from possnet.cells import CellSyntax
    >>> age = pn.Variable("age", ("17", "18", "19"), ordered=True)
    >>> for text in ("17,19", "17|19"):
    ...     cell, chosen = recall_cell(CellSyntax().parse(text), CellSyntax(reading="range"), age)
    ...     cell.resolve_states(age)[0], chosen
    (('17', '18', '19'), False)
    (('17', '19'), True)
    """
    if not parsed.text:
        return parsed, False
    as_there = recalled.parse(parsed.text)
    if not _resolves(as_there, variable):
        return parsed, False
    if not has_own_signs(parsed.text) or not _resolves(parsed, variable):
        return as_there, False
    differs = as_there.resolve_states(variable)[0] != parsed.resolve_states(variable)[0]
    return (as_there if recalled.separator in _OWN_SIGNS else parsed), differs


def spell_recalled(text: str, recalled: CellSyntax) -> str:
    """The text of a reading as a variable remembers that such texts are written; possnet's own signs stand."""
    return text if has_own_signs(text) and recalled.separator not in _OWN_SIGNS else recalled.spell_reading(text)


def has_own_signs(text: str) -> bool:
    """Whether a text has signs that possnet itself writes between states."""
    return any(sign in text for sign in _OWN_SIGNS)


def _resolves(parsed: ParsedCell, variable: Variable) -> bool:
    if not parsed.resolve_states(variable)[1]:
        return True
    degrees = parsed.resolve_degrees(variable)
    return degrees is not None and not degrees[1]
