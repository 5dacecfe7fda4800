"""Networks that ship with possnet, as JSON files in ``bundled/``."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from possnet.doors import check_arguments
from possnet.errors import InputError, among
from possnet.io.network_formats.json_network import decode_network

if TYPE_CHECKING:
    from possnet.network import Network

_BUNDLED = Path(__file__).parent.parent / "bundled"


def example_names() -> tuple[str, ...]:
    """Names of the bundled networks.

    >>> example_names()
    ('asia', 'clinic', 'pump', 'survey')
    """
    return tuple(sorted(path.stem for path in _BUNDLED.glob("*.json")))


@check_arguments
def load_example(name: str) -> Network:
    """A bundled network.

    ``asia`` is the chest clinic of Lauritzen and Spiegelhalter (1988), its probabilities transformed with ``optimal``.
    ``clinic`` (measles or flu?), ``pump`` (what ails the pump?) and ``survey`` (what will they vote? min-based) are our
    own.

    >>> load_example("asia")
    Network('asia', 8 variables, 8 edges, 36 degrees, product)
    """
    if name not in example_names():
        raise InputError(f"no bundled network {name!r}{among(name, example_names())}")
    return _decode_example(name)


@cache
def _decode_example(name: str) -> Network:
    """A bundled network, decoded once: networks are immutable."""
    return decode_network((_BUNDLED / f"{name}.json").read_bytes(), f"bundled network {name!r}")
