"""Small CSV files whose cells are names of states: read together, and the same as one by one."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import possnet as pn
from possnet.io import csv_states
from possnet.io.data_formats import csv_data
from possnet.io.data_formats.csv_data import CsvSource
from possnet.io.state_columns import read_state_columns
from possnet.kernels import bitmaps

# names of states that other texts may be taken for: unknown cells, sets, ranges, lists, degrees, quoted and blank ones
_NAMES = st.sampled_from(["a", "b", "c", "?", "*", "a|b", "a..c", "[1,2]", "!a", "a:1", " a", "NA", "é", "1", "x,y"])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[pn.Variable], list[list[str]], dict[str, Any]]:
    """Variables, rows of texts, most of them names of states, and options of the reader."""
    scope = [
        pn.Variable(
            f"v{k}", tuple(draw(st.lists(_NAMES, min_size=1, max_size=4, unique=True))), ordered=draw(st.booleans())
        )
        for k in range(draw(st.integers(1, 4)))
    ]
    odd = draw(st.booleans())
    cells = [
        st.one_of(st.sampled_from(v.states), _NAMES, st.just("")) if odd else st.sampled_from(v.states) for v in scope
    ]
    rows = draw(st.lists(st.tuples(*cells).map(list), min_size=1, max_size=70))
    options: dict[str, Any] = draw(
        st.sampled_from(
            [{}, {"cells": "plain"}, {"cells": "sets"}, {"cells": {"v0": "degrees"}}, {"unknown_words": ("NA", "a")}]
        )
    )
    return scope, rows, options


def _read(path: Path, scope: list[pn.Variable], options: dict[str, Any]) -> tuple[Any, ...]:
    """Rows, variables and warnings of a file, or the sentence that refuses it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            data = pn.read_data(path, scope, **options)
        except pn.PossnetError as error:
            return (str(error),)
        notes = [str(warning.message) for warning in caught]
    unknown = [data.missing(v.name).tolist() for v in data.variables]
    return data.variables, [data.row(r) for r in range(len(data))], unknown, data.variables, notes


def _require_decoded(data: pn.Dataset) -> None:
    """Raise if columns that were coded on the way are not what their bitmaps say."""
    words = {v.name: data.bitmaps(v.name) for v in data.variables}
    unknown = {v.name: bitmaps.pack(data.missing(v.name)) for v in data.variables}
    afresh = pn.Dataset.unchecked(data.variables, words, len(data), unknown=unknown)
    for variable in data.variables:
        if not data.graded(variable.name).any():
            coded, decoded = data.column(variable.name), afresh.column(variable.name)
            assert (coded.codes.tolist(), coded.codes.dtype) == (decoded.codes.tolist(), decoded.codes.dtype)
            assert coded.octets.tolist() == decoded.octets.tolist()
            assert coded.unknown == decoded.unknown


@settings(max_examples=150)
@given(given_table=tables())
def test_names_of_states_read_together_are_those_read_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, given_table: tuple[list[pn.Variable], list[list[str]], dict[str, Any]]
) -> None:
    scope, rows, options = given_table
    path = tmp_path_factory.getbasetemp() / "plain.csv"
    lines = [[v.name for v in scope], *rows]
    path.write_text("".join(",".join(f'"{text}"' for text in line) + "\n" for line in lines), encoding="utf-8")
    fast = _read(path, scope, options)
    if len(fast) > 1:
        data = pn.read_data(path, scope, **options)
        _require_decoded(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CsvSource, "read_named", lambda *_: {})
        slow = _read(path, scope, options)
    assert fast == slow


_PLAIN_NAMES = st.sampled_from(["a", "b", "c", "?", "a|b", " a", "NA", "é", "1", "a state of more", "a state of more than 16 bytes", "eight888"])  # fmt: skip


