"""Arrow arrays by their buffers: equal to pyarrow's own, and made without loading pandas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.arrow import array_of_numbers, array_of_texts, nulls_of_array, numbers_of_array, plain_arrays

TEXTS = st.lists(st.none() | st.text(max_size=5))
KINDS = st.sampled_from(["i1", "u1", "i2", "i4", "u4", "i8", "f2", "f4", "f8", "?"])


@given(TEXTS, st.booleans())
def test_texts_are_those_of_pyarrow(texts: list[str | None], large: bool) -> None:
    array = array_of_texts(texts, large=large)
    array.validate(full=True)
    assert array.equals(pa.array(texts, type=pa.large_string() if large else pa.string()))


@given(st.lists(st.tuples(st.integers(0, 100), st.booleans())), KINDS, st.booleans())
def test_numbers_and_truths_are_those_of_pyarrow(cells: list[tuple[int, bool]], kind: str, whole: bool) -> None:
    values = np.array([number for number, _ in cells], dtype=kind)
    missing = None if whole else np.array([is_missing for _, is_missing in cells], dtype=bool)
    array = array_of_numbers(values, missing)
    array.validate(full=True)
    assert array.equals(pa.array(values, mask=missing))


@given(st.lists(st.none() | st.integers(0, 100)), KINDS.filter(lambda kind: kind != "?"), st.integers(0, 9), st.data())
def test_numbers_come_back_from_any_part_of_an_array(
    cells: list[int | None], kind: str, start: int, data: st.DataObject
) -> None:
    end = data.draw(st.integers(0, 20))
    array = pa.array([None if cell is None else np.dtype(kind).type(cell) for cell in cells], pa.from_numpy_dtype(kind))
    part, expected = array[start:end], cells[start:end]
    assert nulls_of_array(part).tolist() == [cell is None for cell in expected]
    assert numbers_of_array(part, 101).tolist() == [101 if cell is None else cell for cell in expected]


def test_numbers_of_slices_share_memory() -> None:
    numbers = numbers_of_array(array_of_numbers(np.arange(1_000))[5:], -1)
    assert not numbers.flags.owndata
    assert numbers[0] == 5


@pytest.mark.parametrize(
    "work",
    [
        "info rows.csv",
        "convert rows.csv out.parquet",
        "convert rows.parquet out.csv",
        "learn rows.csv --out learned.json",
        "complete asia rows.csv --out done.csv",
        "evaluate asia --rows 20 --repeats 1 --workers 1 --out run",
    ],
)
def test_commands_load_no_pandas(work: str, tmp_path: Path) -> None:
    """To load it takes as long as the rest of a command with a small file."""
    command = "import sys\nfrom possnet.__main__ import run\ntry:\n run()\nfinally:\n print('pandas' in sys.modules)"
    for words in ("sample asia --rows 20 --out rows.csv", "sample asia --rows 20 --out rows.parquet", work):
        ran = subprocess.run(
            [sys.executable, "-c", command, *words.split()], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.splitlines()[-1] == "False", words


def test_texts_that_offsets_of_32_bits_cannot_tell_apart_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_arrays, "_MOST_OCTETS", 3)
    assert array_of_texts(["ab", "c"]).to_pylist() == ["ab", "c"]
    assert array_of_texts(["ab", "cd"], large=True).to_pylist() == ["ab", "cd"]
    with pytest.raises(pn.TooLarge, match="texts of 4 bytes in one column; expected at most 3"):
        array_of_texts(["ab", "cd"])
