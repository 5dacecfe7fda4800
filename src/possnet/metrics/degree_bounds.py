"""Bounds of degrees beside the truth: how often they hold, and how much they identify."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.aliases import Bools, Floats


class DegreeBounds(NamedTuple):
    """Lower and upper end of every degree, which are identified, and standard errors; name -> array like the table."""

    lower: Mapping[str, Floats]
    upper: Mapping[str, Floats]
    identified: Mapping[str, Bools]
    error: Mapping[str, Floats]

    def covers(self, name: str, truth: Floats, errors: float = 3.0) -> Bools:
        """Which true degrees lie within the bounds, give or take some standard errors."""
        margin = errors * self.error[name] + 1e-9
        return np.asarray((truth >= self.lower[name] - margin) & (truth <= self.upper[name] + margin))


def bounds_of(result: object) -> DegreeBounds | None:
    """The bounds that a learner's result has, such as `possnet.CutResult`; None for one without.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}]})
    >>> bounds_of(pn.fit_cut(pn.Dag({"a": ()}), data)).upper["a"], bounds_of(pn.fit(pn.Dag({"a": ()}), data))
    (array([1. , 0.6]), None)
    """
    inner = getattr(result, "result", result)  # of a learner that chose another
    if not all(hasattr(inner, part) for part in DegreeBounds._fields):
        return None
    return DegreeBounds(*(getattr(inner, part) for part in DegreeBounds._fields))
