"""How an answer depends on one table entry: curves in closed form, for one entry or for all at once.

Let X(t) be the possibility of a state together with the evidence, and R(t) that of all other states, as functions of one
table entry t. Both are maxima of a constant and of one term that t takes part in,

    X(t) = max(c, l ⊗ t),

the best configuration without the entry, and the best one through it; ⊗ is the conjunction. The answer Π(x | e)(t) is X /
max(X, R) for the product, and for the minimum 1 where X >= R, else X. Between two break points one term of X and one of
max(X, R) is the largest, so that the answer is k, k t or k / t.

If t is the only 1 of its context, the context is normalised by the conjunction after t has changed. With s the second
largest degree of the context, m = max(t, s) and the product, every degree of the context is divided by m; because the
answer is a ratio, X and R may be multiplied by m instead: for t <= s the constant of X is max(a s, r) and l stays, for t
>= s the constant is r and l becomes max(a, l), where a is the best configuration outside the context and r the best one
through its other entries. With the minimum, t above s is lifted to 1 and nothing changes; below s the states at s are
lifted, and at s all of them are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats

ROUND = 1e-12  # relative; values that differ by less differ by rounding alone


@dataclass(frozen=True, slots=True)
class CurvePiece:
    """The answer between two values of an entry: coefficient times t to the power -1, 0 or 1.

    >>> CurvePiece(0.2, 1.0, 0.5, -1).formula
    '0.5 / t'
    """

    start: float
    stop: float
    coefficient: float
    power: int

    @property
    def formula(self) -> str:
        """The function of t, as text."""
        k = f"{self.coefficient:.6g}"
        if self.power == 0:
            return k
        if self.power > 0:
            return "t" if k == "1" else f"{k} t"
        return f"{k} / t"


@dataclass(frozen=True, slots=True)
class ResponseCurves:
    """Answers as functions of table entries, one row for each entry.

    Attributes
    ----------
    split
        Where the regime changes: below it the first, at it the second, above it the third of the middle axis of the other
        two arrays holds. Negative if there is one regime only.
    constants, slopes
        The terms c and l of X and R, (entries, 3 regimes, 2).
    divides
        Whether the conjunction is the product.
    """

    split: Floats
    constants: Floats
    slopes: Floats
    divides: bool

    def take(self, number: int) -> ResponseCurves:
        """The curve of one entry."""
        one = slice(number, number + 1)
        return ResponseCurves(self.split[one], self.constants[one], self.slopes[one], self.divides)

    def joint(self, t: Floats) -> Floats:
        """X and R at values of t (entries, points), as (entries, points, 2)."""
        split, points = self.split[:, np.newaxis, np.newaxis], t[..., np.newaxis]
        combine = np.multiply if self.divides else np.minimum

        def in_regime(regime: int) -> Floats:
            slopes = combine(self.slopes[:, np.newaxis, regime], points)
            return np.maximum(self.constants[:, np.newaxis, regime], slopes, out=slopes)

        values = np.where(points < split, in_regime(0), in_regime(2))
        return values if self.divides else np.where(points == split, in_regime(1), values)  # a product has no jumps

    def leads(self, t: Floats) -> Bools:
        """Whether the state is among the most possible ones, X >= R, at values of t (entries, points)."""
        both = self.joint(t)
        margin = 1.0 - ROUND if self.divides else 1.0
        result: Bools = both[..., 0] >= both[..., 1] * margin
        return result

    def answers(self, t: Floats) -> Floats:
        """Π(x | e) at values of t (entries, points); NaN where t makes the evidence impossible."""
        both = self.joint(t)
        top = both.max(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.divides:
                values: Floats = both[..., 0] / top
                values[values >= 1.0 - ROUND] = 1.0
            else:
                values = np.where(both[..., 0] >= both[..., 1], 1.0, both[..., 0])
        values[top <= 0.0] = np.nan
        return values

    def candidates(self) -> Floats:
        """Values of t among which all break points are, sorted, from 0 to 1 (entries, points)."""
        n = len(self.split)
        if self.divides:
            c, s = self.constants[:, [0, 2]], self.slopes[:, [0, 2]]
            with np.errstate(divide="ignore", invalid="ignore"):
                points = (c[..., :, np.newaxis] / s[..., np.newaxis, :]).reshape(n, -1)
        else:
            points = np.concatenate([self.constants.reshape(n, -1), self.slopes.reshape(n, -1)], axis=1)
        points = np.concatenate([points, self.split[:, np.newaxis], np.zeros((n, 1)), np.ones((n, 1))], axis=1)
        points = np.where(np.isfinite(points) & (points >= 0.0) & (points <= 1.0), points, 0.0)
        points.sort(axis=1)
        return points

    def ranges(self) -> tuple[Floats, Floats]:
        """The least and the largest answer over all t from 0 to 1, for every entry."""
        points = self.candidates()
        if not self.divides:  # jumps: look between the points too
            points = np.concatenate([points, (points[:, 1:] + points[:, :-1]) / 2], axis=1)
        values = self.answers(points)
        low, high = np.where(np.isnan(values), np.inf, values), np.where(np.isnan(values), -np.inf, values)
        return low.min(axis=1), high.max(axis=1)

    def nearest_flips(self, today: Floats) -> tuple[Floats, Floats, Bools, Bools]:
        """For every entry how far t must move for `leads` to change, and where it then is; inf and NaN if it never does.

        Then whether t has to rise, and whether `leads` changes there already; if not, any step beyond will do.
        """
        points = np.sort(np.concatenate([self.candidates(), today[:, np.newaxis]], axis=1), axis=1)
        between = (points[:, 1:] + points[:, :-1]) / 2
        places = np.concatenate([points, between], axis=1)
        now = self.leads(today[:, np.newaxis])
        changed = (self.leads(places) != now) & (self.joint(places).max(axis=-1) > 0.0)
        changed[:, points.shape[1] :] &= points[:, 1:] > points[:, :-1]
        nearer = np.where(
            np.abs(points[:, 1:] - today[:, np.newaxis]) < np.abs(points[:, :-1] - today[:, np.newaxis]),
            points[:, 1:],
            points[:, :-1],
        )
        thresholds = np.concatenate([points, nearer], axis=1)
        distances = np.where(changed, np.abs(thresholds - today[:, np.newaxis]), np.inf)
        best = distances.argmin(axis=1)
        rows = np.arange(len(best))
        distance = distances[rows, best]
        needed = np.where(np.isfinite(distance), thresholds[rows, best], np.nan)
        return distance, needed, places[rows, best] > today, best < points.shape[1]

    def pieces(self) -> tuple[CurvePiece, ...]:
        """The curve of the only entry, piece by piece from 0 to 1, as few pieces as there are."""
        points = np.unique(self.candidates())
        points = points[np.concatenate([[True], np.diff(points) > ROUND])]
        points[-1] = 1.0
        pieces: list[CurvePiece] = []
        for start, stop in zip(points[:-1].tolist(), points[1:].tolist(), strict=True):
            coefficient, power = self._term_at((start + stop) / 2)
            last = pieces[-1] if pieces else None
            if last is not None and last.power == power and _is_near(last.coefficient, coefficient):
                pieces[-1] = CurvePiece(last.start, stop, last.coefficient, power)
            else:
                pieces.append(CurvePiece(start, stop, coefficient, power))
        return tuple(pieces)

    def _term_at(self, t: float) -> tuple[float, int]:
        """Coefficient and power of the answer around t, which is no break point."""
        regime = 0 if t < self.split[0] else 2
        c, s = self.constants[0, regime], self.slopes[0, regime]
        if not self.divides:
            x, r = np.maximum(c, np.minimum(s, t)).tolist()
            if x >= r:
                return 1.0, 0
            return (1.0, 1) if min(float(s[0]), t) > c[0] and s[0] > t else (x, 0)
        linear = s * t > c
        values = np.where(linear, s, c)
        top = int(np.maximum(c, s * t).argmax())
        if not values[top]:
            return float("nan"), 0
        power = int(linear[0]) - int(linear[top])
        return float(values[0] / values[top]), power if values[0] else 0


def _is_near(first: float, second: float) -> bool:
    return abs(first - second) <= 1e-9 * max(abs(first), abs(second), ROUND)
