"""Registries of file formats: one added from outside is read, written, sniffed and named like those of possnet."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import possnet as pn
from possnet.io import (
    DATA_FORMATS,
    NETWORK_FORMATS,
    DataFormat,
    DataSource,
    NetworkFormat,
    column_names,
    guess_suffix,
    known_suffixes,
    plain_columns,
    sniff_kind,
    write_long_form,
)
from tests.commands import run
from tests.refused import refused

RASH = pn.Variable("rash", ("yes", "no"))
FEVER = pn.Variable("fever", ("none", "mild", "high"))
NET = pn.Network((RASH, FEVER), pn.Dag({"rash": (), "fever": ()}), {"rash": [1, 0.5], "fever": [0.25, 1, 1]})
DATA = pn.Dataset.from_rows((RASH, FEVER), [("yes", {"mild", "high"}), (None, "none"), ("no", None)])


def decode_line(content: bytes, path: Path, transform: object) -> pn.Network:
    """A network without edges, as one line: ``toy rash yes=1 no=0.5; fever none=1 high=0.25``."""
    del transform
    tables = {}
    for part in content.decode().removeprefix("toy ").strip().split(";"):
        name, *entries = part.split()
        tables[name] = {state: float(degree) for state, degree in (entry.split("=") for entry in entries)}
    variables = [pn.Variable(name, tuple(table)) for name, table in tables.items()]
    degrees = {name: list(table.values()) for name, table in tables.items()}
    return pn.Network(variables, pn.Dag(dict.fromkeys(tables, ())), degrees, name=path.stem)


def write_line(network: pn.Network, path: Path, *, digits: int = 6) -> None:
    parts = []
    for variable in network.variables:
        degrees = zip(variable.states, network.table(variable.name).tolist(), strict=True)
        parts.append(" ".join([variable.name, *(f"{state}={degree:.{digits}g}" for state, degree in degrees)]))
    path.write_text("toy " + "; ".join(parts) + "\n", encoding="utf-8")


class JsonLines(DataSource):
    """A JSON object a row: a state, a list of states, or null."""

    def __init__(self, path: Path, weight_column: str | None) -> None:
        super().__init__(path, weight_column)
        self._objects = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        self.header = list(self._objects[0])
        self.require_weights()

    def read_tables(self, names: Sequence[str]) -> Iterator[Any]:
        yield pa.table({name: [row[name] for row in self._objects] for name in names})


def write_json_lines(
    batches: Iterable[pn.Dataset], path: Path, variables: Sequence[pn.Variable], weight_column: str | None
) -> None:
    with path.open("w", encoding="utf-8") as out:
        for batch in batches:
            for number in range(len(batch)):
                row = batch.row(number)
                listed: dict[str, object] = {
                    v.name: None if batch.missing(v.name)[number] else [s for s in v.states if s in row[v.name]]
                    for v in variables
                }
                if weight_column and batch.weights is not None:
                    listed[weight_column] = int(batch.weights[number])
                print(json.dumps(listed), file=out)


TOY_NETWORK = NetworkFormat(
    name="toy",
    label="toy line",
    suffixes=(".toy",),
    sniff=lambda head: head.startswith(b"toy "),
    options=("digits",),
    decode=decode_line,
    write=write_line,
)
TOY_DATA = DataFormat(
    name="json-lines",
    label="JSON lines",
    suffixes=(".jsonl", ".ndjson"),
    sniff=lambda head: head.startswith(b"{") and b"}\n{" in head,
    open=JsonLines,
    write=write_json_lines,
)


@pytest.fixture
def toy_formats() -> Iterator[None]:
    NETWORK_FORMATS.register(TOY_NETWORK)
    DATA_FORMATS.register(TOY_DATA)
    yield
    NETWORK_FORMATS.unregister("toy")
    DATA_FORMATS.unregister("json-lines")


@pytest.mark.usefixtures("toy_formats")
def test_a_network_format_from_outside_is_read_written_and_named(tmp_path: Path) -> None:
    path = tmp_path / "net.toy"
    pn.write_network(NET, path)
    assert path.read_text(encoding="utf-8") == "toy rash yes=1 no=0.5; fever none=0.25 mild=1 high=1\n"
    assert pn.read_network(path) == NET
    (tmp_path / "net.toy.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert pn.read_network(tmp_path / "net.toy.gz") == NET
    pn.write_network(NET.with_table("rash", [1, 1 / 3]), path, digits=2)
    assert pn.read_network(path).table("rash").tolist() == [1, 0.33]
    refused(
        r"unknown suffix '.txt'; expected .json, .net, .uai, .*\.xml.* or \.toy \(gzipped too: \.gz\)$",
        pn.read_network,
        tmp_path / "net.txt",
    )
    refused(r"expected .json, .net.* or .toy$", pn.write_network, NET, tmp_path / "net.txt")
    refused("option 'digit'; expected .*did you mean 'digits'", pn.write_network, NET, path, digit=2)
    nameless = tmp_path / "net"
    nameless.write_bytes(path.read_bytes())
    assert sniff_kind(str(nameless)) == "network"
    assert guess_suffix(path.read_bytes(), DATA_FORMATS) == ".toy"


@pytest.mark.usefixtures("toy_formats")
def test_a_data_format_from_outside_is_read_written_and_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    pn.write_data(DATA, path)
    assert path.read_text(encoding="utf-8").splitlines()[1] == '{"rash": null, "fever": ["none"]}'
    assert pn.read_data(path, variables=DATA) == DATA
    assert [v.states for v in pn.read_data(path).variables] == [("no", "yes"), ("high", "mild", "none")]
    assert column_names(path) == ("rash", "fever")
    pn.write_data(DATA, tmp_path / "rows.csv", separator="|")
    stream = pn.scan_data([path, tmp_path / "rows.csv"], variables=DATA)
    assert pn.Dataset.concatenate(stream) == pn.Dataset.concatenate([DATA, DATA])
    assert pn.scan_data(tmp_path, variables=DATA).variables == DATA.variables
    assert sniff_kind(str(tmp_path)) == sniff_kind(str(path)) == "data"
    assert guess_suffix(path.read_bytes(), NETWORK_FORMATS) == ".jsonl"
    refused(r"unknown suffix '.xls'; expected .csv, .parquet, .jsonl or .ndjson", pn.read_data, tmp_path / "a.xls")
    refused(r"no .csv, .parquet, .jsonl or .ndjson file there", pn.scan_data, tmp_path / "*.nothing")
    refused("option 'seperator'; expected .*did you mean 'separator'", pn.read_data, path, seperator="|")


@pytest.mark.usefixtures("toy_formats")
def test_weights_measurements_and_wrong_cells_need_nothing_of_a_data_format(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    weighted = pn.Dataset.from_rows((RASH,), [("yes",), (None,)], weights=[2, 3])
    pn.write_data(weighted, path)
    assert pn.read_data(path, variables=(RASH,), weights="weight") == weighted
    refused(r"no weight column 'wieght' \(rash, weight\)", pn.read_data, path, weights="wieght")
    refused("row 1, column 'rash': 'yes' is not a state", pn.read_data, path, [pn.Variable("rash", ("ja", "nein"))])
    path.write_text('{"temp": 36.5, "rash": "no"}\n{"temp": 39.5, "rash": "yes"}\n', encoding="utf-8")
    data = pn.read_data(path, binnings={"temp": pn.Binning([37.5, 38.5])})
    assert [data.row(k)["temp"] for k in range(2)] == [{"<37.5"}, {">=38.5"}]


@pytest.mark.usefixtures("toy_formats")
def test_what_a_data_format_cannot_do_is_refused_with_those_that_can(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("note,rash\nx,yes\n", encoding="utf-8")
    data = pn.read_data(tmp_path / "rows.csv", variables=[RASH])
    plain = plain_columns(tmp_path / "rows.csv", ["note"])
    refused(r"'.jsonl'; expected .csv or .parquet", pn.write_data, data, tmp_path / "rows.jsonl", plain=plain)
    asia = pn.load_example("asia")
    completion = pn.complete(asia, pn.Dataset.from_rows([asia.variable("lung")], [(None,)]))
    refused(r"'.jsonl'; expected .csv or .parquet", write_long_form, completion, tmp_path / "long.jsonl")


@pytest.mark.usefixtures("toy_formats")
def test_the_command_line_converts_shows_and_names_formats_from_outside(tmp_path: Path) -> None:
    net, rows = tmp_path / "net.toy", tmp_path / "rows.jsonl"
    pn.write_network(NET, tmp_path / "net.json")
    pn.write_data(DATA, tmp_path / "rows.csv")
    assert run("convert", tmp_path / "net.json", net).returncode == 0
    assert pn.read_network(net) == NET
    assert run("convert", net, tmp_path / "again.json").returncode == 0
    assert pn.read_network(tmp_path / "again.json") == NET
    assert run("convert", tmp_path / "rows.csv", rows, "--variables", net).returncode == 0
    assert pn.read_data(rows, variables=DATA) == DATA
    assert run("convert", rows, tmp_path / "again.csv", "--variables", net).returncode == 0
    assert (tmp_path / "again.csv").read_text(encoding="utf-8") == (tmp_path / "rows.csv").read_text(encoding="utf-8")
    assert json.loads(run("info", net, "--json").stdout)["kind"] == "network"
    assert json.loads(run("info", rows, "--json").stdout)["rows"] == 3
    assert json.loads(run("info", "-", "--json", given=net.read_bytes()).stdout)["variables"].keys() == {
        "rash",
        "fever",
    }
    assert json.loads(run("info", "-", "--json", given=rows.read_bytes()).stdout)["rows"] == 3
    assert run("query", "-", "rash", given=net.read_bytes()).returncode == 0
    assert re.search("expected .json, .net.* or .toy, or -", run("convert", net, tmp_path / "net.txt").stderr)
    assert "expected .csv, .parquet, .jsonl or .ndjson, or -" in run("convert", rows, tmp_path / "rows.txt").stderr
    assert "would be data; expected the same kind" in run("convert", net, rows).stderr
    assert run("complete", net, rows, "--keep", "fever", "--out", rows).returncode == 1
    shown = " ".join(run("convert", "--help").stdout.split())
    assert re.search(r"\.xml.* or \.toy \(gzipped too: \.gz\) to \.json, \.net.* or \.toy\.", shown)
    assert "Data: from .csv, .parquet, .jsonl or .ndjson to" in shown


def test_every_format_has_suffixes_of_its_own_and_knows_what_it_writes(tmp_path: Path) -> None:
    for suffixes in (known_suffixes(NETWORK_FORMATS), known_suffixes(DATA_FORMATS)):
        assert len(set(suffixes)) == len(suffixes)
        assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in suffixes)
    for network_format in NETWORK_FORMATS.values():
        if network_format.write is not None:
            path = tmp_path / f"net{network_format.suffixes[0]}"
            if network_format.needs_transform:
                refused("name the transformation", pn.write_network, NET, path)
            pn.write_network(NET, path, transform="ratio")
            if network_format.decode is None:
                refused("unknown suffix", pn.read_network, path)
                continue
            assert network_format.sniff(path.read_bytes()[:4096])
            assert pn.read_network(path, transform="ratio") == NET
            assert (network_format.names_file is not None) == (len(list(tmp_path.glob("*names*"))) == 1)
            for other in tmp_path.iterdir():
                other.unlink()
    for data_format in DATA_FORMATS.values():
        if data_format.write is not None:
            path = tmp_path / f"rows{data_format.suffixes[0]}"
            pn.write_data(DATA, path)
            assert data_format.sniff(path.read_bytes()[:4096])
            assert data_format.declares_domains == (pn.read_data(path).variables == DATA.variables)


def test_listing_the_formats_loads_neither_pyarrow_nor_msgspec() -> None:
    script = (
        "import sys; from possnet.io import DATA_FORMATS, NETWORK_FORMATS;"
        "assert len(DATA_FORMATS) >= 2 and len(NETWORK_FORMATS) >= 4;"
        "print(sorted({'pyarrow', 'msgspec', 'pandas'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
