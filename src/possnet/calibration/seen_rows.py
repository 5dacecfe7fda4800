"""Whether a network was probably learned from some rows, by the numbers of rows that it carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from possnet.dataset import Dataset
    from possnet.network import Network


def describe_seen_rows(network: Network, data: Dataset) -> str:
    """What speaks for it that a network was learned from these rows, or nothing.

    A learned network carries the number of rows behind every context. They were other rows if their number differs, or if
    in some family whose parents' cells are all precise, the numbers behind the contexts do.

    >>> import possnet as pn
    >>> rows = pn.Dataset.from_table({"a": ["x", "y", "x", "x"], "b": ["u", "v", "v", "v"]})
    >>> learned = pn.fit(pn.Dag({"a": (), "b": ("a",)}), rows)
    >>> describe_seen_rows(learned, rows)
    'the network was learned from as many rows, with the same numbers of them behind its contexts'
    >>> describe_seen_rows(learned, rows[np.array([0, 1, 1, 1])])
    ''
    """
    support = network.support
    if support is None:
        return ""
    columns = {v.name: data.column(v.name) for v in data.variables}
    total = float(data.total)
    roots = [v.name for v in network.variables if not network.dag.parents(v.name) and v.name in support]
    if not roots or any(abs(float(support[name].sum()) - total) > 1e-6 * max(total, 1.0) for name in roots):
        return ""
    compared = False
    weights = np.ones(len(data)) if data.weights is None else data.weights
    for name, expected in support.items():
        parents = network.dag.parents(name)
        if not parents or any(p not in columns or not columns[p].is_precise for p in parents):
            continue
        if any(columns[p].variable.states != network.variable(p).states for p in parents):
            continue
        states = tuple(np.take(columns[p].first_states, columns[p].codes) for p in parents)
        codes = np.ravel_multi_index(states, expected.shape)
        counts = np.bincount(codes, weights, minlength=expected.size)
        if not np.allclose(counts, expected.reshape(-1), atol=1e-6):
            return ""
        compared = True
    behind = ", with the same numbers of them behind its contexts" if compared else ""
    return f"the network was learned from as many rows{behind}"
