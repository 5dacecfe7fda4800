"""Bounds of one conditional table from what alpha-cut rows tell of its family.

Let J(x, a) = π(x | a) (*) ρ(a) be the joint degree of a state and a context, ρ(a) the joint possibility of the parents'
configuration, and g_A(x) = max over a in A of J(x, a) the degrees that the cell is cut from when the parents' cells are A.
The rows tell g_A for every A that occurs, and nothing more (T1). With ρ known (T3),

    J̄(x, a) = min(ρ(a), min over A containing a of g_A(x))

is the greatest solution; J(x, a) is either this number, or anything from 0 to it. It is this number exactly if a is the
only element of some A with J̄(x, a) = g_A(x), or x is the only state with J̄(x, a) = ρ(a). Indeed J <= J̄ always; an entry
that is neither can be set to 0 with all others at J̄, for every A is still covered and every row still peaks at ρ(a).

Where ρ is only known to lie between two numbers, the same steps give outer bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from possnet.cuts.presence_ascent import find_alone, slice_sets
from possnet.limits import refuse_over
from possnet.possibility import PRODUCT, Conjunction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Bools, Floats, Ints

ROUNDING: Final = 1e-9
"""Degrees that differ by less are equal: the same degree is computed along several ways."""


class TableBounds(NamedTuple):
    """Lower and upper ends of every degree of a table, and which of them are one number, (contexts, states)."""

    lower: Floats
    upper: Floats
    identified: Bools

    def reshape(self, shape: tuple[int, ...]) -> TableBounds:
        """The same ends with the axes of a table."""
        return TableBounds(self.lower.reshape(shape), self.upper.reshape(shape), self.identified.reshape(shape))


def contexts_in_cells(parent_cells: Sequence[Bools], combinations: Ints) -> Bools:
    """Which contexts each combination of the parents' cells contains, (combinations, contexts), contexts in table order.

    >>> contexts_in_cells([np.array([[True, False], [True, True]])], np.array([[0], [1]]))
    array([[ True, False], [ True,  True]])
    """
    contexts = int(np.prod([cells.shape[1] for cells in parent_cells], dtype=np.float64))
    refuse_over(
        len(combinations) * contexts,
        f"{len(combinations):,} combinations of the parents' cells over {contexts:,} contexts",
        "use fewer parents or states",
    )
    inside = np.ones((len(combinations), 1), dtype=np.bool_)
    for place, cells in enumerate(parent_cells):
        own = cells[combinations[:, place]]
        inside = (inside[:, :, np.newaxis] & own[:, np.newaxis, :]).reshape(
            len(combinations), inside.shape[1] * own.shape[1]
        )
    return inside


def greatest_solution(inside: Bools, degrees: Floats, ceiling: Floats) -> Floats:
    """J̄ (contexts, states): the smallest g_A(x) over the A that contain a, at most ρ(a); ρ(a) where no A contains a.

    >>> inside = np.array([[True, False], [True, True]])
    >>> greatest_solution(inside, np.array([[1.0, 0.2], [1.0, 0.5]]), np.array([1.0, 0.5]))
    array([[1. , 0.2], [0.5, 0.5]])
    """
    solution = np.repeat(ceiling[:, np.newaxis], degrees.shape[1], axis=1)
    for part in slice_sets(inside, degrees.shape[1]):
        around = np.where(inside[part, :, np.newaxis], degrees[part, np.newaxis, :], np.inf)
        np.minimum(solution, around.min(axis=0), out=solution)
    return solution


def find_forced(inside: Bools, degrees: Floats, solution: Floats) -> Bools:
    """Entries (contexts, states) without which some A would not be covered: a alone in A reaches g_A(x).

    >>> inside = np.array([[True, False], [True, True]])
    >>> find_forced(inside, np.array([[1.0, 0.2], [1.0, 0.5]]), np.array([[1.0, 0.2], [0.5, 0.5]]))
    array([[ True,  True], [False,  True]])
    """
    forced = np.zeros(solution.shape, dtype=np.bool_)
    for part in slice_sets(inside, degrees.shape[1]):
        forced |= find_alone(inside[part], degrees[part], solution, absolute=ROUNDING).any(axis=0)
    return forced


def residual(contexts: Floats, joint: Floats, conjunction: Conjunction, slack: Floats | float = ROUNDING) -> Floats:
    """The greatest π with π (*) ρ <= J: min(1, J / ρ) for the product (Goguen); 1 where J >= ρ, else J, for min (Gödel).

    >>> from possnet.possibility import MIN
    >>> residual(np.array([0.5]), np.array([[0.25, 0.5]]), PRODUCT), residual(np.array([0.5]), np.array([[0.25, 0.5]]), MIN)
    (array([[0.5, 1. ]]), array([[0.25, 1.  ]]))
    """
    whole = contexts[:, np.newaxis]
    reached = joint >= whole - slack
    if conjunction is not PRODUCT:
        return np.where(reached, 1.0, joint)
    divided = np.divide(joint, whole, out=np.ones_like(joint), where=whole > 0.0)
    return np.where(joint >= whole, 1.0, np.minimum(divided, 1.0))


def bound_table(
    solution: Floats,
    forced: Bools,
    floor: Floats,
    ceiling: Floats,
    conjunction: Conjunction,
    seen: Bools,
    slack: Floats | float = ROUNDING,
    least: Floats | None = None,
) -> TableBounds:
    """Bounds of π(x | a) from J̄, from which entries are forced, and from ρ between ``floor`` and ``ceiling``.

    Upper ends are ρ_low -> J̄. A forced entry is at least J̄ / ρ_high (for min, J̄: one that equals ρ may be any π >= ρ).
    The only state that can reach ρ(a) has degree 1. Contexts that were not ``seen``, or are impossible, say nothing.
    Estimates of J that lie below ρ by less than the ``slack`` may reach it; ``least`` are lower ends of forced entries, if
    these are not J̄ itself.

    >>> full = np.ones(2)
    >>> joint, rho = np.array([[1.0, 0.2], [0.5, 0.5]]), np.array([1.0, 0.5])
    >>> bounds = bound_table(joint, np.array([[True, True], [False, True]]), rho, rho, PRODUCT, full == 1)
    >>> bounds.lower, bounds.upper
    (array([[1. , 0.2], [0. , 1. ]]), array([[1. , 0.2], [1. , 1. ]]))
    """
    allowance = np.maximum(slack, ROUNDING)
    upper = residual(floor, solution, conjunction, allowance)
    high = ceiling[:, np.newaxis]
    joint = solution if least is None else np.minimum(least, solution)
    share = np.divide(joint, high, out=np.zeros_like(solution), where=high > 0.0)
    lower = np.where(forced, np.minimum(share if conjunction is PRODUCT else joint, upper), 0.0)
    tops = solution >= floor[:, np.newaxis] - allowance
    only = tops & (tops.sum(axis=1) == 1)[:, np.newaxis]
    lower[only] = upper[only] = 1.0
    unseen = ~seen | (ceiling <= 0.0)
    lower[unseen], upper[unseen] = 0.0, 1.0
    identified = upper - lower <= ROUNDING
    lower[identified] = upper[identified]
    return TableBounds(lower, upper, identified)
