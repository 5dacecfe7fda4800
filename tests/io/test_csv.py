"""Data as CSV: dialects, streams in pieces, and a sentence for every kind of bad file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given

import possnet as pn
from tests.dataset.test_dataset import DATA, FEVER, RASH
from tests.refused import refused
from tests.rows import rows_of
from tests.strategies import names


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
    assert (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()[:2] == ["fever;rash", "mild/high;no"]
    assert pn.read_data(tmp_path / "a.csv", variables=DATA, **options) == DATA
    assert pn.Dataset.concatenate(pn.scan_data(tmp_path / "a.csv", variables=DATA, **options)) == DATA
    needs = pn.Dataset.from_table({"x": ["a/b"]})
    with pytest.raises(pn.InputError, match="state 'a/b' holds '/', special in a cell; expected an escape character"):
        pn.write_data(needs, tmp_path / "b.csv", **options)
    assert not (tmp_path / "b.csv").exists()
    for option, values in {
        "separator": ("!", "."),
        "escape": ("|", "!"),
        "delimiter": ('"', "", "§"),
        "quote": ("ab", "§"),
    }.items():
        for value in values:
            wrong = f"{option} .*; expected one (plain |without )?"
            refused(wrong, pn.read_data, tmp_path / "a.csv", **{option: value})


def test_domains_from_a_csv_are_what_its_cells_name_sorted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\nb|c,10\n!a,9\n?,0..5\n", encoding="utf-8")
    data = pn.read_data(path)
    assert [v.states for v in data.variables] == [("a", "b", "c"), ("0..5", "10", "9")]
    assert [row[0] for row in rows_of(data)] == [{"b", "c"}, {"b", "c"}, None]
    assert pn.Dataset.concatenate(pn.scan_data(path)) == data


def test_a_byte_order_mark_windows_lines_and_blank_lines_are_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbffever,rash\r\nmild,yes\r\n\r\nhigh,no")
    assert [row[:2] for row in rows_of(pn.read_data(path))] == [({"mild"}, {"yes"}), ({"high"}, {"no"})]
    path.write_text("fever\nmild\n\nhigh\n", encoding="utf-8")
    assert [row[0] for row in rows_of(pn.read_data(path))] == [{"mild"}, None, {"high"}]


def test_a_csv_read_in_pieces_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = pn.Dataset.concatenate([DATA] * 30)
    pn.write_data(data, tmp_path / "a.csv")
    for size in (1, 7, 16, 1000):
        monkeypatch.setattr("possnet.io.data_formats.csv_data._PIECE", size)
        assert pn.Dataset.concatenate(pn.scan_data(tmp_path / "a.csv", variables=DATA)) == data
    (tmp_path / "b.csv").write_text(
        (tmp_path / "a.csv").read_text(encoding="utf-8").rstrip() + "\nhihg,no", encoding="utf-8"
    )
    stream = pn.scan_data(tmp_path / "b.csv", variables=DATA)
    refused("row 121, column 'fever': 'hihg' is not a state", list, stream)


@pytest.mark.parametrize("header", ['a,"b"', '"a",b', "a,b"])
def test_a_csv_whose_quotes_begin_late_is_streamed_as_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: str
) -> None:
    plain, quoted = "x,y\n" * 20, '"p\nq","r,s"\nx,"y"\n' * 5
    for rows in (plain + quoted, quoted + plain, plain + quoted + plain):
        (tmp_path / "a.csv").write_text(f"{header}\n{rows}", encoding="utf-8")
        data = pn.read_data(tmp_path / "a.csv")
        assert {v.name: v.states for v in data.variables} == {"a": ("p\nq", "x"), "b": ("r,s", "y")}
        for size in (3, 16, 50, 1000):
            monkeypatch.setattr("possnet.io.data_formats.csv_data._PIECE", size)
            assert pn.Dataset.concatenate(pn.scan_data(tmp_path / "a.csv")) == data


def test_errors_in_a_csv_are_told_as_many_as_a_message_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("patients.csv")
    path.write_text("fever,rash\n" + "mild,yes\n" * 15 + "hihg,yes\n" + "mild,ye\n" * 20, encoding="utf-8")
    lines = refused("'hihg' is not a state", pn.read_data, path, (FEVER, RASH)).splitlines()
    assert lines[0] == f"{path}, row 16, column 'fever': 'hihg' is not a state (none, mild, high); did you mean 'high'?"
    assert lines[1] == f"{path}, row 17, column 'rash': 'ye' is not a state (yes, no); did you mean 'yes'?"
    assert 4 <= len(lines) <= 11
    assert lines[-1] == f"... and {22 - len(lines)} more cells of {path} that cannot be used"
    assert len("\n".join(lines)) < 500


def test_a_wide_domain_and_many_wrong_cells_are_told_at_once(tmp_path: Path) -> None:
    wide = pn.Variable("a", tuple(f"s{k:04d}" for k in range(1000)))
    (tmp_path / "a.csv").write_text("a\n" + "".join(f"state_{k:05d}\n" for k in range(20_000)), encoding="utf-8")
    lookup = mock.patch("possnet.arrow.raw_columns.among", return_value="")
    with lookup as looked_up, pytest.raises(pn.InputError, match=r"19,99\d more cells"):
        pn.read_data(tmp_path / "a.csv", variables=[wide])
    assert looked_up.call_count == 10  # near names are sought only for the cells that are told


def test_a_range_is_told_from_a_state_the_same_way_in_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "r.csv").write_text("a\nx..y\nx\nx\nx\ny\ny\ny\n", encoding="utf-8")
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
    assert (tmp_path / "again.csv").read_text(encoding="utf-8") == "a,b\n"


BAD_CSV: list[tuple[bytes, str]] = [
    (b"", "the file is empty; expected a line of column names, then rows"),
    (b"", "the file is empty; expected a line of column names, then rows"),
    (b"\n\n", "its first line is blank; expected a line of column names, then rows"),
    (b"a,\n1,2\n", "line 1: column 2 has no name; expected a name for every column"),
    (b"a,a\n1,2\n", "line 1: column 'a' appears twice; expected distinct names"),
    (b"a,b\n1,2\n1\n1,2,3\n", r"row 2: 1 fields; expected 2, as in the first line(.|\n)*row 3: 3 fields"),
    (b"a,b\n" + b"1\n" * 30, r"row 1: 1 fields(.|\n)*\.\.\. and 2\d more like these"),
    (b"a,b\nx,\xff\x01\nx,y\n", "not UTF-8 text, and no text at all; expected a CSV file, saved as UTF-8"),
    (b"\xff\xfea\x00", "no rows, so that nothing says which states"),
    (b"\xff\xfea\x00\n\x00\x00\xd8", "not utf-16 text"),
    (b"\x89PNG\r\n\x1a\n\x00\x00", "not UTF-8 text, and no text at all"),
    (b"a" * 200_000 + b"\n1\n", "line 1: field larger than field limit"),
    (b"a,b\n?,x\n", "column 'a' holds no state at all; expected some, or its domain in variables="),
    (b"a\n", "no rows, so that nothing says which states 'a' has"),
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


@given(names)
def test_a_lone_column_name_survives_csv(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = pn.Dataset.from_rows((pn.Variable(name, ("a", "b")),), [("a",), (None,), ({"a", "b"},)])
        path = Path(folder) / "a.csv"
        pn.write_data(data, path)
        assert pn.read_data(path) == data
