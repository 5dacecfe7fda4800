"""From the conditional probabilities of a file to a possibilistic network; errors for every way they can be wrong."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from possnet.errors import InputError
from possnet.graph import Dag
from possnet.limits import refuse_over
from possnet.network import Network
from possnet.transforms import Transform, to_possibility

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.variables import Variable

    FloatArray: TypeAlias = NDArray[np.float64]

__all__ = ["bayesian_network", "check_table_size"]

_SUM_TOLERANCE = 0.01
_SURELY_FITS = 1 << 20


def check_table_size(owner: str, child: str, sizes: Sequence[int]) -> int:
    """Number of entries of a table, refused with its size if it would not fit."""
    entries = prod(sizes)
    if entries > _SURELY_FITS:
        refuse_over(
            entries * 8, f"{owner}: the table of {child!r} ({len(sizes) - 1} parents)", "use fewer parents or states"
        )
    return entries


def bayesian_network(
    owner: str,
    variables: Sequence[Variable],
    parents: Mapping[str, Sequence[str]],
    tables: Mapping[str, FloatArray],
    transform: Transform,
    *,
    name: str,
) -> Network:
    """Possibilistic network of a Bayesian one: every row of every table transformed.

    A row must add up to 1 within 1 %, because files round; it is renormalised before it is transformed.
    """
    try:
        dag = Dag({variable.name: parents[variable.name] for variable in variables})
    except InputError as error:
        raise InputError(f"{owner}: {error}") from None
    degrees = {}
    for variable in variables:
        table = tables[variable.name]
        sums = table.sum(axis=-1)
        wrong = np.argwhere(~(np.abs(sums - 1.0) <= _SUM_TOLERANCE))
        if len(wrong) or (table < 0.0).any():
            by_name = {v.name: v for v in variables}
            place = wrong[0] if len(wrong) else np.argwhere((table < 0.0).any(axis=-1))[0]
            context = ", ".join(
                f"{parent}={by_name[parent].states[k]}" for parent, k in zip(parents[variable.name], place, strict=True)
            )
            row = table[tuple(place)]
            finding = (
                f"add up to {row.sum():.6g}; expected 1"
                if len(wrong)
                else f"hold {row.min():.6g}; expected numbers >= 0"
            )
            raise InputError(
                f"{owner}: the probabilities of {variable.name!r}{f' given ({context})' if context else ''} {finding}"
            )
        degrees[variable.name] = to_possibility(table, transform)
    description = f"Probabilities turned into possibilities with the transformation '{transform}'."
    return Network.unchecked(variables, dag, degrees, name=name, description=description)
