"""Counting the families of a DAG in a data set or a stream, block by block."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.counting.counts import Counts, refuse_rows
from possnet.counting.cut_families import CutFamily
from possnet.counting.focal_counts import Focal, merge_focal
from possnet.counting.kernel_choice import Kernel, estimate_costs
from possnet.counting.row_blocks import BLOCK, FOCAL_BLOCK, RowBlock, split_blocks
from possnet.dataset import Dataset, batches_of, group_rows, require_rows
from possnet.doors import check_arguments
from possnet.errors import InputError, TooLarge, among
from possnet.graph import require_structure
from possnet.kernels import bitmaps, tally
from possnet.limits import refuse_over

if TYPE_CHECKING:
    from collections.abc import Callable

    from possnet.aliases import Progress, Words
    from possnet.dataset import Batches
    from possnet.graph import Dag
    from possnet.kernels.tally import Tally
    from possnet.variables import Variable


_MERGE_AT = 16  # blocks whose counts are kept before they are merged


@check_arguments
def count(
    dag: Dag,
    data: Dataset | Batches,
    *,
    focal: bool = False,
    progress: Progress | None = None,
) -> Counts:
    """Count N_ijk and N_ij of every family of a DAG: the sufficient statistics of `possnet.fit`.

    N_ij is the number of rows whose parents' cells contain the configuration j, N_ijk of those whose own cell contains the
    state k too. A stream is counted in constant memory. An unknown cell counts as the whole domain, a row with its weight;
    columns that are not nodes of the DAG are ignored. Counts are exact integers (int64), unless weights have fractions or
    cells carry degrees: then they are float64. A row with graded cells counts as its alpha-cuts (`Dataset.alpha_cuts`):
    for every configuration with the smallest of its degrees.

    Equation
    --------
    N_ij = ∑_r w_r [j ∈ d_r(pa_i)]
    N_ijk = ∑_r w_r [j ∈ d_r(pa_i), k ∈ d_r(X_i)]

    Parameters
    ----------
    focal
        Count the distinct combinations of cells of every family too; `random_set_log_likelihood`, `fit_random_sets` and
        ``fit(..., method="transform")`` need them.
    progress
        Called with the number of rows counted so far and of all rows (0 if unknown).

    Examples
    --------
    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"fever": ["mild", {"mild", "high"}, "high"], "rash": ["no", {"no", "yes"}, "yes"]})
    >>> counts = count(pn.Dag({"fever": (), "rash": ("fever",)}), data)
    >>> counts["fever"], counts["rash"]
    (array([2, 2]), array([[1, 2], [2, 1]]))
    """
    variables = nodes_in(dag, data, "count")
    families = [_FamilyCounter([variables[n] for n in (*dag.parents(name), name)], focal=focal) for name in variables]
    total = len(data) if isinstance(data, Dataset) else data.rows or 0
    rows: int | float = 0
    done = 0
    scratch = tally.Scratch()
    for batch in batches_of(data):
        for block in split_blocks(batch, list(variables), scratch, FOCAL_BLOCK if focal else BLOCK):
            rows += block.total
            refuse_rows(rows)
            for family in families:
                family.add_block(block)
            done += block.rows
            if progress is not None:
                progress(done, total)
    return Counts(
        tuple(variables.values()),
        dag,
        {family.child: family.merge_tallies() for family in families},
        rows=rows,
        cell_sizes={family.child: family.cell_sizes for family in families},
        focal_families={family.child: merge_focal(family.focal) for family in families} if focal else None,
    ).with_one_type()


class _FamilyCounter:
    """Counts of one family, added up block by block."""

    def __init__(self, scope: list[Variable], *, focal: bool) -> None:
        *self.parents, self.child = (variable.name for variable in scope)
        self.sizes = [len(variable) for variable in scope]
        self.cell_sizes: int | float = 0
        none = np.zeros(0, dtype=np.int64)
        contexts = np.zeros((0, len(self.parents)), dtype=np.int32)
        self.tallies = [tally.Tally(contexts, none.reshape(0, self.sizes[-1]), none)]
        octets = np.zeros((0, sum(-(-size // 8) for size in self.sizes)), dtype=np.uint8)
        self.focal = [Focal(octets, none)] if focal else []

    def add_block(self, block: RowBlock) -> None:
        self.cell_sizes += block.cell_size_sum(self.child)
        scope = [*self.parents, self.child]
        graded = block.graded_words(scope)
        if graded is not None:
            self._add_cuts(block, scope, graded)
        else:
            self.tallies.append(tally_family(block, self.parents, self.child))
            if self.focal:
                self.focal.append(_count_focal(block, scope))
        if len(self.tallies) > _MERGE_AT:
            self.tallies = [self.merge_tallies()]
            self.focal = [merge_focal(self.focal)] if self.focal else []

    def _add_cuts(self, block: RowBlock, scope: list[str], graded: Words) -> None:
        """Count rows with graded cells as their alpha-cuts, and the others as ever."""
        cuts, refuse = CutFamily(block, scope), _refuser(self.child, len(scope))
        sets = _tally_others(block, self.parents, self.child, graded)
        self.tallies.append(tally.merge_tallies([cuts.tally_cuts(refuse), sets], self.sizes[:-1]))
        if self.focal:
            others = block.with_weights(block.mask_weights(graded))
            self.focal += [cuts.count_focal(), _count_focal(others, scope)]

    def merge_tallies(self) -> Tally:
        return tally.merge_tallies(self.tallies, self.sizes[:-1])


def counts_of(
    dag: Dag,
    data: Dataset | Batches | Counts,
    owner: str,
    *,
    focal: bool = False,
    progress: Progress | None = None,
) -> Counts:
    """Counts of the rows, or given counts with parents in the order of the structure; an `InputError` for another one.

    >>> import possnet as pn
    >>> counts = count(pn.Dag({"a": ()}), pn.Dataset.from_table({"a": ["x"]}))
    >>> counts_of(pn.Dag({"a": (), "b": ()}), counts, "fit")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: fit: the counts are of another structure: 'b' only in the structure; expected counts made
    with the same dag
    """
    require_structure(dag, owner)
    if not isinstance(data, Counts):
        return count(dag, data, focal=focal, progress=progress)
    return data if data.dag == dag else data.with_order(data.variables, dag, owner)


def nodes_in(dag: Dag, data: Dataset | Batches, owner: str) -> dict[str, Variable]:
    """Variables of the nodes of a structure, as the data has them; an `InputError` if it lacks one.

    >>> import possnet as pn
    >>> nodes_in(pn.Dag({"b": ()}), pn.Dataset.from_table({"a": ["x"], "b": ["y"]}), "count")
    {'b': Variable('b', ('y',))}
    """
    require_structure(dag, owner)
    require_rows(data, owner)
    known = {variable.name: variable for variable in data.variables}
    for node in dag.nodes:
        if node not in known:
            raise InputError(f"{owner}: the structure names {node!r}, which the data lacks{among(node, known)}")
    return {node: known[node] for node in dag.nodes}


def tally_family(block: RowBlock, parents: list[str], child: str, kernel: Kernel | None = None) -> Tally:
    """Counts of one family in one block, by the kernel that is named, or else by the cheapest that fits.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}], "b": ["u", "v"]})
    >>> block = RowBlock(data, ["a", "b"], 0, 2)
    >>> all(np.array_equal(tally_family(block, ["a"], "b", k).counts, [[1, 1], [0, 1]]) for k in ("bitmaps", "cells"))
    True
    """
    if not parents and block.weights is None:  # the block has counted its states
        no_parents = np.zeros((1, 0), dtype=np.int32)
        return tally.Tally(no_parents, block.state_counts(child)[np.newaxis].copy(), np.array([block.rows]))
    if kernel is None:
        costs = estimate_costs(block, parents, child)
        *others, dearest = sorted(costs, key=costs.__getitem__)
        for other in others:
            with suppress(TooLarge):
                return tally_family(block, parents, child, other)
        kernel = dearest
    counted = _KERNELS[kernel](block, parents, child)
    if block.weights is not None and not counted.totals.all():  # contexts that only rows of weight 0 have
        kept = counted.totals > 0
        counted = tally.Tally(counted.contexts[kept], counted.counts[kept], counted.totals[kept])
    return counted


def _tally_others(block: RowBlock, parents: list[str], child: str, graded: Words) -> Tally:
    """Counts of a family in the rows of a block that are not marked."""
    if block.weights is None and not parents:
        no_parents, own = np.zeros((1, 0), dtype=np.int32), block.hide_rows(child, graded)
        totals = np.array([block.rows - int(bitmaps.count_bits(graded))])
        counted = tally.Tally(no_parents, own.state_counts(child)[np.newaxis].copy(), totals)
    elif block.is_whole and _prefers_bitmaps(block, parents, child):
        counted = _tally_bitmaps(block.hide_rows([*parents, child][0], graded), parents, child)
    else:
        counted = tally_family(block.with_weights(block.mask_weights(graded)), parents, child)
    kept = counted.totals > 0
    return tally.Tally(counted.contexts[kept], counted.counts[kept], counted.totals[kept])


def _prefers_bitmaps(block: RowBlock, parents: list[str], child: str) -> bool:
    costs = estimate_costs(block, parents, child)
    return bool(parents) and min(costs, key=costs.__getitem__) == "bitmaps"


def _refuser(child: str, width: int) -> Callable[[int], None]:
    return partial(_refuse_entries, child, each=16 * width + 64)


def _tally_codes(block: RowBlock, parents: list[str], child: str) -> Tally:
    codes = [block.state_codes(parent) for parent in parents]
    sizes = [len(block.words(parent)) for parent in parents]
    refuse = partial(_refuse_entries, child, each=8)
    return tally.by_codes(codes, sizes, block.state_codes(child), len(block.words(child)), block.weights, refuse)


def _tally_bitmaps(block: RowBlock, parents: list[str], child: str) -> Tally:
    above, own = [block.words(parent) for parent in parents], block.words(child)
    _refuse_entries(child, prod(len(words) for words in above), 8 * (len(own) + 1))
    precise = block.is_precise(child)
    if precise and len(above) == 1 and block.weights is None and block.is_precise(parents[0]):
        known = block.state_counts(parents[0]), block.state_counts(child)
        return tally.by_difference(above[0], own, *known, block.scratch)
    return tally.by_bitmaps(above, own, block.rows, block.weight_digits, precise=precise, scratch=block.scratch)


def _tally_cells(block: RowBlock, parents: list[str], child: str) -> Tally:
    codes, cells = zip(*(block.cell_codes(name) for name in (*parents, child)), strict=True)
    groups = group_rows(codes, [len(sets) for sets in cells], block.rows)
    return tally.by_cells(groups.combinations, groups.counts(block.weights), cells, _refuser(child, len(cells)))


_KERNELS = {"codes": _tally_codes, "bitmaps": _tally_bitmaps, "cells": _tally_cells}


def _refuse_entries(child: str, entries: int, each: int) -> None:
    refuse_over(
        entries * each,
        f"counting {child!r}: the parents' cells hold {entries:,} configurations, which",
        "use fewer parents or states, or more precise rows",
    )


def _count_focal(block: RowBlock, names: list[str]) -> Focal:
    codes, cells = zip(*map(block.cell_codes, names), strict=True)
    groups = group_rows(codes, [len(sets) for sets in cells], block.rows)
    packed = [
        np.packbits(sets, axis=1, bitorder="little")[numbers]
        for sets, numbers in zip(cells, groups.combinations.T, strict=True)
    ]
    return Focal(np.hstack(packed), groups.counts(block.weights))
