"""Networks as Hugin files, ``.net``.

A ``net`` block, ``node`` blocks with ``states``, and ``potential`` blocks with ``data``, in which the parents vary from the
first, slowest, to the last, and the child fastest. Values are texts in quotes, numbers, or lists in parentheses; ``%``
begins a comment; attributes that possnet does not know are passed over, and so is a ``class`` around everything. A
potential without data is uniform, as the language has it. States that are numbers or intervals (``subtype``) are ordered.
Decisions, utilities, continuous nodes, instances of other networks and tables given by an expression are refused by name.

Possibilistic networks are written with probabilities for other programs, and their degrees beside them: see
`possnet.io.kept_degrees`.
"""

from __future__ import annotations

import re
from functools import partial
from math import prod
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from possnet.errors import InputError
from possnet.io.atomic_files import write_text
from possnet.io.file_access import decode_text, file_stem, locate_offset
from possnet.io.formats import NetworkFormat
from possnet.io.kept_degrees import IDENTIFIER, NODE_SIZE, NOTES, PRINTABLE, KeptDegrees, format_rows, prepare_network
from possnet.io.probability_tables import NetworkDraft, parse_numbers

if TYPE_CHECKING:
    from pathlib import Path

    from possnet.aliases import Floats
    from possnet.network import Network
    from possnet.transforms import Transform

_STRING = r'"(?:[^"\\]|\\.)*+"'
_WORD = r'[^\s{}()=;|",]+'
_COMMENT = re.compile(
    r'"(?:[^"\\]|\\.)*+(?:"|\Z)|%[^\n]*', re.DOTALL
)  # a string without an end ends the file: linear time
_HEAD = re.compile(rf"[\s;]*({_WORD})", re.DOTALL)
_NAME = re.compile(rf"\s*({_WORD})")
_ATTRIBUTE = re.compile(rf'\s*({_WORD})\s*=\s*((?:{_STRING}|[^;"{{}}]++)*+);', re.DOTALL)
_SCOPE = re.compile(r"\s*\(([^()]*)\)")
_OPEN = re.compile(r"\s*\{")
_CLOSE = re.compile(r"\s*\}")
_ITEM = re.compile(rf"{_STRING}|{_WORD}", re.DOTALL)
_REFUSED = {
    "continuous": "a continuous node",
    "decision": "a decision",
    "utility": "a utility",
    "function": "a function node",
    "instance": "an instance of another network",
    "temporal": "a temporal clone",
}
_SNIFF = re.compile(rb"(?:%[^\n]*\n\s*)*+(?:net\s*\{|(?:discrete\s+)?node\s+\S+\s*\{|class\s+\S+\s*\{)")


class _Attribute(NamedTuple):
    value: str
    place: int


def decode_hugin(content: bytes, path: str | Path, transform: Transform = "optimal") -> Network:
    """Network of the bytes of a Hugin file; its path is named in errors, and names a network that has no name.

    >>> text = b'net {} node rash { states = ("yes" "no"); } potential (rash) { data = (.2 .8); }'
    >>> decode_hugin(text, "n.net").table("rash")
    array([0.2, 1. ])
    """
    text = decode_text(content, str(path), "a Hugin file")
    if "%" in text:
        text = _COMMENT.sub(_blank_comment, text)
    return _HuginReader(str(path), text).read_network(transform, file_stem(path))


def _blank_comment(match: re.Match[str]) -> str:
    text = match.group()
    return text if text.startswith('"') else " " * len(text)


