"""Learning the tables of a network from counts, by a choice of estimators.

[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from possnet.counting import counts_of
from possnet.doors import check_arguments
from possnet.errors import InputError, listing, require_known, require_number
from possnet.kernels import tally
from possnet.limits import refuse_over
from possnet.network import Network
from possnet.parameters.estimates import capped_maximum, histogram, normalise_rows, proposition_1, undo_thinning
from possnet.parameters.priors import ContextCounts, PriorName, read_prior
from possnet.possibility import PRODUCT, Conjunction, check_conjunction, snap_tops
from possnet.transforms import Transform, to_possibility
from possnet.variables import for_every_variable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from possnet.aliases import Floats, Ints, Progress
    from possnet.counting import Counts
    from possnet.dataset import Batches, Dataset
    from possnet.graph import Dag
    from possnet.variables import Variable


FitMethod: TypeAlias = Literal["likelihood", "capped", "histogram", "transform"]
PerState: TypeAlias = Mapping[str, float] | Sequence[float]
Total: TypeAlias = float | Literal["data"] | Mapping[str, "float | PerState"] | None

_SMALLEST = 5e-324  # above 0, as a float


@check_arguments
def fit(
    dag: Dag,
    data: Dataset | Batches | Counts,
    *,
    method: FitMethod = "likelihood",
    total: Total = None,
    normalise: bool | None = None,
    imprecision: float | Mapping[str, float] | None = None,
    prior: PriorName | None = None,
    pseudo: float | None = None,
    transform: Transform = "optimal",
    conjunction: Conjunction = PRODUCT,
    name: str = "",
    progress: Progress | None = None,
) -> Network:
    """Learn the tables of a network from imprecise data by counting.

    The ``support`` of the learned network is the number of rows N_ij behind every context.

    Equation
    --------
    π_ijk = N_ijk / max_l N_ijl

    Parameters
    ----------
    dag
        The structure whose tables are learned.
    data
        A data set, a stream, or counts. To learn from new rows, add their counts:
        ``fit(dag, counts + count(dag, new))``.
    method
        ``likelihood``: Proposition 1 of [HLB], N_ijk / sum_k N_ijk * S, divided by its largest degree.
        ``capped``: the maximum of the same likelihood under π <= 1, not normalised.
        ``histogram``: N_ijk / N_ij, equation (5) of [HLB], not normalised.
        ``transform``: conditional frequencies, every row shared equally among the configurations it contains, turned into
        possibilities by ``transform`` (the route of Sangüesa et al.).
        A context without rows is all 1 unless there is a marginal prior: nothing is known there.
    total
        S_i, the sum of the degrees, for ``likelihood`` and ``capped``: a number for all variables; a mapping from every
        variable to a number, or to one for each of its states; or ``"data"``, the mean cell size of the variable. It is 1
        by default, and cancels where degrees are divided by the largest, unless it differs between states.
    normalise
        Whether to divide by the largest degree; by default for ``likelihood``, and where an imprecision is corrected.
    imprecision
        Theta, if the cells were thinned with a known probability: degrees are min(1, (N_ijk / N_ij) / theta), then
        divided by the largest (``likelihood`` and ``histogram``).
    prior, pseudo
        Imagined rows added to every context, and their number (1 for a prior without it; a number alone is of
        ``marginal`` rows). ``marginal``: their cells are those of the variable itself, N_ijk + pseudo * M_ik with
        M_ik = sum_j N_ijk / sum_j N_ij, and N_ij + pseudo; a context without rows takes the counts of the next smaller
        context that has some, the least telling parents dropped first, and is flagged in `Network.backed_off`.
        ``ignorance``: their cell is the whole domain, N_ijk + pseudo, and contexts without rows stay all 1. ``none``: no
        such rows.
    transform
        The transformation of method ``transform``: see `possnet.to_possibility`.

    Examples
    --------
    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"fever": ["mild", {"mild", "high"}, "high", "mild"]})
    >>> fit(pn.Dag({"fever": ()}), data).table("fever")
    array([0.66666667, 1. ])
    >>> fit(pn.Dag({"fever": ()}), data, method="histogram").table("fever")
    array([0.5 , 0.75])
    >>> fit(pn.Dag({"fever": ()}), data, method="capped", total=1.5).table("fever")
    array([0.6, 0.9])
    >>> fit(pn.Dag({"fever": ()}), data, method="transform", transform="symmetric").table("fever")
    array([0.75, 1. ])
    >>> fit(pn.Dag({"fever": ()}), data).support
    {'fever': array(4.)}
    >>> fever, rash = pn.Variable("fever", ("none", "high")), pn.Variable("rash", ("no", "yes"))
    >>> seen = pn.Dataset.from_rows((fever, rash), [("none", "no")] * 3 + [("none", "yes")])
    >>> smoothed = fit(pn.Dag({"fever": (), "rash": ("fever",)}), seen, prior="marginal", pseudo=1)
    >>> smoothed.table("rash").round(2), smoothed.backed_off["rash"]
    (array([[1. , 0.33], [1. , 0.33]]), array([False, True]))
    """
    _check_options(method, total, imprecision, transform)
    imagined = read_prior(prior, pseudo, "fit")
    check_conjunction(conjunction)
    counts = counts_of(dag, data, "fit", focal=method == "transform", progress=progress)
    totals = _read_totals(total, counts)
    thetas = read_thetas(imprecision, counts.variables, "fit")
    divide = method == "likelihood" or imprecision is not None if normalise is None else normalise
    tables, support = {}, {}
    for variable in counts.variables:
        sizes = _refuse_if_large(counts, variable)
        rows = _count_contexts(counts, variable, method).add_prior(
            imagined, sizes, 1.0 / len(variable) if method == "transform" else 1.0
        )
        if variable.name in thetas:
            degrees = undo_thinning(histogram(rows.counts, rows.totals), thetas[variable.name])
        elif method == "histogram":
            degrees = histogram(rows.counts, rows.totals)
        elif method == "transform":
            degrees = to_possibility(_round_shares(rows.counts), method=transform) if len(rows.counts) else rows.counts
        else:
            total_of_degrees = totals.get(variable.name, 1.0)
            if method == "likelihood":
                degrees = _maximise_likelihood(rows.counts, total_of_degrees, variable, divide=divide)
            else:
                degrees = _maximise_capped(rows.counts, total_of_degrees)
        if divide:
            degrees = normalise_rows(degrees)
        tables[variable.name] = _fill_table(rows.contexts, degrees, (*sizes, len(variable)))
        family = counts.family(variable.name)
        support[variable.name] = _fill_table(family.contexts, family.totals, sizes, 0.0)
    return Network.unchecked(counts.variables, dag, tables, conjunction=conjunction, support=support, name=name)


def _refuse_if_large(counts: Counts, variable: Variable) -> tuple[int, ...]:
    """Numbers of states of the parents of a variable, if its table fits into memory."""
    sizes = tuple(len(counts.variable(parent)) for parent in counts.dag.parents(variable.name))
    needed = 8 * prod(sizes) * (len(variable) + 1)
    refuse_over(needed, f"the table of {variable.name!r}", "use fewer parents or states")
    return sizes


def _count_contexts(counts: Counts, variable: Variable, method: FitMethod) -> ContextCounts:
    """What is counted in the contexts that occur: rows whose cell contains a state, or shares of rows."""
    family = counts.family(variable.name)
    totals = family.totals.astype(np.float64)
    if method == "transform":
        return ContextCounts(family.contexts, _share_rows(counts, variable), totals)
    return ContextCounts(family.contexts, family.counts.astype(np.float64), totals)


def _fill_table(
    contexts: NDArray[np.integer], values: Floats | Ints, shape: tuple[int, ...], unseen: float = 1.0
) -> Floats:
    """A table from its values in some contexts; by default others are all 1, and tops are exactly 1."""
    table = np.full(shape, unseen)
    if len(contexts):
        table[tuple(contexts.T)] = values if contexts.shape[1] else values[0]
    if unseen:
        snap_tops(table, axis=-1)
    return table


def _maximise_likelihood(numbers: Floats, total: float | Floats, variable: Variable, *, divide: bool) -> Floats:
    degrees = proposition_1(numbers, total)
    if not divide and degrees.max(initial=0.0) > 1.0 + 1e-12:
        raise InputError(
            f"fit: with total {total} the closed form gives {variable.name!r} a degree of {degrees.max():.6g}; expected at "
            "most 1. Use method='capped' for the maximum under that limit, or normalise"
        )
    return degrees if divide else np.minimum(degrees, 1.0)


def _maximise_capped(numbers: Floats, total: float | Floats) -> Floats:
    if isinstance(total, np.ndarray):
        raise InputError(
            "fit: method 'capped' with a total for every state; expected one number, or method 'likelihood'"
        )
    return capped_maximum(numbers, total)


def _share_rows(counts: Counts, variable: Variable) -> Floats:
    """Rows in the contexts that occur, each shared equally among the configurations that it contains."""
    columns, sets, numbers = counts.focal_codes(variable.name)
    each = 16 * len(columns) + 64

    def refuse_entries(entries: int) -> None:
        refuse_over(entries * each, f"sharing the rows of {variable.name!r}", "use fewer parents or states")

    return tally.share_rows(np.column_stack(columns), numbers, sets, refuse_entries)[1]


def _round_shares(weights: Floats) -> Floats:
    """Shares to 44 bits of their sum, so that states of equal shares tie whatever the order in which rows were added."""
    _, exponents = np.frexp(weights.sum(axis=-1, keepdims=True))
    unit = np.ldexp(1.0, exponents - 44)
    rounded: Floats = np.round(weights / unit) * unit
    return np.where(rounded > 0, rounded, weights)


def _check_options(method: str, total: object, imprecision: object, transform: object) -> None:
    require_known(transform, get_args(Transform), "fit: transform")
    require_known(method, get_args(FitMethod), "fit: method")
    if total is not None and method not in {"likelihood", "capped"}:
        raise InputError(f"fit: total with method {method!r}; expected method 'likelihood' or 'capped'")
    if imprecision is not None and (method not in {"likelihood", "histogram"} or total is not None):
        raise InputError("fit: imprecision corrects method 'likelihood' or 'histogram', without total")


def _read_totals(total: Total, counts: Counts) -> dict[str, float | Floats]:
    """S_i of every variable: a number, or one for each state."""
    names = [variable.name for variable in counts.variables]
    if total is None:
        return {}
    if isinstance(total, str):
        if total != "data":
            raise InputError(f"fit: total {total!r}; expected a number, 'data', or a mapping from variables")
        return {name: counts.cell_size_sum(name) / counts.rows if counts.rows else 1.0 for name in names}
    if not isinstance(total, Mapping):
        return {name: _read_one_total(total, counts.variable(name), "fit: total") for name in names}
    by_name: Mapping[str, object] = total
    listed = for_every_variable(by_name, names, "fit", "total")
    return {name: _read_total(given, counts.variable(name)) for name, given in listed.items()}


def _read_total(given: object, variable: Variable) -> float | Floats:
    """S_i of one variable, or one number for each of its states."""
    owner = f"fit: total of {variable.name!r}"
    if isinstance(given, Mapping):
        for state in given:
            variable.index(state)
        lacking = [state for state in variable.states if state not in given]
        if lacking:
            raise InputError(f"{owner} lacks {listing(lacking)}; expected one number, or one for every state")
        given = [given[state] for state in variable.states]
    if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str):
        if len(given) != len(variable):
            raise InputError(f"{owner} has {len(given)} numbers; expected one for each of {len(variable)} states")
        return np.array([require_number(number, owner, "a number above 0", _SMALLEST) for number in given])
    return _read_one_total(given, variable, owner)


def _read_one_total(given: object, variable: Variable, owner: str) -> float:
    states = len(variable)
    expected = f"a number above 0 and at most the number of states, {states}"
    return require_number(given, owner, expected, _SMALLEST, states)


def read_thetas(
    imprecision: float | Mapping[str, float] | None, variables: Iterable[Variable], owner: str
) -> dict[str, float]:
    """Imprecision of every variable that is to be corrected for; nothing if none is given.

    >>> read_thetas(None, (), "fit")
    {}
    """
    if imprecision is None:
        return {}
    names = [variable.name for variable in variables]
    given = imprecision if isinstance(imprecision, Mapping) else dict.fromkeys(names, imprecision)
    listed = for_every_variable(given, names, owner, "imprecision")
    return {
        name: require_number(
            theta, f"{owner}: imprecision of {name!r}", "a number above 0 and at most 1", _SMALLEST, 1.0
        )
        for name, theta in listed.items()
    }
