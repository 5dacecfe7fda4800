"""Priors of tables: imagined rows in every context, and smaller contexts where a context has no rows.

A prior of weight s adds s imagined rows to every context a of a variable,

- ``ignorance``: whose cell is the whole domain, N_ak + s and N_a + s (the initial count of 1 of [HLB], in every context);
- ``marginal``: whose cells are those of the variable itself, N_ak + s M_k and N_a + s, with the marginal
  M_k = sum_a N_ak / sum_a N_a. A state that no row shows stays at 0 in all contexts.

With the marginal prior a context without rows *backs off*: it takes the counts of the next smaller context that has rows.
The parent that tells least about the variable is dropped first, then the next, down to the marginal,

    N_a <- sum over the contexts b that agree with a in the parents that are left of N_b.

What a parent tells is the mutual information of its state and the variable's in N_ak, summed over the other parents.

Without it such a context is all 1 (nothing is known there), and a product over many children lets it win against every
context that was seen.

[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from possnet.errors import InputError, require_known, require_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats

PriorName: TypeAlias = Literal["marginal", "ignorance", "none"]
_WEIGHT: Final = 1.0  # of a prior that is asked for without one


class Prior(NamedTuple):
    """The kind of a prior (None for no prior), and its weight in rows a context.

    >>> Prior("marginal", 1.0).backs_off, Prior(None, 0.0).backs_off
    (True, False)
    """

    kind: Literal["marginal", "ignorance"] | None
    weight: float

    @property
    def backs_off(self) -> bool:
        """Whether contexts without rows take those of a smaller context."""
        return self.kind == "marginal"


NO_PRIOR: Final = Prior(None, 0.0)


def read_prior(prior: PriorName | None, pseudo: float | None, owner: str) -> Prior:
    """The prior that two options ask for: a kind without a weight has one row, a weight without a kind is ``marginal``.

    >>> read_prior("marginal", None, "fit"), read_prior(None, 2, "fit"), read_prior(None, None, "fit")
    (Prior(kind='marginal', weight=1.0), Prior(kind='marginal', weight=2.0), Prior(kind=None, weight=0.0))
    """
    if prior is not None:
        require_known(prior, get_args(PriorName), f"{owner}: prior")
    given = 0.0 if pseudo is None else require_number(pseudo, f"{owner}: pseudo", "a number >= 0", 0.0)
    if prior == "none" and given > 0.0:
        raise InputError(f"{owner}: pseudo {pseudo!r} with prior 'none'; expected one of them alone")
    if prior is None or prior == "none":
        return Prior("marginal", given) if given > 0.0 else NO_PRIOR
    return Prior(prior, _WEIGHT if pseudo is None else given)


def order_parents(counts: Floats) -> list[int]:
    """Parents by what they tell about the variable, the most telling first; those that tie in their order.

    >>> order_parents(np.array([[[3.0, 1.0], [1.0, 3.0]], [[3.0, 1.0], [1.0, 3.0]]]))
    [1, 0]
    """
    parents = range(counts.ndim - 1)
    told = []
    for parent in parents:
        pair = counts.sum(axis=tuple(k for k in parents if k != parent))
        apart = pair.sum(axis=1, keepdims=True) * pair.sum(axis=0) / max(pair.sum(), 1e-300)
        ratios = np.divide(pair, apart, out=np.ones_like(pair), where=(pair > 0.0) & (apart > 0.0))
        told.append(round(float((pair * np.log(ratios)).sum()) / max(float(pair.sum()), 1e-300), 9))
    return sorted(parents, key=lambda parent: -told[parent])


def back_off(counts: Floats, seen: Bools, order: list[int] | None = None) -> Floats:
    """Counts in which every context that was not seen has those of the next smaller one that was.

    Axes are the parents in order, then what is counted; ``seen`` has the parents' axes. Parents are dropped from the last
    to the first of an ``order``, by default that of `order_parents`. Where nothing was seen, all is 0.

    >>> counts = np.array([[[3.0, 1.0], [0.0, 2.0]], [[0.0, 0.0], [5.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])
    >>> back_off(counts, counts.any(axis=-1), [0, 1]).tolist()
    [[[3.0, 1.0], [0.0, 2.0]], [[5.0, 0.0], [5.0, 0.0]], [[8.0, 3.0], [8.0, 3.0]]]
    """
    known = np.where(seen[..., np.newaxis], counts, 0.0)
    filled, lacking = known.copy(), ~seen
    order = order_parents(known) if order is None else order
    for kept in reversed(range(seen.ndim)):
        if not lacking.any():
            break
        dropped = tuple(order[kept:])
        taken = lacking & seen.any(axis=dropped, keepdims=True)
        filled[taken] = np.broadcast_to(known.sum(axis=dropped, keepdims=True), counts.shape)[taken]
        lacking = lacking & ~taken
    return filled


class ContextCounts(NamedTuple):
    """Contexts (as states of the parents), what is counted of every state in them, and their rows."""

    contexts: NDArray[np.integer]
    counts: Floats
    totals: Floats

    def add_prior(self, prior: Prior, sizes: tuple[int, ...], whole: float = 1.0) -> ContextCounts:
        """Counts with imagined rows; all contexts are listed if those without rows back off.

        ``whole`` is what a row that holds every state counts for one of them.

        >>> counts = ContextCounts(np.array([[0]]), np.array([[3.0, 1.0]]), np.array([4.0]))
        >>> counts.add_prior(Prior("marginal", 2.0), (2,)).counts.tolist()
        [[4.5, 1.5], [4.5, 1.5]]
        """
        if prior.kind is None or not self.totals.sum() > 0.0:
            return self
        if prior.kind == "ignorance":
            return self._replace(counts=self.counts + prior.weight * whole, totals=self.totals + prior.weight)
        marginal = self.counts.sum(axis=0) / self.totals.sum()
        listed = self if len(self.totals) == prod(sizes) else self._back_off(sizes)
        return listed._replace(counts=listed.counts + prior.weight * marginal, totals=listed.totals + prior.weight)

    def _back_off(self, sizes: tuple[int, ...]) -> ContextCounts:
        """All contexts, those without rows with the counts and rows of a smaller context."""
        states = self.counts.shape[1]
        dense = np.zeros((*sizes, states + 1))  # the rows of a context as one more column
        dense[tuple(self.contexts.T)] = np.column_stack([self.counts, self.totals])
        order = order_parents(dense[..., :-1])
        filled = back_off(dense, dense[..., -1] > 0.0, order).reshape(-1, states + 1)
        every = np.stack(np.unravel_index(np.arange(prod(sizes)), sizes), axis=1)
        return ContextCounts(every, filled[:, :-1], filled[:, -1])
