"""Rows with imprecise cells in a tree of features around a class: messages to the root, and back.

Given the class y the features form a forest. With cells d_f, the message of a feature to its parent's state u is

    m_f(y, u)  =  sum over x in d_f of  theta_f(x | y, u)  prod over children c of f of  m_c(y, x),

and the product of the roots' messages is P(cells | y). On the way back the posterior of every two joined states follows
(Pearl 1988). Rows are computed together, classes and states as axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from possnet.aliases import Bools, Floats

_BLOCK: Final = 1 << 22  # numbers of the messages of a block of rows
_SMALLEST: Final = 1e-300


class TreePasses:
    """Message passing over a forest of features, for rows whose cells are sets.

    Parameters
    ----------
    inside
        For every feature its cells (rows, states); None for those that the forest lacks.
    tree
        Feature -> its parent, or -1.
    """

    def __init__(self, inside: Sequence[Bools | None], tree: Mapping[int, int]) -> None:
        self._inside = {f: cells for f, cells in enumerate(inside) if cells is not None}
        self._tree = tree
        self._children: dict[int, list[int]] = {f: [] for f in tree}
        for f, above in tree.items():
            if above >= 0:
                self._children[above].append(f)
        roots = [f for f, above in tree.items() if above < 0]
        self._order = list(roots)  # parents before children
        for f in self._order:
            self._order.extend(self._children[f])
        self._n_rows = len(next(iter(self._inside.values())))

    def log_likelihoods(self, tables: Mapping[int, Floats]) -> Floats:
        """Log P(cells | class) of every row, (rows, classes)."""
        return np.concatenate([self._collect(tables, rows)[0] for rows in self._blocks(tables)])

    def expected_counts(self, tables: Mapping[int, Floats], shares: Floats) -> dict[int, Floats]:
        """Expected number of rows by class, state of the parent and state, (classes, parent's states or 1, states)."""
        counts = {f: np.zeros(tables[f].shape) for f in self._order}
        for rows in self._blocks(tables):
            _, own, messages = self._collect(tables, rows)
            outside: dict[int, Floats] = {}  # posterior of the states of a feature, given class and row, as a ratio
            for f in self._order:
                above = self._tree[f]
                if above < 0:
                    before = np.ones((*own[f].shape[:2], 1))
                else:  # the parent's posterior without what this child told
                    told = messages[f]
                    before = np.divide(outside[above], told, out=np.zeros_like(told), where=told > 0.0)
                pairs = before[..., np.newaxis] * tables[f][np.newaxis] * own[f][:, :, np.newaxis, :]
                total = pairs.sum(axis=(2, 3), keepdims=True)
                pairs = np.divide(pairs, total, out=np.zeros_like(pairs), where=total > 0.0)
                outside[f] = pairs.sum(axis=2)
                counts[f] += np.einsum("ry,ryux->yux", shares[rows], pairs)
        return counts

    def _collect(
        self, tables: Mapping[int, Floats], rows: slice
    ) -> tuple[Floats, dict[int, Floats], dict[int, Floats]]:
        """Logarithms of the roots' messages; states and messages of every feature, each scaled to a largest of 1."""
        n_classes = len(tables[self._order[0]])
        n_rows = len(range(*rows.indices(self._n_rows)))
        logs = np.zeros((n_rows, n_classes))
        own: dict[int, Floats] = {}
        messages: dict[int, Floats] = {}
        for f in reversed(self._order):
            states = np.repeat(self._inside[f][rows][:, np.newaxis].astype(np.float64), n_classes, axis=1)
            for child in self._children[f]:
                states *= messages[child]
            own[f] = states
            message = np.einsum("yux,ryx->ryu", tables[f], states)
            top = np.maximum(message.max(axis=2), _SMALLEST)
            messages[f] = message / top[..., np.newaxis]
            logs += np.log(top)
        return logs, own, messages

    def _blocks(self, tables: Mapping[int, Floats]) -> Iterator[slice]:
        entries = sum(table.size for table in tables.values()) or 1
        step = max(_BLOCK // entries, 1)
        for start in range(0, max(self._n_rows, 1), step):
            yield slice(start, start + step)
