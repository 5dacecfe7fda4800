"""Alpha-cut rows have a common state: every cell of a variable contains its core, the states of marginal degree 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.dataset import batches_of
from possnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from possnet.aliases import Bools
    from possnet.cuts.family_cells import FamilyCells
    from possnet.dataset import Batches, Dataset


def require_common_states(
    families: Mapping[str, FamilyCells], data: Dataset | Batches, wrong: float, owner: str
) -> dict[str, FamilyCells]:
    """The families without wrong rows; an `InputError` if a variable has no state that nearly all of its cells have."""
    if not any(family.child_rows.any() for family in families.values()):
        raise InputError(f"{owner}: the data has no rows with a known cell; expected at least one")
    cores = {}
    for name, family in families.items():
        common = ~(family.absence > wrong)  # a variable without any cell may have any state
        if not common.any():
            raise InputError(f"{owner}: {_describe_clash(family, data, wrong)}")
        cores[name] = common if family.child_rows.any() else ~common
    return {
        name: family.require_states(cores[name], [cores[parent.name] for parent in family.parents])
        for name, family in families.items()
    }


def _describe_clash(family: FamilyCells, data: Dataset | Batches, wrong: float) -> str:
    first, second = _find_clash(family.child.name, data)
    states = family.child.states
    shown = [
        f"row {row + 1} has {{{', '.join(s for s, there in zip(states, cell, strict=True) if there)}}}"
        for row, cell in (first, second)
    ]
    most = f"{100 * wrong:g} % of the cells" if wrong else "any cell"
    return (
        f"no state of {family.child.name!r} lies in every cell ({shown[0]}, {shown[1]}), so these are not alpha-cut rows; "
        f"expected a state that is not lacking in {most}. Rows of measuring devices (process 'traced') are for fit_em; a "
        "few wrong rows are left out with wrong=SHARE"
    )


def _find_clash(name: str, data: Dataset | Batches) -> tuple[tuple[int, Bools], tuple[int, Bools]]:
    """The first row whose cell has no state in common with all before it, and the first before it that it clashes with.

    If it shares a state with each of these, the other one is the last new cell before it.
    """
    earlier: list[tuple[int, Bools]] = []
    common: Bools | None = None
    for row, cell in _first_cells(name, data):
        narrowed = cell if common is None else common & cell
        if not narrowed.any():
            apart = [known for known in earlier if not (known[1] & cell).any()]
            return (apart or earlier[-1:])[0], (row, cell)
        earlier.append((row, cell))
        common = narrowed
    raise AssertionError(f"the cells of {name!r} have a state in common")


def _first_cells(name: str, data: Dataset | Batches) -> Iterator[tuple[int, Bools]]:
    """Every distinct cell of each batch with its first row, in the order of rows; unknown cells are left out."""
    start = 0
    for batch in batches_of(data):
        column = batch.column(name)
        weighted = np.ones(len(batch), dtype=np.bool_) if batch.weights is None else batch.weights > 0
        rows = np.flatnonzero(weighted)
        codes, first = np.unique(column.codes[rows], return_index=True)
        for place in np.argsort(first):
            if codes[place] != column.unknown:
                yield start + int(rows[first[place]]), column.cell_sets[codes[place]]
        start += len(batch)
