"""Files that possnet writes, as pyAgrum and pgmpy read them: tests/fixtures/written_networks.json has what they read."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet.io.kept_degrees import IDENTIFIER, make_labels
from tests.paths import ROOT

RECORDED = json.loads((ROOT / "tests" / "fixtures" / "written_networks.json").read_text(encoding="utf-8"))
UNREADABLE = {("named.bif", "pyagrum"), ("named.net", "pgmpy")}  # names in quotes; quoted states with blanks
READINGS = [
    (file, peer) for file, peers in RECORDED["files"].items() for peer in peers if (file, peer) not in UNREADABLE
]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, pn.Network], dict[str, Path]]:
    """The networks, and the files as they are written today."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import written_files  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    paths = written_files.write_files(tmp_path_factory.mktemp("written"))
    return written_files.make_networks(), {path.name: path for path in paths}


def test_the_files_are_those_that_were_read(written: tuple[dict[str, pn.Network], dict[str, Path]]) -> None:
    hashes = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in written[1].items()}
    assert hashes == RECORDED["sha256"], "written otherwise than when pyAgrum read them: make fixtures"
    assert {
        (file, peer) for file, peers in RECORDED["files"].items() for peer in peers if not peers[peer]
    } == UNREADABLE


@pytest.mark.parametrize(("file", "peer"), READINGS)
def test_other_libraries_read_what_was_written(
    written: tuple[dict[str, pn.Network], dict[str, Path]], file: str, peer: str
) -> None:
    network = written[0][file.partition(".")[0]]
    suffix = file.rpartition(".")[2]
    identifiers = suffix in {"net", "xdsl"}
    names = [v.name for v in network.variables]
    labels = dict(zip(names, make_labels(names, IDENTIFIER) if identifiers else names, strict=True))
    reading: dict[str, Any] = RECORDED["files"][file][peer]
    assert set(reading) == set(labels.values())
    for variable in network.variables:
        answer = reading[labels[variable.name]]
        states = make_labels(variable.states, IDENTIFIER) if suffix == "xdsl" else list(variable.states)
        assert answer["states"] == states
        parents = network.dag.parents(variable.name)
        assert answer["parents"] == sorted(labels[parent] for parent in parents)
        table = pn.to_probability(network.table(variable.name))
        if (
            suffix == "xdsl" and peer == "pyagrum"
        ):  # it takes the first parent for the fastest; GeNIe and pgmpy the last
            sizes = [len(network.variable(parent)) for parent in reversed(parents)]
            table = table.reshape(*sizes, -1).transpose(*reversed(range(len(parents))), -1)
        order = [*sorted(range(len(parents)), key=lambda k: labels[parents[k]]), len(parents)]
        np.testing.assert_allclose(answer["table"], table.transpose(order), rtol=0, atol=1e-7)
