"""Objects, files and graphs of pgmpy, pyAgrum and networkx as these libraries have them: tests/fixtures/other_libraries.json.

``benchmarks/other_libraries.py`` records what the libraries' own objects say, what the libraries answer by names, the files
that they write, and that the pages about them ran. Here the same is said again by stand-ins, and compared with the answers.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import possnet as pn
from tests.io.other_networks import FakeCpd, FakePgmpy, FakePyagrum, FakeTensor, FakeVariable
from tests.paths import ROOT

RECORDED: dict[str, Any] = json.loads(
    (ROOT / "tests" / "fixtures" / "other_libraries.json").read_text(encoding="utf-8")
)
MAY_DIFFER = 1e-6  # some writers have six digits


def require_meaning(network: pn.Network, meant: dict[str, list[dict[str, Any]]], atol: float = 1e-12) -> None:
    """Degrees, by ratios, are those of the probabilities that a library gives for named states."""
    assert {variable.name for variable in network.variables} == set(meant)
    for child, entries in meant.items():
        parents = network.dag.parents(child)
        assert {*parents, child} == set(entries[0]["states"])
        table = np.full(network.table(child).shape, np.nan)
        for entry in entries:
            place = [network.variable(name).index(entry["states"][name]) for name in (*parents, child)]
            table[tuple(place)] = entry["probability"]
        np.testing.assert_allclose(
            network.table(child), table / table.max(axis=-1, keepdims=True), rtol=0, atol=atol, err_msg=child
        )


def replay(library: str, given: dict[str, Any]) -> Any:
    """An object that says what the library's own said."""
    if library == "pgmpy":
        return FakePgmpy(
            {node: FakeCpd(page["variables"], page["values"], page["states"]) for node, page in given.items()}
        )
    variables = [FakeVariable(name, tuple(page["labels"]), page["numerical"]) for name, page in given.items()]
    return FakePyagrum(variables, [FakeTensor(tuple(page["names"]), page["list"]) for page in given.values()])


CONVERT: dict[str, Callable[..., pn.Network]] = {"pgmpy": pn.from_pgmpy, "pyagrum": pn.from_pyagrum}


@pytest.mark.parametrize("name", RECORDED["objects"])
def test_a_network_means_what_its_library_says(name: str) -> None:
    page, library = RECORDED["objects"][name], name.split(maxsplit=1)[0]
    network = CONVERT[library](replay(library, page["given"]), transform="ratio")
    require_meaning(network, page["meant"])
    assert [variable.name for variable in network.variables if variable.ordered] == page["ordered"]
    for child, table in page["tables"].items():  # as it came out of the library's own object
        np.testing.assert_allclose(network.table(child), table, rtol=0, atol=1e-15)


def test_numbers_of_pyagrum_are_ordered_and_its_noisy_gates_are_tables() -> None:
    assert RECORDED["objects"]["pyagrum kinds"]["ordered"] == ["count", "level", "code"]
    ill = RECORDED["objects"]["pyagrum noisy"]["meant"]["ill"]
    well = {tuple(sorted(e["states"].items())): e["probability"] for e in ill if e["states"]["ill"] == "no"}
    keeps = {"a": 1 - 0.3, "b": 1 - 0.5, "c": 1 - 0.8}  # the probability that a cause alone, beside the leak, lets go
    for states, probability in well.items():
        present = [keeps[name] / 0.9 for name, state in states if name in keeps and state == "yes"]
        assert probability == pytest.approx(0.9 * np.prod(present))


@pytest.mark.parametrize("name", [name for name in RECORDED["files"] if not name.endswith(".uai")])
def test_a_file_means_what_its_library_meant(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(RECORDED["files"][name], encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        network = pn.read_network(tmp_path / name, transform="ratio")
    require_meaning(network, RECORDED["objects"][f"{name.split('.', maxsplit=1)[0]} alarm"]["meant"], atol=MAY_DIFFER)
    assert bool(caught) == (name == "pyagrum.xdsl")  # its order of parents, which is told


def test_uai_files_of_pyagrum_are_refused_for_they_would_be_read_wrongly(tmp_path: Path) -> None:
    path = tmp_path / "pyagrum.uai"
    path.write_text(RECORDED["files"]["pyagrum.uai"], encoding="utf-8")
    with pytest.raises(pn.InputError, match="'#' for the number of variables"):
        pn.read_network(path)
    path.write_text(re.sub(r"#.*", "", RECORDED["files"]["pyagrum.uai"]), encoding="utf-8")
    network = pn.read_network(path, transform="ratio")  # as UAI has it, the last variable but the child is the fastest
    by_name = {
        (entry["states"]["burglary"], entry["states"]["quake"]): entry["probability"]
        for entry in RECORDED["objects"]["pyagrum alarm"]["meant"]["alarm"]
        if entry["states"]["alarm"] == "on"
    }
    wide = max((v.name for v in network.variables), key=lambda name: network.table(name).ndim)
    table = network.table(wide)
    second = table[0, 1, 0] / table[0, 1].sum()
    assert second == pytest.approx(by_name["no", "none"], abs=MAY_DIFFER)
    assert second != pytest.approx(by_name["yes", "small"], abs=0.1)


def test_what_is_no_bayesian_network_was_refused_by_name() -> None:
    refused = RECORDED["refused"]
    assert len(refused) == 9
    for name, sentence in refused.items():
        assert re.match(rf"from_{name.split()[0]}: .*; expected ", sentence), sentence


@pytest.mark.parametrize("name", RECORDED["graphs"])
def test_networkx_computes_on_our_graphs_what_we_compute(name: str) -> None:
    page, dag = RECORDED["graphs"][name], pn.load_example(name).dag
    assert sorted(map(tuple, page["edges"])) == sorted(dag.edges)
    assert {node: sorted(dag.ancestors(node)) for node in dag.nodes} == page["ancestors"]
    assert sorted(map(sorted, dag.moral_graph().edges)) == page["moral"]
    place = {node: k for k, node in enumerate(page["order"])}
    assert all(place[parent] < place[child] for parent, child in dag.edges)
    separated = [
        [a, b, list(given)]
        for k, a in enumerate(dag.nodes)
        for b in dag.nodes[k + 1 :]
        for given in [(), *((c,) for c in dag.nodes if c not in {a, b})]
        if dag.d_separated(a, b, given)
    ]
    assert sorted(separated) == sorted(page["separated"])


def test_the_pages_are_those_that_ran_with_the_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import other_libraries  # type: ignore[import-not-found]

    for name, page in RECORDED["pages"].items():
        text = (ROOT / "docs" / "howto" / name).read_text(encoding="utf-8")
        assert other_libraries.digest_examples(text) == page["sha256"], (
            f"{name}: run benchmarks/other_libraries.py anew"
        )
        assert page["examples"] == len(re.findall(r"^>>> ", text, re.MULTILINE))
    skipped = {
        path.name
        for path in (ROOT / "docs").rglob("*.md")
        if "_build" not in path.parts and "doctest: +SKIP" in path.read_text(encoding="utf-8")
    }
    assert skipped <= set(RECORDED["pages"])
