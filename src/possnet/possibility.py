"""Possibility distributions, their two measures, and the two ways to condition.

A distribution π gives every state a degree in [0, 1]: 0 is impossible, 1 is fully possible. Unlike probabilities,
degrees do not add up: the possibility of a set is the largest degree in it,

    Π(A) = max {π(x) : x in A},        N(A) = 1 - Π(not A),

and the necessity N says how far the set is certain. At least one state should have degree 1 (π is *normalised*); one
state at 1 and the others at 0 is complete knowledge, all at 1 is total ignorance (*vacuous*).

The scale can be read as numbers or as an order. The first reading combines degrees with a product and conditions by
division (1); the second combines with a minimum and conditions by lifting (2). Which one is meant is a value that is
passed in: `PRODUCT` or `MIN`. Equation numbers are those of [HLB].

A subnormal distribution (largest degree below 1) is a legal value: partial evidence and raw histograms are such. It
says so in its `repr`, and refuses what would be meaningless, such as necessities.

References
----------
[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy. [DP] D. Dubois, H. Prade: Possibility theory, 1988.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import numpy as np

from possnet.doors import check_arguments
from possnet.errors import ImpossibleEvidence, InputError, among, describe_value, listing, require_several
from possnet.limits import refuse_over
from possnet.variables import Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from possnet.aliases import Bools, Floats


__all__ = [
    "MIN",
    "PRODUCT",
    "SNAP",
    "Conjunction",
    "Event",
    "Possibility",
    "as_degrees",
    "check_conjunction",
    "necessities",
    "snap_tops",
]

SNAP: Final = 1e-9
"""A largest degree this near to 1 is a rounding error of 1, and becomes 1."""

Event: TypeAlias = str | Iterable[str] | Iterable[tuple[str, ...]] | Mapping[str, str | Iterable[str]]
"""A state, a set of states, a set of configurations, or a mapping from names to states."""


class Conjunction(Protocol):
    """How degrees combine: a value that is passed in, `PRODUCT` or `MIN`.

    Equation
    --------
    a ⊗ b = a · b (product)
    a ⊗ b = min(a, b) (minimum)

    >>> import possnet as pn
    >>> pn.PRODUCT.combine([0.5, 1.0], [0.4, 0.3]), pn.MIN.combine([0.5, 1.0], [0.4, 0.3])
    (array([0.2, 0.3]), array([0.4, 0.3]))
    """

    name: str

    def combine(self, left: ArrayLike, right: ArrayLike) -> Floats:
        """Degree of "both", element by element."""
        ...

    def normalise(self, degrees: Floats, axis: int | tuple[int, ...] | None = None) -> Floats:
        """Degrees raised until the largest along ``axis`` is exactly 1; the caller has ruled out all-zero ones."""
        ...


class _Product:
    """Numerical scale: combine by product, normalise by division, equation (1)."""

    __slots__ = ()
    name = "product"

    def combine(self, left: ArrayLike, right: ArrayLike) -> Floats:
        return np.multiply(left, right, dtype=np.float64)

    def normalise(self, degrees: Floats, axis: int | tuple[int, ...] | None = None) -> Floats:
        normalised: Floats = degrees / degrees.max(axis=axis, keepdims=True)
        return normalised

    def __repr__(self) -> str:
        return "PRODUCT"

    def __reduce__(self) -> str:
        return "PRODUCT"


class _Min:
    """Ordinal scale: combine by minimum, normalise by lifting the largest degree to 1, equation (2)."""

    __slots__ = ()
    name = "min"

    def combine(self, left: ArrayLike, right: ArrayLike) -> Floats:
        return np.minimum(left, right, dtype=np.float64)

    def normalise(self, degrees: Floats, axis: int | tuple[int, ...] | None = None) -> Floats:
        lifted: Floats = np.where(degrees == degrees.max(axis=axis, keepdims=True), 1.0, degrees)
        return lifted

    def __repr__(self) -> str:
        return "MIN"

    def __reduce__(self) -> str:
        return "MIN"


_FEW: Final = 12  # degrees that are all shown
_LARGEST: Final = 5  # degrees that are shown of more

PRODUCT: Final[Conjunction] = _Product()
MIN: Final[Conjunction] = _Min()


def check_conjunction(conjunction: object) -> None:
    """Raise an `InputError` for anything but ``PRODUCT`` and ``MIN``.

    >>> check_conjunction("min")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: conjunction 'min'; expected possnet.PRODUCT or possnet.MIN
    """
    if not isinstance(conjunction, _Product | _Min):
        raise InputError(f"conjunction {describe_value(conjunction)}; expected possnet.PRODUCT or possnet.MIN")


class Possibility:
    """A possibility distribution over one variable, or over the configurations of several.

    Equation
    --------
    Π(A) = max_{x ∈ A} π(x)
    N(A) = 1 - Π(not A)

    Parameters
    ----------
    variables
        One variable, or several: one array axis each, in this order.
    degrees
        Numbers in [0, 1]. A largest degree within 1e-9 of 1 becomes exactly 1.

    Examples
    --------
    >>> fever = Variable("fever", ("none", "mild", "high"))
    >>> pi = Possibility(fever, [1.0, 0.6, 0.1])
    >>> pi
    Possibility(fever: none 1, mild 0.6, high 0.1)
    >>> pi["mild"]
    0.6
    >>> pi.possibility({"mild", "high"}), pi.necessity({"none"})
    (0.6, 0.4)
    >>> Possibility(fever, [0.5, 0.2, 0.0])
    Possibility(fever: none 0.5, mild 0.2, high 0; subnormal)
    >>> Possibility(Variable("month", tuple("abcdefghijklm")), [k / 12 for k in range(13)])
    Possibility(month: 13 degrees, the largest m 1, l 0.916667, k 0.833333, j 0.75, i 0.666667; 8 more, up to 0.583333)
    """

    __slots__ = ("_degrees", "_variables")
    _variables: tuple[Variable, ...]
    _degrees: Floats

    @check_arguments
    def __init__(self, variables: Variable | Sequence[Variable], degrees: ArrayLike) -> None:
        scope = (variables,) if isinstance(variables, Variable) else tuple(variables)
        owner = f"possibility of {', '.join(repr(v.name) for v in scope)}" if scope else "possibility"
        if len({v.name for v in scope}) < len(scope):
            raise InputError(f"{owner}: a variable appears twice; expected distinct variables")
        if not scope:
            raise InputError("possibility: no variable; expected at least one")
        array = as_degrees(degrees, tuple(len(v) for v in scope), owner)
        snap_tops(array)
        array.flags.writeable = False
        self._variables, self._degrees = scope, array

    @classmethod
    def unchecked(cls, variables: tuple[Variable, ...], degrees: Floats) -> Possibility:
        """Possibility of values already known to be right; nothing is checked, snapped or copied.

        >>> fever = Variable("fever", ("none", "high"))
        >>> Possibility.unchecked((fever,), np.array([1.0, 0.5]))
        Possibility(fever: none 1, high 0.5)
        """
        self = object.__new__(cls)
        degrees.flags.writeable = False
        self._variables, self._degrees = variables, degrees
        return self

    @classmethod
    @check_arguments
    def vacuous(cls, variables: Variable | Sequence[Variable]) -> Possibility:
        """Total ignorance: every degree is 1.

        >>> Possibility.vacuous(Variable("rash", ("yes", "no")))
        Possibility(rash: yes 1, no 1)
        """
        scope = (variables,) if isinstance(variables, Variable) else tuple(variables)
        shape = tuple(len(v) for v in scope)
        refuse_over(8 * prod(shape), "a vacuous possibility", "use fewer variables")
        return cls(scope, np.ones(shape))

    @classmethod
    @check_arguments
    def certain(cls, variable: Variable, state: str) -> Possibility:
        """Complete knowledge: one state at 1, the others at 0.

        >>> Possibility.certain(Variable("rash", ("yes", "no")), "no")
        Possibility(rash: yes 0, no 1)
        """
        degrees = np.zeros(len(variable))
        degrees[variable.index(state)] = 1.0
        return cls.unchecked((variable,), degrees)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the order of the array's axes."""
        return self._variables

    @property
    def degrees(self) -> Floats:
        """Read-only array of degrees, one axis a variable."""
        return self._degrees

    @property
    def is_normalised(self) -> bool:
        """Whether some configuration has degree 1."""
        return bool(self._degrees.max() == 1.0)

    @property
    def is_vacuous(self) -> bool:
        """Whether every configuration has degree 1: total ignorance."""
        return bool((self._degrees == 1.0).all())

    @property
    def inconsistency(self) -> float:
        """1 - max π: how far the distribution is from normalised.

        >>> Possibility(Variable("rash", ("yes", "no")), [0.75, 0.5]).inconsistency
        0.25
        """
        return float(1.0 - self._degrees.max())

    def __getitem__(self, configuration: str | tuple[str, ...]) -> float:
        several = not isinstance(configuration, str)
        states = tuple(require_several(configuration, "possibility: configuration")) if several else (configuration,)
        if len(states) != len(self._variables):
            raise InputError(
                f"{len(states)} states {describe_value(states)} for {len(self._variables)} variables "
                f"({listing(v.name for v in self._variables)}); expected one state each"
            )
        return float(self._degrees[tuple(v.index(s) for v, s in zip(self._variables, states, strict=True))])

    @check_arguments
    def possibility(self, event: Event) -> float:
        """Possibility of an event, Π(A) = max over A of π; 0 for the empty event.

        The event is a state or a set of states; over several variables a set of configurations (tuples of states), or a
        mapping from names to states, where a variable that is not named is free.

        Equation
        --------
        Π(A) = max_{x ∈ A} π(x)

        >>> rash, fever = Variable("rash", ("yes", "no")), Variable("fever", ("none", "mild", "high"))
        >>> pi = Possibility((rash, fever), [[0.2, 0.4, 1.0], [1.0, 0.6, 0.1]])
        >>> pi.possibility({"fever": {"none", "mild"}, "rash": "yes"})
        0.4
        >>> pi.possibility([("no", "mild"), ("yes", "none")])
        0.6
        """
        return float(self._degrees[self.event_mask(event)].max(initial=0.0))

    @check_arguments
    def necessity(self, event: Event) -> float:
        """Necessity of an event, N(A) = 1 - Π(not A): how far A is certain. Refused when π is subnormal.

        Equation
        --------
        N(A) = 1 - Π(not A)

        >>> Possibility(Variable("fever", ("none", "mild", "high")), [1.0, 0.6, 0.1]).necessity({"none", "mild"})
        0.9
        """
        self._require_normalised("necessity")
        return float(1.0 - self._degrees[~self.event_mask(event)].max(initial=0.0))

    @check_arguments
    def cut(self, alpha: float) -> frozenset[str] | frozenset[tuple[str, ...]]:
        """α-cut {x : π(x) >= α}: states of one variable, configurations (tuples) of several.

        >>> sorted(Possibility(Variable("fever", ("none", "mild", "high")), [1.0, 0.6, 0.1]).cut(0.5))
        ['mild', 'none']
        """
        if not 0.0 <= alpha <= 1.0:
            raise InputError(f"cut: level {alpha!r} is outside [0, 1]")
        return self._configurations(self._degrees >= alpha)

    @property
    def core(self) -> frozenset[str] | frozenset[tuple[str, ...]]:
        """States (or configurations) of degree 1."""
        return self._configurations(self._degrees == 1.0)

    @property
    def support(self) -> frozenset[str] | frozenset[tuple[str, ...]]:
        """States (or configurations) of degree above 0."""
        return self._configurations(self._degrees > 0.0)

    @check_arguments
    def condition(self, event: Event, conjunction: Conjunction) -> Possibility:
        """Revise by the certain information that A holds. Equations (1) and (2) of [HLB].

        With ``PRODUCT`` (1) the degrees inside A are divided by Π(A); with ``MIN`` (2) those that equal Π(A) go to 1 and
        lower ones stay. Outside A all become 0. An impossible event (Π(A) = 0) is an error for both.

        Equation
        --------
        π(x | A) = π(x) / Π(A) if x ∈ A, else 0 (product)
        π(x | A) = 1 if π(x) = Π(A), else π(x), for x ∈ A; 0 otherwise (minimum)

        >>> import possnet as pn
        >>> pi = Possibility(Variable("fever", ("none", "mild", "high")), [1.0, 0.6, 0.3])
        >>> pi.condition({"mild", "high"}, pn.PRODUCT)
        Possibility(fever: none 0, mild 1, high 0.5)
        >>> pi.condition({"mild", "high"}, pn.MIN)
        Possibility(fever: none 0, mild 1, high 0.3)
        """
        check_conjunction(conjunction)
        event = event if isinstance(event, str | Mapping) else list(event)  # type: ignore[assignment]
        inside = np.where(self.event_mask(event), self._degrees, 0.0)
        if not inside.any():
            raise ImpossibleEvidence(
                f"{self._describe(event)} has possibility 0; nothing can be concluded from an impossible event"
            )
        return Possibility.unchecked(self._variables, conjunction.normalise(inside))

    @check_arguments
    def normalise(self, conjunction: Conjunction) -> Possibility:
        """Raised until its largest degree is 1: ``PRODUCT`` divides by it, ``MIN`` lifts the states that have it.

        >>> import possnet as pn
        >>> pi = Possibility(Variable("fever", ("none", "mild", "high")), [0.5, 0.2, 0.0])
        >>> pi.normalise(pn.PRODUCT), pi.normalise(pn.MIN)
        (Possibility(fever: none 1, mild 0.4, high 0), Possibility(fever: none 1, mild 0.2, high 0))
        """
        check_conjunction(conjunction)
        if not self._degrees.any():
            raise InputError(f"{self!r} is zero everywhere and cannot be normalised; expected a positive degree")
        return Possibility.unchecked(self._variables, conjunction.normalise(self._degrees))

    @check_arguments
    def marginal(self, names: str | Sequence[str]) -> Possibility:
        """Distribution of some of the variables: the largest degree over the others.

        >>> rash, fever = Variable("rash", ("yes", "no")), Variable("fever", ("none", "mild", "high"))
        >>> Possibility((rash, fever), [[0.2, 0.4, 1.0], [1.0, 0.6, 0.1]]).marginal("fever")
        Possibility(fever: none 1, mild 0.6, high 1)
        """
        wanted = (names,) if isinstance(names, str) else tuple(names)
        if not wanted or len(set(wanted)) < len(wanted):
            raise InputError(f"marginal: variables {wanted!r}; expected one or more distinct names")
        kept = [self._axis(name) for name in wanted]
        dropped = tuple(axis for axis in range(len(self._variables)) if axis not in kept)
        projected = self._degrees.max(axis=dropped).transpose([sorted(kept).index(axis) for axis in kept])
        return Possibility.unchecked(tuple(self._variables[axis] for axis in kept), projected.copy(order="C"))

    def nonspecificity(self) -> float:
        """U-uncertainty in bits: 0 for complete knowledge, log2 n for total ignorance.

        With ascending degrees p_1 <= ... <= p_n and p_0 = 0, U = sum_i (p_i - p_(i-1)) log2(n - i + 1); a subnormal
        distribution adds (1 - max π) log2 n (Higashi and Klir, 1983).

        Equation
        --------
        U(π) = ∑_{i=1}^n (p_i - p_{i-1}) log_2(n - i + 1), p_1 ≤ ... ≤ p_n, p_0 = 0

        >>> round(Possibility(Variable("fever", ("none", "mild", "high")), [1, 0.6, 0.1]).nonspecificity(), 6)
        0.658496
        """
        ascending = np.sort(self._degrees, axis=None)
        sizes = np.arange(ascending.size, 0, -1)
        steps = np.diff(ascending, prepend=0.0)
        return float(steps @ np.log2(sizes)) + self.inconsistency * float(np.log2(ascending.size))

    @check_arguments
    def is_close(self, other: Possibility, *, tolerance: float = 1e-9) -> bool:
        """Whether the variables are the same and no degree differs by more than the tolerance.

        >>> rash = Variable("rash", ("yes", "no"))
        >>> Possibility(rash, [1, 0.3]).is_close(Possibility(rash, [1, 0.1 + 0.2]))
        True
        """
        return self._variables == other._variables and bool(np.abs(self._degrees - other._degrees).max() <= tolerance)

    def _repr_html_(self) -> str:
        """Bars for notebooks, length possibility and filled part necessity; of many configurations the most possible."""
        from possnet.drawing import Bar, draw_bars

        degrees = self._degrees.reshape(-1)
        certain = necessities(degrees) if self.is_normalised else np.zeros_like(degrees)
        chosen = range(len(degrees)) if len(degrees) <= 12 else np.sort(np.argsort(-degrees, kind="stable")[:11])
        bars = []
        for k in chosen:
            states = np.unravel_index(k, self._degrees.shape)
            label = ", ".join(v.states[place] for v, place in zip(self._variables, states, strict=True))
            bars.append(Bar(label, float(degrees[k]), float(certain[k])))
        if len(degrees) > 12:
            bars.append(Bar(f"… {len(degrees) - 11:,} more", None))
        return draw_bars(bars, title=", ".join(variable.name for variable in self._variables))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Possibility):
            return NotImplemented
        return self._variables == other._variables and np.array_equal(self._degrees, other._degrees)

    def __hash__(self) -> int:
        return hash((self._variables, self._degrees.tobytes()))

    def __reduce__(self) -> tuple[object, ...]:
        return Possibility.unchecked, (self._variables, self._degrees)

    def __repr__(self) -> str:
        names = ", ".join(v.name for v in self._variables)
        ending = "" if self.is_normalised else "; subnormal"
        if self._degrees.size <= _FEW:
            shown = [self._show_degree(position) for position in range(self._degrees.size)]
            return f"Possibility({names}: {', '.join(shown)}{ending})"
        shape = " x ".join(str(n) for n in self._degrees.shape)
        largest, following = self._find_largest(_LARGEST)
        shown = [self._show_degree(position) for position in largest]
        rest = f"{self._degrees.size - len(shown):,} more, up to {following:.6g}"
        return f"Possibility({names}: {shape} degrees, the largest {', '.join(shown)}; {rest}{ending})"

    def _show_degree(self, position: int) -> str:
        """A configuration, by its position in the degrees as one row, and its degree."""
        places = np.unravel_index(position, self._degrees.shape)
        states = (v.states[k] for v, k in zip(self._variables, places, strict=True))
        return f"{'/'.join(states)} {self._degrees.flat[position]:.6g}"

    def _find_largest(self, number: int) -> tuple[list[int], float]:
        """Positions of the largest degrees, equal ones in their order, and the next degree after them."""
        degrees = self._degrees.ravel()
        following = float(np.partition(degrees, degrees.size - number - 1)[degrees.size - number - 1])
        chosen = np.flatnonzero(degrees > following)
        ties = np.flatnonzero(degrees == following)[: number - len(chosen)]
        positions = np.concatenate([chosen[np.argsort(-degrees[chosen], kind="stable")], ties])
        return positions.tolist(), following

    def _axis(self, name: str) -> int:
        names = [v.name for v in self._variables]
        given: object = name
        if not isinstance(given, str) or name not in names:
            raise InputError(f"{describe_value(name)} is not a variable here{among(name, names)}")
        return names.index(name)

    @check_arguments
    def event_mask(self, event: Event) -> Bools:
        """Event as a boolean array of the shape of the degrees: which configurations are in it.

        >>> Possibility.vacuous(Variable("fever", ("none", "mild", "high"))).event_mask({"mild", "high"})
        array([False,  True,  True])
        """
        inside: Bools = np.zeros(self._degrees.shape, dtype=bool)
        if isinstance(event, Mapping):
            axes = [np.ones(len(v), dtype=bool) for v in self._variables]
            for name, states in event.items():
                axis = self._axis(name)
                axes[axis] = _membership(self._variables[axis], states)
            inside = _box(axes)
        elif len(self._variables) == 1:
            inside = _membership(self._variables[0], event)  # type: ignore[arg-type]
        else:
            for configuration in event:
                self[configuration]  # checks the names
                inside[tuple(v.index(s) for v, s in zip(self._variables, configuration, strict=True))] = True
        return inside

    def _configurations(self, inside: Bools) -> frozenset[str] | frozenset[tuple[str, ...]]:
        if len(self._variables) == 1:
            states = self._variables[0].states
            return frozenset(states[k] for k in np.flatnonzero(inside))
        return frozenset(
            tuple(v.states[k] for v, k in zip(self._variables, position, strict=True))
            for position in np.argwhere(inside)
        )

    def _describe(self, event: Event) -> str:
        if isinstance(event, Mapping):
            return ", ".join(f"{name!r} in {{{_states_of(states)}}}" for name, states in event.items())
        return f"{', '.join(repr(v.name) for v in self._variables)} in {{{_states_of(event)}}}"

    def _require_normalised(self, what: str) -> None:
        if not self.is_normalised:
            raise InputError(
                f"{what} of {self!r}: its largest degree is {self._degrees.max():.6g}; expected 1. "
                "Normalise it first: .normalise(PRODUCT) or .normalise(MIN)"
            )


