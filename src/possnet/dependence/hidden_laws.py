r"""The law of a variable's cell given the hidden true state of another one, for all ordered pairs at once.

In rows of the process ``traced`` the true state w_u behind a cell d_u is drawn uniformly from it, and what depends on u
depends on w_u. So if all that ties v to u passes through w_u, the law of v's cell is a *mixture*:

    P(d_v | d_u) = sum_s W(d_u, s) m(d_v | s),    W(A, s) = [s in A] / |A|.

`fit_hidden_laws` finds the masses m by EM from the table of pairs of cells. How far the mixture is from that table says
whether u can stand above v at all: 2 (L_table - L_mixture) is about chi-squared with (K_u - rank W) (K_v - 1) degrees of
freedom if it can, K being the numbers of distinct cells. The *hidden mutual information* of w_u and d_v falls along paths
(data processing), which that of the cells does not: children of an imprecise parent stay dependent given its cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.errors import InputError, among

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from possnet.aliases import Bools, Floats, Ints
    from possnet.dependence.cell_pairs import CellPairs
    from possnet.variables import Variable

_ENTRIES: Final = 1 << 16  # of tables that are fitted together: they stay in the cache
_TOLERANCE: Final = 0.02  # nats that EM leaves to gain, by Aitken's estimate
_MOST_CYCLES: Final = 150  # of three EM steps
_LONGEST: Final = 1e3  # step of the extrapolation, see `possnet.em.squarem`
_TINY: Final = 1e-300


@dataclass(frozen=True, slots=True)
class HiddenLaws:
    """What `fit_hidden_laws` found. Matrices are (parent, child); their diagonal means nothing.

    Attributes
    ----------
    variables, rows
        The variables, and the number of rows.
    gain
        How much better, in nats, the mixture explains the child's cells than no parent does.
    misfit
        How many standard errors the mixture's deviance lies above its expectation; 0 where the mixture can be anything.
    information
        Mutual information of the parent's hidden state and the child's cell, in nats.
    price
        What BIC asks for the edge: (ln N / 2) (r_u - 1) (r_v - 1).
    dependence
        How many standard errors the likelihood-ratio statistic of independent cells lies above its expectation; symmetric.
    """

    variables: tuple[Variable, ...]
    rows: int | float
    gain: Floats
    misfit: Floats
    information: Floats
    price: Floats
    dependence: Floats
    _pairs: CellPairs

    def law(self, parent: str, child: str) -> tuple[list[tuple[str, ...]], Floats]:
        """The cells of the child, most frequent first, and their masses given each state of the parent (states, cells)."""
        names = [variable.name for variable in self.variables]
        for name in (parent, child):
            if name not in names:
                raise InputError(f"hidden laws: no variable {name!r}{among(name, names)}")
        above, below = names.index(parent), names.index(child)
        table = self._pairs.table(above, below)
        shares = share_cells(self._pairs.cell_sets(above))
        _, masses = fit_mixtures(table[np.newaxis].astype(np.float64), shares[np.newaxis])
        states = self.variables[below].states
        cells = [
            tuple(s for s, inside in zip(states, row, strict=True) if inside) for row in self._pairs.cell_sets(below)
        ]
        order = np.argsort(-table[:, : len(cells)].sum(axis=0), kind="stable")
        return [cells[k] for k in order], masses[0][:, order]


def fit_hidden_laws(pairs: CellPairs, *, check: Callable[[], None] = lambda: None) -> HiddenLaws:
    """Fit the law of every variable's cell given every other one's hidden state.

    A pair that could not pay its price even by the saturated table of cells is not fitted: its gain is that upper bound,
    its misfit and information are 0. ``check`` is called often; it may raise an exception to stop.

    >>> import possnet as pn
    >>> x, y = pn.Variable("x", ("1", "2", "3")), pn.Variable("y", ("1", "2", "3"))
    >>> tables = {"x": [1, 0.9, 0.8], "y": [[1, 0.2, 0.1], [0.1, 1, 0.3], [0.2, 0.1, 1]]}
    >>> net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), tables)
    >>> laws = fit_hidden_laws(pn.dependence.count_cell_pairs(pn.sample(net, 5000, process="traced", rng=1)))
    >>> bool(laws.misfit[0, 1] < 3 < laws.misfit[1, 0])
    True
    """
    size = len(pairs.variables)
    gain, misfit, information, dependence = (np.zeros((size, size)) for _ in range(4))
    states = np.array([len(variable) for variable in pairs.variables], dtype=np.float64)
    price = np.log(max(pairs.rows, 2)) / 2.0 * np.outer(states - 1.0, states - 1.0)
    shares = [share_cells(pairs.cell_sets(k)) for k in range(size)]
    ranks = [int(np.linalg.matrix_rank(w)) if w.size else 0 for w in shares]
    fitted = []
    for above, below in ((u, v) for u in range(size) for v in range(u + 1, size)):
        check()
        table = pairs.table(above, below)
        sums = table.sum(axis=1), table.sum(axis=0)
        joint, total = _sum_n_log_n(table), _sum_n_log_n(table.sum())
        single = [_sum_n_log_n(counts) for counts in sums]
        freedom = (int(np.count_nonzero(sums[0])) - 1) * (int(np.count_nonzero(sums[1])) - 1)
        gained = joint - single[0] - single[1] + total  # by the saturated table, whichever is above
        gain[above, below] = gain[below, above] = gained
        dependence[above, below] = dependence[below, above] = _standardise_deviance(2.0 * gained, freedom)
        if gained > price[above, below]:
            fitted.append((above, below, joint - single[0], single[1] - total))
            fitted.append((below, above, joint - single[1], single[0] - total))
    fitted.sort()
    shapes = [pairs.table(above, below).shape for above, below, *_ in fitted]
    for block in _split_pairs(shapes, states[[above for above, *_ in fitted]] if fitted else states[:0]):
        check()
        chosen = [fitted[k] for k in block]
        tables = _stack_padded([pairs.table(above, below) for above, below, *_ in chosen])
        weights = _stack_padded([shares[above] for above, *_ in chosen])
        log_likelihoods, masses = fit_mixtures(tables, weights)
        informations = _hidden_information(tables, weights, masses)
        for (above, below, saturated, alone), value, nats, table in zip(
            chosen, log_likelihoods.tolist(), informations.tolist(), tables, strict=True
        ):
            degrees = (_count_occurring(table, 1) - ranks[above]) * (_count_occurring(table, 0) - 1)
            gain[above, below], information[above, below] = value - alone, nats
            misfit[above, below] = _standardise_deviance(2.0 * (saturated - value), degrees)
    return HiddenLaws(pairs.variables, pairs.rows, gain, misfit, information, price, dependence, pairs)


def _count_occurring(table: Ints | Floats, axis: int) -> int:
    """How many rows or columns of a table are not empty, summed over the other axis."""
    return int(np.count_nonzero(table.sum(axis=axis)))


def share_cells(sets: Bools) -> Floats:
    """W(A, s) = [s in A] / |A|, shape (cells, states).

    >>> share_cells(np.array([[True, False], [True, True]])).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    inside = sets.astype(np.float64)
    shares: Floats = inside / inside.sum(axis=1, keepdims=True)
    return shares


