"""Calibrated degrees: exact small cases, p-values against their definition, and validity on exchangeable rows."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.calibration import ScoreRanks, compute_p_values, cut_sets, raise_tops, rank_candidates

LEVELS = (0.05, 0.1, 0.2, 0.5)


def p_value(known: list[float], score: float) -> float:
    """The p-value of a candidate, straight from the definition."""
    return (1 + sum(k <= score for k in known)) / (1 + len(known))


scores_of_rows = st.lists(st.sampled_from([-5.0, -2.0, -1.0, -0.5, 0.0]), min_size=1, max_size=12)


@given(scores_of_rows, scores_of_rows)
def test_p_values_are_ranks_among_calibration_rows(known: list[float], new: list[float]) -> None:
    ranks = ScoreRanks.from_scores(np.array(known))
    assert compute_p_values([ranks], [np.array([new])])[0].tolist() == pytest.approx([p_value(known, s) for s in new])


@given(st.lists(scores_of_rows, min_size=1, max_size=4), st.lists(st.floats(-6, 0), min_size=1, max_size=3), st.data())
def test_folds_add_their_counts(folds: list[list[float]], new: list[float], data: st.DataObject) -> None:
    scores = [
        np.array([[data.draw(st.sampled_from([-5.0, -2.0, -1.0, 0.0])) for _ in new]], dtype=float) for _ in folds
    ]
    ranks = [ScoreRanks.from_scores(np.array(known)) for known in folds]
    expected = [
        (1 + sum(sum(k <= own[0, j] for k in known) for known, own in zip(folds, scores, strict=True)))
        / (1 + sum(map(len, folds)))
        for j in range(len(new))
    ]
    assert compute_p_values(ranks, scores)[0].tolist() == pytest.approx(expected)


@given(st.lists(st.tuples(st.sampled_from([-3.0, -1.0, 0.0]), st.integers(0, 2)), min_size=1, max_size=12))
def test_classes_by_themselves_are_compared_with_their_own_rows(rows: list[tuple[float, int]]) -> None:
    ranks = ScoreRanks.from_scores(np.array([s for s, _ in rows]), states=np.array([y for _, y in rows]))
    new = np.array([[-1.0, -1.0, -2.0]])
    expected = [p_value([s for s, y in rows if y == state], new[0, state]) for state in range(3)]
    assert compute_p_values([ranks], [new])[0].tolist() == pytest.approx(expected)


def test_a_small_case_by_hand() -> None:
    """Four calibration rows whose truth has the probabilities .9, .6, .6, .2; a new row (.7, .2, .1)."""
    raw = np.log([[0.9, 0.05, 0.05], [0.3, 0.6, 0.1], [0.6, 0.2, 0.2], [0.2, 0.7, 0.1]])
    truth = np.eye(3, dtype=bool)[[0, 1, 0, 0]]
    ranks = rank_candidates(raw, truth)
    p_values = compute_p_values([ranks], [np.log([[0.7, 0.2, 0.1]])])
    assert p_values.tolist() == [[0.8, 0.4, 0.2]]  # 4/5: three of four are no larger; 2/5; 1/5
    assert raise_tops(p_values).tolist() == [[1.0, 0.4, 0.2]]
    assert cut_sets(raise_tops(p_values), 0.2).tolist() == [[True, True, False]]
    assert cut_sets(raise_tops(p_values), 0.4).tolist() == [[True, False, False]]


def test_an_ambiguous_row_by_hand() -> None:
    """Candidates of probabilities .6 and .2: worst counts .2, best .6, expected both, by 3 to 1."""
    raw = np.log([[0.6, 0.2, 0.2], [0.1, 0.8, 0.1]])
    candidates = np.array([[True, True, False], [False, True, False]])
    new = np.log([[0.5, 0.3, 0.2]])
    worst, best, expected = (
        compute_p_values([rank_candidates(raw, candidates, shares=np.exp(raw), ambiguous=way)], [new])[0].tolist()
        for way in ("worst", "best", "expected")
    )
    assert worst == pytest.approx([2 / 3, 2 / 3, 2 / 3])
    assert best == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert expected == pytest.approx([1.25 / 3, 1.25 / 3, 1.25 / 3])


@given(st.integers(0, 10_000))
def test_the_worst_candidate_never_gives_smaller_degrees_than_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    raw = np.log(rng.dirichlet(np.ones(4), 30))
    truth = np.eye(4, dtype=bool)[rng.integers(4, size=30)]
    candidates = truth | (rng.random(truth.shape) < 0.3)
    candidates[candidates.all(axis=1)] = truth[candidates.all(axis=1)]
    new = np.log(rng.dirichlet(np.ones(4), 10))
    exact, worst, best = (
        compute_p_values([rank_candidates(raw, cells, ambiguous=way)], [new])  # type: ignore[arg-type]
        for cells, way in ((truth, "worst"), (candidates, "worst"), (candidates, "best"))
    )
    assert (worst >= exact - 1e-12).all()
    assert (best <= exact + 1e-12).all()


# Validity. One trial: a wrong model, calibration rows, one new row. Trials are independent, so that the number of trials whose
# truth has a degree <= a is binomial with a probability of a at most.


def binomial_bound(trials: int, probability: float, tail: float = 1e-5) -> int:
    """The smallest number that is exceeded with at most this probability."""
    total = 0.0
    for number in range(trials + 1):
        total += comb(trials, number) * probability**number * (1 - probability) ** (trials - number)
        if total >= 1 - tail:
            return number
    return trials


def draw_trial(
    rng: np.random.Generator, rows: int, *, shift: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Scores of a wrong model for calibration rows and a new one, and their truths; a shift breaks exchangeability."""
    law = rng.dirichlet(np.ones(3), rows + 1)
    truth = np.array([rng.choice(3, p=p) for p in law])
    model = law**2 + 0.05  # too sure, and mistaken
    if shift:
        model[-1] = 1.0 - shift * law[-1]
    scores = np.log(model / model.sum(axis=1, keepdims=True)).round(1)  # ties are common
    return scores[:-1], truth[:-1], scores[-1:], int(truth[-1])


