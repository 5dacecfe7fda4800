"""Networks as JSON: exact round trips, and a sentence for every kind of bad file."""

from __future__ import annotations

import json
import re
import stat
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.io import example_names
from possnet.io.network_formats.json_network import decode_network, encode_network
from tests.refused import refused
from tests.strategies import names, networks

SCHEMA = json.loads(files("possnet").joinpath("io", "network.schema.json").read_text(encoding="utf-8"))
VALID = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)
YES_NO = ("yes", "no")

# Lauritzen and Spiegelhalter 1988, P(yes | ...), parents in the order of the bundled network, "yes" first.
ASIA_PROBABILITY_OF_YES: dict[str, Any] = {
    "asia": 0.01,
    "tub": [0.05, 0.01],
    "smoke": 0.5,
    "lung": [0.1, 0.01],
    "bronc": [0.6, 0.3],
    "either": [[1.0, 1.0], [1.0, 0.0]],
    "xray": [0.98, 0.05],
    "dysp": [[0.9, 0.8], [0.7, 0.1]],
}


@given(networks(max_variables=3), st.text(max_size=20), st.booleans())
def test_a_network_survives_json_to_the_last_bit(net: pn.Network, description: str, learned: bool) -> None:
    support = {v.name: np.full(net.table(v.name).shape[:-1], 3.5) for v in net.variables} if learned else None
    tables = {v.name: net.table(v.name) for v in net.variables}
    description = description.encode(errors="replace").decode()
    options: dict[str, Any] = {"conjunction": net.conjunction, "support": support}
    full = pn.Network(net.variables, net.dag, tables, name="n", description=description, **options)
    text = encode_network(full)
    back = decode_network(text.encode(), "n.json")
    assert back == full
    assert (back.name, back.description) == ("n", description)
    assert [v.name for v in back.variables] == [v.name for v in full.variables]
    VALID.validate(json.loads(text))


