"""Sensitivity: how an answer depends on every table entry, exactly, in closed form, ranked.

Castillo, Gutiérrez and Hadi (1997) and Kjærulff and van der Gaag (2000) showed that a probability given evidence is a
ratio of two linear functions of one table entry. For possibilities it is a ratio of maxima of a constant and a linear
term (for the minimum: a maximum of a constant and a clipped t), which is simpler: between its few break points the answer
is k, k t or k / t. See `possnet.explanation.response_curves` for the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from possnet.doors import check_arguments
from possnet.drawing import text_table
from possnet.errors import InputError, require_number, require_whole
from possnet.explanation.asked_question import ask_question, choose_state
from possnet.explanation.entry_coefficients import trace_entries

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats, Ints
    from possnet.explanation.response_curves import CurvePiece, ResponseCurves
    from possnet.inference import Evidence
    from possnet.network import Network


@dataclass(frozen=True, slots=True)
class EntrySensitivity:
    """How an answer Π(x | e) depends on one table entry t = π(state | context).

    Attributes
    ----------
    variable, state, context
        The entry: a state of a variable, and the states of its parents.
    degree
        The entry today.
    answer
        Π(x | e) today.
    low, high
        The least and the largest Π(x | e) that the entry alone can bring about, from t = 0 to t = 1.
    normalises
        Whether the entry is the only 1 of its context: if it changes, the context is normalised by the conjunction.

    Examples
    --------
    >>> import possnet as pn
    >>> result = pn.sensitivity(pn.load_example("clinic"), "measles", "yes", {"rash": "spots", "fever": "high"})
    >>> entry = result.entry("rash", "spots", {"measles": "no"})
    >>> entry.degree, round(entry.answer, 6), [round(point, 6) for point in entry.break_points]
    (0.2, 0.328125, [0.065625])
    >>> [piece.formula for piece in entry.pieces]
    ['1', '0.065625 / t']
    """

    variable: str
    state: str
    context: dict[str, str]
    degree: float
    answer: float
    low: float
    high: float
    normalises: bool
    _curve: ResponseCurves = field(repr=False)

    @property
    def swing(self) -> float:
        """How far the entry alone can move the answer."""
        return self.high - self.low

    @property
    def pieces(self) -> tuple[CurvePiece, ...]:
        """The answer as a function of t, piece by piece; NaN where t makes the evidence impossible."""
        return self._curve.pieces()

    @property
    def break_points(self) -> tuple[float, ...]:
        """Values of t at which the formula changes."""
        return tuple(piece.start for piece in self.pieces[1:])

    @property
    def slopes(self) -> tuple[float, float]:
        """Derivatives of the answer to the left and to the right of today's degree; NaN where there is none."""
        left = right = float("nan")
        for piece in self.pieces:
            slope = piece.power * piece.coefficient * (self.degree ** (piece.power - 1) if piece.power else 0.0)
            if piece.start < self.degree <= piece.stop:
                left = slope
            if piece.start <= self.degree < piece.stop:
                right = slope
        return left, right

    @check_arguments
    def value(self, t: float) -> float:
        """Π(x | e) with the entry at t; NaN if t makes the evidence impossible.

        >>> import possnet as pn
        >>> entry = pn.sensitivity(pn.load_example("clinic"), "measles", "yes", {"rash": "spots"})[0]
        >>> entry.label, round(entry.value(entry.degree), 6), round(entry.value(1.0), 6)
        ('rash=spots given measles=no', 0.21, 0.042)
        """
        number = require_number(t, "sensitivity: entry", "a number from 0 to 1", 0.0, 1.0)
        return float(self._curve.answers(np.array([[number]]))[0, 0])

    @property
    def label(self) -> str:
        """The entry in words."""
        given = ", ".join(f"{name}={state}" for name, state in self.context.items())
        return f"{self.variable}={self.state}{f' given {given}' if given else ''}"

    def to_dict(self) -> dict[str, Any]:
        """The entry and its curve, for machines.

        >>> import possnet as pn
        >>> entry = pn.sensitivity(pn.load_example("clinic"), "measles", "yes", {"rash": "spots"})[0]
        >>> sorted(entry.to_dict())
        ['answer', 'break_points', 'context', 'degree', 'high', 'low', 'normalises', 'pieces', 'state', 'variable']
        """
        pieces = [{"from": p.start, "to": p.stop, "formula": p.formula} for p in self.pieces]
        names = ("variable", "state", "context", "degree", "answer", "low", "high", "normalises")
        return {name: getattr(self, name) for name in names} | {
            "break_points": list(self.break_points),
            "pieces": pieces,
        }