def as_degrees(degrees: ArrayLike, shape: tuple[int, ...] | None, owner: str) -> Floats:
    """Writable float64 copy of an array of the given shape (None: any), with degrees from 0 to 1.

    >>> as_degrees([1, 0.5], (2,), "table of 'rash'")
    array([1. , 0.5])
    """
    try:
        given = np.asarray(degrees)
        if given.dtype.kind not in "iufb":
            raise TypeError("not numbers")  # noqa: TRY301 - told below, with its owner
        if shape is None or given.shape == shape:  # an array repeated by numpy takes no memory until it is copied
            refuse_over(16 * given.size, owner, "take fewer states or parents")
            given = np.array(given, dtype=np.float64, order="C")
            given += 0.0  # turns -0.0 into 0.0
    except (TypeError, ValueError, OverflowError):
        wanted = f"; expected shape {shape}" if shape else ""
        raise InputError(f"{owner}: degrees are not a rectangular array of numbers{wanted}") from None
    if shape is not None and given.shape != shape:
        raise InputError(f"{owner}: degrees have shape {given.shape}; expected {shape}")
    array: Floats = given
    wrong = ~((array >= 0.0) & (array <= 1.0 + SNAP))
    if wrong.any():
        raise InputError(
            f"{owner}: degree {array[wrong].flat[0]:.12g} at {_position(wrong)}; expected numbers from 0 to 1"
        )
    return array


