"""Learning the tables of a network from rows that are coarsened at random: unknown cells, and lists of candidates.

EM finds the Bayesian network of the hidden states that makes the cells most likely (see `possnet.em.coarsening`). As in
counting, a degree is the probability of a state divided by the largest in its context; on precise rows it *is* counting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.em.coarsening import CoarsenedNetwork
from possnet.em.em_rows import code_em_rows
from possnet.errors import require_number
from possnet.network import Network
from possnet.parameters import normalise_rows
from possnet.possibility import PRODUCT, Conjunction, check_conjunction, snap_tops

if TYPE_CHECKING:
    from possnet.aliases import Progress
    from possnet.dataset import Batches, Dataset
    from possnet.graph import Dag

_NO_ROW: Final = 1e-6  # expected rows up to which a context counts as never visited
_STEPS: Final = 10_000


def fit_coarsened(
    dag: Dag,
    data: Dataset | Batches,
    *,
    tolerance: float = 0.1,
    conjunction: Conjunction = PRODUCT,
    name: str = "",
    progress: Progress | None = None,
) -> Network:
    """Learn the tables of a network where a cell says no more than that the state lies in it (coarsening at random).

    That is how unknown cells and lists of candidates are usually meant. (Cells that were drawn by `possnet.sample` say
    more: see `possnet.fit` and `possnet.fit_em`.)

    Parameters
    ----------
    dag
        The structure whose tables are learned.
    data
        A data set, or a stream of batches with its columns; columns that are no nodes are ignored.
    tolerance
        Stop when the estimated remaining gain in total log-likelihood (Aitken), in nats, is below this.
    conjunction
        Conjunction of the learned network; the tables do not depend on it.
    name
        Name of the learned network.
    progress
        Called with the number of steps so far and the most there can be.

    Returns
    -------
    Network
        The learned network, with the expected number of rows behind every context as its support.

    >>> import possnet as pn
    >>> dag = pn.Dag({"a": (), "b": ("a",)})
    >>> rows = [("x", "u")] * 6 + [("y", "v")] * 3 + [({"x", "y"}, "v"), ("x", None)]
    >>> data = pn.Dataset.from_rows([pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v"))], rows)
    >>> fit_coarsened(dag, data).table("b").round(2)
    array([[1., 0.], [0., 1.]])
    >>> pn.fit(dag, data).table("b").round(2)
    array([[1.  , 0.29], [0.  , 1.  ]])
    """
    require_number(tolerance, "fit_coarsened: tolerance", "a number >= 0", 0.0)
    check_conjunction(conjunction)
    rows = code_em_rows(dag, data, "focal")
    names = list(rows.variables)
    ((distinct, weights),) = rows.group_rows([names])
    parents = [tuple(names.index(parent) for parent in dag.parents(node)) for node in names]
    codes = list(np.ascontiguousarray(distinct.T))
    model = CoarsenedNetwork(parents, [rows.cell_sets(node) for node in names], codes, weights)
    run = model.fit(model.equal_tables(), tolerance=tolerance, max_steps=_STEPS, progress=progress)
    tables, support = {}, {}
    for node, counts in zip(names, model.expected_counts(run.masses)[1].values(), strict=True):
        shape = [len(rows.variables[parent]) for parent in dag.parents(node)]
        visited = counts.sum(axis=1)
        degrees = normalise_rows(counts)
        degrees[visited <= _NO_ROW] = 1.0
        snap_tops(degrees, axis=-1)
        tables[node] = degrees.reshape(*shape, -1)
        support[node] = visited.reshape(shape)
    return Network.unchecked(
        tuple(rows.variables.values()), dag, tables, conjunction=conjunction, support=support, name=name
    )