def fit_mixtures(tables: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Maximum of sum_AB n(A, B) ln sum_s W(A, s) m(B | s) for many tables at once, and the masses m there.

    ``tables`` are n (pairs, parents' cells, children's cells), ``shares`` W (pairs, parents' cells, states); the masses
    are (pairs, states, children's cells). EM is accelerated as in `possnet.em.squarem`; every pair stops by itself.

    >>> log_likelihoods, masses = fit_mixtures(np.array([[[3.0, 1.0], [0.0, 2.0]]]), np.eye(2)[np.newaxis])
    >>> masses.round(6).tolist(), (np.exp(log_likelihoods) * 256).round(6).tolist()
    ([[[0.75, 0.25], [0.0, 1.0]]], [27.0])
    """
    column_sums = tables.sum(axis=1, keepdims=True)
    start = shares.transpose(0, 2, 1) @ tables
    start += 1e-3 * column_sums  # so that no mass of a cell that occurs is 0, where EM would leave it
    masses = start / np.maximum(start.sum(axis=2, keepdims=True), _TINY)
    values = np.zeros(len(tables))
    active = np.arange(len(tables))
    counts, weights, point = tables, shares, masses.copy()
    for _ in range(_MOST_CYCLES):
        if not len(active):
            break
        first, once = _take_em_step(counts, weights, point)
        second, twice = _take_em_step(counts, weights, once)
        jump = _extrapolate_points(point, once, twice)
        third, after_jump = _take_em_step(counts, weights, jump)
        kept = (third >= second)[:, np.newaxis, np.newaxis]
        gained = second - first
        following, latest = np.where(kept, after_jump, twice), np.maximum(second, third)
        # plain EM's gains fall at least geometrically once they are small; a jump that gains nothing more is the end
        done = (latest - first < _TOLERANCE) & (gained < _TOLERANCE / 4.0)
        values[active], masses[active] = latest, np.where(kept, jump, once)
        active, counts, weights, point = active[~done], counts[~done], weights[~done], following[~done]
    return values, masses


def _take_em_step(counts: Floats, shares: Floats, masses: Floats) -> tuple[Floats, Floats]:
    likelihoods = np.maximum(shares @ masses, _TINY)
    values = np.einsum("pab,pab->p", counts, np.log(likelihoods))
    expected = masses * (shares.transpose(0, 2, 1) @ (counts / likelihoods))
    sums = expected.sum(axis=2, keepdims=True)
    return values, np.divide(expected, sums, out=masses.copy(), where=sums > 0.0)


def _extrapolate_points(start: Floats, once: Floats, twice: Floats) -> Floats:
    change = once - start
    bend = (twice - once) - change
    lengths = np.sqrt(np.square(change).sum(axis=(1, 2)) / np.maximum(np.square(bend).sum(axis=(1, 2)), _TINY))
    step = np.clip(lengths, 1.0, _LONGEST)[:, np.newaxis, np.newaxis]
    moved = start + 2.0 * step * change + step**2 * bend
    moved = np.where(twice > 0.0, np.maximum(moved, twice * 1e-3), 0.0)
    point: Floats = moved / np.maximum(moved.sum(axis=2, keepdims=True), _TINY)
    return point


def _hidden_information(tables: Floats, shares: Floats, masses: Floats) -> Floats:
    """Mutual information of hidden state and cell, with the hidden state uniform in its cell."""
    states = np.einsum("pas,pa->ps", shares, tables.sum(axis=2))
    states /= np.maximum(states.sum(axis=1, keepdims=True), _TINY)
    cells = np.einsum("ps,psb->pb", states, masses)[:, np.newaxis]
    logs = np.log(np.where(masses > 0.0, masses, 1.0) / np.where(cells > 0.0, cells, 1.0))
    nats: Floats = np.einsum("ps,psb->p", states, masses * logs)
    return np.maximum(nats, 0.0)


def _standardise_deviance(deviance: float, degrees: int) -> float:
    """Standard errors of a chi-squared deviance above its expectation (Wilson and Hilferty 1931); 0 without freedom."""
    if degrees <= 0:
        return 0.0
    spread = 2.0 / (9.0 * degrees)
    return float(((max(deviance, 0.0) / degrees) ** (1.0 / 3.0) - (1.0 - spread)) / np.sqrt(spread))


def _sum_n_log_n(counts: Ints | Floats) -> float:
    numbers = np.asarray(counts, dtype=np.float64)
    return float((numbers * np.log(np.where(numbers > 0.0, numbers, 1.0))).sum())


def _split_pairs(shapes: Sequence[tuple[int, ...]], states: Floats) -> Iterator[list[int]]:
    """Pairs of like sizes in blocks whose padded tables are not too large."""
    order = sorted(range(len(shapes)), key=lambda k: (*shapes[k], states[k]))
    block: list[int] = []
    tallest = widest = 0
    for k in order:
        tallest, widest = max(tallest, shapes[k][0]), max(widest, shapes[k][1])
        if block and (len(block) + 1) * tallest * widest > _ENTRIES:
            yield block
            block, (tallest, widest) = [], shapes[k]
        block.append(k)
    if block:
        yield block


def _stack_padded(tables: Sequence[Ints | Floats]) -> Floats:
    """Tables of several sizes in one array, 0 where a table has no entry."""
    shape = [max(table.shape[axis] for table in tables) for axis in (0, 1)]
    stacked = np.zeros((len(tables), *shape))
    for place, table in enumerate(tables):
        stacked[place, : table.shape[0], : table.shape[1]] = table
    return stacked
