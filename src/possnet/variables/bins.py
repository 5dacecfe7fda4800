"""The bins of a variable that was made from numbers.

Edges e1 < ... < ek part the line into k + 1 bins, each closed below and open above: ``<e1``, ``e1..e2``, ..., ``>=ek``. If
the bins are not open ended, the first and the last edge are ends: k - 1 bins, of which the last contains its upper end, and
nothing lies outside.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf, isfinite, isnan

from possnet.doors import check_arguments, check_fields, checks_itself
from possnet.errors import InputError, describe_value, listing, require_several
from possnet.variables.iso_dates import DATE_UNITS, date_text


@check_fields
@checks_itself("edges", "unit")
@dataclass(frozen=True, slots=True)
class Bins:
    """Where the numbers behind the states of a variable were cut, and the unit that they were measured in.

    Parameters
    ----------
    edges
        Finite, increasing numbers.
    open_ended
        Whether a bin below the first edge and one above the last belong to it.
    unit
        What the numbers are measured in, for people; empty if that is not known.

    Examples
    --------
    >>> bins = Bins((36, 37.5), unit="°C")
    >>> len(bins), bins.labels, bins.index(37.5)
    (3, ('<36', '36..37.5', '>=37.5'), 2)
    >>> bins
    Bins((36.0, 37.5), unit='°C')
    """

    edges: tuple[float, ...]
    open_ended: bool = field(default=True, kw_only=True)
    unit: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", _check_edges(self.edges, 1 if self.open_ended else 2))
        object.__setattr__(self, "open_ended", bool(self.open_ended))
        if not isinstance(self.unit, str):
            raise InputError(f"unit {describe_value(self.unit)}; expected text, such as '°C', or nothing")
        object.__setattr__(self, "unit", self.unit.strip())

    def __len__(self) -> int:
        """Number of bins."""
        return len(self.edges) + (1 if self.open_ended else -1)

    def __repr__(self) -> str:
        closed = "" if self.open_ended else ", open_ended=False"
        return f"Bins({self.edges!r}{closed}{f', unit={self.unit!r}' if self.unit else ''})"

    @property
    def inner_edges(self) -> tuple[float, ...]:
        """The edges between two bins."""
        return self.edges if self.open_ended else self.edges[1:-1]

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins, from the lowest on."""
        texts = [self.edge_text(edge) for edge in self.edges]
        inner = [f"{low}..{high}" for low, high in pairwise(texts)]
        return (f"<{texts[0]}", *inner, f">={texts[-1]}") if self.open_ended else tuple(inner)

    @check_arguments
    def edge_text(self, edge: float) -> str:
        """A number of this unit as people write it: a date, if the unit is one of dates.

        >>> Bins((0.0,), unit="ISO date").edge_text(86400.0), Bins((0.0,)).edge_text(2.5)
        ('1970-01-02', '2.5')
        """
        return date_text(edge, self.unit) if self.unit in DATE_UNITS else number_text(edge)

    def _unit_text(self) -> str:
        return f" {self.unit}" if self.unit and self.unit not in DATE_UNITS else ""

    @property
    def span(self) -> tuple[float, float]:
        """The smallest and the largest number that lie inside."""
        return (-inf, inf) if self.open_ended else (self.edges[0], self.edges[-1])

    @check_arguments
    def index(self, number: float) -> int:
        """Position of the bin that a number lies in.

        >>> Bins((20, 40, 60), open_ended=False).index(60)
        1
        """
        low, high = self.span
        if isnan(number) or not low <= number <= high:
            raise InputError(f"{number_text(number)} {self.outside}")
        return bisect_right(self.inner_edges, number)

    @property
    def outside(self) -> str:
        """What is said of a number outside: the ends, and what was expected."""
        ends = f"{self.edge_text(self.edges[0])}..{self.edge_text(self.edges[-1])}{self._unit_text()}"
        return f"lies outside {ends}; expected a reading inside, more edges, or open-ended bins"

    def describe(self) -> str:
        """The bins in words.

        >>> Bins((20, 40), unit="years").describe(), Bins((0, 1), open_ended=False).describe()
        ('edges 20, 40 years', 'edges 0, 1, closed')
        """
        texts = listing(map(self.edge_text, self.edges))
        return f"edges {texts}{self._unit_text()}{'' if self.open_ended else ', closed'}"


def number_text(number: float) -> str:
    """A number as people write it: the shortest text that reads back as the same number.

    >>> number_text(5.0), number_text(37.5), number_text(-0.0)
    ('5', '37.5', '0')
    """
    number = float(number)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _check_edges(given: object, fewest: int) -> tuple[float, ...]:
    try:
        listed = require_several(given, "edges")
        edges = None if any(isinstance(e, str | bytes) for e in listed) else tuple(float(e) + 0.0 for e in listed)
    except (TypeError, ValueError, OverflowError, Warning):
        edges = None
    if edges is None:
        raise InputError(f"edges {describe_value(given)}; expected increasing numbers")
    if len(edges) < fewest or not all(map(isfinite, edges)) or any(a >= b for a, b in pairwise(edges)):
        raise InputError(
            f"edges {listing(map(number_text, edges)) or 'none'}; expected at least {fewest}, finite and increasing"
        )
    return edges
