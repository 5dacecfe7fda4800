"""A report's figures: processor time of each form of one, with its files for papers, beside matplotlib's own saving."""

import io
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import Target

import possnet as pn

SECONDS = 0.3


def time_figures() -> dict[str, tuple[float, float]]:
    """CPU seconds of every figure of a small report, for each of its two forms, and of one form with matplotlib's SVG and PDF."""
    from possnet.report.report_files import save_picture
    from possnet.report.report_pictures import order_pictures

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        how = {"rows": [50, 200], "imprecision": [0.5, 1], "repeats": 2, "rng": 1, "workers": 1}
        experiment = pn.evaluate(["pump"], **how, process=["alpha-cut", "traced"], out=folder).experiment
        plans = order_pictures(experiment, ["pump"])
        save_picture(plans[0], folder / "first", "first")  # fonts are read once
        seconds = {}
        for plan in plans:
            start = time.process_time()
            save_picture(plan, folder / plan.stem, "f")
            seconds[plan.stem] = (time.process_time() - start) / 2, save_plainly(plan.draw)
    return seconds


def save_plainly(draw: Callable[[int], Any]) -> float:
    """CPU seconds in which a figure is drawn, and saved by matplotlib's own means as SVG and as PDF."""
    start = time.process_time()
    picture = draw(2)
    figure = pn.plots.drawing_figure(picture) if isinstance(picture, pn.drawing.Drawing) else picture
    figure.savefig(io.StringIO(), format="svg")
    figure.savefig(io.BytesIO(), format="pdf")
    return time.process_time() - start


def figure_targets(rounds: int) -> list[Target]:
    """The slowest figure, and all of them beside matplotlib's own saving; the best of several runs of each."""
    runs = [time_figures() for _ in range(rounds)]
    best, plain = ({stem: min(run[stem][k] for run in runs) for stem in runs[0]} for k in (0, 1))
    slowest = max(best, key=best.__getitem__)
    ours, theirs = sum(best.values()), sum(plain.values())
    count = len(best)
    return [
        Target("a figure of a report, the slowest, CPU", f"{slowest} {best[slowest]:.2f} s", "", best[slowest], SECONDS, "s", at_most=True),
        Target(
            "figures of a report, drawn and saved, CPU beside matplotlib's own saving", f"{ours / count:.2f} s each",
            f"matplotlib {theirs / count:.2f} s", ours / theirs, 1, "times as much", at_most=True,
        ),
    ]  # fmt: skip
