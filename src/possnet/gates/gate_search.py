"""How near a table is to a gate: the gate with the smallest largest difference that a short search meets.

If a table is a gate, its numbers can be read off it: the leak where no parent acts, and the effect of a parent's state
where all others are neutral (at their lowest for OR and MAX, at their highest for AND and MIN). From there each number is
moved up and down by smaller and smaller steps, as long as the largest difference falls. So the difference is 0 for a
gate, and otherwise an upper bound of the smallest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from possnet.gates.gate import combine_effects
from possnet.gates.gate_makers import _rank_states, gate_and, gate_max, gate_min, gate_or

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Floats
    from possnet.gates.gate import Gate, GateKind
    from possnet.possibility import Conjunction
    from possnet.variables import Variable

_STEPS = (0.1, 0.03, 0.01, 0.003, 0.001)
_MOST_NUMBERS = 60  # beyond, the numbers read off the table are not improved


@dataclass(frozen=True, slots=True)
class GateFit:
    """The nearest gate to a table, and the largest difference of a degree between the two.

    >>> import possnet as pn
    >>> print(pn.nearest_gate(pn.load_example("asia"), "either"))
    either = lung OR tub: 8 degrees explained by 3 numbers, largest difference 0
    """

    gate: Gate
    difference: float

    def __str__(self) -> str:
        head = self.gate.describe().split(";", maxsplit=1)[0]
        numbers = self.gate.numbers
        return (
            f"{head}: {self.gate.table.size} degrees explained by {numbers} number{'s' * (numbers != 1)}, largest "
            f"difference {self.difference:.3g}"
        )


def find_nearest_gate(
    child: Variable, parents: Sequence[Variable], table: Floats, conjunction: Conjunction
) -> GateFit | None:
    """The gate nearest to a table; None if the child has no parents, or more than two states without an order."""
    if not parents or len(child) < 2 or (len(child) > 2 and not child.ordered):
        return None
    two = len(child) == 2 and all(len(parent) == 2 for parent in parents)
    fits = []
    for largest in (True, False):
        effects, leak = _read_corners(child, parents, table, largest=largest)
        rank = _rank_states(child)
        target = table[..., rank]
        effects, leak = _improve(effects, leak, target, conjunction, largest=largest)
        gate = _to_gate(child, parents, effects, leak, conjunction, largest=largest, two=two)
        fits.append(GateFit(gate, float(np.abs(gate.table - table).max())))
    return min(fits, key=lambda fit: (round(fit.difference, 12), fit.gate.numbers))


def _read_corners(
    child: Variable, parents: Sequence[Variable], table: Floats, *, largest: bool
) -> tuple[list[Floats], Floats]:
    """Effects (states, levels) of every parent and the leak (levels), from the contexts where all others are neutral."""
    rank = _rank_states(child)
    ends = [_rank_states(parent)[0 if largest else -1] for parent in parents]
    neutral = 0 if largest else len(child) - 1
    leak = table[tuple(ends)][rank].copy()
    leak[neutral] = 1.0
    effects = []
    for place, parent in enumerate(parents):
        context = [slice(None) if k == place else end for k, end in enumerate(ends)]
        effect = table[tuple(context)][:, rank].copy()
        effect[ends[place]] = np.eye(len(child))[neutral]
        tops = effect.max(axis=1, keepdims=True)
        effect[(effect == tops) & (tops < 1.0)] = 1.0
        effects.append(effect)
        assert len(effect) == len(parent)  # noqa: S101
    return effects, leak


def _improve(
    effects: list[Floats], leak: Floats, target: Floats, conjunction: Conjunction, *, largest: bool
) -> tuple[list[Floats], Floats]:
    """Every number moved by smaller and smaller steps while the largest difference falls."""
    neutral = np.eye(len(leak))[0 if largest else -1]
    free = [(leak, k) for k in range(len(leak)) if not neutral[k]]
    for effect in effects:
        idle = (effect == neutral).all(axis=1)
        keep = int(np.flatnonzero(idle)[0]) if idle.any() else -1
        for row in range(len(effect)):
            top = int(effect[row].argmax())
            free += [(effect[row], k) for k in range(len(leak)) if row != keep and k != top]
    if len(free) > _MOST_NUMBERS:
        return effects, leak

    def measure() -> float:
        return float(np.abs(combine_effects(effects, leak, conjunction, largest=largest) - target).max())

    best = measure()
    for step in _STEPS:
        moved = True
        while moved and best > 1e-12:
            moved = False
            for array, place in free:
                before = array[place]
                for way in (step, -step):
                    array[place] = min(max(before + way, 0.0), 1.0)
                    if (now := measure()) < best - 1e-9:
                        best, before, moved = now, array[place], True
                array[place] = before
    return effects, leak


def _to_gate(
    child: Variable,
    parents: Sequence[Variable],
    effects: list[Floats],
    leak: Floats,
    conjunction: Conjunction,
    *,
    largest: bool,
    two: bool,
) -> Gate:
    """The gate of some effects: OR or AND if all variables have two states, with a number for each parent."""
    rank = _rank_states(child)
    if two:
        kind: GateKind = "or" if largest else "and"
        acting = {
            p.name: effect[_rank_states(p)[1 if largest else 0]] for p, effect in zip(parents, effects, strict=True)
        }
        simple = all(effect[1 if largest else 0] == 1.0 for effect in acting.values())
        if simple and kind == "or":
            numbers = {name: float(effect[0]) for name, effect in acting.items()}
            return gate_or(child, parents, inhibition=numbers, leak=float(leak[1]), conjunction=conjunction)
        if simple:
            numbers = {name: float(effect[1]) for name, effect in acting.items()}
            return gate_and(child, parents, substitution=numbers, leak=float(leak[0]), conjunction=conjunction)
    back = np.argsort(rank)
    tables = {p.name: effect[:, back].tolist() for p, effect in zip(parents, effects, strict=True)}
    maker = gate_max if largest else gate_min
    return maker(child, parents, effects=tables, leak=leak[back].tolist(), conjunction=conjunction)
