"""The readers of possnet as the fuzzer sees them: inputs to begin with, words of the format, and what may come of an input.

A check returns whether the input was accepted. It lets a `PossnetError` pass, which is a refusal; anything else that is
raised is a failure. What is accepted is used: queried, counted, written and read again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import possnet as pn
from possnet.cli.parse import _read_binning, _read_finding, parse_evidence
from possnet.io import decode_network, encode_network
from possnet.io.network_formats.bif import decode_bif
from possnet.io.network_formats.hugin import decode_hugin, write_hugin
from possnet.io.network_formats.uai import decode_uai
from possnet.io.network_formats.xdsl import decode_xdsl, write_xdsl
from possnet.io.network_formats.xmlbif import decode_xmlbif
from possnet.measurements import bin_texts
from possnet.measurements.reading_texts import parse_reading
from tests.hostile.mutators import Mutator, mutate_json, mutate_rows, mutate_text

Check = Callable[[bytes, bool], bool]
_FEW = 200  # entries of a table, or states, up to which a network is queried


@dataclass(frozen=True)
class Reader:
    """A reader: ``check(content, thorough)`` reads an input, and uses what is accepted, all the more if it is thorough."""

    name: str
    tries: str
    seeds: Callable[[], Sequence[bytes]]
    words: tuple[bytes, ...]
    check: Check
    mutate: Mutator = mutate_text
    chunk: int = 10_000
    every: int = 8  # of how many inputs one is checked thoroughly


@cache
def workplace() -> Path:
    """A folder in memory, removed when the process ends."""
    memory = Path("/dev/shm")  # noqa: S108
    folder = tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)
    workplace.folder = folder  # type: ignore[attr-defined]
    return Path(folder.name)


def _put(name: str, content: bytes) -> Path:
    path = workplace() / name
    path.write_bytes(content)
    return path


def use_network(network: pn.Network, *, thorough: bool) -> None:
    """Write a network and read it again; query it if it is small."""
    again = decode_network(encode_network(network).encode(), "written")
    assert again == network, "written and read, it is another network"
    entries = sum(network.table(v.name).size for v in network.variables)
    if thorough and entries <= _FEW and network.is_normalised:
        for marginal in pn.Inference(network).marginals().values():
            assert abs(float(marginal.degrees.max()) - 1.0) < 1e-9, "a marginal that does not peak at 1"


# Rows


def _seed_rows() -> list[bytes]:
    return [
        b"fever,rash\nmild|high,no\n?,!yes\nnone,yes\n",
        b'name;age;job\n"a; b";17-24;nurse, driver\nc;20;NA\n',
        "größe\twert\nklein\t1\ngroß\t2\n".encode(),
        b'a,b\n"{x, y}",[p;q]\n"[""x""]",p..r\n\\|x,high:1|mild:.4\n',
        b"x\n1\n\n2\n",
        b"t,w\n36.9,1\n>39,2\n3..7,1\n5\xc2\xb11,4\n2024-05-31,1\n",
        "é,b\nü,x\n".encode("cp1252"),
        "a,b\nx,y\n".encode("utf-16"),
    ]


def check_rows(content: bytes, thorough: bool) -> bool:
    """Read rows; every cell is a set of states, they are counted, written and read again."""
    path = _put("input.csv", content)
    data = pn.read_data(path)
    rows = len(data)
    for row in (0, rows - 1) if rows else ():
        assert all(data.row(row).values()), "an empty cell"
    if thorough:
        counts = pn.count(pn.Dag({v.name: () for v in data.variables}), data)
        assert counts.rows == data.total
        pn.write_data(data, workplace() / "again.csv")
        again = pn.read_data(workplace() / "again.csv", variables=data.variables)
        assert again == data, "written and read, they are other rows"
        assert sum(map(len, pn.scan_data(path, variables=data.variables))) == rows
    return True


# Readings and the option --bin


@cache
def _binned() -> tuple[pn.Variable, pn.Variable]:
    numbers = pn.bin_measurements([1.0, 5.0], edges=[0.0, 2.5, 10.0], name="n").variable
    dates = pn.bin_measurements(["2024-05-31"], edges=["2024-01-01", "2024-07-01"], name="d").variable
    return numbers, dates


def _seed_readings() -> list[bytes]:
    texts = [
        "37.2",
        "<5",
        ">=10",
        "90+",
        "ND<0.5",
        "3..7",
        "20-30",
        "[20,30)",
        "(20;30]",
        "5±1",
        "5 (4-6)",
        "2024-05-31",
        "?",
    ]
    texts += [
        "2024-05-31T10:00Z..2024-06-01",
        "-5--3",
        "1e-3",
        "inf",
        "t:edges=1,2 error=5% ends=closed unit=C labels=a,b,c",
    ]
    texts += ["t:bins=3 edges=width", "a,b:edges=2024-01-01,2024-06-01", "age:target=rash", "x:error=sd relative=.1"]
    return [text.encode() for text in texts]


def check_reading(content: bytes, thorough: bool) -> bool:
    """Parse a reading, bin it, and take it for the option of a binning as well."""
    text = content.decode(errors="replace")
    reading = parse_reading(text)
    accepted = not isinstance(reading, str)
    if not isinstance(reading, str):
        assert not reading.lower > reading.upper, "an interval that runs backwards"
    for variable in _binned() if thorough else ():
        ((cell,), problems) = bin_texts([text], variable)
        assert problems or cell is None or (cell and set(cell) <= set(variable.states)), "states of another variable"
    if thorough:
        with suppress(pn.PossnetError):
            pn.bin_measurements([text, 1.0], edges=[0.0, 2.5])
    try:
        _read_binning(text)
    except ValueError:
        return accepted
    return True


# Networks


def _seed_networks() -> list[bytes]:
    two = [pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v", "w"), ordered=True)]
    network = pn.Network(
        two, pn.Dag({"a": (), "b": ("a",)}), {"a": [1, 0.5], "b": [[1, 0.2, 0], [0.3, 1, 1]]}, name="n"
    )
    binned = pn.bin_measurements([1.0, 5.0], edges=[0.0, 2.5], name="n").variable
    with_bins = pn.Network([binned], pn.Dag({"n": ()}), {"n": [1, 0.5, 0.25]}, conjunction=pn.MIN)
    learned = pn.fit(pn.Dag({"a": (), "b": ("a",)}), pn.Dataset.from_rows(two, [("x", "u"), ("y", {"v", "w"})]))
    upper: dict[str, Any] = {"a": [1, 0.6], "b": [[1, 0.4, 0], [0.3, 1, 1]]}
    bounds = network.with_bounds({"a": [1, 0.4], "b": network.table("b")}, upper)
    return [encode_network(net).encode() for net in (network, with_bins, learned, bounds, pn.load_example("pump"))]


def check_json_network(content: bytes, thorough: bool) -> bool:
    """Decode a JSON network."""
    use_network(decode_network(content, "input.json"), thorough=thorough)
    return True


def _seed_counts() -> list[bytes]:
    scope = [pn.Variable("v", ("a", "b", "c")), pn.Variable("w", ("s", "t"))]
    data = pn.Dataset.from_rows(scope, [("a", {"s", "t"}), ({"a", "b"}, None), (None, "s"), ("c", "t")])
    dag, seeds = pn.Dag({"v": (), "w": ("v",)}), []
    halves = np.array([0.5, 1.25, 2.0, 1.0])
    for counts in (pn.count(dag, data, focal=True), pn.count(dag, data), pn.count(dag, data.with_weights(halves))):
        path = workplace() / "seed.json"
        pn.write_counts(counts, path)
        sealed = path.read_bytes()
        seeds += [sealed, sealed[: sealed.index(b',\n  "checksum"')] + b"}"]
    return seeds


def check_counts(content: bytes, thorough: bool) -> bool:
    """Read counts, add them, fit a network to them, write and read them again."""
    counts = pn.read_counts(_put("counts.json", content))
    if thorough:
        learned = pn.fit(counts.dag, counts)
        assert learned.variables == counts.variables
        pn.write_counts(counts, workplace() / "again.json")
        assert pn.read_counts(workplace() / "again.json") == counts, "written and read, they are other counts"
    return True


_BIF = b"""network n { }
variable a { type discrete [ 2 ] { yes, no }; }
variable b { type discrete [ 3 ] { "u v", <5, 12+ }; property x; }
probability ( a ) { table .2, .8; } // one
probability ( b | a ) { (yes) .2, .3, .5; (no) 0 1 0; /* two */ }
"""


def _seed_bif() -> list[bytes]:
    others = [_BIF.replace(b"(yes) .2, .3, .5; (no) 0 1 0;", b"table .2 0 .3 1 .5 0;")]
    others += [
        _BIF.replace(b"(no) 0 1 0;", b"default .1, .1, .8;"),
        b"variable x{type discrete[1]{y};}probability(x){table 1;}",
    ]
    return [_BIF, *others]


def check_bif(content: bytes, thorough: bool) -> bool:
    """Decode a BIF network."""
    use_network(decode_bif(content, "input.bif"), thorough=thorough)
    return True


_XMLBIF = b"""<?xml version="1.0"?><BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>a</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>b</NAME><OUTCOME>u</OUTCOME><OUTCOME>v</OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.2 0.8</TABLE></DEFINITION>
<DEFINITION><FOR>b</FOR><GIVEN>a</GIVEN><TABLE>0.5 0.5 <!-- no --> 1 0</TABLE></DEFINITION></NETWORK></BIF>
"""


def check_xmlbif(content: bytes, thorough: bool) -> bool:
    """Decode an XMLBIF network."""
    use_network(decode_xmlbif(content, "input.xmlbif"), thorough=thorough)
    return True


def _written_seeds(write: Callable[..., None]) -> list[bytes]:
    """Networks that possnet wrote, with its degrees beside the probabilities."""
    odd = pn.Variable('a "b"', ("<5", "x y"), ordered=True)
    binned = pn.bin_measurements([1.0, 5.0], edges=[0.0, 2.5], name="n").variable
    dag = pn.Dag({odd.name: ("n",), "n": ()})
    network = pn.Network(
        [odd, binned], dag, {odd.name: [[1.0, 0.5], [0.2, 1.0], [1.0, 0.0]], "n": [1, 0.5, 0.25]}, conjunction=pn.MIN
    )
    write(network, workplace() / "seed")
    return [(workplace() / "seed").read_bytes()]


_HUGIN = b"""net { node_size = (80 40); }
node a { label = "A, or not"; position = (10 20); states = ("yes" "no"); }
discrete node b { states = (u v "w x"); subtype = number; } % a comment
potential (a) { data = (.2 .8); }
potential (b | a) { data = ((.2 .3 .5) (0 1 0)); }
"""


def _seed_hugin() -> list[bytes]:
    inside = b"class c { inputs = (); " + _HUGIN.replace(b"net { node_size = (80 40); }", b"") + b"}"
    return [_HUGIN, inside, _HUGIN.replace(b"data = (.2 .8);", b""), *_written_seeds(write_hugin)]


def check_hugin(content: bytes, thorough: bool) -> bool:
    """Decode a Hugin network."""
    use_network(decode_hugin(content, "input.net"), thorough=thorough)
    return True


_XDSL = b"""<?xml version="1.0"?><smile version="1.0" id="n"><nodes>
<cpt id="a"><state id="yes"/><state id="no"/><property id="p">q</property><probabilities>0.2 0.8</probabilities></cpt>
<cpt id="b"><state id="u"/><state id="v"/><parents>a</parents><probabilities>.5 .5 1 0</probabilities></cpt>
<deterministic id="c"><state id="u"/><state id="v"/><parents>a b</parents><resultingstates>u v v u</resultingstates>
</deterministic></nodes><extensions><genie><node id="a"><position>1 2 3 4</position></node></genie></extensions></smile>
"""


def check_xdsl(content: bytes, thorough: bool) -> bool:
    """Decode an XDSL network."""
    use_network(decode_xdsl(content, "input.xdsl"), thorough=thorough)
    return True


def _seed_uai() -> list[bytes]:
    factors = b"2\n2 3\n2\n1 0\n2 0 1\n\n2\n 1.0 0.5\n\n6\n 1 .2 0 .3 1 1\n"
    return [
        b"MARKOV\n" + factors,
        b"BAYES\n" + factors,
        b"MARKOV 1 1 0",
        b"MARKOV\n2 2 2\n3 1 0 1 1 2 1 0\n2 1 .5 2 1 1 4 1 0 0 1",
    ]


def check_uai(content: bytes, thorough: bool) -> bool:
    """Decode a UAI network."""
    use_network(decode_uai(content, workplace() / "input.uai"), thorough=thorough)
    return True


# Evidence


@cache
def _asked() -> tuple[pn.Network, pn.Inference]:
    binned = pn.bin_measurements([1.0, 5.0], edges=[0.0, 2.5], name="age").variable
    fever = pn.Variable("fever", ("none", "mild", "high"), ordered=True)
    tables: dict[str, Any] = {"age": [1, 0.5, 0.25], "fever": [[1, 0.5, 0], [0.2, 1, 0.5], [0, 0.5, 1]]}
    network = pn.Network([binned, fever], pn.Dag({"age": (), "fever": ("age",)}), tables)
    return network, pn.Inference(network)


def _seed_evidence() -> list[bytes]:
    texts = [
        "fever=mild|high",
        "fever=!none",
        "fever={mild, high}",
        "fever=none..mild",
        "age>40",
        "age=1.5",
        "age=<0",
        "age=?",
    ]
    texts += [
        "fever=high:1|mild:.4",
        "age=1..3",
        "fever=*",
        "2 0 1 1 0",
        "1 2 0 1 1 0",
        "1 1 2",
        "0",
        "age=5±1",
        "fever = mild",
    ]
    return [text.encode() for text in texts]


def check_evidence(content: bytes, thorough: bool) -> bool:
    """Read a finding as --given takes it, and the same bytes as a UAI evidence file; query with what is accepted."""
    network, engine = _asked()
    accepted = False
    for read in (_read_given, _read_evidence_file):
        try:
            evidence = read(content, network)
            accepted = True
            if evidence and thorough:
                engine.query("fever" if "fever" not in evidence else "age", evidence)
        except pn.PossnetError as error:
            assert len(str(error)) <= 500, f"a message of {len(str(error))} characters"
    return accepted


def _read_given(content: bytes, network: pn.Network) -> dict[str, Any]:
    try:
        name, cell = _read_finding(content.decode(errors="replace"))
    except pn.InputError:
        raise
    except ValueError:  # click says that it is no finding
        raise pn.InputError("no finding") from None
    return dict(parse_evidence({name: cell}, network))


def _read_evidence_file(content: bytes, network: pn.Network) -> dict[str, Any]:
    return dict(pn.read_evidence(_put("input.uai.evid", content), network))


_CELLS = (
    b"mild",
    b"high",
    b"a|b",
    b"?",
    b"!a",
    b"b..d",
    b"{a, b}",
    b"[1,2]",
    b'["a"]',
    b"high:1|mild:.4",
    b"1",
    b"2.5",
    b"<5",
    b"NA",
    b"",
    b"x",
)
_JSON = tuple(
    b'"%s"' % word
    for word in (
        b"name",
        b"states",
        b"parents",
        b"degrees",
        b"format",
        b"version",
        b"support",
        b"bins",
        b"gate",
        b"rows",
    )
)
READERS: tuple[Reader, ...] = (
    Reader("csv", "CSV files, read, counted, written, read again", _seed_rows, _CELLS, check_rows, mutate_rows, 2_000, 40),
    Reader("readings", "texts of readings and of --bin", _seed_readings, (b"5", b"<", b"..", b"\xc2\xb1", b"+", b"2024-05-31", b"inf", b"-", b"(", b"]", b"edges=", b"bins=", b"error=", b"%", b"labels=", b"T10:00", b"Z"), check_reading),
    Reader("json", "JSON networks, decoded, queried, encoded again", _seed_networks, _JSON, check_json_network, mutate_json, 5_000),
    Reader("counts", "files of counts, read, added, fitted, written", _seed_counts, _JSON, check_counts, mutate_json, 5_000),
    Reader("bif", "BIF networks", _seed_bif, (b"variable", b"probability", b"table", b"default", b"property", b"type", b"discrete", b"{", b"}", b"(", b")", b"|", b";", b"//", b"/*", b"*/", b'"'), check_bif, chunk=5_000),
    Reader("xmlbif", "XMLBIF networks", lambda: [_XMLBIF, _XMLBIF.replace(b"OUTCOME", b"VALUE")], (b"<TABLE>", b"</TABLE>", b"<FOR>", b"<GIVEN>", b"<!DOCTYPE x>", b"<!ENTITY a 'b'>", b"&a;", b"<![CDATA[", b"]]>", b"<?x?>"), check_xmlbif, chunk=5_000),
    Reader("hugin", "Hugin networks", _seed_hugin, (b"node", b"discrete", b"potential", b"class", b"states", b"data", b"model_data", b"utility", b"net", b"{", b"}", b"(", b")", b"|", b";", b"=", b"%", b'"', b"&quot;", b"\\", b"possnet_degrees", b"possnet_network"), check_hugin, chunk=5_000),
    Reader("xdsl", "XDSL networks", lambda: [_XDSL, *_written_seeds(write_xdsl)], (b"<cpt id='d'>", b"</cpt>", b"<state id='w'/>", b"<parents>", b"</parents>", b"<probabilities>", b"<deterministic id='e'>", b"<noisymax>", b"<!ENTITY a 'b'>", b"&a;", b"<![CDATA[", b"]]>", b"possnet_degrees", b"possnet_network"), check_xdsl, chunk=5_000),
    Reader("uai", "UAI networks", _seed_uai, (b"MARKOV", b"BAYES", b" ", b"\n", b"1", b"2"), check_uai, chunk=5_000),
    Reader("evidence", "findings of --given and UAI evidence files", _seed_evidence, (b"fever", b"age", b"=", b"mild", b"none", b"|", b"<", b">", b"1", b"0", b" "), check_evidence),
)  # fmt: skip
