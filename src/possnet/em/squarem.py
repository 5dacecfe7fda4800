"""SQUAREM: accelerated EM whose log-likelihood never falls.

Plain EM converges slowly. SQUAREM (Varadhan and Roland 2008) takes two EM steps x0 -> x1 -> x2, and with r = x1 - x0,
v = (x2 - x1) - r and alpha = -|r| / |v| extrapolates to x0 - 2 alpha r + alpha^2 v. The extrapolated point is accepted only
if its log-likelihood is no lower than that of x1; otherwise EM continues from x2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from possnet.aliases import Floats
from possnet.errors import PossnetError

if TYPE_CHECKING:
    from possnet.aliases import Progress

Masses: TypeAlias = dict[str, Floats]
"""A point of the parameter space: name -> probabilities (contexts, cells), each row with the sum 1."""
EmStep: TypeAlias = Callable[[Masses], tuple[float, Masses]]
"""An E-step and an M-step: the log-likelihood at a point, and the next point."""
Stopped: TypeAlias = Literal["converged", "max_steps"]
_ROUNDING: Final = 1e-9  # a log-likelihood that falls by a smaller share of itself fell by rounding
_NO_GAIN: Final = 1e-18  # below the resolution of a float: EM is at a fixed point
_LONGEST: Final = 1e4  # largest step length: |r| / |v| has no bound where EM moves along a straight line


@dataclass(frozen=True, slots=True)
class EmRun:
    """The last point of a run of EM, the log-likelihood at every accepted step, E-steps made, and why it stopped."""

    masses: Masses
    log_likelihood: list[float]
    steps: int
    stopped: Stopped


def estimate_remaining_gain(previous_gain: float, gain: float) -> float:
    """Aitken's estimate of the gain still to come, from the last two gains of plain EM: d1 / (1 - d1/d0).

    >>> estimate_remaining_gain(1.0, 0.5), estimate_remaining_gain(0.5, 1.0)
    (1.0, inf)
    """
    if gain <= 0.0:
        return 0.0
    return gain / (1.0 - gain / previous_gain) if previous_gain > gain else inf


def run_squarem(
    start: Masses,
    em_step: EmStep,
    *,
    tolerance: float,
    max_steps: int,
    accelerate: bool = True,
    progress: Progress | None = None,
) -> EmRun:
    """Run EM from a starting point until Aitken's estimate of the remaining gain is below the tolerance."""
    trace: list[float] = []
    steps = 0

    def evaluate(point: Masses) -> tuple[float, Masses]:
        nonlocal steps
        steps += 1
        result = em_step(point)
        if progress is not None:
            progress(steps, max_steps)
        return result

    current = start
    value, following = evaluate(current)
    _append_value(trace, value)
    while steps < max_steps:
        previous, current, last_value = current, following, value
        value, following = evaluate(current)
        _append_value(trace, value)
        gain = value - last_value
        if gain <= _NO_GAIN * max(abs(value), 1.0):
            return EmRun(current, trace, steps, "converged")
        if gain < tolerance and steps < max_steps:  # Aitken's estimate needs the gains of two plain steps in a row
            previous, current, last_value = current, following, value
            value, following = evaluate(current)
            _append_value(trace, value)
            if estimate_remaining_gain(gain, value - last_value) < tolerance:
                return EmRun(current, trace, steps, "converged")
        jump = _extrapolate(previous, current, following) if accelerate and steps < max_steps else None
        if jump is not None:
            jump_value, after_jump = evaluate(jump)
            if isfinite(jump_value) and jump_value >= value:
                _append_value(trace, jump_value)
                current, value, following = jump, jump_value, after_jump
    return EmRun(current, trace, steps, "max_steps")


def _append_value(trace: list[float], value: float) -> None:
    """Add a log-likelihood to the trace; an error if it is not finite or lower than the one before."""
    if not isfinite(value):
        raise PossnetError(f"fit_em: the log-likelihood is {value!r}, which cannot be; please report it")
    if trace and value < trace[-1] - _ROUNDING * max(abs(value), 1.0):
        raise PossnetError(
            f"fit_em: the log-likelihood fell from {trace[-1]!r} to {value!r}, which cannot be; please report it"
        )
    trace.append(value)


def _extrapolate(previous: Masses, current: Masses, following: Masses) -> Masses | None:
    """The extrapolated point, brought back to probabilities; None where it would be the following point itself."""
    change = {name: current[name] - previous[name] for name in previous}
    bend = {name: (following[name] - current[name]) - change[name] for name in previous}
    length = np.sqrt(sum(float((r**2).sum()) for r in change.values()))
    curvature = np.sqrt(sum(float((v**2).sum()) for v in bend.values()))
    if curvature <= 0.0 or length <= 0.0:
        return None
    step_length = min(length / curvature, _LONGEST)  # -alpha; 1 is the plain step
    if step_length <= 1.0:
        return None
    point = {}
    for name, start in previous.items():
        moved = start + 2.0 * step_length * change[name] + step_length**2 * bend[name]
        # A mass may overshoot below 0, or to 0, which EM could never leave again: it keeps a thousandth of its EM step.
        moved = np.where(following[name] > 0.0, np.maximum(moved, following[name] * 1e-3), 0.0)
        sums = moved.sum(axis=1, keepdims=True)
        point[name] = np.divide(moved, sums, out=following[name].copy(), where=sums > 0.0)
    return point
