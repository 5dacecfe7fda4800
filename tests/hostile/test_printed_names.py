"""Names and states that hold escape sequences, line breaks and mark-up: no command prints or draws them raw."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import possnet as pn
from possnet.errors import escape_controls
from tests.commands import run

_ODD = {
    "red\x1b[31m": ("yes\x07", "no\r"),
    "line\nError: fake": ("a\u202eb", "[bold]c"),
    "<script>alert(1)</script>": ("</script>", "d\x9b2J"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a network and rows of odd names."""
    folder = tmp_path_factory.mktemp("odd")
    variables = [pn.Variable(name, states) for name, states in _ODD.items()]
    first, second, third = (v.name for v in variables)
    dag = pn.Dag({first: (), second: (first,), third: (second,)})
    tables: dict[str, Any] = {first: [1, 0.5], second: [[1, 0.25], [0.5, 1]], third: [[1, 0.5], [0.75, 1]]}
    network = pn.Network(variables, dag, tables, name="net\x1b]0;title\x07", description="about\x1b[2J")
    pn.write_network(network, folder / "net.json")
    pn.write_data(pn.sample(network, 40, imprecision=0.5, rng=1), folder / "rows.csv")
    return folder


def _commands(place: Path) -> dict[str, list[str]]:
    net, rows = str(place / "net.json"), str(place / "rows.csv")
    first, _, third = _ODD
    given = f"{first}=yes\x07"
    return {
        "info net": ["info", net],
        "info rows": ["info", rows],
        "query": ["query", net, third, "--given", given],
        "query why": ["query", net, third, "--given", given, "--why"],
        "score": ["score", net, rows],
        "compare": ["compare", net, net],
        "check": ["check", net, rows],
        "fit": ["fit", rows, "--structure", net, "--out", str(place / "fitted.json")],
        "learn": ["learn", rows, "--method", "greedy", "--measure", "random-set-bic", "--out", str(place / "l.json")],
        "complete": ["complete", net, rows, "--out", str(place / "completed.csv")],
        "sample": ["sample", net, "--rows", "5", "--out", str(place / "sampled\x1b[31m.csv")],
        "unknown variable": ["query", net, "red\x1b[31"],
        "unknown state": ["query", net, third, "--given", f"{first}=\x1b[31m"],
        "unknown file": ["info", "no\x1b[31m\n.csv"],
        "usage": ["convert", net, "out\x1b[31m.odd"],
    }


@pytest.mark.parametrize("name", list(_commands(Path())))
def test_a_command_prints_names_escaped(name: str, place: Path) -> None:
    arguments = _commands(place)[name]
    for extra in ([], ["--json"]):
        answer = run(*arguments, *extra)
        if not extra:
            assert answer.returncode == (1 if name.startswith(("unknown", "usage")) else 0), answer.stderr
        for line in (*answer.stdout.split("\n"), *answer.stderr.split("\n")):
            assert escape_controls(line) == line
        assert not re.search(r"(?m)^Error: fake", answer.stdout)
        if extra and answer.returncode == 0 and answer.stdout:
            json.loads(answer.stdout)


def test_rows_and_names_are_read_back_as_they_were(place: Path) -> None:
    network = pn.read_network(place / "net.json")
    assert [v.name for v in network.variables] == list(_ODD)
    assert set(pn.read_data(place / "rows.csv", network).variables) == set(network.variables)
    answer = run("info", place / "net.json", "--json")
    assert json.loads(answer.stdout)["name"] == network.name == "net\x1b]0;title\x07"


def test_drawings_and_notebooks_hold_no_mark_up_of_names_and_nothing_that_xml_forbids(place: Path) -> None:
    network = pn.read_network(place / "net.json")
    data = pn.read_data(place / "rows.csv", network)
    drawings = [
        pn.draw_network(network),
        pn.draw_difference(network, network),
        network.dag._repr_html_(),
    ]
    for drawing in drawings:
        ET.fromstring(str(drawing))  # noqa: S314 - our own text
    pages = [
        *map(str, drawings),
        data._repr_html_(),
        pn.plots.display_network(network),
        pn.compare(network, network)._repr_html_(),
    ]
    for page in pages:
        assert "<script>alert" not in page
        assert "</script>" not in page
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]", page)
