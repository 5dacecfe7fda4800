"""Log-likelihoods: the score piLL of a possibilistic network, and the log-likelihood mLL of random sets.

- piLL, equation (9) of [HLB]: sum over i, j, k of N_ijk log π_ijk, the score of a possibilistic network. It is not a
  likelihood: without a bound on the sum of the degrees it is largest, 0, for total ignorance.
- mLL, equation (8) of [HLB]: sum over the cells that occur of N(A, j) log m(A | j), the log-likelihood of random sets: the
  cell A of a variable given the cells j of its parents. On precise data it is the log-likelihood of a Bayesian network.

0 log 0 counts as 0; a row that the model calls impossible makes the sum -inf. All logarithms are natural.

[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy.
"""

from __future__ import annotations

from math import inf, log
from typing import TYPE_CHECKING

import numpy as np

from possnet.counting import Counts, counts_of
from possnet.dataset import align_rows, require_rows
from possnet.doors import check_arguments
from possnet.errors import InputError
from possnet.graph import Dag
from possnet.kernels.grouping import group_rows
from possnet.network import Network
from possnet.parameters import RandomSets

if TYPE_CHECKING:
    from possnet.aliases import Progress
    from possnet.dataset import Batches, Dataset
    from possnet.variables import Variable

__all__ = [
    "log_likelihood",
    "log_likelihood_by_family",
    "random_set_log_likelihood",
    "random_set_log_likelihood_by_family",
]


@check_arguments
def log_likelihood(network: Network, data: Dataset | Batches | Counts, *, progress: Progress | None = None) -> float:
    """Score piLL of a network on data, equation (9) of [HLB]: sum of N_ijk log π_ijk.

    Equation
    --------
    piLL = ∑_{i,j,k} N_ijk ln π_ijk

    >>> import possnet as pn
    >>> fever = pn.Variable("fever", ("mild", "high"))
    >>> net = pn.Network((fever,), pn.Dag({"fever": ()}), {"fever": [1, 0.5]})
    >>> log_likelihood(net, pn.Dataset.from_rows((fever,), [("mild",), ({"mild", "high"},), ("high",)]))
    -1.3862943611198906
    """
    return sum(log_likelihood_by_family(network, data, progress=progress).values())


@check_arguments
def log_likelihood_by_family(
    network: Network, data: Dataset | Batches | Counts, *, progress: Progress | None = None
) -> dict[str, float]:
    """Every variable's part of `log_likelihood`.

    Equation
    --------
    piLL_i = ∑_{j,k} N_ijk ln π_ijk

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> log_likelihood_by_family(asia, pn.sample(asia, 100, imprecision=0.0, rng=1))["smoke"]
    0.0
    """
    given: object = network
    if not isinstance(given, Network):
        raise InputError(f"log_likelihood: {network!r} is not a network; expected one")
    counts = _count_over(network.dag, network.variables, data, "log_likelihood", progress=progress)
    scores = {}
    for variable in counts.variables:
        contexts, numbers, _ = counts.family(variable.name)
        table = network.table(variable.name)
        degrees = table[tuple(contexts.T)] if contexts.shape[1] else table
        logs = np.log(degrees, out=np.full(degrees.shape, -inf), where=degrees > 0)
        scores[variable.name] = float((numbers * np.where(numbers > 0, logs, 0.0)).sum()) if len(contexts) else 0.0
    return scores


@check_arguments
def random_set_log_likelihood(
    model: Dag | RandomSets, data: Dataset | Batches | Counts, *, progress: Progress | None = None
) -> float:
    """Log-likelihood mLL, equation (8) of [HLB]: of a structure at its maximum on the data, or of given masses.

    For a structure the masses are the best ones for these data, m = N(A, j) / N(j). For masses learned elsewhere
    (`possnet.fit_random_sets`) a row that they call impossible makes it -inf.

    Equation
    --------
    mLL = ∑_i ∑_{A,B} N(X_i = A, pa_i = B) ln m(A | B)

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", "x", {"x", "y"}, "y"]})
    >>> round(random_set_log_likelihood(pn.Dag({"a": ()}), data), 12)
    -4.15888308336
    """
    return sum(random_set_log_likelihood_by_family(model, data, progress=progress).values())


@check_arguments
def random_set_log_likelihood_by_family(
    model: Dag | RandomSets, data: Dataset | Batches | Counts, *, progress: Progress | None = None
) -> dict[str, float]:
    """Every variable's part of `random_set_log_likelihood`.

    Equation
    --------
    mLL_i = ∑_{A,B} N(X_i = A, pa_i = B) ln m(A | B)

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", "y"], "b": ["u", "v"]})
    >>> random_set_log_likelihood_by_family(pn.Dag({"a": (), "b": ("a",)}), data)["b"]
    0.0
    """
    given: object = model
    if not isinstance(given, Dag | RandomSets):
        raise InputError(
            f"random_set_log_likelihood: {model!r} is neither a structure nor masses; expected a possnet.Dag (a network's "
            "is network.dag) or what fit_random_sets gives"
        )
    dag = model if isinstance(model, Dag) else model.dag
    owner = "random_set_log_likelihood"
    if isinstance(model, Dag):
        counts = counts_of(dag, data, owner, focal=True, progress=progress)
        return {variable.name: _score_maximum(counts, variable) for variable in counts.variables}
    counts = _count_over(dag, model.variables, data, owner, focal=True, progress=progress)
    return {variable.name: _score_masses(model, counts, variable) for variable in counts.variables}


def _score_maximum(counts: Counts, variable: Variable) -> float:
    """Sum of N(A, j) log N(A, j) / N(j)."""
    (*parents, _), (*cells, _), numbers = counts.focal_codes(variable.name)
    groups = group_rows(parents, [len(sets) for sets in cells], len(numbers))
    return float((numbers * np.log(numbers / groups.counts(numbers)[groups.inverse])).sum())


def _score_masses(model: RandomSets, counts: Counts, variable: Variable) -> float:
    masses = model.masses(variable.name)
    score = 0.0
    for cells, number in counts.focal(variable.name).items():
        known = masses.get(cells[:-1])
        mass = known.masses.get(cells[-1], 0.0) if known is not None else 0.0
        if mass == 0.0:
            return -inf
        score += number * log(mass)
    return score


def _count_over(
    dag: Dag,
    variables: tuple[Variable, ...],
    data: Dataset | Batches | Counts,
    owner: str,
    *,
    focal: bool = False,
    progress: Progress | None = None,
) -> Counts:
    """Counts over the variables of a model, whose names and states decide; their order in the data does not matter."""
    if isinstance(data, Counts):
        return data.with_order(variables, dag, owner, ("the model", "the counts"))
    require_rows(data, owner)
    return counts_of(dag, align_rows(data, variables, owner), owner, focal=focal, progress=progress)
