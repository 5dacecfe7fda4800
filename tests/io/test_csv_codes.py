"""Texts of CSV files read as codes, beside Python's own reader of CSV and beside Arrow."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.io import csv_codes
from possnet.io.csv_codes import CodedFields, split_lines
from possnet.io.data_formats import csv_data
from possnet.kernels import fields

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = [
    "",
    "no",
    "yes",
    "yes|no",
    "maybe",
    "maybe-no",
    "maybe-no-",
    "é" * 9,
    "x" * 16,
    "x" * 17,
]


@pytest.fixture(autouse=True)
def _every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_data, "_SMALL_FILE", 0)


def refuse(names: list[str]) -> Any:
    raise AssertionError(names)


@given(st.data())
def test_codes_are_the_texts_that_pythons_reader_finds(data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 4))
    text = st.sampled_from(TEXTS) | st.text("ab\N{EURO SIGN}|", max_size=20)
    rows = data.draw(st.lists(st.lists(text, min_size=width, max_size=width), min_size=1, max_size=30))
    end, last = data.draw(st.sampled_from(["\n", "\r\n"])), data.draw(st.booleans())
    content = end.join(",".join(row) for row in rows) + end * (last or rows[-1][-1] == "" or end != "\n")
    header = [f"v{k}" for k in range(width)]
    names = data.draw(st.permutations(header))[: data.draw(st.integers(1, width))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_codes, "_BLOCK", data.draw(st.sampled_from([3, 50, 1 << 19])))
        patch.setattr(csv_codes, "_PART", data.draw(st.sampled_from([10, 1 << 22])))
        patch.setattr(csv_codes, "_AT_ONCE", data.draw(st.sampled_from([1, 7, 1 << 12])))
        reader = CodedFields(header, names, ",")
        for _ in range(2):  # with texts to learn, and with all of them known
            table = reader.read_table(memoryview(content.encode()), refuse)
            assert table is not None
            expected = list(csv.reader(io.StringIO(content, newline=""))) if width > 1 else [[row[0]] for row in rows]
            assert table.to_pydict() == {name: [row[header.index(name)] for row in expected] for name in names}
            for column in table.columns:
                occurring = set(column.to_pylist())
                assert set(column.chunk(0).dictionary.to_pylist()) == occurring


@given(
    st.lists(st.binary(min_size=1, max_size=12).filter(lambda line: b"\n" not in line), max_size=12), st.integers(1, 40)
)
def test_split_lines_are_the_lines(lines: list[bytes], most: int) -> None:
    content = b"\n".join(lines)
    blocks = [bytes(block) for block in split_lines(memoryview(b"..." + content)[3:], most)]
    assert b"".join(blocks) == content
    assert all(block.endswith(b"\n") for block in blocks[:-1])


@pytest.mark.parametrize(
    "content",
    [
        "a,b\nc\n",
        "a,b\nc,d,e\n",
        "a,b\n\nc,d\n",
        "a,b\rc,d\n",
        "a\r,b\n",
        "a,b\r\nc,d\n",
        "a\0,b\n",
        "x" * 129 + ",b\n",
        "\r\n",
    ],
)
def test_lines_that_are_not_regular_are_left_to_others(content: str) -> None:
    assert CodedFields(["one", "two"], ["one"], ",").read_table(memoryview(content.encode()), refuse) is None


def test_bytes_that_are_no_text_are_left_to_others() -> None:
    assert CodedFields(["one", "two"], ["one"], ",").read_table(memoryview(b"\xff,b\n"), refuse) is None


def test_columns_of_many_texts_are_left_to_arrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.csv"
    rows = [(f"n{k}", "no" if k % 3 else "yes", "mild") for k in range(1_000)]
    path.write_text("".join(",".join(row) + "\n" for row in [("number", "rash", "fever"), *rows]), encoding="utf-8")
    asked: list[list[str]] = []
    read_table = CodedFields.read_table

    def note(self: CodedFields, lines: memoryview, read_others: Any) -> Any:
        def read_and_note(names: list[str]) -> Any:
            asked.append(names)
            return read_others(names)

        return read_table(self, lines, read_and_note)

    monkeypatch.setattr(CodedFields, "read_table", note)
    monkeypatch.setattr(csv_data, "_PIECE", 4_000)
    data = pn.read_data(path)
    assert asked
    assert all(names == ["number"] for names in asked)
    assert [data.row(k) for k in (0, 1, 999)] == [
        {"number": {f"n{k}"}, "rash": {"no" if k % 3 else "yes"}, "fever": {"mild"}} for k in (0, 1, 999)
    ]


def test_files_of_many_texts_are_read_by_arrow_alone() -> None:
    reader = CodedFields(["a", "b"], ["a", "b"], ",")
    lines = "".join(f"a{k},b{k}\n" for k in range(300)).encode()
    assert reader.read_table(memoryview(lines), refuse) is None
    assert reader.read_table(memoryview(b"a1,b1\n"), refuse) is None


def test_texts_of_a_column_that_is_left_out_make_room_for_others() -> None:
    names = [f"v{k}" for k in range(12)]
    reader = CodedFields(names, names, ",")
    lines = "".join(",".join(f"v{k}-{row % (400 if k < 6 else 100)}" for k in range(12)) + "\n" for row in range(400))
    table = reader.read_table(memoryview(lines.encode()), lambda wide: _plain(lines, names, wide))
    assert table is not None
    assert table.to_pydict() == {
        name: [line.split(",")[k] for line in lines.splitlines()] for k, name in enumerate(names)
    }


def _plain(lines: str, names: list[str], wanted: list[str]) -> Any:
    import pyarrow as pa

    rows = [line.split(",") for line in lines.splitlines()]
    return pa.table({name: [row[names.index(name)] for row in rows] for name in wanted})


@given(
    st.lists(st.binary(min_size=0, max_size=30).map(lambda text: text.replace(b"\0", b".")), unique=True, max_size=60),
    st.data(),
)
def test_known_texts_have_their_own_numbers_and_others_none(texts: list[bytes], data: st.DataObject) -> None:
    slots = fields.make_slots(texts)
    assert slots is not None
    asked = data.draw(
        st.lists(
            st.sampled_from([*texts, b"other"]) | st.binary(max_size=30).map(lambda t: t.replace(b"\0", b".")),
            max_size=40,
        )
    )
    lengths = np.array([len(text) for text in asked], dtype=np.int64)
    content = np.frombuffer(b"".join(asked) + bytes(8), dtype=np.uint8)
    numbers = slots.find_numbers(fields.read_words(content, np.cumsum(lengths) - lengths, lengths))
    assert numbers.tolist() == [texts.index(text) + 1 if text in texts else 0 for text in asked]


def test_too_many_texts_have_no_slots_of_their_own() -> None:
    assert (
        fields.make_slots(np.random.default_rng(1).integers(1, 1 << 40, 5_000).astype(str).astype(bytes).tolist())
        is None
    )


@given(data=st.data())
def test_files_are_read_as_by_arrow(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever the lines are, the same data set or the same error."""
    line = st.text('ab|,;"\r\n\x00é ', max_size=12)
    content = "x,y\n" + data.draw(st.lists(line, max_size=8).map("\n".join))
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    path.write_bytes(content.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_data, "_PIECE", data.draw(st.sampled_from([8, 64, 1 << 25])))
        patch.setattr(csv_data, "_SMALL_FILE", 0)
        coded = _read(path)
        patch.setattr(csv_data, "_SMALL_FILE", 1 << 40)
        plain = _read(path)
    assert coded == plain


