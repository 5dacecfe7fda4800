"""Data in files of any format: exact round trips, streams, weights, and plain columns carried along."""

from __future__ import annotations

import shutil
import tempfile
import threading
import warnings
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
from possnet.io import plain_columns
from tests.dataset.test_dataset import DATA, RASH
from tests.io.layouts import LAYOUTS, read_layout, write_layout
from tests.refused import refused
from tests.rows import rows_of
from tests.strategies import datasets


@pytest.mark.parametrize("name", LAYOUTS)
@given(data=datasets())
def test_a_data_set_survives_every_file_format(name: str, data: pn.Dataset) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if name == "lists.parquet" and any("\0" in v.name for v in data.variables):
            refused("holds a NUL character, which others cannot read", write_layout, data, Path(folder) / name)
            return
        path = write_layout(data, Path(folder) / name)
        assert read_layout(path, data) == data
        if len(data):
            parts = list(read_layout(path, data, pn.scan_data))
            assert pn.Dataset.concatenate(parts) == data
        assert [p.name for p in Path(folder).iterdir()] == [name]


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
    assert read_layout(write_layout(data, tmp_path / name), data) == data


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_column_of_nothing_but_unknown_cells(tmp_path: Path, name: str) -> None:
    data = pn.Dataset.from_rows((RASH,), [(None,)] * 70)
    assert read_layout(write_layout(data, tmp_path / name), data) == data


