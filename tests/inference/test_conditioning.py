"""Exact inference by fixing variables in turn: the same answers in less memory, or a refusal with the estimate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import event, given, strategies as st

import possnet as pn
from possnet.cli import main
from possnet.inference import conditioning, plan
from possnet.inference.conditioning import find_cutset
from tests.inference.brute_force import questions


def tight_engine(net: pn.Network, limit: int, **options: Any) -> pn.Inference:
    return pn.Inference(net, limit=limit, max_seconds=1e9, **options)


@given(questions(), st.sampled_from([40, 120, 400]), st.data())
def test_fixing_variables_in_turn_changes_no_answer(
    question: tuple[pn.Network, dict[str, Any]], limit: int, data: st.DataObject
) -> None:
    net, evidence = question
    free = pn.Inference(net)
    event("fixed in turn" if free.plan.lean_memory > limit else "fits")
    target = data.draw(st.sampled_from(net.variables)).name
    with mock.patch.object(plan, "KEPT_ENTRIES", 1):
        tight = tight_engine(net, limit)
        try:
            expected = free.query(target, evidence)
        except pn.ImpossibleEvidence:
            for ask in (tight.marginals, tight.most_possible):
                with pytest.raises((pn.ImpossibleEvidence, pn.TooLarge)):
                    ask(evidence)
            return
        try:
            found = tight.query(target, evidence)
            marginals, every = tight.marginals(evidence), free.marginals(evidence)
            best, same = tight.most_possible_k(3, evidence), free.most_possible_k(3, evidence)
            first, known = tight.most_possible(evidence), free.most_possible(evidence)
            degree = tight.possibility_of(evidence)
        except pn.TooLarge as error:  # no cutset makes so little do
            assert "inference needs" in str(error)
            return
    assert found.degrees == pytest.approx(expected.degrees, abs=1e-12)
    assert degree == pytest.approx(free.possibility_of(evidence), abs=1e-12)
    for name, possibility in every.items():
        assert marginals[name].degrees == pytest.approx(possibility.degrees, abs=1e-12)
    assert [e.possibility for e in best] == pytest.approx([e.possibility for e in same], abs=1e-12)
    assert first.possibility == pytest.approx(known.possibility, abs=1e-12)
    assert first.ties == known.ties
    assert len({tuple(sorted(e.configuration.items())) for e in best}) == len(best)


def grid(side: int) -> pn.Network:
    """A grid of two-state variables, each with the one above and the one on its left as parents."""
    rng = np.random.default_rng(side)
    cells = [(row, column) for row in range(side) for column in range(side)]
    parents = {f"g{r}_{c}": [f"g{a}_{b}" for a, b in ((r - 1, c), (r, c - 1)) if a >= 0 and b >= 0] for r, c in cells}
    tables = {name: rng.random((2,) * (len(above) + 1)) for name, above in parents.items()}
    scope = [pn.Variable(name, ("yes", "no")) for name in parents]
    return pn.Network(scope, pn.Dag(parents), pn.normalise_tables(tables))


def test_a_grid_is_answered_in_a_quarter_of_the_memory() -> None:
    net, told = grid(9), []
    free = pn.Inference(net)
    needed = free.plan.lean_memory
    tight = tight_engine(net, needed // 4, progress=lambda done, total: told.append((done, total)))
    evidence = {"g8_8": "yes", "g0_8": "no"}
    assert tight.query("g4_4", evidence).degrees == pytest.approx(free.query("g4_4", evidence).degrees, abs=1e-12)
    assert told[-1][0] == told[-1][1] > 1
    assert [done for done, _ in told] == list(range(1, len(told) + 1))


def test_what_would_take_too_long_is_refused_with_the_estimate_before_anything_is_computed() -> None:
    with pytest.raises(pn.TooLarge, match=r"max_seconds=.*fixed in turn .*takes about .* years; 10 are allowed"):
        pn.Inference(grid(18), limit=1 << 12).marginals()


def test_a_cutset_leaves_the_targets_alone() -> None:
    scopes = [(0, 1), (1, 2), (0, 2)]
    cutset = find_cutset([10, 10, 10], scopes, limit=6_500, targets=(1, 2))
    assert cutset is not None
    assert cutset.variables == (0,)
    assert find_cutset([10, 10, 10], scopes, limit=10, targets=(0, 1, 2)) is None


def test_every_configuration_is_met_once_and_neighbours_differ_in_one_digit() -> None:
    sizes, digits, met = [2, 3, 2], [0, 0, 0], set()
    for change in conditioning._gray_codes(sizes):
        if change is not None:
            assert digits[change[0]] != change[1]
            digits[change[0]] = change[1]
        met.add(tuple(digits))
    assert len(met) == 12


def test_the_command_fixes_variables_in_turn_if_there_is_time(tmp_path: Path) -> None:
    net = grid(7)
    pn.write_network(net, tmp_path / "grid.json")
    whole = CliRunner().invoke(main, ["query", str(tmp_path / "grid.json"), "g3_3", "--given", "g6_6=yes", "--json"])
    little = pn.Inference(net).plan.collect_memory // 4
    with (
        mock.patch("possnet.inference.plan.memory_limit", return_value=little),
        mock.patch("possnet.inference.conditioning.memory_limit", return_value=little),
        mock.patch.object(plan.Plan, "memory", 1 << 30),
        mock.patch("possnet.inference.questions._MOST_ENTRIES", 0),
    ):
        found = CliRunner().invoke(
            main, ["query", str(tmp_path / "grid.json"), "g3_3", "--given", "g6_6=yes", "--json"]
        )
        refused = CliRunner().invoke(
            main, ["query", str(tmp_path / "grid.json"), "g3_3", "--given", "g6_6=yes", "--max-seconds", "0"]
        )
    assert found.exit_code == 0, found.output
    states, expected = (json.loads(result.output)["states"] for result in (found, whole))
    for state, degrees in expected.items():
        assert states[state] == pytest.approx(degrees, abs=1e-12)
    assert refused.exit_code == 1
    assert "0 are allowed" in refused.output
