"""Networks as Hugin files: what they mean, what is kept, and a sentence for every kind of bad file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import possnet as pn
from possnet.io.network_formats.bif import decode_bif
from possnet.io.network_formats.hugin import decode_hugin
from tests.io.small_bif import small_bif
from tests.refused import refused

NET = """% a comment with "quotes
net { name = "test"; node_size = (80, 40); HR_Desc = "one; two { }"; }
node rash { label = "A rash?"; position = (10 20); states = ("yes" "no"); }
discrete node fever { states = (none mild "high \\"fever\\" % of it"); subtype = interval; }
potential (rash) { data = (0.25 0.75); % after it
}
potential (fever | rash) { data = ((.1 .2 .7) (.6 .3 .1)); }
"""


def test_hugin_means_the_same_as_bif(tmp_path: Path) -> None:
    (tmp_path / "a.net").write_text(NET, encoding="utf-8")
    net = pn.read_network(tmp_path / "a.net", transform="ratio")
    same = decode_bif(small_bif(), "a", "ratio")
    assert net.name == "test"
    assert net.table("fever").tolist() == same.table("fever").tolist()
    assert net.table("rash").tolist() == same.table("rash").tolist()
    assert net.dag.parents("fever") == ("rash",)
    assert net.variable("fever") == pn.Variable("fever", ("none", "mild", 'high "fever" % of it'), ordered=True)


def test_the_first_parent_varies_slowest_and_the_child_fastest() -> None:
    nodes = 'node a { states = ("0" "1"); } node b { states = ("0" "1" "2"); } node c { states = ("0" "1"); }'
    rows = [f"({k} {6 - k})" for k in range(6)]
    text = f"{nodes} potential (a) {{}} potential (b) {{}} potential (c | a b) {{ data = ({' '.join(rows)}); }}"
    scaled = text.replace("(0 6)", "(0 1)")
    for k in range(1, 6):
        scaled = scaled.replace(f"({k} {6 - k})", f"({k / 6} {1 - k / 6})")
    net = decode_hugin(scaled.encode(), "n.net", "ratio")
    assert net.table("a").tolist() == [1, 1]  # a potential without data is uniform
    assert net.table("c")[1, 0].tolist() == [1, 1]  # k = 3: one half each
    assert net.table("c")[0, 2].tolist() == pytest.approx([0.5, 1])  # k = 2
    assert net.table("c")[1, 2].tolist() == pytest.approx([1, 0.2])  # k = 5


def test_a_class_around_the_network_is_passed_over() -> None:
    body = NET.partition("\n")[2].partition("\n")[2]
    inside = f'class Clinic {{ inputs = (); HR_Desc = "}}"; {body} }}'
    assert decode_hugin(inside.encode(), "n.net") == decode_hugin(NET.encode(), "n.net")


BAD: list[tuple[str, str]] = [
    ("", "bad.net: the file is empty; expected a Hugin file"),
    ("\0\1\xff", "bad.net, line 1, column 3: not text; expected a Hugin file"),
    ("hello", "line 1, column 1: 'hello'; expected a net, node or potential block"),
    ("net {}", "bad.net: no node; expected a Hugin file"),
    (NET[:60], "in the block of net; expected attribute = value; or }"),
    (NET + "}", "'}'; expected a net, node or potential block"),
    (NET + "class x { ", "the file ends inside a class"),
    (NET + "potential rash", "expected potential (child | parents)"),
    ("net { }\nnode rash x { }", "bad.net, line 2, column 11: 'x { }'; expected {"),
    (NET.replace("node rash", "continuous node rash"), "'rash' is a continuous node; expected discrete nodes only"),
    (NET + "decision act { states = (a b); }", "'act' is a decision; expected discrete nodes only"),
    (NET + "utility gain { }", "line 8, column 1: 'gain' is a utility; expected discrete nodes only"),
    (NET + "instance i : other (a = b) { }", "'i' is an instance of another network"),
    (NET.replace("data = (0.25 0.75);", "model_data = (NoisyOR (a));"), "is an expression (model_data); expected numbers"),
    (NET.replace('states = ("yes" "no");', ""), "line 3, column 1: node 'rash' has no states"),
    (NET.replace('("yes" "no")', '("yes" "yes")'), "state 'yes' appears twice"),
    (NET.replace("0.25 0.75", "0.25"), "line 5, column 27: the data of 'rash' have 1 numbers; expected 2"),
    (NET.replace("0.25 0.75", "a b"), "'a' in the data of 'rash'; expected probabilities"),
    (NET.replace("0.25 0.75", "nan 1"), "'nan' in the data of 'rash'; expected probabilities"),
    (NET.replace("0.25 0.75", "0.2 0.2"), "the probabilities of 'rash' add up to 0.4; expected 1"),
    (NET.replace("(fever | rash)", "(fever | rsah)"), "'rsah' is not a variable; did you mean 'rash'?"),
    (NET.replace("(fever | rash)", "(fever rash)"), "a potential of 2 variables; expected one variable"),
    (NET + "potential (rash) { data = (.5 .5); }", "a second potential for 'rash'"),
    (NET.replace("(fever | rash) { data = ((.1 .2 .7) (.6 .3 .1)); }", "(rash | rash) {}"), "a second potential for 'rash'"),
    (NET + "node more { states = (a); }", "bad.net: no potential for more"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD)
def test_a_bad_hugin_file_is_refused_with_its_place(content: str, message: str) -> None:
    encoded = content.encode("latin-1") if "\xff" in content else content.encode()
    assert refused(re.escape(message), decode_hugin, encoded, "bad.net").startswith("bad.net")
