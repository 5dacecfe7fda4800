"""Networks as XDSL files: what they mean, and a sentence for every kind of bad file."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import possnet as pn
from possnet.io.network_formats.bif import decode_bif
from possnet.io.network_formats.xdsl import decode_xdsl
from tests.io.small_bif import small_bif
from tests.refused import refused

XDSL = """<?xml version="1.0" encoding="ISO-8859-1"?>
<smile version="1.0" id="test" numsamples="1000"><nodes>
<cpt id="rash"><state id="yes" /><state id="no" /><property id="cost">5</property><probabilities>0.25 0.75</probabilities></cpt>
<cpt id="fever" diagtype="target"><state id="none"/><state id="mild" fault="true"/><state id="high"/>
<parents>rash</parents><probabilities>.1 .2 .7 .6 .3 .1</probabilities></cpt>
</nodes><extensions><genie version="1.0" app="GeNIe"><node id="rash"><position>1 2 3 4</position></node></genie></extensions>
</smile>
"""
DETERMINISTIC = """<deterministic id="alarm"><state id="on"/><state id="off"/><parents>rash fever</parents>
<resultingstates>on off off off off on</resultingstates></deterministic>"""


def test_xdsl_means_the_same_as_bif(tmp_path: Path) -> None:
    (tmp_path / "a.xdsl").write_text(XDSL, encoding="utf-8")
    net = pn.read_network(tmp_path / "a.xdsl", transform="ratio")
    same = decode_bif(small_bif(), "a", "ratio")
    assert net.name == "test"
    for name in ("rash", "fever"):
        assert net.table(name).tolist() == same.table(name).tolist()
    assert net.dag.parents("fever") == ("rash",)


def test_a_deterministic_node_has_one_state_in_every_context() -> None:
    net = decode_xdsl(XDSL.replace("</nodes>", f"{DETERMINISTIC}</nodes>").encode(), "a.xdsl")
    on = net.table("alarm")[..., 0]
    assert on.tolist() == [[1, 0, 0], [0, 0, 1]]
    assert (net.table("alarm").sum(axis=-1) == 1).all()


ALARM = """<cpt id="alarm"><state id="on"/><state id="off"/><parents>rash fever</parents>
<probabilities>1 0 .9 .1 .8 .2 .7 .3 .6 .4 .5 .5</probabilities></cpt>"""


@pytest.mark.parametrize(
    ("app", "on"),
    [  # by rash (yes, no) and fever (none, mild, high): the last parent is the fastest for GeNIe, the first for aGrUM
        ("GeNIe 4.1", [[1, 0.9, 0.8], [0.7, 0.6, 0.5]]),
        ("aGrUM 3.3.1", [[1, 0.8, 0.6], [0.9, 0.7, 0.5]]),
    ],
)
def test_which_parent_varies_fastest_follows_the_program_that_wrote_the_file(app: str, on: list[list[float]]) -> None:
    content = _with(ALARM).replace('app="GeNIe"', f'app="{app}"').encode()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = decode_xdsl(content, "a.xdsl", "ratio").table("alarm")
    probability = table / table.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(probability[..., 0], on, atol=1e-12)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == app.startswith("aGrUM")
    assert not messages or ("written by aGrUM 3.3.1" in messages[0] and "the table of alarm is read" in messages[0])


def test_a_file_of_agrum_without_doubt_is_read_without_a_word() -> None:
    content = XDSL.replace('app="GeNIe"', 'app="aGrUM 3.3.1"').encode()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert decode_xdsl(content, "a.xdsl").dag.parents("fever") == ("rash",)


def _with(node: str) -> str:
    return XDSL.replace("</nodes>", f"{node}</nodes>")


BAD: list[tuple[str, str]] = [
    ("", "bad.xdsl: the file is empty; expected an XDSL file"),
    ("hello", "bad.xdsl, line 1, column 1: syntax error; expected an XDSL file"),
    (XDSL[:300], "bad.xdsl, line 4, column 53: unclosed token; expected an XDSL file"),
    ("<BIF></BIF>", "the first element is 'BIF'; expected smile"),
    ("<smile></smile>", "bad.xdsl: no cpt element; expected an XDSL file"),
    ("<smile><dynamic/></smile>", "a dynamic network; expected one without time slices"),
    ("<!DOCTYPE smile [<!ENTITY a 'b'>]><smile>&a;</smile>", "line 1: an entity is declared; expected an XDSL file"),
    ("<!DOCTYPE smile SYSTEM 'file:///etc/passwd'><smile>&a;</smile>", "no cpt element"),
    ("<a>" * 100, "line 1: elements nested deeper than 64 levels; expected an XDSL file"),
    (_with('<noisymax id="n"/>'), "line 6: 'n' is a noisy-MAX node; expected a table: in GeNIe, change the type"),
    (_with('<decision id="d"/>'), "'d' is a decision; expected chance nodes only"),
    (_with('<utility id="u"/>'), "'u' is a utility; expected chance nodes only"),
    (_with('<mau id="u"/>'), "'u' is a utility of several attributes"),
    (_with('<equation id="e"/>'), "'e' is an equation over numbers; expected discrete nodes only"),
    (_with('<other id="o"/>'), "'o' is of the unknown type 'other'; expected cpt"),
    (_with('<cpt id="rash"/>'), "variable 'rash' is declared twice"),
    (_with('<cpt id="x"/>'), "variable 'x': no states"),
    (_with(DETERMINISTIC.replace("on off", "on", 1)), "'alarm' has 5 resulting states; expected 6, one for every context"),
    (_with(DETERMINISTIC.replace("on off", "on of", 1)), "'of' is not a state of 'alarm'; did you mean 'off'?"),
    (XDSL.replace("0.25 0.75", "0.25"), "line 3: 'rash' has 1 probabilities; expected 2"),
    (XDSL.replace("0.25 0.75", "a b"), "'a' in the probabilities of 'rash'; expected numbers"),
    (XDSL.replace("0.25 0.75", "nan 1"), "'nan' in the probabilities of 'rash'; expected numbers"),
    (XDSL.replace("0.25 0.75", "0.2 0.2"), "the probabilities of 'rash' add up to 0.4; expected 1"),
    (XDSL.replace("<parents>rash", "<parents>rsah"), "'rsah' is not a variable; did you mean 'rash'?"),
    (XDSL.replace("<parents>rash", "<parents>fever"), "bad.xdsl, line 4: 'fever' has 6 probabilities; expected 9"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD)
def test_a_bad_xdsl_is_refused_with_its_place(content: str, message: str) -> None:
    assert refused(re.escape(message), decode_xdsl, content.encode(), "bad.xdsl").startswith("bad.xdsl")
