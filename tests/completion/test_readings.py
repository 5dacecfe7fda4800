"""Tables read as probabilities: completion by sums against enumeration, and when it is the default."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.inference import PosteriorQueries
from possnet.io.network_formats.json_network import decode_network, encode_network
from tests.commands import run
from tests.inference.row_ways import ROW_WAYS, force
from tests.oracles import completed_posterior
from tests.strategies import cells, networks


@given(networks(max_variables=4), st.sampled_from(ROW_WAYS), st.data())
def test_completion_by_probabilities_is_its_definition_by_enumeration(
    net: pn.Network, way: str, draw: st.DataObject
) -> None:
    """Over some of the variables, with sets and unknown cells; the conjunction plays no part."""
    scope = draw.draw(st.permutations(net.variables))[: draw.draw(st.integers(1, len(net.variables)))]
    rows = draw.draw(st.lists(st.tuples(*(cells(v) for v in scope)), max_size=6))
    data = pn.Dataset.from_rows(scope, rows)
    with pytest.MonkeyPatch.context() as patch:
        force(way, patch)
        completion = pn.complete(net, data, reading="probability")
    impossible = set()
    for number in range(len(data)):
        row = data.row(number)
        for variable in scope:
            expected = completed_posterior(net, row, variable.name)
            if expected is None:
                impossible.add(number)
            elif len(row[variable.name]) > 1:
                degrees = completion.of(number, variable.name).degrees
                assert degrees == pytest.approx(list(expected.values()), abs=1e-9)
    assert set(completion.impossible.tolist()) == impossible


@given(networks(max_variables=4), st.sampled_from(ROW_WAYS), st.data())
def test_hidden_targets_get_their_posterior(net: pn.Network, way: str, draw: st.DataObject) -> None:
    """The target's own cell is ignored, and every row peaks at 1."""
    target = draw.draw(st.sampled_from(net.variables))
    rows = draw.draw(st.lists(st.tuples(*(cells(v) for v in net.variables)), min_size=1, max_size=5))
    data = pn.Dataset.from_rows(net.variables, rows)
    with pytest.MonkeyPatch.context() as patch:
        force(way, patch)
        answers = PosteriorQueries(net).query_many(target.name, data)
    for number, answer in enumerate(answers):
        row = data.row(number) | {target.name: frozenset(target.states)}
        expected = completed_posterior(net, row, target.name)
        if expected is None:
            assert np.isnan(answer).all()
        else:
            assert answer == pytest.approx(list(expected.values()), abs=1e-9)


def test_products_of_many_probabilities_do_not_underflow() -> None:
    """A class with 2,000 children whose probabilities are about 1e-3 each: the posterior is that of logarithms."""
    rng = np.random.default_rng(0)
    label = pn.Variable("label", ("a", "b", "c"))
    features = [pn.Variable(f"f{k}", ("0", "1")) for k in range(2000)]
    rare = rng.uniform(0.9e-3, 1.1e-3, size=(2000, 3))
    tables = {"label": [1.0, 0.5, 0.25]} | {
        v.name: [[1.0, p / (1.0 - p)] for p in row] for v, row in zip(features, rare.tolist(), strict=True)
    }
    dag = pn.Dag({"label": ()} | {v.name: ("label",) for v in features})
    net = pn.Network((label, *features), dag, tables, conjunction=pn.PRODUCT)
    rows = [(None, *("1" for _ in features)), ({"a", "c"}, *rng.choice(["0", "1"], 2000).tolist())]
    data = pn.Dataset.from_rows(net.variables, rows)
    completion = pn.complete(net, data, reading="probability")
    prior = np.log([1.0, 0.5, 0.25])
    for number, allowed in enumerate(([0, 1, 2], [0, 2])):
        ones = np.array([cell == "1" for cell in rows[number][1:]])
        logs = prior + np.where(ones[:, np.newaxis], np.log(rare), np.log1p(-rare)).sum(axis=0)
        expected = np.where(np.isin(range(3), allowed), np.exp(logs - logs[allowed].max()), 0.0)
        assert completion.of(number, "label").degrees == pytest.approx(expected, rel=1e-9)


