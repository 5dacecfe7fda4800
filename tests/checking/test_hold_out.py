"""The hold-out check, against a slow twin that hides one cell at a time and asks one query for it."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests.completion.test_completion import ambiguous_tables
from tests.completion.test_targets import predict_row
from tests.strategies import networks

LEVELS, CLAIMS = (0.5, 0.2, 0.1, 0.05), (0.5, 0.8, 0.9)


def slow_frequency(data: pn.Dataset, name: str) -> dict[str, float]:
    """A cell of k states counts 1/k for each, an unknown one nothing; rows count with their weights."""
    frequency = dict.fromkeys(data.variable(name).states, 0.0)
    for row in range(len(data)):
        cell = data.row(row)[name]
        if not data.missing(name)[row]:
            for state in cell:
                frequency[state] += weight_of(data, row) / len(cell)
    return frequency


def weight_of(data: pn.Dataset, row: int) -> int:
    return 1 if data.weights is None else int(data.weights[row])


def drawn_right(chosen: set[str], truth: set[str]) -> float:
    return len(chosen & truth) / len(chosen) if chosen and truth else 0.0


class SlowTally:
    """Sums over cells, one at a time, straight from the definitions."""

    def __init__(self) -> None:
        self.precise = self.sets = self.impossible = self.right = self.baseline = self.random = self.inside = 0.0
        self.held = dict.fromkeys(LEVELS, 0.0)
        self.states = dict.fromkeys(LEVELS, 0.0)
        self.claims = dict.fromkeys(CLAIMS, 0.0)
        self.claims_right = dict.fromkeys(CLAIMS, 0.0)

    def add(
        self,
        degrees: dict[str, float] | None,
        truth: set[str],
        precise: bool,
        frequency: dict[str, float],
        weight: int,
    ) -> None:
        """One cell: its degrees (None if its row is impossible) over the candidates, and what it truly may be."""
        self.precise += weight * precise
        self.sets += weight * (not precise)
        if precise:
            most = max(frequency.values())
            self.baseline += weight * drawn_right({s for s, f in frequency.items() if f >= most * (1 - 1e-9)}, truth)
            self.random += weight * drawn_right(set(frequency), truth)
            self.inside += weight * bool(set(frequency) & truth)
        if degrees is None:
            self.impossible += weight
            return
        best = {s for s, d in degrees.items() if d > 1 - 1e-9}
        if precise:
            self.right += weight * drawn_right(best, truth)
            (state, necessity) = (min(best), 1 - max([d for s, d in degrees.items() if s != min(best)], default=0.0))
            for claim in CLAIMS:
                if necessity >= claim - 1e-12:
                    self.claims[claim] += weight
                    self.claims_right[claim] += weight * (state in truth)
        for level in LEVELS:
            cut = {s for s, d in degrees.items() if d >= level - 1e-12}
            self.held[level] += weight * bool(cut & truth)
            self.states[level] += weight * len(cut)

    def agrees_with(self, found: pn.CellCheck) -> None:
        cells = self.precise + self.sets
        assert (found.rows, found.sets, found.impossible) == (self.precise, self.sets, self.impossible)
        if self.precise:
            assert found.accuracy == pytest.approx(self.right / self.precise)
            assert found.baseline == pytest.approx(self.baseline / self.precise)
            assert found.random == pytest.approx(self.random / self.precise)
            assert found.inside == pytest.approx(self.inside / self.precise)
        else:
            assert found.accuracy is found.baseline is found.random is None
        assert found.coverage == pytest.approx({a: held / cells for a, held in self.held.items()})
        answered = cells - self.impossible
        assert found.size == {a: pytest.approx(n / answered) if answered else None for a, n in self.states.items()}
        for claim, number in self.claims.items():
            assert found.claimed[claim] == (pytest.approx(number / self.precise) if self.precise else None)
            assert found.right[claim] == (pytest.approx(self.claims_right[claim] / number) if number else None)


def slow_check(net: pn.Network, data: pn.Dataset, name: str, frequency: dict[str, float]) -> SlowTally:
    """Hide the cell of every row in turn."""
    engine, tally = pn.Inference(net), SlowTally()
    for row in range(len(data)):
        cell = set(data.row(row)[name])
        if data.missing(name)[row] or 1 < len(cell) == len(net.variable(name)):
            continue
        answer = predict_row(engine, data, row, name)
        degrees = None if answer is None else {s: answer[s] for s in net.variable(name).states}
        tally.add(degrees, cell, len(cell) == 1, frequency, weight_of(data, row))
    return tally


@given(networks(max_variables=4), st.data())
def test_a_network_is_checked_as_if_every_cell_were_hidden_alone(net: pn.Network, draw: st.DataObject) -> None:
    data = draw.draw(ambiguous_tables(net))
    slow = {v.name: slow_check(net, data, v.name, slow_frequency(data, v.name)) for v in data.variables}
    slow = {name: tally for name, tally in slow.items() if tally.precise + tally.sets and len(net.variable(name)) > 1}
    if not slow:
        with pytest.raises(pn.InputError, match="nothing to hide|can be hidden"):
            pn.check(net, data)
        return
    found = pn.check(net, data)
    assert set(found) == set(slow)
    for name, tally in slow.items():
        tally.agrees_with(found[name])
    assert found.overall.rows == sum(tally.precise for tally in slow.values())


@given(st.integers(0, 50), st.sampled_from([2, 3, 5]), st.booleans())
def test_every_fold_is_checked_by_what_was_learned_from_the_others(seed: int, folds: int, grouped: bool) -> None:
    """The learner is told apart from its rows: the slow twin learns again, on the rows that the fold leaves."""
    clinic = pn.load_example("clinic")
    data = pn.sample(clinic, 60, imprecision=0.5, process="traced", rng=seed)
    groups = np.arange(60) // 4 if grouped else None
    seen: list[pn.Dataset] = []

    def learn(rows: pn.Dataset) -> pn.Network:
        seen.append(rows)
        return pn.fit(clinic.dag, rows)

    found = pn.check(learn, data, ("measles", "fever"), folds=folds, groups=groups, rng=seed)
    assert (found.folds, len(seen)) == (folds, folds)
    numbered = pn.Dataset.from_table({"row": [f"{k}" for k in range(60)]})
    tallies = {"measles": SlowTally(), "fever": SlowTally()}
    left: list[int] = []

    def learn_numbers(rows: pn.Dataset) -> pn.Network:
        kept = {next(iter(rows.row(k)["row"])) for k in range(len(rows))}
        fold = [k for k in range(60) if f"{k}" not in kept]
        left.extend(fold)
        training = data[[k for k in range(60) if f"{k}" in kept]]
        if grouped:
            assert not {k // 4 for k in fold} & {int(k) // 4 for k in kept}
        net = pn.fit(clinic.dag, training)
        for name, tally in tallies.items():
            one = slow_check(net, data[fold], name, slow_frequency(training, name))
            for attribute in ("precise", "sets", "impossible", "right", "baseline", "random", "inside"):
                setattr(tally, attribute, getattr(tally, attribute) + getattr(one, attribute))
            for attribute in ("held", "states", "claims", "claims_right"):
                for key, number in getattr(one, attribute).items():
                    getattr(tally, attribute)[key] += number
        return pn.Network(rows.variables, pn.Dag({"row": ()}), {"row": np.ones(60)})

    pn.check(learn_numbers, numbered, folds=folds, groups=groups, rng=seed)  # the same seed draws the same folds
    assert sorted(left) == list(range(60))
    for name, tally in tallies.items():
        tally.agrees_with(found[name])


@given(st.integers(0, 1000), st.sampled_from([0.3, 0.8]))
def test_ambiguous_cells_are_resolved_as_complete_does_and_compared_with_their_truth(seed: int, theta: float) -> None:
    survey = pn.load_example("survey")
    hidden = pn.sample(survey, 40, process="precise", rng=seed)
    target = survey.variables[-1]
    rng = np.random.default_rng(seed)
    cells = [{s for s in target.states if s in hidden.row(r)[target.name] or rng.random() < theta} for r in range(40)]
    blurred = pn.Dataset.from_rows([target], [(cell,) for cell in cells]).column(target.name)
    other = pn.Variable("truth", tuple(reversed(target.states)))  # matched by name, not by place
    truths = pn.Dataset.from_rows([other], [(hidden.row(r)[target.name],) for r in range(40)])
    data = hidden.with_columns([blurred, truths.column("truth")])
    found = pn.check(survey, data, (target.name,), truth={target.name: "truth"})
    completion = pn.complete(survey, data.select([v.name for v in survey.variables]))
    frequency, tally, engine, hiding = slow_frequency(data, target.name), SlowTally(), pn.Inference(survey), SlowTally()
    for row, cell in enumerate(cells):
        truth = set(hidden.row(row)[target.name])
        answer = predict_row(engine, hidden, row, target.name)
        hiding.add(None if answer is None else {s: answer[s] for s in target.states}, truth, True, frequency, 1)
        if len(cell) > 1:
            lost = row in completion.impossible
            degrees = None if lost else {s: completion.of(row, target.name)[s] for s in target.states}
            tally.add(degrees, truth, True, {s: f for s, f in frequency.items() if s in cell}, 1)
    hiding.agrees_with(found[target.name])
    if tally.precise:
        tally.agrees_with(found.resolved[target.name])
        assert found.overall_resolved == found.resolved[target.name]


def test_a_stream_is_checked_as_its_rows_at_once() -> None:
    clinic = pn.load_example("clinic")
    stream = pn.sample_batches(clinic, 300, imprecision=0.4, rng=2, batch=70)
    calls: list[tuple[int, int]] = []
    found = pn.check(clinic, stream, progress=lambda *now: calls.append(now))
    whole = pn.check(clinic, pn.Dataset.concatenate(stream))
    assert (set(found), found.skipped) == (set(whole), whole.skipped)
    for name in whole:
        for label, numbers in asdict(whole[name]).items():
            if not label.endswith("curve"):
                assert asdict(found[name])[label] == pytest.approx(numbers), (name, label)
        assert [p.coverage for p in found[name].cut_curve] == pytest.approx([p.coverage for p in whole[name].cut_curve])
    assert calls[-1] == (300, 300)
    assert all(a <= b for (a, _), (b, _) in pairwise(calls))
    recipe = pn.Recipe(dag=clinic.dag)
    assert pn.check(recipe, stream, ("flu",)) == pn.check(recipe, pn.Dataset.concatenate(stream), ("flu",))


def test_the_same_seed_gives_the_same_check_and_another_one_other_folds() -> None:
    data = pn.sample(pn.load_example("asia"), 200, process="precise", rng=1)
    recipe = pn.Recipe("mwst", "mutual-information")
    first = pn.check(recipe, data, rng=3)
    assert first == pn.check(recipe, data, rng=3)
    assert first != pn.check(recipe, data, rng=4)
    assert first.seconds >= first.learning_seconds > 0


def test_weights_count_rows_as_often_as_they_say() -> None:
    asia = pn.load_example("asia")
    data = pn.sample(asia, 40, imprecision=0.5, rng=5)
    weights = np.arange(40) % 4
    repeated = data[np.repeat(np.arange(40), weights)]
    weighted, plain = pn.check(asia, data.with_weights(weights)), pn.check(asia, repeated)
    for name in plain:
        assert weighted[name].accuracy == pytest.approx(plain[name].accuracy)
        assert weighted[name].coverage == pytest.approx(plain[name].coverage)
        assert weighted[name].rows == plain[name].rows
        assert weighted[name].margin == pytest.approx(plain[name].margin)


def test_many_rows_are_asked_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    asia = pn.load_example("asia")
    data = pn.sample(asia, 90, imprecision=0.5, rng=5)
    whole = pn.check(asia, data)
    monkeypatch.setattr("possnet.checking.hold_out._BLOCK_ROWS", 7)
    assert pn.check(asia, data)["lung"].coverage == pytest.approx(whole["lung"].coverage)


def test_impossible_evidence_is_wrong_and_holds_nothing() -> None:
    a, b = pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v", "w"))
    tables: dict[str, Any] = {"a": [1, 0], "b": [[1, 0.3, 0], [1, 1, 1]]}
    net = pn.Network((a, b), pn.Dag({"a": (), "b": ("a",)}), tables)
    found = pn.check(net, pn.Dataset.from_rows((a, b), [("x", "u"), ("y", "u"), ("x", "v")]), ("b",))["b"]
    assert (found.rows, found.impossible) == (3, 1)
    assert found.accuracy == pytest.approx(1 / 3)
    assert found.coverage[0.2] == pytest.approx(2 / 3)
    assert (found.size[0.2], found.size[0.5]) == (2.0, 1.0)
    assert found.claimed[0.5] == pytest.approx(2 / 3)
    assert found.right[0.5] == 0.5


def test_a_truth_outside_the_domain_is_never_right() -> None:
    a = pn.Variable("a", ("x", "y"))
    net = pn.Network((a,), pn.Dag({"a": ()}), {"a": [1, 0.5]})
    data = pn.Dataset.from_table({"a": ["x", "x"], "t": ["x", "z"]}, [a, pn.Variable("t", ("x", "z"))])
    found = pn.check(net, data, truth={"a": "t"})["a"]
    assert (found.rows, found.accuracy, found.random, found.coverage[0.05]) == (2, 0.5, 0.25, 0.5)
    assert (found.inside, found.accuracy_inside) == (0.5, 1.0)
    assert "right where inside" in str(pn.check(net, data, truth={"a": "t"}))


def test_the_margin_is_two_standard_errors_of_the_paired_difference() -> None:
    asia = pn.load_example("asia")
    data = pn.sample(asia, 50, process="precise", rng=3)
    found = pn.check(asia, data, ("dysp",))["dysp"]
    engine, frequency = pn.Inference(asia), slow_frequency(data, "dysp")
    most = {s for s, f in frequency.items() if f == max(frequency.values())}
    gains = []
    for row in range(50):
        truth, answer = set(data.row(row)["dysp"]), predict_row(engine, data, row, "dysp")
        assert answer is not None
        best = {s for s in asia.variable("dysp").states if answer[s] > 1 - 1e-9}
        gains.append(drawn_right(best, truth) - drawn_right(most, truth))
    assert found.gain == pytest.approx(np.mean(gains))
    assert found.margin == pytest.approx(2 * np.std(gains) / np.sqrt(50))


def test_the_default_recipe_is_that_of_learn_with_its_prior() -> None:
    rows = [("u", "x"), ("v", "y"), ("u", {"x", "y"}), ("v", {"y", "z"}), ("w", "z")] * 8
    scope = (pn.Variable("a", ("u", "v", "w")), pn.Variable("b", ("x", "y", "z")))
    data = pn.Dataset.from_rows(scope, rows)
    dag = pn.learn_structure(data).dag
    assert pn.Recipe().learn(data) == pn.fit_coarsened(dag, data, prior="marginal")
    assert pn.Recipe(options={"prior": "none"}).learn(data) == pn.fit_coarsened(dag, data)
