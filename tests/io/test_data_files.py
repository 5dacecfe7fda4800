"""Data in files: exact round trips, streams, and a sentence for every kind of bad file."""

from __future__ import annotations

import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.io import CellSyntax, PlainColumns, plain_columns
from tests.dataset.test_dataset import DATA, FEVER, RASH, rows_of
from tests.refused import refused
from tests.strategies import cells, datasets, names, variables

LAYOUTS = ["data.csv", "data.parquet", "lists.parquet"]


def told(finding: Any) -> str:
    return finding if isinstance(finding, str) else str(finding())


def write(data: pn.Dataset | pn.DataStream, path: Path, plain: PlainColumns | None = None) -> Path:
    layout = "lists" if path.name == "lists.parquet" else "masks"
    pn.write_data(data, path, layout=layout, weights="\twéight", plain=plain)
    return path


def read(path: Path, data: pn.Dataset, reader: Any = pn.read_data) -> Any:
    weights = "\twéight" if data.weights is not None else None
    return reader(path, variables=data.variables, weights=weights)


@pytest.mark.parametrize("name", LAYOUTS)
@given(data=datasets())
def test_a_data_set_survives_every_file_format(name: str, data: pn.Dataset) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if name == "lists.parquet" and any("\0" in v.name for v in data.variables):
            refused("holds a NUL character, which others cannot read", write, data, Path(folder) / name)
            return
        path = write(data, Path(folder) / name)
        assert read(path, data) == data
        if len(data):
            parts = list(read(path, data, pn.scan_data))
            assert pn.Dataset.concatenate(parts) == data
        assert [p.name for p in Path(folder).iterdir()] == [name]


def test_a_column_whose_name_begins_with_nul_is_a_column_like_any_other(tmp_path: Path) -> None:
    data = pn.Dataset.from_rows([pn.Variable("\0x", ("a", "b")), pn.Variable("\0", ("c",))], [("a", "c"), ("b", None)])
    pn.write_data(data, tmp_path / "rows.parquet")
    assert pn.read_data(tmp_path / "rows.parquet") == data


@pytest.mark.parametrize("name", LAYOUTS[1:])
@given(data=datasets())
def test_parquet_keeps_domains_order_and_weights_by_itself(name: str, data: pn.Dataset) -> None:
    if name == "lists.parquet" and any("\0" in v.name for v in data.variables):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = write(data, Path(folder) / name)
        assert pn.read_data(path) == data
        stream = pn.scan_data(path)
        assert stream.variables == data.variables
        assert stream.rows == len(data)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_thousand_states_and_one(tmp_path: Path, name: str) -> None:
    big = pn.Variable("big", tuple(f"s{k}" for k in range(1000)), ordered=True)
    wide = pn.Variable("wide", tuple(f"s{k}" for k in range(40)))
    one = pn.Variable("one", ("only",))
    rng = np.random.default_rng(1)
    rows: list[tuple[Any, ...]] = [
        (set(rng.choice(big.states, 3)), set(rng.choice(wide.states, 2)), None if k % 3 else "only") for k in range(200)
    ]
    data = pn.Dataset.from_rows((big, wide, one), [*rows, (None, None, None), (big.states, wide.states, "only")])
    assert read(write(data, tmp_path / name), data) == data


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_column_of_nothing_but_unknown_cells(tmp_path: Path, name: str) -> None:
    data = pn.Dataset.from_rows((RASH,), [(None,)] * 70)
    assert read(write(data, tmp_path / name), data) == data


