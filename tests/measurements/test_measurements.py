"""Measurements with a known error as cells: exact at every edge, from arrays, texts and files."""

from __future__ import annotations

import decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, strategies as st

import possnet as pn
from tests.commands import run
from tests.oracles import met_bins
from tests.refused import refused

tenths = st.integers(-60, 60)
edge_sets = st.lists(st.integers(-50, 50), min_size=1, max_size=6, unique=True).map(sorted)


def numbers_of(column: pn.BinnedColumn) -> list[list[int]]:
    """Bins of every cell; none where nothing is known."""
    states = column.variable.states
    return [[] if cell is None else [k for k, s in enumerate(states) if s in cell] for cell in column]


@given(st.lists(st.tuples(tenths, st.integers(0, 30)), min_size=1, max_size=30), edge_sets)
@example([(3, 1), (2, 1)], [2])  # 0.3 - 0.1 < 0.2 in floats
def test_a_reading_belongs_to_every_bin_that_its_interval_meets(
    readings: list[tuple[int, int]], edges: list[int]
) -> None:
    """Decimal readings, errors and edges, against exact fractions: no rounding shows."""
    exact = [Fraction(e, 10) for e in edges]
    expected = [met_bins(Fraction(v - e, 10), Fraction(v + e, 10), exact) for v, e in readings]
    values, errors = [v / 10 for v, _ in readings], [e / 10 for _, e in readings]
    found = pn.bin_measurements(values, edges=[e / 10 for e in edges], error=errors)
    assert numbers_of(found) == expected
    written = [f"{v / 10}±{e / 10}" for v, e in readings]
    assert numbers_of(pn.bin_measurements(written, edges=[e / 10 for e in edges], error=99)) == expected


@given(st.lists(tenths, min_size=1, max_size=20), st.integers(0, 50), edge_sets)
def test_a_relative_error_grows_with_the_number(values: list[int], percent: int, edges: list[int]) -> None:
    exact = [Fraction(e, 10) for e in edges]
    share = Fraction(percent, 100)
    expected = [
        met_bins(Fraction(v, 10) - abs(Fraction(v, 10)) * share, Fraction(v, 10) + abs(Fraction(v, 10)) * share, exact)
        for v in values
    ]
    found = pn.bin_measurements([v / 10 for v in values], edges=[e / 10 for e in edges], relative=percent / 100)
    assert numbers_of(found) == expected


@given(
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=20),
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=5, unique=True).map(sorted),
)
def test_without_error_a_number_has_one_bin_closed_below(values: list[float], edges: list[float]) -> None:
    found = pn.bin_measurements(values, edges=edges)
    for value, (number,) in zip(values, numbers_of(found), strict=True):
        assert number == sum(edge <= value for edge in edges)


@pytest.mark.parametrize(
    ("text", "bins"),
    [
        ("4.9", [0]), ("5", [1]), ("10", [2]), (" 7 ", [1]), ("-3e2", [0]), ("inf", [2]), ("-inf", [0]),
        ("<5", [0]), ("<=5", [0, 1]), ("≤5", [0, 1]), ("<5.1", [0, 1]), ("< 11", [0, 1, 2]), ("<3", [0]),
        (">5", [1, 2]), (">=10", [2]), ("≥ 9.9", [1, 2]), (">4", [0, 1, 2]), (">10", [2]),
        ("3..7", [0, 1]), ("5..10", [1, 2]), ("5 .. 9.99", [1]), ("3..4", [0]), ("-1e3..1e3", [0, 1, 2]), ("7..7", [1]),
        ("6+-1", [1]), ("6 +/- 1.5", [0, 1]), ("9±1", [1, 2]),
        ("", []), ("?", []), ("*", []), ("NA", []), ("nan", []), ("None", []), ("n/a", []),
    ],
)  # fmt: skip
def test_bounds_and_intervals_meet_the_bins_they_name(text: str, bins: list[int]) -> None:
    """Edges 5 and 10; the error of the device widens numbers only."""
    assert numbers_of(pn.bin_measurements([text], edges=[5, 10])) == [bins]
    is_number = text.strip() in {"4.9", "5", "10", "7", "-3e2"}
    assert numbers_of(pn.bin_measurements([text], edges=[5, 10], error=100.0)) == [
        [0, 1, 2] if is_number and text != "-3e2" else bins
    ]


