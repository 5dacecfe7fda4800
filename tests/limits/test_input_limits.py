"""Limits of inputs: one table, in one page, each refused with the figure, the limit and what to do."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import possnet as pn
from possnet.limits import LIMITS, current_limit, format_limits, refuse_above
from tests.hostile.memory import run_limited
from tests.paths import ROOT

_BIF = "variable v{k} {{ type discrete [ 3 ] {{ a, b, c }}; }} probability ( v{k} ) {{ table .2, .3, .5; }}\n"


def test_the_page_has_the_table_of_limits() -> None:
    assert format_limits() in (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LIMITS)
def test_every_limit_can_be_raised_and_is_named_with_its_figure(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = LIMITS[name]
    with pytest.raises(pn.TooLarge, match=re.escape(f"a: {limit.format(limit.default + 1)}; the limit is")) as caught:
        refuse_above(name, limit.default + 1, "a")
    assert str(caught.value).endswith(f"or raise the limit: {limit.variable}={limit.default + 1}")
    monkeypatch.setenv(limit.variable, str(limit.default + 1))
    refuse_above(name, limit.default + 1, "a")


@pytest.mark.parametrize("text", ["0", "-1", "many", "1e6", "9" * 30])
def test_a_limit_that_is_no_number_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSSNET_LIMIT_COLUMNS", text)
    with pytest.raises(pn.InputError, match=r"^POSSNET_LIMIT_COLUMNS=.*expected a whole number from 1 on"):
        current_limit("columns")


def test_columns_are_counted_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSSNET_LIMIT_COLUMNS", "3")
    (tmp_path / "a.csv").write_text("a,b,c,d\n1,2,3,4\n", encoding="utf-8")
    pq.write_table(pa.table({name: ["x"] for name in "abcd"}), tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        with pytest.raises(pn.TooLarge, match=f"{name}: 4 columns; the limit is 3 columns"):
            pn.read_data(tmp_path / name)


def test_a_million_columns_are_refused_by_their_names_alone(tmp_path: Path) -> None:
    """A column costs about a millisecond, whatever its length: a million of them would be a quarter of an hour."""
    names = ",".join(f"c{k}" for k in range(1_000_000))
    (tmp_path / "wide.csv").write_text(f"{names}\n{',' * 999_999}\n", encoding="utf-8")
    start = time.process_time()
    with pytest.raises(
        pn.TooLarge, match=r"wide.csv: 1,000,000 columns; the limit is 100,000 columns; keep the columns"
    ):
        pn.read_data(tmp_path / "wide.csv")
    assert time.process_time() - start < 15.0


def test_long_cells_and_lines_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("a,b\nx," + "y" * 1000 + "\n", encoding="utf-8")
    pq.write_table(pa.table({"b": ["y" * 1000]}), tmp_path / "a.parquet")
    monkeypatch.setenv("POSSNET_LIMIT_CELL", "999")
    for name in ("a.csv", "a.parquet"):
        with pytest.raises(pn.TooLarge, match=f"{name}, column 'b': 1,000 characters; the limit is 999 characters"):
            pn.read_data(tmp_path / name)
    monkeypatch.setenv("POSSNET_LIMIT_LINE", "500")
    with pytest.raises(pn.TooLarge, match=r"a.csv: more than 500 characters; the limit is 500 characters"):
        pn.read_data(tmp_path / "a.csv")


def test_a_cell_may_have_any_number_of_escaped_characters(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\nx," + "\\|" * 200_000 + "\n", encoding="utf-8")
    assert pn.read_data(tmp_path / "a.csv").variable("b").states == ("|" * 200_000,)


@pytest.mark.parametrize(("name", "most", "figure"), [("variables", 2, "more than 2"), ("states", 8, "more than 8")])
def test_variables_and_states_of_a_network_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int, figure: str
) -> None:
    (tmp_path / "a.bif").write_text("".join(_BIF.format(k=k) for k in range(3)), encoding="utf-8")
    pn.write_network(pn.read_network(tmp_path / "a.bif"), tmp_path / "a.json")
    pn.write_network(pn.read_network(tmp_path / "a.bif"), tmp_path / "a.uai")
    for suffix in ("net", "xdsl"):
        pn.write_network(pn.read_network(tmp_path / "a.bif"), tmp_path / f"a.{suffix}")
    monkeypatch.setenv(LIMITS[name].variable, str(most))
    for file in ("a.bif", "a.json", "a.uai", "a.net", "a.xdsl"):
        found = figure if file.endswith(("bif", "net", "xdsl")) else {"variables": "3", "states": "9"}[name]
        with pytest.raises(pn.TooLarge, match=f"{file}: {found} {name}; the limit is {most} {name}"):
            pn.read_network(tmp_path / file)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.json", b"[" * 1_000_000),
        ("deep.json", b'{"a":' * 1_000_000),
        ("digits.json", b'{"format": "possnet-network", "version": ' + b"1" * 1_000_000 + b"}"),
        ("deep.xml", b"<BIF>" * 30_000),
        ("deep.xdsl", b"<smile>" * 300_000),
        ("wide.xdsl", b"<smile><nodes>" + b"<cpt id='a'>" * 10 + b"<state id='s'/>" * 100_000),
        ("deep.net", b"class a {" * 100_000),
        ("deep.net", b"node a { states = " + b"(" * 1_000_000 + b"; }"),
        ("text.net", b'node a { states = ("' + b'\\"' * 500_000),
        ("digits.net", b"node a { states = (x); } potential (a) { data = (" + b"1" * 1_000_000 + b"); }"),
        ("digits.uai", b"MARKOV " + b"1" * 1_000_000),
        ("digits.bif", b"variable a { type discrete [ " + b"2" * 1_000_000 + b" ] { a, b }; }"),
        ("name.bif", b"variable " + b"a" * 1_000_000 + b" { type discrete [ 3 ] { a, b }; }"),
    ],
)
def test_nesting_and_digits_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(pn.PossnetError, match=name):
        pn.read_network(tmp_path / name)


@pytest.mark.parametrize(
    ("command", "megabytes"),
    [
        ("info rows.csv", 300),
        ("info rows.parquet", 300),
        ("info rows.csv", 100),
        ("evaluate asia --rows 100 --repeats 1 --workers 1 --out out", 140),  # OpenBLAS ends a program without space
        ("classify rows.csv rows.csv --target dysp --out out.csv", 220),  # scikit-learn hung
    ],
)
def test_a_command_with_too_little_memory_ends_with_a_sentence(tmp_path: Path, command: str, megabytes: int) -> None:
    """A slice of ``make hostile SECTION=memory``."""
    for suffix in ("csv", "parquet"):
        pn.write_data(pn.sample(pn.load_example("asia"), 2000, rng=1), tmp_path / f"rows.{suffix}")
    assert not run_limited(command.split(), tmp_path, megabytes)


def test_an_empty_gzipped_network_is_read_in_little_memory(tmp_path: Path) -> None:
    """Half of the free memory was asked for at once."""
    (tmp_path / "a.bif.gz").write_bytes(b"")
    assert not run_limited(["info", "a.bif.gz"], tmp_path, 200)
