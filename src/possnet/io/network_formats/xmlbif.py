"""Networks from XMLBIF files, and probabilities of networks to them.

``VARIABLE`` elements hold ``OUTCOME`` elements; ``DEFINITION`` elements hold ``FOR``, ``GIVEN`` and ``TABLE``. In a
``TABLE`` the variable itself varies fastest and the first ``GIVEN`` slowest, as in the format's own example. Entity
declarations are refused: no network needs them.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import InputError
from possnet.io.atomic_files import write_text
from possnet.io.file_access import file_stem
from possnet.io.formats import NetworkFormat
from possnet.io.kept_degrees import PRINTABLE, format_rows, make_labels
from possnet.io.probability_tables import NetworkDraft, compute_probabilities, require_transform
from possnet.io.xml_elements import escape_xml, fail_at, parse_xml, require_xml_text, texts_of

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree.ElementTree import Element

    from possnet.network import Network
    from possnet.transforms import Transform


def decode_xmlbif(content: bytes, path: str | Path, transform: Transform = "optimal") -> Network:
    """Network of the bytes of an XMLBIF file; its path is named in errors, and names a network that has no name."""
    owner = str(path)
    if not content.strip():
        raise InputError(f"{owner}: the file is empty; expected an XMLBIF file")
    root = parse_xml(content, owner, "an XMLBIF file", str.upper)
    draft = NetworkDraft(owner, "DEFINITION")
    for element in root.iter("VARIABLE"):
        states = texts_of(element, "OUTCOME") or texts_of(element, "VALUE")
        draft.declare_variable("".join(texts_of(element, "NAME")), states, partial(fail_at, owner, element))
    if not draft.variables:
        raise InputError(f"{owner}: no VARIABLE element; expected an XMLBIF file")
    for element in root.iter("DEFINITION"):
        _read_definition(draft, element)
    titles = [title for network in root.iter("NETWORK") for title in texts_of(network, "NAME")]
    return draft.build_network(transform, "".join(titles[:1]) or file_stem(path))


def _read_definition(draft: NetworkDraft, element: Element) -> None:
    """Read a DEFINITION element: the child, its parents, and its table."""
    fail = partial(fail_at, draft.owner, element)
    names = texts_of(element, "FOR")
    if len(names) != 1:
        fail(f"a DEFINITION for {len(names)} variables; expected one FOR")
    child, given = names[0], tuple(texts_of(element, "GIVEN"))
    shape = draft.table_shape(child, given, fail)
    words = " ".join(texts_of(element, "TABLE")).replace(",", " ").split()
    try:
        values = np.array(words, dtype=np.float64)
    except ValueError:
        fail(f"the table of {child!r} holds something else than numbers; expected probabilities")
    if len(values) != prod(shape) or not np.isfinite(values).all():
        fail(f"the table of {child!r} has {len(values)} numbers; expected {prod(shape)} finite ones")
    draft.parents[child], draft.tables[child] = given, values.reshape(shape)


def write_xmlbif(network: Network, path: str | Path, *, transform: str | None = None) -> None:
    """Write the probabilities of a product-based network as an XMLBIF file; the inverse of ``transform`` gives them."""
    owner = str(path)
    chosen = require_transform(network, transform, owner, "XMLBIF")
    probabilities = compute_probabilities(network, chosen, owner)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
    lines.append(f"<NAME>{escape_xml(make_labels([network.name or 'network'], PRINTABLE)[0])}</NAME>")
    lines.append(f"<PROPERTY>possibilities turned into probabilities with the inverse of '{chosen}'</PROPERTY>")
    for variable in network.variables:
        outcomes = "".join(f"<OUTCOME>{require_xml_text(state, owner)}</OUTCOME>" for state in variable.states)
        lines.append(
            f'<VARIABLE TYPE="nature"><NAME>{require_xml_text(variable.name, owner)}</NAME>{outcomes}</VARIABLE>'
        )
    for variable in network.variables:
        given = "".join(f"<GIVEN>{escape_xml(parent)}</GIVEN>" for parent in network.dag.parents(variable.name))
        rows = "\n".join(format_rows(probabilities[variable.name]))
        lines.append(f"<DEFINITION><FOR>{escape_xml(variable.name)}</FOR>{given}<TABLE>\n{rows}\n</TABLE></DEFINITION>")
    write_text(path, "\n".join([*lines, "</NETWORK>", "</BIF>", ""]))


FORMAT = NetworkFormat(
    name="xmlbif",
    label="XMLBIF",
    suffixes=(".xmlbif", ".bifxml", ".xml"),
    sniff=lambda head: head.startswith((b"<?xml", b"<BIF")) and b"<smile" not in head,
    options=("transform",),
    decode=decode_xmlbif,
    write=write_xmlbif,
    needs_transform=True,
)
