"""The cut likelihood of every family of a network, parents first, so that ρ(a) is known where a table needs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from possnet.cuts.ancestor_bounds import AncestorBounds
from possnet.cuts.family_fitting import FamilyFit, fit_family
from possnet.cuts.hidden_cuts import fit_hidden_family

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.cuts.family_cells import FamilyCells
    from possnet.graph import Dag
    from possnet.possibility import Conjunction
    from possnet.sampling import Law


@dataclass(frozen=True, slots=True)
class FamilyOptions:
    """How families are fitted: the imprecision of every variable, the law of thinning, and the rest."""

    imprecision: Mapping[str, float]
    law: Law
    pseudo: float
    conjunction: Conjunction


def fit_families(
    dag: Dag, families: Mapping[str, FamilyCells], options: FamilyOptions, *, hidden: bool = False
) -> dict[str, FamilyFit]:
    """Fits of all families, parents first; with ``hidden`` children saw their parents' cuts before these were thinned."""
    known = AncestorBounds(dag, {name: family.child for name, family in families.items()}, options.conjunction)
    fits: dict[str, FamilyFit] = {}
    for name in dag.topological_order():
        family = families[name]
        contexts = known.bound_contexts(dag.parents(name))
        theta = options.imprecision[name]
        above = [(fits[parent], options.imprecision[parent]) for parent in dag.parents(name)]
        if hidden and any(kept < 1.0 for _, kept in above) and family.total:
            fit = fit_hidden_family(family, above, theta, contexts, options.law, options.pseudo, options.conjunction)
        else:
            fit = fit_family(
                family,
                theta,
                law=options.law,
                contexts=contexts,
                pseudo=options.pseudo,
                conjunction=options.conjunction,
            )
        fits[name] = fit
        shape = (*(len(parent) for parent in family.parents), len(family.child))
        bounds = fit.bounds.reshape(shape)
        known.add_variable(name, fit.marginal, bounds.lower, bounds.upper, fit.marginal_error)
    return fits
