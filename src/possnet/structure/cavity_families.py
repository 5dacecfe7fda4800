"""Families under cavity posteriors: what a family gains by other parents while everything else stays as it is.

The *cavity* of a family is the posterior of its parents' hidden states given all cells but the child's own: the posterior
given all cells divided by m(d_c | s), normalised row by row. With all other masses fixed, the log-likelihood is a constant
plus sum over rows of ln sum_s q(s) m(d_c | s), for any parents whose joint cavity is q: its maximum over m (a small EM)
minus its current value is what a change of parents gains at least; EM over all masses can only add to it.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.em import run_m_step, run_squarem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from possnet.aliases import Floats, Ints
    from possnet.structure.traced_score import Family, TracedScore

_TOLERANCE: Final = 0.3  # nats
_MOST_STEPS: Final = 60
_TINY: Final = 1e-300


class CavityFamily:
    """A child, its parents, and the cavity posteriors of their hidden states and of other variables' given these.

    Parameters
    ----------
    component
        The families that share hidden states with this one, itself included; empty if it has no parents.
    """

    def __init__(self, score: TracedScore, family: Family, component: frozenset[Family]) -> None:
        self.child, self.parents = family
        self._score = score
        codes = score.rows.codes[self.child]
        order = np.argsort(codes, kind="stable")
        self._rows: Ints = order[
            codes[order] < score.observed_cells(self.child)
        ]  # by the child's cell; missing ones left out
        self._cells = codes[self._rows].astype(np.intp)
        weights = score.rows.weights
        self._weights = np.ones(len(self._rows)) if weights is None else weights[self._rows].astype(np.float64)
        self._present, self._starts = np.unique(self._cells, return_index=True)
        self.n_cells = score.observed_cells(self.child)
        self._given: dict[int, list[Floats]] = {}  # variable -> for every context its posterior (rows, states)
        if self.parents:
            self.masses = score.fit_component(component).masses[family]
            self._cavity = self._find_cavity(component)
        else:
            counts = np.bincount(self._cells, self._weights, minlength=self.n_cells)
            self.masses = (counts / max(counts.sum(), 1.0))[np.newaxis]
            self._cavity = np.ones((len(self._rows), 1))
        self.log_likelihood = self._evaluate_masses(self._cavity, self.masses)

    def _find_cavity(self, component: frozenset[Family]) -> Floats:
        """q(s) for every configuration s of the parents (rows, configurations)."""
        score = self._score
        shape = [score.states[p] for p in self.parents]
        logs = np.empty((len(self._rows), prod(shape)))
        for context, states in enumerate(product(*map(range, shape))):
            clamped = dict(zip(self.parents, states, strict=True))
            log_likelihoods, posteriors = score.hidden_posteriors(component, clamped)
            logs[:, context] = log_likelihoods[self._rows]
            for variable, posterior in posteriors.items():
                if variable not in self.parents:
                    self._given.setdefault(variable, []).append(posterior[self._rows])
        with np.errstate(divide="ignore"):
            logs -= np.log(np.maximum(self.masses[:, self._cells].T, _TINY))
        logs -= logs.max(axis=1, keepdims=True)
        cavity = np.exp(logs)
        cavity /= cavity.sum(axis=1, keepdims=True)
        return cavity

    @property
    def size(self) -> int:
        """Numbers in its posteriors."""
        return self._cavity.size + sum(len(given) * given[0].size for given in self._given.values())

    def covers(self, variable: int) -> bool:
        """Whether a variable's hidden state is in the component."""
        return variable in self._given

    def gain_by_parents(self, parents: tuple[int, ...], outside: dict[int, Floats]) -> tuple[float, Floats]:
        """What the log-likelihood gains at least by these parents, and the masses m(A | s) there (configurations, cells).

        At most one parent is new; ``outside`` has the posteriors (rows, states) of variables beyond the component.
        """
        states = self._score.states
        if not len(self._rows):
            return 0.0, np.full((prod(states[p] for p in parents), self.n_cells), 1.0 / self.n_cells)
        new = [p for p in parents if p not in self.parents]
        given = self._given.get(new[0]) if new else None
        if new and given is None:
            given = [outside[new[0]][self._rows]] * self._cavity.shape[1]
        joint = self._cavity.reshape(-1, *(states[p] for p in self.parents))
        start = self.masses.reshape(*(states[p] for p in self.parents), -1)
        axes = list(self.parents)
        if new and given is not None:
            widened = np.stack(given, axis=1) * self._cavity[:, :, np.newaxis]
            joint = widened.reshape(*joint.shape, states[new[0]])
            start = np.repeat(start[..., np.newaxis, :], states[new[0]], axis=-2)
            axes.append(new[0])
        dropped = tuple(k for k, p in enumerate(axes) if p not in parents)
        shares = joint.sum(axis=(0, *(k + 1 for k in range(len(axes)) if k not in dropped)), keepdims=True)[0]
        start = (start * (shares / max(shares.sum(), _TINY))[..., np.newaxis]).sum(axis=dropped)
        joint = joint.sum(axis=tuple(k + 1 for k in dropped))
        kept = [p for p in axes if p in parents]
        order = [kept.index(p) for p in parents]
        joint = joint.transpose(0, *(k + 1 for k in order)).reshape(len(joint), -1)
        start = start.transpose(*order, len(order)).reshape(joint.shape[1], -1)
        return self._fit_masses(np.ascontiguousarray(joint), start)

    def _fit_masses(self, cavity: Floats, start: Floats) -> tuple[float, Floats]:
        mixed = start + 1e-3 / self.n_cells
        point = {"m": mixed / mixed.sum(axis=1, keepdims=True)}
        present, starts, cells, weights = self._present, self._starts, self._cells, self._weights
        ordered = cavity.T

        def step(point: dict[str, Floats]) -> tuple[float, dict[str, Floats]]:
            masses = point["m"]
            likelihoods = np.maximum(np.einsum("es,se->e", cavity, masses[:, cells]), _TINY)
            expected = np.zeros_like(masses)
            sums = np.add.reduceat(ordered * (weights / likelihoods), starts, axis=1)
            expected[:, present] = masses[:, present] * sums
            return float(weights @ np.log(likelihoods)), run_m_step({"m": expected}, point)

        run = run_squarem(point, step, tolerance=_TOLERANCE, max_steps=_MOST_STEPS)
        return run.log_likelihood[-1] - self.log_likelihood, run.masses["m"]

    def _evaluate_masses(self, cavity: Floats, masses: Floats) -> float:
        likelihoods = np.einsum("es,se->e", cavity, masses[:, self._cells])
        return float(self._weights @ np.log(np.maximum(likelihoods, _TINY)))


def find_nearest(scopes: Iterable[set[int]], around: set[int], most: int) -> set[int]:
    """Hidden variables that are nearest to some others, these included, at most so many; neighbours share a scope.

    >>> sorted(find_nearest([{0, 1}, {1, 2}, {2, 3}], {0}, 3))
    [0, 1, 2]
    """
    joint = [scope for scope in scopes if len(scope) > 1]
    inside, ring = set(around), set(around)
    while ring and len(inside) < most:
        ring = set().union(*(scope for scope in joint if scope & ring)) - inside
        inside.update(sorted(ring)[: most - len(inside)])
    return inside
