"""What is known of a possibility if the tables of a network are known within bounds."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from possnet.doors import check_arguments
from possnet.inference.semirings import MAX_MIN, MAX_SUM, ROUNDING
from possnet.possibility import Possibility

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats
    from possnet.inference.semirings import Semiring
    from possnet.possibility import Event
    from possnet.variables import Variable


class PossibilityBounds:
    """Lower and upper degrees of every state of a variable, or of every configuration of several, given evidence.

    Every network whose tables are normalised and lie within the given bounds has its answer between ``lower`` and
    ``upper``. `possnet.Inference.bounds` makes these values.

    Attributes
    ----------
    variables
        One axis of the arrays each.
    lower, upper
        Read-only arrays of degrees. ``upper`` peaks at 1; ``lower`` need not.
    attained
        Whether each of the degrees is known to be reached by a network within the bounds. If not, ``lower`` and
        ``upper`` are *outer* bounds: they hold the truth, and may be wider than they need to be.

    Examples
    --------
    >>> import possnet as pn
    >>> rash = pn.Variable("rash", ("none", "spots"))
    >>> net = pn.Network((rash,), pn.Dag({"rash": ()}), {"rash": [1, 0.5]})
    >>> bounds = pn.Inference(net, lower={"rash": [1, 0.2]}, upper={"rash": [1, 0.6]}).bounds("rash")
    >>> bounds
    PossibilityBounds(rash: none 1, spots [0.2, 0.6])
    >>> bounds["spots"], bounds.necessity({"none"})
    ((0.2, 0.6), (0.4, 0.8))
    >>> bounds.attained
    True
    """

    __slots__ = ("_given", "_joint", "_semiring", "attained", "lower", "upper", "variables")

    @check_arguments
    def __init__(
        self,
        variables: tuple[Variable, ...],
        joint: tuple[Floats, Floats],
        semiring: Semiring,
        *,
        given: bool,
        attained: bool,
    ) -> None:
        self.variables, self._joint, self._semiring, self._given = variables, joint, semiring, given
        shape = tuple(len(variable) for variable in variables)
        lower, upper = condition_bounds(*joint, semiring, given=given)
        self.lower, self.upper = lower.reshape(shape), upper.reshape(shape)
        self.lower.flags.writeable = self.upper.flags.writeable = False
        self.attained = (attained and not given) or bool(np.array_equal(lower, upper))

    def __getitem__(self, configuration: str | tuple[str, ...]) -> tuple[float, float]:
        low, high = (Possibility.unchecked(self.variables, degrees) for degrees in (self.lower, self.upper))
        return low[configuration], high[configuration]

    @check_arguments
    def possibility(self, event: Event) -> tuple[float, float]:
        """Lower and upper possibility of an event (see `possnet.Possibility.possibility`), given the evidence.

        >>> import possnet as pn
        >>> fever = pn.Variable("fever", ("none", "mild", "high"))
        >>> net = pn.Network((fever,), pn.Dag({"fever": ()}), {"fever": [1, 0.5, 0.5]})
        >>> engine = pn.Inference(net, lower={"fever": [1, 0.2, 0.3]}, upper={"fever": [1, 0.6, 0.5]})
        >>> engine.bounds("fever").possibility({"mild", "high"})
        (0.3, 0.6)
        """
        return self._bound_event(self._event_mask(event))

    @check_arguments
    def necessity(self, event: Event) -> tuple[float, float]:
        """Lower and upper necessity of an event, given the evidence: N(A) = 1 - Π(not A).

        >>> import possnet as pn
        >>> rash = pn.Variable("rash", ("none", "spots"))
        >>> net = pn.Network((rash,), pn.Dag({"rash": ()}), {"rash": [1, 0.5]})
        >>> pn.Inference(net, lower={"rash": [1, 0.25]}, upper={"rash": [1, 0.5]}).bounds("rash").necessity("none")
        (0.5, 0.75)
        """
        low, high = self._bound_event(~self._event_mask(event))
        return 1.0 - high, 1.0 - low

    def necessities(self) -> tuple[Floats, Floats]:
        """Lower and upper necessity of every single configuration, as arrays like ``lower`` and ``upper``.

        >>> import possnet as pn
        >>> rash = pn.Variable("rash", ("none", "spots"))
        >>> net = pn.Network((rash,), pn.Dag({"rash": ()}), {"rash": [1, 0.5]})
        >>> pn.Inference(net, lower={"rash": [1, 0.25]}, upper={"rash": [1, 0.5]}).bounds("rash").necessities()
        (array([0.5, 0. ]), array([0.75, 0.  ]))
        """
        low, high = (np.stack([_largest_of_others(part, self._semiring.zero), part]) for part in self._joint)
        lower, upper = condition_bounds(low, high, self._semiring, given=self._given)
        shape = self.lower.shape
        return (1.0 - upper[0]).reshape(shape), (1.0 - lower[0]).reshape(shape)

    def _event_mask(self, event: Event) -> Bools:
        return Possibility.unchecked(self.variables, self.upper).event_mask(event).reshape(-1)

    def _bound_event(self, inside: Bools) -> tuple[float, float]:
        """Bounds of the possibility of an event: its joint degree against that of its complement."""
        low, high = (
            np.array([part[side].max(initial=self._semiring.zero) for side in (inside, ~inside)])
            for part in self._joint
        )
        lower, upper = condition_bounds(low, high, self._semiring, given=self._given)
        return float(lower[0]), float(upper[0])

    def _repr_html_(self) -> str:
        """Bars for notebooks, the band between lower and upper degree lighter; of many configurations the first."""
        from possnet.drawing import Bar, draw_bars

        ends = zip(self.lower.flat, self.upper.flat, strict=True)
        certain = self.necessities()[0].flat
        bars = [
            Bar(label, float(high), float(least), band=(float(low), float(high)))
            for label, (low, high), least in zip(self._labels(), ends, certain, strict=True)
        ]
        if len(bars) > 12:
            bars[11:] = [Bar(f"… {len(bars) - 11:,} more", None)]
        return draw_bars(bars, title=", ".join(variable.name for variable in self.variables))

    def _labels(self) -> list[str]:
        return ["/".join(states) for states in product(*(variable.states for variable in self.variables))]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PossibilityBounds):
            return NotImplemented
        return (
            self.variables == other.variables
            and np.array_equal(self.lower, other.lower)
            and np.array_equal(self.upper, other.upper)
        )

    def __hash__(self) -> int:
        return hash((self.variables, self.lower.tobytes(), self.upper.tobytes()))

    def __repr__(self) -> str:
        names = ", ".join(variable.name for variable in self.variables)
        if self.lower.size > 12:
            return f"PossibilityBounds({names}: {' x '.join(str(n) for n in self.lower.shape)} degrees)"
        degrees = zip(self._labels(), self.lower.flat, self.upper.flat, strict=True)
        shown = ", ".join(f"{label} {describe_band(low, high)}" for label, low, high in degrees)
        return f"PossibilityBounds({names}: {shown})"


def describe_band(low: float, high: float) -> str:
    """An interval of degrees in short: one number if both ends show the same.

    >>> describe_band(0.25, 1.0), describe_band(0.5, 0.5)
    ('[0.25, 1]', '0.5')
    """
    first, second = f"{low:.6g}", f"{high:.6g}"
    return first if first == second else f"[{first}, {second}]"


def condition_bounds(low: Floats, high: Floats, semiring: Semiring, *, given: bool) -> tuple[Floats, Floats]:
    r"""Bounds of degrees given evidence, from bounds of the joint degrees Π(x, e) of alternatives x (the first axis).

    Let p = Π(x, e) and q = the largest Π(x', e) of the others, so that Π(e) = max(p, q) > 0. For the product
    Π(x | e) = p / max(p, q); for the minimum it is 1 if p >= q, otherwise p. Both grow with p and fall with q, so that

        lower end: p at its lower, q at its upper bound;   upper end: p at its upper, q at its lower bound.

    These are outer bounds: one network need not have both ends. Possible evidence (p > 0 or q > 0) settles 0/0: a state of
    upper degree 0 has degree 0, and one whose rivals all have upper degree 0 has degree 1. Without evidence Π(x) = p, and
    since the largest degree of a normalised network is 1, p = 1 where q is below 1.

    >>> from possnet.inference.semirings import MAX_MIN, MAX_PRODUCT
    >>> low, high = np.array([0.0, 0.2]), np.array([0.1, 0.4])
    >>> condition_bounds(low, high, MAX_PRODUCT, given=True)
    (array([0., 1.]), array([0.5, 1. ]))
    >>> condition_bounds(low, high, MAX_MIN, given=True)
    (array([0., 1.]), array([0.1, 1. ]))
    """
    low_others, high_others = (_largest_of_others(part, semiring.zero) for part in (low, high))
    if not given:
        lower, upper = (np.exp(low), np.exp(high)) if semiring is MAX_SUM else (low.copy(), high.copy())
        lower[high_others < semiring.one] = 1.0
        return lower, upper
    lower, upper = _condition(low, high_others, semiring), _condition(high, low_others, semiring)
    lower[high_others == semiring.zero] = 1.0
    upper[high == semiring.zero] = 0.0
    return np.minimum(lower, upper), upper


def _condition(own: Floats, others: Floats, semiring: Semiring) -> Floats:
    """Degree given evidence of alternatives with some joint degrees, each against the largest of the others; 0/0 is 0."""
    if semiring is MAX_MIN:
        return np.where(own >= others, 1.0, own)
    top = np.maximum(own, others)
    possible = top != semiring.zero
    safe = np.where(possible, top, semiring.one)
    degrees = np.exp(own - safe) if semiring is MAX_SUM else own / safe
    degrees[possible & (degrees >= 1.0 - ROUNDING)] = 1.0
    return np.where(possible, degrees, 0.0)


def _largest_of_others(degrees: Floats, zero: float) -> Floats:
    """For every entry of the first axis the largest of the other entries; zero if there is none."""
    if len(degrees) < 2:
        return np.full_like(degrees, zero)
    order = np.sort(degrees, axis=0)
    others = np.broadcast_to(order[-1], degrees.shape).copy()
    np.put_along_axis(others, degrees.argmax(axis=0)[np.newaxis], order[-2:-1], axis=0)
    return others