def test_an_infinite_error_says_nothing_and_a_missing_one_is_unknown() -> None:
    inf = np.inf
    found = pn.bin_measurements(
        [1.0, inf, -inf, inf, 7.0, None, "<3"], edges=[5], error=[inf, 1, 1, inf, np.nan, 1, np.nan]
    )
    assert numbers_of(found) == [[0, 1], [1], [0], [0, 1], [], [], [0]]
    assert numbers_of(pn.bin_measurements([inf, 4], edges=[5], relative=0.5)) == [[1], [0, 1]]
    data = pn.Dataset.from_table({"measurement": found})
    assert data.missing("measurement").tolist() == [False] * 4 + [True, True, False]


def test_closed_ends_refuse_what_lies_outside_and_cut_what_hangs_over() -> None:
    def binned(value: object, **options: Any) -> list[list[int]]:
        return numbers_of(pn.bin_measurements([value], edges=[0, 5, 10], open_ended=False, **options))

    assert pn.bin_measurements([1], edges=[0, 5, 10], open_ended=False).variable.states == ("0..5", "5..10")
    assert binned(0) == [[0]]
    assert binned(10) == [[1]]
    assert binned(-0.5, error=1) == [[0]]
    assert binned("<3") == binned("-5..3") == [[0]]
    assert binned(">=10") == binned("9..20") == [[1]]
    assert binned(11, error=1) == binned("11±1") == binned("10..12") == [[1]]
    assert binned("-1±1") == binned("<=0") == [[0]]
    for outside in (-0.1, "-0.1", 10.1, "10.1", "<0", ">10", ">10.5", "11..12", "12±1"):
        refused(r"row 1, .*lies outside 0..10; expected a reading inside, more edges, or", binned, outside)


def test_labels_are_the_numbers_or_what_the_user_says() -> None:
    found = pn.bin_measurements([1], edges=[-0.5, 1e20, 1e300], name="dose")
    assert found.variable == pn.Variable("dose", ("<-0.5", "-0.5..1e+20", "1e+20..1e+300", ">=1e+300"), ordered=True)
    named = pn.bin_measurements([36.9, 39], edges=(37.5, 38.5), labels=["none", "mild", "high"], name="fever")
    assert named.variable == pn.Variable("fever", ("none", "mild", "high"), ordered=True)
    assert list(named) == [frozenset({"none"}), frozenset({"high"})]


@given(st.lists(st.integers(0, 100), min_size=2, max_size=60), st.integers(2, 6))
def test_quantile_bins_share_the_numbers(values: list[int], bins: int) -> None:
    if len(set(values)) < 2:
        return
    found = pn.bin_measurements(values, edges="quantile", bins=bins)
    assert 2 <= len(found.variable) <= bins
    counts = np.bincount([b for (b,) in numbers_of(found)], minlength=len(found.variable))
    most_often = max(values.count(v) for v in values)
    assert counts.max() <= len(values) / bins + most_often + 1 if len(found.variable) == bins else True
    assert found.edges == tuple(sorted(found.edges))


def test_where_most_numbers_are_the_smallest_it_is_a_bin_of_its_own() -> None:
    found = pn.bin_measurements([0] * 20 + [3, 7], edges="quantile", bins=3)
    assert found.edges == (3.0,)
    assert numbers_of(found) == [[0]] * 20 + [[1]] * 2


def test_bins_by_width_are_equally_wide_and_readable() -> None:
    assert pn.bin_measurements([0, 10], edges="width", bins=4).edges == (2.5, 5.0, 7.5)
    assert pn.bin_measurements([0.0, 1.0], edges="width", bins=3).edges == (0.333, 0.667)
    assert pn.bin_measurements([1e-9, 2e-9], edges="width", bins=2).edges == (1.5e-09,)
    wine = np.random.default_rng(1).normal(13.0, 0.8, 178).round(2)
    assert all(len(str(edge)) <= 6 for edge in pn.bin_measurements(wine, edges="quantile", bins=4).edges)