def test_domains_may_come_from_a_network(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("b,note,a\nx|y,hello,!u\n", encoding="utf-8")
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


def test_a_stream_left_early_leaves_no_thread_behind(tmp_path: Path) -> None:
    pn.write_data(DATA, tmp_path / "a.parquet")
    stream = pn.scan_data([tmp_path / "a.parquet"] * 50)
    for _ in stream:
        break
    assert not [t for t in threading.enumerate() if t.name.startswith("possnet")]


def test_streams_of_files_that_do_not_fit_together(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\na,b\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("x,z\na,b\n", encoding="utf-8")
    refused(r"b.csv: columns differ from those of .*a.csv \(y, z\); expected the same", pn.scan_data, tmp_path)
    scope = [pn.Variable("x", ("a",)), pn.Variable("y", ("b",))]
    refused(r"b.csv: no column 'y' \(x, z\)", pn.scan_data, tmp_path, scope)
    refused("no .csv or .parquet file there", pn.scan_data, tmp_path / "*.nothing")
    refused("no .csv or .parquet file there", pn.scan_data, [])
    refused("none.csv: no such file; check the name", pn.scan_data, tmp_path / "none.csv")
    (tmp_path / "b.csv").write_text("x,y\na,c\nA,c\n", encoding="utf-8")
    assert [v.states for v in pn.scan_data(tmp_path).variables] == [("A", "a"), ("b", "c")]
    stream = pn.scan_data(tmp_path, variables=[pn.Variable("x", ("a",))])
    refused(r"b.csv, row 2, column 'x': 'A' is not a state \(a\); did you mean 'a'", list, stream)


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
    refused("expected a possnet.Dataset or a stream of them", pn.write_data, frame, path)
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


def test_names_that_look_like_something_else_survive(tmp_path: Path) -> None:
    for name in ("__index_level_0__", "\ufeffx", "a.list.element"):
        data = pn.Dataset.from_rows((pn.Variable(name, ("x", "y")), pn.Variable("a", ("x", "y"))), [("x", {"x", "y"})])
        for file in LAYOUTS:
            assert read_layout(write_layout(data, tmp_path / file), data) == data


@pytest.mark.parametrize("name", ["x" * 300 + ".parquet", "x" * 300 + ".csv", "a\0.parquet", "a\0.csv"])
def test_names_that_no_file_can_have_are_refused(name: str) -> None:
    for reader in (pn.read_data, pn.scan_data):
        with pytest.raises(pn.InputError):
            reader(name)


def test_a_file_that_is_gone_when_its_turn_comes(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\na\n", encoding="utf-8")
    stream = pn.scan_data(tmp_path / "a.csv", variables=[pn.Variable("x", ("a",))])
    (tmp_path / "a.csv").unlink()
    refused("a.csv: no such file; check the name", list, stream)


@given(st.binary(max_size=200))
def test_random_bytes_never_escape_as_another_error(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, prefix in (("a.csv", b""), ("b.csv", b"fever,rash\n"), ("a.parquet", b"")):
            path = Path(folder) / name
            path.write_bytes(prefix + content)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", pn.PossnetWarning)
                try:
                    pn.read_data(path)
                except pn.InputError as error:
                    assert str(path) in str(error)


def test_weights_in_files(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,n\na,3\nb, 1\n", encoding="utf-8")
    data = pn.read_data(path, weights="n")
    assert data.weights is not None
    assert data.weights.tolist() == [3, 1]
    refused(r"no weight column 'm' \(x, n\)", pn.read_data, path, weights="m")
    path.write_text("x,n\na,3\nb,many\n", encoding="utf-8")
    refused("row 2, weight column 'n': 'many'; expected a number from 0 to", pn.read_data, path, weights="n")
    path.write_text("x,n\n" + f"a,{10**18 - 1}\n" * 5, encoding="utf-8")
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
    (tmp_path / "bad.csv").write_text("fever,rash\nmild,no\nhihg,no\n", encoding="utf-8")
    stream = pn.scan_data([tmp_path / f"source-{name}", tmp_path / "bad.csv"], variables=DATA)
    refused("'hihg' is not a state", pn.write_data, stream, tmp_path / name)
    assert (tmp_path / name).read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([name, f"source-{name}", "bad.csv"])


def test_plain_columns_are_carried_to_files_of_any_number_of_rows(tmp_path: Path) -> None:
    note = pa.array(["p", "q", "r"])
    for rows in (0, 3):
        pq.write_table(pa.table({"note": note[:rows], "rash": ["yes", "no", "no"][:rows]}), tmp_path / "in.parquet")
        for name in LAYOUTS:
            data = pn.read_data(tmp_path / "in.parquet", variables=[RASH])
            path = write_layout(data, tmp_path / name, plain=plain_columns(tmp_path / "in.parquet", ["note"]))
            assert len(pn.read_data(path, variables=[RASH])) == rows
            read_back = arrow_csv.read_csv if name == "data.csv" else pq.read_table
            assert read_back(path).column_names == ["note", "rash"]
            assert read_back(path).column("note").to_pylist() == note[:rows].to_pylist()


def test_columns_that_cannot_be_carried_along_are_named(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"note": [1], "rash": ["yes"]}), tmp_path / "in" / "a.parquet")
    pq.write_table(pa.table({"note": ["p"], "rash": ["no"]}), tmp_path / "in" / "b.parquet")
    stream = pn.scan_data(tmp_path / "in", variables=[RASH])
    path = write_layout(stream, tmp_path / "data.parquet")
    with pytest.raises(pn.InputError, match=r"note cannot be carried along .*; expected columns of one type in all"):
        write_layout(stream, path, plain=plain_columns(tmp_path / "in", ["note"]))
    pn.write_data(DATA, tmp_path / "own.parquet")
    with pytest.raises(pn.InputError, match=r"own.parquet: possnet's own file, .*; expected columns of plain values"):
        plain_columns(tmp_path / "own.parquet", ["rash"])
    with pytest.raises(pn.InputError, match=r"fewer rows than are written; expected a file that nobody changes"):
        write_layout(pn.Dataset.concatenate([DATA] * 2), path, plain=plain_columns(tmp_path / "in", ["note"]))
    assert pn.read_data(path).variables == (RASH,)
    write_layout(stream, tmp_path / "data.csv", plain=plain_columns(tmp_path / "in", ["note"]))
    assert (tmp_path / "data.csv").read_text(encoding="utf-8") == "note,rash\n1,yes\np,no\n"


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "iterdir", mock.Mock(side_effect=PermissionError(13, "Permission denied")))
    refused("permission denied; expected a file that can be opened", pn.scan_data, tmp_path)