@given(variables(), st.data(), st.sampled_from("|;/+"), st.sampled_from("\\~"))
def test_a_cell_survives_its_text(variable: pn.Variable, data: st.DataObject, separator: str, escape: str) -> None:
    cell = data.draw(cells(variable))
    syntax = CellSyntax(separator, escape)
    states = (
        None if cell is None else tuple(s for s in variable.states if s in ({cell} if isinstance(cell, str) else cell))
    )
    assert syntax.parse(syntax.write(states)).resolve_states(variable) == (states, "")


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("mild|high", {"mild", "high"}),
        (" mild | high ", {"mild", "high"}),
        ("!none", {"mild", "high"}),
        ("! none|mild", {"high"}),
        ("none..mild", {"none", "mild"}),
        ("none .. high", {"none", "mild", "high"}),
        ("mild..mild|none", {"none", "mild"}),
        ("!none..mild", {"high"}),
        ("", None),
        ("  ", None),
        ("?", None),
        (" * ", None),
    ],
)
def test_the_grammar_of_a_cell(text: str, states: set[str] | None) -> None:
    cell, finding = CellSyntax().parse(text).resolve_states(FEVER)
    assert finding == ""
    assert (None if cell is None else set(cell)) == states


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("hihg", "'hihg' is not a state (none, mild, high); did you mean 'high'?"),
        ("mild|", "an empty place beside '|'; expected a state there"),
        ("|", "an empty place beside '|'"),
        ("!", "an empty place beside '|'"),
        ("!none|mild|high", "leaves no state of none, mild, high; expected at least one"),
        ("high..none", "the range 'high..none' runs backwards; expected none..high"),
        ("none..hihg", "'hihg' is not a state (none, mild, high); did you mean 'high'?"),
        ("..high", "'..high' is not a state"),
        ("\\?", "'?' is not a state"),
        ("mild\\", "'mild\\\\' is not a state"),
    ],
)
def test_a_bad_cell_says_what_is_wrong(text: str, finding: str) -> None:
    assert told(CellSyntax().parse(text).resolve_states(FEVER)[1]).startswith(finding)


def test_a_range_needs_an_order_and_a_state_may_look_like_one() -> None:
    assert "have no order; list them, or order them" in told(CellSyntax().parse("yes..no").resolve_states(RASH)[1])
    bins = pn.Variable("bins", ("0..5", "5..9"))
    assert CellSyntax().parse("0..5|5..9").resolve_states(bins) == (("0..5", "5..9"), "")


def test_names_with_special_characters_survive_csv(tmp_path: Path) -> None:
    odd = pn.Variable(
        'a,"b"\nc', ("x|y", "!z", "?", "*", "a..b", " pad ", "\\", 'q"q', "l\nm", "r\rs", "ü", ",", "..", "\t")
    )
    data = pn.Dataset.from_rows(
        (odd,), [(state,) for state in odd.states] + [(odd.states[:5],), (None,), ({"?", "*"},)]
    )
    pn.write_data(data, tmp_path / "odd.csv")
    assert pn.read_data(tmp_path / "odd.csv", variables=data) == data
    assert set(pn.read_data(tmp_path / "odd.csv").variables[0].states) == set(odd.states)


def test_other_delimiters_separators_and_no_escape(tmp_path: Path) -> None:
    options: dict[str, Any] = {"delimiter": ";", "separator": "/", "escape": ""}
    pn.write_data(DATA, tmp_path / "a.csv", **options)
    assert (tmp_path / "a.csv").read_text().splitlines()[:2] == ["fever;rash", "mild/high;no"]
    assert pn.read_data(tmp_path / "a.csv", variables=DATA, **options) == DATA
    assert pn.Dataset.concatenate(pn.scan_data(tmp_path / "a.csv", variables=DATA, **options)) == DATA
    needs = pn.Dataset.from_table({"x": ["a/b"]})
    with pytest.raises(pn.InputError, match="state 'a/b' holds '/', special in a cell; expected an escape character"):
        pn.write_data(needs, tmp_path / "b.csv", **options)
    assert not (tmp_path / "b.csv").exists()
    for option, values in {"separator": ("||", "."), "escape": ("|", "!"), "delimiter": ("|", "")}.items():
        for value in values:
            wrong = f"{option} .*; expected one (plain )?character"
            refused(wrong, pn.read_data, tmp_path / "a.csv", **{option: value})


def test_domains_from_a_csv_are_what_its_cells_name_sorted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\nb|c,10\n!a,9\n?,0..5\n")
    data = pn.read_data(path)
    assert [v.states for v in data.variables] == [("a", "b", "c"), ("0..5", "10", "9")]
    assert [row[0] for row in rows_of(data)] == [{"b", "c"}, {"b", "c"}, None]
    assert pn.Dataset.concatenate(pn.scan_data(path)) == data


def test_a_byte_order_mark_windows_lines_and_blank_lines_are_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbffever,rash\r\nmild,yes\r\n\r\nhigh,no")
    assert [row[:2] for row in rows_of(pn.read_data(path))] == [({"mild"}, {"yes"}), ({"high"}, {"no"})]
    path.write_text("fever\nmild\n\nhigh\n")
    assert [row[0] for row in rows_of(pn.read_data(path))] == [{"mild"}, None, {"high"}]


