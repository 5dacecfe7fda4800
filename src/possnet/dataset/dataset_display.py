"""How a data set shows itself in a notebook: its first rows, sets marked, and the sets of every variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.drawing import draw_details, draw_table
from possnet.errors import count_noun, listing

if TYPE_CHECKING:
    from typing import Protocol

    from possnet.aliases import Weights
    from possnet.dataset.coded_column import CodedColumn
    from possnet.variables import Variable

    class Rows(Protocol):
        """What of a data set is shown."""

        @property
        def variables(self) -> tuple[Variable, ...]: ...  # noqa: D102
        @property
        def weights(self) -> Weights | None: ...  # noqa: D102
        def column(self, name: str) -> CodedColumn: ...  # noqa: D102
        def __len__(self) -> int: ...
        def __getitem__(self, rows: slice) -> Rows: ...


_ROWS: Final = 6
_COLUMNS: Final = 12
_SETS: Final = 6  # the most frequent cells of a variable that are listed


def display_dataset(data: Rows) -> str:
    """The mark-up that a notebook shows for a data set: rows, imprecise cells marked, and every variable's sets, folded.

    >>> import possnet as pn
    >>> page = display_dataset(pn.Dataset.from_table({"fever": ["mild", {"mild", "high"}, None]}))
    >>> "high | mild" in page, ">?<" in page, "a marked cell is a set of several states" in page
    (True, True, True)
    """
    names = [variable.name for variable in data.variables[:_COLUMNS]]
    first = data[:_ROWS]
    columns, marked = [[str(number) for number in range(len(first))]], set()
    for place, column in enumerate(map(first.column, names), 1):
        texts = _write_cells(column)
        columns.append([texts[code] for code in column.codes])
        marked |= {(row, place) for row, code in enumerate(column.codes) if _is_imprecise(column, int(code))}
    left = len(data.variables) - len(names)
    notes = ["a marked cell is a set of several states; ? is unknown"] if marked else []
    notes += [f"… {count_noun(len(data) - len(first), 'more row')}"] if len(data) > len(first) else []
    others = [variable.name for variable in data.variables[_COLUMNS:]]
    notes += [f"{count_noun(left, 'more variable')}: {listing(others, 5)}"] if left else []
    rows = list(zip(*columns, strict=True))
    table = draw_table(["row", *names], rows, caption=repr(data)[8:-1], note="; ".join(notes), marked=marked)
    return f"<div>{table}{draw_details('the sets of every variable', _draw_sets(data, names))}</div>"


def _draw_sets(data: Rows, names: list[str]) -> str:
    """The most frequent cells of every variable, and the shares of rows that have them."""
    rows: list[list[str]] = []
    marked: set[tuple[int, int]] = set()
    for column in map(data.column, names):
        texts = _write_cells(column)
        counts = np.bincount(column.codes, weights=data.weights, minlength=len(texts))
        order = sorted(np.flatnonzero(counts).tolist(), key=lambda k: (-counts[k], texts[k]))
        for number, code in enumerate(order[:_SETS]):
            if _is_imprecise(column, code):
                marked.add((len(rows), 1))
            share = f"{100 * counts[code] / counts.sum():.1f} %"
            rows.append([column.variable.name if number == 0 else "", texts[code], f"{counts[code]:,g}", share])
        if len(order) > _SETS:
            rest = sum(counts[code] for code in order[_SETS:])
            rows.append(["", f"… {len(order) - _SETS} more", f"{rest:,g}", f"{100 * rest / counts.sum():.1f} %"])
    return draw_table(["variable", "cell", "rows", "share"], rows, marked=marked)


def _is_imprecise(column: CodedColumn, code: int) -> bool:
    cell = column.cells[code]
    return cell is not None and len(column.cell_degrees[code]) > 1


def _write_cells(column: CodedColumn) -> list[str]:
    """Every distinct cell as a text; a state that is not fully possible has its degree."""
    return [
        "?"
        if cell is None
        else " | ".join(s if d == 1.0 else f"{s}: {d:.3g}" for s, d in column.cell_degrees[k].items())
        for k, cell in enumerate(column.cells)
    ]
