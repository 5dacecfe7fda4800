"""Exact laws: of one cell given its parents' cells, and the limit of counting.

The law of a child's cell depends on its parents' signals alone, so that the rows of a sample are drawn from a Bayesian
network whose states are sets (or pairs of a set and a hidden signal). Sum-product inference on it gives the probability of
any event of a row, for instance P(x in the child's cell, a in the parents' cells): the share of rows that count for (x, a).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod
from typing import TYPE_CHECKING, Final, Unpack

import numpy as np

from possnet.doors import check_arguments, checks_itself
from possnet.errors import (
    ImpossibleEvidence,
    InputError,
    TooLarge,
    describe_value,
    did_you_mean,
    listing,
    require_whole,
)
from possnet.inference import SUM_PRODUCT, JunctionTree, make_plan
from possnet.kernels import bitmaps
from possnet.limits import refuse_over
from possnet.network import Network
from possnet.parameters import normalise_rows
from possnet.randomset import MassFunction
from possnet.sampling.cell_laws import Outcomes, compute_outcomes, context_degrees, count_entries
from possnet.sampling.sampling_spec import SamplingOptions, SamplingSpec
from possnet.sampling.simulated_limits import simulated_limit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from possnet.aliases import Bools, Floats
    from possnet.sampling.processes import Process
    from possnet.variables import Variable


_BYTES_AN_ENTRY: Final = 64  # of a law while it is computed: a few arrays of eight bytes each


@check_arguments
@checks_itself("given")
def sampling_law(
    network: Network,
    child: str,
    given: Mapping[str, str | Collection[str]] | None = None,
    **options: Unpack[SamplingOptions],
) -> MassFunction:
    """Exact law of a variable's cell, given the cells of its parents: how `possnet.sample` draws it.

    For ``alpha-cut`` it is the law of the thinned cuts of (6) of [HLB]; for ``precise`` the parents' cells are single
    states. With ``parents="cut"`` and for ``traced`` the child depends on the hidden cuts or states of its parents, so that
    its law given their cells is computed by inference over its ancestors.

    Equation
    --------
    P(S | cut) = θ^{|S| - |C|} (1 - θ)^{|cut| - |S|} for C ⊆ S ⊆ cut, C the core

    >>> import possnet as pn
    >>> x, y = pn.Variable("x", ("x1", "x2")), pn.Variable("y", ("y1", "y2"))
    >>> dag = pn.Dag({"x": (), "y": ("x",)})
    >>> net = pn.Network((x, y), dag, {"x": [1, 0.5], "y": [[1, 0.25], [0.125, 1]]})
    >>> sampling_law(net, "y", {"x": {"x1", "x2"}})
    MassFunction(y: {y1} 0.5, {y1, y2} 0.5)
    >>> sampling_law(net, "y", {"x": "x2"}, process="precise")
    MassFunction(y: {y1} 0.0625, {y2} 0.9375)
    """
    variable = network.variable(child)
    spec = SamplingSpec.from_options(network, **options)
    require_known_law(spec.process)
    cells = _read_parent_cells(network, child, {} if given is None else given)
    if not spec.process.imprecise and any(int(cell.sum()) > 1 for cell in cells.values()):
        raise InputError(
            f"sampling_law: a set of states among the parents' cells; process {spec.process.name!r} draws single states"
        )
    hidden = {"cell": False, "cut": bool(cells), "state": spec.process.imprecise}
    if hidden[spec.process.signal]:
        return _hidden_law(spec, variable, cells)
    degrees = context_degrees(spec.tables[child], [cell[np.newaxis] for cell in cells.values()])
    if degrees.max() < 1.0:
        raise ImpossibleEvidence(
            f"{_describe_cells(network, cells)}: no row has these cells, which lack a most possible state"
        )
    outcomes = _checked_outcomes(spec, child, degrees, None)
    return _mass_function(variable, outcomes.cells, outcomes.to_dense()[0])


@check_arguments
def sampling_limit(
    network: Network,
    *,
    limit: int | None = None,
    simulate: int | None = None,
    rng: np.random.Generator | int | None = None,
    **options: Unpack[SamplingOptions],
) -> Network:
    """The network that counting converges to as rows grow, for rows drawn by `possnet.sample` with the same options.

    Its degrees are P(x in the cell, a in the parents' cells), divided by their largest over x; contexts of probability 0
    are all 1. Proposition 1 converges to it, and not in general to the network that the rows were drawn from.

    Equation
    --------
    π(x | a) = P(x ∈ d_i, a ∈ d_{pa(i)}) / max_y P(y ∈ d_i, a ∈ d_{pa(i)})

    Parameters
    ----------
    limit
        Bytes that the exact computation may take, by default half of the free memory; beyond it is `TooLarge`.
    simulate, rng
        Number of rows to draw where the exact computation is too large: the result is then the estimate of
        `simulated_limit`, and its description names the standard error.

    Examples
    --------
    >>> import possnet as pn
    >>> x, y = pn.Variable("x", ("x1", "x2")), pn.Variable("y", ("y1", "y2"))
    >>> dag = pn.Dag({"x": (), "y": ("x",)})
    >>> net = pn.Network((x, y), dag, {"x": [1, 0.5], "y": [[1, 0.2], [0.1, 1]]})
    >>> sampling_limit(net).table("y").round(6)
    array([[1.  , 0.35], [1.  , 0.5 ]])
    """
    for value, what in ((limit, "limit"), (simulate, "simulate")):
        if value is not None:
            require_whole(value, 1, f"sampling_limit: {what}")
    spec = SamplingSpec.from_options(network, **options)
    require_known_law(spec.process)
    names = [variable.name for variable in network.variables]
    try:
        outcomes = list_outcomes(spec, names, limit)
        scopes, tree = build_junction_tree(spec, names, outcomes, limit)
    except TooLarge as error:
        if simulate is None:
            raise TooLarge(f"{error}. Or estimate the limit from drawn rows: simulate=ROWS") from None
        return simulated_limit(network, simulate, rng=rng, **options).network
    tree.collect()
    tables = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for factor, joint in tree.factor_marginals(scopes):
            inside: Floats = joint
            for number in scopes[factor]:
                inside = np.tensordot(inside, outcomes[names[number]].cells.astype(np.float64), axes=(0, 0))
            tables[names[factor]] = np.clip(normalise_rows(inside), 0.0, 1.0)
    return Network.unchecked(
        network.variables,
        network.dag,
        {name: tables[name] for name in names},
        conjunction=network.conjunction,
        name=network.name,
        description="What counting converges to.",
    )


def _read_parent_cells(network: Network, child: str, given: Mapping[str, str | Collection[str]]) -> dict[str, Bools]:
    parents = network.dag.parents(child)
    if not isinstance(given, Mapping):
        raise InputError(f"sampling_law: given {describe_value(given)}; expected a mapping from parents to their cells")
    for name in given:
        if name not in parents:
            raise InputError(
                f"sampling_law: {name!r} is not a parent of {child!r} ({listing(parents) or 'it has none'})"
                f"{did_you_mean(name, parents)}"
            )
    cells = {}
    for name in parents:
        if name not in given:
            raise InputError(
                f"sampling_law: no cell for parent {name!r} of {child!r}; expected a state or a set of states"
            )
        cell: object = given[name]
        if not isinstance(cell, str | Collection):
            raise InputError(
                f"sampling_law: {describe_value(cell)} as the cell of {name!r}; expected a state or a set of states"
            )
        mask = network.variable(name).mask(given[name])
        if not mask:
            raise InputError(f"sampling_law: an empty cell for parent {name!r}; expected at least one state")
        cells[name] = bitmaps.sets_of([mask], len(network.variable(name)))[0]
    return cells


def _describe_cells(network: Network, cells: Mapping[str, Bools]) -> str:
    return ", ".join(
        f"{name}={'|'.join(s for s, there in zip(network.variable(name).states, cell, strict=True) if there)}"
        for name, cell in cells.items()
    )


def _mass_function(variable: Variable, cells: Bools, probabilities: Floats) -> MassFunction:
    masses: dict[int, float] = {}
    for cell, probability in zip(cells, probabilities.tolist(), strict=True):
        if probability > 0.0:
            mask = bitmaps.mask_of(cell)
            masses[mask] = masses.get(mask, 0.0) + probability
    return MassFunction.unchecked(variable, masses)


def require_known_law(process: Process) -> None:
    """Raise an `InputError` for a process whose exact law cannot be computed."""
    if not process.limit_known:
        raise InputError(
            f"the exact law of process {process.name!r} is not known; expected another process. Or estimate its limit from "
            "drawn rows: simulated_limit(...)"
        )


def _checked_outcomes(spec: SamplingSpec, name: str, degrees: Floats, limit: int | None) -> Outcomes:
    """Law of the outcomes, refused before it is computed if there are too many sets."""
    theta = spec.imprecision[name]
    entries = count_entries(degrees, theta, spec.process)
    _refuse_large(name, entries, f"about {entries:,} sets", limit)
    return compute_outcomes(degrees, theta, spec.process)


def _refuse_large(name: str, entries: int, size: str, limit: int | None) -> None:
    what = f"the exact law of {name!r} ({size})"
    refuse_over(entries * _BYTES_AN_ENTRY, what, "use fewer states or parents", limit=limit)


def list_outcomes(spec: SamplingSpec, names: Iterable[str], limit: int | None) -> dict[str, Outcomes]:
    """Law of every variable in every combination of its parents' signals, parents first."""
    wanted = set(names)
    outcomes: dict[str, Outcomes] = {}
    for name in spec.network.dag.topological_order():
        if name not in wanted:
            continue
        table = spec.tables[name]
        alphabets = [outcomes[parent].alphabet for parent in spec.network.dag.parents(name)]
        contexts = prod(len(alphabet) for alphabet in alphabets)
        _refuse_large(name, contexts * table.shape[-1], f"{contexts:,} combinations of its parents' cells", limit)
        outcomes[name] = _checked_outcomes(spec, name, context_degrees(table, alphabets), limit)
    return outcomes


def build_junction_tree(
    spec: SamplingSpec, names: list[str], outcomes: dict[str, Outcomes], limit: int | None
) -> tuple[list[tuple[int, ...]], JunctionTree]:
    """Junction tree of the Bayesian network over outcomes."""
    place = {name: k for k, name in enumerate(names)}
    above = {name: spec.network.dag.parents(name) for name in names}
    scopes = [tuple(place[n] for n in (*above[name], name)) for name in names]
    plan = make_plan([len(outcomes[name].cells) for name in names], scopes)
    plan.refuse_if_large(names, limit)
    tables = []
    for name in names:
        table = outcomes[name].to_dense().reshape([*(len(outcomes[p].alphabet) for p in above[name]), -1])
        for axis, parent in enumerate(above[name]):
            table = table.take(outcomes[parent].signals, axis=axis)
        tables.append(table)
    return scopes, JunctionTree(plan, scopes, tables, SUM_PRODUCT)


def _hidden_law(spec: SamplingSpec, variable: Variable, cells: dict[str, Bools]) -> MassFunction:
    """Law of a cell given the parents' cells when it depends on their hidden states."""
    dag = spec.network.dag
    kept = {variable.name} | dag.ancestors({variable.name})
    names = [v.name for v in spec.network.variables if v.name in kept]
    outcomes = list_outcomes(spec, names, None)
    _, tree = build_junction_tree(spec, names, outcomes, None)
    evidence = {
        names.index(name): (outcomes[name].cells == cell).all(axis=1).astype(np.float64) for name, cell in cells.items()
    }
    tree.set_evidence(evidence)
    total = tree.collect()
    if total <= 0.0:
        raise ImpossibleEvidence(f"{_describe_cells(spec.network, cells)}: no row has these cells")
    with np.errstate(divide="ignore", invalid="ignore"):
        probabilities = tree.distribute()[names.index(variable.name)].reshape(-1) / total
    return _mass_function(variable, outcomes[variable.name].cells, probabilities)
