"""Networks and evidence as UAI files: round trips, potentials, and a sentence for every kind of bad file."""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.io import names_file
from possnet.io.network_formats.bif import decode_bif
from possnet.network import network_of_factors
from tests import oracles
from tests.io.small_bif import small_bif
from tests.paths import FIXTURES
from tests.refused import refused
from tests.strategies import networks


@given(networks(), st.sampled_from(["MARKOV", "BAYES"]))
def test_a_network_survives_uai_with_its_names(net: pn.Network, preamble: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.uai"
        if net.conjunction is pn.MIN:
            refused("a min-based network cannot be a UAI file, which multiplies", pn.write_network, net, path)
            return
        pn.write_network(net, path, preamble=preamble)
        assert path.read_text(encoding="utf-8").split()[0] == preamble
        assert pn.read_network(path) == net
        packed = Path(folder) / "net.uai.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        assert pn.read_network(packed) == net
        names_file(path).unlink()
        plain = pn.read_network(path)
        assert [v.name for v in plain.variables] == [f"v{k}" for k in range(len(net.variables))]
        assert [plain.table(v.name).tolist() for v in plain.variables] == [
            net.table(v.name).tolist() for v in net.variables
        ]


@given(networks(max_variables=4), st.integers(0, 2**32 - 1))
def test_any_potentials_become_a_network_with_their_joint(net: pn.Network, seed: int) -> None:
    rng = np.random.default_rng(seed)
    variables = net.variables
    factors = []
    for _ in range(rng.integers(1, 5)):
        scope = tuple(int(k) for k in rng.permutation(len(variables))[: rng.integers(1, len(variables) + 1)])
        values = (
            rng.random([len(variables[k]) for k in scope]) * 10 * (rng.random([len(variables[k]) for k in scope]) < 0.9)
        )
        factors.append((scope, values))
    place = {v.name: k for k, v in enumerate(variables)}

    def value(configuration: dict[str, str]) -> float:
        states = {place[n]: net.variable(n).index(s) for n, s in configuration.items()}
        return float(np.prod([values[tuple(states[k] for k in scope)] for scope, values in factors]))

    products = np.array([value(c) for c in oracles.configurations(net)])
    if products.max() == 0.0:
        refused("nothing is possible; expected a value above 0", network_of_factors, variables, factors)
        return
    built = network_of_factors(variables, factors)
    assert built.is_normalised
    joint = [built.joint(c) for c in oracles.configurations(net)]
    assert joint == pytest.approx(list(products / products.max()), abs=1e-12)


def test_uai_files_of_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "a.uai"
    path.write_text("BAYES\n2\n2 3\n2\n1 0\n2 0 1\n\n2\n .25 .75\n6\n .1 .2 .7\n .6 .3 .1\n", encoding="utf-8")
    net = pn.read_network(path, transform="ratio")
    same = decode_bif(small_bif(), "a", "ratio")
    assert net.table("v1").tolist() == same.table("fever").tolist()
    path.write_text("MARKOV 2 2 2 1 2 0 1 4 4 1 2 2", encoding="utf-8")
    net = pn.read_network(path)
    assert net.joint({"v0": "s0", "v1": "s0"}) == 1.0
    assert net.joint({"v0": "s0", "v1": "s1"}) == 0.25
    path.write_text("MARKOV 2 2 2 3 0 1 0 2 0 1 1 5 2 1 2 4 4 1 2 2", encoding="utf-8")
    assert pn.read_network(path).joint({"v0": "s1", "v1": "s1"}) == pytest.approx(1.0)
    (tmp_path / "a.uai.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert pn.read_network(tmp_path / "a.uai.gz") == pn.read_network(path)


BAD_UAI: list[tuple[str, str]] = [
    ("", "bad.uai: the file is empty; expected a UAI file"),
    ("hello", "bad.uai, line 1: 'HELLO'; expected MARKOV or BAYES"),
    ("MARKOV", "the file ends before the number of variables; expected the rest of the file"),
    ("MARKOV\nx", "bad.uai, line 2, column 1: 'x' for the number of variables; expected a whole number >= 1"),
    ("MARKOV\n0", "'0' for the number of variables; expected a whole number >= 1"),
    ("MARKOV\n1\n0\n0", "bad.uai, line 3, column 1: '0' for the number of states of variable 0; expected a whole number >= 1"),
    ("MARKOV\n999999999999", "999999999999 announced and the file ends before them"),
    ("MARKOV\n1\n2\n1\n1 1", "bad.uai, line 5, column 3: '1' for a variable of factor 0; expected a whole number from 0 to 0"),
    ("MARKOV\n2\n2 2\n1\n2 0 0\n4 1 1 1 1", "factor 0 names a variable twice; expected distinct variables"),
    ("MARKOV\n1\n2\n1\n1 0\n3\n1 1 1", "factor 0 has 3 entries; expected 2, the product of its numbers of states"),
    ("MARKOV\n1\n2\n1\n1 0\n2\n1 x", "bad.uai, line 7, column 3: 'x' in factor 0; expected a number >= 0"),
    ("MARKOV\n1\n2\n1\n1 0\n2\n1 -1", "'-1' in factor 0; expected a number >= 0"),
    ("MARKOV\n1\n2\n1\n1 0\n2\n1 nan", "'nan' in factor 0"),
    ("MARKOV\n1\n2\n1\n1 0\n2\n1", "2 announced and the file ends before them"),
    ("MARKOV\n1\n2\n1\n1 0\n2\n1 1 1", "bad.uai, line 7, column 5: something after the last factor; expected the end of the file"),
    ("MARKOV\n1\n2\n1\n1 0\n2\n0 0", "bad.uai: a factor is zero everywhere: nothing is possible; expected a value above 0"),
    ("MARKOV\n1\n2\n2\n1 0\n1 0\n2\n1 0\n2\n0 1", "factors around v0: nothing is possible"),
    ("MARKOV\n1\n2\n2\n0\n1 0\n1\n0\n2\n1 .5", "a factor is zero everywhere"),
    ("BAYES\n2\n2 2\n2\n1 0\n2 1 0\n2\n.2 .8\n4\n.1 .9 .4 .6", "some variable is not last in exactly one factor"),
    ("BAYES\n2\n2 2\n2\n2 1 0\n2 0 1\n4\n.2 .8 .5 .5\n4\n.1 .9 .4 .6", "bad.uai: dag: cycle v"),
    ("BAYES\n1\n2\n1\n1 0\n2\n.5 .2", "the probabilities of 'v0' add up to 0.7; expected 1"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD_UAI)
def test_a_bad_uai_is_refused_with_its_place(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bad.uai"
    path.write_text(content, encoding="utf-8")
    assert refused(re.escape(message), pn.read_network, path).startswith(str(path))


def test_factors_of_any_magnitude_make_the_same_network(tmp_path: Path) -> None:
    for first, second in (("1e200 5e199", "1e200 1e200"), ("1e-200 5e-201", "1e-200 1e-200")):
        (tmp_path / "a.uai").write_text(f"MARKOV 1 2 3 1 0 1 0 1 0 2 {first} 2 {second} 2 1 1", encoding="utf-8")
        assert pn.read_network(tmp_path / "a.uai").table("v0") == pytest.approx([1, 0.5])
    (tmp_path / "a.uai").write_text("MARKOV 1 2 3 1 0 1 0 1 0 2 1 1e-200 2 1 1e-200 2 1e-300 1", encoding="utf-8")
    assert pn.read_network(tmp_path / "a.uai").table("v0") == pytest.approx([1, 1e-100], rel=1e-9, abs=0)


def test_what_a_uai_file_cannot_say_is_refused(tmp_path: Path) -> None:
    rash = pn.Variable("rash", ("yes", "no"))
    low = pn.Network.subnormal((rash,), pn.Dag({"rash": ()}), {"rash": [0.5, 0.2]})
    refused("a subnormal network cannot be a UAI file", pn.write_network, low, tmp_path / "a.uai")
    asia = pn.load_example("asia")
    refused("preamble 'FOO'; expected MARKOV, BAYES", pn.write_network, asia, tmp_path / "a.uai", preamble="FOO")
    assert list(tmp_path.iterdir()) == []


def test_a_uai_file_may_not_announce_a_huge_table(tmp_path: Path) -> None:
    (tmp_path / "a.uai").write_text("MARKOV 1 999999999999 0", encoding="utf-8")
    with pytest.raises(pn.TooLarge, match="999,999,999,999 states in all"):
        pn.read_network(tmp_path / "a.uai")
    (tmp_path / "a.uai").write_text(
        "MARKOV 30 " + "100 " * 30 + "1 30 " + " ".join(map(str, range(30))) + " 1 1", encoding="utf-8"
    )
    with pytest.raises(pn.TooLarge, match="the table of 'factor 0'"):
        pn.read_network(tmp_path / "a.uai")


def test_side_files_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.uai"
    pn.write_network(pn.load_example("asia"), path)
    side = json.loads(names_file(path).read_text(encoding="utf-8"))
    for content, message in [
        (b"{", "no names in it .*; remove it to read the network without names"),
        (json.dumps(side | {"version": 9}).encode(), "possnet-uai-names 9; this possnet reads possnet-uai-names 1"),
        (
            json.dumps(side | {"variables": side["variables"][1:]}).encode(),
            "its names do not fit the network beside it",
        ),
    ]:
        names_file(path).write_bytes(content)
        refused(message, pn.read_network, path)


def test_names_and_network_of_two_writings_are_not_taken_for_each_other(tmp_path: Path) -> None:
    """A writer that is cut off between its two files leaves new names beside an old network of the same size."""
    path, degrees = tmp_path / "a.uai", [[1.0, 0.25], [0.5, 1.0]]
    a, b = (pn.Variable(name, ("yes", "no")) for name in ("a", "b"))
    pn.write_network(pn.Network((a, b), pn.Dag({"a": (), "b": ("a",)}), {"a": [1, 0.5], "b": degrees}), path)
    before = path.read_bytes()
    swapped = pn.Network((b, a), pn.Dag({"b": (), "a": ("b",)}), {"b": [0.75, 1], "a": degrees})
    pn.write_network(swapped, path)
    assert pn.read_network(path) == swapped
    path.write_bytes(before)
    refused("the network beside it is not the one that was written with these names", pn.read_network, path)
    side = json.loads(names_file(path).read_text(encoding="utf-8"))
    del side["network"]  # as another program writes it
    names_file(path).write_text(json.dumps(side), encoding="utf-8")
    assert [variable.name for variable in pn.read_network(path).variables] == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("0", {}),
        ("1 0 1", {"asia": "no"}),
        ("2\n0 1\n6 0\n", {"asia": "no", "xray": "yes"}),
        ("1\n2 0 1 6 0", {"asia": "no", "xray": "yes"}),
        ("1\n0", {}),
        ("1\n1 6 0", {"xray": "yes"}),
    ],
)
def test_evidence_files_old_and_new(tmp_path: Path, text: str, evidence: dict[str, str]) -> None:
    (tmp_path / "e").write_text(text, encoding="utf-8")
    asia = pn.load_example("asia")
    assert pn.read_evidence(tmp_path / "e", asia) == evidence
    pn.write_evidence(evidence, asia, tmp_path / "f")
    assert pn.read_evidence(tmp_path / "f", asia) == evidence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty; expected the number of observations, then pairs"),
        ("x", "'x' for the number of observations"),
        ("1 9 0", "'9' for a variable; expected a whole number from 0 to 7"),
        ("1 0 2", "'2' for a state of 'asia'; expected a whole number from 0 to 1"),
        ("2 0 1", "the file ends before a variable"),
        ("1 0 1 1", "something after the last observation"),
        ("2 0 1 0 0", "'asia' is observed twice; expected every variable once"),
    ],
)
def test_bad_evidence_files(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "e").write_text(text, encoding="utf-8")
    asia = pn.load_example("asia")
    refused(re.escape(message), pn.read_evidence, tmp_path / "e", asia)
    refused("no variable 'xry'", pn.write_evidence, {"xry": "no"}, asia, tmp_path / "e")


@pytest.mark.parametrize("name", ["asia", "clinic", "pump"])
def test_an_independent_solver_reads_our_uai_files_and_finds_our_most_possible_degree(name: str) -> None:
    """Recorded by `make fixtures`: toulbar2 read the UAI file that possnet wrote."""
    net = pn.load_example(name)
    rows = [
        row for row in json.loads((FIXTURES / "solvers.json").read_text(encoding="utf-8")) if row["network"] == name
    ]
    assert len(rows) == 3
    for row in rows:
        agreeing = [c for c in oracles.configurations(net) if row["evidence"].items() <= c.items()]
        best = max(oracles.chain_rule(net, c) for c in agreeing)
        assert row["toulbar2"] == pytest.approx(best, rel=1e-8)
