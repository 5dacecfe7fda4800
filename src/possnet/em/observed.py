"""The data of EM: for every variable its distinct cells, and distinct rows as numbers of cells.

Cells are numbered per variable in the order of their masks; an unknown cell that counts as missing has the number after the
last. Rows are kept once, with their weights added, and only over the columns that are asked for: parts of the model that
do not meet have their own distinct rows, which are far fewer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from possnet.counting import nodes_in
from possnet.dataset import batches_of
from possnet.kernels import bitmaps, tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools, Codes, Ints
    from possnet.dataset import Batches, Dataset
    from possnet.graph import Dag
    from possnet.variables import Variable


Unknown: TypeAlias = Literal["missing", "focal"]

_PIECE: Final = 1 << 16


class Observed:
    """Cells that occur, how often, and distinct rows on demand."""

    def __init__(self, dag: Dag, data: Dataset | Batches, unknown: Unknown) -> None:
        self.variables: dict[str, Variable] = nodes_in(dag, data, "fit_em")
        self.dag, self._data, self._missing = dag, data, unknown == "missing"
        self.rows = 0
        weights: dict[str, dict[int, int]] = {name: {} for name in self.variables}
        for batch in _pieces(data):
            self.rows += batch.total
            for name in self.variables:
                _, masks, amounts = cells_in(batch, name, missing=self._missing)
                for mask, weight in zip(masks, amounts.tolist(), strict=True):
                    if weight:
                        weights[name][mask] = weights[name].get(mask, 0) + weight
        self.missing: dict[str, int] = {name: found.pop(0, 0) for name, found in weights.items()}
        self.masks: dict[str, list[int]] = {name: sorted(found) for name, found in weights.items()}
        for name, masks in self.masks.items():
            if not masks:  # never observed: any state may be behind it
                masks += [1 << k for k in range(len(self.variables[name]))]
        self.weights: dict[str, Ints] = {
            name: np.array([weights[name].get(mask, 0) for mask in masks], dtype=np.int64)
            for name, masks in self.masks.items()
        }

    def add_whole_domains(self) -> None:
        """Let the whole domain be a cell of every variable, even where no row has it."""
        for name, variable in self.variables.items():
            whole = (1 << len(variable)) - 1
            if whole not in self.masks[name]:
                self.masks[name] = [*self.masks[name], whole]  # the largest mask of all
                self.weights[name] = np.append(self.weights[name], 0)

    def sets(self, name: str) -> Bools:
        """The distinct cells of a variable, shape (cells, states)."""
        return bitmaps.sets_of(self.masks[name], len(self.variables[name]))

    def distinct(self, parts: Sequence[Sequence[str]]) -> list[tuple[NDArray[np.int32], Ints]]:
        """For every list of columns its distinct rows (rows, columns), and their weights; in one pass over the data."""
        number = {
            name: {0: len(masks), **{mask: k for k, mask in enumerate(masks)}} for name, masks in self.masks.items()
        }
        needed = {name for part in parts for name in part}
        kept: list[list[tuple[NDArray[np.int32], Ints]]] = [[] for _ in parts]
        for batch in _pieces(self._data):
            ids = {}
            for name in needed:
                codes, masks, _ = cells_in(batch, name, missing=self._missing)
                table = np.array([number[name].get(mask, 0) for mask in masks] or [0], dtype=np.int64)
                ids[name] = np.take(table, codes)
            for part, found in zip(parts, kept, strict=True):
                found.append(self._grouped([ids[name] for name in part], part, batch.weights, len(batch)))
                while len(found) > 1 and len(found[-2][1]) <= 2 * len(
                    found[-1][1]
                ):  # like sizes: a row moves log n times
                    found[-2:] = [self._merged(found[-2:], part)]
        return [self._merged(found, part) for part, found in zip(parts, kept, strict=True)]

    def _grouped(
        self, columns: Sequence[Codes], part: Sequence[str], weights: Ints | None, rows: int
    ) -> tuple[NDArray[np.int32], Ints]:
        codes, found = tally.group(columns, [len(self.masks[name]) + 1 for name in part], rows)
        amounts = tally.weigh(codes, weights, len(found))
        return found[amounts > 0], amounts[amounts > 0]

    def _merged(
        self, found: list[tuple[NDArray[np.int32], Ints]], part: Sequence[str]
    ) -> tuple[NDArray[np.int32], Ints]:
        if len(found) == 1:
            return found[0]
        if not found:
            return np.zeros((0, len(part)), dtype=np.int32), np.zeros(0, dtype=np.int64)
        rows = np.concatenate([ids for ids, _ in found])
        return self._grouped(list(rows.T), part, np.concatenate([weights for _, weights in found]), len(rows))


def cells_in(batch: Dataset, name: str, *, missing: bool) -> tuple[Codes, list[int], Ints]:
    """Number of every row's cell, the cells as masks, and how often each stands.

    A cell that was given as unknown is the whole domain or, if such count as ``missing``, the mask 0.

    >>> import possnet as pn
    >>> cells_in(pn.Dataset.from_table({"a": ["x", None, {"x", "y"}, "x"]}), "a", missing=True)
    (array([0, 2, 1, 0]), [1, 3, 0], array([2, 1, 1]))
    """
    words, rows = batch.bitmaps(name), len(batch)
    absent = batch.missing(name) if missing else np.zeros(0, dtype=np.bool_)
    counts = bitmaps.count(words)
    codes: Codes
    if int(counts.sum()) == rows and not absent.any():  # precise
        codes, masks = tally.precise_codes(words, rows), [1 << k for k in range(len(words))]
        if batch.weights is None:
            return codes, masks, counts
    else:
        codes, sets = bitmaps.decode(np.vstack([words, bitmaps.pack(absent)]) if absent.any() else words, rows)
        masks = [0 if mask >> len(words) else mask for mask in map(bitmaps.mask_of, sets)]
    return codes, masks, tally.weigh(codes, batch.weights, len(masks))


def _pieces(data: Dataset | Batches) -> Iterator[Dataset]:
    """The rows in pieces whose codes stay in the caches."""
    for batch in batches_of(data):
        for start in range(0, len(batch), _PIECE):
            yield batch[start : start + _PIECE] if len(batch) > _PIECE else batch
