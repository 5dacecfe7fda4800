"""Dialects of CSV: delimiter, quote and encoding are found, or given, or refused with a sentence."""

from __future__ import annotations

import csv
import io
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.io import column_names, plain_columns
from possnet.io.data_formats.csv_data import CsvSource
from tests.refused import refused
from tests.rows import rows_of

texts = st.text(st.sampled_from("ab,;\t'\"é\n "), min_size=1, max_size=6).filter(lambda text: text == text.strip())


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6), st.sampled_from(",;\t"))
def test_a_file_with_quotes_is_read_whatever_stands_between_its_fields(rows: list[tuple[str, str]], sign: str) -> None:
    content = io.StringIO(newline="")
    csv.writer(content, delimiter=sign, quoting=csv.QUOTE_ALL).writerows([("x", "y"), *rows])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_bytes(content.getvalue().encode())
        data = pn.read_data(path, cells="plain")
        assert [(row[0], row[1]) for row in rows_of(data)] == [({a}, {b}) for a, b in rows]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("x;y\na;b\n", [({"a"}, {"b"})]),
        ("x\ty\na\tb\n", [({"a"}, {"b"})]),
        ("x, first;y\nab;c\n", [({"ab"}, {"c"})]),
        ("x;y\n'a;c';'b'\n", [({"a", "c"}, {"b"})]),
        ("'x','y'\n'it''s','b'\n", [({"it's"}, {"b"})]),
        ("x;y\n'tis;'twas\n", [({"'tis"}, {"'twas"})]),
        ('x;y\n["a","b"];c\n', [({"a", "b"}, {"c"})]),
        ("x\ty\n['a','b']\tc\n", [({"a", "b"}, {"c"})]),
    ],
)  # fmt: skip
def test_the_dialect_is_found(tmp_path: Path, content: str, rows: list[object]) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content, encoding="utf-8")
    assert [row[:2] for row in rows_of(pn.read_data(path))] == rows
    assert [row[:2] for row in rows_of(pn.Dataset.concatenate(pn.scan_data(path)))] == rows
    assert len(column_names(path)) == 2
    (column,) = plain_columns(path, [column_names(path)[0]]).take_rows(1)
    assert column.num_rows == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_marked_encodings_are_read_without_a_word(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    mark = "\ufeff" if encoding.endswith(("-le", "-be")) else ""
    path.write_text(f'{mark}fièvre,"éruption"\nélevée|無,"oui, à\nmidi"\n', encoding=encoding)
    data = pn.read_data(path)
    assert [v.name for v in data.variables] == ["fièvre", "éruption"]
    assert rows_of(data)[0][:2] == ({"élevée", "無"}, {"oui, à\nmidi"})
    assert pn.Dataset.concatenate(pn.scan_data(path)) == data


@pytest.mark.parametrize("late", [False, True], ids=["at once", "after a megabyte"])
@pytest.mark.parametrize("quoted", [False, True], ids=["bare", "quoted"])
def test_other_encodings_are_read_with_a_note(tmp_path: Path, late: bool, quoted: bool) -> None:
    path = tmp_path / "a.csv"
    before = "x,u\n" * (300_000 if late else 1)
    cell = '"élevée"' if quoted else "élevée"
    for encoding, label, odd in (("cp1252", "Windows-1252", "€"), ("latin-1", "Latin-1", "\x81")):
        path.write_text(f"a,b\n{before}{cell},{odd}\n", encoding=encoding)
        with pytest.warns(pn.PossnetWarning, match=f"a.csv: not UTF-8, so it is read as {label}"):
            data = pn.read_data(path)
        assert data.row(-1) == {"a": {"élevée"}, "b": {odd}}
        assert pn.read_data(path, encoding=encoding) == data  # given: no note
    refused("encoding 'klingon'; expected one such as utf-8", pn.read_data, path, encoding="klingon")
    refused("is not UTF-8 text|not UTF-8", pn.read_data, path, encoding="utf-8")


def test_a_quote_of_ones_own_and_none_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('x,y\n$a,b$,"c\n', encoding="utf-8")
    assert rows_of(pn.read_data(path, quote="$", separator="|"))[0][:2] == ({"a,b"}, {'"c'})
    path.write_text("x,y\n'a,b'\n", encoding="utf-8")
    assert rows_of(pn.read_data(path, quote=""))[0][:2] == ({"'a"}, {"b'"})


def open_csv(path: Path, quote: str) -> CsvSource | None:
    """The file, or nothing where it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return CsvSource(path, None, quote=quote)
        except pn.InputError:
            return None


@settings(max_examples=300)
@given(st.text("ab ,;\"'\r\n\t\x00é", max_size=30), st.sampled_from(["auto", ""]))
def test_a_header_split_at_once_is_that_of_the_reader(text: str, quote: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_bytes(text.encode())
        fast = open_csv(path, quote)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CsvSource, "_split_header", lambda *_: [])
            slow = open_csv(path, quote)
    assert (fast is None) == (slow is None)
    if fast is not None and slow is not None:
        assert (fast.header, fast._has_rows) == (slow.header, slow._has_rows)