def test_parquet_of_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table(
        {
            "text": ["a", "b", None],
            "lists": [["x"], ["y", "x"], None],
            "dots.in.name": ["p", "q", "p"],
            "category": pd.Categorical(["lo", "hi", None], categories=["lo", "mid", "hi"], ordered=True),
            "number": [1, 2, None],
            "truth": [True, False, None],
            "listed categories": pa.array([["u"], ["v", "u"], None], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
        }
    )
    pq.write_table(table, path, row_group_size=2)
    data = pn.read_data(path)
    assert [v.states for v in data.variables] == [
        ("a", "b"), ("x", "y"), ("p", "q"), ("lo", "mid", "hi"), ("1", "2"), ("false", "true"), ("u", "v"),
    ]  # fmt: skip
    assert data.variable("category").ordered
    assert rows_of(data)[1][:-1] == ({"b"}, {"x", "y"}, {"q"}, {"hi"}, {"2"}, {"false"}, {"u", "v"})
    assert [len(batch) for batch in pn.scan_data(path)] == [2, 1]
    assert pn.Dataset.concatenate(pn.scan_data(path)) == data
    assert pn.read_data(path, variables=[data.variable("lists")]) == data.select(["lists"])
    frame = pd.DataFrame({"x": ["a", "b"]}, index=[4, 7])
    frame.to_parquet(path)
    assert [v.name for v in pn.read_data(path).variables] == ["x"]


def test_a_domain_may_be_wider_or_ordered_otherwise_than_in_the_file(tmp_path: Path) -> None:
    pn.write_data(DATA, tmp_path / "a.parquet")
    wider = [pn.Variable("rash", ("maybe", "no", "yes")), pn.Variable("fever", ("high", "mild", "none"))]
    data = pn.read_data(tmp_path / "a.parquet", variables=wider)
    assert data.variables == tuple(wider)
    assert data.row(0) == {"rash": {"no"}, "fever": {"mild", "high"}}
    assert data.missing("rash").tolist() == DATA.missing("rash").tolist()
    assert data.row(1)["rash"] == {"maybe", "no", "yes"}
    short = [pn.Variable("fever", ("high", "mild"))]
    refused("row 2, column 'fever': 'none' is not a state", pn.read_data, tmp_path / "a.parquet", short)


def test_domains_may_come_from_a_network(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("b,note,a\nx|y,hello,!u\n")
    net = pn.Network(
        [pn.Variable("a", ("u", "v")), pn.Variable("b", ("y", "x"))],
        pn.Dag({"a": (), "b": ()}),
        {"a": [1, 1], "b": [1, 1]},
    )
    data = pn.read_data(tmp_path / "a.csv", variables=net)
    assert data.variables == net.variables
    assert data.row(0) == {"a": {"v"}, "b": {"x", "y"}}


@pytest.mark.slow
@settings(max_examples=30)
@given(datasets(min_rows=1, weighted=False), st.integers(1, 4))
def test_a_stream_of_files_is_their_rows_in_order_again_and_again(data: pn.Dataset, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cuts = [len(data) * k // count for k in range(count + 1)]
        for k, (start, stop) in enumerate(zip(cuts, cuts[1:], strict=False)):
            pn.write_data(data[start:stop], Path(folder) / f"part{k}.{'csv' if k % 2 else 'parquet'}")
        for paths in (folder, f"{folder}/*", [f"{folder}/part{k}.*" for k in range(count)]):
            stream = pn.scan_data(paths, variables=data.variables)
            first = pn.Dataset.concatenate(stream)
            assert sorted(map(repr, rows_of(first))) == sorted(map(repr, rows_of(data)))
            assert pn.Dataset.concatenate(stream) == first
        assert first == data
        out = Path(folder) / "all.parquet"
        done: list[tuple[int, int]] = []
        pn.write_data(stream, out, progress=lambda rows, total: done.append((rows, total)))
        assert pn.read_data(out) == data
        assert done[-1][0] == len(data)


def test_a_csv_read_in_pieces_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = pn.Dataset.concatenate([DATA] * 30)
    pn.write_data(data, tmp_path / "a.csv")
    for size in (1, 7, 16, 1000):
        monkeypatch.setattr("possnet.io.data_formats.csv_data._PIECE", size)
        assert pn.Dataset.concatenate(pn.scan_data(tmp_path / "a.csv", variables=DATA)) == data
    (tmp_path / "b.csv").write_text((tmp_path / "a.csv").read_text().rstrip() + "\nhihg,no")
    stream = pn.scan_data(tmp_path / "b.csv", variables=DATA)
    refused("row 121, column 'fever': 'hihg' is not a state", list, stream)


@pytest.mark.parametrize("header", ['a,"b"', '"a",b', "a,b"])
def test_a_csv_whose_quotes_begin_late_is_streamed_as_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: str
) -> None:
    plain, quoted = "x,y\n" * 20, '"p\nq","r,s"\nx,"y"\n' * 5
    for rows in (plain + quoted, quoted + plain, plain + quoted + plain):
        (tmp_path / "a.csv").write_text(f"{header}\n{rows}")
        data = pn.read_data(tmp_path / "a.csv")
        assert {v.name: v.states for v in data.variables} == {"a": ("p\nq", "x"), "b": ("r,s", "y")}
        for size in (3, 16, 50, 1000):
            monkeypatch.setattr("possnet.io.data_formats.csv_data._PIECE", size)
            assert pn.Dataset.concatenate(pn.scan_data(tmp_path / "a.csv")) == data


def test_a_stream_left_early_leaves_no_thread_behind(tmp_path: Path) -> None:
    pn.write_data(DATA, tmp_path / "a.parquet")
    stream = pn.scan_data([tmp_path / "a.parquet"] * 50)
    for _ in stream:
        break
    assert not [t for t in threading.enumerate() if t.name.startswith("possnet")]


def test_streams_of_files_that_do_not_fit_together(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\na,b\n")
    (tmp_path / "b.csv").write_text("x,z\na,b\n")
    refused(r"b.csv: columns differ from those of .*a.csv \(y, z\); expected the same", pn.scan_data, tmp_path)
    scope = [pn.Variable("x", ("a",)), pn.Variable("y", ("b",))]
    refused(r"b.csv: no column 'y' \(x, z\)", pn.scan_data, tmp_path, scope)
    refused("no .csv or .parquet file there", pn.scan_data, tmp_path / "*.nothing")
    refused("no .csv or .parquet file there", pn.scan_data, [])
    refused("none.csv: no such file; check the name", pn.scan_data, tmp_path / "none.csv")
    (tmp_path / "b.csv").write_text("x,y\na,c\nA,c\n")
    assert [v.states for v in pn.scan_data(tmp_path).variables] == [("A", "a"), ("b", "c")]
    stream = pn.scan_data(tmp_path, variables=[pn.Variable("x", ("a",))])
    refused(r"b.csv, row 2, column 'x': 'A' is not a state \(a\); did you mean 'a'", list, stream)


def test_errors_in_a_csv_are_told_ten_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    path.write_text("fever,rash\n" + "mild,yes\n" * 15 + "hihg,yes\n" + "mild,ye\n" * 20)
    lines = refused("'hihg' is not a state", pn.read_data, path, (FEVER, RASH)).splitlines()
    assert lines[0] == f"{path}, row 16, column 'fever': 'hihg' is not a state (none, mild, high); did you mean 'high'?"
    assert lines[1] == f"{path}, row 17, column 'rash': 'ye' is not a state (yes, no); did you mean 'yes'?"
    assert len(lines) == 11
    assert lines[10] == f"... and 11 more cells of {path} that cannot be used"


def test_errors_in_many_row_groups_are_told_together(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": ["x", "z"] * 15, "w": [1] * 29 + [-5]}), path, row_group_size=4)
    lines = refused("'z' is not a state", pn.read_data, path, [pn.Variable("a", ("x", "y"))]).splitlines()
    assert [line.split(",")[1] for line in lines[:10]] == [f" row {k}" for k in range(2, 22, 2)]
    assert lines[10] == f"... and 5 more cells of {path} that cannot be used"
    refused("row 30, weight column 'w': '-5'", pn.read_data, path, [pn.Variable("a", ("x", "z"))], weights="w")


def test_a_wide_domain_and_many_wrong_cells_are_told_at_once(tmp_path: Path) -> None:
    wide = pn.Variable("a", tuple(f"s{k:04d}" for k in range(1000)))
    (tmp_path / "a.csv").write_text("a\n" + "".join(f"state_{k:05d}\n" for k in range(20_000)))
    lookup = mock.patch("possnet.arrow.raw_columns.among", return_value="")
    with lookup as looked_up, pytest.raises(pn.InputError, match="19,990 more cells"):
        pn.read_data(tmp_path / "a.csv", variables=[wide])
    assert looked_up.call_count == 10  # near names are sought only for the cells that are told


def test_streams_of_weighted_and_unweighted_files_keep_all_weights(tmp_path: Path) -> None:
    plain = pn.Dataset.from_rows((RASH,), [("yes",), ("no",)])
    weighted = pn.Dataset.from_rows((RASH,), [("yes",), ("no",)], weights=[2, 3])
    pn.write_data(plain, tmp_path / "u.parquet")
    pn.write_data(weighted, tmp_path / "w.parquet")
    for order in (["u", "w"], ["w", "u"]):
        stream = pn.scan_data([tmp_path / f"{name}.parquet" for name in order])
        assert stream.weighted
        for name in ("m.csv", "m.parquet", "lists.parquet"):
            pn.write_data(stream, tmp_path / name, layout="lists" if name == "lists.parquet" else "masks")
            data = pn.read_data(tmp_path / name, variables=(RASH,), weights="weight")
            assert data.weights is not None
            assert data.weights.tolist() == ([1, 1, 2, 3] if order[0] == "u" else [2, 3, 1, 1])


def test_options_are_checked_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    frame = pd.DataFrame({"x": ["a"]})
    refused("write_data: a DataFrame holds no rows; expected a Dataset or a stream", pn.write_data, frame, path)
    wrong = "layout 'list'; expected masks, lists; did you mean 'lists'"
    refused(wrong, pn.write_data, DATA, path, layout="list")
    weighted = pn.Dataset.from_rows((RASH,), [("yes",)], weights=[2])
    refused("'' cannot name the weights", pn.write_data, weighted, path, weights="")
    odd = pn.Dataset.from_table({"a\0": ["x"]})
    refused("holds a NUL character", pn.write_data, odd, path, layout="lists")
    refused("delimiter '§'; expected one plain character", pn.read_data, tmp_path / "a.csv", delimiter="§")
    assert list(tmp_path.iterdir()) == []
    pn.write_data(DATA, path)
    refused("'rash' is a variable; expected another weight column", pn.read_data, path, weights="rash")


def test_a_range_is_told_from_a_state_the_same_way_in_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r.csv").write_text("a\nx..y\nx\nx\nx\ny\ny\ny\n")
    monkeypatch.setattr("possnet.io.data_formats.csv_data._PIECE", 8)
    for reader in (pn.read_data, pn.scan_data):
        refused("row 1, column 'a': 'x..y' looks like a range", reader, tmp_path / "r.csv")


@pytest.mark.parametrize("content", [b"a,b\n", b"a,b", b'"a",b\n', b"a,b\n\n\n"])
def test_a_file_of_nothing_but_a_header_has_no_rows(tmp_path: Path, content: bytes) -> None:
    scope = [pn.Variable("a", ("x",)), pn.Variable("b", ("x",))]
    (tmp_path / "h.csv").write_bytes(content)
    assert len(pn.read_data(tmp_path / "h.csv", variables=scope)) == 0
    stream = pn.scan_data(tmp_path / "h.csv", variables=scope)
    assert len(pn.Dataset.concatenate(stream)) == 0
    pn.write_data(stream, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == "a,b\n"


def test_an_order_that_grows_from_file_to_file_is_kept_and_a_contradiction_is_told(tmp_path: Path) -> None:
    orders = [("none", "mild", "high"), ("none", "mild", "high", "extreme"), ("high", "mild", "none")]
    for k, states in enumerate(orders):
        data = pn.Dataset.from_rows((pn.Variable("f", states, ordered=True),), [("mild",)])
        pn.write_data(data, tmp_path / f"o{k}.parquet")
    grown = pn.scan_data([tmp_path / "o0.parquet", tmp_path / "o1.parquet"])
    assert grown.variables == (pn.Variable("f", orders[1], ordered=True),)
    with pytest.raises(pn.InputError, match="column 'f' is ordered as .* and as .*; expected one order, or variables="):
        pn.scan_data([tmp_path / "o0.parquet", tmp_path / "o2.parquet"])


def test_names_that_look_like_something_else_survive(tmp_path: Path) -> None:
    for name in ("__index_level_0__", "\ufeffx", "a.list.element"):
        data = pn.Dataset.from_rows((pn.Variable(name, ("x", "y")), pn.Variable("a", ("x", "y"))), [("x", {"x", "y"})])
        for file in LAYOUTS:
            assert read(write(data, tmp_path / file), data) == data


@pytest.mark.parametrize("name", ["x" * 300 + ".parquet", "x" * 300 + ".csv", "a\0.parquet", "a\0.csv"])
def test_names_that_no_file_can_have_are_refused(name: str) -> None:
    for reader in (pn.read_data, pn.scan_data):
        with pytest.raises(pn.InputError):
            reader(name)


def test_a_file_that_is_gone_when_its_turn_comes(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\na\n")
    stream = pn.scan_data(tmp_path / "a.csv", variables=[pn.Variable("x", ("a",))])
    (tmp_path / "a.csv").unlink()
    refused("a.csv: no such file; check the name", list, stream)


BAD_CSV: list[tuple[bytes, str]] = [
    (b"", "the file is empty; expected a line of column names, then rows"),
    (b"", "the file is empty; expected a line of column names, then rows"),
    (b"\n\n", "its first line is blank; expected a line of column names, then rows"),
    (b"a,\n1,2\n", "line 1: column 2 has no name; expected a name for every column"),
    (b"a,a\n1,2\n", "line 1: column 'a' appears twice; expected distinct names"),
    (b"a,b\n1,2\n1\n1,2,3\n", r"row 2: 1 fields; expected 2, as in the first line(.|\n)*row 3: 3 fields"),
    (b"a,b\n" + b"1\n" * 30, r"row 1: 1 fields(.|\n)*\.\.\. and 20 more like these"),
    (b"a,b\nx,\xff\xfe\nx,y\n", r"row 1, column 'b': b'\\xff\\xfe' is not UTF-8 text; save the file as UTF-8"),
    (b"\xff\xfea\x00", "line 1: not UTF-8 text; expected a CSV file, saved as UTF-8"),
    (b"\x89PNG\r\n\x1a\n\x00\x00", "line 1: not UTF-8 text"),
    (b"a" * 200_000 + b"\n1\n", "line 1: field larger than field limit"),
    (b"a,b\n?,x\n", "column 'a' holds no state at all; expected some, or its domain in variables="),
    (b"a\n", "column 'a' holds no state at all"),
    (b"a\nx\nx|\n", r"row 2, column 'a': an empty place beside '\|'; expected a state there"),
    (b"a\nx\nx..y\ny\n", r"row 2, column 'a': 'x..y' looks like a range, which needs an ordered variable"),
    (b"a\nx\n!x\n", "row 2, column 'a': leaves no state of x"),
]


@pytest.mark.parametrize("reader", [pn.read_data, lambda path: list(pn.scan_data(path))], ids=["read", "scan"])
@pytest.mark.parametrize(("content", "message"), BAD_CSV)
def test_a_bad_csv_is_refused_with_its_place(tmp_path: Path, content: bytes, message: str, reader: Any) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    assert refused(message, reader, path).startswith(str(path))


def masks_file(path: Path, **changes: Any) -> None:
    """A masks file with something wrong in it."""
    pn.write_data(DATA, path)
    table = pq.read_table(path)
    metadata = dict(table.schema.metadata)
    if "metadata" in changes:
        metadata[b"possnet"] = changes["metadata"](metadata[b"possnet"])
    if "fever" in changes:
        table = table.set_column(0, "fever", changes["fever"])
    if "drop" in changes:
        table = table.drop_columns([changes["drop"]])
    pq.write_table(table.replace_schema_metadata(metadata), path)


BAD_MASKS: list[tuple[dict[str, Any], str]] = [
    ({"metadata": lambda _: b"{"}, "its possnet metadata cannot be read .*the file is damaged"),
    ({"metadata": lambda _: b"[]"}, "its possnet metadata cannot be read"),
    (
        {"metadata": lambda m: m.replace(b'"version": 1', b'"version": 2')},
        "possnet-data 2; this possnet reads possnet-data 1",
    ),
    ({"metadata": lambda m: m.replace(b'"states"', b'"stats"')}, "its possnet metadata cannot be read"),
    ({"drop": "rash"}, "no column 'rash', which its metadata describe; the file is damaged"),
    ({"fever": pa.array([1, 2, 4, 1])}, "column 'fever' holds int64; expected masks of uint8; the file is damaged"),
    ({"fever": pa.array([1, 0, 4, 1], pa.uint8())}, "row 2, column 'fever': an empty set; expected at least one state"),
    ({"fever": pa.array([1, 8, 4, 1], pa.uint8())}, "row 2, column 'fever': mask 8 has bits beyond the 3 states"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_MASKS)
def test_a_damaged_masks_file_is_refused_with_its_place(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    masks_file(tmp_path / "bad.parquet", **changes)
    assert refused(message, pn.read_data, tmp_path / "bad.parquet").startswith(str(tmp_path / "bad.parquet"))


def test_files_that_are_not_parquet_are_refused(tmp_path: Path) -> None:
    refused("3 is no file; expected a name, a folder, a pattern, or a list of these", pn.scan_data, 3)
    path = tmp_path / "bad.parquet"
    pn.write_data(pn.Dataset.concatenate([DATA] * 100), tmp_path / "good.parquet")
    good = (tmp_path / "good.parquet").read_bytes()
    for content, message in [
        (b"", "the file is empty; expected a Parquet file"),
        (b"a,b\n1,2\n", "expected a Parquet file"),
        (good[:-10], "expected a Parquet file"),
        (good[: len(good) // 2], "expected a Parquet file"),
    ]:
        path.write_bytes(content)
        assert refused(message, pn.read_data, path).startswith(str(path))
    refused("no such file", pn.read_data, tmp_path / "none.parquet")
    refused(r"unknown suffix '.xls'; expected .csv or .parquet", pn.read_data, tmp_path / "a.xls")
    (tmp_path / "folder.parquet").mkdir()
    refused("a folder; expected a file|expected a Parquet file", pn.read_data, tmp_path / "folder.parquet")
    pq.write_table(pa.table([["a"], ["b"]], names=["x", "x"]), path)
    refused("column 'x' appears twice", pn.read_data, path)
    pq.write_table(pa.table({"x": [0.5]}), path)
    refused("row group 1: column 'x': numbers with fractions", pn.read_data, path)
    pq.write_table(pa.table({}), path)
    refused("no columns; expected at least one", pn.read_data, path)


@given(st.integers(0, 2**32 - 1))
def test_damaged_parquet_never_escapes_as_another_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        pn.write_data(DATA, path, layout="masks" if seed % 2 else "lists")
        content = bytearray(path.read_bytes())
        for _ in range(rng.integers(1, 4)):
            content[rng.integers(4, len(content) - 8)] = rng.integers(0, 256)
        path.write_bytes(content)
        try:
            pn.read_data(path)
        except pn.InputError as error:
            assert str(path) in str(error)


@given(st.binary(max_size=200))
def test_random_bytes_never_escape_as_another_error(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, prefix in (("a.csv", b""), ("b.csv", b"fever,rash\n"), ("a.parquet", b"")):
            path = Path(folder) / name
            path.write_bytes(prefix + content)
            try:
                pn.read_data(path)
            except pn.InputError as error:
                assert str(path) in str(error)


def test_weights_in_files(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,n\na,3\nb, 1\n")
    data = pn.read_data(path, weights="n")
    assert data.weights is not None
    assert data.weights.tolist() == [3, 1]
    refused(r"no weight column 'm' \(x, n\)", pn.read_data, path, weights="m")
    path.write_text("x,n\na,3\nb,many\n")
    refused("row 2, weight column 'n': 'many'; expected a whole number from 0 to", pn.read_data, path, weights="n")
    path.write_text("x,n\n" + f"a,{10**18 - 1}\n" * 5)
    refused(r"a.csv: weights add up to more than 2\*\*62; expected a smaller total", pn.read_data, path, weights="n")
    clash = pn.Dataset.from_rows((pn.Variable("weight", ("a",)),), [("a",)], weights=[2])
    refused("'weight' cannot name the weights", pn.write_data, clash, tmp_path / "b.csv")
    pq.write_table(pa.table({"x": ["a"], "n": [2]}), tmp_path / "c.parquet")
    assert pn.read_data(tmp_path / "c.parquet", weights="n").total == 2
    refused("no weight column 'm'", pn.read_data, tmp_path / "c.parquet", weights="m")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_failing_write_leaves_nothing_and_keeps_the_old_file(tmp_path: Path, name: str) -> None:
    pn.write_data(DATA, tmp_path / name)
    before = (tmp_path / name).read_bytes()
    shutil.copy(tmp_path / name, tmp_path / f"source-{name}")
    (tmp_path / "bad.csv").write_text("fever,rash\nmild,no\nhihg,no\n")
    stream = pn.scan_data([tmp_path / f"source-{name}", tmp_path / "bad.csv"], variables=DATA)
    refused("'hihg' is not a state", pn.write_data, stream, tmp_path / name)
    assert (tmp_path / name).read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([name, f"source-{name}", "bad.csv"])


def test_a_csv_that_others_can_read(tmp_path: Path) -> None:
    pn.write_data(DATA, tmp_path / "a.csv")
    assert arrow_csv.read_csv(tmp_path / "a.csv").column("fever").to_pylist() == [
        "mild|high",
        "none",
        "none|mild|high",
        "?",
    ]
    pn.write_data(DATA, tmp_path / "lists.parquet", layout="lists")
    assert pq.read_table(tmp_path / "lists.parquet").column("fever").to_pylist()[0] == ["mild", "high"]


def test_plain_columns_are_carried_to_files_of_any_number_of_rows(tmp_path: Path) -> None:
    note = pa.array(["p", "q", "r"])
    for rows in (0, 3):
        pq.write_table(pa.table({"note": note[:rows], "rash": ["yes", "no", "no"][:rows]}), tmp_path / "in.parquet")
        for name in LAYOUTS:
            data = pn.read_data(tmp_path / "in.parquet", variables=[RASH])
            path = write(data, tmp_path / name, plain=plain_columns(tmp_path / "in.parquet", ["note"]))
            assert len(pn.read_data(path, variables=[RASH])) == rows
            read_back = arrow_csv.read_csv if name == "data.csv" else pq.read_table
            assert read_back(path).column_names == ["note", "rash"]
            assert read_back(path).column("note").to_pylist() == note[:rows].to_pylist()


def test_columns_that_cannot_be_carried_along_are_named(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"note": [1], "rash": ["yes"]}), tmp_path / "in" / "a.parquet")
    pq.write_table(pa.table({"note": ["p"], "rash": ["no"]}), tmp_path / "in" / "b.parquet")
    stream = pn.scan_data(tmp_path / "in", variables=[RASH])
    path = write(stream, tmp_path / "data.parquet")
    with pytest.raises(pn.InputError, match=r"note cannot be carried along .*; expected columns of one type in all"):
        write(stream, path, plain=plain_columns(tmp_path / "in", ["note"]))
    pn.write_data(DATA, tmp_path / "own.parquet")
    with pytest.raises(pn.InputError, match=r"own.parquet: possnet's own file, .*; expected columns of plain values"):
        plain_columns(tmp_path / "own.parquet", ["rash"])
    with pytest.raises(pn.InputError, match=r"fewer rows than are written; expected a file that nobody changes"):
        write(pn.Dataset.concatenate([DATA] * 2), path, plain=plain_columns(tmp_path / "in", ["note"]))
    assert pn.read_data(path).variables == (RASH,)
    write(stream, tmp_path / "data.csv", plain=plain_columns(tmp_path / "in", ["note"]))
    assert (tmp_path / "data.csv").read_text() == "note,rash\n1,yes\np,no\n"


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "iterdir", mock.Mock(side_effect=PermissionError(13, "Permission denied")))
    refused("permission denied; expected a file that can be opened", pn.scan_data, tmp_path)


@given(names)
def test_a_lone_column_name_survives_csv(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = pn.Dataset.from_rows((pn.Variable(name, ("a", "b")),), [("a",), (None,), ({"a", "b"},)])
        path = Path(folder) / "a.csv"
        pn.write_data(data, path)
        assert pn.read_data(path) == data