def _read(path: Path) -> Any:
    try:
        data = pn.read_data(path)
    except pn.PossnetError as error:
        return str(error)
    return [data.row(k) for k in range(len(data))]


def test_weights_may_stand_in_the_first_column(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("weight,rash,fever\n3,no,mild\n1,yes,high\n", encoding="utf-8")
    data = pn.read_data(path, weights="weight")
    assert data.weights is not None
    assert data.weights.tolist() == [3, 1]
    assert data.row(0) == {"rash": {"no"}, "fever": {"mild"}}


def test_all_columns_are_read_after_a_quote_behind_columns_of_many_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.csv"
    rows = [(f"n{k}", "no" if k % 3 else "yes", "mild") for k in range(1_000)]
    rows[900] = ('"n900"', '"yes"', '"mild"')
    path.write_text("".join(",".join(row) + "\n" for row in [("number", "rash", "fever"), *rows]), encoding="utf-8")
    monkeypatch.setattr(csv_data, "_PIECE", 4_000)
    data = pn.read_data(path)
    assert len(data) == 1_000
    assert data.row(900) == {"number": {"n900"}, "rash": {"yes"}, "fever": {"mild"}}
    assert data.row(999) == {"number": {"n999"}, "rash": {"yes"}, "fever": {"mild"}}
