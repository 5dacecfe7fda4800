"""Figures about one learned network: how EM climbed, and whether support says how good a context is."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import InputError
from possnet.metrics import compare
from possnet.plots.figure_style import COLOURS, new_figure, tidy_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from possnet.aliases import Floats
    from possnet.em import EmResult
    from possnet.network import Network


def em_convergence(result: EmResult) -> Figure:
    """EM's log-likelihood, as what was still to be gained at every step; a straight line is a steady rate.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> found = pn.fit_em(asia.dag, pn.sample(asia, 500, process="traced", rng=1))
    >>> em_convergence(found).axes[0].get_ylabel()
    'log-likelihood still to be gained (nats)'
    """
    values = np.array(result.log_likelihood)
    with new_figure(5.6, 3.2) as figure:
        axes = figure.subplots()
        left = values[-1] - values[:-1]
        shown = left > 0.0
        axes.plot(np.arange(len(left))[shown], left[shown], color=COLOURS["blue"][0], marker="o", ms=3.5, lw=1.8)
        axes.set_yscale("log")
        axes.set_xlabel("step")
        axes.set_ylabel("log-likelihood still to be gained (nats)")
        ended = "converged" if result.stopped == "converged" else "stopped at the most steps"
        axes.set_title(f"from {values[0]:,.1f} to {values[-1]:,.1f}; {ended} after {result.steps:,} steps")
        tidy_axes(axes)
        return figure


def support_calibration(truth: Network, learned: Network) -> Figure:
    """Does support say how good a context is? Error of every context against the rows behind it.

    With n rows behind a context, a share of them has a standard error of at most 1/(2 sqrt(n)). Errors that fall along this
    line are noise, and support is an honest measure; errors that stay above it, however large the support, are bias.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> learned = pn.fit(asia.dag, pn.sample(asia, 2000, rng=1))
    >>> support_calibration(asia, learned).axes[0].get_xlabel()
    'rows behind the context (support)'
    """
    support = learned.support
    if support is None:
        raise InputError(
            "support_calibration: the network was not learned, or its tables were changed; expected support"
        )
    errors = compare(truth, learned).contexts
    pairs = []
    for name, found in errors.items():
        wanted, own = truth.dag.parents(name), learned.dag.parents(name)
        if set(wanted) == set(own):
            rows_behind = support[name].transpose([own.index(parent) for parent in wanted])
            pairs += [
                (float(n), float(e))
                for n, e in zip(rows_behind.ravel(), found.ravel(), strict=True)
                if n >= 1.0 and not np.isnan(e)
            ]
    if not pairs:
        raise InputError(
            "support_calibration: no context of the true structure has support; expected the same structure"
        )
    rows, deviations = np.array(pairs).T
    with new_figure(5.6, 3.6) as figure:
        axes = figure.subplots()
        ends = np.array([rows.min() / 1.3, rows.max() * 1.3])
        axes.plot(
            ends, 0.5 / np.sqrt(ends), color=COLOURS["ink"][0], lw=1.2, label="largest standard error, 1/(2√rows)"
        )
        shown = np.maximum(deviations, 1e-4)
        axes.plot(
            rows, shown, ls="", marker="o", ms=3.8, color=COLOURS["blue"][0], alpha=0.45, mew=0, label="a context"
        )
        middles = _medians(rows, deviations)
        if middles:
            axes.plot(*np.array(middles).T, color=COLOURS["orange"][0], lw=2.0, marker="s", ms=4.5, label="median")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel("rows behind the context (support)")
        axes.set_ylabel("mean error of a degree")
        within = float(np.mean(deviations <= 1.0 / np.sqrt(rows)))
        axes.set_title(f"{100 * within:.0f} % of {len(rows):,} contexts within two standard errors")
        figure.legend(loc="outside lower center", frameon=False, ncols=3, fontsize=8.5)
        tidy_axes(axes)
        return figure


def _medians(rows: Floats, errors: Floats) -> list[tuple[float, float]]:
    """Median error of contexts with about the same support, where there are at least three."""
    edges = np.geomspace(float(rows.min()), float(rows.max()) * 1.001, 9)
    found = []
    for low, high in pairwise(edges.tolist()):
        inside = (rows >= low) & (rows < high)
        if inside.sum() >= 3:
            found.append((float(np.sqrt(low * high)), float(np.median(errors[inside]))))
    return found
