"""The classifier beside scikit-learn's CategoricalNB, and EM of ambiguous labels beside one written straight in numpy."""

import subprocess
import sys

import numpy as np
from measure import QUICK_ROUNDS, ROUNDS, Section, Target, Times, interleaved, table, timed
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from possnet.classifier import PossibilisticClassifier
from possnet.em import FeatureCells, fit_class_model, join_features

STEPS = 3
MEMORY = """
import resource, sys
sys.path.insert(0, "benchmarks")
from classifying import draw_rows, fit_candidates
codes, candidates, _ = draw_rows({rows}, {features}, {classes}, 3)
before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
model = fit_candidates(codes, candidates, 3)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, model.steps)
"""


def draw_rows(rows: int, features: int, classes: int, states: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States (features, rows) of a naive model, candidates, and true classes."""
    rng = np.random.default_rng(0)
    truth = rng.integers(classes, size=rows)
    laws = rng.dirichlet(np.ones(states), size=(features, classes)).cumsum(axis=-1)
    codes = np.stack([(rng.random(rows)[:, None] > law[truth]).sum(axis=1).clip(0, states - 1) for law in laws])
    candidates = rng.random((rows, classes)) < 0.03
    candidates[np.arange(rows), truth] = True
    return codes, candidates, truth


def fit_candidates(codes: np.ndarray, candidates: np.ndarray, states: int, **options: float) -> object:
    """EM of the naive model."""
    features = [FeatureCells.from_states(column, states) for column in codes]
    return fit_class_model(features, candidates, join_features(features), **options)  # type: ignore[arg-type]


def run_plain_em(codes: np.ndarray, candidates: np.ndarray, states: int, steps: int) -> np.ndarray:
    """The same EM, feature by feature, as one writes it first."""
    shares = candidates / candidates.sum(axis=1, keepdims=True)
    for _ in range(steps):
        logs = np.tile(np.log(shares.mean(axis=0)), (len(shares), 1))
        for column in codes:
            counts = np.stack([shares[column == state].sum(axis=0) for state in range(states)], axis=1) + 1.0 / states
            logs += np.log(counts / counts.sum(axis=1, keepdims=True)).T[column]
        logs[~candidates] = -np.inf
        logs -= logs.max(axis=1, keepdims=True)
        shares = np.exp(logs)
        shares /= shares.sum(axis=1, keepdims=True)
    return shares


def measure(*, quick: bool) -> Section:
    """The whole section."""
    rows, wide = (10_000, (2_000, 100, 20)) if quick else (100_000, (20_000, 480, 90))
    codes, _, truth = draw_rows(rows, 40, 5, 6)
    numbers = np.ascontiguousarray(codes.T)
    texts = np.array(list("abcdef"))[numbers].astype(object)
    ambiguous, candidates, _ = draw_rows(*wide, 3)
    naive = PossibilisticClassifier(structure="naive", calibration=None)
    encoded = make_pipeline(OrdinalEncoder(), CategoricalNB())
    jobs = {
        "numbers": timed(lambda: naive.fit(numbers, truth).predict(numbers)),
        "numbers, peer": timed(lambda: CategoricalNB().fit(numbers, truth).predict(numbers)),
        "texts": timed(lambda: naive.fit(texts, truth).predict(texts)),
        "texts, peer": timed(lambda: encoded.fit(texts, truth).predict(texts)),
    }
    found = interleaved(jobs, QUICK_ROUNDS if quick else ROUNDS)
    steps = {
        "em": timed(lambda: fit_candidates(ambiguous, candidates, 3, max_steps=STEPS, tolerance=-1e9)),
        "em, peer": timed(lambda: run_plain_em(ambiguous, candidates, 3, STEPS)),
        "em, whole": timed(lambda: fit_candidates(ambiguous, candidates, 3)),
    }
    found |= interleaved(steps, 2)
    script = MEMORY.format(rows=wide[0], features=wide[1], classes=wide[2])
    memory, n_steps = map(
        float, subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )
    size = f"{wide[0]:,} rows, {wide[1]} features, {wide[2]} labels"
    lines = [
        [f"naive, {rows:,} x 40 whole numbers, learn and predict", f"{found['numbers']}", f"{found['numbers, peer']}"],
        [f"naive, {rows:,} x 40 texts, the peer with OrdinalEncoder", f"{found['texts']}", f"{found['texts, peer']}"],
        [f"EM of candidates, {size}, {STEPS} steps", f"{found['em']}", f"{found['em, peer']}"],
        [f"the same until it converges ({n_steps:.0f} steps, {memory:,.0f} MB)", f"{found['em, whole']}", ""],
    ]
    targets = [
        _at_most(
            f"classifier, naive, {rows:,} x 40 numbers", found["numbers"], "CategoricalNB", found["numbers, peer"], 2.0
        ),
        _at_most(
            f"classifier, naive, {rows:,} x 40 texts",
            found["texts"],
            "OrdinalEncoder, CategoricalNB",
            found["texts, peer"],
            2.0,
        ),
        Target(
            f"EM of candidates, {size}, {STEPS} steps",
            str(found["em"]),
            f"numpy {found['em, peer']}",
            found["em, peer"].best / found["em"].best,
            3.0,
        ),
        Target(f"EM of candidates, {size}, memory", f"{memory:,.0f} MB", "", memory, 1500.0, "MB", at_most=True),
        Target(
            f"EM of candidates, {size}, in all",
            str(found["em, whole"]),
            "",
            found["em, whole"].best,
            60.0,
            "s",
            at_most=True,
        ),
    ]
    return Section(table(" job | possnet | peer ", lines), targets)


def _at_most(job: str, ours: Times, peer: str, theirs: Times, asked: float) -> Target:
    return Target(job, str(ours), f"{peer} {theirs}", ours.best / theirs.best, asked, "times the peer", at_most=True)
