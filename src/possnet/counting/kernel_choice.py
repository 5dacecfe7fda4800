"""Which kernel counts a family in a block of rows: the one with the least estimated time.

The constants are nanoseconds measured on one machine; only their ratios matter. ``benchmarks/learning.py`` compares the
choice with every kernel over rows, states, parents and imprecision.
"""

from __future__ import annotations

from math import log2, prod
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from possnet.counting.row_blocks import RowBlock

Kernel: TypeAlias = Literal["codes", "bitmaps", "cells"]

_SURELY_BITMAPS = 64  # a table this small is read off the bitmaps before any column could be decoded
_CALL = 1500.0  # one numpy call and what Python adds to it
_WORD = 0.9  # AND, population count and sum of 64 rows


def estimate_costs(block: RowBlock, parents: list[str], child: str) -> dict[Kernel, float]:
    """Nanoseconds that each kernel would take; kernels that cannot count these cells, or surely lose, are left out."""
    names = [*parents, child]
    sizes = [len(block.words(name)) for name in names]
    if block.weights is None and prod(sizes) <= _SURELY_BITMAPS:
        return {"bitmaps": 0.0}
    costs: dict[Kernel, float] = {"bitmaps": _bitmap_cost(block, sizes)} if block.is_whole else {}
    if all(block.is_precise(name) for name in names):
        costs["codes"] = _code_cost(block, sizes)
    else:
        costs["cells"] = _cell_cost(block, names, sizes)
    return costs


def _bitmap_cost(block: RowBlock, sizes: list[int]) -> float:
    *above, states = sizes
    length = -(-block.rows // 64)
    contexts = prod(above)
    digits = block.digit_count
    passes = sum(prod(above[:k]) for k in range(2, len(above) + 1)) + contexts * (states + 0.7) * digits
    calls = 12 + 6 * contexts / max(2**15 / (states * length), 1) * digits
    if states * length > 2**16:
        calls += 3 * contexts * states
    return passes * length * _WORD + contexts * states * 4.0 + calls * _CALL


def _code_cost(block: RowBlock, sizes: list[int]) -> float:
    table = prod(sizes)
    decoding = sum(0.05 * size + 0.25 * max(log2(size), 1.0) for size in sizes)
    if table <= max(2**12, 2 * block.rows):
        a_row = decoding + 0.8 * len(sizes) + 2.5
        return a_row * block.rows + 3.0 * table + (10 + 6 * len(sizes)) * _CALL
    steps = 1 + sum(log2(size) for size in sizes[:-1]) / 20.0
    return (decoding + 2.0 * len(sizes) + 8.0 * steps + 4.0) * block.rows + (30 + 6 * len(sizes)) * _CALL


def _cell_cost(block: RowBlock, names: list[str], sizes: list[int]) -> float:
    rows = block.rows
    decoding = sum(
        0.0 if block.is_coded(n) else 4.0 + 0.4 * s + 4.0 * (s // 8) for n, s in zip(names, sizes, strict=True)
    )
    n_cells = [min(2.0 ** min(size, 40) - 1.0, float(rows)) if not block.is_precise(n) else float(size)
             for n, size in zip(names, sizes, strict=True)]  # fmt: skip
    distinct = min(float(rows), prod(n_cells))
    combining = 2.0 * len(names) + 6.0 * (1 + sum(log2(max(size, 2.0)) for size in n_cells) / 20.0)
    entries, expanding = distinct, 0.0
    weighing = 1.0 if block.weights is None else 3.0
    for k, name in enumerate(names[:-1]):
        grown = entries * block.mean_size(name)
        expanding += grown * (10.0 + 3.0 * len(names)) * (2.0 if grown > 1e6 else 1.0) * weighing
        merged = prod(float(s) for s in sizes[: k + 1]) * prod(n_cells[k + 1 :])
        entries = min(grown, merged)
    contexts = min(entries, prod(float(s) for s in sizes[:-1]))
    expanding += min(
        contexts * n_cells[-1] * (4.0 + 0.1 * sizes[-1]), entries * (block.mean_size(names[-1]) + 1.0) * 15.0
    )
    return (decoding + combining) * rows + expanding + (60 + 40 * len(names)) * _CALL
