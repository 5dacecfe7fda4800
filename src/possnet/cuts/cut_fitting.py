"""Learning a network from alpha-cut rows by their own law.

In rows of Algorithm 1 of [HLB] a child's cell is an alpha-cut, perhaps thinned, of g_A(x) = max over a in A of J(x, a),
where A are its parents' cells and J(x, a) is the joint degree of state and context. Counting mistakes this for rows that
each belong to one context, and cannot recover a child; but the law is known, and can be inverted as far as it goes. Family
by family, without any hidden variable: count the cells, maximise the likelihood of which states they hold
(`possnet.cuts.presence_ascent`), and turn g_A into bounds of the table (`possnet.cuts.family_bounds`).

[HLB] is cited in full in `possnet.sampling`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from possnet.cuts.cell_likelihood import estimate_imprecision
from possnet.cuts.common_states import require_common_states
from possnet.cuts.cut_result import CutResult
from possnet.cuts.family_bounds import ROUNDING
from possnet.cuts.family_cells import count_cells
from possnet.cuts.network_fitting import FamilyOptions, fit_families
from possnet.doors import check_arguments
from possnet.errors import InputError, require_known, require_number, warn_user
from possnet.network import Network, NetworkBounds
from possnet.parameters import normalise_rows, read_thetas
from possnet.possibility import PRODUCT, Conjunction, check_conjunction
from possnet.sampling import Law, Parents
from possnet.variables import for_every_variable

if TYPE_CHECKING:
    from possnet.aliases import Progress
    from possnet.cuts.family_cells import FamilyCells
    from possnet.cuts.family_fitting import FamilyFit
    from possnet.dataset import Batches, Dataset
    from possnet.graph import Dag

Point: TypeAlias = Literal["greatest", "middle"]


@check_arguments
def fit_cut(
    dag: Dag,
    data: Dataset | Batches,
    *,
    imprecision: float | Mapping[str, float | None] | None = 1.0,
    parents: Parents = "observed",
    law: Law = "independent",
    point: Point = "greatest",
    pseudo: float = 0.5,
    conjunction: Conjunction = PRODUCT,
    wrong: float = 0.0,
    name: str = "",
    progress: Progress | None = None,
) -> CutResult:
    """Learn the tables of a network from alpha-cut rows by their own law: identified degrees, and bounds of the others.

    Rows of Algorithm 1 of [HLB] (``process="alpha-cut"``) tell some degrees exactly and bound the others exactly; the
    result converges to `possnet.identify_degrees`. Rows of measuring devices, whose children answer to their parents' true
    state, are for `possnet.fit_em`; `possnet.detect_process` tells the two apart.

    Equation
    --------
    P(x ∈ cell | A) = θ g_A(x) for x not in the core
    g_A(x) = max_{a ∈ A} π(x | a) ⊗ π(a)

    Parameters
    ----------
    dag
        The structure whose tables are learned.
    data
        A data set or a stream, which is read once. Rows with an unknown cell are left out of the families that it belongs
        to (available cases: right if cells are missing completely at random).
    imprecision
        Theta of the rows, above 0: one number, or one for every variable. None estimates one number for all variables; in
        a mapping, one for that variable alone.
    parents
        What the children of the rows saw: the ``observed`` cells of their parents, or their whole ``cut`` before thinning.
    law
        How cuts were thinned: see `possnet.sample`.
    point
        The learned network: ``greatest`` has every degree at its upper end (the least specific) and carries the bounds
        through queries (`possnet.Inference.bounds`); ``middle`` in the middle of its bounds, divided by the largest of its
        context, which may put it outside of them, so that it carries none.
    pseudo
        Pseudo-observations of every joint degree, which hold it above 0.
    wrong
        Share of the rows that may lack a state which all others have, and are then left out: errors in the data.
    progress
        Called with the rows counted so far and the number of rows (0 if unknown).

    Examples
    --------
    >>> import possnet as pn
    >>> x, y = pn.Variable("x", ("x1", "x2")), pn.Variable("y", ("y1", "y2"))
    >>> net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": [1, 0.5], "y": [[1, 0.2], [1, 0.8]]})
    >>> data = pn.sample(net, 100_000, rng=1)
    >>> pn.fit(net.dag, data).table("y").round(2)
    array([[1. , 0.3], [1. , 0.4]])
    >>> result = fit_cut(net.dag, data)
    >>> result.network.table("y").round(1), result.identified["y"]
    (array([[1. , 0.2], [1. , 0.8]]), array([[ True,  True], [ True,  True]]))
    """
    require_known(parents, get_args(Parents), "fit_cut: parents")
    require_known(law, get_args(Law), "fit_cut: law")
    require_known(point, get_args(Point), "fit_cut: point")
    require_number(pseudo, "fit_cut: pseudo", "a number >= 0", 0.0)
    require_number(wrong, "fit_cut: wrong", "a share from 0 to below .5", 0.0, 0.5 - 1e-9)
    check_conjunction(conjunction)
    families = count_cells(dag, data, "fit_cut", progress=progress)
    families = require_common_states(families, data, wrong, "fit_cut")
    thetas, told = _find_imprecision(imprecision, families, law, hidden=parents == "cut")
    options = FamilyOptions(thetas, law, pseudo, conjunction)
    fits = fit_families(dag, families, options, hidden=parents == "cut")
    shown = next(iter(thetas.values())) if not isinstance(imprecision, Mapping) else thetas
    return _to_result(dag, families, fits, (shown, told), point, conjunction, name)


def _find_imprecision(
    given: float | Mapping[str, float | None] | None, families: Mapping[str, FamilyCells], law: Law, *, hidden: bool
) -> tuple[dict[str, float], bool | dict[str, bool] | None]:
    """Theta of every variable, and whether the rows tell those that were not given.

    Given the cells of parents whose cuts are hidden, a cell is no single thinned cut: only roots tell the imprecision then.
    """
    names = list(families)
    telling = {name: family for name, family in families.items() if not (hidden and family.parents)}
    if given is None:
        theta, told = estimate_imprecision(list(telling.values()), law)
        if not told:
            warn_user(
                "fit_cut: the rows do not tell their imprecision, for no cell has two states off the core; it is taken as "
                "1; give imprecision=, if it is known"
            )
        return dict.fromkeys(names, theta), told
    if not isinstance(given, Mapping):
        thetas = read_thetas(given, [family.child for family in families.values()], "fit_cut")
        told_each: dict[str, bool] = {}
    else:
        listed = for_every_variable(given, names, "fit_cut", "imprecision")
        estimates = {
            n: estimate_imprecision([telling[n]] if n in telling else [], law) for n, t in listed.items() if t is None
        }
        told_each = {name: told for name, (_, told) in estimates.items()}
        filled = {n: estimates[n][0] if n in estimates else theta for n, theta in listed.items()}
        thetas = read_thetas(filled, [family.child for family in families.values()], "fit_cut")  # type: ignore[arg-type]
    for name in names:
        if name not in told_each:
            _require_plausible(families[name], thetas[name], law)
    return thetas, told_each or None


def _require_plausible(family: FamilyCells, theta: float, law: Law) -> None:
    """Refuse an imprecision that is too small for how often a state off the core was kept."""
    sizes = np.arange(1, max(int((~family.core).sum()), 1) + 1)
    most = theta if law == "independent" else float(((2 * theta - theta**sizes) / (1 + theta - theta**sizes)).max())
    shares = np.where(family.core, 0.0, 1.0 - family.absence)
    state = int(np.argmax(shares))
    if shares[state] > most + 6.0 * np.sqrt(most * (1.0 - most) / max(family.total, 1)) + ROUNDING:
        raise InputError(
            f"fit_cut: imprecision {theta:g} of {family.child.name!r} keeps a state off the core in at most "
            f"{100 * most:.3g} % of the rows (law {law!r}), but {family.child.states[state]!r} lies in "
            f"{100 * shares[state]:.3g} % of its cells; expected a larger imprecision, or None to estimate it"
        )


def _to_result(
    dag: Dag,
    families: Mapping[str, FamilyCells],
    fits: Mapping[str, FamilyFit],
    imprecision: tuple[float | dict[str, float], bool | dict[str, bool] | None],
    point: Point,
    conjunction: Conjunction,
    name: str,
) -> CutResult:
    """The network, its bounds and diagnostics."""
    lower, upper, identified, error, support, tables = {}, {}, {}, {}, {}, {}
    for child, family in families.items():
        shape = (*(len(parent) for parent in family.parents), len(family.child))
        fit = fits[child]
        lower[child], upper[child], identified[child] = fit.bounds.reshape(shape)
        error[child], support[child] = fit.error.reshape(shape), fit.support.reshape(shape[:-1])
        middle = (lower[child] + upper[child]) / 2.0
        tables[child] = upper[child].copy() if point == "greatest" else normalise_rows(middle)
        for array in (lower[child], upper[child], identified[child], error[child]):
            array.flags.writeable = False
    variables = [family.child for family in families.values()]
    bounds = NetworkBounds(lower, upper) if point == "greatest" else None  # a middle may lie outside of them
    network = Network.unchecked(
        variables, dag, tables, conjunction=conjunction, support=support, bounds=bounds, name=name
    )
    return CutResult(
        network,
        lower,
        upper,
        identified,
        error,
        *imprecision,
        sum(fit.log_likelihood for fit in fits.values()),
        support,
        {child: family.left_out for child, family in families.items()},
        {child: family.wrong for child, family in families.items()},
    )
