"""The registry of processes: what its entries promise, and one that is registered from outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet.sampling import PROCESSES, Process, family_laws


def draw_tops(network: pn.Network, rows: int, imprecision: Mapping[str, float], rng: np.random.Generator) -> pn.Dataset:
    """Most possible states given nothing, each forgotten with the probability of the variable's imprecision."""
    tops = {v.name: network.table(v.name).reshape(-1, len(v)).max(axis=0).argmax() for v in network.variables}
    cells = [
        [None if rng.random() < imprecision[v.name] else v.states[tops[v.name]] for v in network.variables]
        for _ in range(rows)
    ]
    return pn.Dataset.from_rows(network.variables, cells)


@pytest.fixture
def tops() -> Iterator[Process]:
    yield PROCESSES.register(Process("tops", "rows of tops", draw=draw_tops))
    PROCESSES.unregister("tops")


def test_a_process_from_outside_draws_samples_streams_and_experiments(tops: Process) -> None:
    asia = pn.load_example("asia")
    data = pn.sample(asia, 300, process=tops.name, imprecision=0.5, rng=7)
    assert len(data) == 300
    assert 0.3 < data.unknown_share() + data.imprecise_share() < 1.2
    assert pn.sample(asia, 300, process="tops", imprecision=0.5, rng=7) == data
    assert pn.sample(asia, 300, process="tops", imprecision=0.5, rng=8) != data
    calls: list[tuple[int, int]] = []
    pn.sample(asia, 70_000, process="tops", rng=7, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(65_536, 70_000), (70_000, 70_000)]
    batches = list(pn.sample_batches(asia, 300, process="tops", imprecision=0.5, rng=7, batch=100))
    assert pn.Dataset.concatenate(batches) == data
    results = pn.evaluate(["asia"], rows=[20, 50], imprecision=[0.2, 1], process="tops", repeats=2, rng=1)
    assert results.failed == []
    assert {s.limit for s in results.summary("affinity")} == {None}
    assert "asia, rows of tops, imprecision 1, 50 rows" in results.sentences()[1]


def test_what_a_process_from_outside_does_not_have_is_refused(tops: Process) -> None:
    asia = pn.load_example("asia")
    for call in (pn.sampling_limit, lambda net, process: pn.sampling_law(net, "asia", process=process)):
        with pytest.raises(pn.InputError, match="the exact law of process 'tops' is not known"):
            call(asia, process=tops.name)
    with pytest.raises(pn.InputError, match="evidence with process 'tops'"):
        pn.sample(asia, 10, process="tops", evidence={"asia": "yes"})
    with pytest.raises(pn.InputError, match="trace=True with process 'tops'"):
        pn.sample(asia, 10, process="tops", trace=True)
    assert pn.simulated_limit(asia, 1000, process="tops", imprecision=0.5, rng=1).rows == 1000
    PROCESSES.register(
        Process(
            "odd",
            "odd rows",
            options=frozenset({"trace"}),
            draw=lambda network, rows, _, __: pn.sample(network, rows + 1, rng=1),
        )
    )
    try:
        with pytest.raises(pn.InputError, match="trace=True with process 'odd'"):  # it draws rows alone
            pn.sample(asia, 10, process="odd", trace=True)
        with pytest.raises(pn.InputError, match="process 'odd' drew .*expected a data set of 10 rows"):
            pn.sample(asia, 10, process="odd")
    finally:
        PROCESSES.unregister("odd")


def test_variants_are_the_process_with_its_options() -> None:
    clinic = pn.load_example("clinic")
    variants: tuple[tuple[str, dict[str, Any]], ...] = (
        ("alpha-cut-text", {"process": "alpha-cut", "law": "text"}),
        ("alpha-cut-cuts", {"process": "alpha-cut", "parents": "cut"}),
        ("traced-text", {"process": "traced", "law": "text"}),
    )
    for (name, options), theta in product(variants, (0.4, 1.0)):
        drawn = pn.sample(clinic, 200, process=name, imprecision=theta, rng=1)
        expected: pn.Dataset = pn.sample(clinic, 200, imprecision=theta, rng=1, **options)
        assert drawn == expected


@pytest.mark.parametrize("name", PROCESSES)
def test_cells_are_imprecise_only_where_a_process_says_so(name: str) -> None:
    process = PROCESSES[name]
    data = pn.sample(pn.load_example("clinic"), 200, process=name, rng=1)
    assert (data.imprecise_share() > 0) == process.imprecise == process.takes("imprecision")
    assert process.limit_known or process.draw is not None
    assert len({entry.label for entry in PROCESSES.values()}) == len(PROCESSES)


def test_only_cells_of_parents_that_occur_together_have_a_law() -> None:
    """y follows x: beside x = {x1} its cell is {y1} alone, so that z sees three of four pairs of cells.

    Under {x1, x2} the degrees of y are max(1, 0) and max(0, 1/2); those of z are the largest over the pairs of states
    whose joint possibility is above 0, which (x1, y2) and (x2, y1) are not.
    """
    names = {name: pn.Variable(name, (f"{name}1", f"{name}2")) for name in "xyz"}
    dag = pn.Dag({"x": (), "y": ("x",), "z": ("x", "y")})
    z = [[[1, 0.25], [0.5, 1]], [[0.5, 1], [0.125, 1]]]
    net = pn.Network(names.values(), dag, {"x": [1, 0.5], "y": [[1, 0], [0, 1]], "z": z})
    law = family_laws(net)["z"]
    sets = [[cells[k].tolist() for cells, k in zip(law.parent_cells, pair, strict=True)] for pair in law.combinations]
    one, both = [True, False], [True, True]
    found = {(str(pair), tuple(row)) for pair, row in zip(sets, law.degrees.tolist(), strict=True)}
    assert found == {
        (str([one, one]), (1.0, 0.25)),
        (str([both, one]), (1.0, 0.25)),
        (str([both, both]), (1.0, 0.5)),
    }


@pytest.mark.parametrize("thing", [None, "asia", 7])
def test_what_is_no_network_is_told_before_anything_is_drawn(thing: Any) -> None:
    with pytest.raises(pn.InputError, match="sample: network .*; expected a possnet.Network"):
        pn.sample(thing, 5)
