"""Climbing the likelihood: plain EM steps, and safe jumps between them.

Plain EM crawls. SQUAREM (Varadhan and Roland 2008) takes two steps x0 -> x1 -> x2, and with r = x1 - x0, v = (x2 - x1) - r
and alpha = -|r| / |v| jumps to x0 - 2 alpha r + alpha^2 v. A jump is kept only if the likelihood there is no lower than at
x1; otherwise the climb goes on from x2. So the likelihood never falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from possnet.errors import PossnetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from possnet.aliases import Floats, Progress

    Point: TypeAlias = dict[str, Floats]

Stopped: TypeAlias = Literal["converged", "max_steps"]
_ROUNDING: Final = 1e-9
_LONGEST: Final = 1e4


@dataclass(frozen=True, slots=True)
class Climb:
    """Where a climb ended: the point, the log-likelihood at every step, E-steps made, and why it stopped."""

    point: Point
    log_likelihood: list[float]
    steps: int
    stopped: Stopped


def remaining_gain(before: float, gain: float) -> float:
    """Aitken's estimate of what is still to be gained, from the last two gains of plain EM: d1 / (1 - d1/d0).

    >>> remaining_gain(1.0, 0.5), remaining_gain(0.5, 1.0)
    (1.0, inf)
    """
    if gain <= 0.0:
        return 0.0
    return gain / (1.0 - gain / before) if before > gain else inf


def climb(
    start: Point,
    step: Callable[[Point], tuple[float, Point]],
    *,
    tolerance: float,
    max_steps: int,
    accelerate: bool,
    progress: Progress | None = None,
) -> Climb:
    """Climb from a point; ``step`` gives the log-likelihood at a point and the point after one EM step."""
    trace: list[float] = []
    made = 0

    def evaluated(point: Point) -> tuple[float, Point]:
        nonlocal made
        made += 1
        found = step(point)
        if progress is not None:
            progress(made, max_steps)
        return found

    here = start
    value, after = evaluated(here)
    _note(trace, value)
    while made < max_steps:
        next_value, next_after = evaluated(after)
        _note(trace, next_value)
        gain = next_value - value
        behind, here, value, after = here, after, next_value, next_after
        if gain <= _ROUNDING * _ROUNDING * max(abs(value), 1.0):
            return Climb(here, trace, made, "converged")
        if gain < tolerance and made < max_steps:  # perhaps near: a second plain step tells how fast gains shrink
            next_value, next_after = evaluated(after)
            _note(trace, next_value)
            left = remaining_gain(gain, next_value - value)
            behind, here, value, after = here, after, next_value, next_after
            if left < tolerance:
                return Climb(here, trace, made, "converged")
        jump = _jump(behind, here, after) if accelerate and made < max_steps else None
        if jump is not None:
            jump_value, jump_after = evaluated(jump)
            if isfinite(jump_value) and jump_value >= value:
                _note(trace, jump_value)
                here, value, after = jump, jump_value, jump_after
    return Climb(here, trace, made, "max_steps")


def _note(trace: list[float], value: float) -> None:
    """Add a log-likelihood to those before, which it cannot be below."""
    if not isfinite(value):
        raise PossnetError(f"fit_em: the log-likelihood is {value!r}, which cannot be; please report it")
    if trace and value < trace[-1] - _ROUNDING * max(abs(value), 1.0):
        raise PossnetError(
            f"fit_em: the log-likelihood fell from {trace[-1]!r} to {value!r}, which cannot be; please report it"
        )
    trace.append(value)


def _jump(first: Point, second: Point, third: Point) -> Point | None:
    """The extrapolated point, brought back to probabilities; None where it would be the third point."""
    change = {name: second[name] - first[name] for name in first}
    bend = {name: (third[name] - second[name]) - change[name] for name in first}
    length = np.sqrt(sum(float((r**2).sum()) for r in change.values()))
    curve = np.sqrt(sum(float((v**2).sum()) for v in bend.values()))
    if curve <= 0.0 or length <= 0.0:
        return None
    stretch = min(length / curve, _LONGEST)
    if stretch <= 1.0:
        return None
    point = {}
    for name, start in first.items():
        moved = start + 2.0 * stretch * change[name] + stretch**2 * bend[name]
        moved = np.where(third[name] > 0.0, np.maximum(moved, third[name] * 1e-3), 0.0)
        sums = moved.sum(axis=1, keepdims=True)
        point[name] = np.divide(moved, sums, out=third[name].copy(), where=sums > 0.0)
    return point
