"""Counting a data set or a stream, family by family, block by block."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.counting.counts import Counts, Focal, merge_focal, refuse_rows
from possnet.counting.kernel_choice import Kernel, estimates
from possnet.counting.row_blocks import BLOCK, FOCAL_BLOCK, Block, blocks_of
from possnet.dataset import Dataset, batches_of, group_rows, require_rows
from possnet.errors import InputError, TooLarge, among
from possnet.graph import require_structure
from possnet.kernels import bitmaps, tally
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from possnet.aliases import Progress
    from possnet.dataset import Batches
    from possnet.graph import Dag
    from possnet.kernels.tally import Tally
    from possnet.variables import Variable


_MERGE_AT = 16
_SURELY_FITS = 1 << 26


def count(
    dag: Dag,
    data: Dataset | Batches,
    *,
    focal: bool = False,
    progress: Progress | None = None,
) -> Counts:
    """Counts N_ijk and N_ij of every family of a DAG, exactly; of a data set, or of a stream in constant memory.

    Unknown cells count as the whole domain. Rows count with their weights. Columns that the DAG does not name are left
    out.

    Parameters
    ----------
    focal
        Count the distinct combinations of cells of every family too; `random_set_log_likelihood`, `fit_random_sets` and
        ``fit(..., method="transform")`` need them.
    progress
        Called with the rows counted and the rows in all (0 if unknown).

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"fever": ["mild", {"mild", "high"}, "high"], "rash": ["no", {"no", "yes"}, "yes"]})
    >>> counts = count(pn.Dag({"fever": (), "rash": ("fever",)}), data)
    >>> counts["fever"], counts["rash"]
    (array([2, 2]), array([[1, 2], [2, 1]]))
    """
    variables = nodes_in(dag, data, "count")
    names = list(variables)
    parts: dict[str, list[Tally]] = {name: [] for name in names}
    focal_parts: dict[str, list[Focal]] = {name: [] for name in names}
    sizes = {name: len(variable) for name, variable in variables.items()}
    above = {name: list(dag.parents(name)) for name in names}
    cell_sizes = dict.fromkeys(names, 0)
    total = len(data) if isinstance(data, Dataset) else data.rows or 0
    rows = done = 0
    scratch = tally.Scratch()
    for batch in batches_of(data):
        for block in blocks_of(batch, names, scratch, FOCAL_BLOCK if focal else BLOCK):
            rows += block.total
            refuse_rows(rows)
            for name in names:
                cell_sizes[name] += block.cell_size_sum(name)
                parts[name].append(tally_family(block, above[name], name))
                if focal:
                    focal_parts[name].append(_focal(block, [*above[name], name]))
            if len(parts[names[0]]) >= _MERGE_AT:
                _merge(parts, focal_parts, above, sizes)
            done += block.rows
            if progress is not None:
                progress(done, total)
    _merge(parts, focal_parts, above, sizes)
    empty = {name: _nothing(len(above[name]), sizes[name]) for name in names if not parts[name]}
    widths = {name: sum(-(-sizes[n] // 8) for n in (*above[name], name)) for name in empty}
    nothing = {name: Focal(np.zeros((0, widths[name]), dtype=np.uint8), np.zeros(0, dtype=np.int64)) for name in empty}
    return Counts(
        tuple(variables.values()),
        dag,
        {name: empty[name] if name in empty else parts[name][0] for name in names},
        rows=rows,
        cell_sizes=cell_sizes,
        focal={name: nothing[name] if name in empty else focal_parts[name][0] for name in names} if focal else None,
    )


def counts_of(
    dag: Dag,
    data: Dataset | Batches | Counts,
    owner: str,
    *,
    focal: bool = False,
    progress: Progress | None = None,
) -> Counts:
    """Counts of the rows, or the counts as they are; an `InputError` if they were made for another structure.

    >>> import possnet as pn
    >>> counts = count(pn.Dag({"a": ()}), pn.Dataset.from_table({"a": ["x"]}))
    >>> counts_of(pn.Dag({"a": (), "b": ()}), counts, "fit")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: fit: the counts are of another structure; expected counts made with the same dag
    """
    require_structure(dag, owner)
    if not isinstance(data, Counts):
        return count(dag, data, focal=focal, progress=progress)
    if data.dag != dag:
        raise InputError(f"{owner}: the counts are of another structure; expected counts made with the same dag")
    return data


def _merge(
    parts: dict[str, list[Tally]],
    focal_parts: dict[str, list[Focal]],
    above: dict[str, list[str]],
    sizes: dict[str, int],
) -> None:
    for name, listed in parts.items():
        if len(listed) > 1:
            parts[name] = [tally.merge_tallies(listed, [sizes[parent] for parent in above[name]])]
        if len(focal_parts[name]) > 1:
            focal_parts[name] = [merge_focal(focal_parts[name])]


def _nothing(parents: int, states: int) -> Tally:
    none = np.zeros(0, dtype=np.int64)
    return tally.Tally(np.zeros((0, parents), dtype=np.int32), none.reshape(0, states), none)


def nodes_in(dag: Dag, data: Dataset | Batches, owner: str) -> dict[str, Variable]:
    """Variables of the nodes of a structure, as the data has them; an `InputError` if it lacks one.

    >>> import possnet as pn
    >>> nodes_in(pn.Dag({"b": ()}), pn.Dataset.from_table({"a": ["x"], "b": ["y"]}), "count")
    {'b': Variable('b', ('y',))}
    """
    require_structure(dag, owner)
    require_rows(data, owner)
    found = {variable.name: variable for variable in data.variables}
    for node in dag.nodes:
        if node not in found:
            raise InputError(f"{owner}: the structure names {node!r}, which the data lacks{among(node, found)}")
    return {node: found[node] for node in dag.nodes}


def tally_family(block: Block, parents: list[str], child: str, kernel: Kernel | None = None) -> Tally:
    """Counts of one family in one block, by the kernel that is named, or else by the cheapest that fits.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}], "b": ["u", "v"]})
    >>> block = Block(data, ["a", "b"], 0, 2)
    >>> all(np.array_equal(tally_family(block, ["a"], "b", k).counts, [[1, 1], [0, 1]]) for k in ("bitmaps", "cells"))
    True
    """
    if not parents and block.weights is None:  # what the block knows already
        nothing = np.zeros((1, 0), dtype=np.int32)
        return tally.Tally(nothing, block.state_counts(child)[np.newaxis].copy(), np.array([block.rows]))
    if kernel is None:
        prices = estimates(block, parents, child)
        *others, dearest = sorted(prices, key=prices.__getitem__)
        for other in others:
            with suppress(TooLarge):
                return tally_family(block, parents, child, other)
        kernel = dearest
    sizes = [len(block.words(parent)) for parent in parents]
    states = len(block.words(child))
    if kernel == "codes":
        codes = [block.codes(parent) for parent in parents]
        refuse = partial(_refuse, child, each=8)
        counted = tally.by_codes(codes, sizes, block.codes(child), states, block.weights, refuse)
    elif kernel == "bitmaps":
        _refuse(child, prod(sizes), 8 * (states + 1))
        words = [block.words(parent) for parent in parents]
        precise = block.is_precise(child)
        if precise and len(words) == 1 and block.weights is None and block.is_precise(parents[0]):
            known = block.state_counts(parents[0]), block.state_counts(child)
            counted = tally.by_difference(words[0], block.words(child), *known, block.scratch)
        else:
            counted = tally.by_bitmaps(
                words, block.words(child), block.rows, block.digits, precise=precise, scratch=block.scratch
            )
    else:
        columns = [block.cells(name) for name in (*parents, child)]
        groups = group_rows([c for c, _ in columns], [len(cells) for _, cells in columns], block.rows)
        refuse = partial(_refuse, child, each=16 * len(columns) + 64)
        counted = tally.by_cells(
            groups.combinations, groups.counts(block.weights), [cells for _, cells in columns], refuse
        )
    if block.weights is not None and not counted.totals.all():  # contexts that only rows of weight 0 have
        kept = counted.totals > 0
        counted = tally.Tally(counted.contexts[kept], counted.counts[kept], counted.totals[kept])
    return counted


def _refuse(child: str, entries: int, each: int) -> None:
    if entries * each > _SURELY_FITS:
        refuse_over(
            entries * each,
            f"counting {child!r}: the parents' cells hold {entries:,} configurations, which",
            "use fewer parents or states, or more precise rows",
        )


def _focal(block: Block, names: list[str]) -> Focal:
    columns = [block.cells(name) for name in names]
    groups = group_rows([c for c, _ in columns], [len(cells) for _, cells in columns], block.rows)
    counts = groups.counts(block.weights)
    packed = [
        np.packbits(cells, axis=1, bitorder="little")[numbers]
        for (_, cells), numbers in zip(columns, groups.combinations.T, strict=True)
    ]
    order, octets = bitmaps.distinct_rows(np.hstack(packed))
    sorted_counts = np.zeros(len(octets), dtype=np.int64)
    sorted_counts[order] = counts
    kept = sorted_counts > 0
    return Focal(octets[kept], sorted_counts[kept])