def snap_tops(degrees: Floats, axis: int | None = None) -> None:
    """Set, in place, a largest degree (of each slice along ``axis``) that is within 1e-9 of 1 to exactly 1.

    >>> degrees = np.array([[0.5, 1 - 1e-12], [0.5, 0.9]])
    >>> snap_tops(degrees, axis=-1)
    >>> degrees
    array([[0.5, 1. ], [0.5, 0.9]])
    """
    tops = degrees.max(axis=axis, keepdims=True)
    near = (tops != 1.0) & (tops >= 1.0 - SNAP)
    if near.any():
        degrees[near & (degrees >= np.minimum(tops, 1.0))] = 1.0


def necessities(degrees: Floats) -> Floats:
    """N({x}) of every state x along the last axis, for rows that peak at 1: 1 - the largest degree of another state.

    >>> necessities(np.array([[1.0, 0.6, 0.1], [1.0, 1.0, 0.5]]))
    array([[0.4, 0. , 0. ], [0. , 0. , 0. ]])
    """
    if degrees.shape[-1] < 2:
        return np.ones_like(degrees)
    second = np.partition(degrees, -2, axis=-1)[..., -2:-1]
    return np.where(degrees == 1.0, 1.0 - second, 0.0)


def _position(wrong: Bools) -> str:
    position = np.argwhere(wrong)[0]
    return f"position {position[0]}" if wrong.ndim == 1 else f"position ({', '.join(map(str, position))})"


def _membership(variable: Variable, states: str | Iterable[str]) -> Bools:
    inside = np.zeros(len(variable), dtype=bool)
    for state in (states,) if isinstance(states, str) else require_several(states, f"states of {variable.name!r}"):
        inside[variable.index(state)] = True
    return inside


def _box(axes: list[Bools]) -> Bools:
    box = axes[0]
    for axis in axes[1:]:
        box = np.logical_and.outer(box, axis)
    return box


def _states_of(event: Event | str | Iterable[str]) -> str:
    if isinstance(event, str):
        return event
    return listing(sorted("/".join(e) if isinstance(e, tuple) else str(e) for e in event))
