"""Counts of a family with its parents and their states in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.counting.focal_counts import Focal, merge_focal
from possnet.errors import InputError, listing
from possnet.kernels import bitmaps, tally
from possnet.variables import list_differences, require_same_bins

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from possnet.aliases import Ints
    from possnet.graph import Dag
    from possnet.kernels.tally import Tally
    from possnet.variables import Variable


def require_same_parents(own: Dag, expected: Dag, owner: str, sides: tuple[str, str]) -> None:
    """Raise an `InputError` unless every node has the same parents in both, in any order."""
    odd = [f"{node!r} only in {sides[0]}" for node in expected.nodes if node not in own.nodes]
    odd += [f"{node!r} only in {sides[1]}" for node in own.nodes if node not in expected.nodes]
    for node in expected.nodes if not odd else ():
        parents, others = expected.parents(node), own.parents(node)
        if set(parents) != set(others):
            odd.append(f"{node!r} has the parents ({listing(parents)}) and ({listing(others)})")
    if odd:
        raise InputError(
            f"{owner}: the counts are of another structure: {listing(odd, 6)}; expected counts made with the same dag"
        )


def require_same_states(
    own: Iterable[Variable], expected: Iterable[Variable], owner: str, sides: tuple[str, str]
) -> None:
    """Raise an `InputError` unless both have the same variables with the same states, in any order."""
    known = {variable.name: variable for variable in own}
    wanted = list(expected)
    differences = list_differences(wanted, known.values(), sides)
    if differences:
        raise InputError(f"{owner}: {listing(differences, 6)}; expected the same variables and states")
    for variable in wanted:
        require_same_bins(known[variable.name], variable, owner)


def permute_tally(counted: Tally, before: Sequence[Variable], after: Sequence[Variable]) -> Tally:
    """Counts of a family, parents and then the child, in another order.

    >>> from possnet.variables import Variable
    >>> one = tally.Tally(np.zeros((1, 0), dtype=np.int32), np.array([[2, 3]]), np.array([4]))
    >>> permute_tally(one, [Variable("a", ("x", "y"))], [Variable("a", ("y", "x"))]).counts
    array([[3, 2]])
    """
    order, numbers = _match_axes(before, after)
    columns = [numbers[k][counted.contexts[:, axis]] for k, axis in enumerate(order[:-1])]
    contexts = np.stack(columns, axis=1).astype(np.int32) if columns else counted.contexts
    counts = np.empty_like(counted.counts)
    counts[:, numbers[-1]] = counted.counts
    rows = np.lexsort(contexts.T[::-1]) if columns else slice(None)  # contexts stand in lexicographic order
    return tally.Tally(contexts[rows], counts[rows], counted.totals[rows])


def permute_focal(focal: Focal, before: Sequence[Variable], after: Sequence[Variable]) -> Focal:
    """Focal counts of a family, parents and then the child, in another order.

    >>> from possnet.variables import Variable
    >>> one = Focal(np.array([[1], [3]], dtype=np.uint8), np.array([5, 6]))
    >>> permute_focal(one, [Variable("a", ("x", "y"))], [Variable("a", ("y", "x"))])
    Focal(octets=array([[2], [3]], dtype=uint8), counts=array([5, 6]))
    """
    starts = np.cumsum([0, *(-(-len(variable) // 8) for variable in before)])
    parts = []
    for axis, positions in zip(*_match_axes(before, after), strict=True):
        sets = bitmaps.unpack_sets(focal.octets[:, starts[axis] : starts[axis + 1]], len(positions))
        turned = np.empty_like(sets)
        turned[:, positions] = sets
        parts.append(np.packbits(turned, axis=1, bitorder="little"))
    return merge_focal([Focal(np.hstack(parts), focal.counts)])


def _match_axes(before: Sequence[Variable], after: Sequence[Variable]) -> tuple[list[int], list[Ints]]:
    """For every variable after: its place before, and the new numbers of its states in the order before."""
    place = {variable.name: axis for axis, variable in enumerate(before)}
    order = [place[variable.name] for variable in after]
    numbers = [
        np.array([own.index(state) for state in before[axis].states], dtype=np.int64)
        for axis, own in zip(order, after, strict=True)
    ]
    return order, numbers
