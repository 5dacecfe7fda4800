"""The curves of all table entries, from the derivatives of two pieces of evidence: with a state, and with all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.explanation.response_curves import ResponseCurves
from possnet.possibility import PRODUCT

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats
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
    divides, normalised = network.conjunction.name == PRODUCT.name, network.is_normalised
    families = [
        _trace_family(network.table(v.name), derivatives[v.name], divides=divides, normalised=normalised)
        for v in network.variables
    ]
    split, constants, slopes, only = (np.concatenate(arrays) for arrays in zip(*families, strict=True))
    return ResponseCurves(split, constants, slopes, divides), only


def _trace_family(
    table: Floats, derivatives: Floats, *, divides: bool, normalised: bool
) -> tuple[Floats, Floats, Floats, Bools]:
    """Split, constants and slopes of the entries of one table, and which entries are the only 1 of their context."""
    width = table.shape[-1]
    degrees = table.reshape(-1, width)
    through = derivatives.reshape(-1, width, 2)  # l: the best through each entry, without it
    factor = degrees[..., np.newaxis]
    reached = through * factor if divides else np.minimum(through, factor)
    in_context = reached.max(axis=1)
    beside = _largest_of_others(reached.swapaxes(0, 1)).swapaxes(0, 1)  # through other entries of the context
    outside = _largest_of_others(in_context)[:, np.newaxis]  # through other contexts
    split = np.full(degrees.shape, -1.0)
    constants = np.repeat(np.maximum(outside, beside)[:, :, np.newaxis], 3, axis=2)
    slopes = np.repeat(through[:, :, np.newaxis], 3, axis=2)
    only = (degrees == 1.0) & ((degrees == 1.0).sum(axis=1, keepdims=True) == 1) if normalised else degrees > 2.0
    if only.any():
        context, place = np.nonzero(only)
        second = np.where(only, 0.0, degrees).max(axis=1)[context]
        split[context, place] = second
        a, r, own = outside[context, 0], beside[context, place], through[context, place]
        s = second[:, np.newaxis]
        if divides:
            constants[context, place] = np.stack([np.maximum(a * s, r), np.maximum(a * s, r), r], axis=1)
            slopes[context, place] = np.stack([own, own, np.maximum(a, own)], axis=1)
        else:
            at_second = (degrees[context] == s) & ~only[context]
            lifted = np.where(at_second[..., np.newaxis], through[context], 0.0).max(axis=1)
            rest = np.maximum(a, r)
            below = np.maximum(rest, lifted)
            constants[context, place] = np.stack([below, np.maximum(below, own), np.maximum(rest, own)], axis=1)
            slopes[context, place] = np.stack([own, np.zeros_like(own), np.zeros_like(own)], axis=1)
    return split.reshape(-1), constants.reshape(-1, 3, 2), slopes.reshape(-1, 3, 2), only.reshape(-1)


def _largest_of_others(values: Floats) -> Floats:
    """For every place along the first axis the largest value elsewhere on it; 0 if there is no other.

    >>> _largest_of_others(np.array([0.2, 1.0, 0.5]))
    array([1. , 0.5, 1. ])
    """
    if len(values) == 1:
        return np.zeros_like(values)
    top = values.argmax(axis=0)[np.newaxis]
    largest = np.take_along_axis(values, top, axis=0)
    rest = values.copy()
    np.put_along_axis(rest, top, -1.0, axis=0)
    result: Floats = np.broadcast_to(largest, values.shape).copy()
    np.put_along_axis(result, top, rest.max(axis=0)[np.newaxis], axis=0)
    return result
