"""Texts of readings: every form, its open and closed ends, dates, and a sentence for what is none."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests.commands import run
from tests.measurements.test_measurements import numbers_of
from tests.oracles import met_bins
from tests.refused import refused

EDGES = [0.5, 5.0, 20.0, 30.0]
whole = st.integers(-40, 40)


@pytest.mark.parametrize(
    ("text", "bins"),
    [
        ("20-30", [3, 4]), ("20 – 29.9", [3]), ("[20,30)", [3]), ("(20;30]", [3, 4]), ("[20;30]", [3, 4]), ("(5,20)", [2]),
        ("90+", [4]), ("20 +", [3, 4]), ("<0.5", [0]), ("ND<0.5", [0]), ("ND (<0.5)", [0]), ("nd < 0.6", [0, 1]), ("BDL<0.5", [0]),
        ("5±1", [1, 2]), ("5 (4-6)", [1, 2]), ("5 [5.5, 21]", None), ("6 (5.5 - 21)", [2, 3]), ("25 (20..29)", [3]),
        ("-5", [0]), ("1e-3", [0]), ("-5--3", [0]), ("1e-3-1e1", [0, 1, 2]), ("-1e2 - -1e-2", [0]), ("[-inf, 5)", [0, 1]), ("[30,inf)", [4]),
        ("ND", []), ("n.d.", []), ("miss", []), ("BDL", []), ("?", []),
        ("1,5", None), ("1,000", None), ("30-20", None), ("[5,5)", None), ("(5;5]", None), ("[5,5]", [2]), ("1-2-3", None), ("{1,2}", None), ("3/4", None),
    ],
)  # fmt: skip
def test_a_reading_meets_the_bins_that_its_text_says(text: str, bins: list[int] | None) -> None:
    """Edges .5, 5, 20 and 30; BDL and miss are words for unknown."""
    path_words = ("BDL", "miss")
    table = pa.table({"x": [text, "1"]})
    variable = pn.Binning(EDGES).variable("x")
    if bins is None:
        refused("row 1, column 'x': ", pn.Dataset.from_table, table, [variable], unknown_words=path_words)
        return
    data = pn.Dataset.from_table(table, [variable], unknown_words=path_words)
    assert data.missing("x")[0] == (not bins)
    if bins:
        assert data.row(0)["x"] == {variable.states[k] for k in bins}


@given(
    whole,
    whole,
    st.sampled_from(["[]", "[)", "(]", "()"]),
    st.sampled_from(",;"),
    st.lists(whole, min_size=1, max_size=5, unique=True).map(sorted),
)
def test_an_interval_in_brackets_meets_the_bins_of_its_numbers(
    low: int, high: int, ends: str, sign: str, edges: list[int]
) -> None:
    """A slow twin: the bins of a hundred numbers inside, and of the ends that are in."""
    text = f"{ends[0]}{low}{sign} {high}{ends[1]}"
    if low > high or (low == high and ends != "[]"):
        refused("runs backwards|holds nothing", pn.bin_measurements, [text], edges=edges)
        return
    inside = np.linspace(low, high, 4 * (high - low) * 7 + 3)
    kept = inside[(ends[0] == "(") : len(inside) - (ends[1] == ")")]
    expected = sorted({sum(edge <= number for edge in edges) for number in kept})
    assert numbers_of(pn.bin_measurements([text], edges=edges)) == [expected]


@given(whole, whole)
def test_a_dash_between_numbers_is_an_interval_whatever_their_signs(low: int, high: int) -> None:
    text = f"{low}-{high}"
    if low > high:
        refused("runs backwards", pn.bin_measurements, [text], edges=[0])
        return
    assert numbers_of(pn.bin_measurements([text], edges=[0])) == [
        met_bins(Fraction(low), Fraction(high), [Fraction(0)])
    ]


def test_a_number_outside_its_interval_and_mixed_ends_are_refused() -> None:
    refused("the number lies outside its interval", pn.bin_measurements, ["9 (4-6)"], edges=[5])
    refused("ends of .* are of different kinds", pn.bin_measurements, ["[5, 2024-01-01]"], edges=[5])


def test_words_for_unknown_hold_for_numbers_too(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1.0, -9.0, 7.0]}), tmp_path / "a.parquet")
    data = pn.read_data(tmp_path / "a.parquet", binnings={"x": pn.Binning([5])}, unknown_words=("-9",))
    assert data.missing("x").tolist() == [False, True, False]


def test_ranges_of_a_column_are_readings_where_it_is_binned(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age;job\n49,50;a\n17,24;b\n30;a\n", encoding="utf-8")
    options = {"cells": {"age": "range"}}
    data = pn.read_data(tmp_path / "a.csv", binnings={"age": pn.Binning([20, 40])}, **options)  # type: ignore[arg-type]
    assert [sorted(data.row(k)["age"]) for k in range(3)] == [[">=40"], ["20..40", "<20"], ["20..40"]]
    quantiles = pn.read_data(tmp_path / "a.csv", binnings={"age": pn.Binning("quantile", bins=2)}, **options)  # type: ignore[arg-type]
    assert quantiles.variable("age").bins is not None
    refused(
        "row 1, column 'age': '49,50' is not a reading.*write decimals",
        pn.read_data,
        tmp_path / "a.csv",
        binnings={"age": pn.Binning([20])},
    )


moments = st.integers(-(10**9), 10**9).map(
    lambda seconds: (datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).replace(tzinfo=None)
)


@given(
    st.lists(moments, min_size=1, max_size=6),
    st.lists(moments, min_size=1, max_size=4, unique=True).map(sorted),
    st.booleans(),
)
def test_dates_are_binned_as_they_follow_one_another(values: list[datetime], edges: list[datetime], zone: bool) -> None:
    if zone:
        values, edges = [v.replace(tzinfo=UTC) for v in values], [e.replace(tzinfo=UTC) for e in edges]
    expected = [[sum(edge <= value for edge in edges)] for value in values]
    texts, edge_texts = [v.isoformat() for v in values], [e.isoformat() for e in edges]
    assert numbers_of(pn.bin_measurements(texts, edges=edge_texts)) == expected
    assert numbers_of(pn.bin_measurements(values, edges=edges)) == expected


def test_a_date_is_its_whole_day() -> None:
    noon, days = ["2024-05-31T12:00"], ["2024-05-31", "2024-06-01"]
    assert numbers_of(pn.bin_measurements(["2024-05-31"], edges=noon)) == [[0, 1]]
    found = pn.bin_measurements(
        [
            "2024-05-30",
            "2024-05-31",
            "2024-06-01",
            "<2024-06-01",
            ">2024-05-31",
            "2024-05-30..2024-05-31",
            "2024-05-31/2024-06-02",
        ],
        edges=days,
    )
    assert found.variable.states == ("<2024-05-31", "2024-05-31..2024-06-01", ">=2024-06-01")
    assert numbers_of(found) == [[0], [1], [2], [0, 1], [2], [0, 1], [1, 2]]


def test_time_zones_are_not_mixed_and_shifted_to_utc() -> None:
    found = pn.bin_measurements(["2024-05-31T01:00+02:00", "2024-05-31T01:00Z"], edges=["2024-05-31T00:00Z"])
    assert numbers_of(found) == [[0], [1]]
    assert found.variable.states == ("<2024-05-31T00:00:00Z", ">=2024-05-31T00:00:00Z")
    refused(
        "row 2.*no time zone", pn.bin_measurements, ["2024-05-31T01:00Z", "2024-05-31T03:00"], edges="width", bins=2
    )
    refused(
        "row 1.*a time zone, which the edges lack", pn.bin_measurements, ["2024-05-31T01:00Z"], edges=["2024-05-31"]
    )
    refused("row 1.*a number", pn.bin_measurements, ["5"], edges=["2024-05-31"])
    refused("row 1.*a date, where the edges are numbers", pn.bin_measurements, ["2024-05-31"], edges=[5])
    refused("all with a time zone or all without", pn.Binning, ["2024-05-31", "2024-06-01T00:00Z"])
    refused("'2024-02-31' is not a reading", pn.bin_measurements, ["2024-02-31"], edges=["2024-01-01"])


def test_computed_edges_of_dates_are_days(tmp_path: Path) -> None:
    days = [date(2024, 1, 1) + timedelta(days=k) for k in range(10)]
    column = pn.bin_measurements(days, edges="quantile", bins=2)
    assert column.variable.states == ("<2024-01-06", ">=2024-01-06")
    frame = pd.DataFrame({"day": pd.to_datetime(days)})
    frame.to_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"day": days}).write_parquet(tmp_path / "b.parquet")
    frame.to_csv(tmp_path / "c.csv", index=False)
    for name in ("b.parquet", "c.csv"):
        data = pn.read_data(tmp_path / name, binnings={"day": pn.Binning("quantile", bins=2)})
        assert data.variable("day") == column.variable.__class__(
            "day", column.variable.states, ordered=True, bins=column.variable.bins
        )
        assert pn.read_data(tmp_path / name, data) == data
    timed = pn.read_data(tmp_path / "a.parquet", binnings={"day": pn.Binning(["2024-01-06"])})
    assert [sorted(timed.row(k)["day"]) for k in (4, 5)] == [["<2024-01-06"], [">=2024-01-06"]]


def test_a_network_remembers_that_its_edges_are_dates(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("day,rash\n2024-01-01,no\n2024-03-01,yes\n2024-03-02,yes\n", encoding="utf-8")
    shown = run("learn", str(tmp_path / "a.csv"), "--bin", "day: edges=2024-02-01", "--out", str(tmp_path / "n.json"))
    assert shown.returncode == 0, shown.stderr
    asked = run("query", str(tmp_path / "n.json"), "rash", "--given", "day=2024-02-15", "--json")
    assert asked.returncode == 0, asked.stderr
    network = pn.read_network(tmp_path / "n.json")
    assert network.variable("day").states == ("<2024-02-01", ">=2024-02-01")
    assert pn.Dataset.from_table({"day": ["2024-02-15"], "rash": ["no"]}, network).row(0)["day"] == {">=2024-02-01"}
