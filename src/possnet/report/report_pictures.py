"""Which pictures a report has, what each says, and how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from possnet.drawing import Label, measure_text, render_svg
from possnet.errors import TooLarge, count_noun
from possnet.experiment import TrialTask, repeat_learning
from possnet.learners import label_learner, network_of
from possnet.plots import (
    NothingToShow,
    bounds_figure,
    choose_spread,
    context_heatmap,
    draw_difference,
    draw_network,
    error_split,
    has_matplotlib,
    learning_curves,
    outline_network,
    overview_curves,
    variable_heatmap,
    worst_variable,
)
from possnet.report.verdicts import join_words, speak_learner
from possnet.sampling import label_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from possnet.drawing import Drawing
    from possnet.experiment import Experiment, Results, Summary, Trial
    from possnet.learners import Fitted
    from possnet.network import Network
    from possnet.plots import Columns

_MOST_NODES: Final = 250
_MOST_ROWS: Final = 100_000
_MOST_NETWORKS: Final = 4
_MOST_HEIGHT: Final = 1250.0  # units of a drawing that a column of a paper has room for
_NARROW: Final = 430.0  # units of a drawing that a narrow screen shows without making text small
PREFIXES: Final = (
    "overview",
    "structure-",
    "learned-",
    "curves-",
    "split-",
    "bounds-",
    "variables-",
    "contexts-",
    "network-",
)
"""What the names of figures begin with."""
SECTIONS: Final = (
    "Overview",
    "Structure",
    "Learning curves",
    "Bias and noise",
    "What the rows tell",
    "Where the errors are",
    "Networks",
)
"""The sections of pictures, in their order."""
_KEPT_LONGEST: Final = (  # by importance: where a page has no room for all pictures, those of the last are left out
    "Overview",
    "Structure",
    "Learning curves",
    "What the rows tell",
    "Networks",
    "Bias and noise",
    "Where the errors are",
)


@dataclass(frozen=True, slots=True)
class PicturePlan:
    """A picture to be drawn: its section and file, what it says, how it is read, and how it is drawn for a width.

    ``bare`` is how a drawing of a network is read that has names alone, without bars.
    """

    section: str
    stem: str
    message: str
    caption: str
    draw: Callable[[Columns], Any]
    bare: str = ""


def choose_networks(experiment: Experiment) -> tuple[list[str], str]:
    """The networks that are shown in detail, and a sentence about those that are not: the hardest to learn are shown.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     choose_networks(pn.evaluate(["asia"], rows=20, imprecision=1, repeats=1, rng=1, out=folder).experiment)
    (['asia'], '')
    """
    names = list(experiment.grid.networks)
    if len(names) <= _MOST_NETWORKS:
        return names, ""
    affinities: dict[str, dict[tuple[str, float], float]] = {name: {} for name in names}
    most = max(experiment.grid.rows)
    for s in experiment.results.summary("child_affinity"):
        if s.rows == most:
            own = affinities[s.network]
            own[s.process, s.imprecision] = max(s.mean, own.get((s.process, s.imprecision), 0.0))
    means = {name: fmean(own.values()) if own else 0.0 for name, own in affinities.items()}
    hardest = set(sorted(names, key=lambda name: means[name])[:_MOST_NETWORKS])
    others = [name for name in names if name not in hardest]
    sentence = (
        f"Shown in detail: the {_MOST_NETWORKS} networks that are the hardest to learn. Left out: figures of "
        f"{join_words(others)}; the overview, the table and results.csv have them."
    )
    return [name for name in names if name in hardest], sentence


def order_pictures(experiment: Experiment, names: list[str]) -> list[PicturePlan]:
    """The pictures of a report, the most important first.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     experiment = pn.evaluate(["asia"], rows=20, imprecision=1, repeats=1, rng=1, out=folder).experiment
    ...     order_pictures(experiment, ["asia"])[0].section
    'Overview'
    """
    return sorted(_list_pictures(experiment, names), key=lambda plan: _KEPT_LONGEST.index(plan.section))


def _list_pictures(experiment: Experiment, names: list[str]) -> Iterator[PicturePlan]:
    """The pictures of a report, network by network."""
    results, grid = experiment.results, experiment.grid
    if has_matplotlib() and results.summary("child_affinity"):
        yield PicturePlan(
            "Overview", "overview", _closest_message(results, list(grid.networks)), _curves_caption(experiment),
            lambda columns: overview_curves(results, columns=columns),
        )  # fmt: skip
    for name in names:
        yield from _structure_pictures(experiment, name)
    for name in names:
        if has_matplotlib():
            yield from _network_figures(experiment, name)
        network = grid.networks[name]
        if len(network.variables) <= _MOST_NODES:
            size = f"{count_noun(len(network.variables), 'variable')}, {count_noun(len(network.dag.edges), 'edge')}"
            yield PicturePlan(
                "Networks", f"network-{name}", f"{name}: {size}.",
                "The true network: bars say how far each state is possible, their strong part how far it is certain.",
                partial(draw_form, network, name),
                "The true network, by the names of its variables: there is no room for bars.",
            )  # fmt: skip


def _curves_caption(experiment: Experiment) -> str:
    words = {
        "networks": "thin lines are single networks",
        "range": "shades go from the worst network to the best",
        "none": "",
    }
    spread = words[choose_spread(experiment.results)]
    if len(experiment.grid.networks) == 1:
        spread = _speak_shades(experiment.grid.repeats)
    return "; ".join(filter(None, ("Higher is closer to the truth, 1 is the truth itself", spread))) + "."


def _speak_shades(repeats: int) -> str:
    words = {1: "", 2: "shades hold both repeats"}
    return words.get(repeats, "shades are 95 % intervals over repeats")


def _network_figures(experiment: Experiment, name: str) -> Iterator[PicturePlan]:
    """Curves, split, bounds and heat maps of one network."""
    results, network = experiment.results, experiment.grid.networks[name]
    if len(experiment.grid.networks) > 1:
        shades = _speak_shades(experiment.grid.repeats)
        spread = f"; {shades}" if shades else ""
        yield PicturePlan(
            "Learning curves", f"curves-{name}", _closest_message(results, [name]),
            f"Higher is closer to the truth, 1 is the truth itself{spread}.",
            lambda columns: learning_curves(results, network=name, columns=columns),
        )  # fmt: skip
    yield PicturePlan(
        "Bias and noise", f"split-{name}", _split_message(results, name),
        "Bias stays with endless rows, noise falls with them. Where error and bias meet, more rows stop helping.",
        lambda columns: error_split(results, network=name, columns=columns),
    )  # fmt: skip
    bounded = _find_bounded(results, name)
    if bounded is not None:
        yield PicturePlan(
            "What the rows tell", f"bounds-{name}",
            f"{name}: what the rows tell of every degree ({_speak_trial(bounded)}).",
            "A point where the rows identify it, otherwise the interval that it lies in; whiskers are two standard errors.",
            partial(_draw_bounds, experiment, bounded),
        )  # fmt: skip
    reading = "Mean error of a degree, 0 is the truth; the numbers above the columns are the imprecision."
    yield PicturePlan(
        "Where the errors are", f"variables-{name}", _worst_message(results, name), reading,
        lambda columns: variable_heatmap(results, name, columns=columns),
    )  # fmt: skip
    yield PicturePlan(
        "Where the errors are", f"contexts-{name}", f"{name}: errors by context of the variable with the largest.", reading,
        lambda columns: context_heatmap(results, network, name=name, columns=columns),
    )  # fmt: skip


def _structure_pictures(experiment: Experiment, name: str) -> Iterator[PicturePlan]:
    """Edges to mend against rows, and one learned network over the true one."""
    results = experiment.results
    own = [s for s in results.summary("hamming") if s.network == name and "@" in s.learner]
    if not own:
        return
    most = max(s.rows for s in own)
    best = min((s for s in own if s.rows == most), key=lambda s: s.mean)
    search = best.learner.partition("@")[2].replace(":", ", ")
    message = (
        f"{name}: {best.mean:.1f} edges to mend at best ({search}, {label_process(best.process)}), "
        f"{best.vacuous:.0f} for the empty graph."
    )
    if has_matplotlib():
        yield PicturePlan(
            "Structure", f"structure-{name}", message, "Edges to add, delete or reverse; 0 is the true graph.",
            lambda columns: learning_curves(results, "hamming", network=name, columns=columns),
        )  # fmt: skip
    trial = _find_trial(results, best)
    if trial is not None and len(experiment.grid.networks[name].variables) <= _MOST_NODES:
        yield PicturePlan(
            "Structure", f"learned-{name}", f"{name}: the learned network over the true one ({_speak_trial(trial)}).",
            "Bars are the learned marginals, ticks the true possibilities.",
            partial(_draw_learned, experiment, trial),
            "The lines below the drawing say which network has which edges; there is no room for bars.",
        )  # fmt: skip


def _closest_message(results: Results, names: list[str]) -> str:
    """Which learner ends closest to the truth on each kind of rows, in a sentence."""
    most = max(trial.rows for trial in results.trials)
    last = [s for s in results.summary("child_affinity") if s.rows == most and s.network in names]
    groups: dict[str, list[Summary]] = {}
    for s in last:
        groups.setdefault(s.process, []).append(s)
    clauses = []
    for process, group in groups.items():
        learners = dict.fromkeys(s.learner for s in group)
        means = {learner: fmean(s.mean for s in group if s.learner == learner) for learner in learners}
        best = max(means, key=means.__getitem__)
        nothing = fmean(s.vacuous for s in group)
        clauses.append(
            f"on {label_process(process)} {speak_learner(best)} {means[best]:.2f} (knowing nothing {nothing:.2f})"
        )
    owner = f"{names[0]}" if len(names) == 1 else f"{len(names)} networks"
    if not clauses:
        return f"{owner}: every trial with {most:,} rows failed."
    return f"{owner}, {most:,} rows: the closest to the truth is {join_words(clauses)}."


def _split_message(results: Results, name: str) -> str:
    """How much of the error is bias, for every learner whose limit is known."""
    most = max(trial.rows for trial in results.trials)
    own = [
        s for s in results.summary("child_mean_error") if s.rows == most and s.network == name and s.limit is not None
    ]
    clauses = []
    for process, learner in dict.fromkeys((s.process, s.learner) for s in own):
        pairs = [(s.mean, s.limit or 0.0) for s in own if (s.process, s.learner) == (process, learner)]
        error, bias = (fmean(values) for values in zip(*pairs, strict=True))
        clauses.append(f"{bias:.3f} of {error:.3f} for {speak_learner(learner)} on {label_process(process)}")
    return f"{name}: bias is {join_words(clauses)}." if clauses else ""


def _worst_message(results: Results, name: str) -> str:
    try:
        worst = worst_variable(results, name)
    except NothingToShow:
        return ""
    return f"{name}: the errors are the largest at {worst}."


def _find_trial(results: Results, summary: Summary) -> Trial | None:
    """The first trial behind a summary that did not fail and is soon learned again."""
    pairs = zip(results.trials, results.outcomes, strict=True)
    return next((t for t, o in pairs if t.setting == summary[:5] and o.error is None and t.rows <= _MOST_ROWS), None)


def _find_bounded(results: Results, network: str) -> Trial | None:
    """A trial whose learner gives bounds, with the most rows that are soon learned again; None if there is none."""
    trials = [
        trial
        for trial, outcome in zip(results.trials, results.outcomes, strict=True)
        if trial.network == network and "identified_share" in outcome.metrics and trial.rows <= _MOST_ROWS
    ]
    return max(trials, key=lambda trial: (trial.rows, trial.imprecision, -trial.repeat), default=None)


def _speak_trial(trial: Trial) -> str:
    rows = f"{trial.rows:,} {label_process(trial.process)}, imprecision {trial.imprecision:g}"
    return f"{rows}, by {speak_learner(trial.learner)}"


@lru_cache(maxsize=1)
def _learn_again(task: TrialTask) -> Network | Fitted:
    """What a trial learned: once for the wide and the narrow form of its picture."""
    return repeat_learning(task)


def _draw_bounds(experiment: Experiment, trial: Trial, columns: Columns) -> Any:
    """The bounds that a trial's learner gave, learned again from the same rows."""
    grid = experiment.grid
    result: Any = _learn_again(TrialTask(trial, grid.texts[trial.network], grid.seed))
    rows = f"{trial.rows:,} {label_process(trial.process)}, imprecision {trial.imprecision:g}"
    title = f"{trial.network}: {label_learner(trial.learner)}, {rows}"
    return bounds_figure(result, truth=grid.networks[trial.network], title=title, columns=columns)


