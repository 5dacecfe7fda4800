"""Figures about one learned network: how EM converged, and whether support says how good a context is."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.doors import check_arguments
from possnet.errors import InputError
from possnet.metrics import compare
from possnet.network import align_network
from possnet.plots.figure_style import COLOURS, new_figure, tidy_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from possnet.aliases import Floats
    from possnet.em import EmResult
    from possnet.network import Network


@check_arguments
def em_convergence(result: EmResult) -> Figure:
    """Draw EM's log-likelihood, as what was still to be gained at every step; a straight line is a steady rate.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> result = pn.fit_em(asia.dag, pn.sample(asia, 500, process="traced", rng=1))
    >>> em_convergence(result).axes[0].get_ylabel()
    'log-likelihood still to be gained (nats)'
    """
    values = np.array(result.log_likelihood)
    gains = values[-1] - values[:-1]
    steps = np.flatnonzero(gains > 0.0)
    ended = "converged" if result.stopped == "converged" else "stopped at the most steps"
    with new_figure(5.6, 3.2) as figure:
        axes = figure.subplots()
        axes.plot(steps, gains[steps], color=COLOURS["blue"][0], marker="o", ms=3.5, lw=1.8)
        axes.set(yscale="log", xlabel="step", ylabel="log-likelihood still to be gained (nats)")
        axes.set_title(f"from {values[0]:,.1f} to {values[-1]:,.1f}; {ended} after {result.steps:,} steps")
        tidy_axes(axes)
        return figure


@check_arguments
def support_calibration(truth: Network, learned: Network) -> Figure:
    """Draw the error of every context against the rows behind it, which shows whether support says how good it is.

    With n rows behind a context, a share of them has a standard error of at most 1/(2 sqrt(n)). Errors that fall along this
    line are noise, and support is an honest measure; errors that stay above it, however large the support, are bias.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> learned = pn.fit(asia.dag, pn.sample(asia, 2000, rng=1))
    >>> support_calibration(asia, learned).axes[0].get_xlabel()
    'rows behind the context (support)'
    """
    rows, errors = _pair_contexts(truth, learned)
    ends = np.array([rows.min() / 1.3, rows.max() * 1.3])
    bound = "largest standard error, 1/(2√rows)"
    points: dict[str, Any] = {"ls": "", "marker": "o", "ms": 3.8, "alpha": 0.45, "mew": 0}
    medians = _group_medians(rows, errors)
    within = float(np.mean(errors <= 1.0 / np.sqrt(rows)))
    with new_figure(5.6, 3.6) as figure:
        axes = figure.subplots()
        axes.plot(ends, 0.5 / np.sqrt(ends), color=COLOURS["ink"][0], lw=1.2, label=bound)
        axes.plot(rows, np.maximum(errors, 1e-4), color=COLOURS["blue"][0], label="a context", **points)
        if medians:
            axes.plot(*np.array(medians).T, color=COLOURS["orange"][0], lw=2.0, marker="s", ms=4.5, label="median")
        axes.set(
            xscale="log", yscale="log", xlabel="rows behind the context (support)", ylabel="mean error of a degree"
        )
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_title(f"{100 * within:.0f} % of {len(rows):,} contexts within two standard errors")
        figure.legend(loc="outside lower center", frameon=False, ncols=3, fontsize=8.5)
        tidy_axes(axes)
        return figure


def _pair_contexts(truth: Network, learned: Network) -> tuple[Floats, Floats]:
    """Support and mean error of every context that both networks have and some row is behind."""
    learned = align_network(learned, truth, owner="support_calibration")
    support = learned.support
    if support is None:
        raise InputError(
            "support_calibration: the network was not learned, or its tables were changed; expected support"
        )
    pairs = [
        np.array([support[name].ravel(), errors.ravel()])
        for name, errors in compare(truth, learned).contexts.items()
        if truth.dag.parents(name) == learned.dag.parents(name)
    ]
    both = np.concatenate([np.empty((2, 0)), *pairs], axis=1)
    both = both[:, (both[0] >= 1.0) & ~np.isnan(both[1])]
    if not both.size:
        raise InputError(
            "support_calibration: no context of the true structure has support; expected the same structure"
        )
    return both[0], both[1]


def _group_medians(rows: Floats, errors: Floats) -> list[tuple[float, float]]:
    """Median error of contexts with about the same support, where there are at least three."""
    edges = np.geomspace(float(rows.min()), float(rows.max()) * 1.001, 9)
    groups = ((low, high, errors[(rows >= low) & (rows < high)]) for low, high in pairwise(edges.tolist()))
    return [(float(np.sqrt(low * high)), float(np.median(group))) for low, high, group in groups if group.size >= 3]