class _HuginReader:
    """Reader of the blocks of a text, which builds a network."""

    def __init__(self, owner: str, text: str) -> None:
        self.owner, self.text, self.position, self.classes = owner, text, 0, 0
        self.draft = NetworkDraft(owner, "potential")
        self.kept = KeptDegrees()
        self.name = ""

    def read_network(self, transform: Transform, name: str) -> Network:
        """Read all blocks, and their tables at the end, because a file may give them in any order."""
        potentials = []
        while (head := _HEAD.match(self.text, self.position)) is not None:
            word, at = head.group(1), head.start(1)
            if self.classes and (attribute := _ATTRIBUTE.match(self.text, at)) is not None:
                self.position = attribute.end()
                continue
            self.position = head.end()
            if word == "potential":
                potentials.append(
                    (at, self.require(_SCOPE, "potential (child | parents)"), self.read_block("potential"))
                )
            elif word == "class":
                self.require(_NAME, "the name of the class")
                self.require(_OPEN, "{")
                self.classes += 1
            else:
                self.read_header(word, at)
            while self.classes and (closing := _CLOSE.match(self.text, self.position)) is not None:
                self.classes, self.position = self.classes - 1, closing.end()
        left = self.text[self.position :].strip("; \t\r\n")
        if left or self.classes:
            finding = repr(left[:40]) if left else "the file ends inside a class"
            self.fail(len(self.text) - len(left), f"{finding}; expected a net, node or potential block")
        if not self.draft.variables:
            raise InputError(f"{self.owner}: no node; expected a Hugin file")
        for at, scope, attributes in potentials:
            self.read_potential(at, scope.group(1), attributes)
        return self.kept.build_network(self.draft, transform, self.name or name)

    def read_header(self, word: str, at: int) -> None:
        """Read a net block, or a node of any kind; only discrete nodes are taken."""
        if word == "net":
            attributes = self.read_block("net")
            if "possnet_network" in attributes:
                self.kept.network = _unquote_note(attributes["possnet_network"].value)
            if "name" in attributes:
                self.name = _unquote(attributes["name"].value)
            return
        if word == "discrete" or word in _REFUSED:
            kind = self.require(_NAME, "node").group(1)
            name = kind if kind != "node" else self.require(_NAME, "the name of the node").group(1)
            if word in _REFUSED:
                self.fail(at, f"{name!r} is {_REFUSED[word]}; expected discrete nodes only")
        elif word == "node":
            name = self.require(_NAME, "the name of the node").group(1)
        else:
            self.fail(at, f"{word[:40]!r}; expected a net, node or potential block")
        self.read_node(name, at, self.read_block(f"node {name[:40]}"))

    def read_node(self, name: str, at: int, attributes: dict[str, _Attribute]) -> None:
        """Read a node: its name, its states, and what possnet kept there."""
        if "states" not in attributes:
            self.fail(at, f'node {name!r} has no states; expected states = ("yes" "no");')
        states = [_unquote(item) for item in _ITEM.findall(attributes["states"].value)]
        ordered = "subtype" in attributes and _unquote(attributes["subtype"].value) in {"number", "interval"}
        self.draft.declare_variable(name, states, partial(self.fail, at), ordered=ordered)
        self.kept.variables[name] = {
            note: _unquote_note(attributes[note].value) for note in NOTES if note in attributes
        }

    def read_potential(self, at: int, scope: str, attributes: dict[str, _Attribute]) -> None:
        """Read a potential: the child, its parents, and its table."""
        fail = partial(self.fail, at)
        first, _, rest = scope.partition("|")
        names, given = re.findall(_WORD, first), tuple(re.findall(_WORD, rest))
        if len(names) != 1 or "|" in rest:
            fail(f"a potential of {len(names)} variables; expected one variable, then | and its parents")
        (child,) = names
        shape = self.draft.table_shape(child, given, fail)
        if "data" not in attributes and "model_data" in attributes:
            fail(f"the potential of {child!r} is an expression (model_data); expected numbers: save it with its table")
        if "data" in attributes:
            table = self.parse_data(child, shape, attributes["data"])
        else:
            table = np.full(shape, 1.0 / shape[-1])
        self.draft.parents[child], self.draft.tables[child] = given, table

    def parse_data(self, child: str, shape: list[int], data: _Attribute) -> Floats:
        """Parse the numbers of a table; parentheses group them and do not matter."""
        words = data.value.translate(_WITHOUT_MARKS).split()
        values = parse_numbers(words)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            self.fail(data.place, f"{words[wrong[0]][:40]!r} in the data of {child!r}; expected probabilities")
        if len(values) != prod(shape):
            self.fail(data.place, f"the data of {child!r} have {len(values)} numbers; expected {prod(shape)}")
        return values.reshape(shape)

    def read_block(self, what: str) -> dict[str, _Attribute]:
        """Read the attributes between braces."""
        start = self.position
        self.require(_OPEN, "{")
        attributes: dict[str, _Attribute] = {}
        while (match := _ATTRIBUTE.match(self.text, self.position)) is not None:
            attributes[match.group(1)] = _Attribute(match.group(2), match.start(2))
            self.position = match.end()
        closing = _CLOSE.match(self.text, self.position)
        if closing is None:
            left = self.text[self.position :].lstrip()
            at = len(self.text) - len(left) if left else start
            self.fail(at, f"{left[:40]!r} in the block of {what}; expected attribute = value; or }}")
        self.position = closing.end()
        return attributes

    def require(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        """The match of a pattern at the position, which moves on."""
        match = pattern.match(self.text, self.position)
        if match is None:
            left = self.text[self.position :].lstrip()
            self.fail(len(self.text) - len(left), f"{left[:40]!r}; expected {expected}")
        self.position = match.end()
        return match

    def fail(self, position: int, sentence: str) -> NoReturn:
        """Raise an `InputError` at a position of the text."""
        where = locate_offset(self.text.encode(), len(self.text[:position].encode()))
        raise InputError(f"{self.owner}, {where}: {sentence}")


_WITHOUT_MARKS = str.maketrans("(),", "   ")


def _unquote(text: str) -> str:
    plain = text.strip()
    return re.sub(r"\\(.)", r"\1", plain[1:-1], flags=re.DOTALL) if plain.startswith('"') else plain


def _quote_note(text: str) -> str:
    """A text in quotes without quotes and backslashes, which programs that read these files do not all understand."""
    return '"' + text.replace("&", "&amp;").replace('"', "&quot;").replace("\\", "&#92;") + '"'


def _unquote_note(text: str) -> str:
    return _unquote(text).replace("&#92;", "\\").replace("&quot;", '"').replace("&amp;", "&")


def write_hugin(network: Network, path: str | Path, *, transform: str | None = None) -> None:
    """Write a network as a Hugin file: probabilities by the inverse of ``transform``, and the degrees beside them."""
    page = prepare_network(network, transform, str(path), IDENTIFIER, PRINTABLE)
    width, height = (round(size) for size in NODE_SIZE)
    lines = ["net", "{", f"  node_size = ({width} {height});"]
    lines += [f"  possnet_network = {_quote_note(page.network_note)};", "}"]
    for variable in network.variables:
        name = variable.name
        label = PRINTABLE.sub("_", name)
        lines += [f"node {page.labels[name]}", "{", f'  label = "{label}";']
        if name in page.places:
            lines.append("  position = ({} {});".format(*page.places[name]))
        states = '" "'.join(page.states[name])
        lines.append(f'  states = ("{states}");')
        lines += [f"  {note} = {_quote_note(text)};" for note, text in page.notes[name].items()]
        lines.append("}")
    for variable in network.variables:
        given = " ".join(page.labels[parent] for parent in network.dag.parents(variable.name))
        scope = f"{page.labels[variable.name]} | {given}" if given else page.labels[variable.name]
        lines += [f"potential ({scope})", "{", f"  data = {_nest_rows(page.probabilities[variable.name])};", "}"]
    write_text(path, "\n".join([*lines, ""]))


def _nest_rows(table: Floats) -> str:
    """Numbers in parentheses, one pair for every axis, every row on a line of its own."""
    text = "\n    ".join(f"({row})" for row in format_rows(table))
    for size in table.shape[-2:0:-1]:  # every axis but the first and the last groups as many of what stands inside
        parts = text.split("\n    ")
        text = "\n    ".join("(" + " ".join(parts[k : k + size]) + ")" for k in range(0, len(parts), size))
    return text if table.ndim == 1 else f"({text})"


FORMAT = NetworkFormat(
    name="hugin",
    label="Hugin",
    suffixes=(".net",),
    sniff=lambda head: _SNIFF.match(head) is not None,
    options=("transform",),
    decode=decode_hugin,
    write=write_hugin,
)
