"""Networks as XDSL files, the format of GeNIe and SMILE.

Below ``nodes``, a ``cpt`` element has ``state`` elements, the ``parents`` and the ``probabilities``, in which the first
parent varies slowest and the variable itself fastest (SMILE's manual, "Multidimensional arrays": the leftmost coordinate is
the first parent, the rightmost the node); a ``deterministic`` element has the ``resultingstates`` of the parents'
configurations instead. aGrUM writes the first parent as the fastest: its files, which name it, are read in its order.
Noisy gates, decisions, utilities and equations are refused by name: their tables are not in the file. Names are the ``id``
of elements, which are identifiers.

Possibilistic networks are written with probabilities for other programs, and their degrees beside them as user properties
of the nodes: see `possnet.io.kept_degrees`. Entity declarations are refused: no network needs them.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import InputError, did_you_mean, listing, warn_user
from possnet.io.atomic_files import write_text
from possnet.io.file_access import file_stem
from possnet.io.formats import NetworkFormat
from possnet.io.kept_degrees import IDENTIFIER, NODE_SIZE, NOTES, KeptDegrees, format_rows, prepare_network
from possnet.io.probability_tables import NetworkDraft, parse_numbers
from possnet.io.xml_elements import escape_xml, fail_at, parse_xml, texts_of

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree.ElementTree import Element

    from possnet.aliases import Floats
    from possnet.io.kept_degrees import WrittenNetwork
    from possnet.io.probability_tables import Fail
    from possnet.network import Network
    from possnet.transforms import Transform

_REFUSED = {
    "noisymax": "a noisy-MAX node; expected a table: in GeNIe, change the type of the node to General",
    "noisyadder": "a noisy-adder node; expected a table: in GeNIe, change the type of the node to General",
    "decision": "a decision; expected chance nodes only",
    "utility": "a utility; expected chance nodes only",
    "mau": "a utility of several attributes; expected chance nodes only",
    "equation": "an equation over numbers; expected discrete nodes only",
    "submodel": "a submodel; expected nodes",
    "demorgan": "a DeMorgan gate; expected a table: in GeNIe, change the type of the node to General",
}
_OTHER_ORDER = "aGrUM"  # the program whose files have their parents the other way round


def decode_xdsl(content: bytes, path: str | Path, transform: Transform = "optimal") -> Network:
    """Network of the bytes of an XDSL file; its path is named in errors, and names a network that has no name.

    >>> node = b"<cpt id='rash'><state id='yes'/><state id='no'/><probabilities>.2 .8</probabilities></cpt>"
    >>> decode_xdsl(b"<smile><nodes>" + node + b"</nodes></smile>", "n.xdsl").table("rash")
    array([0.2, 1. ])
    """
    owner = str(path)
    if not content.strip():
        raise InputError(f"{owner}: the file is empty; expected an XDSL file")
    root = parse_xml(content, owner, "an XDSL file")
    if root.tag != "smile":
        raise InputError(f"{owner}: the first element is {root.tag[:40]!r}; expected smile, as XDSL files have it")
    if root.find("dynamic") is not None:
        raise InputError(f"{owner}: a dynamic network; expected one without time slices: unroll it first")
    draft, kept = NetworkDraft(owner, "table"), KeptDegrees()
    nodes = [node for group in root.findall("nodes") for node in group]
    for node in nodes:
        _declare_node(draft, kept, node)
    if not draft.variables:
        raise InputError(f"{owner}: no cpt element; expected an XDSL file")
    for node in nodes:
        _read_table(draft, node)
    _restore_order(draft, root)
    return kept.build_network(draft, transform, root.get("id") or file_stem(path))


def _declare_node(draft: NetworkDraft, kept: KeptDegrees, node: Element) -> None:
    """Read the name and the states of a node, and what possnet kept there."""
    fail, name = partial(fail_at, draft.owner, node), node.get("id", "")
    if node.tag not in {"cpt", "deterministic"}:
        fail(f"{name[:80]!r} is {_REFUSED.get(node.tag, f'of the unknown type {node.tag[:40]!r}; expected cpt')}")
    draft.declare_variable(name, [state.get("id", "") for state in node.findall("state")], fail)
    notes = {entry.get("id", ""): entry.text or "" for entry in node.findall("property")}
    kept.variables[name] = {note: notes[note] for note in NOTES if note in notes}
    kept.network = notes.get("possnet_network", kept.network)


def _read_table(draft: NetworkDraft, node: Element) -> None:
    """Read the parents of a node and its table."""
    fail, child = partial(fail_at, draft.owner, node), node.get("id", "")
    given = tuple(" ".join(texts_of(node, "parents")).split())
    shape = draft.table_shape(child, given, fail)
    if node.tag == "deterministic":
        table = _read_states(draft, child, shape, " ".join(texts_of(node, "resultingstates")).split(), fail)
    else:
        words = " ".join(texts_of(node, "probabilities")).split()
        values = parse_numbers(words)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            fail(f"{words[wrong[0]][:40]!r} in the probabilities of {child!r}; expected numbers")
        if len(values) != prod(shape):
            fail(f"{child!r} has {len(values)} probabilities; expected {prod(shape)}")
        table = values.reshape(shape)
    draft.parents[child], draft.tables[child] = given, table


def _restore_order(draft: NetworkDraft, root: Element) -> None:
    """Turn the tables of a file of aGrUM, in which the first parent varies fastest, to the order of GeNIe."""
    program = root.find("extensions/genie")
    app = "" if program is None else program.get("app", "")
    turned = [child for child, parents in draft.parents.items() if len(parents) > 1]
    if not app.startswith(_OTHER_ORDER) or not turned:
        return
    for child in turned:
        table = draft.tables[child]
        sizes = table.shape[:-1]
        axes = (*reversed(range(len(sizes))), len(sizes))
        draft.tables[child] = np.ascontiguousarray(table.reshape(*reversed(sizes), table.shape[-1]).transpose(axes))
    warn_user(
        f"{draft.owner}: written by {app[:40]}, in whose XDSL files the first parent varies fastest, and not the last as "
        f"in GeNIe's: the {'table' if len(turned) == 1 else 'tables'} of {listing(turned)} "
        f"{'is' if len(turned) == 1 else 'are'} read in that order; a .bif or .net file leaves no doubt"
    )


def _read_states(draft: NetworkDraft, child: str, shape: list[int], words: list[str], fail: Fail) -> Floats:
    """Table of a deterministic node: probability 1 for the state of every context, 0 for others."""
    variable = draft.variables[child]
    if len(words) != prod(shape[:-1]):
        fail(f"{child!r} has {len(words)} resulting states; expected {prod(shape[:-1])}, one for every context")
    for word in words:
        if word not in variable:
            near = did_you_mean(word, variable.states)
            fail(f"{word[:40]!r} is not a state of {child!r}{near}; expected one of its states")
    table = np.zeros((len(words), len(variable)))
    table[np.arange(len(words)), [variable.index(word) for word in words]] = 1.0
    return table.reshape(shape)


def write_xdsl(network: Network, path: str | Path, *, transform: str | None = None) -> None:
    """Write a network as an XDSL file: probabilities by the inverse of ``transform``, and the degrees beside them."""
    page = prepare_network(network, transform, str(path), IDENTIFIER, IDENTIFIER)
    title = IDENTIFIER.sub("_", network.name) or "Network1"
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<smile version="1.0" id="{title}" numsamples="10000" discsamples="10000">')
    lines.append("  <nodes>")
    for number, name in enumerate(network.dag.topological_order()):  # GeNIe reads parents before their children
        notes = {"possnet_network": page.network_note} if number == 0 else {}
        lines += _format_node(page, name, notes | page.notes[name])
    lines += ["  </nodes>", "  <extensions>", f'    <genie version="1.0" app="possnet" name="{title}">']
    width, height = (round(size / 2) for size in NODE_SIZE)
    for name, (x, y) in page.places.items():
        lines.append(f'      <node id="{page.labels[name]}">')
        lines.append(f"        <name>{escape_xml(page.labels[name])}</name>")
        lines.append('        <interior color="e5f6f7" />\n        <outline color="0000bb" />')
        lines.append('        <font color="000000" name="Arial" size="8" />')
        lines.append(f"        <position>{x - width} {y - height} {x + width} {y + height}</position>\n      </node>")
    write_text(path, "\n".join([*lines, "    </genie>", "  </extensions>", "</smile>", ""]))


def _format_node(page: WrittenNetwork, name: str, notes: dict[str, str]) -> list[str]:
    lines = [f'    <cpt id="{page.labels[name]}">']
    lines += [f'      <property id="{note}">{escape_xml(text)}</property>' for note, text in notes.items()]
    lines += [f'      <state id="{state}" />' for state in page.states[name]]
    if given := [page.labels[parent] for parent in page.network.dag.parents(name)]:
        lines.append(f"      <parents>{' '.join(given)}</parents>")
    lines.append(f"      <probabilities>{' '.join(format_rows(page.probabilities[name]))}</probabilities>")
    lines.append("    </cpt>")
    return lines


FORMAT = NetworkFormat(
    name="xdsl",
    label="XDSL",
    suffixes=(".xdsl",),
    sniff=lambda head: head.startswith((b"<?xml", b"<smile")) and b"<smile" in head,
    options=("transform",),
    decode=decode_xdsl,
    write=write_xdsl,
)
