"""Learning the tables of a network from rows that are coarsened at random: unknown cells, and lists of candidates.

EM finds the Bayesian network of the hidden states that makes the cells most likely (see `possnet.em.coarsening`). As in
counting, a degree is the probability of a state divided by the largest in its context; on precise rows it *is* counting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.doors import check_arguments
from possnet.em.coarsening import CoarsenedNetwork
from possnet.em.em_rows import code_em_rows
from possnet.em.fitting import NO_ROW
from possnet.errors import require_number
from possnet.network import Network
from possnet.parameters import PriorName, back_off, normalise_rows, read_prior
from possnet.possibility import PRODUCT, Conjunction, check_conjunction, snap_tops

if TYPE_CHECKING:
    from possnet.aliases import Progress
    from possnet.dataset import Batches, Dataset
    from possnet.em.squarem import Masses
    from possnet.graph import Dag
    from possnet.parameters import Prior

_STEPS: Final = 10_000


@check_arguments
def fit_coarsened(
    dag: Dag,
    data: Dataset | Batches,
    *,
    tolerance: float = 0.1,
    prior: PriorName | None = None,
    pseudo: float | None = None,
    conjunction: Conjunction = PRODUCT,
    name: str = "",
    progress: Progress | None = None,
) -> Network:
    """Learn the tables of a network where a cell says no more than that the state lies in it (coarsening at random).

    That is how unknown cells and lists of candidates are usually meant. (Cells that were drawn by `possnet.sample` say
    more: see `possnet.fit` and `possnet.fit_em`.)

    Equation
    --------
    P(d) = ∑_{ω ∈ d} ∏_i p(ω_i | ω_{pa(i)})
    π(x | a) = p(x | a) / max_y p(y | a)

    Parameters
    ----------
    dag
        The structure whose tables are learned.
    data
        A data set, or a stream of batches with its columns; columns that are no nodes are ignored.
    tolerance
        Stop when the estimated remaining gain in total log-likelihood (Aitken), in nats, is below this.
    prior, pseudo
        Imagined rows added to every context, and their number (1 for a prior without it; a number alone is of
        ``marginal`` rows). EM then maximises the likelihood plus the sum over contexts a and states x of
        pseudo * M(x) ln theta(x | a). ``marginal``: M is the most likely law of the variable's state by its cells alone; a
        context without rows takes the expected rows of the next smaller context that has some, the least telling parents
        dropped first, and is flagged in `Network.backed_off`. ``ignorance``: M is 1/r for each of r states, and contexts
        without rows stay all 1. ``none``: no such rows.
    conjunction
        Conjunction of the learned network; the tables do not depend on it.
    name
        Name of the learned network.
    progress
        Called with the number of steps so far and the most there can be.

    Returns
    -------
    Network
        The learned network: probabilities divided by the largest of their context (its `Network.transform` is
        ``ratio``), with the expected number of rows behind every context as its support.

    Examples
    --------
    >>> import possnet as pn
    >>> dag = pn.Dag({"a": (), "b": ("a",)})
    >>> rows = [("x", "u")] * 6 + [("y", "v")] * 3 + [({"x", "y"}, "v"), ("x", None)]
    >>> data = pn.Dataset.from_rows([pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v"))], rows)
    >>> fit_coarsened(dag, data).table("b").round(2)
    array([[1., 0.], [0., 1.]])
    >>> pn.fit(dag, data).table("b").round(2)
    array([[1.  , 0.29], [0.  , 1.  ]])
    >>> fit_coarsened(dag, data, prior="marginal", pseudo=1).table("b").round(2)
    array([[1.  , 0.08], [0.14, 1.  ]])
    """
    imagined = read_prior(prior, pseudo, "fit_coarsened")
    require_number(tolerance, "fit_coarsened: tolerance", "a number >= 0", 0.0)
    check_conjunction(conjunction)
    rows = code_em_rows(dag, data, "focal")
    names = list(rows.variables)
    ((distinct, weights),) = rows.group_rows([names])
    parents = [tuple(names.index(parent) for parent in dag.parents(node)) for node in names]
    codes = list(np.ascontiguousarray(distinct.T))
    model = CoarsenedNetwork(parents, [rows.cell_sets(node) for node in names], codes, weights)
    added = _imagine_rows(model, imagined)
    run = model.fit(model.equal_tables(), imagined=added, tolerance=tolerance, max_steps=_STEPS, progress=progress)
    tables, support = {}, {}
    for node, (number, counts) in zip(names, model.expected_counts(run.masses)[1].items(), strict=True):
        shape = [len(rows.variables[parent]) for parent in dag.parents(node)]
        visited = counts.sum(axis=1)
        seen = visited > NO_ROW
        if imagined.backs_off:
            smaller = back_off(counts.reshape(*shape, -1), seen.reshape(shape)).reshape(counts.shape)
            degrees = normalise_rows(smaller + added.get(number, 0.0))
            visited = np.where(seen, visited, 0.0)
        else:
            degrees = normalise_rows(counts + added.get(number, 0.0))
            degrees[~seen] = 1.0
        snap_tops(degrees, axis=-1)
        tables[node] = degrees.reshape(*shape, -1)
        support[node] = visited.reshape(shape)
    return Network.unchecked(
        tuple(rows.variables.values()),
        dag,
        tables,
        conjunction=conjunction,
        support=support,
        name=name,
        transform="ratio",
    )


def _imagine_rows(model: CoarsenedNetwork, prior: Prior) -> Masses:
    """Imagined rows with each state, in every context of a column."""
    if not prior.weight:
        return {}
    laws = model.fit_marginals()
    if prior.kind == "ignorance":
        laws = {name: np.full(len(law), 1.0 / len(law)) for name, law in laws.items()}
    return {name: prior.weight * law for name, law in laws.items()}
