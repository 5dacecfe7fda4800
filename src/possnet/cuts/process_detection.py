"""Which process drew the rows: precise, alpha-cut or traced.

1. Where every cell is a single state, the rows are *precise*.
2. Every cell of alpha-cut rows contains the core of its variable. A variable without such a state says *traced*.
3. Otherwise the two laws compete: given its parents' cells A, a child's cell is a thinned cut of max over a in A of J(x, a)
   in alpha-cut rows, and drawn for a context a that is uniform in A in traced rows. Each is fitted to four fifths of the
   rows and judged on the last, five times. Only if traced is ahead by more than three standard errors is it taken: doubt
   goes to alpha-cut, whose bounds claim less.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from possnet.counting import nodes_in
from possnet.cuts.cell_likelihood import cell_probabilities, estimate_imprecision
from possnet.cuts.common_states import require_common_states
from possnet.cuts.family_bounds import contexts_in_cells
from possnet.cuts.family_cells import count_cells
from possnet.cuts.network_fitting import FamilyOptions, fit_families
from possnet.dataset import Dataset, batches_of
from possnet.doors import check_arguments
from possnet.errors import InputError, count_noun, require_number
from possnet.possibility import PRODUCT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.aliases import Floats
    from possnet.cuts.family_cells import FamilyCells
    from possnet.cuts.family_fitting import FamilyFit
    from possnet.dataset import Batches
    from possnet.graph import Dag

ProcessName: TypeAlias = Literal["precise", "alpha-cut", "traced"]

_ROWS: Final = 20_000  # that are looked at: enough where the laws differ at all
_FOLDS: Final = 5
_EM_STEPS: Final = 200


@dataclass(frozen=True, slots=True)
class DetectedProcess:
    """Which process rows look like, and why.

    Attributes
    ----------
    process
        ``precise``, ``alpha-cut`` or ``traced``: a name of `possnet.sample`'s processes.
    reason
        The evidence, in words.
    imprecise_share
        Share of the known cells that hold several states.
    absence
        Name -> share of its cells that lack the state which most of them have: 0 for alpha-cut rows without errors.
    advantage, advantage_error
        By how much held-out cells are likelier by the law of traced rows than by that of alpha-cut rows, in nats, and its
        standard error; None where the cells decided before.
    rows
        Rows that were looked at.

    Examples
    --------
    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> print(pn.detect_process(pn.sample(asia, 300, process="precise", rng=1), asia.dag))
    precise: every cell is a single state (300 rows)
    """

    process: ProcessName
    reason: str
    imprecise_share: float
    absence: dict[str, float]
    advantage: float | None
    advantage_error: float | None
    rows: int

    def __str__(self) -> str:
        return f"{self.process}: {self.reason}"


@check_arguments
def detect_process(data: Dataset | Batches, dag: Dag, *, wrong: float = 0.005) -> DetectedProcess:
    """Tell whether rows are precise, alpha-cut or traced, with the evidence in words and numbers.

    Of many rows 20,000 are looked at, spread evenly over a data set, or the first ones of a stream.

    Parameters
    ----------
    wrong
        Share of wrong cells that may not decide: so many cells may be sets in precise rows, and lack the state that all
        others have in alpha-cut rows.

    Examples
    --------
    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> for process in ("precise", "alpha-cut", "traced"):
    ...     print(pn.detect_process(pn.sample(clinic, 300, process=process, rng=1), clinic.dag).process)
    precise
    alpha-cut
    traced
    """
    require_number(wrong, "detect_process: wrong", "a share from 0 to below .5", 0.0, 0.5 - 1e-9)
    nodes_in(dag, data, "detect_process")
    rows = take_rows(data)
    families = count_cells(dag, rows, "detect_process")
    known = {name: int(family.child_rows.sum()) for name, family in families.items()}
    if not sum(known.values()):
        raise InputError("detect_process: the data has no rows with a known cell; expected at least one")
    sets = sum(int(f.child_rows[f.child_cells.sum(axis=1) > 1].sum()) for f in families.values())
    share = sets / sum(known.values())
    absence = {name: float(np.min(family.absence)) for name, family in families.items() if known[name]}
    evidence = share, absence
    size = count_noun(len(rows), "row")
    if share <= wrong:
        text = (
            "every cell is a single state" if not sets else f"{100 * (1 - share):.3g} % of the cells are single states"
        )
        return DetectedProcess("precise", f"{text} ({size})", *evidence, None, None, len(rows))
    allowed = {name: wrong + 3.0 * sqrt(wrong * (1.0 - wrong) / known[name]) for name in absence}
    worst = max(absence, key=lambda name: absence[name] - allowed[name])
    if absence[worst] > allowed[worst]:
        text = f"no state of {worst!r} lies in more than {100 * (1 - absence[worst]):.3g} % of its cells"
        reason = f"{text}, while all cells of alpha-cut rows share one ({size})"
        return DetectedProcess("traced", reason, *evidence, None, None, len(rows))
    return _compare_laws(dag, rows, max(allowed.values()), evidence)


def take_rows(data: Dataset | Batches) -> Dataset:
    """Some of the rows: evenly spread, or the first ones of a stream."""
    if isinstance(data, Dataset):
        return data if len(data) <= _ROWS else data[np.linspace(0, len(data) - 1, _ROWS).astype(np.int64)]
    parts: list[Dataset] = []
    for batch in batches_of(data):
        parts.append(batch)
        if sum(map(len, parts)) >= _ROWS:
            break
    if not parts:
        raise InputError("detect_process: the data has no rows; expected at least one")
    return Dataset.concatenate(parts)[:_ROWS]


def _compare_laws(dag: Dag, rows: Dataset, wrong: float, evidence: tuple[float, dict[str, float]]) -> DetectedProcess:
    """Held-out likelihood of both laws."""
    gain = variance = 0.0
    number = np.arange(len(rows)) % _FOLDS
    for fold in range(min(_FOLDS, len(rows))):
        train = count_cells(dag, rows[number != fold], "detect_process")
        test = count_cells(dag, rows[number == fold], "detect_process")
        for differences, counts in _judge_fold(dag, train, test, rows[number != fold], wrong):
            gain += float(counts @ differences)
            mean = counts @ differences / max(counts.sum(), 1)
            variance += float(counts @ (differences - mean) ** 2)
    error = sqrt(variance)
    traced = gain > 3.0 * error and gain > 0.0
    size = count_noun(len(rows), "row")
    lacking = max(evidence[1].values())
    start = "every variable has a state in all its cells"
    start += f" but {100 * lacking:.2g} %, which pass as wrong" if lacking else ""
    end = f"the law of traced rows makes held-out cells likelier by {gain:.3g} ± {error:.2g} nats"
    rule = "more than three standard errors" if traced else "not by more than three standard errors"
    process: ProcessName = "traced" if traced else "alpha-cut"
    return DetectedProcess(process, f"{start}, and {end}, {rule} ({size})", *evidence, gain, error, len(rows))


def _judge_fold(
    dag: Dag, train: Mapping[str, FamilyCells], test: Mapping[str, FamilyCells], rows: Dataset, wrong: float
) -> list[tuple[Floats, Floats]]:
    """For every child the log-likelihood of its held-out pairs of cells, traced minus alpha-cut, and their counts."""
    train = require_common_states(train, rows, min(wrong + 3.0 / max(len(rows), 1), 0.49), "detect_process")
    theta, _ = estimate_imprecision(list(train.values()), "independent")
    options = FamilyOptions(dict.fromkeys(train, theta), "independent", 0.5, PRODUCT)
    fits = fit_families(dag, train, options)
    judged = []
    for name, family in train.items():
        held_out = test[name].require_states(fits[name].core, [fits[parent.name].core for parent in family.parents])
        if family.parents and family.total and held_out.total:  # without wrong rows, which neither law explains
            by_cuts = _predict_cuts(held_out, fits[name], theta)
            by_traces = _predict_traces(family, held_out)
            spread = 0.5 / (family.total + 1.0)
            floor = spread * 0.5 ** min(len(family.child), 900)
            ratio = np.log((1 - spread) * by_traces + floor) - np.log((1 - spread) * by_cuts + floor)
            judged.append((ratio, held_out.counts.astype(np.float64)))
    return judged


def _predict_cuts(test: FamilyCells, fit: FamilyFit, theta: float) -> Floats:
    """Probability of every held-out pair by the law of alpha-cut rows."""
    inside = contexts_in_cells(test.parent_cells, test.combinations)
    degrees = np.stack([fit.joint[members].max(axis=0) for members in inside])
    degrees[:, fit.core] = 1.0
    return np.maximum(cell_probabilities(test, degrees, fit.core, theta, "independent"), 0.0)


def _predict_traces(train: FamilyCells, test: FamilyCells) -> Floats:
    """Probability of every held-out pair by the law of traced rows: cells given a context that is uniform in A, by EM."""
    weights = _spread_contexts(train)[train.pairs[:, 0]]
    cells, counts = train.pairs[:, 1], train.counts.astype(np.float64)
    masses = np.full((weights.shape[1], len(train.child_cells)), 1.0 / len(train.child_cells))
    for _ in range(_EM_STEPS):
        joint = weights * masses[:, cells].T
        expected = joint * (counts / np.maximum(joint.sum(axis=1), 1e-300))[:, np.newaxis]
        renewed = np.zeros_like(masses)
        np.add.at(renewed.T, cells, expected)
        totals = renewed.sum(axis=1, keepdims=True)
        renewed = np.divide(renewed, totals, out=masses.copy(), where=totals > 0.0)
        moved = float(np.abs(renewed - masses).max())
        masses = renewed
        if moved < 1e-5:
            break
    place = {cell.tobytes(): number for number, cell in enumerate(train.child_cells)}
    numbers = np.array([place.get(cell.tobytes(), -1) for cell in test.child_cells])[test.pairs[:, 1]]
    predicted = (_spread_contexts(test)[test.pairs[:, 0]] * masses[:, numbers].T).sum(axis=1)
    return np.where(numbers >= 0, predicted, 0.0)


def _spread_contexts(family: FamilyCells) -> Floats:
    """[a in A] / |A|, (combinations, contexts)."""
    inside = contexts_in_cells(family.parent_cells, family.combinations).astype(np.float64)
    return np.asarray(inside / inside.sum(axis=1, keepdims=True))
