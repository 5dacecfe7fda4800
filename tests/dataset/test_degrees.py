"""Cells with degrees: what a data set keeps of them, and the alpha-cuts that they stand for."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests import oracles, strategies
from tests.refused import refused

FEVER = pn.Variable("fever", ("none", "mild", "high"), ordered=True)
RASH = pn.Variable("rash", ("yes", "no"))
SURE = {"high": 1, "mild": 0.4}


@given(strategies.graded_datasets())
def test_alpha_cuts_are_those_of_the_definition(data: pn.Dataset) -> None:
    cuts = data.alpha_cuts()
    origins, levels = data.cut_levels()
    expected = [(number, *cut) for number in range(len(data)) for cut in oracles.alpha_cuts(data.degrees(number))]
    assert len(cuts) == len(expected) == len(origins) == len(levels)
    for place, (number, level, share, sets) in enumerate(expected):
        assert (origins[place], levels[place]) == (number, level)
        assert cuts.row(place) == sets
        if data.has_degrees:
            assert cuts.weights is not None
            weight = 1 if data.weights is None else data.weights[number]
            assert cuts.weights[place] == pytest.approx(weight * share, rel=1e-12)
    assert not cuts.has_degrees
    for name in (v.name for v in data.variables):
        assert np.array_equal(cuts.missing(name), data.missing(name)[origins])


@given(strategies.graded_datasets())
def test_weights_of_the_cuts_of_a_row_add_up_to_its_weight(data: pn.Dataset) -> None:
    cuts = data.alpha_cuts()
    assert cuts.total == pytest.approx(data.total, rel=1e-12)
    if not data.has_degrees:
        assert cuts is data


def test_one_level_holds_for_the_whole_row() -> None:
    data = pn.Dataset.from_rows((FEVER, RASH), [({"high": 1, "mild": 0.4}, {"yes": 1, "no": 0.4})])
    cuts = data.alpha_cuts()
    assert [cuts.row(k) for k in range(2)] == [
        {"fever": {"high"}, "rash": {"yes"}},
        {"fever": {"mild", "high"}, "rash": {"yes", "no"}},
    ]
    assert cuts.weights is not None
    assert cuts.weights.tolist() == [0.6, 0.4]


@given(strategies.datasets(), st.data())
def test_degrees_of_0_and_1_are_sets(data: pn.Dataset, drawn: st.DataObject) -> None:
    rows: list[list[Any]] = []
    for number in range(len(data)):
        row = data.row(number)
        rows.append([])
        for v in data.variables:
            if data.missing(v.name)[number]:
                rows[-1].append(None)
            elif drawn.draw(st.booleans()):
                rows[-1].append({state: float(state in row[v.name]) for state in v.states})
            else:
                rows[-1].append(row[v.name])
    again = pn.Dataset.from_rows(data.variables, rows, weights=data.weights)
    assert again == data
    assert not again.has_degrees
    assert again.alpha_cuts() is again


@given(strategies.graded_datasets(), st.data())
def test_rows_that_are_taken_keep_their_degrees(data: pn.Dataset, drawn: st.DataObject) -> None:
    every = [data.degrees(number) for number in range(len(data))]
    chosen = drawn.draw(st.lists(st.integers(0, max(len(data) - 1, 0)), max_size=6)) if len(data) else []
    part = data[np.array(chosen, dtype=np.int64)]
    assert [part.degrees(k) for k in range(len(part))] == [every[k] for k in chosen]
    cut = drawn.draw(st.integers(0, len(data)))
    assert [data[cut:].degrees(k) for k in range(len(data) - cut)] == every[cut:]
    assert pn.Dataset.concatenate([data[:cut], data[cut:]]) == data
    assert pickle.loads(pickle.dumps(data)) == data  # noqa: S301
    name = data.variables[0].name
    assert [data.select([name]).degrees(k) for k in range(len(data))] == [{name: row[name]} for row in every]
    column = data.column(name)
    for number, code in enumerate(column.codes):
        shown = {s: d for s, d in zip(column.variable.states, column.degrees[code].tolist(), strict=True) if d > 0.0}
        assert shown == every[number][name]
    assert data.with_columns([column]) == data


@given(strategies.graded_datasets(weighted=False))
def test_distinct_rows_tell_degrees_apart(data: pn.Dataset) -> None:
    distinct = data.distinct()
    keys = [repr((data.degrees(k), [bool(data.missing(v.name)[k]) for v in data.variables])) for k in range(len(data))]
    assert len(distinct) == len(set(keys))
    assert distinct.total == data.total


def test_degrees_are_seen_and_summarised() -> None:
    data = pn.Dataset.from_table({"fever": ["none", SURE, {"mild", "high"}, None]}, variables=[FEVER])
    assert data.has_degrees
    assert data.graded("fever").tolist() == [False, True, False, False]
    assert data.row(1) == {"fever": {"mild", "high"}}
    assert data.degrees(1) == data.degrees(-3) == {"fever": {"mild": 0.4, "high": 1.0}}
    assert data.degrees(3) == {"fever": {"none": 1.0, "mild": 1.0, "high": 1.0}}
    assert data.graded_share() == 0.25
    assert data.imprecise_share() == 0.75
    assert repr(data) == "Dataset(4 rows, 1 variable, 75 % of the cells imprecise, 25 % unknown, 25 % with degrees)"
    assert data != pn.Dataset.from_table({"fever": ["none", {"mild", "high"}, {"mild", "high"}, None]}, [FEVER])
    assert data != pn.Dataset.from_table({"fever": ["none", {"high": 1, "mild": 0.5}, {"mild", "high"}, None]}, [FEVER])


def test_mappings_come_from_frames_too() -> None:
    pandas, polars, pa = pytest.importorskip("pandas"), pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    cells = [SURE, {"none": 1, "mild": 0.25}, None]
    expected = pn.Dataset.from_rows([FEVER], [(cell,) for cell in cells])
    structs = {"fever": polars.Struct(dict.fromkeys(FEVER.states, polars.Float64))}
    frames = (pandas.DataFrame({"fever": cells}), polars.DataFrame({"fever": cells}, schema=structs), {"fever": cells})
    for frame in frames:
        assert pn.Dataset.from_table(frame, variables=[FEVER]) == expected
    pairs = [None if cell is None else list(cell.items()) for cell in cells]
    table = pa.table({"fever": pa.array(pairs, type=pa.map_(pa.string(), pa.float64()))})
    assert pn.Dataset.from_table(table, variables=[FEVER]) == expected
    mixed = pandas.DataFrame({"fever": ["none", SURE]})
    assert pn.Dataset.from_table(mixed, variables=[FEVER]).degrees(1) == {"fever": {"mild": 0.4, "high": 1.0}}
    assert pn.Dataset.from_table({"fever": [SURE, "none"]}).variables == (
        pn.Variable("fever", ("high", "mild", "none")),
    )


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ({"high": 0, "mild": 0.0}, "degrees that are all 0 leave no state possible; expected 1 for the most possible"),
        ({"high": 1, "mild": -0.2}, "degree -0.2 of 'mild'; expected a number from 0 to 1"),
        ({"high": 1.2}, "degree 1.2 of 'high'; expected a number from 0 to 1"),
        ({"high": float("nan")}, "degree nan of 'high'; expected a number from 0 to 1"),
        ({"high": "much"}, "degree 'much' of 'high'; expected a number from 0 to 1"),
        ({"high": True}, "degree True of 'high'; expected a number from 0 to 1"),
        ({"hihg": 1}, "'hihg' is not a state .none, mild, high.; did you mean 'high'"),
        ({}, "an empty set; expected at least one state"),
        ({"high": [1]}, "degree \\[1\\] of 'high'; expected a number from 0 to 1"),
        ({"high": 1, 1.5: 1}, "1.5 is of type float; expected a state"),
    ],
)
def test_bad_degrees_are_told_with_row_and_column(cell: Any, message: str) -> None:
    text = refused(message, pn.Dataset.from_rows, [FEVER], [("none",), (cell,)])
    assert "row 2" in text
    assert "column 'fever'" in text


def test_a_state_has_one_degree() -> None:
    ages = pn.Variable("age", ("1", "2"))
    refused(
        "column 'age', row 1: '1' has two degrees; expected one", pn.Dataset.from_rows, [ages], [({1: 1, "1": 0.5},)]
    )


def test_degrees_are_divided_by_the_largest_with_a_warning() -> None:
    with pytest.warns(pn.PossnetWarning, match="rows, column 'fever': the largest degree of a cell is 0.8"):
        data = pn.Dataset.from_rows([FEVER], [({"high": 0.8, "mild": 0.4},)])
    assert data.degrees(0) == {"fever": {"mild": 0.5, "high": 1.0}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pn.Dataset.from_rows([FEVER], [(SURE,)]).has_degrees


def test_a_certainty_column_discounts_a_cell() -> None:
    table = {"fever": ["high", {"mild", "high"}, "none", None], "sure": [6, 3.5, 7, None]}
    data = pn.Dataset.from_table(table, variables=[FEVER], certainty={"fever": ("sure", 7)})
    least = 1 - 6 / 7
    assert [data.degrees(k)["fever"] for k in range(4)] == [
        {"none": least, "mild": least, "high": 1.0},
        {"none": 0.5, "mild": 1.0, "high": 1.0},
        {"none": 1.0},
        {"none": 1.0, "mild": 1.0, "high": 1.0},
    ]
    assert data.missing("fever").tolist() == [False, False, False, True]
    assert data.graded("fever").tolist() == [True, True, False, False]
    assert pn.Dataset.from_table(table, certainty={"fever": ("sure", 7)}).variables[0].name == "fever"
    shares = {"fever": [SURE], "sure": [0.5]}
    again = pn.Dataset.from_table(shares, variables=[FEVER], certainty={"fever": "sure"})
    assert again.degrees(0) == {"fever": {"none": 0.5, "mild": 0.5, "high": 1.0}}  # max(degree, 1 - certainty)


@pytest.mark.parametrize(
    ("sure", "certainty", "message"),
    [
        ([8], ("sure", 7), "row 1, column 'sure': '8' as the certainty of 'fever'; expected a number from 0 to 7"),
        ([-1], ("sure", 7), "row 1, column 'sure': '-1' as the certainty of 'fever'"),
        (["very"], ("sure", 7), "row 1, column 'sure': 'very' as the certainty of 'fever'"),
        ([None], ("sure", 7), "row 1, column 'sure': nothing as the certainty of 'fever'"),
        ([1], ("shure", 7), "no column 'shure' .fever, sure.; did you mean 'sure'"),
        ([1], ("sure", 0), "certainty of 'fever' is .'sure', 0.; expected a column, or a column and its largest"),
        ([1], "fever", "certainty of 'fever' in 'fever' itself; expected another column"),
        ([[1, 2]], "sure", "certainty column 'sure' holds lists"),
    ],
)
def test_bad_certainties_are_told(sure: list[Any], certainty: Any, message: str) -> None:
    table = {"fever": ["high"], "sure": sure}
    refused(message, pn.Dataset.from_table, table, certainty={"fever": certainty})


def test_fractional_weights_are_floats_and_whole_ones_are_not() -> None:
    half = pn.Dataset.from_rows([RASH], [("yes",), ("no",)], weights=[0.5, 2])
    assert half.weights is not None
    assert half.weights.dtype == np.float64
    assert (half.total, half.unknown_share(), half.mean_cell_size()) == (2.5, 0.0, 1.0)
    whole = pn.Dataset.from_rows([RASH], [("yes",), ("no",)], weights=[2.0, 2])
    assert whole.weights is not None
    assert whole.weights.dtype == np.int64
    assert isinstance(whole.total, int)
    for given_weights in ([0.5, 2], ["0.5", "2"], ["5e-1", "2.0"]):
        table = {"rash": ["yes", "no"], "n": given_weights}
        assert pn.Dataset.from_table(table, variables=[RASH], weights="n") == half
    for bad in ("-0.5", "nan", "inf", "1_0.5", "half"):
        refused("expected a number from 0 to", pn.Dataset.from_table, {"rash": ["yes"], "n": [bad]}, weights="n")


@given(strategies.graded_datasets(), st.randoms())
def test_degrees_follow_their_states_into_another_order(data: pn.Dataset, random: Any) -> None:
    domains = []
    for variable in data.variables:
        states = [*variable.states, "one more"]
        random.shuffle(states)
        domains.append(pn.Variable(variable.name, tuple(states)))
    aligned = data.with_domains(domains)
    for number in range(len(data)):
        known = data.degrees(number)
        for name, degrees in aligned.degrees(number).items():
            if not data.missing(name)[number]:
                assert degrees == known[name]
    own = pn.Dataset.concatenate([data, aligned])
    assert [own.degrees(k) for k in range(len(data))] == [own.degrees(k + len(data)) for k in range(len(data))]


def test_the_cut_likelihood_refuses_degrees_and_fractional_weights() -> None:
    dag = pn.Dag({"fever": ()})
    refused("cells of 'fever' carry degrees; expected sets", pn.fit_cut, dag, pn.Dataset.from_rows([FEVER], [(SURE,)]))
    half = pn.Dataset.from_rows([FEVER], [("none",)], weights=[0.5])
    refused("rows with fractional weights; expected whole weights", pn.fit_cut, dag, half)
