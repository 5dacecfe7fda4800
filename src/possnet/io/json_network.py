"""Networks as JSON: lossless, versioned, and readable as a page.

One object per variable, with its states, its parents in table order, and its degrees: nested arrays whose axes are the
parents, then the variable itself. ``network.schema.json`` beside this module is the published JSON Schema. Numbers are
written in the shortest form that reads back as the same float64.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from possnet.errors import InputError, among
from possnet.graph import Dag
from possnet.io.json_files import convert_document, parse_object, require_format
from possnet.network import Network
from possnet.possibility import MIN, PRODUCT, Conjunction
from possnet.variables import Variable

if TYPE_CHECKING:
    from possnet.aliases import Floats

FORMAT = "possnet-network"
VERSION = 1
_CONJUNCTIONS = {conjunction.name: conjunction for conjunction in (PRODUCT, MIN)}
_LARGEST_EXACT = 2**53


def decode_network(content: bytes, owner: str) -> Network:
    """Network of the bytes of a JSON file; ``owner`` is named in errors.

    >>> import possnet as pn
    >>> decode_network(encode_network(pn.load_example("clinic")).encode(), "clinic") == pn.load_example("clinic")
    True
    """
    document = parse_object(content, owner, "a network as JSON")
    require_format(document, owner, FORMAT, VERSION)
    from possnet.io.json_schema import NetworkJson

    page = convert_document(document, NetworkJson, owner, f"see the JSON Schema of {FORMAT} {VERSION}")
    build = Network.subnormal if page.subnormal else Network
    supports = {entry.name: entry.support for entry in page.variables if entry.support is not None}
    try:
        variables = [Variable(e.name, tuple(e.states), ordered=e.ordered) for e in page.variables]
        if len({variable.name for variable in variables}) < len(variables):
            raise InputError("two variables have the same name; expected distinct names")  # noqa: TRY301
        return build(
            variables,
            Dag({entry.name: entry.parents for entry in page.variables}),
            {entry.name: entry.degrees for entry in page.variables},
            conjunction=_conjunction(page.conjunction),
            support=supports or None,
            name=page.name,
            description=page.description,
        )
    except InputError as error:
        raise InputError(f"{owner}: {error}") from None


def _conjunction(name: str) -> Conjunction:
    if name not in _CONJUNCTIONS:
        raise InputError(f"conjunction {name!r} is unknown{among(name, _CONJUNCTIONS)}")
    return _CONJUNCTIONS[name]


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
    support = network.support or {}
    blocks = []
    for variable in network.variables:
        fields = {
            "name": _text(variable.name),
            "states": _text(variable.states),
            "ordered": _text(variable.ordered),
            "parents": _text(network.dag.parents(variable.name)),
            "degrees": _numbers(network.table(variable.name), "      "),
        }
        if variable.name in support:
            fields["support"] = _numbers(support[variable.name], "      ")
        blocks.append("    {\n" + ",\n".join(f'      "{key}": {value}' for key, value in fields.items()) + "\n    }")
    head = {
        "format": _text(FORMAT),
        "version": str(VERSION),
        "name": _text(network.name),
        "description": _text(network.description),
        "conjunction": _text(network.conjunction.name),
    }
    if not network.is_normalised:
        head["subnormal"] = "true"
    lines = "".join(f'  "{key}": {value},\n' for key, value in head.items())
    return "{\n" + lines + '  "variables": [\n' + ",\n".join(blocks) + "\n  ]\n}\n"


def _text(value: str | bool | tuple[str, ...]) -> str:  # noqa: FBT001
    return json.dumps(value, ensure_ascii=False)


def _numbers(array: Floats, indent: str) -> str:
    """Nested arrays, every innermost row on a line of its own."""
    if array.ndim == 0:
        return _number(array.item())
    if array.ndim == 1:
        return f"[{', '.join(map(_number, array.tolist()))}]"
    inner = indent + "  "
    rows = f",\n{inner}".join(_numbers(part, inner) for part in array)
    return f"[\n{inner}{rows}\n{indent}]"


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < _LARGEST_EXACT else repr(value)