def test_every_kind_of_array_can_be_read() -> None:
    expected = [[0], [1], []]
    for values in (
        [1, 7, None],
        np.array([1.0, 7.0, np.nan], dtype=np.float32),
        np.ma.masked_array([1, 7, 3], mask=[False, False, True]),
        pd.Series([1, 7, None], dtype="Int64"),
        pd.Series(["1", "7", None]),
        pl.Series([1, 7, None]),
        pl.Series(["1", "7", None]),
        pa.array([1, 7, None]),
        pa.array(["1", ">=7", None]),
        [decimal.Decimal(1), Fraction(7), "?"],
    ):
        assert numbers_of(pn.bin_measurements(values, edges=[5])) == expected
    assert len(pn.bin_measurements(np.zeros(0), edges=[5])) == 0
    assert numbers_of(pn.bin_measurements([10**400, -(10**400), decimal.Decimal("NaN")], edges=[5])) == [[1], [0], []]


def test_a_binned_column_goes_straight_into_a_data_set() -> None:
    fever = pn.bin_measurements([36.9, 37.4, None, ">=39"], edges=[37.5, 38.5], error=0.2, name="fever")
    data = pn.Dataset.from_table({"fever": fever, "rash": ["no", "yes", "no", None]})
    assert data.variable("fever") == fever.variable
    assert data.select(["fever"]) == pn.Dataset.from_table({"fever": fever})
    assert data.missing("fever").tolist() == [False, False, True, False]
    rash = pn.Variable("rash", ("no", "yes"))
    assert pn.Dataset.from_rows((fever.variable, rash), zip(fever, ["no", "yes", "no", None], strict=True)) == data
    frame = pd.DataFrame({"fever": list(fever), "rash": ["no", "yes", "no", None]})
    assert pn.Dataset.from_table(frame, variables=data) == data
    other = pn.Variable("fever", ("none", "mild", "high"), ordered=True)
    refused("'<37.5' is not a state", pn.Dataset.from_columns, [fever], variables=[other])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edges": [5, 3]}, r"edges 5, 3; expected at least 1, finite and increasing"),
        ({"edges": [5, 5]}, r"edges 5, 5; expected"),
        ({"edges": []}, r"edges none; expected at least 1"),
        ({"edges": [np.inf]}, r"edges inf; expected"),
        ({"edges": ["a"]}, r"expected increasing numbers, or quantile or width"),
        ({"edges": "quantiles", "bins": 3}, r"edges 'quantiles'; .*did you mean 'quantile'\?"),
        ({"edges": "width"}, r"only the number 4 to make . bins from; expected different numbers, or edges given"),
        ({"edges": "width", "bins": 1}, r"edges by width for 1 bins; expected a whole number from 2 on"),
        ({"edges": "width", "bins": 3, "open_ended": False}, r"expected open_ended=True"),
        ({"edges": "width", "bins": 3}, r"only the number 4 to make 3 bins from"),
        ({"edges": [5], "bins": 3}, r"bins=3 beside given edges; expected one or the other"),
        ({"edges": [5], "error": -1}, r"error -1; expected a number from 0 on"),
        ({"edges": [5], "error": np.nan}, r"error nan; expected a number from 0 on"),
        ({"edges": [5], "error": [1, 2]}, r"error: 2 numbers for 1 values; expected one number, or one for each"),
        ({"edges": [5], "error": [-1]}, r"row 1, column 'measurement': a negative error"),
        ({"edges": [5], "error": ["<1"]}, r"error, row 1: not a number"),
        ({"edges": [10**400]}, r"expected increasing numbers"),
        ({"edges": [5], "error": 10**400}, r"expected a number from 0 on"),
        ({"edges": [5], "error": True}, r"error True; expected a number from 0 on"),
        ({"edges": [5], "error": "column"}, r"error 'column' names a column, which only files have"),
        ({"edges": [5], "relative": -0.1}, r"relative error -0.1; expected"),
        ({"edges": [5], "labels": ["a"]}, r"labels a: 1 for 2 bins \(<5, >=5\); expected one for each"),
        ({"edges": [5], "labels": ["a", "a"]}, r"appears twice"),
        ({"edges": [5], "labels": "ab"}, r"labels 'ab'; expected a name for each bin, in a list"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    refused(message, pn.bin_measurements, [4.0], **options)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["3,7"], r"row 1, column 'measurement': '3,7' is not a reading; .*write decimals with a point"),
        ([1, "7..3"], r"row 2, .*the interval '7..3' runs backwards; expected 3..7"),
        (["5±-1"], r"is not a reading"),
        (["3|7"], r"is not a reading; expected a number, a bound such as <5"),
        ([None, True], r"'True' is not a reading"),
        ("5", r"'5'; expected a list or an array of readings"),
        (5, r"expected a list or an array"),
        ([[1], [2]], r"expected one reading after the other"),
        ([[1], [2, 3]], r"expected one reading after the other"),
        (np.array([True]), r"values of type bool; expected numbers"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), r"a date, where the edges are numbers; expected a number"),
    ],
)
def test_values_that_are_no_readings_are_named(values: Any, message: str) -> None:
    refused(message, pn.bin_measurements, values, edges=[5])