def test_tables_learned_as_probabilities_are_read_as_such_unless_the_network_is_min_based() -> None:
    """A set of a parent whose states disagree: maxima take one state's word, sums the majority's."""
    x, y = pn.Variable("x", ("1", "2", "3")), pn.Variable("y", ("u", "v"))
    rows = [("1", "u")] * 4 + [("2", "v")] * 3 + [("3", "v")] * 3
    dag = pn.Dag({"x": (), "y": ("x",)})
    data = pn.Dataset.from_rows((x, y), rows)
    asked = pn.Dataset.from_rows((x,), [(None,)])
    net = pn.fit_coarsened(dag, data)
    assert net.transform == "ratio"
    assert pn.complete(net, asked, targets=("y",)).of(0, "y").degrees == pytest.approx([4 / 6, 1.0])
    assert pn.complete(net, asked, targets=("y",), reading="possibility").of(0, "y").degrees == pytest.approx([1, 0.75])
    ordinal = pn.fit_coarsened(dag, data, conjunction=pn.MIN)
    assert pn.complete(ordinal, asked, targets=("y",)).of(0, "y").degrees == pytest.approx([1, 0.75])
    assert pn.fit(dag, data).transform == "" == net.with_table("x", [1, 1, 1]).transform
    with pytest.raises(pn.InputError, match="complete: reading 'sum'; expected 'auto', 'possibility' or 'probability'"):
        pn.complete(net, asked, reading="sum")  # type: ignore[call-overload]
    raw = pn.Network.subnormal((x,), pn.Dag({"x": ()}), {"x": [0.5, 0.2, 0.1]})
    with pytest.raises(
        pn.InputError, match="reading 'probability' of a subnormal network; expected tables whose rows peak"
    ):
        pn.complete(raw, asked, reading="probability")


def test_the_transform_survives_json_and_pickle() -> None:
    """JSON of version 4 says it; a network without it stays what older readers know; a false one is refused."""
    import pickle

    asia = pn.load_example("asia")
    net = asia.with_transform("ratio")
    text = encode_network(net)
    assert (json.loads(text)["version"], json.loads(text)["transform"]) == (4, "ratio")
    assert decode_network(text.encode(), "net") == net != asia
    assert json.loads(encode_network(asia))["version"] == 1
    assert pickle.loads(pickle.dumps(net)).transform == "ratio"  # noqa: S301
    with pytest.raises(pn.InputError, match="net: network 'asia': transform 'optimal'; expected 'ratio' or ''"):
        decode_network(text.replace('"ratio"', '"optimal"').encode(), "net")


def test_the_commands_say_which_reading_they_took(tmp_path: Path) -> None:
    """A learned network from candidates is read as probabilities; --reading possibility is maxima, and says nothing."""
    rng = np.random.default_rng(3)
    lines = ["label,a,b"]
    for _ in range(120):
        k = int(rng.integers(3))
        others = {f"c{k}"} | ({f"c{(k + 1) % 3}"} if rng.random() < 0.5 else set())
        lines.append(f"{'|'.join(sorted(others))},{'xyz'[k]},{'uvw'[k] if rng.random() < 0.9 else 'u'}")
    table, network = tmp_path / "rows.csv", tmp_path / "net.json"
    table.write_text("\n".join(lines), encoding="utf-8")
    run("learn", table, "--out", network)
    assert pn.read_network(network).transform == "ratio"
    words = "By probabilities, as the tables were learned"
    assert words in run("complete", network, table, "--out", tmp_path / "a.csv").stdout
    assert words not in run("complete", network, table, "--reading", "possibility", "--out", tmp_path / "b.csv").stdout
    assert run("check", network, table, "--reading", "possibility").returncode == 0
