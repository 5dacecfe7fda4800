"""What ``measure="auto"`` takes, and that it says why."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import possnet as pn
from possnet.structure.coded_rows import CodedRows
from possnet.structure.measure_choice import choose_measure
from tests.commands import run
from tests.structure.cases import SmallBatches, with_missing

EXAMPLES = ("asia", "clinic", "pump")


def taken(data: pn.Dataset) -> str:
    return choose_measure(CodedRows(data, missing=True)).name


@pytest.mark.parametrize("name", EXAMPLES)
def test_rows_of_every_process_get_the_score_of_their_law(name: str) -> None:
    net = pn.load_example(name)
    precise = pn.sample(net, 300, process="precise", rng=1)
    assert taken(precise) == "bic"
    assert taken(with_missing(precise, 0.1)) == "coarsened-bic"
    for imprecision in (0.5, 1.0):
        for share in (0.0, 0.1):
            rows = pn.sample(net, 300, process="alpha-cut", imprecision=imprecision, rng=1)
            assert taken(with_missing(rows, share)) == "cut-bic"
            rows = pn.sample(net, 300, process="traced", imprecision=imprecision, rng=1)
            assert taken(with_missing(rows, share)) == "traced-bic"


def test_drawn_rows_of_random_networks_are_told_apart() -> None:
    nets = [
        pn.random_network(size, max_parents=3, states=(2, 4), rng=seed) for size in (5, 10, 20) for seed in range(10)
    ]
    cut = [taken(pn.sample(net, 300, process="alpha-cut", rng=1)) for net in nets]
    traced = [taken(pn.sample(net, 300, process="traced", rng=1)) for net in nets]
    assert cut == ["cut-bic"] * len(nets)
    assert traced.count("traced-bic") >= 0.9 * len(nets)  # where every variable has one favourite, rows look like cuts
    assert "coarsened-bic" not in traced


def favourite_network(seed: int) -> pn.Network:
    """A chain in which every variable has one favourite state, whatever its parent's."""
    names = [f"x{k}" for k in range(4)]
    rng = np.random.default_rng(seed)
    tables = {n: rng.random((3, 3) if k else (3,)) for k, n in enumerate(names)}
    for table in tables.values():
        table[..., 0] = 1.0
    dag = pn.Dag({n: (names[k - 1],) if k else () for k, n in enumerate(names)})
    return pn.Network([pn.Variable(n, ("a", "b", "c")) for n in names], dag, tables)


@pytest.mark.parametrize("seed", range(4))
def test_traced_rows_that_look_like_cuts_at_first_are_recognised_by_their_structure(seed: int) -> None:
    net = favourite_network(seed)
    traced = pn.sample(net, 3000, process="traced", rng=seed)
    assert taken(traced) == "cut-bic"
    learned = pn.learn_structure(traced)
    assert learned.measure == "random-set-bic"
    assert "do not follow the law of alpha-cuts" in learned.reason
    assert learned.score == pn.learn_structure(traced, measure="random-set-bic").score
    assert pn.learn_structure(pn.sample(net, 3000, rng=seed)).measure == "cut-bic"


def test_beyond_sixty_variables_cut_bic_is_not_taken_and_that_is_said() -> None:
    data = pn.sample(pn.random_network(61, max_parents=1, states=(2, 3), rng=1), 200, rng=1)
    choice = choose_measure(CodedRows(data, missing=True))
    assert choice.name == "random-set-bic"
    assert "cut-bic would take long for 61 variables" in str(choice)


def test_where_the_score_of_the_rows_does_not_go_with_the_method_another_is_taken_and_that_is_said() -> None:
    data = pn.sample(pn.load_example("clinic"), 300, process="traced", rng=1)
    learned = pn.learn_structure(data, "boss")
    assert learned.measure == "random-set-bic"
    assert learned.reason.endswith("but traced-bic does not go with boss")
    assert pn.learn_structure(data).measure == "traced-bic"


def test_candidate_lists_get_the_score_under_coarsening() -> None:
    rng = np.random.default_rng(1)
    truth = pn.sample(pn.load_example("clinic"), 400, process="precise", rng=1)
    rows = []
    for number in range(len(truth)):
        row = truth.row(number)
        rows.append(tuple(row[v.name] | {x for x in v.states if rng.random() < 0.3} for v in truth.variables))
    data = pn.Dataset.from_rows(truth.variables, rows)
    learned = pn.learn_structure(data)
    assert learned.measure == "coarsened-bic"
    assert "of the cells are sets, and no column has a state in all its cells" in learned.reason


def test_a_misread_cell_among_thousands_changes_nothing() -> None:
    data = pn.sample(pn.load_example("clinic"), 5000, rng=1)
    first = data.variables[0]
    top = choose_measure(CodedRows(data, missing=True))
    shared = data.column(first.name)
    state = first.states[int(np.argmax(shared.cell_sets.all(axis=0)))]
    other = next(x for x in first.states if x != state)
    wrong = pn.Dataset.from_rows(data.variables, [({other}, *(None for _ in data.variables[1:]))])
    assert choose_measure(CodedRows(pn.Dataset.concatenate([data, wrong]), missing=True)) == top


def test_the_choice_says_why_and_is_that_of_a_stream_and_of_weighted_rows() -> None:
    data = with_missing(pn.sample(pn.load_example("asia"), 500, process="precise", rng=1), 0.1)
    learned = pn.learn_structure(data)
    assert learned.reason == "coarsened-bic: 10 % of the cells are unknown, and all others single states"
    assert learned.reason in str(learned)
    assert learned == pn.learn_structure(data, measure="auto")
    named = pn.learn_structure(data, measure="coarsened-bic")
    assert named.reason == ""
    assert named.dag == learned.dag
    for other in (SmallBatches(data, 90), data.distinct()):
        again = pn.learn_structure(other)
        assert (again.reason, again.dag) == (learned.reason, learned.dag)


@pytest.mark.parametrize("method", ["greedy", "boss", "mwst", "k2"])
def test_rows_that_hold_nothing_are_no_trouble(method: str) -> None:
    scope = [pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v"))]
    for rows in ([], [(None, None)] * 3, [("x", None)]):
        assert pn.learn_structure(pn.Dataset.from_rows(scope, rows), method).dag.edges == ()


def test_the_command_line_tells_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    pn.write_data(pn.sample(pn.load_example("asia"), 300, process="precise", rng=1), file)
    for options in ([], ["--measure", "auto"]):
        document = json.loads(run("learn", file, *options, "--json").stdout)
        assert (document["measure"], document["reason"]) == ("bic", "bic: every cell is a single state")
    assert "bic: every cell is a single state" in run("learn", file).stdout
