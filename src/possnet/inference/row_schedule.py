"""Which rows of evidence agree in which part of a junction tree, so that equal messages are computed once.

Every row selects a column of every factor's table by a code: the number of its cell. A clique's table depends
on the codes of its own factors and on its children's messages, which depend on the codes below: the combinations of codes
that occur in the rows are numbered from the leaves up, and again for the beliefs, from the roots down. The numbers depend
on the rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from possnet.inference.message_passing import shape_in_clique
from possnet.kernels.grouping import group_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Floats, Ints
    from possnet.inference.message_passing import CliqueLayout
    from possnet.inference.plan import Plan

_DENSE = 1 << 15  # entries of a table for all combinations, occurring or not


@dataclass(slots=True)
class Combinations:
    """Which combinations of its parts' codes occur in the rows at a clique.

    ``keys`` is the number of every row's combination. The first ``n_dense`` parts in ``order`` are combined for all of
    their codes; ``members`` are, for these together and for every other part, the codes in each combination.
    """

    keys: Ints
    count: int
    order: list[int]
    n_dense: int
    members: list[Ints]


class RowSchedule:
    """The combinations of codes that occur at every clique, numbered once for some rows, for any tables and semiring.

    Parameters
    ----------
    scopes, codes, n_codes
        For every factor its variables, the code of every row, and the number of codes.
    scaled
        Whether the passes scale every row's messages, for sums of products of any length; the tables of the collect pass
        are then kept, and the distribute pass need not combine them again.
    """

    def __init__(
        self,
        plan: Plan,
        layouts: Sequence[CliqueLayout],
        scopes: Sequence[Sequence[int]],
        codes: Sequence[Ints],
        n_codes: Sequence[int],
        rows: int,
        *,
        scaled: bool = False,
    ) -> None:
        self.plan, self.layouts, self.scaled = plan, layouts, scaled
        self.identity = np.arange(rows)
        self.factors: list[list[int]] = [[] for _ in layouts]
        for factor, scope in enumerate(scopes):
            self.factors[plan.home[min(scope, key=plan.position.__getitem__)]].append(factor)
        # Of every clique, what it combines: the shapes of its factors, of its children's messages and of that from above,
        # and the number of codes of each, with every row's code.
        self.shapes: list[list[tuple[int, ...]]] = []
        self._coded: list[list[tuple[int, Ints]]] = []
        self.up: list[Combinations] = []
        self._down: dict[int, tuple[Combinations, dict[int, Ints]]] = {}
        for number, clique in enumerate(plan.cliques):
            own, messages = self.factors[number], [self.up[k] for k in clique.children]
            inside = [shape_in_clique(clique, scope) for scope in (*(scopes[f] for f in own), clique.separator)]
            self.shapes.append([*inside[:-1], *(layouts[k].inside_parent for k in clique.children), inside[-1]])
            self._coded.append([(n_codes[f], codes[f]) for f in own] + [(up.count, up.keys) for up in messages])
            self.up.append(self._combine_codes(number, 1, None, self._coded[number]))

    def _combine_codes(
        self, number: int, count: int, codes: Ints | None, parts: list[tuple[int, Ints]]
    ) -> Combinations:
        """Number the combinations of a table of ``count`` columns, chosen by codes, with some parts.

        What has few codes is combined for all of them, whether they occur or not; what has many is looked up for the
        combinations that occur.
        """
        order = sorted(range(len(parts)), key=lambda k: parts[k][0])
        n_dense = 0
        for part in order:
            size, own = parts[part]
            if self.layouts[number].entries * count * size > _DENSE or count * size > 4 * len(self.identity):
                break
            codes = own if codes is None else codes * size + own
            count *= size
            n_dense += 1
        columns = [] if codes is None else [(count, codes)]
        keys, members = _number_rows([*columns, *(parts[part] for part in order[n_dense:])], self.identity)
        return Combinations(keys, len(members[0]) if members else 1, order, n_dense, members)

    def belief_combinations(self, number: int) -> tuple[Combinations, dict[int, Ints]]:
        """The combinations of a clique's belief, and for every child the combination of its message in each of them."""
        path = [number]
        while path[-1] not in self._down and self.layouts[path[-1]].parent >= 0:
            path.append(self.layouts[path[-1]].parent)
        for k in reversed(path):
            if k not in self._down:
                layout, up = self.layouts[k], self.up[k]
                above = [self._down[layout.parent][0]] if layout.parent >= 0 else []
                parts = [(combinations.count, combinations.keys) for combinations in above]
                if self.scaled:
                    combinations = self._combine_codes(k, up.count, up.keys, parts)
                else:
                    combinations = self._combine_codes(k, 1, None, self._coded[k] + parts)
                senders = {child: self.number_in(combinations, self.up[child].keys) for child in layout.children}
                self._down[k] = combinations, senders
        return self._down[number]

    def number_in(self, combinations: Combinations, codes: Ints) -> Ints:
        """A code of every row as one of every combination, which determines it."""
        if combinations.keys is self.identity:
            return codes
        numbers = np.zeros(combinations.count, dtype=np.int64)
        numbers[combinations.keys] = codes
        return numbers

    def sum_rows(self, combinations: Combinations, weights: Floats) -> Floats:
        """The sum of the rows' weights in every combination."""
        if combinations.keys is self.identity:
            return weights
        sums: Floats = np.bincount(combinations.keys, weights, minlength=combinations.count)  # type: ignore[assignment]
        return sums


def _number_rows(parts: list[tuple[int, Ints]], identity: Ints) -> tuple[Ints, list[Ints]]:
    """Number a row for the combination of its codes, and, for every part, its code in each combination.

    Parts are pairs (number of codes, code of every row). ``identity`` holds the row numbers, and stands for itself
    wherever every row is a combination of its own.
    """
    if len(parts) <= 1:
        size, keys = parts[0] if parts else (0, np.zeros(len(identity), dtype=np.int64))
        return keys, [identity if keys is identity else np.arange(size)] * len(parts)
    codes = [own for _, own in parts]
    groups = None
    if not any(own is identity for own in codes):
        # where nearly every row is a combination of its own, each may as well be one
        groups = group_rows(codes, [size for size, _ in parts], len(identity), most=3 * len(identity) // 4)
    if groups is None:
        return identity, codes
    return groups.inverse, list(np.ascontiguousarray(groups.combinations.T, dtype=np.int64))
