"""What alpha-cut rows can tell at most: Cramér-Rao bounds beside which the cut likelihood is judged.

`bound_imprecision`: the least standard error of an unbiased estimate of the imprecision. Given a combination A of the
parents' cells, a cell has the law of `possnet.cuts.cell_likelihood`, with the degrees of A as nuisance parameters: the
information on θ is the Schur complement of their block, added up over all A.

`bound_distance`: the least mean distance of upper ends to their limit where children saw hidden cuts, of an estimator that
knows how possible contexts are, which cuts there are and how often, and which context decides each. The presence of a
state x is Bernoulli with probability sum over A of P(A | D) θ g_A(x) given the parents' cells D; the inverse of the
information on the deciding θ J(x, a) gives standard errors. Normal errors of this size are cut off at 0 and 1, as degrees
are.
"""

from itertools import product
from typing import Any

import numpy as np

import possnet as pn
from possnet.cuts import FamilyCells, count_cells
from possnet.cuts.family_bounds import contexts_in_cells, greatest_solution
from possnet.cuts.hidden_cuts import thinning_probabilities
from possnet.sampling import thinning_weights

LAW_ROWS = 400_000  # rows that stand for the law
STEP = 1e-5  # of numerical derivatives
DRAWS = 400


def joint_degrees(net: pn.Network, name: str) -> tuple[Any, Any]:
    """J(x, a) and ρ(a), (contexts, states) and (contexts,)."""
    parents = list(net.dag.parents(name))
    rho = pn.Inference(net).query(parents).degrees.reshape(-1) if parents else np.ones(1)
    return net.table(name).reshape(len(rho), -1) * rho[:, np.newaxis], rho


def cell_law(degrees: Any, theta: float, law: str) -> Any:
    """Probabilities of all sets of states off the core, their degrees descending."""
    size = len(degrees)
    weights, masses = thinning_weights(theta, law, size), -np.diff(np.r_[1.0, degrees, 0.0])
    kept = np.array(list(product((False, True), repeat=size)))
    deepest = np.where(kept, np.arange(1, size + 1), 0).max(axis=1)
    inside = np.arange(size + 1) >= deepest[:, np.newaxis]
    return np.where(inside, weights[:, kept.sum(axis=1)].T * masses, 0.0).sum(axis=1)


def bound_imprecision(net: pn.Network, theta: float, law: str, rows: int) -> float:
    """Least standard error of the imprecision, degrees unknown."""
    families = count_cells(net.dag, pn.sample(net, LAW_ROWS, imprecision=theta, law=law, rng=77), "bound")
    information = 0.0
    for name, family in families.items():
        joint, _ = joint_degrees(net, name)
        inside = contexts_in_cells(family.parent_cells, family.combinations)
        for members, share in zip(inside, family.rows / family.total, strict=True):
            degrees = np.sort(joint[members].max(axis=0)[~family.core])[::-1]
            degrees = degrees[degrees > 1e-9]
            if len(degrees) > 1:
                information += share * rows * _tell_theta(degrees, theta, law)
    return float(1.0 / np.sqrt(information)) if information else np.inf


def _tell_theta(degrees: Any, theta: float, law: str) -> float:
    """Information of one cell on θ."""
    point = np.clip(np.r_[theta, degrees], 2 * STEP, 1 - 2 * STEP)
    ends = [[cell_law(p[1:], p[0], law) for p in (point + step, point - step)] for step in STEP * np.eye(len(point))]
    slopes = np.array([(up - down) / (2 * STEP) for up, down in ends])
    law_here = cell_law(point[1:], point[0], law)
    some = law_here > 1e-12
    fisher = (slopes[:, some] / law_here[some]) @ slopes[:, some].T
    return float(fisher[0, 0] - fisher[0, 1:] @ np.linalg.pinv(fisher[1:, 1:]) @ fisher[1:, 0])


def bound_distance(net: pn.Network, theta: float, sizes: tuple[int, ...]) -> Any:
    """Least mean distance of children's upper ends to their limit by numbers of rows, children having seen hidden cuts."""
    exact = pn.identify_degrees(net, imprecision=theta, parents="cut")
    families = count_cells(net.dag, pn.sample(net, LAW_ROWS, rng=77), "bound")
    per_child = []
    for name, family in families.items():
        if family.parents:
            errors = _spread_ends(net, name, family, theta)
            upper = np.where(np.isnan(errors), 1.0, exact.upper[name].reshape(errors.shape))
            noise = np.nan_to_num(errors)[..., np.newaxis] * np.random.default_rng(0).standard_normal(DRAWS)
            ends = [np.clip(upper[..., np.newaxis] + noise / np.sqrt(rows), 0.0, 1.0) for rows in sizes]
            per_child.append([float(np.abs(end - upper[..., np.newaxis]).mean()) for end in ends])
    return np.mean(per_child, axis=0)


def _spread_ends(net: pn.Network, name: str, family: FamilyCells, theta: float) -> Any:
    """Standard errors of upper ends by one row, (contexts, states); NaN for those at 1 and for the core."""
    joint, rho = joint_degrees(net, name)
    inside = contexts_in_cells(family.parent_cells, family.combinations)
    held = np.where(inside[:, :, np.newaxis], joint, -1.0)
    degrees, which = held.max(axis=1), held.argmax(axis=1)
    probabilities, posterior = _see_cells(family, theta)
    solution = greatest_solution(inside, degrees, rho)
    errors = np.full(solution.shape, np.nan)
    for state in np.flatnonzero(~family.core):
        deciding, place = np.unique(which[:, state], return_inverse=True)
        mixed = posterior @ np.eye(len(deciding))[place.reshape(-1)]
        present = mixed @ np.clip(theta * joint[deciding, state], 1e-9, 1 - 1e-9)
        fisher = mixed.T @ ((probabilities / (present * (1 - present)))[:, np.newaxis] * mixed)
        spread = np.sqrt(np.diag(np.linalg.inv(fisher + 1e-13 * np.eye(len(deciding))))) / theta
        for context in np.flatnonzero((solution[:, state] < rho - 1e-9) & (rho > 0.0)):
            reached = inside[:, context] & (np.abs(degrees[:, state] - solution[context, state]) < 1e-9)
            if reached.any():
                errors[context, state] = spread[place.reshape(-1)[reached]].min() / rho[context]
    return errors


def _see_cells(family: FamilyCells, theta: float) -> tuple[Any, Any]:
    """P(D) of every combination of thinned parents' cells, and P(A | D)."""
    joint = np.ones((1, len(family.combinations)))
    for place, cuts in enumerate(family.parent_cells):
        core = cuts.all(axis=0)
        cells = np.array([c for c in product((False, True), repeat=cuts.shape[1]) if (np.array(c) | ~core).all()])
        single = thinning_probabilities(cells, cuts, core, theta, "independent")[:, family.combinations[:, place]]
        joint = (joint[:, np.newaxis, :] * single[np.newaxis]).reshape(-1, joint.shape[1])
    joint = joint * (family.rows / family.total)
    probabilities = joint.sum(axis=1)
    seen = probabilities > 0.0
    return probabilities[seen], joint[seen] / probabilities[seen, np.newaxis]