def _draw_learned(experiment: Experiment, trial: Trial, columns: Columns) -> Drawing:
    """The network of a trial over the true one, learned again from the same rows."""
    grid = experiment.grid
    learned = network_of(_learn_again(TrialTask(trial, grid.texts[trial.network], grid.seed)))
    sides = ("the true network", "the learned one")
    title = f"{trial.network}: learned over true"

    def draw(**how: Any) -> Drawing:
        try:
            return draw_difference(grid.networks[trial.network], learned, title=title, sides=sides, **how)
        except TooLarge:
            raise NothingToShow("a learned network too large for marginals; expected a smaller one") from None

    return _fit_drawing(draw, columns, title)


def draw_form(network: Network, name: str, columns: Columns) -> Drawing:
    """A network for one or two columns: with bars where these have room, else by names alone."""

    def draw(**how: Any) -> Drawing:
        try:
            return draw_network(network, title=name, **how)
        except TooLarge:  # no marginals: names alone, which cannot be mistaken for them
            return outline_network(network, title=name)

    return _fit_drawing(draw, columns, f"{name}: the true network")


def _fit_drawing(draw: Callable[..., Drawing], columns: Columns, name: str) -> Drawing:
    """A drawing with its name below; for one column in more layers, or by names alone if it would be too wide or long."""
    drawing = draw() if columns == 2 else draw(widest=_NARROW)
    if not hasattr(drawing, "scene"):
        return drawing
    scene = drawing.scene
    if columns == 1 and (scene.width > 1.1 * _NARROW or scene.height > _MOST_HEIGHT):
        drawing = draw(detail="names", widest=_NARROW)
    scene, size = drawing.scene, 12.0
    label = Label(name, 0.0, scene.height + 1.6 * size, size, "ink", "start", 600)
    wide = max(scene.width, measure_text(name, size) * 1.1)
    return render_svg(replace(scene, shapes=(*scene.shapes, label), width=wide, height=scene.height + 2 * size))
