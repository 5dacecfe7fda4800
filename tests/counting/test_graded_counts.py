"""Counts of rows whose cells carry degrees, or whose weights have fractions, against their definitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.counting import cut_families, row_blocks
from possnet.kernels import bitmaps
from tests import oracles, strategies
from tests.refused import refused


@given(strategies.graded_counted(), st.booleans())
def test_counts_are_sums_of_the_smallest_degrees(given_data: tuple[pn.Dag, pn.Dataset], dense: bool) -> None:
    dag, data = given_data
    with pytest.MonkeyPatch.context() as patch:
        if not dense:
            patch.setattr(cut_families, "_DENSE", 0)
            patch.setattr(cut_families, "_TABLE", 0)
        counts = pn.count(dag, data)
    for name in dag.nodes:
        totals, by_state = oracles.graded_counts(dag, data, name)
        assert counts[name].reshape(-1).tolist() == pytest.approx(by_state, rel=1e-9, abs=1e-300)
        assert counts.totals(name).reshape(-1).tolist() == pytest.approx(totals, rel=1e-9, abs=1e-300)
        assert len(counts.family(name).contexts) == sum(total > 0 for total in totals)
    assert counts.rows == pytest.approx(data.total)


@given(strategies.graded_counted())
def test_counts_are_those_of_the_alpha_cuts(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    counts, expected = pn.count(dag, data, focal=True), pn.count(dag, data.alpha_cuts(), focal=True)
    for name in dag.nodes:
        assert np.allclose(counts[name], expected[name], rtol=1e-9, atol=0.0)
        assert np.allclose(counts.totals(name), expected.totals(name), rtol=1e-9, atol=0.0)
        assert counts.focal(name).keys() == expected.focal(name).keys()
        assert counts.focal(name) == pytest.approx(expected.focal(name), rel=1e-9)
        assert counts.cell_size_sum(name) == pytest.approx(expected.cell_size_sum(name), rel=1e-9)


@given(strategies.graded_counted(), st.integers(1, 5))
def test_blocks_and_parts_add_up(given_data: tuple[pn.Dag, pn.Dataset], size: int) -> None:
    dag, data = given_data
    together = pn.count(dag, data, focal=True)
    apart = pn.count(dag, data[:size], focal=True) + pn.count(dag, data[size:], focal=True)
    for name in dag.nodes:
        assert np.allclose(together[name], apart[name], rtol=1e-9, atol=0.0)
        assert together.focal(name) == pytest.approx(apart.focal(name), rel=1e-9)
        assert together[name].dtype == apart[name].dtype


@given(strategies.counted(weighted=True), st.integers(2, 7))
def test_fractional_weights_are_shares_of_whole_ones(given_data: tuple[pn.Dag, pn.Dataset], parts: int) -> None:
    dag, data = given_data
    assert data.weights is not None
    weights = data.weights % 1000
    whole = pn.count(dag, data.with_weights(weights), focal=True)
    shares = data.with_weights(weights / parts)
    counts = pn.count(dag, shares, focal=True)
    exact = bool((weights % parts == 0).all())
    assert counts.is_exact is exact
    for name in dag.nodes:
        assert counts[name].dtype == (np.int64 if exact else np.float64)
        assert np.allclose(counts[name] * parts, whole[name], rtol=1e-9, atol=0.0)
        assert np.array_equal(counts.family(name).contexts, whole.family(name).contexts)
        assert counts.focal(name) == pytest.approx({k: n / parts for k, n in whole.focal(name).items()}, rel=1e-9)


@given(strategies.counted())
def test_counts_of_whole_weights_are_exact_integers(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    counts = pn.count(dag, data)
    assert counts.is_exact
    assert all(counts[name].dtype == np.int64 for name in dag.nodes)
    assert isinstance(counts.rows, int)


def test_graded_rows_keep_whole_weights_exact_in_other_rows() -> None:
    a = pn.Variable("a", ("x", "y"))
    data = pn.Dataset.from_rows([a], [("x",), ({"y": 1, "x": 0.5},)], weights=[2**53 + 1, 2])
    counts = pn.count(pn.Dag({"a": ()}), data)
    assert counts["a"].tolist() == [float(2**53 + 1) + 1.0, 2.0]
    assert counts["a"].dtype == np.float64
    both = pn.count(pn.Dag({"a": ()}), data[:1]) + counts
    assert both["a"].dtype == np.float64
    assert "floats" in repr(both)


def test_float_counts_are_read_back_as_floats(tmp_path: Path) -> None:
    a, b = pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v"))
    rows = [({"x": 1, "y": 0.3}, "u"), ("y", {"u", "v"}), ({"x": 1, "y": 0.1}, {"u": 0.7, "v": 1})]
    counts = pn.count(pn.Dag({"a": (), "b": ("a",)}), pn.Dataset.from_rows([a, b], rows), focal=True)
    pn.write_counts(counts, tmp_path / "counts.json")
    again = pn.read_counts(tmp_path / "counts.json")
    assert again == counts
    assert again["b"].dtype == np.float64
    assert not again.is_exact
    assert pn.fit(counts.dag, again).table("b").tolist() == pn.fit(counts.dag, counts).table("b").tolist()
    text = (tmp_path / "counts.json").read_text(encoding="utf-8").replace('"totals": [3.0]', '"totals": [4.0]')
    (tmp_path / "damaged.json").write_text(text, encoding="utf-8")
    refused("the file is damaged", pn.read_counts, tmp_path / "damaged.json")


def test_tiny_degrees_are_not_lost_in_many_rows() -> None:
    a, b = pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v"))
    rows = [({"x": 1, "y": 1e-30}, "u")] * 3 + [("x", "v")] * 1000
    counts = pn.count(pn.Dag({"a": (), "b": ("a",)}), pn.Dataset.from_rows([a, b], rows))
    assert counts["b"].reshape(-1).tolist() == pytest.approx([3.0, 1000.0, 3e-30, 0.0], rel=1e-12, abs=0.0)


def test_many_states_and_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = pn.Variable("wide", tuple(f"s{k}" for k in range(12)))
    small = pn.Variable("small", ("u", "v"))
    rng = np.random.default_rng(3)
    rows = [
        (dict(zip(wide.states, [1.0, *rng.choice([0.0, 0.3, 1.0], 11)], strict=True)), rng.choice(["u", "v"]))
        for _ in range(300)
    ]
    data, dag = pn.Dataset.from_rows([wide, small], rows), pn.Dag({"wide": (), "small": ("wide",)})
    monkeypatch.setattr("possnet.counting.row_blocks.BLOCK", 128)
    blocks = list(row_blocks.split_blocks(data, ["wide", "small"], size=128))
    marked = [block.graded_words(["wide", "small"]) for block in blocks]
    assert [0 if words is None else int(bitmaps.count_bits(words)) for words in marked] == [
        int(data.graded("wide")[start : start + 128].sum()) for start in (0, 128, 256)
    ]
    counts = pn.count(dag, data)
    assert counts["small"].reshape(-1).tolist() == pytest.approx(oracles.graded_counts(dag, data, "small")[1])


@given(strategies.graded_counted())
def test_what_is_learned_from_counts_is_learned_from_the_cuts(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    learned, expected = pn.fit(dag, data), pn.fit(dag, data.alpha_cuts())
    for name in dag.nodes:
        assert np.allclose(learned.table(name), expected.table(name), rtol=1e-9)
    assert pn.log_likelihood(learned, data) == pytest.approx(pn.log_likelihood(learned, data.alpha_cuts()), abs=1e-9)
    scores = [pn.random_set_log_likelihood(dag, rows) for rows in (data, data.alpha_cuts())]
    assert scores[0] == pytest.approx(scores[1], rel=1e-9, abs=1e-9)