class Sensitivity(Sequence[EntrySensitivity]):
    """How an answer depends on every table entry, those that can move it furthest first.

    >>> import possnet as pn
    >>> result = pn.sensitivity(pn.load_example("clinic"), "measles", "yes", {"rash": "spots"})
    >>> len(result), result[0].label, round(result[0].swing, 6)
    (48, 'rash=spots given measles=no', 0.958)
    """

    @check_arguments
    def __init__(
        self, network: Network, target: str, state: str, answer: float, curves: ResponseCurves, only: Bools
    ) -> None:
        self.network, self.target, self.state, self.answer = network, target, state, answer
        self._curves, self._only = curves, only
        self._low, self._high = curves.ranges()
        sizes = [network.table(v.name).size for v in network.variables]
        self._starts = np.cumsum([0, *sizes])
        swing = self._high - self._low
        self._order: Ints = np.argsort(-np.round(swing, 12), kind="stable")

    @property
    def swings(self) -> Floats:
        """How far each entry can move the answer, tables one after the other in the order of the variables."""
        return self._high - self._low

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, rank: int) -> EntrySensitivity: ...
    @overload
    def __getitem__(self, rank: slice) -> tuple[EntrySensitivity, ...]: ...
    def __getitem__(self, rank: int | slice) -> EntrySensitivity | tuple[EntrySensitivity, ...]:
        if isinstance(rank, slice):
            return tuple(self._make_entry(int(number)) for number in self._order[rank])
        return self._make_entry(int(self._order[index(rank)]))

    @check_arguments
    def entry(self, variable: str, state: str, context: dict[str, str] | None = None) -> EntrySensitivity:
        """The entry of a state given the states of the variable's parents.

        >>> import possnet as pn
        >>> result = pn.sensitivity(pn.load_example("clinic"), "measles", "yes")
        >>> result.entry("measles", "yes", {"contact": "yes", "vaccinated": "no"}).normalises
        True
        """
        parents = self.network.dag.parents(self.network.variable(variable).name)
        given = context or {}
        if set(given) != set(parents):
            raise InputError(
                f"sensitivity: context of {variable!r} {given!r}; expected a state for each of its parents "
                f"({', '.join(parents) or 'it has none'})"
            )
        names = [v.name for v in self.network.variables]
        places = [self.network.variable(parent).index(given[parent]) for parent in parents]
        places.append(self.network.variable(variable).index(state))
        inside = int(np.ravel_multi_index(places, self.network.table(variable).shape))
        return self._make_entry(int(self._starts[names.index(variable)]) + inside)

    def _make_entry(self, number: int) -> EntrySensitivity:
        place = int(np.searchsorted(self._starts, number, side="right")) - 1
        variable = self.network.variables[place]
        table = self.network.table(variable.name)
        inside = np.unravel_index(number - int(self._starts[place]), table.shape)
        parents = self.network.dag.parents(variable.name)
        context = {p: self.network.variable(p).states[k] for p, k in zip(parents, inside[:-1], strict=True)}
        return EntrySensitivity(
            variable.name,
            variable.states[inside[-1]],
            context,
            float(table[inside]),
            self.answer,
            float(self._low[number]),
            float(self._high[number]),
            bool(self._only[number]),
            self._curves.take(number),
        )

    @check_arguments
    def to_dict(self, most: int = 20) -> dict[str, Any]:
        """The answer and the first entries, for machines.

        >>> import possnet as pn
        >>> len(pn.sensitivity(pn.load_example("clinic"), "measles", "yes").to_dict(most=3)["entries"])
        3
        """
        shown = require_whole(most, 0, "to_dict: most")
        return {
            "target": self.target,
            "state": self.state,
            "possibility": self.answer,
            "entries": [entry.to_dict() for entry in self[:shown]],
        }

    def __repr__(self) -> str:
        return f"Sensitivity({self.target}={self.state}: possible {self.answer:.6g}, {len(self):,} table entries)"

    def __str__(self) -> str:
        head = ("entry", "now", "answer from", "to", "formula around now")
        rows = [
            (e.label, f"{e.degree:.6g}", f"{e.low:.6g}", f"{e.high:.6g}", _formula_at(e))
            for e in self[:10]
            if e.swing > 0
        ]
        lines = [
            f"{self.target}={self.state} is possible to {self.answer:.6g}; what each table entry alone could make of it:"
        ]
        lines += text_table([head, *rows]) if rows else ["  no single entry can move it"]
        return "\n".join(lines)


def _formula_at(entry: EntrySensitivity) -> str:
    inside = [p for p in entry.pieces if p.start <= entry.degree <= p.stop]
    text = inside[-1].formula if inside else ""
    return f"{text} (context normalised)" if entry.normalises else text


@check_arguments
def sensitivity(
    network: Network, target: str, state: str | None = None, evidence: Evidence | None = None
) -> Sensitivity:
    """How Π(target = state | evidence) depends on every table entry, in closed form with its break points, ranked.

    For a product-based network the answer as a function of one entry t is a ratio of maxima of constants and linear terms;
    for a min-based one it is made of constants and t. If t is the only 1 of its context, the context is normalised by the
    conjunction when t changes (``.normalises``). All entries come from one collect and one distribute pass.

    Equation
    --------
    Π(x, e)(t) = max(a_x, b_x ⊗ t)
    Π(x | e)(t) = max(a_x, b_x t) / max_y max(a_y, b_y t) (product)

    Parameters
    ----------
    state
        The state of the target; by default the most possible one given the evidence.

    Examples
    --------
    >>> import possnet as pn
    >>> result = sensitivity(pn.load_example("clinic"), "measles", "yes", {"rash": "spots"})
    >>> for entry in result[:3]:
    ...     print(entry.label, f"{entry.degree:g}: from {entry.low:.3g} to {entry.high:.3g}")
    rash=spots given measles=no 0.2: from 0.042 to 1
    contact=yes 0.2: from 0.105 to 1
    contact=no 1: from 0.21 to 1
    """
    asked = ask_question(network, target, evidence, "sensitivity")
    number = choose_state(asked, state, "sensitivity")
    curves, only = trace_entries(asked, number)
    return Sensitivity(network, target, asked.target.states[number], float(asked.answer[number]), curves, only)
