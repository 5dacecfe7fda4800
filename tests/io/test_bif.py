"""Networks as BIF: its dialects, the gold standard files, and a sentence for every kind of bad file."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import possnet as pn
from possnet.io.network_formats.bif import decode_bif
from possnet.io.network_formats.xmlbif import decode_xmlbif
from tests.gold import gold_files
from tests.io.small_bif import small_bif
from tests.refused import refused


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


DIALECTS = {
    "plain": small_bif(),
    "windows lines": small_bif().replace(b"\n", b"\r\n"),
    "byte order mark": b"\xef\xbb\xbf" + small_bif(),
    "comments": b"// a file\n" + small_bif(p_rash="probability ( rash ) { // why\n table 0.25, /* half\n of half */ 0.75; }"),
    "properties": small_bif(
        rash='variable rash { property "position = (1, 2)" ; type discrete [ 2 ] { yes, no }; property x y; }',
        p_rash='probability ( rash ) { property "z" ; table 0.25, 0.75; }',
    ),
    "blanks between numbers": small_bif(p_fever="probability ( fever | rash ) { (yes) .1 .2 .7; (no) .6 .3 .1; }"),
    "exponents": small_bif(p_rash="probability ( rash ) { table 2.5e-1, 7.5E-01; }"),
    "quoted": small_bif(rash='variable "rash" { type discrete[2]{"yes" "no"}; }', p_fever='probability("fever"|"rash"){("yes") .1,.2,.7;("no") .6,.3,.1;}'),
    "one table": small_bif(p_fever="probability ( fever | rash ) { table .1 .6 .2 .3 .7 .1; }"),
    "default": small_bif(p_fever="probability ( fever | rash ) { default .6, .3, .1; (yes) .1, .2, .7; }"),
    "no bar": small_bif(p_fever="probability ( fever rash ) { (yes) .1, .2, .7; (no) .6, .3, .1; }"),
    "tables first": b"network test { }\n" + b"\n".join(small_bif().split(b"\n")[4:] + small_bif().split(b"\n")[2:4]),
    "an address in a property": small_bif(
        p_fever="probability ( fever | rash ) { default 1, 0, 0;\n property url http://x;\n (yes) .1, .2, .7;\n (no) .6, .3, .1; }"
    ),
    "shouted": small_bif().replace(b"network", b"NETWORK").replace(b"table", b"TABLE"),
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
    latin = small_bif(rash="variable rash { type discrete [ 2 ] { yes, no }; } // caf\xe9").decode().encode("latin-1")
    assert decode_bif(latin, "latin.bif").table("rash").tolist() == [0.25, 1.0]


BAD_BIF: list[tuple[bytes, str]] = [
    (b"", "bad.bif: the file is empty; expected a BIF file"),
    (b" \n", "bad.bif: the file is empty; expected a BIF file"),
    (b"\x00\x01\xff\xfe", "bad.bif, line 1, column 3: not text; expected a BIF file"),
    (b"network x { }", "bad.bif: no variable block; expected a BIF file"),
    (b"<?xml version='1.0'?>", "bad.bif, line 1, column 1: '<?xml'; expected a network, variable or probability block"),
    (small_bif()[:-5], "bad.bif, line 6, column 1: this probability block cannot be read; expected probability ( NAME | PARENT"),
    (small_bif("\nfoo { }"), "bad.bif, line 10, column 1: 'foo'; expected a network, variable or probability block"),
    (small_bif(rash="variable rash { }"), "bad.bif, line 3, column 10: variable 'rash' has no type; expected type discrete"),
    (small_bif(rash="variable rash { type continuous [ 2 ] { yes, no }; }"), "variable 'rash' is continuous; expected a discrete variable"),
    (small_bif(rash="variable rash { type discrete [ 3 ] { yes, no }; }"), "variable 'rash' declares 3 states and lists 2; expected the same"),
    (small_bif(rash="variable rash { type discrete [ 2 ] { yes, yes }; }"), "state 'yes' appears twice"),
    (small_bif("variable rash { type discrete [ 2 ] { yes, no }; }"), "variable 'rash' is declared twice; expected distinct names"),
    (small_bif(p_rash=""), "bad.bif: no probability block for rash; expected one for every variable"),
    (small_bif("probability ( rash ) { table 1, 0; }"), "a second probability block for 'rash'; expected one for every variable"),
    (small_bif(p_rash="probability ( rsah ) { table 1, 0; }"), "'rsah' is not a variable; did you mean 'rash'?; expected a declared variable"),
    (small_bif(p_rash="probability ( ) { table 1, 0; }"), "a probability of 0 variables; expected one variable"),
    (small_bif(p_rash="probability ( rash ) { table 1; }"), "bad.bif, line 5, column 29: 1 numbers; expected 2"),
    (small_bif(p_rash="probability ( rash ) { table 1, many; }"), "'many' is not a number; expected probabilities"),
    (small_bif(p_rash="probability ( rash ) { table nan, 1; }"), "'nan' is not a number"),
    (small_bif(p_rash="probability ( rash ) { table 0.5, 0.25; }"), "the probabilities of 'rash' add up to 0.75; expected 1"),
    (small_bif(p_rash="probability ( rash ) { table 1.5, -0.5; }"), "the probabilities of 'rash' hold -0.5; expected numbers >= 0"),
    (small_bif(p_rash="probability ( rash ) { table 0, 0; }"), "the probabilities of 'rash' add up to 0; expected 1"),
    (small_bif(p_rash="probability ( rash ) { table .3, .7; blah ((; }"), "'blah' in the block of 'rash'; expected rows that end with ;"),
    (small_bif(p_rash="probability ( rash ) { table .3, .7; table .9, .1; }"), "a second table for 'rash'; expected one"),
    (small_bif(p_fever="probability ( fever | rash ) { default 1, 0, 0; default 1, 0, 0; }"), "a second default for 'fever'"),
    (small_bif(p_fever="probability ( fever | rash ) { (yes) 1, 0, 0; table .1 .6 .2 .3 .7 .1; }"), "both a table and rows for 'fever'"),
    (small_bif(rash="variable rash { type discrete [ 2 ] { yes|no }; }"), "the states of 'rash' are not a list of names"),
    (small_bif(p_rash="probability ( rash ) { 0.5, 0.5; }"), "'0.5,' in the block of 'rash'; expected rows that end with ;"),
    (small_bif(p_fever="probability ( fever | rash ) { (yes) .1, .2, .7; }"), "no row for (no) of 'fever' (1 such); expected a row for every context"),
    (small_bif(p_fever="probability ( fever | rash ) { (yes) .1, .2, .7; (yes) .1, .2, .7; }"), "a context of 'fever' has two rows"),
    (small_bif(p_fever="probability ( fever | rash ) { (yse) .1, .2, .7; (no) 1, 0, 0; }"), "'yse' is not a state of 'rash'; did you mean 'yes'?; expected yes, no"),
    (small_bif(p_fever="probability ( fever | rash ) { (yes, no) .1, .2, .7; (no) 1, 0, 0; }"), "a row names 2 states; expected one for each of rash"),
    (small_bif(p_fever="probability ( fever | rash ) { (yes) .1, .2; (no) 1, 0, 0, 0; }"), "2 numbers; expected 3"),
    (small_bif(p_fever="probability ( fever | rash ) { (yes) .1, .2, x; (no) 1, 0, 0; }"), "'x' is not a number"),
    (small_bif(p_fever="probability ( fever | rash ) { (yes) .1, .2, nan; (no) 1, 0, 0; }"), "'nan' is not a number; expected probabilities"),
    (small_bif(p_fever="probability ( fever | rash ) { (yes) .1, .2, .6; (no) 1, 0, 0; }"), "the probabilities of 'fever' given (rash=yes) add up to 0.9"),
    (small_bif(p_fever="probability ( fever | rash ) { (yes) .4, -.25, .85; (no) 1, 0, 0; }"), "the probabilities of 'fever' given (rash=yes) hold -0.25; expected numbers >= 0"),
    (small_bif(p_rash="probability ( rash | fever ) { default .5, .5; }"), "bad.bif: dag: cycle "),
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