@given(
    st.lists(
        st.one_of(
            st.text(max_size=8), st.text("0123456789.<>=±+-eE ", max_size=8), st.none(), st.floats(), st.integers()
        ),
        max_size=6,
    )
)
def test_whatever_is_written_is_a_reading_or_a_finding(values: list[Any]) -> None:
    try:
        found = pn.bin_measurements(values, edges=[-1, 0, 2.5], error=0.5, relative=0.1)
    except pn.InputError as error:
        assert "reading" in str(error) or "backwards" in str(error)
    else:
        assert len(found) == len(values)
        assert all(
            first == last == -1 or 0 <= first <= last <= 3 for first, last in zip(found.first, found.last, strict=True)
        )


READINGS = "temp,off,rash,n\n36.9,.1,no,2\n37.4,.2,yes,1\n>39,,no|yes,1\n?,.1,?,1\n"


def test_a_csv_file_of_readings_becomes_cells(tmp_path: Path) -> None:
    path = tmp_path / "readings.csv"
    path.write_text(READINGS, encoding="utf-8")
    binning = pn.Binning([37.5, 38.5], error="off")
    data = pn.read_data(path, weights="n", binnings={"temp": binning})
    expected = pn.bin_measurements(
        ["36.9", "37.4", ">39", "?"], edges=[37.5, 38.5], error=[0.1, 0.2, 0.0, 0.1], name="temp"
    )
    assert data.select(["temp"])[:] == pn.Dataset.from_columns([expected], weights=[2, 1, 1, 1])
    assert [v.name for v in data.variables] == ["temp", "rash"]
    (streamed,) = pn.scan_data(path, weights="n", binnings={"temp": binning})
    assert streamed == data
    pn.write_data(data, tmp_path / "again.csv", weights="n")
    assert (tmp_path / "again.csv").read_text(encoding="utf-8").splitlines()[1:3] == [
        "<37.5,no,2",
        "<37.5|37.5..38.5,yes,1",
    ]
    assert pn.read_data(tmp_path / "again.csv", variables=data, weights="n") == data


def test_bins_take_the_names_of_the_variable_they_are_read_for(tmp_path: Path) -> None:
    path = tmp_path / "readings.csv"
    path.write_text("fever,rash\n36.9,none\n38.4,spots\n", encoding="utf-8")
    clinic = pn.load_example("clinic")
    scope = [clinic.variable("fever"), clinic.variable("rash")]
    data = pn.read_data(path, variables=scope, binnings={"fever": pn.Binning([37.5, 38.5], error=0.2)})
    assert data.row(0)["fever"] == {"none"}
    assert data.row(1)["fever"] == {"mild", "high"}
    two, three = pn.Binning([38]), pn.Binning([37.5, 38.5])
    wrong = r"2 bins \(<38, >=38\), and the variable has 3 states"
    refused(wrong, pn.read_data, path, scope, binnings={"fever": two})
    refused("binning of 'rash': not among the variables", pn.read_data, path, scope[:1], binnings={"rash": two})
    unordered = pn.Variable("fever", ("none", "mild", "high"))
    wrong = "3 bins .* and the variable has 3 states .*, in no order"
    refused(wrong, pn.read_data, path, [unordered], binnings={"fever": three})


