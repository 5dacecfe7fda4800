"""Calibrating a network on rows that it was not learned from, or a recipe in folds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from possnet.calibration.calibrated_network import Calibration, check_alpha, describe_rows
from possnet.calibration.candidate_scores import AMBIGUOUS, Ambiguous, rank_candidates
from possnet.calibration.seen_rows import describe_seen_rows
from possnet.dataset import Dataset, align_rows, require_rows
from possnet.doors import check_arguments
from possnet.errors import InputError, among, require_known, require_whole
from possnet.inference import SCORED_BY, ScoredBy, score_rows
from possnet.network import Network
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from possnet.aliases import Bools, Ints, Progress
    from possnet.calibration.score_ranks import ScoreRanks
    from possnet.dataset import Batches
    from possnet.variables import Variable

    Subject: TypeAlias = Network | Callable[[Dataset], Any] | Any

_FEWEST: Final = 2  # rows of a fold


@check_arguments
def calibrate(
    subject: Subject,
    data: Dataset | Batches,
    target: str,
    *,
    by: ScoredBy = "possibility",
    ambiguous: Ambiguous = "expected",
    per_class: bool = False,
    alpha: float | None = None,
    seen: bool | None = None,
    folds: int = 5,
    rng: np.random.Generator | int = 0,
    progress: Progress | None = None,
) -> Calibration:
    """Learn from rows what the degrees of a variable are worth: the value that is returned makes them valid.

    A distribution of possibility is valid if P(pi(truth) <= a) <= a for every a: the cut {x : pi(x) > a} holds the
    truth in 1 - a of the rows or more, and a necessity of 1 - a is wrong in a of them at most. For rows that are
    exchangeable with the calibration rows this holds exactly, whatever the network; see
    `possnet.calibration.score_ranks` and docs/calibration.md.

    Equation
    --------
    π(x) = (1 + |{i : s_i ≤ s(x)}|) / (n + 1)
    P(π(truth) ≤ α) ≤ α for every α

    Parameters
    ----------
    subject
        A network, and then rows that it was not learned from; or a `Recipe` (or a function from rows to a network),
        which is learned inside folds, so that every row is used: valid approximately.
    data
        Calibration rows.
    target
        The variable whose degrees are calibrated.
    by
        What is ranked: the degrees of the network (``possibility``), or the probabilities of the Bayesian network whose
        tables are the network's, each row divided by its sum (``probability``).
    ambiguous
        What counts in rows whose target is a set of candidates: ``expected``, all of them in proportion to their
        probability (approximately valid); ``worst`` (valid, says little); ``best`` (not valid: for comparisons).
    per_class
        Compare every state with calibration rows of its own, so that degrees are valid for every class by itself
        (Mondrian).
    alpha
        The level that will be asked for; too few rows for it are warned of.
    seen
        Rows that the network was probably learned from are refused, because they flatter it. False says that it has not
        seen them, True that this does not matter.
    folds, rng
        For a recipe: how many folds, and the seed that draws them.
    progress
        Called with the folds done and the folds in all.

    Examples
    --------
    >>> import possnet as pn
    >>> survey = pn.load_example("survey")
    >>> rows = pn.sample(survey, 600, process="precise", rng=1)
    >>> learned = pn.fit(survey.dag, rows[:300])
    >>> calibration = pn.calibrate(learned, rows[300:], target="vote")
    >>> new = pn.sample(survey, 1000, process="precise", rng=2)
    >>> held = calibration.complete(new, hide=True).narrowed(0.1)
    >>> bool(np.mean([new.row(k)["vote"] <= held.row(k)["vote"] for k in range(1000)]) > 0.87)
    True
    """
    require_rows(data, "calibrate")
    data = data if isinstance(data, Dataset) else Dataset.concatenate(data)
    require_known(by, SCORED_BY, "calibrate: by")
    require_known(ambiguous, AMBIGUOUS, "calibrate: ambiguous")
    seed = seed_of(rng)
    if isinstance(subject, Network):
        _refuse_seen_rows(subject, data, seen)
        variable = _find_target(subject, data, target)
        ranks = (_rank_rows(subject, data, variable, by, ambiguous, per_class=per_class),)
        calibration = Calibration(variable, ranks, (subject,), subject, by, ambiguous, describe_rows(None), alpha)
    else:
        calibration = _calibrate_folds(subject, data, target, by, ambiguous, per_class, folds, seed, progress)
    if not calibration.rows:
        raise InputError(
            f"calibrate: no row says anything of {target!r}, whose cells are all unknown or the whole domain; expected "
            "states"
        )
    level = None if alpha is None else check_alpha(alpha, "calibrate", calibration.rows)
    return replace(calibration, alpha=level)


def _calibrate_folds(
    subject: Subject,
    data: Dataset,
    target: str,
    by: ScoredBy,
    ambiguous: Ambiguous,
    per_class: bool,  # noqa: FBT001
    folds: int,
    seed: int,
    progress: Progress | None,
) -> Calibration:
    """Every fold ranked by the network that is learned from the others, and a network of all rows."""
    learn = getattr(subject, "learn", subject)
    if not callable(learn):
        raise InputError(
            f"calibrate: a {type(subject).__name__}; expected a network, a Recipe, or a function from rows to one"
        )
    parts = split_rows(len(data), require_whole(folds, 2, "calibrate: folds"), seed)
    networks, ranks = [], []
    for number, held_out in enumerate(parts):
        network = _take_network(learn(data[np.setdiff1d(np.arange(len(data)), held_out)]))
        variable = _find_target(network, data, target)
        networks.append(network)
        ranks.append(_rank_rows(network, data[held_out], variable, by, ambiguous, per_class=per_class))
        if progress is not None:
            progress(number + 1, len(parts))
    whole = _take_network(learn(data))
    return Calibration(variable, tuple(ranks), tuple(networks), whole, by, ambiguous, describe_rows(parts))


def split_rows(rows: int, folds: int, seed: int) -> list[Ints]:
    """Row numbers of every fold, ascending, in random folds of equal size.

    >>> [len(fold) for fold in split_rows(7, 3, 0)]
    [3, 2, 2]
    """
    if rows < _FEWEST * folds:
        raise InputError(
            f"calibrate: {rows} rows for {folds} folds; expected {_FEWEST * folds} or more, or fewer folds"
        )
    order = np.random.default_rng(seed).permutation(rows)
    return [np.sort(part) for part in np.array_split(order, folds)]


def _take_network(result: object) -> Network:
    network = getattr(result, "network", result)
    if not isinstance(network, Network):
        raise InputError(
            f"calibrate: the recipe gave a {type(result).__name__}; expected a Network, or a result that has one as "
            ".network"
        )
    return network


def _find_target(network: Network, data: Dataset, target: str) -> Variable:
    """The variable of the network, which the data have too."""
    columns = [v.name for v in data.variables]
    if target not in columns:
        raise InputError(f"calibrate: no column {target!r} in the data{among(target, columns)}")
    return network.variable(target)


def _refuse_seen_rows(network: Network, data: Dataset, seen: bool | None) -> None:  # noqa: FBT001
    reason = describe_seen_rows(network, data) if seen is None else ""
    if reason:
        raise InputError(
            f"calibrate: {reason}, so that these are probably the same rows, which flatter it; expected others, or "
            "seen=False if they are others, or a recipe, which is learned inside folds"
        )


def _rank_rows(
    network: Network, data: Dataset, variable: Variable, by: ScoredBy, ambiguous: Ambiguous, *, per_class: bool
) -> ScoreRanks:
    """The scores that some rows stand for."""
    own = {v.name for v in network.variables}
    shown = data.select([v.name for v in data.variables if v.name in own and v.name != variable.name])
    scores = score_rows(network, variable.name, shown, by=by)
    candidates = _read_candidates(data, variable)
    several = bool((candidates.sum(axis=1) > 1).any())
    shares = None
    if several and ambiguous == "expected":
        shares = np.exp(scores if by == "probability" else score_rows(network, variable.name, shown, by="probability"))
    weights = None if data.weights is None else data.weights.astype(np.float64)
    return rank_candidates(scores, candidates, shares=shares, weights=weights, ambiguous=ambiguous, per_class=per_class)


def _read_candidates(data: Dataset, variable: Variable) -> Bools:
    """Which states of the variable every cell holds, (rows, states)."""
    aligned = align_rows(data.select([variable.name]), [variable], "calibrate")
    column = aligned.column(variable.name)
    cells: Bools = column.cell_sets[column.codes]
    return cells
