"""Writing the report of an experiment's folder, and its figures for papers."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from possnet.errors import InputError
from possnet.experiment import read_experiment
from possnet.io.files import file_error, write_text
from possnet.plots import (
    context_heatmap,
    draw_network,
    drawing_figure,
    error_split,
    has_matplotlib,
    learning_curves,
    save_figure,
    variable_heatmap,
)
from possnet.report.page import Shown, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from possnet.experiment import Experiment
    from possnet.network import Network

__all__ = ["write_report"]

_MOST_BYTES: Final = 1_500_000
_MOST_NODES: Final = 250


def write_report(folder: str | Path, *, progress: Callable[[int, int], None] | None = None) -> Path:
    """Write ``report.html`` and ``figures/`` into the folder of a finished experiment; gives the name of the page.

    The page is self-contained and has the question, the answer, learning curves, the split of the error into bias and
    noise, heat maps, the networks, a table that can be sorted, methods, and the command that does it again. Figures need
    matplotlib (``possnet[plot]``); without it the page has the drawings and the table alone, and says so.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pn.evaluate(["asia"], rows=50, imprecision=1, learners="likelihood", repeats=1, rng=1, out=folder)
    ...     file = write_report(folder)
    ...     file.name, len(list((file.parent / "figures").glob("*.pdf")))
    ('report.html', 5)
    """
    experiment = read_experiment(folder)
    target = Path(folder) / "report.html"
    figures = Path(folder) / "figures"
    pictures: list[Shown] = []
    notes: list[str] = []
    try:
        shutil.rmtree(figures, ignore_errors=True)
        figures.mkdir(exist_ok=True)
    except OSError as error:
        raise file_error(figures, error) from None
    if not has_matplotlib():
        notes.append("Curves and heat maps need matplotlib: pip install 'possnet[plot]', then possnet report here.")
    makers = list(_makers(experiment))
    used = left_out = 0
    for number, (section, stem, caption, make) in enumerate(makers):
        if progress is not None:
            progress(number, len(makers))
        try:
            picture = make(figures / _file_name(stem))
        except InputError:  # nothing of that kind in these results
            continue
        if used + len(picture) > _MOST_BYTES:
            left_out += 1
            continue
        used += len(picture)
        pictures.append(Shown(section, picture, caption))
    if left_out:
        notes.append(f"{left_out} more figures are in figures/; this page is kept small.")
    pictures.sort(key=lambda shown: list(_SECTIONS).index(shown.section))
    write_text(target, page(experiment, pictures, notes))
    if progress is not None:
        progress(len(makers), len(makers))
    return target


_SECTIONS: Final = {
    "Learning curves": "mean over repeats, with 95 % intervals. Higher is closer to the truth; 1 is the truth itself.",
    "Bias and noise": (
        "error of counting split into bias, which stays with endless rows, and noise, which falls with them. Where "
        "the lines of error and bias meet, more rows stop helping."
    ),
    "Where the errors are": "Mean error of a degree; 0 is the truth.",
    "Networks": "The true network: how far each state is possible (light) and certain (dark) when nothing is known.",
}


def _makers(experiment: Experiment) -> Iterator[tuple[str, str, str, Callable[[Path], str]]]:
    """Section, name of the file, caption, and how to make each picture: it is given the file to write, without suffix."""
    results, grid = experiment.results, experiment.grid
    curves, split, heat, networks = _SECTIONS
    for name, network in grid.networks.items():
        told = f"{name}: " if len(grid.networks) > 1 else ""
        figures: list[tuple[str, str, str, Callable[[], Any]]] = [
            (curves, "curves-rows", _SECTIONS[curves], partial(learning_curves, results, network=name)),
            (split, "split", _SECTIONS[split], partial(error_split, results, network=name)),
            (heat, "variables", f"by variable. {_SECTIONS[heat]}", partial(variable_heatmap, results, name)),
            (
                heat,
                "contexts",
                "by context, for the variable with the largest error.",
                partial(context_heatmap, results, network, name=name),
            ),
        ]
        if len(grid.imprecision) > 1:
            against = partial(learning_curves, results, against="imprecision", network=name)
            figures.insert(
                1, (curves, "curves-imprecision", "the same against imprecision, at the most rows.", against)
            )
        if any("@" in learner for learner in grid.learners):
            edges = partial(learning_curves, results, "hamming", network=name)
            figures.insert(1, (curves, "curves-structure", "edges to add, remove or turn; 0 is the true graph.", edges))
        if has_matplotlib():
            for section, stem, caption, make in figures:
                words = told + caption if told else caption[:1].upper() + caption[1:]
                yield section, f"{stem}-{name}", words, partial(_publish, make)
        if len(network.variables) <= _MOST_NODES:
            yield networks, f"network-{name}", f"{name}. {_SECTIONS[networks]}", partial(_draw, network, name)


def _publish(make: Callable[[], Any], stem: Path) -> str:
    return save_figure(make(), stem, stem.name.replace("-", " "))


def _draw(network: Network, name: str, stem: Path) -> str:
    picture = draw_network(network, title=name)
    if has_matplotlib():
        save_figure(drawing_figure(picture), stem)
    return picture


def _file_name(text: str) -> str:
    """A file's name without odd characters.

    >>> _file_name("curves-random 20/b")
    'curves-random_20_b'
    """
    return "".join(ch if ch.isalnum() or ch in "-_." else "_" for ch in text)
