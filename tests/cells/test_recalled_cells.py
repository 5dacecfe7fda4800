"""A network remembers how the cells that it was learned from are written, and further tables are read alike."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import possnet as pn
from possnet.cells import CellOptions
from possnet.io.network_formats.json_network import decode_network, encode_network
from possnet.variables import CellWriting
from tests.commands import run
from tests.io.test_json_network import SCHEMA
from tests.refused import refused
from tests.rows import rows_of

TABLE = 'age,job,sex\n"20,23","nurse,cook",f\n22,cook,m\n24,NA,f\n"21,24",nurse,f\n20,cook,m\n21,cook,m\n'
ASKED: dict[str, Any] = {"separator": ",", "cells": {"age": "range"}, "unknown_words": ("NA",)}
OPTIONS = ("--separator", ",", "--cells", "age=range", "--unknown-words", "NA")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text(TABLE, encoding="utf-8")
    return file


@pytest.fixture
def learned(table: Path) -> pn.Network:
    data = pn.read_data(table, **ASKED)
    return pn.fit(pn.Dag({"age": (), "job": (), "sex": ("job",)}), data)


def test_a_table_is_read_for_a_network_as_the_table_that_it_was_learned_from(table: Path, learned: pn.Network) -> None:
    again = decode_network(encode_network(learned).encode(), "net.json")
    data = pn.read_data(table, again)
    assert data == pn.read_data(table, again, **ASKED)
    assert data.row(0)["age"] == {"20", "21", "22", "23"}
    assert data.row(0)["job"] == {"cook", "nurse"}
    assert data.missing("job").tolist() == [False, False, True, False, False, False]
    frame = {"age": ["20,23", "24"], "job": ["nurse,cook", "NA"], "sex": ["f", "f"]}
    assert pn.Dataset.from_table(frame, again).row(0) == data.row(0)


def test_the_network_as_json_says_how_cells_are_written_and_follows_the_schema(learned: pn.Network) -> None:
    document = json.loads(encode_network(learned))
    jsonschema.validate(document, SCHEMA)
    assert document["version"] == 6
    assert document["variables"][0]["cells"] == {"reading": "range", "separator": ",", "unknown_words": ["NA"]}
    assert document["variables"][1]["cells"] == {"separator": ",", "unknown_words": ["NA"]}
    document["variables"][0]["cells"]["reading"] = "ranges"
    refused("cells of 'age': cells 'ranges'.*did you mean 'range'", decode_network, json.dumps(document).encode(), "n")
    document["variables"][0]["cells"] = {"reading": "range", "separator": "?"}
    refused("cells of 'age': separator", decode_network, json.dumps(document).encode(), "n")


def test_a_network_of_usual_cells_is_written_as_before(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("x,y\na|b,c\nb,d\n", encoding="utf-8")
    data = pn.read_data(file)
    assert [variable.cells for variable in data.variables] == [None, None]
    assert json.loads(encode_network(pn.fit(pn.Dag({"x": (), "y": ()}), data)))["version"] == 1


def test_options_win_over_what_is_remembered(table: Path, learned: pn.Network) -> None:
    with pytest.warns(pn.PossnetWarning, match=r"'20,23' is read as the set of 20, 23.*--cells 'age=range'"):
        data = pn.Dataset.from_table(
            {"age": ["20,23"]}, [pn.Variable("age", learned.variable("age").states, ordered=True)]
        )
    assert data.row(0)["age"] == {"20", "23"}
    asked = pn.read_data(table, learned, cells={"age": "auto"})
    assert asked.row(0)["age"] == {"20", "23"}
    assert asked.missing("job")[2]


def test_tables_that_possnet_writes_are_read_for_the_network_as_they_were_written(
    tmp_path: Path, learned: pn.Network
) -> None:
    states = learned.variable("age").states
    data = pn.Dataset.from_rows(
        learned.variables, [({states[0], states[3]}, {"cook", "nurse"}, None), (None, "cook", "f")]
    )
    pn.write_data(data, tmp_path / "own.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error", pn.PossnetWarning)
        assert rows_of(pn.read_data(tmp_path / "own.csv", learned)) == rows_of(data)


def test_a_text_that_means_one_thing_there_and_another_here_is_told() -> None:
    age = pn.Variable("age", ("1", "2", "3"), ordered=True, cells=CellWriting("range"))
    with pytest.warns(pn.PossnetWarning, match=r"'1\|3' is read as the set of 1, 3; cells=\{'age': 'range'\}"):
        assert pn.Dataset.from_table({"age": ["1|3"]}, [age]).row(0)["age"] == {"1", "3"}
    own = pn.Variable("age", ("1", "2", "3"), ordered=True, cells=CellWriting("range", "|"))
    with pytest.warns(pn.PossnetWarning, match=r"'1\|3' is read as the set of 1, 2, 3; cells=\{'age': 'auto'\}"):
        assert pn.Dataset.from_table({"age": ["1|3"]}, [own]).row(0)["age"] == {"1", "2", "3"}


def test_readings_of_bins_are_spelled_as_remembered(tmp_path: Path) -> None:
    file = tmp_path / "ages.csv"
    file.write_text('age\n"20,23"\n35\n"28,33"\nNA\n', encoding="utf-8")
    asked: dict[str, Any] = {"cells": {"age": "range"}, "unknown_words": ("NA",)}
    data = pn.read_data(file, binnings={"age": pn.Binning([25, 30])}, **asked)
    network = pn.fit(pn.Dag({"age": ()}), data)
    again = decode_network(encode_network(network).encode(), "net.json")
    assert (
        rows_of(pn.read_data(file, again))
        == rows_of(data)
        == [({"<25"}, 1), ({">=30"}, 1), ({"25..30", ">=30"}, 1), (None, 1)]
    )
    frame = {"age": ["20,23", "35", "28,33", "NA", "<25|25..30"]}
    assert rows_of(pn.Dataset.from_table(frame, again)) == [*rows_of(data), ({"<25", "25..30"}, 1)]


@pytest.mark.parametrize("command", [("complete", "--out", "-"), ("score",), ("check",)])
def test_commands_need_the_options_once_and_tell_in_one_note_what_they_recall(
    table: Path, command: tuple[str, ...], learned: pn.Network, tmp_path: Path
) -> None:
    pn.write_network(learned, tmp_path / "net.json")
    name, *others = command
    told = run(name, tmp_path / "net.json", table, *others, *OPTIONS)
    recalled = run(name, tmp_path / "net.json", table, *others)
    assert recalled.returncode == told.returncode == 0, recalled.stderr
    assert re.sub(r"[\d.]+ s", "", recalled.stdout) == re.sub(r"[\d.]+ s", "", told.stdout)
    first, *rest = [line for line in recalled.stderr.splitlines() if line.startswith("Note: ")]
    assert "(age: range at ','; job, sex: at ','; unknown: NA)" in first
    assert not [line for line in rest if "cells are read" in line or "is read as" in line]


def test_columns_that_write_their_sets_alike_are_told_of_in_one_note_ranges_first() -> None:
    ages = [pn.Variable(name, ("1", "2", "3", "4"), ordered=True) for name in ("age", "dose")]
    jobs = [pn.Variable(name, ("a", "b")) for name in ("job", "task")]
    frame = {"job": ["a,b"], "age": ["1,3"], "task": ["b,a"], "dose": ["2,4"]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pn.Dataset.from_table(frame, [*jobs, *ages])
    ranges, plain = [str(warning.message) for warning in caught]
    assert "2 columns: texts such as '1,3', '2,4' are read as sets of states, not as ranges" in ranges
    assert "--cells 'age=range,dose=range'" in ranges
    assert "2 columns: texts such as 'a,b', 'b,a' are read as sets of states;" in plain


def test_a_variable_remembers_only_what_was_asked_for() -> None:
    rash = pn.Variable("rash", ("no", "yes"))
    assert CellOptions().remember_writing(rash).cells is None
    assert CellOptions(unknown_words=("NA",)).remember_writing(rash).cells == CellWriting(unknown_words=("NA",))
    assert CellOptions().remember_writing(rash) == CellOptions(",").remember_writing(rash)  # no part of its identity
    refused("variable 'rash': cells 'range'; expected CellWriting", pn.Variable, "rash", ("no",), cells="range")
    refused("cells .*; expected texts", CellWriting, 3)
