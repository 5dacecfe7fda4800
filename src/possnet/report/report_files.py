"""The report of an experiment in its folder: the page, and its figures for papers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from possnet.drawing import Drawing
from possnet.errors import TooLarge, count_noun
from possnet.experiment import Experiment, TrialTask, read_experiment, repeat_learning
from possnet.io import encode_network, file_error, write_text
from possnet.learners import label_learner
from possnet.plots import (
    NothingToShow,
    bounds_figure,
    context_heatmap,
    draw_network,
    drawing_figure,
    error_split,
    has_matplotlib,
    learning_curves,
    outline_network,
    save_figure,
    variable_heatmap,
)
from possnet.report.html_page import ReportPicture, build_page
from possnet.report.narrative import file_names, network_files
from possnet.sampling import label_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from possnet.aliases import Progress
    from possnet.experiment import Results, Trial
    from possnet.network import Network

_MOST_BYTES: Final = 1_300_000
_MOST_NODES: Final = 250
_NO_MATPLOTLIB: Final = (
    "Curves and heat maps need matplotlib: pip install 'possnet[plot]', then run possnet report again."
)
_PREFIXES: Final = ("curves-", "split-", "bounds-", "variables-", "contexts-", "network-")
_MOST_ROWS: Final = 100_000
_SECTIONS: Final = {
    "Learning curves": "higher is closer to the truth; 1 is the truth itself.",
    "Bias and noise": (
        "error of counting split into bias, which stays with endless rows, and noise, which falls with them. Where "
        "the lines of error and bias meet, more rows stop helping counting."
    ),
    "What the rows tell": (
        "every degree as one learned network knows it: a point where the rows identify it, otherwise the interval that it "
        "lies in; whiskers are two standard errors."
    ),
    "Where the errors are": "Mean error of a degree; 0 is the truth.",
    "Networks": "The true network: how far each state is possible (light) and certain (dark) when nothing is known.",
}


def write_report(experiment: Experiment | str | Path, *, progress: Progress | None = None) -> Path:
    """Write ``report.html`` and ``figures/`` into the folder of a finished experiment; gives the name of the page.

    The page is self-contained and has the question, the answer, learning curves, the split of the error into bias and
    noise, the bounds of one learned network if a learner gives any, heat maps, the networks, a table that can be sorted,
    methods, and the command that does it again. Figures need matplotlib (``possnet[plot]``); without it the page has the
    drawings and the table alone, and says so.

    Parameters
    ----------
    experiment
        The folder of an experiment, or, without reading it again, the ``experiment`` of what `possnet.evaluate` gave.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     how = {"rows": 50, "imprecision": 1, "learners": "likelihood", "repeats": 1, "rng": 1}
    ...     file = write_report(pn.evaluate(["asia"], **how, out=folder).experiment)
    ...     file.name, len(list((file.parent / "figures").glob("*.pdf")))
    ('report.html', 5)
    """
    if not isinstance(experiment, Experiment):
        experiment = read_experiment(experiment)
    folder = experiment.folder
    _prepare_folders(folder, experiment.grid.networks)
    advance = progress or (lambda _done, _total: None)
    notes = [] if has_matplotlib() else [_NO_MATPLOTLIB]
    makers = list(_picture_makers(experiment))
    stems = file_names(stem for _, stem, _, _ in makers)
    pictures: list[ReportPicture] = []
    used = left_out = 0
    for number, ((section, _, caption, make), stem) in enumerate(zip(makers, stems, strict=True)):
        advance(number, len(makers))
        try:
            picture = _save_picture(make(), folder / "figures" / stem)
        except NothingToShow:
            continue
        if used + len(picture) > _MOST_BYTES:
            left_out += 1
            continue
        used += len(picture)
        pictures.append(ReportPicture(section, picture, caption))
    if left_out:
        notes.append(f"{count_noun(left_out, 'more figure')} in figures/; this page is kept small.")
    pictures.sort(key=lambda picture: list(_SECTIONS).index(picture.section))
    write_text(folder / "report.html", build_page(experiment, pictures, notes))
    advance(len(makers), len(makers))
    return folder / "report.html"


def _prepare_folders(folder: Path, networks: dict[str, Network]) -> None:
    """Folders for figures, without those of an earlier report, and for networks that have no name of their own."""
    files = network_files(networks)
    try:
        (folder / "figures").mkdir(exist_ok=True)
        for old in (folder / "figures").iterdir():
            if old.suffix in {".svg", ".pdf"} and old.name.startswith(_PREFIXES):
                old.unlink()
        if files:
            (folder / "networks").mkdir(exist_ok=True)
    except OSError as error:
        raise file_error(folder, error) from None
    for name, file in files.items():
        write_text(folder / "networks" / file, encode_network(networks[name]))


def _picture_makers(experiment: Experiment) -> Iterator[tuple[str, str, str, Callable[[], Any]]]:
    """Section, name of the file, caption, and how to make each picture: a figure, or a drawing."""
    results, grid = experiment.results, experiment.grid
    curves, split, told, heat, networks = _SECTIONS
    spread = " Mean over repeats, with 95 % intervals." if grid.repeats > 1 else ""
    for name, network in grid.networks.items():
        draw_curves = partial(learning_curves, results, network=name)
        figures: list[tuple[str, str, str, Callable[[], Any]]] = [
            (curves, "curves-rows", _SECTIONS[curves] + spread, draw_curves)
        ]
        if any("@" in learner for learner in grid.learners):
            edges = partial(draw_curves, metric="hamming")
            figures.append((curves, "curves-structure", "edges to add, delete or reverse; 0 is the true graph.", edges))
        if len(grid.imprecision) > 1:
            thetas = partial(draw_curves, against="imprecision")
            figures.append((curves, "curves-imprecision", "the same against imprecision, at the most rows.", thetas))
        bounded = _find_bounded(results, name)
        contexts = partial(context_heatmap, results, network, name=name)
        figures += [
            (split, "split", _SECTIONS[split], partial(error_split, results, network=name)),
            *(
                []
                if bounded is None
                else [(told, "bounds", _SECTIONS[told], partial(_draw_bounds, experiment, bounded))]
            ),
            (heat, "variables", f"by variable. {_SECTIONS[heat]}", partial(variable_heatmap, results, name)),
            (heat, "contexts", "by context, for the variable with the largest error.", contexts),
        ]
        for section, stem, caption, make in figures if has_matplotlib() else ():
            several = len(grid.networks) > 1
            yield section, f"{stem}-{name}", f"{name}: {caption}" if several else caption[0].upper() + caption[1:], make
        if len(network.variables) <= _MOST_NODES:
            yield networks, f"network-{name}", f"{name}. {_SECTIONS[networks]}", partial(_draw_network, network, name)


def _find_bounded(results: Results, network: str) -> Trial | None:
    """A trial whose learner gives bounds, with the most rows that are soon learned again; None if there is none."""
    trials = [
        trial
        for trial, outcome in zip(results.trials, results.outcomes, strict=True)
        if trial.network == network and "identified_share" in outcome.metrics and trial.rows <= _MOST_ROWS
    ]
    return max(trials, key=lambda trial: (trial.rows, trial.imprecision, -trial.repeat), default=None)


def _draw_bounds(experiment: Experiment, trial: Trial) -> Any:
    """The bounds that a trial's learner gave, learned again from the same rows."""
    grid = experiment.grid
    result: Any = repeat_learning(TrialTask(trial, grid.texts[trial.network], grid.seed))
    rows = f"{trial.rows:,} {label_process(trial.process)}, imprecision {trial.imprecision:g}"
    return bounds_figure(result, truth=grid.networks[trial.network], title=f"{label_learner(trial.learner)}, {rows}")


def _draw_network(network: Network, name: str) -> Drawing:
    try:
        return draw_network(network, title=name)
    except TooLarge:  # no marginals: names alone, which cannot be mistaken for them
        return outline_network(network, title=name)


def _save_picture(picture: Any, stem: Path) -> str:
    """Write a figure or a drawing beside the page; gives the text for the page."""
    if not isinstance(picture, Drawing):
        return save_figure(picture, stem, stem.name.replace("-", " "))
    if has_matplotlib():
        save_figure(drawing_figure(picture), stem)
    return picture
