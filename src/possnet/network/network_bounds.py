"""Bounds of the tables of a network: what is known of degrees that are not known exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from possnet.errors import InputError
from possnet.possibility import SNAP, as_degrees, snap_tops
from possnet.variables import for_every_variable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from possnet.aliases import Bools, Floats


class NetworkBounds(NamedTuple):
    """Lower and upper tables, name -> array like the table: lower <= π(x | a) <= upper.

    >>> import possnet as pn
    >>> rash = pn.Variable("rash", ("none", "spots"))
    >>> net = pn.Network((rash,), pn.Dag({"rash": ()}), {"rash": [1, 0.5]})
    >>> net.with_bounds({"rash": [1, 0.2]}, {"rash": [1, 0.6]}).bounds.upper["rash"]
    array([1. , 0.6])
    """

    lower: dict[str, Floats]
    upper: dict[str, Floats]


def check_bounds(
    tables: Mapping[str, Floats], lower: Mapping[str, ArrayLike], upper: Mapping[str, ArrayLike], owner: str
) -> NetworkBounds:
    """Bounds of normalised tables, each of a table's shape, with 0 <= lower <= table <= upper <= 1 up to 1e-9.

    >>> check_bounds({"rash": np.array([1.0, 0.5])}, {"rash": [1, 0.6]}, {"rash": [1, 1]}, "network")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: network: lower bound of 'rash' at position 1: 0.6, and the table has 0.5 there; expected ...
    """
    given = {}
    for word, mapping in (("lower bound", lower), ("upper bound", upper)):
        listed = for_every_variable(mapping, tables, owner, word)
        given[word] = {
            name: as_degrees(listed[name], table.shape, f"{owner}: {word} of {name!r}")
            for name, table in tables.items()
        }
    for name, table in tables.items():
        low, high = given["lower bound"][name], given["upper bound"][name]
        if not (table.max(axis=-1) == 1.0).all():
            raise InputError(
                f"{owner}: table of {name!r} has rows that do not peak at 1; expected a normalised network, because bounds "
                "say where the degrees of one lie"
            )
        _require_order(low, table, f"{owner}: lower bound of {name!r}", "at most", low > table + SNAP)
        _require_order(high, table, f"{owner}: upper bound of {name!r}", "at least", high < table - SNAP)
        np.minimum(low, table, out=low)
        np.maximum(high, table, out=high)
        snap_tops(high, axis=-1)
        low.flags.writeable = high.flags.writeable = False
    return NetworkBounds(given["lower bound"], given["upper bound"])


def _require_order(bound: Floats, table: Floats, owner: str, word: str, wrong: Bools) -> None:
    if wrong.any():
        place = tuple(int(k) for k in np.argwhere(wrong)[0])
        shown = place[0] if len(place) == 1 else place
        raise InputError(
            f"{owner} at position {shown}: {bound[place]:.6g}, and the table has {table[place]:.6g} there; expected "
            f"{word} that"
        )
