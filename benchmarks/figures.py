"""A report's figures: processor time of one, in both of its forms, with its files for papers."""

import tempfile
import time
from pathlib import Path

from measure import Target

import possnet as pn

SECONDS = 0.3


def time_figures() -> dict[str, float]:
    """CPU seconds of every figure of a small report, for each of its two forms: drawing, SVG and PDF."""
    from possnet.report.report_files import save_picture
    from possnet.report.report_pictures import list_pictures

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        how = {"rows": [50, 200], "imprecision": [0.5, 1], "repeats": 2, "rng": 1, "workers": 1}
        experiment = pn.evaluate(["pump"], **how, process=["alpha-cut", "traced"], out=folder).experiment
        plans = list(list_pictures(experiment, ["pump"]))
        save_picture(plans[0], folder / "first", "first")  # fonts are read once
        seconds = {}
        for plan in plans:
            start = time.process_time()
            save_picture(plan, folder / plan.stem, "f")
            seconds[plan.stem] = (time.process_time() - start) / 2
    return seconds


def figure_target(rounds: int) -> Target:
    """The slowest figure, the best of several runs of each."""
    runs = [time_figures() for _ in range(rounds)]
    best = {stem: min(run[stem] for run in runs) for stem in runs[0]}
    slowest = max(best, key=best.__getitem__)
    return Target(
        "a figure of a report, the slowest, CPU",
        f"{slowest} {best[slowest]:.2f} s",
        "",
        best[slowest],
        SECONDS,
        "s",
        at_most=True,
    )
