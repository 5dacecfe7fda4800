"""Folds: every row is left out once, and rows of one group never part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import InputError, count_noun, require_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from possnet.aliases import Ints
    from possnet.dataset import Dataset


def split_folds(groups: Ints, folds: int, seed: int) -> list[Ints]:
    """Row numbers of every fold, ascending; ``groups`` says which group each row belongs to.

    Groups are drawn in random order, and the largest first, each goes to the fold that has the fewest rows: folds are as
    even as the groups allow.

    >>> [len(fold) for fold in split_folds(np.array([0, 0, 0, 1, 1, 2]), 2, seed=0)]
    [3, 3]
    """
    require_whole(folds, 2, "check: folds")
    sizes = np.bincount(groups)
    present = np.flatnonzero(sizes)
    if len(present) < folds:
        what = count_noun(len(present), "row" if len(present) == len(groups) else "group")
        raise InputError(f"check: {what} for {folds} folds; expected at least as many, or fewer folds")
    order = np.random.default_rng(seed).permutation(present)
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of_group = np.zeros(len(sizes), dtype=np.int64)
    if sizes.max() == 1:
        fold_of_group[order] = np.arange(len(order)) % folds
    else:
        loads = [0] * folds
        for group in order.tolist():
            lightest = loads.index(min(loads))
            fold_of_group[group] = lightest
            loads[lightest] += int(sizes[group])
    folds_of_rows = fold_of_group[groups]
    return [np.flatnonzero(folds_of_rows == k) for k in range(folds)]


def number_groups(data: Dataset, groups: str | Sequence[object] | ArrayLike | None) -> Ints:
    """The group of every row as a number: each row its own, the cells of a column, or given labels.

    >>> import possnet as pn
    >>> number_groups(pn.Dataset.from_table({"who": ["b", "a", "b"]}), "who").tolist()
    [1, 0, 1]
    """
    if groups is None:
        return np.arange(len(data))
    if isinstance(groups, str):
        data.variable(groups)
        column = data.column(groups)
        absent = np.flatnonzero(column.unknown_cells[column.codes])
        if len(absent):
            raise InputError(
                f"check: row {absent[0] + 1} has no group, its cell of {groups!r} is unknown; expected one"
            )
        return column.codes.astype(np.int64)
    labels = np.asarray(groups, dtype=object)
    if labels.shape != (len(data),):
        raise InputError(f"check: groups of shape {labels.shape} for {len(data)} rows; expected one label for each row")
    listed = labels.tolist()
    if None in listed:
        raise InputError(f"check: row {listed.index(None) + 1} has no group; expected a label for each row")
    try:
        places = {label: number for number, label in enumerate(dict.fromkeys(listed))}
    except TypeError:
        raise InputError("check: groups with labels that have no hash; expected texts or numbers") from None
    return np.array([places[label] for label in listed], dtype=np.int64)
