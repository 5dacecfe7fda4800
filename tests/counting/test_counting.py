"""Counting: every kernel and every option against counting row by row."""

from __future__ import annotations

import contextlib
import json
import pickle
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.counting import row_blocks
from possnet.counting.count import tally_family
from possnet.counting.kernel_choice import estimate_costs
from possnet.kernels import bitmaps, tally
from tests import oracles, strategies


def random_rows(
    sizes: dict[str, int], rows: int, share: float, rng: np.random.Generator, weights: Any = None
) -> tuple[pn.Dataset, dict[str, Any]]:
    """One state in every cell for sure, the others with a probability; the bits too, (states, rows) each."""
    scope = [pn.Variable(name, tuple(f"s{k}" for k in range(size))) for name, size in sizes.items()]
    inside = {name: rng.random((size, rows)) < share for name, size in sizes.items()}
    for name, size in sizes.items():
        inside[name][rng.integers(0, size, rows), np.arange(rows)] = True
    words = {name: bitmaps.pack(bits) for name, bits in inside.items()}
    return pn.Dataset.unchecked(scope, words, rows, weights=weights), inside


def require_equal(counts: pn.Counts, dag: pn.Dag, data: pn.Dataset) -> None:
    for name in dag.nodes:
        expected = oracles.counts(dag, data, name)
        sizes = [len(data.variable(p)) for p in dag.parents(name)]
        dense, totals = counts[name], counts.totals(name)
        assert dense.shape == (*sizes, len(data.variable(name)))
        assert totals.shape == tuple(sizes)
        for place, (total, by_state) in zip(np.ndindex(*sizes), expected.values(), strict=True):
            assert totals[place] == total
            assert dense[place].tolist() == list(by_state.values())
        family = counts.family(name)
        assert len(family.contexts) == sum(total > 0 for total, _ in expected.values())
        assert family.contexts.tolist() == sorted(family.contexts.tolist())


@pytest.mark.equation(9)
@given(strategies.counted())
def test_counts_are_those_of_counting_row_by_row(given_data: tuple[pn.Dag, pn.Dataset]) -> None:
    dag, data = given_data
    counts = pn.count(dag, data, focal=True)
    require_equal(counts, dag, data)
    assert counts.rows == data.total
    for name in dag.nodes:
        assert counts.focal(name) == oracles.focal_counts(dag, data, name)
        assert counts.cell_size_sum(name) == pytest.approx(data.mean_cell_size(name) * data.total, rel=1e-12)


@given(strategies.counted(), st.data())
def test_every_kernel_counts_the_same(given_data: tuple[pn.Dag, pn.Dataset], data: st.DataObject) -> None:
    dag, rows = given_data
    if not len(rows):
        return
    name = data.draw(st.sampled_from(dag.nodes))
    above = list(dag.parents(name))
    expected = oracles.counts(dag, rows, name)
    for kernel in ("bitmaps", "cells", "codes"):
        block = row_blocks.RowBlock(rows, [*above, name], 0, len(rows))
        if kernel == "codes" and not all(block.is_precise(n) for n in (*above, name)):
            continue
        found = tally_family(block, above, name, kernel)
        states = [tuple(rows.variable(p).states[k] for p, k in zip(above, c, strict=True)) for c in found.contexts]
        assert dict(zip(states, found.totals.tolist(), strict=True)) == {s: t for s, (t, _) in expected.items() if t}
        for state, counted in zip(states, found.counts.tolist(), strict=True):
            assert counted == list(expected[state][1].values())


