"""A plan for exact inference: a junction tree, made from scopes and sizes alone.

Eliminating the variables one by one gives cliques (see `possnet.graph.triangulation`). Axes of every table are in
elimination order, so that the variables a clique eliminates, its *residual*, are its first axes and the *separator*
that it shares with its parent is the rest: a message upward is a reduction over the leading axis, which numpy does 10
to 50 times faster than over a short last one, and no table is ever transposed after the start.

A plan holds no numbers of a network and makes no allocation; it can be printed, priced and refused.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final

from possnet.errors import TooLarge
from possnet.graph import Elimination, EliminationRule, eliminate, iterate_bits
from possnet.limits import memory_limit, readable_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Measured on one machine; only their ratios decide how long to plan.
_SECONDS_PER_ENTRY = 2e-8
_SECONDS_PER_CLIQUE = 3e-5
_SECONDS_PER_TRY = 4e-5  # one elimination by the rules "fill" or "weight", a node
_RESTARTS = 12
_LARGE = 1 << 22  # entries of a plan for which the order of the variables themselves is tried too

KEPT_ENTRIES: Final = 1 << 14
"""Entries of a table that a junction tree keeps for the next pass; larger ones are sooner combined again than read."""


@dataclass(slots=True)
class Clique:
    """A clique: its variables in elimination order, how many of them it eliminates, its parent, children and factors."""

    variables: tuple[int, ...]
    residual: int
    parent: int
    children: list[int]
    factors: list[int]
    shape: tuple[int, ...]

    @property
    def separator(self) -> tuple[int, ...]:
        """Variables shared with the parent."""
        return self.variables[self.residual :]


@dataclass(frozen=True, slots=True)
class Plan:
    """A junction tree: cliques in elimination order, children before their parents.

    ``home`` is the clique that eliminates each variable; ``position`` is each variable's place in the elimination order.
    """

    sizes: tuple[int, ...]
    cliques: tuple[Clique, ...]
    home: tuple[int, ...]
    position: tuple[int, ...]
    entries: int
    largest: int

    @property
    def memory(self) -> int:
        """Estimated bytes: every clique's table once, and the largest one twice more."""
        return 8 * (self.entries + 2 * self.largest)

    @property
    def lean_memory(self) -> int:
        """Estimated bytes of a tree that keeps messages and small tables, and forms large ones when they are needed."""
        separators = sum(prod(clique.shape[clique.residual :]) for clique in self.cliques)
        small = sum(min(prod(clique.shape), KEPT_ENTRIES) for clique in self.cliques)
        return 8 * (small + 2 * separators + 3 * self.largest)

    @property
    def seconds(self) -> float:
        """Estimated time of one calibration, on a machine that streams about a gigabyte of products a second."""
        return self.entries * _SECONDS_PER_ENTRY + len(self.cliques) * _SECONDS_PER_CLIQUE

    def root_of(self, variable: int) -> int:
        """The root above the clique that eliminates a variable."""
        number = self.home[variable]
        while self.cliques[number].parent >= 0:
            number = self.cliques[number].parent
        return number

    def describe(self, names: Sequence[str] | None = None) -> str:
        """Description of the plan as text: its size, estimated memory and time, and the widest cliques."""
        labels = names or [f"v{k}" for k in range(len(self.sizes))]
        widest = sorted(self.cliques, key=lambda clique: -prod(clique.shape))[:5]
        size = f"{len(self.sizes)} variables in {len(self.cliques)} cliques, {self.entries:,} entries in all"
        price = f"about {readable_bytes(self.memory)} and {self.seconds:.3g} s"
        lines = [
            f"{size}, {price}",
            *(f"  {prod(c.shape):>12,} entries: {', '.join(labels[v] for v in c.variables)}" for c in widest),
        ]
        return "\n".join(lines)

    def fits_limit(self, limit: int | None = None) -> bool:
        """Whether the tables fit in the memory that is allowed, by default half of the free memory."""
        if self.memory < 1 << 24 and limit is None:
            return True
        return self.memory <= (memory_limit() if limit is None else limit)

    @property
    def collect_memory(self) -> int:
        """Estimated bytes of a collect pass that drops every message once it is received."""
        live = peak = 0
        for clique in self.cliques:
            entries, sent = prod(clique.shape), prod(clique.shape[clique.residual :])
            peak = max(peak, live + 2 * entries + sent)
            live += sent if clique.parent >= 0 else entries
            live -= sum(prod(self.cliques[k].shape[self.cliques[k].residual :]) for k in clique.children)
        return 8 * peak

    def fits_lean(self, limit: int | None = None, *, collect: bool = False) -> bool:
        """Whether messages and the largest tables fit in the memory that is allowed, by default half of the free.

        With ``collect`` for a collect pass alone.
        """
        if self.memory < (1 << 22 if limit is None else limit // 4):  # either is less than three times that
            return True
        needed = self.collect_memory if collect else self.lean_memory
        return needed <= (memory_limit() if limit is None else limit)

    def refuse_if_large(self, names: Sequence[str], limit: int | None = None) -> None:
        """Raise `TooLarge` if the tables would not fit."""
        if not self.fits_limit(limit):
            allowed = memory_limit() if limit is None else limit
            widest = max(self.cliques, key=lambda clique: prod(clique.shape))
            listed = ", ".join(names[v] for v in widest.variables[:12])
            more = f" and {len(widest.variables) - 12} more" if len(widest.variables) > 12 else ""
            raise TooLarge(
                f"inference needs {readable_bytes(self.memory)}; the limit is {readable_bytes(allowed)}. "
                f"The widest clique has {prod(widest.shape):,} entries ({listed}{more}). Fewer parents or states there, "
                "or evidence on one of these variables, would help; so would a higher limit="
            )


def make_plan(
    sizes: Sequence[int],
    scopes: Sequence[Iterable[int]],
    *,
    dropped: int = 0,
    last: int = 0,
    together: Iterable[int] = (),
    thorough: bool = True,
) -> Plan:
    """Junction tree in which every scope lies inside a clique.

    Parameters
    ----------
    scopes
        Sets of variables, one for each factor.
    dropped
        Variables (as bits) that take no part: known, or pruned.
    last
        Variables (as bits) that are eliminated after all others, so that a root holds them.
    together
        Variables that shall lie in one clique, though no factor says so.
    thorough
        Whether several eliminations are tried where that could pay.

    Examples
    --------
    >>> print(make_plan([2, 2, 3], [(0,), (0, 1), (1, 2)]).describe("abc"))
    3 variables in 2 cliques, 10 entries in all, about 176 B and 6.02e-05 s
                 6 entries: b, c
                 4 entries: a, b
    """
    masks = [sum(1 << v for v in scope) & ~dropped for scope in scopes]
    near = [0] * len(sizes)
    for mask in (*masks, sum(1 << v for v in together) & ~dropped):
        for variable in iterate_bits(mask):
            near[variable] |= mask
    for variable in range(len(sizes)):
        near[variable] &= ~(1 << variable)
    present = ((1 << len(sizes)) - 1) & ~dropped
    return _build_junction_tree(sizes, masks, _cheapest_elimination(near, sizes, present, last, thorough=thorough))


def _cheapest_elimination(
    near: list[int], sizes: Sequence[int], present: int, last: int, *, thorough: bool
) -> Elimination:
    """The best of several eliminations; more are tried while the saving could pay for the planning."""
    kept = list(iterate_bits(present))
    if len(kept) < len(sizes):
        number = {variable: k for k, variable in enumerate(kept)}
        near = [sum(1 << number[v] for v in iterate_bits(near[variable])) for variable in kept]
        sizes = [sizes[variable] for variable in kept]
        last = sum(1 << number[v] for v in iterate_bits(last))
    best = eliminate(near, sizes, "fill", last=last)
    quick = _SECONDS_PER_TRY * max(len(kept), 1)  # by "fill" or "weight"; "weighted-fill" takes several times that

    def try_rule(rule: EliminationRule, rng: random.Random | None = None) -> Elimination:
        candidate = eliminate(near, sizes, rule, rng=rng, give_up=best.entries, last=last)
        return candidate if candidate.entries < best.entries else best

    seconds = best.entries * _SECONDS_PER_ENTRY if thorough else 0.0
    if seconds > quick / 2:
        best = try_rule("weight")
    if thorough and best.entries * _SECONDS_PER_ENTRY > 50 * quick:
        best = try_rule("weighted-fill")
    if thorough and best.entries > _LARGE:
        best = try_rule("order")
    rng = random.Random(0)  # noqa: S311 - breaks ties, the same way every time
    restarts = min(int(best.entries * _SECONDS_PER_ENTRY / (8 * quick)), _RESTARTS) if thorough else 0
    for attempt in range(restarts):
        best = try_rule("weight" if attempt % 4 == 3 else "fill", rng)
    if kept == list(range(len(kept))):
        return best
    cliques = tuple(sum(1 << kept[k] for k in iterate_bits(clique)) for clique in best.cliques)
    return Elimination(tuple(kept[k] for k in best.order), cliques, best.entries)


def _build_junction_tree(sizes: Sequence[int], masks: Sequence[int], elimination: Elimination) -> Plan:
    position = [-1] * len(sizes)
    for place, variable in enumerate(elimination.order):
        position[variable] = place
    home = [-1] * len(sizes)
    cliques: list[Clique] = []
    last_mask = 0
    for variable, mask in zip(elimination.order, elimination.cliques, strict=True):
        follows = cliques and position[variable] == position[cliques[-1].variables[0]] + cliques[-1].residual
        if follows and last_mask == mask:
            cliques[-1].residual += 1  # the clique before, less what it eliminated: the same clique eliminates one more
        else:
            ordered = tuple(sorted(iterate_bits(mask), key=position.__getitem__))
            cliques.append(Clique(ordered, 1, -1, [], [], tuple(sizes[v] for v in ordered)))
        home[variable] = len(cliques) - 1
        last_mask = mask & ~(1 << variable)
    for number, clique in enumerate(cliques):
        if clique.residual < len(clique.variables):
            clique.parent = home[clique.variables[clique.residual]]
            cliques[clique.parent].children.append(number)
    for factor, mask in enumerate(masks):
        if mask:
            first = min(iterate_bits(mask), key=position.__getitem__)
            cliques[home[first]].factors.append(factor)
    counts = [prod(clique.shape) for clique in cliques]
    return Plan(tuple(sizes), tuple(cliques), tuple(home), tuple(position), sum(counts), max(counts, default=0))
