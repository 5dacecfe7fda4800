"""Networks as JSON: lossless, versioned, and readable as a page.

One object per variable, with its states, its parents in table order, and its degrees: nested arrays whose axes are the
parents, then the variable itself. ``network.schema.json`` beside this module is the published JSON Schema. Numbers are
written in the shortest form that reads back as the same float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from possnet.errors import InputError, did_you_mean
from possnet.graph import Dag
from possnet.io.files import read_bytes, write_text
from possnet.io.json_files import explain, parse_object, require_format
from possnet.network import Network
from possnet.possibility import MIN, PRODUCT, Conjunction
from possnet.variables import Variable

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FORMAT", "VERSION", "decode_network", "encode_network", "read_json", "write_json"]

FORMAT = "possnet-network"
VERSION = 1
_CONJUNCTIONS = {conjunction.name: conjunction for conjunction in (PRODUCT, MIN)}
_LARGEST_EXACT = 2**53


def read_json(path: str | Path) -> Network:
    """Network of a JSON file."""
    return decode_network(read_bytes(path), str(path))


def write_json(network: Network, path: str | Path) -> None:
    """Write a network as JSON, whole or not at all."""
    write_text(path, encode_network(network))


def decode_network(content: bytes, owner: str) -> Network:
    """Network of the bytes of a JSON file; ``owner`` is named in errors.

    >>> import possnet as pn
    >>> decode_network(encode_network(pn.load_example("clinic")).encode(), "clinic") == pn.load_example("clinic")
    True
    """
    document = parse_object(content, owner, "a network as JSON")
    require_format(document, owner, FORMAT, VERSION)
    import msgspec

    try:
        page = msgspec.convert(document, _page_type())
    except msgspec.ValidationError as error:
        raise InputError(f"{owner}: {explain(str(error))}; see the JSON Schema of {FORMAT} {VERSION}") from None
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


def _page_type() -> type[Any]:
    """The JSON document as types; built on first use so that `import possnet` stays light."""
    global _PAGE  # noqa: PLW0603
    if _PAGE is None:
        import msgspec

        entry = msgspec.defstruct(
            "Entry",
            [
                ("name", str),
                ("states", list[str]),
                ("parents", list[str]),
                ("degrees", list[Any]),
                ("ordered", bool, False),
                ("support", list[Any] | float | None, None),
            ],
            forbid_unknown_fields=True,
        )
        _PAGE = msgspec.defstruct(
            "Page",
            [
                ("format", str),
                ("version", int),
                ("variables", list[entry]),  # type: ignore[valid-type]
                ("conjunction", str),
                ("name", str, ""),
                ("description", str, ""),
                ("subnormal", bool, False),
            ],
            forbid_unknown_fields=True,
        )
    return _PAGE


_PAGE: type[Any] | None = None


def _conjunction(name: str) -> Conjunction:
    if name not in _CONJUNCTIONS:
        raise InputError(
            f"conjunction {name!r} is unknown ({', '.join(_CONJUNCTIONS)}){did_you_mean(name, _CONJUNCTIONS)}"
        )
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
    import json

    return json.dumps(value, ensure_ascii=False)


def _numbers(array: NDArray[np.float64], indent: str) -> str:
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
