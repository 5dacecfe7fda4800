"""Confidence of edges by bootstrap samples: what it is, whoever does the work, and what an interrupt leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import possnet as pn
from possnet.structure import MEASURES, METHODS, DecomposableScore, StructureScore
from possnet.structure.bootstrap_confidence import draw_sample
from tests.structure.cases import sharp_tree

SAMPLES = 4


@pytest.fixture(scope="module")
def rows() -> pn.Dataset:
    return pn.sample(pn.load_example("asia"), 300, process="precise", rng=1)


@pytest.mark.parametrize("method", METHODS)
def test_confidence_is_the_share_of_samples_with_the_edge(method: str, rows: pn.Dataset) -> None:
    learned = pn.learn_structure(rows, method, bootstrap=SAMPLES, rng=3, workers=1)
    again = [
        set(pn.learn_structure(draw_sample(rows, 3, number), method, measure=learned.measure, rng=3).dag.edges)
        for number in range(SAMPLES)
    ]
    assert learned.bootstrap == SAMPLES
    for edge in learned.edges:
        same = sum((edge.parent, edge.child) in edges for edges in again)
        reverse = sum((edge.child, edge.parent) in edges for edges in again)
        assert (edge.confidence, edge.direction) == ((same + reverse) / SAMPLES, same / SAMPLES)


def test_any_number_of_workers_and_any_executor_give_the_same_confidence() -> None:
    data = pn.sample(sharp_tree(5), 300, process="traced", rng=1)
    one, two = (
        pn.learn_structure(data, measure="traced-bic", bootstrap=SAMPLES, rng=1, workers=workers) for workers in (1, 2)
    )
    assert one == two
    with ThreadPoolExecutor(2) as pool:
        assert pn.learn_structure(data, measure="traced-bic", bootstrap=SAMPLES, rng=1, executor=pool) == one


def test_samples_of_weighted_rows_have_as_many_rows_as_the_data() -> None:
    data = pn.Dataset.from_table({"a": ["x", "y", "y"], "b": ["u", "v", "u"]}).with_weights([5, 0, 2])
    for number in range(5):
        sample = draw_sample(data, 1, number)
        assert sample.total == 7
        assert sample.weights is not None
        assert sample.weights[1] == 0


def test_no_rows_have_no_confidence_that_anything_is_there() -> None:
    variables = (pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v")))
    learned = pn.learn_structure(pn.Dataset.from_rows(variables, []), bootstrap=2)
    assert (learned.edges, learned.bootstrap) == ((), 2)


def test_a_measure_of_the_callers_own_is_not_sent_to_workers(rows: pn.Dataset) -> None:
    own = StructureScore("own", "own", lambda problem: DecomposableScore(problem.rows, price=2.0))
    MEASURES.register(own)
    try:
        one, two = (pn.learn_structure(rows, measure="own", bootstrap=2, workers=workers) for workers in (1, 2))
    finally:
        MEASURES.unregister("own")
    assert one == two


def test_an_interrupt_keeps_the_samples_done_so_far(rows: pn.Dataset) -> None:
    def interrupt(done: int, total: int) -> None:
        if (done, total) == (2, SAMPLES):
            raise KeyboardInterrupt

    with pytest.warns(pn.PossnetWarning, match="interrupted; the confidence of edges is that of 2 bootstrap samples"):
        learned = pn.learn_structure(rows, bootstrap=SAMPLES, workers=1, progress=interrupt)
    assert learned.bootstrap == 2
    assert all(edge.confidence in {0.0, 0.5, 1.0} for edge in learned.edges)


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_an_interrupt_ends_the_workers() -> None:
    script = (
        "import warnings, possnet as pn\n"
        "warnings.simplefilter('ignore')\n"
        "data = pn.sample(pn.load_example('asia'), 3000, process='traced', rng=1)\n"
        "def report(done, total):\n"
        "    if total == 10_000: print('begun', flush=True)\n"
        "learned = pn.learn_structure(data, measure='random-set-bic', bootstrap=10_000, workers=2, progress=report)\n"
        "print('samples', learned.bootstrap, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "begun\n"
        time.sleep(0.2)
        os.kill(run.pid, signal.SIGINT)
        rest = run.stdout.read()  # ends when every process that has the pipe has ended
    assert run.returncode == 0
    assert "samples" in rest


@pytest.mark.parametrize(
    ("options", "message"),
    [({"workers": 0}, "workers 0"), ({"executor": 3}, "executor 3; expected an executor or None")],
)
def test_workers_are_checked(options: dict[str, int], message: str, rows: pn.Dataset) -> None:
    with pytest.raises(pn.InputError, match=message):
        pn.learn_structure(rows, bootstrap=2, **options)  # type: ignore[arg-type]
