"""What endless alpha-cut rows would tell of a network: the degrees that they identify, and bounds of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import numpy as np

from possnet.cuts.ancestor_bounds import AncestorBounds
from possnet.cuts.family_bounds import bound_table, contexts_in_cells, find_forced, greatest_solution
from possnet.doors import check_arguments
from possnet.errors import InputError, require_known, require_whole
from possnet.network import Network
from possnet.parameters import read_thetas
from possnet.possibility import snap_tops
from possnet.sampling import Imprecision, Parents, family_laws

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats


@dataclass(frozen=True, slots=True)
class IdentifiedDegrees:
    """What endless alpha-cut rows of a network tell of its degrees.

    Attributes
    ----------
    network
        The least specific network that such rows allow: every degree at its upper end. Its rows have the same law where
        parents have no common ancestors.
    lower, upper
        Name -> ends of every degree, axes as the table.
    identified
        Name -> which degrees the rows tell exactly: both ends are the same.

    Examples
    --------
    >>> import possnet as pn
    >>> told = pn.identify_degrees(pn.load_example("asia"))
    >>> told.upper["tub"], told.identified["tub"]
    (array([[1.  , 1.  ], [0.01, 1.  ]]), array([[False, False], [ True,  True]]))
    """

    network: Network
    lower: dict[str, Floats]
    upper: dict[str, Floats]
    identified: dict[str, Bools]

    @property
    def share(self) -> float:
        """Share of the degrees of variables with parents (of all, if none has any) that are identified.

        >>> import possnet as pn
        >>> round(pn.identify_degrees(pn.load_example("clinic")).share, 2)
        0.55
        """
        return identified_share(self.network, self.identified)

    def __repr__(self) -> str:
        return f"IdentifiedDegrees({self.network!r}, {100 * self.share:.0f} % of the degrees of children identified)"


def identified_share(network: Network, identified: dict[str, Bools]) -> float:
    """Share of the degrees of variables with parents (of all variables, if none has any) that are identified."""
    children = [name for name in identified if network.dag.parents(name)] or list(identified)
    return float(np.concatenate([identified[name].reshape(-1) for name in children]).mean())


@check_arguments
def identify_degrees(
    network: Network, *, imprecision: Imprecision = 1.0, parents: Parents = "observed", limit: int | None = None
) -> IdentifiedDegrees:
    """Bounds of every degree of a network, given the exact law of its alpha-cut rows: what endless rows would tell.

    The law of the rows is known if and only if one knows which cells of the parents occur and, for each combination A of
    them, the degrees g_A that the child's cell is cut from. Some tables are then the only ones that agree with the law;
    other degrees can be anything from 0 to their upper end (see `possnet.cuts.family_bounds`). Where parents have common
    ancestors, the bounds hold but may be wider than need be. `possnet.fit_cut` converges to these bounds.

    Equation
    --------
    g_A(x) = max_{a ∈ A} π(x | a) ⊗ π(a)
    π(x | a) ⊗ π(a) ≤ min_{A ∋ a} g_A(x)

    Parameters
    ----------
    imprecision
        Theta of the rows, above 0: one number, or one for every variable. With children that see the observed cells of
        their parents, rows of imprecision below 1 tell more, for more combinations of cells occur.
    parents
        What children see: the ``observed`` cells of their parents, or their whole ``cut`` before thinning (then the
        imprecision makes no difference to what can be known).
    limit
        Bytes that the exact law may take, by default half of the free memory; beyond it is `TooLarge`.

    Examples
    --------
    >>> import possnet as pn
    >>> x, y = pn.Variable("x", ("x1", "x2")), pn.Variable("y", ("y1", "y2"))
    >>> dag = pn.Dag({"x": (), "y": ("x",)})
    >>> told = identify_degrees(pn.Network((x, y), dag, {"x": [1, 0.5], "y": [[1, 0.2], [0.1, 1]]}))
    >>> told.lower["y"], told.upper["y"]
    (array([[1. , 0.2], [0. , 1. ]]), array([[1. , 0.2], [1. , 1. ]]))
    >>> told
    IdentifiedDegrees(Network(2 variables, 1 edge, 6 degrees, product), 75 % of the degrees of children identified)
    """
    require_known(parents, get_args(Parents), "identify_degrees: parents")
    if limit is not None:
        require_whole(limit, 1, "identify_degrees: limit")
    given: object = network
    if not isinstance(given, Network):
        raise InputError(f"identify_degrees: {network!r} is not a network; expected one, such as load_example('asia')")
    thetas = read_thetas(imprecision, network.variables, "identify_degrees")
    # Thinned cells determine the law of the cuts, so that hidden cuts tell as much as observed ones (T1).
    laws = family_laws(network, imprecision=1.0 if parents == "cut" else thetas, limit=limit)
    known = AncestorBounds(network.dag, {v.name: v for v in network.variables}, network.conjunction)
    lower, upper, identified = {}, {}, {}
    for name in network.dag.topological_order():
        cells, combinations, degrees = laws[name]
        inside = contexts_in_cells(cells, combinations)
        contexts = known.bound_contexts(network.dag.parents(name))
        solution = greatest_solution(inside, degrees, contexts.ceiling)
        forced = find_forced(inside, degrees, solution)
        seen = np.asarray(inside.any(axis=0))
        bounds = bound_table(solution, forced, contexts.floor, contexts.ceiling, network.conjunction, seen)
        lower[name], upper[name], identified[name] = bounds.reshape(network.table(name).shape)
        snap_tops(upper[name], axis=-1)
        known.add_variable(name, degrees.max(axis=0), lower[name], upper[name])
    names = [variable.name for variable in network.variables]
    widest = Network.unchecked(
        network.variables,
        network.dag,
        {name: upper[name].copy() for name in names},
        conjunction=network.conjunction,
        name=network.name,
        description="The least specific network that alpha-cut rows allow.",
    )
    return IdentifiedDegrees(
        widest, {n: lower[n] for n in names}, {n: upper[n] for n in names}, {n: identified[n] for n in names}
    )
