"""Networks from XMLBIF files.

``VARIABLE`` elements hold ``OUTCOME`` elements; ``DEFINITION`` elements hold ``FOR``, ``GIVEN`` and ``TABLE``. In a
``TABLE`` the variable itself varies fastest and the first ``GIVEN`` slowest, as in the format's own example. Entity
declarations are refused: no network needs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

import numpy as np

from possnet.errors import InputError, did_you_mean, listing
from possnet.io.files import read_bytes
from possnet.io.probability_tables import bayesian_network, check_table_size
from possnet.variables import Variable

if TYPE_CHECKING:
    from possnet.network import Network
    from possnet.transforms import Transform

__all__ = ["decode_xmlbif", "read_xmlbif"]

_TEXT = {"NAME", "OUTCOME", "VALUE", "FOR", "GIVEN", "TABLE"}


def read_xmlbif(path: str | Path, transform: Transform) -> Network:
    """Network of an XMLBIF file, its probabilities turned into possibilities."""
    return decode_xmlbif(read_bytes(path), str(path), transform, name=Path(path).name.split(".")[0])


@dataclass
class _Block:
    """A VARIABLE or DEFINITION element: its line, and its texts by tag."""

    kind: str
    line: int
    texts: dict[str, list[str]] = field(default_factory=dict)


def decode_xmlbif(content: bytes, owner: str, transform: Transform = "optimal", *, name: str = "") -> Network:
    """Network of the bytes of an XMLBIF file; ``owner`` is named in errors."""
    if not content.strip():
        raise InputError(f"{owner}: the file is empty; expected an XMLBIF file")
    blocks, title = _parse(content, owner)
    variables: dict[str, Variable] = {}
    for block in blocks:
        if block.kind == "VARIABLE":
            states = tuple(block.texts.get("OUTCOME") or block.texts.get("VALUE") or ())
            try:
                variable = Variable("".join(block.texts.get("NAME", [])), states)
            except InputError as error:
                raise InputError(f"{owner}, line {block.line}: {error}") from None
            if variable.name in variables:
                _fail(owner, block, f"variable {variable.name!r} is declared twice", "distinct names")
            variables[variable.name] = variable
    if not variables:
        raise InputError(f"{owner}: no VARIABLE element; expected an XMLBIF file")
    parents: dict[str, tuple[str, ...]] = {}
    tables = {}
    for block in blocks:
        if block.kind == "DEFINITION":
            child, given, table = _definition(owner, block, variables)
            if child in tables:
                _fail(owner, block, f"a second DEFINITION for {child!r}", "one for every variable")
            parents[child], tables[child] = given, table
    lacking = [variable for variable in variables if variable not in tables]
    if lacking:
        raise InputError(f"{owner}: no DEFINITION for {listing(lacking)}; expected one for every variable")
    return bayesian_network(owner, list(variables.values()), parents, tables, transform, name=title or name)


def _parse(content: bytes, owner: str) -> tuple[list[_Block], str]:
    """Blocks of the file and the name of the network."""
    blocks: list[_Block] = []
    path: list[str] = []
    texts: list[str] = []
    titles: list[str] = []
    parser = expat.ParserCreate()

    def start(tag: str, _: object) -> None:
        path.append(tag.upper())
        texts.clear()
        if path[-1] in {"VARIABLE", "DEFINITION"}:
            blocks.append(_Block(path[-1], parser.CurrentLineNumber))

    def end(_: str) -> None:
        tag = path.pop()
        if tag in _TEXT and path and path[-1] in {"VARIABLE", "DEFINITION"}:
            blocks[-1].texts.setdefault(tag, []).append("".join(texts).strip())
        elif tag == "NAME" and path and path[-1] == "NETWORK":
            titles.append("".join(texts).strip())
        texts.clear()

    def entity(*_: object) -> NoReturn:
        raise InputError(f"{owner}, line {parser.CurrentLineNumber}: an entity is declared; expected plain XMLBIF")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = texts.append
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(content, True)  # noqa: FBT003
    except expat.ExpatError as error:
        where = f"line {error.lineno}, column {error.offset + 1}"
        raise InputError(f"{owner}, {where}: {expat.ErrorString(error.code)}; expected an XMLBIF file") from None
    except (ValueError, LookupError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{owner}: {error}; expected an XMLBIF file") from None
    return blocks, "".join(titles[:1])


def _definition(
    owner: str, block: _Block, variables: dict[str, Variable]
) -> tuple[str, tuple[str, ...], np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    names = block.texts.get("FOR", [])
    if len(names) != 1:
        _fail(owner, block, f"a DEFINITION for {len(names)} variables", "one FOR")
    child, given = names[0], tuple(block.texts.get("GIVEN", []))
    for name in (child, *given):
        if name not in variables:
            _fail(owner, block, f"{name!r} is not a variable{did_you_mean(name, variables)}", "a declared variable")
    sizes = [len(variables[name]) for name in (*given, child)]
    entries = check_table_size(owner, child, sizes)
    parts = " ".join(block.texts.get("TABLE", [])).replace(",", " ").split()
    try:
        values = np.array(parts, dtype=np.float64)
    except ValueError:
        _fail(owner, block, f"the table of {child!r} holds something else than numbers", "probabilities")
    if len(values) != entries or not np.isfinite(values).all():
        _fail(owner, block, f"the table of {child!r} has {len(values)} numbers", f"{entries} finite ones")
    return child, given, values.reshape(sizes)


def _fail(owner: str, block: _Block, finding: str, expected: str) -> NoReturn:
    raise InputError(f"{owner}, line {block.line}: {finding}; expected {expected}")
