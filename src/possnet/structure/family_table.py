"""The scores of all families of a few variables, computed at once.

A search over few variables spends its time on calls, not on counting: thousands of families with a handful of numbers each.
The data cube of such rows is small (`possnet.kernels.data_cube`), and holds the counts of every set of variables: so all
n 2^(n-1) families are scored together, and a search only looks them up.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from possnet.structure.bit_sets import bits_of
from possnet.structure.hill_climbing import rounding_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Bools, Floats, Ints


class FamilyTable:
    """Scores of all families, as a search asks for them. Sets of parents are bits of a number.

    Parameters
    ----------
    scores
        Of every child (children, sets of parents); what stands at sets with the child in them is not read.
    penalties
        What the parameters of the same families cost, by which additions are ruled out as in `DecomposableScore`.

    Examples
    --------
    >>> table = FamilyTable(np.array([[-4.0, 0.0, -2.0, 0.0], [-4.0, -3.0, 0.0, 0.0]]), np.ones((2, 4)))
    >>> table.score_family(1, (0,)), table.score_additions(0, ())
    (-3.0, array([-inf,  -2.]))
    """

    def __init__(self, scores: Floats, penalties: Floats) -> None:
        self.size, self.scores = len(scores), scores
        wider, is_wider = _list_wider(self.size)
        added = scores.take(wider, axis=1)
        worthwhile = penalties.take(wider, axis=1) < -scores[:, :, np.newaxis]
        worthwhile &= is_wider
        added[~worthwhile] = -np.inf
        self.additions: Floats = added

    def has_alike(self) -> bool:
        """Whether two variables have the same score without parents, but for rounding, as copies of each other have."""
        alone = np.sort(self.scores[:, 0])
        return bool((alone[1:] - alone[:-1] <= rounding_of(float(alone[0]))).any())

    def prepare_families(self, families: Sequence[tuple[int, tuple[int, ...]]]) -> None:
        """All families are known."""

    def score_family(self, child: int, parents: tuple[int, ...]) -> float:
        """Score of a family."""
        return self.scores.item(child, bits_of(parents))

    def score_additions(self, child: int, parents: tuple[int, ...]) -> Floats:
        """Score of the family with each variable as one more parent; -inf if that is impossible or cannot be better."""
        additions: Floats = self.additions[child, bits_of(parents)]
        return additions


@cache
def _list_wider(size: int) -> tuple[Ints, Bools]:
    """Every set with each variable (sets, variables), and whether it is another set without the child (children, ...)."""
    sets, variables = np.arange(1 << size)[:, np.newaxis], 1 << np.arange(size)
    wider = sets | variables
    is_wider = (wider != sets) & ~np.eye(size, dtype=np.bool_)[:, np.newaxis]
    return wider, is_wider
