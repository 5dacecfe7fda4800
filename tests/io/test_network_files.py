"""Networks as BIF, XMLBIF and UAI: what they mean, round trips, and a sentence for every kind of bad file."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import possnet as pn
from possnet.io import names_file
from possnet.io.network_formats.bif import decode_bif
from possnet.io.network_formats.xmlbif import decode_xmlbif
from possnet.limits import free_memory, readable_bytes
from possnet.network import network_of_factors
from tests import oracles
from tests.gold import gold_files
from tests.paths import FIXTURES
from tests.refused import refused
from tests.strategies import networks


def simple_bif(text: str) -> tuple[dict[str, list[str]], dict[str, tuple[list[str], NDArray[np.float64]]]]:
    """An independent, slow and simple reading of the plain dialect of BIF: one token after the other."""
    tokens = re.findall(r'"[^"]*"|[{}()\[\],;|]|[^\s{}()\[\],;|]+', text)
    states: dict[str, list[str]] = {}
    tables: dict[str, tuple[list[str], NDArray[np.float64]]] = {}
    k = 0
    while k < len(tokens):
        if tokens[k] == "variable":
            name = tokens[k + 1]
            first = tokens.index("{", k + 3)
            last = tokens.index("}", first)
            states[name] = [t for t in tokens[first + 1 : last] if t != ","]
            k = last
        elif tokens[k] == "probability":
            close = tokens.index(")", k)
            child, *parents = [t for t in tokens[k + 2 : close] if t not in {",", "|"}]
            table = np.full([len(states[p]) for p in parents] + [len(states[child])], np.nan)
            k = close + 2
            while tokens[k] != "}":
                if tokens[k] == "table":
                    place: tuple[int, ...] = ()
                else:
                    close = tokens.index(")", k)
                    named = [t for t in tokens[k + 1 : close] if t != ","]
                    place = tuple(states[p].index(s) for p, s in zip(parents, named, strict=True))
                    k = close
                stop = tokens.index(";", k)
                table[place] = [float(t) for t in tokens[k + 1 : stop] if t != ","]
                k = stop + 1
            tables[child] = (parents, table)
        k += 1
    return states, tables


@pytest.mark.needs("gold")
def test_all_gold_standard_files_are_there() -> None:
    assert len(gold_files()) == 24


@pytest.mark.slow
@pytest.mark.needs("gold")
@pytest.mark.parametrize("number", range(24))
def test_every_gold_standard_file_reads_as_a_simple_parser_reads_it(number: int) -> None:
    path = gold_files()[number]
    net = pn.read_network(path, transform="ratio")
    states, tables = simple_bif(gzip.decompress(path.read_bytes()).decode())
    assert [v.name for v in net.variables] == list(states)
    for variable in net.variables:
        parents, table = tables[variable.name]
        assert list(variable.states) == states[variable.name]
        assert list(net.dag.parents(variable.name)) == parents
        assert not np.isnan(table).any()
        assert np.allclose(net.table(variable.name), table / table.max(axis=-1, keepdims=True), rtol=1e-12, atol=0)
    assert net.is_normalised


@pytest.mark.needs("gold")
def test_the_gold_asia_is_our_asia() -> None:
    gold = pn.read_network(next(path for path in gold_files() if path.name == "asia.bif.gz"))
    ours = pn.load_example("asia")
    assert {v.name for v in gold.variables} == {v.name for v in ours.variables}
    assert set(gold.dag.edges) == set(ours.dag.edges)
    for variable in ours.variables:
        order = [gold.dag.parents(variable.name).index(p) for p in ours.dag.parents(variable.name)]
        assert np.allclose(gold.table(variable.name).transpose([*order, len(order)]), ours.table(variable.name))


def bif(body: str = "", **changes: str) -> bytes:
    """A small BIF file with a part replaced."""
    parts = {
        "rash": "variable rash { type discrete [ 2 ] { yes, no }; }",
        "fever": "variable fever { type discrete [ 3 ] { none, mild, high }; }",
        "p_rash": "probability ( rash ) { table 0.25, 0.75; }",
        "p_fever": "probability ( fever | rash ) {\n  (yes) .1, .2, .7;\n  (no) .6, .3, .1;\n}",
    } | changes
    return ("network test {\n}\n" + "\n".join(parts.values()) + body).encode()


DIALECTS = {
    "plain": bif(),
    "windows lines": bif().replace(b"\n", b"\r\n"),
    "byte order mark": b"\xef\xbb\xbf" + bif(),
    "comments": b"// a file\n" + bif(p_rash="probability ( rash ) { // why\n table 0.25, /* half\n of half */ 0.75; }"),
    "properties": bif(
        rash='variable rash { property "position = (1, 2)" ; type discrete [ 2 ] { yes, no }; property x y; }',
        p_rash='probability ( rash ) { property "z" ; table 0.25, 0.75; }',
    ),
    "blanks between numbers": bif(p_fever="probability ( fever | rash ) { (yes) .1 .2 .7; (no) .6 .3 .1; }"),
    "exponents": bif(p_rash="probability ( rash ) { table 2.5e-1, 7.5E-01; }"),
    "quoted": bif(rash='variable "rash" { type discrete[2]{"yes" "no"}; }', p_fever='probability("fever"|"rash"){("yes") .1,.2,.7;("no") .6,.3,.1;}'),
    "one table": bif(p_fever="probability ( fever | rash ) { table .1 .6 .2 .3 .7 .1; }"),
    "default": bif(p_fever="probability ( fever | rash ) { default .6, .3, .1; (yes) .1, .2, .7; }"),
    "no bar": bif(p_fever="probability ( fever rash ) { (yes) .1, .2, .7; (no) .6, .3, .1; }"),
    "tables first": b"network test { }\n" + b"\n".join(bif().split(b"\n")[4:] + bif().split(b"\n")[2:4]),
    "an address in a property": bif(
        p_fever="probability ( fever | rash ) { default 1, 0, 0;\n property url http://x;\n (yes) .1, .2, .7;\n (no) .6, .3, .1; }"
    ),
    "shouted": bif().replace(b"network", b"NETWORK").replace(b"table", b"TABLE"),
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_dialects_of_bif_mean_the_same(dialect: str) -> None:
    net = decode_bif(DIALECTS[dialect], "test.bif", "ratio")
    assert net.name == "test"
    assert net.variable("rash").states == ("yes", "no")
    assert net.dag.parents("fever") == ("rash",)
    assert net.table("rash") == pytest.approx([1 / 3, 1])
    assert net.table("fever") == pytest.approx(np.array([[1 / 7, 2 / 7, 1], [1, 1 / 2, 1 / 6]]))


def test_odd_names_in_bif() -> None:
    text = b'variable x { type discrete [ 4 ] { Asy/Patch, <5, 12+, 7 }; } variable "a b" { type discrete [ 1 ] { "c, d" }; }'
    text += (
        b'probability ( x ) { table .1 .2 .3 .4; } probability ( "a b" | x ) { (Asy/Patch) 1; (<5) 1; (12+) 1; (7) 1; }'
    )
    net = decode_bif(text, "odd.bif")
    assert net.variable("x").states == ("Asy/Patch", "<5", "12+", "7")
    assert net.variable("a b").states == ("c, d",)
    special = b'variable "a|b" { property "}{" ; type discrete [ 2 ] { "x(1)", "y;" }; } probability ( "a|b" ) { table .5 .5; }'
    net = decode_bif(special, "special.bif")
    assert net.variable("a|b").states == ("x(1)", "y;")
    latin = bif(rash="variable rash { type discrete [ 2 ] { yes, no }; } // caf\xe9").decode().encode("latin-1")
    assert decode_bif(latin, "latin.bif").table("rash").tolist() == [0.25, 1.0]


BAD_BIF: list[tuple[bytes, str]] = [
    (b"", "bad.bif: the file is empty; expected a BIF file"),
    (b" \n", "bad.bif: the file is empty; expected a BIF file"),
    (b"\x00\x01\xff\xfe", "bad.bif, line 1, column 3: not text; expected a BIF file"),
    (b"network x { }", "bad.bif: no variable block; expected a BIF file"),
    (b"<?xml version='1.0'?>", "bad.bif, line 1, column 1: '<?xml'; expected a network, variable or probability block"),
    (bif()[:-5], "bad.bif, line 6, column 1: this probability block cannot be read; expected probability ( NAME | PARENT"),
    (bif("\nfoo { }"), "bad.bif, line 10, column 1: 'foo'; expected a network, variable or probability block"),
    (bif(rash="variable rash { }"), "bad.bif, line 3, column 10: variable 'rash' has no type; expected type discrete"),
    (bif(rash="variable rash { type continuous [ 2 ] { yes, no }; }"), "variable 'rash' is continuous; expected a discrete variable"),
    (bif(rash="variable rash { type discrete [ 3 ] { yes, no }; }"), "variable 'rash' declares 3 states and lists 2; expected the same"),
    (bif(rash="variable rash { type discrete [ 2 ] { yes, yes }; }"), "state 'yes' appears twice"),
    (bif("variable rash { type discrete [ 2 ] { yes, no }; }"), "variable 'rash' is declared twice; expected distinct names"),
    (bif(p_rash=""), "bad.bif: no probability block for rash; expected one for every variable"),
    (bif("probability ( rash ) { table 1, 0; }"), "a second probability block for 'rash'; expected one for every variable"),
    (bif(p_rash="probability ( rsah ) { table 1, 0; }"), "'rsah' is not a variable; did you mean 'rash'?; expected a declared variable"),
    (bif(p_rash="probability ( ) { table 1, 0; }"), "a probability of 0 variables; expected one variable"),
    (bif(p_rash="probability ( rash ) { table 1; }"), "bad.bif, line 5, column 29: 1 numbers; expected 2"),
    (bif(p_rash="probability ( rash ) { table 1, many; }"), "'many' is not a number; expected probabilities"),
    (bif(p_rash="probability ( rash ) { table nan, 1; }"), "'nan' is not a number"),
    (bif(p_rash="probability ( rash ) { table 0.5, 0.25; }"), "the probabilities of 'rash' add up to 0.75; expected 1"),
    (bif(p_rash="probability ( rash ) { table 1.5, -0.5; }"), "the probabilities of 'rash' hold -0.5; expected numbers >= 0"),
    (bif(p_rash="probability ( rash ) { table 0, 0; }"), "the probabilities of 'rash' add up to 0; expected 1"),
    (bif(p_rash="probability ( rash ) { table .3, .7; blah ((; }"), "'blah' in the block of 'rash'; expected rows that end with ;"),
    (bif(p_rash="probability ( rash ) { table .3, .7; table .9, .1; }"), "a second table for 'rash'; expected one"),
    (bif(p_fever="probability ( fever | rash ) { default 1, 0, 0; default 1, 0, 0; }"), "a second default for 'fever'"),
    (bif(p_fever="probability ( fever | rash ) { (yes) 1, 0, 0; table .1 .6 .2 .3 .7 .1; }"), "both a table and rows for 'fever'"),
    (bif(rash="variable rash { type discrete [ 2 ] { yes|no }; }"), "the states of 'rash' are not a list of names"),
    (bif(p_rash="probability ( rash ) { 0.5, 0.5; }"), "'0.5,' in the block of 'rash'; expected rows that end with ;"),
    (bif(p_fever="probability ( fever | rash ) { (yes) .1, .2, .7; }"), "no row for (no) of 'fever' (1 such); expected a row for every context"),
    (bif(p_fever="probability ( fever | rash ) { (yes) .1, .2, .7; (yes) .1, .2, .7; }"), "a context of 'fever' has two rows"),
    (bif(p_fever="probability ( fever | rash ) { (yse) .1, .2, .7; (no) 1, 0, 0; }"), "'yse' is not a state of 'rash'; did you mean 'yes'?; expected yes, no"),
    (bif(p_fever="probability ( fever | rash ) { (yes, no) .1, .2, .7; (no) 1, 0, 0; }"), "a row names 2 states; expected one for each of rash"),
    (bif(p_fever="probability ( fever | rash ) { (yes) .1, .2; (no) 1, 0, 0, 0; }"), "2 numbers; expected 3"),
    (bif(p_fever="probability ( fever | rash ) { (yes) .1, .2, x; (no) 1, 0, 0; }"), "'x' is not a number"),
    (bif(p_fever="probability ( fever | rash ) { (yes) .1, .2, nan; (no) 1, 0, 0; }"), "'nan' is not a number; expected probabilities"),
    (bif(p_fever="probability ( fever | rash ) { (yes) .1, .2, .6; (no) 1, 0, 0; }"), "the probabilities of 'fever' given (rash=yes) add up to 0.9"),
    (bif(p_rash="probability ( rash | fever ) { default .5, .5; }"), "bad.bif: dag: cycle "),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD_BIF)
def test_a_bad_bif_is_refused_with_its_place(content: bytes, message: str) -> None:
    assert refused(re.escape(message), decode_bif, content, "bad.bif").startswith("bad.bif")


def test_a_tiny_file_may_not_ask_for_a_huge_table() -> None:
    states = ", ".join(f"s{k}" for k in range(100))
    names = [f"v{k}" for k in range(8)]
    text = "".join(f"variable {n} {{ type discrete [ 100 ] {{ {states} }}; }}\n" for n in names)
    text += "".join(f"probability ( {n} ) {{ default 1{' 0' * 99}; }}\n" for n in names[1:])
    text += f"probability ( v0 | {', '.join(names[1:])} ) {{ default 1{' 0' * 99}; }}\n"
    needed = r"the table of 'v0' \(7 parents\) needs 71.1 PiB"
    with pytest.raises(pn.TooLarge, match=rf"huge.bif: {needed}; the limit is .* use fewer parents"):
        decode_bif(text.encode(), "huge.bif")
    outcomes = "".join(f"<OUTCOME>s{k}</OUTCOME>" for k in range(100))
    xml = "<BIF><NETWORK>" + "".join(f"<VARIABLE><NAME>{n}</NAME>{outcomes}</VARIABLE>" for n in names)
    xml += f"<DEFINITION><FOR>v0</FOR>{''.join(f'<GIVEN>{n}</GIVEN>' for n in names[1:])}<TABLE>1</TABLE></DEFINITION></NETWORK></BIF>"
    with pytest.raises(pn.TooLarge, match=needed):
        decode_xmlbif(xml.encode(), "huge.xml")


@pytest.mark.parametrize(
    "text",
    [
        "network" + " " * 200_000 + "x",
        "variable " * 20_000,
        "{" * 200_000,
        "(" * 200_000,
        '"' * 200_000,
        "probability (" + "a " * 100_000,
    ],
)
def test_no_text_keeps_the_reader_busy(text: str) -> None:
    script = "import sys; from possnet.io.network_formats.bif import decode_bif; decode_bif(sys.stdin.buffer.read(), 'busy.bif')"
    run = subprocess.run(
        [sys.executable, "-c", script], input=text.encode(), capture_output=True, timeout=60, check=False
    )
    assert b"InputError: busy.bif" in run.stderr


def test_gzipped_files_that_are_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.bif.gz"
    packed = gzip.compress(bif())
    path.write_bytes(packed)
    assert pn.read_network(path) == decode_bif(bif(), "a")
    for content in (packed[:-9], packed[:12], b"network"):
        path.write_bytes(content)
        refused(r"a.bif.gz: .*; expected a gzipped file, whole", pn.read_network, path)
    refused("no such file", pn.read_network, tmp_path / "none.bif.gz")
    refused(r"unknown suffix '.net'; expected .json, .uai, ", pn.read_network, tmp_path / "a.net")


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.bif.gz").write_bytes(gzip.compress(b" " * 10_000))
    monkeypatch.setattr("possnet.io.file_access.memory_limit", lambda: 1000)
    refused("unpacks to more than 1000 B", pn.read_network, tmp_path / "a.bif.gz")


@given(st.integers(0, 2**32 - 1))
def test_damaged_bif_never_escapes_as_another_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    content = bytearray(DIALECTS[list(DIALECTS)[seed % len(DIALECTS)]])
    for _ in range(rng.integers(1, 6)):
        place = rng.integers(0, len(content))
        if rng.random() < 0.3:
            del content[place : place + rng.integers(1, 20)]
        else:
            content[place] = rng.integers(0, 256)
        if not content:
            return
    try:
        decode_bif(bytes(content), "damaged.bif")
    except pn.PossnetError as error:
        assert str(error).startswith("damaged.bif")


XML = """<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> ]>
<BIF VERSION="0.3"><NETWORK><NAME>test</NAME>
<VARIABLE TYPE="nature"><NAME>rash</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME><PROPERTY>p</PROPERTY></VARIABLE>
<VARIABLE TYPE="nature"><NAME>fever &amp; co</NAME><OUTCOME>none</OUTCOME><OUTCOME>mild</OUTCOME><OUTCOME>high</OUTCOME></VARIABLE>
<DEFINITION><FOR>rash</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>fever &amp; co</FOR><GIVEN>rash</GIVEN><TABLE>.1 .2 .7 <!-- yes --> .6 .3 .1</TABLE></DEFINITION>
</NETWORK></BIF>
"""


def test_xmlbif_means_the_same_as_bif(tmp_path: Path) -> None:
    (tmp_path / "a.xmlbif").write_text(XML)
    net = pn.read_network(tmp_path / "a.xmlbif", transform="ratio")
    same = decode_bif(bif(), "a", "ratio")
    assert net.name == "test"
    assert net.table("fever & co").tolist() == same.table("fever").tolist()
    assert net.table("rash").tolist() == same.table("rash").tolist()
    assert net.dag.parents("fever & co") == ("rash",)


BAD_XML: list[tuple[str, str]] = [
    ("", "bad.xml: the file is empty; expected an XMLBIF file"),
    ("hello", "bad.xml, line 1, column 1: syntax error; expected an XMLBIF file"),
    (XML[:300], "bad.xml, line 5, column 65: unclosed token; expected an XMLBIF file"),
    ("<BIF></BIF>", "bad.xml: no VARIABLE element; expected an XMLBIF file"),
    (XML.replace("<!ELEMENT BIF ( NETWORK )*>", '<!ENTITY a "b">'), "bad.xml, line 2: an entity is declared; expected plain XMLBIF"),
    (XML.replace("0.25 0.75", "0.25"), "bad.xml, line 6: the table of 'rash' has 1 numbers; expected 2 finite ones"),
    (XML.replace("0.25 0.75", "a b"), "the table of 'rash' holds something else than numbers"),
    (XML.replace("0.25 0.75", "nan 1"), "the table of 'rash' has 2 numbers; expected 2 finite ones"),
    (XML.replace("0.25 0.75", "0.2 0.2"), "the probabilities of 'rash' add up to 0.4; expected 1"),
    (XML.replace('version="1.0"', 'version="1.0" encoding="UTF-b"'), "bad.xml: unknown encoding: UTF-b; expected an XMLBIF file"),
    (XML.replace("<FOR>rash</FOR>", ""), "line 6: a DEFINITION for 0 variables; expected one FOR"),
    (XML.replace("<FOR>rash</FOR>", "<FOR>rsah</FOR>"), "'rsah' is not a variable; did you mean 'rash'?"),
    (XML.replace("<NAME>fever &amp; co</NAME>", "<NAME>rash</NAME>"), "line 5: variable 'rash' is declared twice"),
    (XML.replace("<OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME>", ""), "line 4: variable 'rash': no states"),
    (XML.replace("<DEFINITION><FOR>rash</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>", ""), "no DEFINITION for rash"),
    (XML.replace("</NETWORK>", "<DEFINITION><FOR>rash</FOR><TABLE>0.25 0.75</TABLE></DEFINITION></NETWORK>"), "a second DEFINITION for 'rash'"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD_XML)
def test_a_bad_xmlbif_is_refused_with_its_place(content: str, message: str) -> None:
    assert refused(re.escape(message), decode_xmlbif, content.encode(), "bad.xml").startswith("bad.xml")


@given(networks(), st.sampled_from(["MARKOV", "BAYES"]))
def test_a_network_survives_uai_with_its_names(net: pn.Network, preamble: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.uai"
        if net.conjunction is pn.MIN:
            refused("a min-based network cannot be a UAI file, which multiplies", pn.write_network, net, path)
            return
        pn.write_network(net, path, preamble=preamble)
        assert path.read_text().split()[0] == preamble
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
    path.write_text("BAYES\n2\n2 3\n2\n1 0\n2 0 1\n\n2\n .25 .75\n6\n .1 .2 .7\n .6 .3 .1\n")
    net = pn.read_network(path, transform="ratio")
    same = decode_bif(bif(), "a", "ratio")
    assert net.table("v1").tolist() == same.table("fever").tolist()
    path.write_text("MARKOV 2 2 2 1 2 0 1 4 4 1 2 2")
    net = pn.read_network(path)
    assert net.joint({"v0": "s0", "v1": "s0"}) == 1.0
    assert net.joint({"v0": "s0", "v1": "s1"}) == 0.25
    path.write_text("MARKOV 2 2 2 3 0 1 0 2 0 1 1 5 2 1 2 4 4 1 2 2")
    assert pn.read_network(path).joint({"v0": "s1", "v1": "s1"}) == pytest.approx(1.0)
    (tmp_path / "a.uai.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert pn.read_network(tmp_path / "a.uai.gz") == pn.read_network(path)


BAD_UAI: list[tuple[str, str]] = [
    ("", "bad.uai: the file is empty; expected a UAI file"),
    ("hello", "bad.uai, line 1: 'HELLO'; expected MARKOV or BAYES"),
    ("MARKOV", "the file ends before the number of variables; expected the rest of the file"),
    ("MARKOV\nx", "bad.uai, line 2, column 1: 'x' for the number of variables; expected a whole number >= 1"),
    ("MARKOV\n0", "'0' for the number of variables; expected a whole number >= 1"),
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
    path.write_text(content)
    assert refused(re.escape(message), pn.read_network, path).startswith(str(path))


def test_factors_of_any_magnitude_make_the_same_network(tmp_path: Path) -> None:
    for first, second in (("1e200 5e199", "1e200 1e200"), ("1e-200 5e-201", "1e-200 1e-200")):
        (tmp_path / "a.uai").write_text(f"MARKOV 1 2 3 1 0 1 0 1 0 2 {first} 2 {second} 2 1 1")
        assert pn.read_network(tmp_path / "a.uai").table("v0") == pytest.approx([1, 0.5])
    (tmp_path / "a.uai").write_text("MARKOV 1 2 3 1 0 1 0 1 0 2 1 1e-200 2 1 1e-200 2 1e-300 1")
    assert pn.read_network(tmp_path / "a.uai").table("v0") == pytest.approx([1, 1e-100], rel=1e-9, abs=0)


def test_what_a_uai_file_cannot_say_is_refused(tmp_path: Path) -> None:
    rash = pn.Variable("rash", ("yes", "no"))
    low = pn.Network.subnormal((rash,), pn.Dag({"rash": ()}), {"rash": [0.5, 0.2]})
    refused("a subnormal network cannot be a UAI file", pn.write_network, low, tmp_path / "a.uai")
    asia = pn.load_example("asia")
    refused("preamble 'FOO'; expected MARKOV, BAYES", pn.write_network, asia, tmp_path / "a.uai", preamble="FOO")
    assert list(tmp_path.iterdir()) == []


def test_a_uai_file_may_not_announce_a_huge_table(tmp_path: Path) -> None:
    (tmp_path / "a.uai").write_text("MARKOV 1 999999999999 0")
    with pytest.raises(pn.TooLarge, match="999,999,999,999 states in all"):
        pn.read_network(tmp_path / "a.uai")
    (tmp_path / "a.uai").write_text("MARKOV 30 " + "100 " * 30 + "1 30 " + " ".join(map(str, range(30))) + " 1 1")
    with pytest.raises(pn.TooLarge, match="the table of 'factor 0'"):
        pn.read_network(tmp_path / "a.uai")


def test_side_files_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.uai"
    pn.write_network(pn.load_example("asia"), path)
    side = json.loads(names_file(path).read_text())
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
    (tmp_path / "e").write_text(text)
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
    (tmp_path / "e").write_text(text)
    asia = pn.load_example("asia")
    refused(re.escape(message), pn.read_evidence, tmp_path / "e", asia)
    refused("no variable 'xry'", pn.write_evidence, {"xry": "no"}, asia, tmp_path / "e")


@given(st.binary(max_size=120))
def test_random_bytes_never_escape_as_another_error(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, prefix in [
            ("a.json", b""),
            ("a.bif", b"variable "),
            ("a.uai", b"MARKOV 1 2 "),
            ("a.xml", b"<BIF>"),
            ("a.bif.gz", b"\x1f\x8b\x08"),
        ]:
            path = Path(folder) / name
            path.write_bytes(prefix + content)
            try:
                pn.read_network(path)
            except pn.PossnetError as error:
                assert str(error).startswith(str(path))


@pytest.mark.parametrize("name", ["asia", "clinic", "pump"])
def test_an_independent_solver_reads_our_uai_files_and_finds_our_most_possible_degree(name: str) -> None:
    """Recorded by `make fixtures`: toulbar2 read the UAI file that possnet wrote."""
    net = pn.load_example(name)
    rows = [row for row in json.loads((FIXTURES / "solvers.json").read_text()) if row["network"] == name]
    assert len(rows) == 3
    for row in rows:
        agreeing = [c for c in oracles.configurations(net) if row["evidence"].items() <= c.items()]
        best = max(oracles.chain_rule(net, c) for c in agreeing)
        assert row["toulbar2"] == pytest.approx(best, rel=1e-8)


def test_memory_is_told_in_readable_units() -> None:
    assert free_memory() > 1 << 20
    assert readable_bytes(10**40) == "over 10**40 B"
    assert readable_bytes(0) == "0 B"


def test_free_memory_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: "nothing")
    assert free_memory() > 1 << 20
    monkeypatch.setattr("os.sysconf", lambda _: (_ for _ in ()).throw(ValueError()))
    assert free_memory() == 2 << 30