@settings(max_examples=40)
@given(
    st.sampled_from([70, 400, 5000]),
    st.sampled_from([2, 5, 100]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1 << 6, 1 << 11, 1 << 15]),
    strategies.seeds,
)
def test_kernels_agree_on_larger_blocks(
    rows: int, states: int, precise: bool, weighted: bool, broadcast: int, seed: int
) -> None:
    """Contexts one by one, prefixes over broadcast tails, progressive merging: what small examples do not reach."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tally, "_BROADCAST", broadcast)
        require_agreement(rows, states, precise, weighted, seed)


def require_agreement(rows: int, states: int, precise: bool, weighted: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 1000, rows) if weighted else None
    sizes = {"v0": states, "v1": 3, "v2": 2, "v3": 4}
    data, inside = random_rows(sizes, rows, 0.0 if precise else 0.3, rng, weights)
    for above in ([], ["v0"], ["v1", "v2"], ["v0", "v1", "v2"], ["v2", "v0", "v1"]):
        block = row_blocks.RowBlock(data, ["v0", "v1", "v2", "v3"], 0, rows)
        kernels: list[Any] = ["bitmaps", "cells", *(["codes"] if precise else [])]
        assert set(estimate_costs(block, above, "v3")) <= set(kernels)
        tallies = [tally_family(block, above, "v3", kernel) for kernel in kernels]
        for other in tallies[1:]:
            for a, b in zip(tallies[0], other, strict=True):
                np.testing.assert_array_equal(a, b)
        weight = np.ones(rows, dtype=np.int64) if weights is None else weights
        for k in rng.integers(0, len(tallies[0].contexts), 3).tolist():
            context = tallies[0].contexts[k]
            there = np.ones(rows, dtype=bool)
            for parent, state in zip(above, context, strict=True):
                there &= inside[parent][state]
            assert tallies[0].totals[k] == weight[there].sum()
            assert tallies[0].counts[k].tolist() == [int(weight[there & s].sum()) for s in inside["v3"]]


def test_ten_parents_of_a_hundred_states_hold_only_what_occurs() -> None:
    rng = np.random.default_rng(1)
    scope = [pn.Variable(f"v{k}", tuple(f"s{s}" for s in range(100))) for k in range(11)]
    codes = rng.integers(0, 100, (11, 1000))
    words = {v.name: bitmaps.encode_cells(c, np.eye(100, dtype=bool)) for v, c in zip(scope, codes, strict=True)}
    data = pn.Dataset.unchecked(scope, words, 1000)
    dag = pn.Dag({**{f"v{k}": () for k in range(10)}, "v10": tuple(f"v{k}" for k in range(10))})
    counts = pn.count(dag, data)
    contexts, by_state, totals = counts.family("v10")
    found = {tuple(c): (n.argmax(), t) for c, n, t in zip(contexts.tolist(), by_state, totals.tolist(), strict=True)}
    assert found == {tuple(codes[:10, r].tolist()): (codes[10, r], 1) for r in range(1000)}
    assert counts + counts == pn.count(dag, pn.Dataset.concatenate([data, data]))
    with pytest.raises(pn.TooLarge, match="dense table of 'v10'"):
        counts["v10"]


@given(strategies.counted(), st.data())
def test_counts_add_up_in_any_order_and_over_any_parts(
    given_data: tuple[pn.Dag, pn.Dataset], data: st.DataObject
) -> None:
    dag, rows = given_data
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    parts = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    whole = pn.count(dag, rows, focal=True)
    order = data.draw(st.permutations(parts))
    total = pn.count(dag, order[0], focal=True)
    for part in order[1:]:
        total = total + pn.count(dag, part, focal=True)
    assert total == whole
    assert pickle.loads(pickle.dumps(whole)) == whole  # noqa: S301
    assert hash(total) == hash(whole)


@settings(max_examples=5)
@given(strategies.networks(), strategies.seeds)
def test_a_stream_and_a_data_set_have_the_same_counts(net: pn.Network, seed: int) -> None:
    stream = pn.sample_batches(net, 150_000, imprecision=0.5, rng=seed, batch=9000)
    told: list[tuple[int, int]] = []
    counts = pn.count(net.dag, stream, progress=lambda done, total: told.append((done, total)))
    assert counts == pn.count(net.dag, pn.sample(net, 150_000, imprecision=0.5, rng=seed))
    assert told[0] == (9000, 150_000)
    assert told[-1] == (150_000, 150_000)


def test_blocks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    net = pn.load_example("clinic")
    data = pn.sample(net, 3000, imprecision=0.5, rng=3)
    whole, focal = pn.count(net.dag, data), pn.count(net.dag, data, focal=True)
    counting = import_module("possnet.counting.count")
    monkeypatch.setattr(counting, "BLOCK", 128)
    monkeypatch.setattr(counting, "FOCAL_BLOCK", 192)
    told: list[int] = []
    assert pn.count(net.dag, data, progress=lambda done, _: told.append(done)) == whole
    assert told[:2] == [128, 256]
    assert pn.count(net.dag, data, focal=True, progress=lambda done, _: told.append(done)) == focal
    assert told[-2:] == [2880, 3000]


def test_counting_leaves_the_data_set_alone() -> None:
    data = pn.sample(pn.load_example("asia"), 100, rng=1)
    before = [getattr(data, slot) for slot in data.__slots__]
    pn.count(pn.load_example("asia").dag, data, focal=True)
    assert all(a is b for a, b in zip(before, (getattr(data, slot) for slot in data.__slots__), strict=True))


def test_what_cannot_be_counted_is_refused() -> None:
    data = pn.Dataset.from_table({"fever": ["mild"], "rash": ["no"]})
    with pytest.raises(pn.InputError, match="names 'fevre', which the data lacks .* did you mean 'fever'"):
        pn.count(pn.Dag({"fevre": ()}), data)
    counts = pn.count(pn.Dag({"fever": ()}), data)
    with pytest.raises(pn.InputError, match="no variable 'rash'"):
        counts["rash"]
    with pytest.raises(pn.InputError, match="focal=True"):
        counts.focal("fever")
    with pytest.raises(pn.InputError, match="of another structure: 'fever' only in the first"):
        counts + pn.count(pn.Dag({"rash": ()}), data)
    with pytest.raises(pn.InputError, match="with and without focal"):
        counts + pn.count(pn.Dag({"fever": ()}), data, focal=True)
    wide = pn.Dataset.from_rows([pn.Variable(f"v{k}", tuple("abcdefgh")) for k in range(14)], [[None] * 14])
    dag = pn.Dag({**{f"v{k}": () for k in range(13)}, "v13": tuple(f"v{k}" for k in range(13))})
    with pytest.raises(pn.TooLarge, match="counting 'v13'"):
        pn.count(dag, wide)


def test_no_rows_have_no_contexts() -> None:
    data = pn.Dataset.from_rows([pn.Variable("a", ("x", "y"))], [])
    counts = pn.count(pn.Dag({"a": ()}), data, focal=True)
    assert counts["a"].tolist() == [0, 0]
    assert counts.totals("a") == 0
    assert counts.focal("a") == {}
    assert counts.rows == 0


def test_long_bitmaps_are_counted_in_runs() -> None:
    bits = np.random.default_rng(1).integers(0, 2, (2, 3, 64 * 1300)).astype(np.uint8)
    assert np.array_equal(bitmaps.count_bits(bitmaps.pack(bits)), bits.sum(axis=-1))
    full = np.ones((1, 64 * 1024), dtype=np.uint8)
    assert bitmaps.count_bits(bitmaps.pack(full)).tolist() == [64 * 1024]


@given(strategies.counted(), st.booleans())
def test_counts_are_saved_and_read_back(given_data: tuple[pn.Dag, pn.Dataset], focal: bool) -> None:
    dag, data = given_data
    counts = pn.count(dag, data, focal=focal)
    with tempfile.TemporaryDirectory() as folder:
        pn.write_counts(counts, Path(folder) / "counts.json")
        assert pn.read_counts(Path(folder) / "counts.json") == counts


def saved(folder: Path) -> tuple[Path, dict[str, Any]]:
    data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, "y"], "b": ["u", "v", "v"]})
    file = folder / "counts.json"
    pn.write_counts(pn.count(pn.Dag({"a": (), "b": ("a",)}), data, focal=True), file)
    document = json.loads(file.read_text(encoding="utf-8"))
    del document["checksum"]  # otherwise any change is refused by that alone
    return file, document


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["format"], "possnet-network", "Is this a file of counts"),
        (["version"], 3, "version 3 of possnet-counts; this possnet reads versions 1 to 2; update possnet"),
        (["rows"], -1, "-1 rows; expected"),
        (["rows"], 0, "the file is damaged"),
        (["variables", 0, "cell_sizes"], 99, "99 states in all"),
        (["variables", 0, "totals"], [2], "contexts of"),
        (["variables", 1, "focal", "counts"], [1, 0, 2], "do not add up to 3 rows"),
        (["extra"], 1, "unknown field"),
        (["rows"], "many", r"rows: expected int . float, got str"),
        (["variables"], [], "no variables"),
        (["variables", 1, "name"], "a", "two variables have the same name"),
        (["variables", 1, "parents"], ["c"], "parent"),
        (["variables", 1, "contexts"], [[0], [5]], "state number 5 of 'a', which has 2 states"),
        (["variables", 1, "contexts"], [[1], [0]], "not in ascending order"),
        (["variables", 1, "contexts"], [[0, 0], [1, 0]], "not whole numbers of shape"),
        (["variables", 1, "counts"], [[9, 1], [0, 2]], "more often than its context"),
        (["variables", 1, "counts"], [[0, 0], [0, 2]], "or a context never"),
        (["variables", 1, "counts"], [[1, -1], [0, 2]], "numbers below 0"),
        (["variables", 1, "counts"], [[1, 2**70], [0, 2]], "not whole numbers"),
        (["variables", 1, "totals"], [2], "not whole numbers of shape"),
        (["variables", 1, "focal"], None, "all or none"),
        (["variables", 1, "focal", "cells"], ["0101", "zz02", "0302"], "not hexadecimal"),
        (["variables", 1, "focal", "cells"], ["0101", "0202"], "not whole numbers of shape"),
        (["variables", 1, "focal", "cells"], ["0101", "0202", "0102"], "in ascending order"),
        (["variables", 1, "focal", "cells"], ["0001", "0202", "0302"], "empty or has unknown states"),
        (["variables", 1, "focal", "cells"], ["0101", "0202", "0702"], "empty or has unknown states"),
    ],
)
def test_damaged_counts_are_told(tmp_path: Path, place: list[Any], value: object, message: str) -> None:
    file, document = saved(tmp_path)
    target = document
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(pn.InputError, match=message) as told:
        pn.read_counts(file)
    assert str(told.value).startswith(str(file))


@given(st.binary(max_size=60), st.integers(0, 400))
def test_any_damage_to_a_counts_file_is_an_input_error(noise: bytes, where: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file, _ = saved(Path(folder))
        content = file.read_bytes()
        file.write_bytes(content[:where] + noise + content[where + len(noise) :])
        with contextlib.suppress(pn.InputError):
            counts = pn.read_counts(file)
            pn.fit(counts.dag, counts)
            pn.fit(counts.dag, counts, method="transform")
            pn.random_set_log_likelihood(counts.dag, counts)


def test_counts_that_would_overflow_are_refused() -> None:
    a = pn.Variable("a", ("x", "y", "z"))
    data = pn.Dataset.from_rows((a,), [("x",), (None,)], weights=[2**60, 2**60])
    dag = pn.Dag({"a": ()})
    counts = pn.count(dag, data)
    assert counts["a"].tolist() == [2**61, 2**60, 2**60]
    with pytest.raises(pn.InputError, match="fewer than 2\\*\\*62"):
        counts + counts
    with pytest.raises(pn.InputError, match="more than 2\\*\\*62"):
        pn.Dataset.concatenate([data, data])


def test_large_weights_and_large_cells_are_saved_and_read_back(tmp_path: Path) -> None:
    b = pn.Variable("b", tuple(f"s{k}" for k in range(100)))
    counts = pn.count(pn.Dag({"b": ()}), pn.Dataset.from_rows((b,), [(None,)], weights=[2**58]), focal=True)
    pn.write_counts(counts, tmp_path / "c.json")
    assert pn.read_counts(tmp_path / "c.json") == counts


def test_sparse_children_and_huge_weights_are_counted_exactly() -> None:
    rng = np.random.default_rng(5)
    sizes = {"p": 60, "q": 60, "c": 40}
    for weight in (None, rng.integers(2**48, 2**50, 900)):
        data, inside = random_rows(sizes, 900, 0.02, rng, weight)
        block = row_blocks.RowBlock(data, list(sizes), 0, 900)
        found = tally_family(block, ["p", "q"], "c", "cells")
        amounts = np.ones(900, dtype=object) if weight is None else weight.astype(object)
        for k in rng.integers(0, len(found.contexts), 20).tolist():
            p, q = found.contexts[k]
            there = inside["p"][p] & inside["q"][q]
            assert found.totals[k] == amounts[there].sum()
            assert found.counts[k].tolist() == [int(amounts[there & bits].sum()) for bits in inside["c"]]


def test_the_kernel_is_chosen_by_cost() -> None:
    rng = np.random.default_rng(1)

    def chosen(rows: int, states: int, parents: int, share: float) -> str:
        names = [f"v{k}" for k in range(parents + 1)]
        data, _ = random_rows(dict.fromkeys(names, states), rows, share, rng)
        prices = estimate_costs(row_blocks.RowBlock(data, names, 0, rows), names[:-1], names[-1])
        return min(prices, key=prices.__getitem__)

    assert chosen(100_000, 2, 2, 0.3) == "bitmaps"
    assert chosen(100_000, 100, 2, 0.0) == "codes"
    assert chosen(5_000, 10, 5, 0.01) == "cells"


@pytest.mark.parametrize(
    ("call", "first", "second", "message"),
    [
        (pn.count, "net", "data", "expected a possnet.Dag"),
        (pn.fit, "net", "data", "expected a possnet.Dag"),
        (pn.fit_em, "net", "data", "expected a possnet.Dag"),
        (pn.fit_random_sets, "net", "data", "expected a possnet.Dag"),
        (pn.random_set_log_likelihood, "net", "data", "expected a possnet.Dag or a possnet.RandomSets"),
        (pn.log_likelihood, "dag", "data", "expected a possnet.Network"),
        (pn.count, "dag", "file", "read files with"),
        (pn.fit, "dag", "file", "read files with"),
        (pn.fit_em, "dag", "file", "read files with"),
        (pn.count, "nothing", "data", "has no nodes"),
    ],
)
def test_arguments_of_the_wrong_kind_are_told(call: Any, first: str, second: str, message: str) -> None:
    net = pn.load_example("asia")
    given = {"net": net, "dag": net.dag, "nothing": pn.Dag({}), "data": pn.sample(net, 10, rng=1), "file": "rows.csv"}
    with pytest.raises(pn.InputError, match=message):
        call(given[first], given[second])


class TwiceTheRows:
    """A stream that gives a data set twice."""

    def __init__(self, data: pn.Dataset) -> None:
        self.data, self.variables, self.rows, self.weighted = data, data.variables, 2 * len(data), True

    def __iter__(self) -> Iterator[pn.Dataset]:
        return iter([self.data, self.data])


def test_a_stream_of_more_rows_than_a_count_can_hold_is_refused() -> None:
    """The weights of each batch fit; their sum does not."""
    data = pn.Dataset.from_rows([pn.Variable("x", ("a", "b"))], [("a",), ("b",)], weights=[2**60, 2**60])
    with pytest.raises(pn.InputError, match="fewer than 2\\*\\*62"):
        pn.count(pn.Dag({"x": ()}), TwiceTheRows(data))


def test_counts_in_a_notebook_say_what_they_are_counted_from() -> None:
    data = pn.Dataset.from_table({"fever": ["mild", "high", "mild"]})
    drawn = pn.count(pn.Dag({"fever": ()}), data)._repr_html_()
    assert "3 rows, 1 variable, 1 context<" in drawn
    assert "Counts(" not in drawn


def test_rows_of_weight_0_count_for_nothing() -> None:
    asia = pn.load_example("asia")
    data = pn.sample(asia, 200, rng=1).with_weights(np.zeros(200, dtype=np.int64))
    counts = pn.count(asia.dag, data)
    assert counts.rows == 0
    assert all(not np.asarray(counts[variable.name]).any() for variable in asia.variables)
