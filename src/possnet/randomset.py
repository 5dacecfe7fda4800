"""Random sets: mass functions over sets of states.

A mass function m spreads a mass of 1 over non-empty sets of states, its *focal sets*: "with mass .6 the answer was
'none or mild'". Its contour

    π(x) = sum of m(A) over the A that contain x                                               (3) of [HLB]

is the bridge to possibility theory. The contour is normalised exactly when some state lies in every focal set (m is
*consistent*). When the focal sets are nested (m is *consonant*) the contour says all there is to say: a normalised
distribution has exactly one consonant mass function, its α-cuts with the level differences as masses.
"""

from __future__ import annotations

import itertools
from functools import reduce
from math import fsum, nextafter
from operator import and_
from typing import TYPE_CHECKING

import numpy as np

from possnet.doors import check_arguments
from possnet.errors import InputError
from possnet.possibility import SNAP, Possibility

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from possnet.variables import Variable

__all__ = ["MassFunction"]


class MassFunction:
    """Masses on non-empty sets of states of one variable, adding up to 1.

    Equation
    --------
    ∑_A m(A) = 1, m(∅) = 0

    >>> import possnet as pn
    >>> fever = pn.Variable("fever", ("none", "mild", "high"))
    >>> m = MassFunction(fever, {frozenset({"none"}): 0.4, frozenset({"none", "mild"}): 0.6})
    >>> m
    MassFunction(fever: {none} 0.4, {none, mild} 0.6)
    >>> m.contour()
    Possibility(fever: none 1, mild 0.6, high 0)
    """

    __slots__ = ("_masses", "_variable")
    _variable: Variable
    _masses: dict[int, float]

    @check_arguments
    def __init__(self, variable: Variable, masses: Mapping[frozenset[str], float]) -> None:
        owner = f"mass function of {variable.name!r}"
        by_mask: dict[int, float] = {}
        for states, mass in masses.items():
            focal = variable.mask(states)
            if not focal:
                raise InputError(f"{owner}: mass {mass!r} on the empty set; expected non-empty sets")
            if not 0.0 <= mass <= 1.0 + SNAP:
                raise InputError(f"{owner}: mass {mass!r} on {_shown(variable, focal)}; expected a number from 0 to 1")
            if mass > 0.0:
                by_mask[focal] = by_mask.get(focal, 0.0) + float(mass)
        total = fsum(by_mask.values())
        if abs(total - 1.0) > SNAP:
            raise InputError(f"{owner}: masses add up to {total:.12g}; expected 1")
        self._variable = variable
        self._masses = {focal: by_mask[focal] for focal in sorted(by_mask, key=_by_size)}

    @classmethod
    def unchecked(cls, variable: Variable, masses: dict[int, float]) -> MassFunction:
        """Mass function from positive masses by set mask (`Variable.mask`), known to be right; nothing is checked.

        >>> import possnet as pn
        >>> MassFunction.unchecked(pn.Variable("rash", ("yes", "no")), {1: 0.25, 3: 0.75})
        MassFunction(rash: {yes} 0.25, {yes, no} 0.75)
        """
        self = object.__new__(cls)
        self._variable = variable
        self._masses = {focal: masses[focal] for focal in sorted(masses, key=_by_size)}
        return self

    @classmethod
    @check_arguments
    def from_possibility(cls, possibility: Possibility) -> MassFunction:
        """The one consonant mass function whose contour is the given normalised distribution of one variable.

        >>> import possnet as pn
        >>> MassFunction.from_possibility(pn.Possibility(pn.Variable("fever", ("none", "mild", "high")), [1, 0.75, 0.25]))
        MassFunction(fever: {none} 0.25, {none, mild} 0.5, {none, mild, high} 0.25)
        """
        if len(possibility.variables) != 1 or not possibility.is_normalised:
            raise InputError(
                f"consonant mass function of {possibility!r}: expected a normalised distribution of one variable"
            )
        degrees = possibility.degrees.tolist()
        levels = sorted(set(degrees) | {0.0})
        masses = {
            sum(1 << k for k, degree in enumerate(degrees) if degree >= level): level - below
            for below, level in itertools.pairwise(levels)
        }
        return cls.unchecked(possibility.variables[0], masses)

    @property
    def variable(self) -> Variable:
        """The variable whose states the focal sets hold."""
        return self._variable

    @property
    def masses(self) -> dict[frozenset[str], float]:
        """Mass of each focal set, small sets first; a fresh dictionary.

        >>> import possnet as pn
        >>> MassFunction(pn.Variable("rash", ("yes", "no")), {frozenset({"no"}): 1.0}).masses
        {frozenset({'no'}): 1.0}
        """
        return {self._variable.states_in(focal): mass for focal, mass in self._masses.items()}

    @property
    def is_consistent(self) -> bool:
        """Whether some state lies in every focal set, so that the contour is normalised."""
        return reduce(and_, self._masses) != 0

    @property
    def is_consonant(self) -> bool:
        """Whether the focal sets are nested."""
        nested = list(self._masses)
        return all(small & large == small for small, large in itertools.pairwise(nested))

    def contour(self) -> Possibility:
        """Possibility of each state, π(x) = sum of m(A) over the A that contain x. Equation (3) of [HLB].

        Subnormal when the focal sets have no state in common.

        Equation
        --------
        π(x) = ∑_{A ∋ x} m(A)

        >>> import possnet as pn
        >>> MassFunction(pn.Variable("rash", ("yes", "no")), {frozenset({"yes"}): 0.4, frozenset({"no"}): 0.6}).contour()
        Possibility(rash: yes 0.4, no 0.6; subnormal)
        """
        below_one = nextafter(1.0, 0.0)
        common = reduce(and_, self._masses)
        sums = (fsum(mass for a, mass in self._masses.items() if a >> k & 1) for k in range(len(self._variable)))
        degrees = [1.0 if common >> k & 1 else min(total, below_one) for k, total in enumerate(sums)]
        return Possibility.unchecked((self._variable,), np.array(degrees))

    @check_arguments
    def belief(self, states: str | Iterable[str]) -> float:
        """Mass that certainly lies in the set: sum of m(B) over the B inside A.

        Equation
        --------
        Bel(A) = ∑_{B ⊆ A} m(B)

        >>> import possnet as pn
        >>> m = MassFunction(pn.Variable("rash", ("yes", "no")), {frozenset({"yes"}): 0.4, frozenset({"yes", "no"}): 0.6})
        >>> m.belief({"yes"}), m.plausibility({"yes"}), m.commonality({"yes", "no"})
        (0.4, 1.0, 0.6)
        """
        event = self._variable.mask(states)
        return self._total(lambda focal: focal & ~event == 0)

    @check_arguments
    def plausibility(self, states: str | Iterable[str]) -> float:
        """Mass that may lie in the set: sum of m(B) over the B that meet A.

        Equation
        --------
        Pl(A) = ∑_{B ∩ A ≠ ∅} m(B)

        >>> import possnet as pn
        >>> MassFunction(pn.Variable("rash", ("yes", "no")), {frozenset({"yes", "no"}): 1.0}).plausibility("no")
        1.0
        """
        event = self._variable.mask(states)
        return self._total(lambda focal: focal & event != 0)

    @check_arguments
    def commonality(self, states: str | Iterable[str]) -> float:
        """Mass of the sets that contain the whole of A: sum of m(B) over the B around A.

        Equation
        --------
        Q(A) = ∑_{A ⊆ B} m(B)

        >>> import possnet as pn
        >>> MassFunction(pn.Variable("rash", ("yes", "no")), {frozenset({"yes"}): 1.0}).commonality("no")
        0.0
        """
        event = self._variable.mask(states)
        return self._total(lambda focal: event & ~focal == 0)

    def pignistic(self) -> dict[str, float]:
        """Probability of each state when every focal set shares its mass equally among its states (Smets 1990).

        Equation
        --------
        p(x) = ∑_{A ∋ x} m(A) / |A|

        >>> import possnet as pn
        >>> m = MassFunction(pn.Variable("rash", ("yes", "no")), {frozenset({"yes"}): 0.5, frozenset({"yes", "no"}): 0.5})
        >>> m.pignistic()
        {'yes': 0.75, 'no': 0.25}
        """
        return {
            state: fsum(mass / focal.bit_count() for focal, mass in self._masses.items() if focal >> k & 1)
            for k, state in enumerate(self._variable.states)
        }

    @check_arguments
    def is_close(self, other: MassFunction, *, tolerance: float = 1e-9) -> bool:
        """Whether the variables are the same and no set's mass differs by more than the tolerance.

        >>> import possnet as pn
        >>> rash = pn.Variable("rash", ("yes", "no"))
        >>> sure = MassFunction(rash, {frozenset({"yes"}): 1.0})
        >>> sure.is_close(MassFunction(rash, {frozenset({"yes"}): 1 - 1e-12, frozenset({"no"}): 1e-12}))
        True
        """
        return self._variable == other._variable and all(
            abs(self._masses.get(focal, 0.0) - other._masses.get(focal, 0.0)) <= tolerance
            for focal in self._masses.keys() | other._masses.keys()
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MassFunction):
            return NotImplemented
        return self._variable == other._variable and self._masses == other._masses

    def __hash__(self) -> int:
        return hash((self._variable, frozenset(self._masses.items())))

    def __reduce__(self) -> tuple[object, ...]:
        return MassFunction.unchecked, (self._variable, self._masses)

    def _repr_html_(self) -> str:
        """Focal sets and their masses as a table, for notebooks."""
        from possnet.drawing import draw_table

        rows = [
            [" | ".join(s for s in self._variable.states if s in states), f"{mass:.4g}"]
            for states, mass in sorted(self.masses.items(), key=lambda item: -item[1])[:40]
        ]
        return draw_table([self._variable.name, "mass"], rows, caption=f"{len(self.masses)} focal sets")

    def __repr__(self) -> str:
        shown = [f"{_shown(self._variable, focal)} {mass:.6g}" for focal, mass in self._masses.items()]
        if len(shown) > 8:
            shown = [*shown[:7], f"... {len(shown)} focal sets"]
        return f"MassFunction({self._variable.name}: {', '.join(shown)})"

    def _total(self, wanted: Callable[[int], bool]) -> float:
        return fsum(mass for focal, mass in self._masses.items() if wanted(focal))


def _by_size(focal: int) -> tuple[int, int]:
    return focal.bit_count(), focal


def _shown(variable: Variable, focal: int) -> str:
    members = variable.states_in(focal)
    return f"{{{', '.join(state for state in variable.states if state in members)}}}"
