"""The curves of all table entries, from the derivatives of two pieces of evidence: with a state, and with all others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.explanation.response_curves import ResponseCurves
from possnet.possibility import PRODUCT

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats, Ints
    from possnet.explanation.asked_question import AskedQuestion


def trace_entries(asked: AskedQuestion, state: int) -> tuple[ResponseCurves, Bools]:
    """Curves of all entries, tables one after the other in the order of the variables; which entries are the only 1.

    For every entry Π(x, e) and Π(not x, e) come from one collect and one distribute pass for both
    (`possnet.Inference.entry_derivatives`); see `possnet.explanation.response_curves` for what is made of them.
    """
    target, network = asked.target, asked.network
    others = {other: 1.0 for k, other in enumerate(target.states) if k != state} or {target.states[state]: 0.0}
    sides = [{**asked.evidence, target.name: {target.states[state]: 1.0}}, {**asked.evidence, target.name: others}]
    derivatives, _ = asked.engine.entry_derivatives(sides)  # type: ignore[arg-type]
    tables = [network.table(v.name) for v in network.variables]
    degrees = np.concatenate([table.reshape(-1) for table in tables])
    through = np.concatenate([derivatives[v.name].reshape(-1, 2) for v in network.variables])
    contexts = _Segments(np.repeat([t.shape[-1] for t in tables], [t.size // t.shape[-1] for t in tables]))
    families = _Segments(np.array([t.size // t.shape[-1] for t in tables]))
    ones = degrees == 1.0
    only = ones & (contexts.spread(np.add.reduceat(ones.astype(np.int64), contexts.starts)) == 1)
    if not network.is_normalised:  # then rows need not peak, and nothing is normalised
        only[:] = False
    divides = network.conjunction.name == PRODUCT.name
    return _trace(degrees, through, contexts, families, only, divides=divides), only


class _Segments:
    """Runs of neighbouring rows: the entries of a context, or the contexts of a table."""

    def __init__(self, sizes: Ints) -> None:
        self.starts = np.cumsum(sizes) - sizes
        self.owner = np.repeat(np.arange(len(sizes)), sizes)

    def largest(self, values: Floats) -> Floats:
        """The largest value of every segment."""
        result: Floats = np.maximum.reduceat(values, self.starts, axis=0)
        return result

    def spread(self, values: Any) -> Any:
        """The value of a row's segment, for every row."""
        return values[self.owner]

    def largest_of_others(self, values: Floats) -> Floats:
        """For every row the largest value elsewhere in its segment; 0 if there is no other row.

        >>> _Segments(np.array([3, 1])).largest_of_others(np.array([[0.2], [1.0], [0.5], [0.7]]))[:, 0]
        array([1. , 0.5, 1. , 0. ])
        """
        top = self.spread(self.largest(values))
        is_top = values == top
        alone = is_top & (self.spread(np.add.reduceat(is_top.astype(np.int64), self.starts, axis=0)) == 1)
        second = self.spread(self.largest(np.where(is_top, 0.0, values)))
        result: Floats = np.where(alone, second, top)
        return result


def _trace(
    degrees: Floats, through: Floats, contexts: _Segments, families: _Segments, only: Bools, *, divides: bool
) -> ResponseCurves:
    """Curves from the entries and l, the best through each entry without it, for both sides."""
    factor = degrees[:, np.newaxis]
    reached = through * factor if divides else np.minimum(through, factor)
    beside = contexts.largest_of_others(reached)  # through other entries of the context
    outside = contexts.spread(families.largest_of_others(contexts.largest(reached)))  # through other contexts
    split = np.full(len(degrees), -1.0)
    constants = np.repeat(np.maximum(outside, beside)[:, np.newaxis], 3, axis=1)
    slopes = np.repeat(through[:, np.newaxis], 3, axis=1)
    if only.any():
        seconds = contexts.largest(np.where(degrees == 1.0, 0.0, degrees))
        split[only] = contexts.spread(seconds)[only]
        a, r, own, s = outside[only], beside[only], through[only], split[only][:, np.newaxis]
        if divides:
            below = np.maximum(a * s, r)
            constants[only] = np.stack([below, below, r], axis=1)
            slopes[only] = np.stack([own, own, np.maximum(a, own)], axis=1)
        else:
            at_second = (degrees == contexts.spread(seconds)) & (degrees < 1.0)
            lifted = contexts.spread(contexts.largest(np.where(at_second[:, np.newaxis], through, 0.0)))[only]
            rest = np.maximum(a, r)
            below = np.maximum(rest, lifted)
            constants[only] = np.stack([below, np.maximum(below, own), np.maximum(rest, own)], axis=1)
            slopes[only] = np.stack([own, np.zeros_like(own), np.zeros_like(own)], axis=1)
    return ResponseCurves(split, constants, slopes, divides)