def test_parquet_numbers_are_measured_too(tmp_path: Path) -> None:
    table = pa.table({"temp": [36.9, 37.4, None, 38.4], "off": [0.1, 0.2, 0.1, 0.3], "rash": ["no", "no", "yes", None]})
    pq.write_table(table, tmp_path / "readings.parquet", row_group_size=2)
    binnings = {"temp": pn.Binning([37.5, 38.5], error="off")}
    data = pn.read_data(tmp_path / "readings.parquet", binnings=binnings)
    assert [len(data.row(r)["temp"]) for r in range(4)] == [1, 2, 3, 2]
    assert data.missing("temp").tolist() == [False, False, True, False]
    assert pn.Dataset.concatenate(pn.scan_data(tmp_path / "readings.parquet", binnings=binnings)) == data
    by_quantile = pn.scan_data(
        tmp_path / "readings.parquet", binnings={"temp": pn.Binning("quantile", bins=3, error="off")}
    )
    assert len(by_quantile.variables[0]) == 3
    texts = pa.DictionaryArray.from_arrays(pa.array([0, None, 127], pa.int8()), pa.array([str(k) for k in range(128)]))
    pq.write_table(pa.table({"temp": texts}), tmp_path / "texts.parquet")
    counted = pn.read_data(tmp_path / "texts.parquet", binnings={"temp": pn.Binning([5])})
    assert [sorted(counted.row(r)["temp"]) for r in range(3)] == [["<5"], ["<5", ">=5"], [">=5"]]
    pn.write_data(data, tmp_path / "own.parquet")
    wrong = "possnet's own file, whose cells are states already; expected numbers to bin"
    refused(wrong, pn.read_data, tmp_path / "own.parquet", binnings={"temp": pn.Binning([37.5])})
    pq.write_table(pa.table({"temp": [[1], [2]]}), tmp_path / "lists.parquet")
    for binning in (pn.Binning([37.5]), pn.Binning("width", bins=2)):
        wrong = r"lists.parquet.*column 'temp' holds list<.*expected numbers, or texts"
        refused(wrong, pn.read_data, tmp_path / "lists.parquet", binnings={"temp": binning})


