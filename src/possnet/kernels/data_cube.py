"""Sums over all sets of variables at once, from a table of counts of all of them: the data cube.

A cell of the data cube (Gray et al. 1997) says how many rows have given values of some of the variables, whatever the
others are: every axis of the table gets one more entry, for "whatever". So it holds the counts of all 2^n marginal tables,
in prod (K + 1) cells, and a sum over each of them takes one product with a small matrix for every axis.

J. Gray, S. Chaudhuri, A. Bosworth, et al.: Data cube: a relational aggregation operator generalizing group-by, cross-tab,
and sub-totals. Data Mining and Knowledge Discovery 1, 1997.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Floats


def marginal_counts(table: Floats, sizes: Sequence[int]) -> Floats:
    """The data cube of a table of counts, flat; the last entry of every axis is the sum of the others.

    >>> marginal_counts(np.array([1.0, 2.0, 3.0, 4.0]), (2, 2)).reshape(3, 3).tolist()
    [[1.0, 2.0, 3.0], [3.0, 4.0, 7.0], [4.0, 6.0, 10.0]]
    """
    cube = table
    for size in sizes:  # the first axis becomes the last: after all of them the order is as before
        cube = cube.reshape(size, -1).T @ _appends_sum(size)
    return cube.ravel()


def sum_by_subset(cube: Floats, sizes: Sequence[int]) -> Floats:
    """Sums of a data cube's terms over each marginal table, by the set of its variables.

    Sets are bits of a number: bit 0 is the last axis.

    >>> sum_by_subset(np.array([1.0, 2.0, 3.0, 3.0, 4.0, 7.0, 4.0, 6.0, 10.0]), (2, 2)).tolist()
    [10.0, 10.0, 10.0, 10.0]
    """
    sums = cube
    for size in sizes:
        sums = sums.reshape(size + 1, -1).T @ _leaves_or_sums(size)
    return sums.ravel()


def subset_products(factors: Sequence[float]) -> Floats:
    """The product of each set of factors; bit k of a set is factor k.

    >>> subset_products([2, 3]).tolist()
    [1.0, 2.0, 3.0, 6.0]
    """
    return _subset_products(tuple(factors))


@lru_cache(maxsize=16)
def _subset_products(factors: tuple[float, ...]) -> Floats:
    products = np.ones(1)
    for factor in factors:
        products = np.concatenate([products, products * factor])
    products.setflags(write=False)
    return products


@cache
def _appends_sum(size: int) -> Floats:
    matrix = np.eye(size, size + 1)
    matrix[:, size] = 1.0
    matrix.setflags(write=False)
    return matrix


@cache
def _leaves_or_sums(size: int) -> Floats:
    """To the entry that stands for any value, and to the sum of the others."""
    matrix = np.zeros((size + 1, 2))
    matrix[size, 0] = 1.0
    matrix[:size, 1] = 1.0
    matrix.setflags(write=False)
    return matrix
