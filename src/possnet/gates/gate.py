"""Uncertain logical gates: a conditional table made from what each parent does by itself.

Each parent X_i acts through a hidden variable Z_i on the scale of the child, with π(z_i | x_i); the child is Y = f(Z_1,
..., Z_n, Z_L), where f is OR, AND, MAX or MIN and Z_L, the *leak*, stands for all that is not among the parents (Dubois,
Fusco, Prade and Tettamanzi 2015, 2017; the possibilistic form of causal independence, Díez and Druzdzel 2006):

    π(y | x_1, ..., x_n) = max over z with f(z) = y of π(z_L) ⊗ π(z_1 | x_1) ⊗ ... ⊗ π(z_n | x_n).

The hidden variables need not be enumerated. For the maximum of two of them, max(A, B) = y if one is y and the other at
most y: with F the largest degree up to y, the degree is max(A(y) ⊗ F_B(y), F_A(y) ⊗ B(y)), and further parents follow one
by one. The minimum is the same on the scale turned round; OR and AND are MAX and MIN on two levels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from possnet.errors import TooLarge
from possnet.limits import memory_limit, readable_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Floats
    from possnet.possibility import Conjunction
    from possnet.variables import Variable

GateKind: TypeAlias = Literal["or", "and", "max", "min"]


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """A conditional table and the few numbers that it is made of; a network takes it wherever it takes a table.

    Attributes
    ----------
    kind
        ``or``, ``and``, ``max`` or ``min``.
    child, parents
        The variables; the axes of the table are the parents in this order, then the child.
    parameters
        The numbers, as they were given and as they are kept in files.
    conjunction
        That of the network it is for.
    table
        Read-only degrees π(child | parents).

    Examples
    --------
    >>> import possnet as pn
    >>> tub, lung, either = (pn.Variable(name, ("yes", "no")) for name in ("tub", "lung", "either"))
    >>> gate = pn.gate_or(either, (tub, lung), inhibition={"tub": 0.1, "lung": 0.2}, leak=0.05)
    >>> gate
    Gate(either = tub OR lung; inhibition tub 0.1, lung 0.2; leak 0.05)
    >>> gate.table.round(6).tolist()
    [[[1.0, 0.02], [1.0, 0.1]], [[1.0, 0.2], [0.05, 1.0]]]
    >>> gate.numbers
    3
    """

    kind: GateKind
    child: Variable
    parents: tuple[Variable, ...]
    parameters: Mapping[str, Any]
    conjunction: Conjunction
    table: Floats = field(repr=False)

    @property
    def numbers(self) -> int:
        """How many numbers the table is made of."""
        return sum(_count_numbers(self.parameters[key]) for key in _NUMBERS if key in self.parameters)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001
        return np.array(self.table, dtype=dtype) if copy or dtype is not None else self.table

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gate):
            return NotImplemented
        own, others = (
            (gate.kind, gate.child, gate.parents, dict(gate.parameters), gate.conjunction.name)
            for gate in (self, other)
        )
        return own == others

    def __hash__(self) -> int:
        return hash((self.kind, self.child, self.parents, self.conjunction.name))

    def __repr__(self) -> str:
        return f"Gate({self.describe()})"

    def describe(self) -> str:
        """The gate and its numbers on one line.

        >>> import possnet as pn
        >>> a, b = pn.Variable("a", ("no", "yes")), pn.Variable("b", ("no", "yes"))
        >>> pn.gate_and(b, [a], leak=0.2).describe()
        'b = AND of a; substitution a 0; leak 0.2'
        """
        word = self.kind.upper()
        names = [parent.name for parent in self.parents]
        head = f"{self.child.name} = {f' {word} '.join(names) if len(names) > 1 else f'{word} of {names[0]}'}"
        parts = [head]
        for key, value in self.parameters.items():
            if isinstance(value, dict):
                shown = ", ".join(f"{name} {_show_value(number)}" for name, number in value.items())
            else:
                shown = _show_value(value)
            if value not in ({}, 0.0):
                parts.append(f"{key} {shown}")
        return "; ".join(parts)


_NUMBERS = ("inhibition", "substitution", "effects", "leak")


def _count_numbers(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_count_numbers, value.values()))
    if isinstance(value, list):
        rows = value if value and isinstance(value[0], list) else [value]
        return sum(len(row) - 1 for row in rows if sum(row) > 1.0)  # one of each row is 1; a certain row needs none
    return 1


def _show_value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_show_value, value))}]"
    return value if isinstance(value, str) else f"{value:.6g}"


def combine_effects(effects: Sequence[Floats], leak: Floats, conjunction: Conjunction, *, largest: bool) -> Floats:
    """Degrees (states of the parents, levels of the child) of the largest (or smallest) of independent effects.

    ``effects`` are π(z | x) as (states of the parent, levels), ``leak`` (levels) that of what is not listed.
    """
    size = 8 * leak.size
    for effect in effects:
        size *= len(effect)
    if size > 1 << 26 and size > memory_limit():
        raise TooLarge(
            f"the table of a gate with {len(effects)} parents needs {readable_bytes(size)}; the limit is "
            f"{readable_bytes(memory_limit())}. Use fewer parents, or gates in stages"
        )
    turn = slice(None, None, 1 if largest else -1)
    table = leak[turn]
    for effect in effects:
        left, right = table[..., np.newaxis, :], effect[:, turn]
        below_left, below_right = np.maximum.accumulate(left, axis=-1), np.maximum.accumulate(right, axis=-1)
        table = np.maximum(conjunction.combine(left, below_right), conjunction.combine(below_left, right))
    return np.ascontiguousarray(table[..., turn])
