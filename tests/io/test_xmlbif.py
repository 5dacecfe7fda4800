"""Networks as XMLBIF: what they mean, and a sentence for every kind of bad file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import possnet as pn
from possnet.io.network_formats.bif import decode_bif
from possnet.io.network_formats.xmlbif import decode_xmlbif
from tests.io.small_bif import small_bif
from tests.refused import refused

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
    (tmp_path / "a.xmlbif").write_text(XML, encoding="utf-8")
    net = pn.read_network(tmp_path / "a.xmlbif", transform="ratio")
    same = decode_bif(small_bif(), "a", "ratio")
    assert net.name == "test"
    assert net.table("fever & co").tolist() == same.table("fever").tolist()
    assert net.table("rash").tolist() == same.table("rash").tolist()
    assert net.dag.parents("fever & co") == ("rash",)


BAD_XML: list[tuple[str, str]] = [
    ("", "bad.xml: the file is empty; expected an XMLBIF file"),
    ("hello", "bad.xml, line 1, column 1: syntax error; expected an XMLBIF file"),
    (XML[:300], "bad.xml, line 5, column 65: unclosed token; expected an XMLBIF file"),
    ("<BIF></BIF>", "bad.xml: no VARIABLE element; expected an XMLBIF file"),
    (XML.replace("<!ELEMENT BIF ( NETWORK )*>", '<!ENTITY a "b">'), "bad.xml, line 2: an entity is declared; expected an XMLBIF file"),
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
