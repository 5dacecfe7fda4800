"""Laws of data sets."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.arrow import TextColumn
from tests.refused import refused
from tests.rows import rows_of
from tests.strategies import cells, datasets, variables

FEVER = pn.Variable("fever", ("none", "mild", "high"), ordered=True)
RASH = pn.Variable("rash", ("yes", "no"))
ROWS: list[tuple[Any, Any]] = [
    ({"mild", "high"}, "no"),
    ("none", None),
    (["none", "mild", "high"], {"yes"}),
    (None, "yes"),
]
DATA = pn.Dataset.from_rows((FEVER, RASH), ROWS)


@given(st.lists(variables(), min_size=1, max_size=3, unique_by=lambda v: v.name), st.data())
def test_rows_come_back_as_they_were_given(scope: list[pn.Variable], data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(*(cells(v) for v in scope)), max_size=140))
    built = pn.Dataset.from_rows(scope, rows)
    expected = [(*(None if c is None else frozenset({c}) if isinstance(c, str) else c for c in row), 1) for row in rows]
    assert rows_of(built) == expected
    assert len(built) == len(rows)
    assert built.variables == tuple(scope)


def test_unknown_is_not_the_whole_domain_but_counts_as_it() -> None:
    assert DATA.missing("fever").tolist() == [False, False, False, True]
    assert DATA.row(2)["fever"] == DATA.row(3)["fever"] == {"none", "mild", "high"}
    assert pn.Dataset.from_rows((FEVER, RASH), [*ROWS[:3], (FEVER.states, "yes")]) != DATA
    assert DATA.distinct() != DATA[:2]
    assert len(pn.Dataset.from_rows((RASH,), [(None,), (RASH.states,)]).distinct()) == 2


@given(datasets(), st.data())
def test_slices_and_row_numbers_pick_rows(data: pn.Dataset, draw: st.DataObject) -> None:
    rows, n = rows_of(data), len(data)
    ends = st.one_of(st.none(), st.integers(-n - 2, n + 2))
    wanted = slice(draw.draw(ends), draw.draw(ends), draw.draw(st.sampled_from([None, 1, 2, 3, -1, -2])))
    assert rows_of(data[wanted]) == rows[wanted]
    numbers = draw.draw(st.lists(st.integers(-n, n - 1)) if n else st.just([]))
    assert rows_of(data[numbers]) == [rows[k] for k in numbers]
    chosen = np.array(draw.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    assert rows_of(data[chosen]) == [row for row, keep in zip(rows, chosen, strict=True) if keep]


@given(datasets(), st.data())
def test_concatenating_slices_gives_the_whole(data: pn.Dataset, draw: st.DataObject) -> None:
    cut = draw.draw(st.integers(0, len(data)))
    assert pn.Dataset.concatenate([data[:cut], data[cut:]]) == data
    twice = pn.Dataset.concatenate([data[cut:], data[:cut], data])
    assert rows_of(twice) == rows_of(data)[cut:] + rows_of(data)[:cut] + rows_of(data)


@given(datasets())
def test_distinct_rows_carry_the_weight_of_their_copies(data: pn.Dataset) -> None:
    expected: dict[Any, int] = {}
    for *row, weight in rows_of(data):
        expected[tuple(row)] = expected.get(tuple(row), 0) + weight
    distinct = data.distinct()
    assert rows_of(distinct) == [(*row, weight) for row, weight in expected.items()]
    assert distinct.total == data.total
    assert distinct.imprecise_share() == pytest.approx(data.imprecise_share())
    assert distinct.mean_cell_size() == pytest.approx(data.mean_cell_size())
    assert distinct.unknown_share() == pytest.approx(data.unknown_share())


def test_distinct_rows_of_many_wide_columns() -> None:
    rng = np.random.default_rng(1)
    scope = [pn.Variable(f"v{k}", tuple(f"s{j}" for j in range(64))) for k in range(14)]
    base = [tuple(f"s{j}" for j in rng.integers(0, 64, 14)) for _ in range(100)]
    data = pn.Dataset.from_rows(scope, base * 2)
    assert data.distinct().weights is not None
    assert rows_of(data.distinct()) == [(*row[:-1], 2) for row in rows_of(data[:100])]


@given(datasets())
def test_shares_are_counted_cell_by_cell(data: pn.Dataset) -> None:
    names = [v.name for v in data.variables]
    sizes = [len(data.row(r)[name]) for r in range(len(data)) for name in names]
    weights = [w for *_, w in rows_of(data) for _ in names]
    total = sum(weights)
    if not total:
        assert data.imprecise_share() == data.mean_cell_size() == 0.0
        return
    assert data.imprecise_share() == pytest.approx(sum(w for w, s in zip(weights, sizes, strict=True) if s > 1) / total)
    assert data.mean_cell_size() == pytest.approx(sum(w * s for w, s in zip(weights, sizes, strict=True)) / total)
    unknown = sum(w * sum(c is None for c in row) for *row, w in rows_of(data))
    assert data.unknown_share() == pytest.approx(unknown / total)
    one = names[0]
    ones = [w * len(data.row(r)[one]) for r, (*_, w) in enumerate(rows_of(data))]
    assert data.mean_cell_size(one) == pytest.approx(sum(ones) / data.total)


@given(datasets())
def test_a_data_set_is_an_immutable_value(data: pn.Dataset) -> None:
    copy = pickle.loads(pickle.dumps(data))  # noqa: S301
    assert copy == data
    assert hash(copy) == hash(data)
    assert data != 1
    for name in (v.name for v in data.variables):
        assert not data.bitmaps(name).flags.writeable
        assert not copy.bitmaps(name).flags.writeable
    assert data[:] == data


@given(datasets())
def test_select_keeps_the_named_columns(data: pn.Dataset) -> None:
    names = [v.name for v in data.variables][::-1]
    assert [row[:-1][::-1] for row in rows_of(data.select(names))] == [row[:-1] for row in rows_of(data)]
    assert data.select(names[:1]).variables == (data.variable(names[0]),)


@given(datasets(min_rows=1), st.floats(0, 1), st.one_of(st.none(), st.integers(0, 9)))
def test_a_split_is_a_partition(data: pn.Dataset, share: float, rng: int | None) -> None:
    first, second = data.split(share, rng=rng)
    assert len(first) == round(len(data) * share)
    assert sorted(map(repr, rows_of(first) + rows_of(second))) == sorted(map(repr, rows_of(data)))
    assert (first, second) == data.split(share, rng=rng)


def test_memory_is_a_bit_for_each_state() -> None:
    codes = np.arange(1_000_000) % 3
    columns = [TextColumn(f"v{k}", codes, [("a",), ("b",), ("a", "c")]) for k in range(35)]
    data = pn.Dataset.from_columns(columns)
    assert len(data) == 1_000_000
    assert sum(data.bitmaps(v.name).nbytes for v in data.variables) == 105 * 125_000  # 13 MB
    assert data.imprecise_share() == pytest.approx(1 / 3, abs=1e-6)


def test_a_thousand_states() -> None:
    big = pn.Variable("big", tuple(f"s{k:03d}" for k in range(1000)))
    rows: list[tuple[Any]] = [(f"s{k:03d}",) for k in range(0, 1000, 7)]
    rows += [({"s000", "s999"},), (None,), (big.states,)]
    data = pn.Dataset.from_rows((big,), rows)
    assert data.row(-3) == {"big": frozenset({"s000", "s999"})}
    assert len(data.distinct()) == len(rows)
    assert pn.Dataset.from_table(data, variables=[big]) == data


def test_weights_come_from_a_column_or_a_sequence() -> None:
    table = {"x": ["a", "b"], "n": [3, 1]}
    data = pn.Dataset.from_table(table, weights="n")
    assert data.weights is not None
    assert (data.weights.tolist(), data.total, len(data)) == ([3, 1], 4, 2)
    assert "weighted" in repr(data)
    with_domain = pn.Dataset.from_table(table, variables=data.variables, weights="n")
    assert with_domain == data
    for bad, message in [
        ({"x": ["a"], "n": [-1]}, "row 1, weight column 'n': '-1'; expected a number from 0"),
        ({"x": ["a"], "n": [None]}, "row 1, weight column 'n': nothing; expected a number"),
        ({"x": ["a"], "n": [["1", "2"]]}, "weight column 'n' holds lists"),
        ({"x": ["a"], "n": ["9" * 30]}, "expected a number from 0"),
        ({"x": ["a"], "m": [1]}, r"no weight column 'n' \(x, m\)"),
    ]:
        refused(message, pn.Dataset.from_table, bad, weights="n")
    for wrong in ([1, 2, 3], [-1.5], [-1], ["x"], [float("nan")]):
        refused("weights", pn.Dataset.from_rows, (RASH,), [("yes",)], weights=wrong)
    assert pn.Dataset.from_rows((RASH,), [("yes",)], weights=[2.0]).total == 2


def test_as_many_misfits_are_told_as_one_message_holds() -> None:
    rows = [("hihg" if k % 2 else "high",) for k in range(40)]
    lines = refused("'hihg' is not a state", pn.Dataset.from_rows, (FEVER,), rows).splitlines()
    assert lines[0] == "rows, row 2, column 'fever': 'hihg' is not a state (none, mild, high); did you mean 'high'?"
    assert len(lines) == 5
    assert lines[-1] == "... and 16 more cells of rows that cannot be used"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: pn.Dataset.from_rows((RASH,), [(set(),)]), "row 1, column 'rash': an empty set; expected at least one state"),
        (lambda: pn.Dataset.from_rows((RASH,), [("yes", "no")]), "row 1: .*; expected 1 cells"),
        (lambda: pn.Dataset.from_rows((RASH,), ["yes"]), "row 1: 'yes'; expected 1 cells"),
        (lambda: pn.Dataset.from_rows((RASH,), [1]),  # type: ignore[list-item]
          "row 1: 1; expected 1 cells"),
        (lambda: pn.Dataset.from_rows((RASH,), [({1.5},)]), "1.5 is of type float; expected a state"),
        (lambda: pn.Dataset.from_rows((RASH, RASH), []), "two have the same name"),
        (lambda: pn.Dataset.from_rows((), []), "variables: none; expected at least one"),
        (lambda: pn.Dataset.from_rows(["rash"], []),  # type: ignore[list-item]
          "variables: 'rash' among them"),
        (lambda: pn.Dataset.from_rows(3, []),  # type: ignore[arg-type]
          "variables: 3; expected variables"),
        (lambda: pn.Dataset.from_table({"x": [[]]}), "column 'x' holds no state at all"),
        (lambda: pn.Dataset.from_table({"x": [[], ["a"]]}), "row 1, column 'x': an empty set"),
        (lambda: pn.Dataset.from_table({"x": [["a", None]]}), "column 'x', row 1: a null among the states"),
        (lambda: pn.Dataset.from_table({"x": [None]}), "column 'x' holds no state at all"),
        (lambda: pn.Dataset.from_table({"x": [0.5]}), "column 'x': numbers with fractions"),
        (lambda: pn.Dataset.from_table({"x": [b"a"]}), "column 'x': cells of type binary"),
        (lambda: pn.Dataset.from_table({"x": [object()]}), "column 'x', row 1: .* expected a state"),
        (lambda: pn.Dataset.from_table({"x": [["a", ""]]}), "table: variable 'x': state is empty"),
        (lambda: pn.Dataset.from_table({}), "table: no columns"),
        (lambda: pn.Dataset.from_table(7), "int does not speak Arrow"),
        (lambda: pn.Dataset.from_table({"x": ["a"], "y": ["a", "b"]}), "columns of 1, 2 rows; expected columns of one length"),
        (lambda: pn.Dataset.from_table({"fevr": ["none"]}, variables=[FEVER]), r"no column 'fever' \(fevr\); did you mean 'fevr'"),
        (lambda: pn.Dataset.from_table(pa.table([["a"], ["b"]], names=["x", "x"])), "column 'x' appears twice"),
        (lambda: pn.Dataset.from_table(pd.DataFrame([["a", "b"]], columns=["p", "p"])), "column 'p' appears twice"),
        (lambda: pn.Dataset.from_table(pd.Series(["x"], name="a")), "a Series; expected a frame of named columns"),
        (lambda: pn.Dataset.from_table({"a": "xyz"}), "^table: the cells of a column are one text 'xyz'"),
        (lambda: pn.Dataset.from_table({"a": 3}), "^table: the cells of a column are one int; expected a list of cells"),
        (lambda: pn.Dataset.from_table({"a": [1e300, 1.0]}), "column 'a': numbers too large for states"),
        (lambda: pn.Dataset.from_table({"a": ["\ud800"]}), "cannot be written as UTF-8"),
        (lambda: pn.Dataset.from_table({"id": [f"p{k}" for k in range(10_001)]}), "10,001 distinct states, which looks like an identifier"),
        (lambda: pn.Dataset.from_rows((RASH,), [("yes",)] * 4, weights=[2**62] * 4), "weights add up to more than"),
        (lambda: pn.Dataset.from_rows((RASH,), [("yes",)], weights=[[1], [1, 2]]), "expected one for each of 1 rows"),
        (lambda: pn.Dataset.concatenate([]), "no data sets"),
        (lambda: pn.Dataset.concatenate([DATA, DATA.select(["rash"])]), "different variables"),
        (lambda: DATA.row(4), "row 4 of 4; expected a number from -4 to 3"),
        (lambda: DATA.row(0.5), "row 0.5 of 4"),  # type: ignore[arg-type]
        (lambda: pn.Dataset.concatenate([1]), "1 is no data set"),  # type: ignore[list-item]
        (lambda: DATA[[9]], "row 9 of 4"),
        (lambda: DATA[[-9]], "row -9 of 4"),
        (lambda: DATA[["a"]],  # type: ignore[list-item]
          "expected a slice, row numbers"),
        (lambda: DATA.split(0.5, rng=-1), "rng -1; expected a whole number >= 0 or a numpy Generator"),
        (lambda: DATA.split(2), "share 2; expected a number from 0 to 1"),
        (lambda: DATA.missing("rsah"), "no variable 'rsah' .*did you mean 'rash'"),
        (lambda: DATA.select([]), "variables: none"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_sentence(build: Any, message: str) -> None:
    refused(message, build)


def test_reprs_are_short() -> None:
    assert repr(DATA) == "Dataset(4 rows, 2 variables, 50 % of the cells imprecise, 25 % unknown)"
    assert repr(DATA[:0]) == "Dataset(0 rows, 2 variables, 0 % of the cells imprecise)"
    assert repr(pn.Dataset.from_rows((RASH,), [("yes",)])) == "Dataset(1 row, 1 variable, 0 % of the cells imprecise)"
