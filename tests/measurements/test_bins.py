"""Bins that stay: a variable made from numbers remembers where they were cut, wherever it goes."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.io.network_formats.json_network import decode_network, encode_network
from tests.paths import ROOT

SCHEMA = json.loads((ROOT / "src/possnet/io/network.schema.json").read_text(encoding="utf-8"))
numbers = st.floats(allow_nan=False, width=64)
edge_lists = st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=6, unique=True).map(sorted).map(tuple)


@st.composite
def all_bins(draw: st.DrawFn) -> pn.Bins:
    unit = draw(st.sampled_from(["", "°C", "mm Hg"]))
    return pn.Bins(draw(edge_lists), open_ended=draw(st.booleans()), unit=unit)


def binned(edges: tuple[float, ...] = (20, 40), name: str = "age", **options: Any) -> pn.Variable:
    bins = pn.Bins(edges, **options)
    return pn.Variable(name, ("young", "middle", "old")[: len(bins)], ordered=True, bins=bins)


PLAIN = pn.Variable("age", ("young", "middle", "old"), ordered=True)


def table() -> pn.Dataset:
    age = pn.bin_measurements([17, 25, 61, None], edges=[20, 40], labels=("young", "middle", "old"), unit="years")
    return pn.Dataset.from_table({"age": age, "income": ["low", "low", "high", {"low", "high"}]})


@given(all_bins(), numbers, st.data())
def test_a_number_lies_in_the_bin_that_binning_puts_it_in(bins: pn.Bins, number: float, data: st.DataObject) -> None:
    number = data.draw(st.sampled_from([number, *bins.edges]))
    try:
        cell = next(iter(pn.bin_measurements([number], edges=bins.edges, open_ended=bins.open_ended)))
    except pn.InputError as error:
        with pytest.raises(pn.InputError, match="lies outside"):
            bins.index(number)
        assert "lies outside" in str(error)
        return
    assert cell == frozenset({bins.labels[bins.index(number)]})
    low, high = [(-np.inf, *bins.edges, np.inf), bins.edges][not bins.open_ended][bins.index(number) :][:2]
    assert low <= number < high or number == bins.span[1]


@given(all_bins())
def test_bins_survive_json_and_pickle(bins: pn.Bins) -> None:
    variable = pn.Variable("x", bins.labels, ordered=True, bins=bins)
    net = pn.Network((variable,), pn.Dag({"x": ()}), {"x": np.ones(len(bins))})
    text = encode_network(net)
    assert decode_network(text.encode(), "net").variables[0].bins == bins
    assert json.loads(text)["version"] == 2
    jsonschema.validate(json.loads(text), SCHEMA)
    assert pickle.loads(pickle.dumps(variable)).bins == bins  # noqa: S301


def test_a_network_without_bins_is_written_as_older_readers_know_it() -> None:
    net = pn.load_example("clinic")
    assert json.loads(encode_network(net))["version"] == 1
    assert all(variable.bins is None for variable in net.variables)


def test_bins_go_wherever_the_variable_goes(tmp_path: Path) -> None:
    data = table()
    bins = pn.Bins((20, 40), unit="years")
    dag = pn.Dag({"age": (), "income": ("age",)})
    counts = pn.count(dag, data)
    pn.write_counts(counts, tmp_path / "counts.json")
    pn.write_data(data, tmp_path / "rows.parquet")
    net = pn.fit(dag, data)
    pn.write_network(net, tmp_path / "net.json")
    pn.write_network(net, tmp_path / "net.uai")
    places = {
        "data": data,
        "select": data.select(["age"]),
        "rows": data[1:3],
        "split": data.split(0.5, rng=1)[1],
        "distinct": data.distinct(),
        "concatenate": pn.Dataset.concatenate([data, data]),
        "with_columns": data.with_columns([data.column("age")]),
        "counts": counts,
        "sum of counts": counts + counts,
        "counts file": pn.read_counts(tmp_path / "counts.json"),
        "fit": net,
        "with_table": net.with_table("age", [1, 1, 1]),
        "em": pn.fit_em(dag, data).network,
        "coarsened": pn.fit_coarsened(dag, data),
        "completed": pn.complete(net, data).narrowed(1.0),
        "sample": pn.sample(net, 5, rng=1),
        "limit": pn.sampling_limit(net, imprecision=0.5),
        "answer": pn.Inference(net).query("age"),
        "json": pn.read_network(tmp_path / "net.json"),
        "uai": pn.read_network(tmp_path / "net.uai"),
        "parquet": pn.read_data(tmp_path / "rows.parquet"),
        "stream": pn.scan_data(tmp_path / "*.parquet"),
        "pickle": pickle.loads(pickle.dumps(data)),  # noqa: S301
    }
    for place, value in places.items():
        variables = {variable.name: variable for variable in value.variables}
        assert variables["age"].bins == bins, place
    assert pn.learn_structure(data).dag.nodes == ("age", "income")


def test_bins_of_a_file_stay(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,income\n17,low\n61,high\n", encoding="utf-8")
    binning = pn.Binning([20, 40], unit="years", labels=("young", "middle", "old"))
    bins = pn.Bins((20, 40), unit="years")
    for read in (pn.read_data, pn.scan_data):
        assert read(tmp_path / "a.csv", binnings={"age": binning}).variables[0].bins == bins
        assert read(tmp_path / "a.csv", [PLAIN], binnings={"age": binning}).variables[0].bins == bins


def test_bins_known_on_one_side_are_no_contradiction() -> None:
    data, net = table(), pn.load_example("clinic")
    assert binned() == PLAIN
    assert hash(binned()) == hash(PLAIN)
    plain = pn.Dataset.from_rows((PLAIN, data.variables[1]), [("young", "low")])
    joined = pn.Dataset.concatenate([plain, data])
    assert joined.variables[0].bins == data.variables[0].bins
    dag = pn.Dag({"age": (), "income": ("age",)})
    net = pn.fit(dag, data)
    pn.log_likelihood(net, plain)
    pn.complete(net, plain)
    assert pn.Inference(net).query_many("income", plain).shape == (1, 2)
    assert pn.compare(net, pn.fit(dag, plain)) is not None
    assert (pn.count(dag, plain) + pn.count(dag, data)).variables[0].bins == data.variables[0].bins
    column = pn.bin_measurements([17, 50], edges=[20, 40], labels=PLAIN.states)
    assert pn.Dataset.from_table({"age": column}, PLAIN).variables[0].bins == pn.Bins((20, 40))


def with_bins(data: pn.Dataset, bins: pn.Bins) -> pn.Dataset:
    age = replace(data.variable("age"), bins=bins)
    rows = [[data.row(k)[v.name] for v in data.variables] for k in range(len(data))]
    return pn.Dataset.from_rows((age, *data.variables[1:]), rows)


@pytest.mark.parametrize(
    ("bins", "remedy"),
    [
        (pn.Bins((20, 50), unit="years"), "the same edges"),
        (pn.Bins((20, 40), unit="months"), "one unit, with numbers converted to it"),
        (pn.Bins((0, 20, 40, 60), open_ended=False), "the same edges"),
    ],
)
def test_contradictory_bins_and_two_units_are_refused_where_they_meet(
    bins: pn.Bins, remedy: str, tmp_path: Path
) -> None:
    data = table()
    other = with_bins(data, bins)
    dag = pn.Dag({"age": (), "income": ("age",)})
    net, em = pn.fit(dag, data), pn.fit_em(dag, data)
    pn.write_data(data, tmp_path / "a.parquet")
    pn.write_data(other, tmp_path / "b.parquet")
    options: Any = {"open_ended": bins.open_ended, "unit": bins.unit, "labels": PLAIN.states}
    column = pn.bin_measurements([1], edges=bins.edges, **options)
    meetings: dict[str, Callable[[], object]] = {
        "concatenate": lambda: pn.Dataset.concatenate([data, other]),
        "counts": lambda: pn.count(dag, data) + pn.count(dag, other),
        "likelihood": lambda: pn.log_likelihood(net, other),
        "complete": lambda: pn.complete(net, other),
        "query_many": lambda: pn.Inference(net).query_many("income", other),
        "compare": lambda: pn.compare(net, pn.fit(dag, other)),
        "start": lambda: pn.fit_em(dag, other, options=pn.EmOptions(start=em)),
        "files": lambda: pn.scan_data(tmp_path / "*.parquet"),
        "variables": lambda: pn.read_data(tmp_path / "b.parquet", net),
        "column": lambda: pn.Dataset.from_table({"age": column}, [data.variable("age")]),
    }
    for place, meet in meetings.items():
        with pytest.raises(pn.InputError) as caught:
            meet()
        assert "'age' has bins with edges" in str(caught.value), place
        assert bins.describe() in str(caught.value), place
        assert str(caught.value).endswith(f"; expected {remedy}"), place


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        ((40, 20), {}, "edges 40, 20; expected at least 1, finite and increasing"),
        ((20, 20), {}, "edges 20, 20; expected at least 1, finite and increasing"),
        ((), {}, "edges none; expected at least 1, finite and increasing"),
        ((20,), {"open_ended": False}, "edges 20; expected at least 2, finite and increasing"),
        ((20, np.inf), {}, "edges 20, inf; expected at least 1, finite and increasing"),
        ("20", {}, "edges '20'; expected increasing numbers"),
        (("20", "40"), {}, "edges ('20', '40'); expected increasing numbers"),
        ((20, None), {}, "edges (20, None); expected increasing numbers"),
        ((20,), {"unit": 3}, "unit 3; expected text, such as '°C', or nothing"),
    ],
)
def test_bad_bins_are_refused_with_a_sentence(edges: Any, options: Any, message: str) -> None:
    with pytest.raises(pn.InputError) as caught:
        pn.Bins(edges, **options)
    assert str(caught.value) == message


def test_bins_of_the_same_names_in_another_order_are_refused() -> None:
    up, down = (pn.Variable("x", states, ordered=True, bins=pn.Bins((5,))) for states in (("a", "b"), ("b", "a")))
    net = pn.Network((up,), pn.Dag({"x": ()}), {"x": [1, 0.5]})
    rows = pn.Dataset.from_rows((down,), [("a",)])
    with pytest.raises(pn.InputError, match="'x' is ordered b < a; expected a < b"):
        pn.log_likelihood(net, rows)
    with pytest.raises(pn.InputError, match="'x' is ordered b < a; expected a < b"):
        pn.complete(net, rows)


def test_states_and_bins_must_fit() -> None:
    with pytest.raises(
        pn.InputError, match="variable 'a': 2 bins .* for 1 states .*; expected ordered states, one for"
    ):
        pn.Variable("a", ("x",), ordered=True, bins=pn.Bins((3,)))
    with pytest.raises(pn.InputError, match="in no order"):
        pn.Variable("a", ("x", "y"), bins=pn.Bins((3,)))
    with pytest.raises(pn.InputError, match="expected Bins, such as"):
        pn.Variable("a", ("x", "y"), ordered=True, bins=(3,))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ({"edges": [3, 2]}, "bins of 'x': edges 3, 2; expected at least 1, finite and increasing"),
        ({"edges": [3, 4]}, "variable 'x': 3 bins"),
        ({"edges": ["3"]}, "variables[0].bins.edges[0]: expected float, got str"),
        ({"edges": [3], "units": "m"}, "variables[0].bins: object contains unknown field units"),
    ],
)
def test_bad_bins_in_a_file_are_refused_with_a_sentence(bins: Any, message: str) -> None:
    entry = {"name": "x", "states": ["a", "b"], "ordered": True, "parents": [], "degrees": [1, 1], "bins": bins}
    page = {"format": "possnet-network", "version": 2, "conjunction": "product", "variables": [entry]}
    with pytest.raises(pn.InputError) as caught:
        decode_network(json.dumps(page).encode(), "net.json")
    assert str(caught.value).startswith(f"net.json: {message}")


def test_nothing_lies_outside_of_open_bins_but_no_number() -> None:
    assert pn.Bins((3,)).index(np.inf) == 1
    with pytest.raises(pn.InputError, match="nan lies outside"):
        pn.Bins((3,)).index(np.nan)