def test_a_column_of_errors_may_be_measured_itself(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("temp,off\n36.9,.1\n37.4,.2\n", encoding="utf-8")
    table = pa.table({"temp": [36.9, 37.4], "off": [0.1, 0.2]})
    pq.write_table(table, tmp_path / "a.parquet")
    binnings = {"temp": pn.Binning([37.5], error="off"), "off": pn.Binning([0.15])}
    found = [pn.read_data(tmp_path / name, binnings=binnings) for name in ("a.csv", "a.parquet")]
    assert found[0] == found[1]
    assert found[0].row(1) == {"temp": {"<37.5", ">=37.5"}, "off": {">=0.15"}}


def test_edges_by_quantile_come_from_all_files_of_a_stream(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n" + "\n".join(map(str, range(50))), encoding="utf-8")
    (tmp_path / "b.csv").write_text("x\n" + "\n".join(map(str, range(50, 101))), encoding="utf-8")
    stream = pn.scan_data(tmp_path, binnings={"x": pn.Binning("quantile", bins=4)})
    assert stream.variables[0].states == ("<25", "25..50", "50..75", ">=75")
    assert sum(len(batch) for batch in stream) == 101


def test_readings_that_cannot_be_used_are_told_with_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # one message holds three findings if the path is short
    path = Path("r.csv")
    path.write_text("temp,off\n36.9,.1\n37;4,.2\n38,-1\n39,much\n", encoding="utf-8")
    binnings = {"temp": pn.Binning([37.5], error="off")}
    lines = refused("is not a reading", pn.read_data, path, binnings=binnings).splitlines()
    assert lines[0].startswith(f"{path}, row 2, column 'temp': '37;4' is not a reading; expected a number")
    assert lines[1] == f"{path}, row 3, column 'temp': a negative error; expected a number from 0 on"
    assert lines[2].startswith(f"{path}, row 4, column 'temp': its error, in column 'off', is not a number")
    with pytest.raises(pn.InputError, match=r"no column 'tmep' to bin \(temp, off\); did you mean 'temp'\?"):
        pn.read_data(path, binnings={"tmep": pn.Binning([37.5])})
    refused("no column 'of' to bin", pn.read_data, path, binnings={"temp": pn.Binning([37.5], error="of")})
    refused("binning of 'temp': 0.2; expected a Binning, such as", pn.read_data, path, binnings={"temp": 0.2})
    path.write_text("temp\n1\n1\n", encoding="utf-8")
    with pytest.raises(pn.InputError, match=r"r.csv, column 'temp': only the number 1 to make 3 bins from"):
        pn.read_data(path, binnings={"temp": pn.Binning("width", bins=3)})


@given(
    st.lists(
        st.sampled_from(["5..10", "5", "10", "a..b", "a..b..c", "..", "x..", "a", "b", "5.. 10", "!5..10", "<5"]),
        min_size=1,
        max_size=6,
        unique=True,
    ),
    st.booleans(),
)
def test_states_with_dots_survive_csv(states: list[str], ordered: bool) -> None:
    """Labels such as 5..10 are written as they stand, unless they could be taken for a range."""
    import tempfile

    variable = pn.Variable("x", tuple(states), ordered=ordered)
    data = pn.Dataset.from_rows([variable], [(s,) for s in states] + [(set(states),)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        pn.write_data(data, path)
        assert pn.read_data(path, variables=[variable]) == data
        assert set(pn.read_data(path).variables[0].states) == set(states)
        if "5..10" in states and not {"5", "10"} <= set(states):
            assert "5..10" in path.read_text(encoding="utf-8")


def test_convert_bins_measurements(tmp_path: Path) -> None:
    (tmp_path / "readings.csv").write_text(READINGS, encoding="utf-8")
    convert = ("convert", tmp_path / "readings.csv", tmp_path / "out.parquet", "--weights", "n")
    done = run(*convert, "--bin", "temp: edges = 37.5, 38.5 error=off")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith(f"Wrote {tmp_path / 'out.parquet'}: the rows of ")
    binnings = {"temp": pn.Binning([37.5, 38.5], error="off")}
    assert pn.read_data(tmp_path / "out.parquet") == pn.read_data(
        tmp_path / "readings.csv", weights="n", binnings=binnings
    )
    options = "temp: edges=0,37,40 error=1% relative=.5% labels=low,high ends=closed"
    assert run(*convert, "--bin", options, "--bin", "off: edges=width bins=2").returncode == 0
    assert [v.states for v in pn.read_data(tmp_path / "out.parquet").variables[:2]] == [
        ("low", "high"),
        ("<0.15", ">=0.15"),
    ]
    network = run("convert", "asia", tmp_path / "asia.json", "--bin", "temp: edges=1")
    assert "is for data, and asia is a network" in network.stderr


@pytest.mark.parametrize(
    "values", [[1, 2, 3, 4, 5, 1_000_000], [0.001] * 4 + [0.002] * 3 + [1000.0] * 3, [-5, -4, 1e9]]
)
@pytest.mark.parametrize("bins", [2, 3])
def test_rounding_of_edges_moves_no_number_to_another_bin(values: list[float], bins: int) -> None:
    column = pn.bin_measurements(values, edges="quantile", bins=bins)
    exact = np.unique(np.quantile(values, np.arange(1, bins) / bins))
    exact = exact[exact > min(values)]
    assert np.array_equal(column.first, np.searchsorted(exact, values, side="right"))


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_short_floats_fall_where_their_decimals_do(kind: Any) -> None:
    decimals = [0.7, 0.1, 36.6, 0.3, 5.5, -0.7, 0.0]
    short = pn.bin_measurements(np.array(decimals, dtype=kind), edges=[-0.7, 0.1, 0.3, 0.7, 5.5, 36.6])
    long = pn.bin_measurements(decimals, edges=[-0.7, 0.1, 0.3, 0.7, 5.5, 36.6])
    assert short.first.tolist() == long.first.tolist()


def test_masked_texts_are_unknown_where_they_are_masked() -> None:
    assert list(pn.bin_measurements(np.ma.array(["<5", "3"], mask=[False, True]), edges=[5])) == [{"<5"}, None]


@pytest.mark.parametrize("bins", ["inf", "nan", "2.7", "-3"])
def test_a_number_of_bins_is_whole(bins: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("x\n1\n2\n", encoding="utf-8")
    shown = run("convert", tmp_path / "x.csv", "-", "--bin", f"x: edges=quantile bins={bins}")
    assert shown.returncode == 1
    assert "expected a whole number from 2 on" in shown.stderr
