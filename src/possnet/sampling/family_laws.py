"""What the law of alpha-cut rows says of each family: which parents' cells occur, and the degrees cut under each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np

from possnet.errors import InputError
from possnet.sampling.cell_laws import context_degrees
from possnet.sampling.exact_limits import build_junction_tree, list_outcomes
from possnet.sampling.sampling_spec import SamplingOptions, SamplingSpec

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats, Ints
    from possnet.network import Network


class FamilyLaw(NamedTuple):
    """The law of a variable's cell given the cells of its parents.

    Attributes
    ----------
    parent_cells
        For every parent its cells as sets of states, (cells, states).
    combinations
        The combinations A of the parents' cells that occur in rows, as numbers into ``parent_cells``, (combinations,
        parents); of a variable without parents there is one, which is empty.
    degrees
        The degrees g_A(x) = max over a in A of Π(x, a) that the variable's cell is cut from, (combinations, states):
        equation (6) of [HLB].
    """

    parent_cells: tuple[Bools, ...]
    combinations: Ints
    degrees: Floats


def family_laws(
    network: Network, *, limit: int | None = None, **options: Unpack[SamplingOptions]
) -> dict[str, FamilyLaw]:
    """Combinations of the parents' cells that occur in alpha-cut rows, and the degrees cut under each; by variable.

    Children must see the cells of their parents: ``process="alpha-cut"`` with ``parents="observed"``.

    >>> import possnet as pn
    >>> x, y = pn.Variable("x", ("x1", "x2")), pn.Variable("y", ("y1", "y2"))
    >>> dag = pn.Dag({"x": (), "y": ("x",)})
    >>> net = pn.Network((x, y), dag, {"x": [1, 0.5], "y": [[1, 0.2], [0.1, 1]]})
    >>> law = family_laws(net)["y"]
    >>> law.parent_cells[0], law.degrees
    (array([[ True, False], [ True,  True]]), array([[1. , 0.2], [1. , 0.5]]))
    """
    spec = SamplingSpec.from_options(network, **options)
    if spec.process.signal != "cell":
        raise InputError(
            f"family_laws: {spec.process.label}; expected alpha-cut rows whose children see parents' cells"
        )
    names = [variable.name for variable in network.variables]
    outcomes = list_outcomes(spec, names, limit)
    scopes, tree = build_junction_tree(spec, names, outcomes, limit)
    tree.collect()
    laws = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for factor, joint in tree.factor_marginals(scopes):
            parents = network.dag.parents(names[factor])
            occurs = joint.sum(axis=-1) > 0.0
            degrees = context_degrees(spec.tables[names[factor]], [outcomes[parent].alphabet for parent in parents])
            cells = tuple(outcomes[parent].cells for parent in parents)
            laws[names[factor]] = FamilyLaw(cells, np.argwhere(occurs), degrees[occurs.reshape(-1)])
    return {name: laws[name] for name in names}
