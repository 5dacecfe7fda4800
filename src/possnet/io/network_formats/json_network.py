"""Networks as JSON: lossless, versioned, and readable as a page.

One object per variable, with its states, its parents in table order, and its degrees: nested arrays whose axes are the
parents, then the variable itself; or the few numbers that a gate (`possnet.gates`) makes them of; if its states are bins of
numbers, where these were cut; if options said how the cells that it was made from are written, how; and, if the degrees are
known only within bounds, these, as arrays ``lower`` and ``upper`` like the degrees. The field ``transform`` says that the
degrees are probabilities divided by the largest of their context. ``network.schema.json`` in `possnet.io` is the published
JSON Schema. Numbers are written in the shortest form that reads back as the same float64.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from possnet.cells import CellSyntax
from possnet.errors import InputError, require_known
from possnet.gates import restore_gate
from possnet.graph import Dag
from possnet.io.atomic_files import write_text
from possnet.io.file_access import prefix_errors
from possnet.io.formats import NetworkFormat
from possnet.io.json_files import (
    choose_version,
    convert_document,
    describe_bins,
    parse_object,
    require_format,
    restore_variables,
)
from possnet.limits import refuse_above
from possnet.network import Network
from possnet.possibility import MIN, PRODUCT, SNAP, as_degrees
from possnet.variables import CellWriting, number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Floats
    from possnet.cells import CellReading
    from possnet.gates import Gate
    from possnet.io.json_schema import NetworkJson, VariableJson
    from possnet.variables import Variable

_NAME = "possnet-network"
_VERSION = 6  # 2 added bins, 3 bounds, 4 the transform, 5 gates, 6 cells
_CONJUNCTIONS = {conjunction.name: conjunction for conjunction in (PRODUCT, MIN)}


def decode_network(content: bytes, owner: str) -> Network:
    """Network of the bytes of a JSON file; ``owner`` is named in errors.

    >>> import possnet as pn
    >>> decode_network(encode_network(pn.load_example("clinic")).encode(), "clinic") == pn.load_example("clinic")
    True
    """
    document = parse_object(content, owner, "a network as JSON")
    require_format(document, owner, _NAME, _VERSION)
    from possnet.io.json_schema import NetworkJson

    page = convert_document(document, NetworkJson, owner, f"see the JSON Schema of {_NAME} {_VERSION}")
    build = Network.subnormal if page.subnormal else Network
    supports = {entry.name: entry.support for entry in page.variables if entry.support is not None}
    with prefix_errors(owner):
        require_known(page.conjunction, _CONJUNCTIONS, "conjunction")
        refuse_above("variables", len(page.variables), owner)
        refuse_above("states", sum(len(entry.states) for entry in page.variables), owner)
        writings = {entry.name: _restore_writing(entry) for entry in page.variables}
        variables = tuple(replace(v, cells=writings[v.name]) for v in restore_variables(page.variables))
        network = build(
            variables,
            Dag({entry.name: entry.parents for entry in page.variables}),
            _restore_tables(page, variables),
            conjunction=_CONJUNCTIONS[page.conjunction],
            support=supports or None,
            name=page.name,
            description=page.description,
        )
        lower, upper = (
            {entry.name: table for entry, table in zip(page.variables, tables, strict=True) if table is not None}
            for tables in zip(*((entry.lower, entry.upper) for entry in page.variables), strict=True)
        )
        network = network.with_bounds(lower, upper) if lower or upper else network
        return network.with_transform(page.transform) if page.transform else network


def _restore_writing(entry: VariableJson) -> CellWriting | None:
    """How the cells of a variable are written; an `InputError` if no cells are written so."""
    if entry.cells is None:
        return None
    written = entry.cells
    with prefix_errors(f"cells of {entry.name!r}"):
        reading = cast("CellReading", written.reading)
        CellSyntax(written.separator, written.escape, reading, tuple(written.unknown_words))
        return CellWriting(written.reading, written.separator, tuple(written.unknown_words), written.escape)


def _restore_tables(page: NetworkJson, variables: Sequence[Variable]) -> dict[str, Any]:
    """The degrees of every variable, or its gate; if both are there, they have to agree."""
    by_name = {variable.name: variable for variable in variables}
    tables: dict[str, Any] = {}
    for entry in page.variables:
        tables[entry.name] = entry.degrees
        if entry.gate is None:
            if entry.degrees is None:
                raise InputError(f"variable {entry.name!r} has no degrees; expected degrees, or a gate")
            continue
        fields = {field: getattr(entry.gate, field) for field in entry.gate.__struct_fields__ if field != "kind"}
        given = {field: value for field, value in fields.items() if value is not None}
        parents = [by_name[parent] for parent in entry.parents]
        gate = restore_gate(entry.gate.kind, by_name[entry.name], parents, given, _CONJUNCTIONS[page.conjunction])
        if entry.degrees is not None:
            degrees = as_degrees(entry.degrees, gate.table.shape, f"table of {entry.name!r}")
            if np.abs(degrees - gate.table).max() > SNAP:
                raise InputError(
                    f"table of {entry.name!r}: its degrees are not those of its gate; expected one of the two"
                )
        tables[entry.name] = gate
    return tables


def encode_network(network: Network) -> str:
    """Network as the text of a JSON file.

    >>> import possnet as pn
    >>> print(encode_network(pn.load_example("asia"))[:120])
    {
      "format": "possnet-network",
      "version": 1,
      "name": "asia",
      ...
    """
    support, bounds, gates = network.support or {}, network.bounds, network.gates
    blocks = []
    for variable in network.variables:
        fields = {
            "name": _to_json(variable.name),
            "states": _to_json(variable.states),
            "ordered": _to_json(variable.ordered),
            **{name: json.dumps(bins, ensure_ascii=False) for name, bins in describe_bins(variable).items()},
            **({"cells": json.dumps(variable.cells.to_fields(), ensure_ascii=False)} if variable.cells else {}),
            "parents": _to_json(network.dag.parents(variable.name)),
        }
        if variable.name in gates:
            fields["gate"] = _format_gate(gates[variable.name])
        else:
            fields["degrees"] = _format_array(network.table(variable.name), "      ")
        if bounds is not None:
            fields["lower"] = _format_array(bounds.lower[variable.name], "      ")
            fields["upper"] = _format_array(bounds.upper[variable.name], "      ")
        if variable.name in support:
            fields["support"] = _format_array(support[variable.name], "      ")
        blocks.append("    {\n" + ",\n".join(f'      "{key}": {value}' for key, value in fields.items()) + "\n    }")
    head = {
        "format": _to_json(_NAME),
        "version": str(_choose_version(network)),
        "name": _to_json(network.name),
        "description": _to_json(network.description),
        "conjunction": _to_json(network.conjunction.name),
    }
    if not network.is_normalised:
        head["subnormal"] = "true"
    if network.transform:
        head["transform"] = _to_json(network.transform)
    lines = "".join(f'  "{key}": {value},\n' for key, value in head.items())
    return "{\n" + lines + '  "variables": [\n' + ",\n".join(blocks) + "\n  ]\n}\n"


def _format_gate(gate: Gate) -> str:
    return json.dumps({"kind": gate.kind, **gate.parameters}, ensure_ascii=False)


def _choose_version(network: Network) -> int:
    """The lowest version that has all that a network needs, so that older readers know it."""
    if any(variable.cells is not None for variable in network.variables):
        return 6
    if network.gates:
        return 5
    if network.transform:
        return 4
    return choose_version(network.variables) if network.bounds is None else 3


def _to_json(value: str | bool | tuple[str, ...]) -> str:  # noqa: FBT001
    return json.dumps(value, ensure_ascii=False)


def _format_array(array: Floats, indent: str) -> str:
    """Nested arrays, every innermost row on a line of its own."""
    if array.ndim == 0:
        return number_text(array.item())
    if array.ndim == 1:
        return f"[{', '.join(map(number_text, array.tolist()))}]"
    inner = indent + "  "
    rows = f",\n{inner}".join(_format_array(part, inner) for part in array)
    return f"[\n{inner}{rows}\n{indent}]"


FORMAT = NetworkFormat(
    name="json",
    label="JSON",
    suffixes=(".json",),
    sniff=lambda head: re.match(rb'\{[^\[]*"format"\s*:\s*"possnet-network"', head) is not None,
    decode=lambda content, path, _: decode_network(content, str(path)),
    write=lambda network, path: write_text(path, encode_network(network)),
)