def count_misses(trials: int, *, rows: int = 29, **how: object) -> dict[float, int]:
    """How often the degree of the truth is no larger than each level."""
    rng = np.random.default_rng(int(how.pop("seed", 0)))  # type: ignore[call-overload]
    ambiguous, randomise = how.pop("ambiguous", None), how.pop("randomise", False)
    misses = dict.fromkeys(LEVELS, 0)
    for _ in range(trials):
        scores, truth, new, state = draw_trial(rng, rows, **how)  # type: ignore[arg-type]
        cells = np.eye(3, dtype=bool)[truth]
        if ambiguous:
            cells = cells | (rng.random(cells.shape) < 0.4)
        ranks = rank_candidates(scores, cells, ambiguous=ambiguous or "worst")  # type: ignore[arg-type]
        degree = compute_p_values([ranks], [new], rng if randomise else None)[0, state]
        for level in LEVELS:
            misses[level] += int(degree <= level + 1e-12)
    return misses


@pytest.mark.parametrize("seed", range(5))
def test_degrees_of_the_truth_are_valid_on_exchangeable_rows(seed: int) -> None:
    misses = count_misses(1000, seed=seed)
    assert all(misses[level] <= binomial_bound(1000, level) for level in LEVELS), misses


@pytest.mark.parametrize("seed", range(3))
def test_ties_drawn_apart_are_exactly_valid(seed: int) -> None:
    misses = count_misses(1000, seed=seed, randomise=True)
    for level in LEVELS:
        assert 1000 - binomial_bound(1000, 1 - level) <= misses[level] <= binomial_bound(1000, level), misses


def test_the_worst_candidate_is_valid_on_ambiguous_rows() -> None:
    misses = count_misses(1000, ambiguous="worst")
    assert all(misses[level] <= binomial_bound(1000, level) for level in LEVELS), misses


def test_planted_failures_fail() -> None:
    """The best candidate, and a new row of another kind, break the bound: the laws above can fail."""
    best = count_misses(1000, ambiguous="best")
    assert best[0.2] > binomial_bound(1000, 0.2)
    shifted = count_misses(1000, shift=0.9)
    assert shifted[0.2] > binomial_bound(1000, 0.2)


def test_every_class_by_itself_is_valid_where_all_together_are_not() -> None:
    """A rare class that a model never foresees: marginal degrees fail for it, those of the class itself hold."""
    rng = np.random.default_rng(0)
    rare = {"all": 0, "own": 0}
    for _ in range(400):
        truth = (rng.random(80) < 0.2).astype(int)
        truth[-1] = 1
        scores = np.log(np.where(np.eye(2, dtype=bool)[truth] == (truth == 0)[:, None], 0.9, 0.1))
        scores += 1e-3 * rng.random(scores.shape)
        cells = np.eye(2, dtype=bool)[truth]
        cells = np.hstack([cells, np.zeros((80, 1), dtype=bool)])
        scores = np.hstack([scores, np.full((80, 1), -9.0)])
        for way in rare:
            ranks = rank_candidates(scores[:-1], cells[:-1], per_class=way == "own")
            rare[way] += int(compute_p_values([ranks], [scores[-1:]])[0, 1] <= 0.2)
    assert rare["own"] <= binomial_bound(400, 0.2)
    assert rare["all"] > binomial_bound(400, 0.2)


def test_networks_that_claim_too_much_are_made_valid() -> None:
    """Twelve copies of one feature: a naive network's cut at .1 misses the truth far too often, the calibrated one does not."""
    rng = np.random.default_rng(1)
    label = pn.Variable("label", ("a", "b", "c"))
    features = [pn.Variable(f"f{k}", ("0", "1", "2")) for k in range(12)]

    def draw(rows: int) -> tuple[pn.Dataset, np.ndarray]:
        truth = rng.integers(3, size=rows)
        seen = np.where(rng.random(rows) < 0.6, truth, rng.integers(3, size=rows))
        cells = [(label.states[t], *(str(s),) * 12) for t, s in zip(truth, seen, strict=True)]
        return pn.Dataset.from_rows((label, *features), cells), truth

    dag = pn.Dag({"label": (), **{v.name: ("label",) for v in features}})
    network = pn.fit(dag, draw(300)[0])
    calibration = pn.calibrate(network, draw(600)[0], target="label")
    new, truth = draw(2000)
    raw = pn.Inference(network).query_many("label", new)
    valid = calibration.degrees(raw)
    own = np.arange(2000), truth
    assert (raw[own] <= 0.1).mean() > 0.2
    assert (valid[own] <= 0.1).mean() < 0.1 + 4 * np.sqrt(0.1 * 0.9 / 600) + 0.02
    completed = calibration.complete(new, hide=True).degrees["label"]
    assert completed.table[completed.numbers] == pytest.approx(valid, abs=1e-9)
