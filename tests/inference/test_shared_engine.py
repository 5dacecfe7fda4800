"""One engine shared by threads and by forked and spawned processes answers as one that is used alone."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet.executors import workers

ASIA = pn.load_example("asia")
QUESTIONS: list[dict[str, Any]] = [
    {},
    {"xray": "yes"},
    {"dysp": "yes", "smoke": "no"},
    {"asia": "yes", "xray": {"yes", "no"}},
    {"bronc": "no", "dysp": "yes"},
    {"either": "no"},
]


def answer(engine: pn.Inference, number: int) -> tuple[Any, ...]:
    """Everything that an engine says to one question."""
    given = QUESTIONS[number % len(QUESTIONS)]
    marginals = {name: pi.degrees.tolist() for name, pi in engine.marginals(given).items()}
    best = engine.most_possible(given)
    rows = engine.query_many(
        "lung", pn.Dataset.from_rows([ASIA.variable("xray")], [("yes",), (None,), ("no",)][: number % 3 + 1])
    )
    return (
        marginals,
        engine.query("lung", given).degrees.tolist(),
        engine.possibility_of(given),
        (best.configuration, best.possibility, best.ties),
        rows.tolist(),
    )


def answer_all(engine: pn.Inference) -> list[tuple[Any, ...]]:
    return [answer(engine, number) for number in range(18)]


@pytest.fixture(scope="module")
def expected() -> list[tuple[Any, ...]]:
    """From a new engine for every question: nothing is shared."""
    return [answer(pn.Inference(ASIA), number) for number in range(18)]


def test_threads_that_share_an_engine_get_the_answers_of_one_thread(expected: list[tuple[Any, ...]]) -> None:
    engine = pn.Inference(ASIA)
    begin = threading.Barrier(6)

    def ask(thread: int) -> list[tuple[Any, ...]]:
        begin.wait()
        order = np.random.default_rng(thread).permutation(18).tolist()
        answers = {number: answer(engine, number) for number in order}
        return [answers[number] for number in range(18)]

    with ThreadPoolExecutor(6) as pool:
        for answers in pool.map(ask, range(6)):
            assert answers == expected


def test_an_engine_works_after_a_fork_while_another_thread_asks(expected: list[tuple[Any, ...]]) -> None:
    """The lock that another thread holds at the fork is not held in the child."""
    engine = pn.Inference(ASIA)
    begun, over = threading.Event(), threading.Event()

    def hold() -> None:
        with engine._own_lock():
            begun.set()
            over.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    begun.wait(60)
    child = os.fork()
    if child == 0:  # pragma: no cover - the child
        signal.alarm(60)  # a deadlock ends here
        os._exit(0 if answer_all(engine) == expected else 3)
    _, status = os.waitpid(child, 0)
    over.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert answer_all(engine) == expected


def test_engines_and_data_go_to_spawned_processes(expected: list[tuple[Any, ...]]) -> None:
    engine = pn.Inference(ASIA)
    engine.marginals({"xray": "yes"})
    assert answer_all(pickle.loads(pickle.dumps(engine))) == expected  # noqa: S301
    data = pn.sample(ASIA, 20, imprecision=0.5, process="traced", rng=1)
    assert pickle.loads(pickle.dumps(data)) == data  # noqa: S301
    with workers(1, shared=(engine, data)) as pool:
        returned = pool.submit(pn.Inference.marginals, engine, {"dysp": "yes"}).result()
        assert pool.submit(len, data).result() == 20
    assert {name: pi.degrees.tolist() for name, pi in returned.items()} == {
        name: pi.degrees.tolist() for name, pi in engine.marginals({"dysp": "yes"}).items()
    }


def test_data_are_read_in_forked_processes_started_from_threads() -> None:
    data = pn.sample(ASIA, 200, imprecision=0.5, process="traced", rng=1)
    counted = pn.fit(ASIA.dag, data)

    def fit_in_child(_: int) -> bool:
        with get_context("fork").Pool(1) as pool:
            return bool(pool.apply(pn.fit, (ASIA.dag, data)) == counted)

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(fit_in_child, range(2))) == [True, True]


def test_an_interrupted_question_leaves_no_wrong_answers(
    expected: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt at any message of a pass: the engine's next answers are those of a new one."""
    from possnet.inference import junction_tree

    engine = pn.Inference(ASIA)
    real = junction_tree.JunctionTree.distribute
    for step in range(3):
        engine.marginals(QUESTIONS[step])

        def interrupted(_: Any) -> Any:
            raise KeyboardInterrupt

        monkeypatch.setattr(junction_tree.JunctionTree, "distribute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.marginals(QUESTIONS[step + 1])
        monkeypatch.setattr(junction_tree.JunctionTree, "distribute", real)
        assert answer_all(engine) == expected
