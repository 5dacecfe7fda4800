"""Laws of cells given hidden states: counts of pairs row by row, EM against its definition, what refutes a direction."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.dependence import cell_pairs, count_cell_pairs, fit_hidden_laws
from possnet.dependence.hidden_laws import fit_mixtures, share_cells
from tests import strategies
from tests.structure.cases import SmallBatches, sharp_tree, with_missing


@settings(deadline=None)
@given(strategies.datasets(), st.integers(1, 5))
def test_pairs_of_cells_are_counted_as_row_by_row_in_one_batch_or_many(data: pn.Dataset, size: int) -> None:
    for pairs in (count_cell_pairs(data), count_cell_pairs(SmallBatches(data, size))):
        assert pairs.rows == data.total
        masks = [list(numbers) for numbers in pairs.numbers]
        weights = [1] * len(data) if data.weights is None else data.weights.tolist()
        columns = [data.column(v.name) for v in data.variables]
        for first in range(len(columns)):
            for second in range(len(columns)):
                if first == second:
                    continue
                counted: Counter[tuple[int, int]] = Counter()
                for row, weight in enumerate(weights):
                    cells = [columns[k].cell_masks[columns[k].codes[row]] for k in (first, second)]
                    if all(cells) and weight:
                        counted[cells[0], cells[1]] += weight
                table = pairs.table(first, second)
                listed = {(masks[first][a], masks[second][b]): int(table[a, b]) for a, b in np.argwhere(table).tolist()}
                assert listed == counted


def test_rare_cells_count_together_for_a_child_and_not_at_all_for_a_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_pairs, "MOST_CELLS", 2)
    data = pn.Dataset.from_table({"a": ["x", "x", "y", "y", "z", "z"], "b": ["u", "u", "u", "v", "w", "v"]})
    pairs = count_cell_pairs(data)  # cells of a: x, y and further ones; of b: u, v and further ones
    assert pairs.table(0, 1).tolist() == [[2, 0], [1, 1]]
    assert pairs.table(1, 0).tolist() == [[2, 1, 0], [0, 1, 1]]


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 3), st.integers(0, 10_000))
def test_the_law_of_a_pair_is_that_of_em_on_two_variables(states: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cells = [[str(s) for s in range(states) if mask >> s & 1] for mask in range(1, 1 << states)]
    rows = {name: [cells[k] for k in rng.integers(len(cells), size=60)] for name in "ab"}
    data = pn.Dataset.from_table(rows, variables=[pn.Variable(n, tuple(map(str, range(states)))) for n in "ab"])
    laws = fit_hidden_laws(count_cell_pairs(data))
    em = pn.fit_em(pn.Dag({"a": (), "b": ("a",)}), data, tolerance=1e-4)
    alone = [pn.fit_em(pn.Dag({name: ()}), data).log_likelihood[-1] for name in "ab"]
    table = count_cell_pairs(data).table(0, 1)
    shares = share_cells(count_cell_pairs(data).cell_sets(0))
    (value,), _ = fit_mixtures(table[np.newaxis].astype(float), shares[np.newaxis])
    assert value == pytest.approx(em.log_likelihood[-1] - alone[0], abs=0.1)
    if laws.information[0, 1] > 0.0:
        assert laws.gain[0, 1] == pytest.approx(value - alone[1], abs=1e-6)


def test_masses_of_a_mixture_are_a_fixed_point_of_em_by_its_definition() -> None:
    rng = np.random.default_rng(3)
    tables = rng.integers(1, 50, (4, 5, 6)).astype(float)
    shares = np.stack([share_cells(np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]], bool))] * 4)
    values, masses = fit_mixtures(tables, shares)
    for table, share, value, mass in zip(tables, shares, values, masses, strict=True):
        total = 0.0
        following = np.zeros_like(mass)
        for a in range(5):
            for b in range(6):
                parts = share[a] * mass[:, b]
                total += table[a, b] * np.log(parts.sum())
                following[:, b] += table[a, b] * parts / parts.sum()
        assert value == pytest.approx(total)
        np.testing.assert_allclose(following / following.sum(axis=1, keepdims=True), mass, atol=0.02)


def test_the_true_direction_is_not_refuted_and_siblings_and_reverses_are() -> None:
    net = sharp_tree(7)
    laws = fit_hidden_laws(count_cell_pairs(pn.sample(net, 20_000, process="traced", rng=1)))
    names = [v.name for v in laws.variables]
    for above, below in net.dag.edges:
        p, c = names.index(above), names.index(below)
        assert laws.misfit[p, c] < 3.3 < laws.misfit[c, p]
        assert laws.gain[p, c] > laws.price[p, c]
    assert laws.misfit[names.index("v3"), names.index("v4")] > 3.3
    grandparent, parent, child = (names.index(n) for n in ("v0", "v1", "v3"))
    assert laws.information[parent, child] > laws.information[grandparent, child] > 0.0


def test_precise_rows_refute_nothing_and_the_law_is_the_conditional_table() -> None:
    data = pn.sample(pn.load_example("asia"), 5000, process="precise", rng=1)
    laws = fit_hidden_laws(count_cell_pairs(data))
    assert (laws.misfit == 0.0).all()
    cells, masses = laws.law("smoke", "bronc")
    column = [data.column(n) for n in ("smoke", "bronc")]
    for state in range(2):
        chosen = column[0].codes == state
        for k, cell in enumerate(cells):
            code = column[1].cells.index(cell)
            assert masses[state, k] == pytest.approx((column[1].codes[chosen] == code).mean(), abs=1e-6)
    with pytest.raises(pn.InputError, match=r"hidden laws: no variable 'smok'.*smoke"):
        laws.law("smok", "bronc")


def test_missing_cells_are_left_out_of_a_pair() -> None:
    net = sharp_tree(3)
    data = with_missing(pn.sample(net, 8000, process="traced", rng=2), 0.3)
    laws = fit_hidden_laws(count_cell_pairs(data))
    assert laws.misfit[0, 1] < 3.3 < laws.misfit[1, 0]