@settings(max_examples=200)
@given(data=st.data())
def test_small_files_of_names_of_states_are_read_as_arrow_reads_them(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """With any line ends, columns that are not asked for, in any order, damaged or not: the same rows or the same error."""
    scope = [
        pn.Variable(f"v{k}", tuple(data.draw(st.lists(_PLAIN_NAMES, min_size=1, max_size=4, unique=True))))
        for k in range(data.draw(st.integers(1, 4)))
    ]
    cells = [st.sampled_from(v.states) for v in scope]
    if data.draw(st.booleans()):
        cells[0] = st.one_of(cells[0], _PLAIN_NAMES, st.sampled_from(["", "a,b", "'a'", "\x00", "\r", "\ufeff"]))
    rows = data.draw(st.lists(st.tuples(*cells).map(",".join), min_size=1, max_size=90))
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
    content = end.join([",".join(v.name for v in scope), *rows]) + end * data.draw(st.integers(0, 2))
    content = data.draw(st.sampled_from(["", "\ufeff"])) + content
    encoding = data.draw(st.sampled_from(["utf-8", "cp1252"]))
    path = tmp_path_factory.getbasetemp() / "small.csv"
    path.write_bytes(content.encode(encoding, errors="replace"))
    asked = data.draw(st.permutations(scope))[: data.draw(st.integers(1, len(scope)))]
    options: dict[str, Any] = data.draw(st.sampled_from([{}, {"quote": ""}, {"quote": "'"}, {"unknown_words": ("a",)}]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_states, "_BLOCK", data.draw(st.sampled_from([8, 60, 1 << 16])))
        fast = _read(path, asked, options)
        if len(fast) > 1:
            with warnings.catch_warnings(action="ignore"):
                _require_decoded(pn.read_data(path, asked, **options))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CsvSource, "_code_small_file", lambda *_: None)
        patch.setattr(CsvSource, "read_named", lambda *_: {})
        slow = _read(path, asked, options)
    assert fast == slow


def test_small_files_of_names_of_states_start_no_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that holds a set is parsed, and so is one whose states are not known before."""
    rash, fever = pn.Variable("rash", ("yes", "no")), pn.Variable("fever", ("none", "mild", "hoch", "höher"))
    parsed: list[Path] = []
    parse = CsvSource.read_tables

    def note(source: CsvSource, names: Any) -> Any:
        parsed.append(source.path)
        return parse(source, names)

    monkeypatch.setattr(CsvSource, "read_tables", note)
    plain, other = tmp_path / "plain.csv", tmp_path / "other.csv"
    plain.write_text("fever,rash\nmild,no\nhöher,yes\n", encoding="utf-8")
    other.write_text("fever,rash\nmild|hoch,no\n", encoding="utf-8")
    assert pn.read_data(plain, (rash, fever)).row(1) == {"rash": {"yes"}, "fever": {"höher"}}
    assert not parsed
    assert pn.read_data(plain).row(1) == {"fever": {"höher"}, "rash": {"yes"}}
    assert pn.read_data(other, (rash, fever)).row(0) == {"rash": {"no"}, "fever": {"mild", "hoch"}}
    assert parsed == [plain, other]


def test_a_file_of_other_bytes_than_it_began_with_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, rash = tmp_path / "rows.csv", pn.Variable("rash", ("yes", "no"))
    path.write_text("rash\nyes\n", encoding="utf-8")
    code = csv_states.code_states

    def write_meanwhile(*arguments: Any) -> Any:
        codes = code(*arguments)
        path.write_text("rash\nyes\nno\n", encoding="utf-8")
        return codes

    monkeypatch.setattr("possnet.io.data_formats.csv_data.code_states", write_meanwhile)
    with pytest.raises(pn.InputError, match="changed or replaced while it was read"):
        pn.read_data(path, [rash])


def test_columns_of_plain_names_are_read_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column with a set in it, and one that is binned, are left to the reader of cells."""
    path = tmp_path / "rows.csv"
    path.write_text("rash,fever,heat\nyes,mild,37\nno,mild|high,39\n", encoding="utf-8")
    found: list[set[str]] = []
    together = read_state_columns

    def note(*arguments: Any) -> Any:
        words = together(*arguments)
        found.append(set(words))
        return words

    monkeypatch.setattr(csv_data, "read_state_columns", note)
    rash, fever = pn.Variable("rash", ("yes", "no")), pn.Variable("fever", ("none", "mild", "high"))
    heat = pn.Binning([38.0]).variable("heat")
    data = pn.read_data(path, (rash, fever, heat), binnings={"heat": pn.Binning([38.0])})
    assert found == [{"rash"}]
    assert data.row(1) == {"rash": {"no"}, "fever": {"mild", "high"}, "heat": {heat.states[1]}}


def test_a_name_longer_than_the_limit_is_refused_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSSNET_LIMIT_CELL", "10")
    path = tmp_path / "rows.csv"
    path.write_text("rash\nyes, but only a little\n".replace(", ", " "), encoding="utf-8")
    with pytest.raises(pn.TooLarge, match="the limit is 10 characters"):
        pn.read_data(path, [pn.Variable("rash", ("yes but only a little", "no"))])
