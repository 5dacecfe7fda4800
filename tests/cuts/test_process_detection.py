"""Which process drew the rows, and the learner that is chosen for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import possnet as pn

PROCESSES = ("precise", "alpha-cut", "traced")


def draw_network(seed: int) -> pn.Network:
    """Six variables, of which five have a parent or two: generic degrees."""
    rng = np.random.default_rng(seed)
    parents: dict[str, tuple[str, ...]] = {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c"), "e": ("d",), "f": ("c",)}
    sizes = {name: int(rng.integers(2, 4)) for name in parents}
    variables = [pn.Variable(name, tuple(f"{name}{k}" for k in range(size))) for name, size in sizes.items()]
    tables = {name: rng.random((*(sizes[p] for p in above), sizes[name])) for name, above in parents.items()}
    return pn.Network(variables, pn.Dag(parents), pn.normalise_tables(tables))


@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("theta", [1.0, 0.5])
def test_the_process_of_generic_networks_is_found_from_300_rows(process: str, theta: float) -> None:
    """A slice; benchmarks/cut_quality.py has more."""
    detected = [
        pn.detect_process(pn.sample(net, 300, process=process, imprecision=theta, rng=seed), net.dag).process
        for seed, net in ((seed, draw_network(seed)) for seed in range(3))
    ]
    assert detected == [process] * 3


def test_the_evidence_is_told_in_words_and_numbers() -> None:
    net = draw_network(1)
    cut = pn.detect_process(pn.sample(net, 500, rng=1), net.dag)
    assert str(cut).startswith(
        "alpha-cut: every variable has a state in all its cells, and the law of traced rows makes"
    )
    assert cut.advantage is not None
    assert cut.advantage_error is not None
    assert cut.advantage <= 3 * cut.advantage_error
    assert set(cut.absence.values()) == {0.0}
    assert cut.rows == 500
    traced = pn.detect_process(pn.sample(net, 500, process="traced", rng=1), net.dag)
    name = max(traced.absence, key=traced.absence.__getitem__)
    assert f"no state of {name!r} lies in more than {100 * (1 - traced.absence[name]):.3g} % of its cells" in str(
        traced
    )
    assert traced.advantage is None
    assert traced.imprecise_share > 0.1


def test_where_all_favourites_are_one_state_the_likelihood_decides() -> None:
    """Traced rows whose cells all share a state: told apart by the law of children alone."""
    x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2", "3"))
    dag = pn.Dag({"x": (), "y": ("x",)})
    net = pn.Network((x, y), dag, {"x": [1, 0.8], "y": [[1, 0.9, 0.05], [1, 0.05, 0.9]]})
    for process, rows in (("traced", 3_000), ("alpha-cut", 3_000)):
        detected = pn.detect_process(pn.sample(net, rows, process=process, rng=1), dag)
        assert detected.process == process
        assert detected.advantage is not None


@pytest.mark.parametrize("seed", range(3))
def test_a_stated_share_of_wrong_rows_does_not_decide(seed: int) -> None:
    net = draw_network(seed)
    rows, wrong = pn.sample(net, 1_992, imprecision=0.5, rng=seed), pn.sample(net, 8, process="precise", rng=seed + 1)
    data = pn.Dataset.concatenate([rows, wrong])
    assert pn.detect_process(data, net.dag, wrong=0.005).process == "alpha-cut"
    assert pn.detect_process(data, net.dag, wrong=0.0).process == "traced"
    result = pn.fit_auto(net.dag, data)
    assert result.learner == "cut"
    assert isinstance(result.result, pn.CutResult)
    assert 0 < max(result.result.wrong.values()) <= 40
    precise = pn.Dataset.concatenate([pn.sample(net, 999, process="precise", rng=seed), rows[:1]])
    assert pn.detect_process(precise, net.dag).process == "precise"


@pytest.mark.parametrize(("process", "learner"), [("precise", "symmetric"), ("alpha-cut", "cut"), ("traced", "em")])
def test_each_process_has_its_learner(process: str, learner: str) -> None:
    clinic = pn.load_example("clinic")
    stream = pn.sample_batches(clinic, 2_000, process=process, imprecision=0.5, rng=1, batch=500)
    result = pn.fit_auto(clinic.dag, stream, name="mine")
    data = pn.Dataset.concatenate(stream)
    assert result.learner == learner
    assert process in result.reason
    direct: Any = {
        "symmetric": lambda: pn.fit(clinic.dag, data, method="transform", transform="symmetric"),
        "cut": lambda: pn.fit_cut(clinic.dag, data, imprecision=None).network,
        "em": lambda: pn.fit_em(clinic.dag, data).network,
    }[learner]()
    for variable in clinic.variables:
        assert result.network.table(variable.name) == pytest.approx(direct.table(variable.name), abs=1e-6)


def test_bad_input_is_refused() -> None:
    asia = pn.load_example("asia")
    empty = pn.sample(asia, 10, rng=1)[:0]
    for call in (pn.fit_auto, lambda dag, data: pn.detect_process(data, dag)):
        with pytest.raises(pn.InputError, match="no rows"):
            call(asia.dag, empty)
    with pytest.raises(pn.InputError, match="wrong 0.6"):
        pn.detect_process(empty, asia.dag, wrong=0.6)
    with pytest.raises(pn.InputError, match="which the data lacks"):
        pn.detect_process(pn.Dataset.from_table({"a": ["x"]}), asia.dag)