@given(networks(max_variables=3), st.integers(0, 2**32 - 1))
def test_bounds_survive_json_to_the_last_bit_as_version_3(net: pn.Network, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lower = {v.name: net.table(v.name) * rng.random(net.table(v.name).shape) for v in net.variables}
    upper = {v.name: np.maximum(net.table(v.name), rng.random(net.table(v.name).shape)) for v in net.variables}
    bounded = net.with_bounds(lower, upper)
    text = encode_network(bounded)
    document = json.loads(text)
    back = decode_network(text.encode(), "n.json")
    assert back == bounded
    assert back != net
    assert document["version"] == 3
    VALID.validate(document)
    del document["variables"][0]["upper"]
    assert not VALID.is_valid(document)
    assert json.loads(encode_network(net))["version"] == 1


@given(st.lists(names, min_size=2, max_size=2, unique=True), st.lists(names, min_size=1, max_size=3, unique=True))
def test_odd_names_survive_json(pair: list[str], states: list[str]) -> None:
    variables = [pn.Variable(name, tuple(states), ordered=True) for name in pair]
    first, second = pair
    size = len(states)
    tables = {first: np.ones(size), second: np.ones((size, size))}
    net = pn.Network(variables, pn.Dag({first: (), second: (first,)}), tables)
    assert decode_network(encode_network(net).encode(), "n") == net


def test_a_subnormal_network_survives_json(tmp_path: Path) -> None:
    rash = pn.Variable("rash", YES_NO)
    net = pn.Network.subnormal((rash,), pn.Dag({"rash": ()}), {"rash": [0.1 + 0.2, 5e-324]})
    pn.write_network(net, tmp_path / "n.json")
    assert pn.read_network(tmp_path / "n.json") == net
    VALID.validate(json.loads((tmp_path / "n.json").read_text(encoding="utf-8")))


def test_asia_is_the_published_network_transformed_with_optimal() -> None:
    asia = pn.load_example("asia")
    assert [v.name for v in asia.variables] == list(ASIA_PROBABILITY_OF_YES)
    assert {v.states for v in asia.variables} == {YES_NO}
    assert set(asia.dag.edges) == {
        ("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc"), ("lung", "either"), ("tub", "either"),
        ("either", "xray"), ("either", "dysp"), ("bronc", "dysp"),
    }  # fmt: skip
    for name, yes in ASIA_PROBABILITY_OF_YES.items():
        p = np.array(yes)
        expected = pn.to_possibility(np.stack([p, 1 - p], axis=-1))
        assert asia.table(name) == pytest.approx(expected, abs=1e-15)


def test_every_bundled_network_follows_the_schema_and_is_written_as_we_write() -> None:
    assert len(example_names()) >= 4
    assert {pn.load_example(name).conjunction.name for name in example_names()} == {"product", "min"}
    for name in example_names():
        text = files("possnet").joinpath("bundled", f"{name}.json").read_text(encoding="utf-8")
        VALID.validate(json.loads(text))
        assert encode_network(pn.load_example(name)) == text
        assert pn.load_example(name).name == name


RASH: dict[str, Any] = {"name": "rash", "states": ["yes", "no"], "parents": [], "degrees": [1, 0.5]}


def page(**changes: object) -> dict[str, Any]:
    whole = {"format": "possnet-network", "version": 1, "conjunction": "product", "variables": [RASH]}
    return whole | changes


def variable(**changes: object) -> dict[str, Any]:
    entry = RASH | changes
    return page(variables=[{key: value for key, value in entry.items() if value is not None}])


BAD_PAGES: list[tuple[Any, str]] = [
    ([], "holds one list; expected an object with 'format' and 'variables'"),
    ({}, 'no format; expected "format": "possnet-network". Is this a network of possnet?'),
    (page(format="other"), "format 'other'; expected"),
    (page(version=7), "version 7 of possnet-network; this possnet reads versions 1 to 6; update possnet"),
    (page(version="1"), "version '1' of possnet-network; this possnet reads versions 1 to 6; check the file"),
    (page(version=0), "version 0 of possnet-network; this possnet reads versions 1 to 6; check the file"),
    (page(version=True), "version True"),
    (page(conjunction="mni"), "conjunction 'mni'; expected product, min; did you mean 'min'?"),
    (page(variables=3), "variables: expected array, got int; see the JSON Schema"),
    (page(extra=3), "object contains unknown field extra; see the JSON Schema"),
    (variable(name=3), "variables[0].name: expected str, got int"),
    (variable(states=None), "variables[0]: object missing required field states"),
    (variable(states=[]), "variable 'rash': no states"),
    (variable(degrees=[1]), "table of 'rash' with axes (rash): degrees have shape (1,); expected (2,)"),
    (variable(degrees=[1, [0.5]]), "degrees are not a rectangular array of numbers"),
    (variable(degrees=[1, "x"]), "degrees are not a rectangular array of numbers"),
    (variable(degrees=[1, None]), "degrees are not a rectangular array of numbers"),
    (variable(degrees=[0.5, 0.5]), "table of 'rash' peaks at 0.5; expected 1"),
    (variable(degrees=[1, -1]), "degree -1 at position 1"),
    (variable(parents=["rsah"]), "'rsah', a parent of 'rash', is not a node; did you mean 'rash'?"),
    (variable(parents=["rash"]), "cycle rash -> rash"),
    (variable(support=[1, 2]), "support of 'rash': found shape (2,); expected shape ()"),
    (variable(lower=[1, 0]), "no upper bound for rash; expected one for every variable"),
    (variable(lower=[1, 0.6], upper=[1, 1]), "lower bound of 'rash' at position 1: 0.6, and the table has 0.5 there"),
    (variable(lower=[1, 0], upper=[1, 0.4]), "upper bound of 'rash' at position 1: 0.4, and the table has 0.5 there"),
    (variable(lower=[1], upper=[1, 1]), "lower bound of 'rash': degrees have shape (1,); expected (2,)"),
    (variable(lower=[1, -1], upper=[1, 1]), "lower bound of 'rash': degree -1 at position 1"),
    (page(variables=page()["variables"] * 2), "two variables have the same name"),
]


@pytest.mark.parametrize(("document", "message"), BAD_PAGES)
def test_a_wrong_document_is_refused_with_a_sentence(document: object, message: str) -> None:
    assert refused(re.escape(message), decode_network, json.dumps(document).encode(), "bad.json").startswith(
        "bad.json: "
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "bad.json: the file is empty; expected a network as JSON"),
        (b" \n ", "bad.json: the file is empty; expected a network as JSON"),
        (b'{\n  "format": ?', "bad.json, line 2, column 13: invalid character; expected JSON"),
        (b'{"format"', "bad.json, line 1, column 10: the file ends too early; expected the rest of the JSON"),
        (b'{"format": NaN}', "bad.json, line 1, column 12: invalid character; expected JSON"),
        (b'{} {}', "bad.json, line 1, column 5: trailing characters; expected JSON"),
        (b'\x89PNG\x00\xff', "bad.json, line 1, column 1: invalid character; expected JSON"),
        (b'{"a": "\xff"}', "bad.json, line 1, column 8: not UTF-8 text; expected a network as JSON"),
        (b'{"a": "\\n\xff"}', "bad.json, line 1, column 10: not UTF-8 text; expected a network as JSON"),
        (b"[" * 100_000, "bad.json: nested too deeply; expected a network as JSON"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_refused_with_its_place(content: bytes, message: str) -> None:
    assert refused(re.escape(message), decode_network, content, "bad.json").startswith(message)


def test_files_that_cannot_be_opened_are_named(tmp_path: Path) -> None:
    bad: list[tuple[str | Path, str]] = [
        (tmp_path / "none.json", "no such file; check the name"),
        (tmp_path / "none.txt", "unknown suffix '.txt'"),
        ("\0.json", "expected a path"),
    ]
    for path, message in bad:
        refused(message, pn.read_network, path)
    (tmp_path / "folder.json").mkdir()
    refused("a folder; expected a file", pn.read_network, tmp_path / "folder.json")
    asia = pn.load_example("asia")
    refused(
        "the folder .*nowhere does not exist; make it first", pn.write_network, asia, tmp_path / "nowhere" / "n.json"
    )
    refused("a folder; expected a file", pn.write_network, asia, tmp_path / "folder.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.json"]


def test_writing_replaces_the_file_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "n.json"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o640)
    pn.write_network(pn.load_example("asia"), target)
    assert pn.read_network(target) == pn.load_example("asia")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "n.json"
    target.write_text("old", encoding="utf-8")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pn.write_network(pn.load_example("asia"), target)
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]
