"""Hill climbing over structures with hidden states, by traced BIC.

A move is tried in three stages, each dearer than the one before; after every move that is made it begins again.

1. Additions and deletions of single edges by what a family gains under cavity posteriors, everything else fixed (see
   `possnet.structure.cavity_families`): a lower bound of what EM gains.
2. The reversals and swaps of single edges that look best, and the additions that come close, by EM over the components that
   they change.
3. Moves of several edges (see `possnet.structure.family_moves`), by EM.

EM runs over the *neighbourhood* of a change: the hidden states nearest to it, at most `_MOST_HIDDEN`. That is the whole
component if this is small, and an approximation if it is large. Where there are many rows, the climb begins on a sample of
them; on more rows, moves that lose clearly on the sample are not tried again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from possnet.structure.cavity_families import CavityFamily, RowPosteriors, find_nearest
from possnet.structure.family_moves import (
    FamilyMove,
    change_parents,
    edges_of,
    keeps_constraints,
    list_rearrangements,
)
from possnet.structure.search_graph import SearchGraph
from possnet.structure.sized_cache import SizedCache

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from possnet.aliases import Bools, Floats
    from possnet.structure.search_graph import CompiledConstraints
    from possnet.structure.traced_score import Family, TracedScore

LEAST_GAIN: Final = 1.0
"""Nats that a move must gain: twice what EM leaves to gain."""
_MOST_HIDDEN: Final = 8  # hidden states in a neighbourhood
_WIDTH: Final = 16  # changes of single edges of one kind that EM tries in the second stage
_FAR: Final = 0.2  # nats a row: swaps whose bound loses more are not tried
_CLOSE: Final = 8.0  # nats: additions whose bound loses less are tried by EM
_SLACK: Final = 10.0  # nats that the estimate of a single edge by the sample may lose
_SURE: Final = 15.0  # nats that a move of several edges must lose on the sample to be out of the question
_HUBS: Final = 3  # common parents that are tried to explain an edge; one where there are many variables
_FEW_VARIABLES: Final = 40
_SWAPPED: Final = 8  # where there are many variables, candidates that are tried in place of a parent
_KEPT_ROWS: Final = 1 << 25  # numbers in cavity posteriors kept

Families: TypeAlias = tuple[tuple[int, ...], ...]
_Single: TypeAlias = tuple[str, int, int, tuple[int, ...]]
"""A change of the parents of one child: what it is called, the edge it is named after, and the parents after it."""


class HiddenStateClimber:
    """A structure, and the gains of its moves.

    Parameters
    ----------
    families
        The parents of every variable, where the climb starts.
    candidates
        Pairs (parent, child) that may become edges.
    strength
        How strongly the pairs depend, for the choice of common parents.
    sampled
        The same on a sample of the rows.
    check
        Called often; may raise an exception to stop the climb.
    """

    def __init__(
        self,
        score: TracedScore,
        constraints: CompiledConstraints,
        families: Families,
        candidates: Bools,
        strength: Floats,
        sampled: HiddenStateClimber | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.score, self.constraints, self.families = score, constraints, families
        self.candidates, self._strength, self.sampled, self._check = candidates, strength, sampled, check
        self._tried: set[tuple[Families, Families]] = set()
        self._components: dict[tuple[int, bool], frozenset[Family]] = {}
        self._seen = {families}  # gains are approximate: without this a climb could go round in circles
        self._cavities: SizedCache[CavityFamily] = SizedCache(_KEPT_ROWS, lambda cavity: cavity.size)
        self._posteriors: SizedCache[RowPosteriors] = SizedCache(_KEPT_ROWS, lambda posterior: posterior.table.size)
        self._gains: dict[tuple[object, ...], tuple[float, Floats]] = {}
        self._last_gains: dict[tuple[int, tuple[int, ...], tuple[int, ...]], float] = {}

    def take_step(self) -> tuple[FamilyMove, float] | None:
        """Make the best move of the first stage that has one, and return it with its gain; None at a local maximum."""
        singles = self.gain_singles()
        chosen = self._try_promising(singles)
        chosen = chosen or self._try_moves(self._near_moves(singles)) or self._try_moves(self._list_rearrangements())
        if chosen is not None:
            self.move_to(chosen[0].families)
        return chosen

    def _try_promising(self, singles: dict[_Single, float]) -> tuple[FamilyMove, float] | None:
        """The first of the additions and deletions, best bound first, that gains by EM too.

        The bound is one only where no cells are missing, the whole component is near, and EM gets no worse than before.
        """
        promising = [single for single in singles if singles[single] > LEAST_GAIN]
        for single in sorted(promising, key=lambda single: (-singles[single], single)):
            move = change_parents(self.families, *single)
            if self._is_new(move):
                gain = self.exact_gain(move)
                if gain > LEAST_GAIN:
                    return move, gain
                self._tried.add(self._surroundings(move))
        return None

    def known_gains(self) -> dict[tuple[int, int], float]:
        """Of the additions to this structure that can be made and were tried, what they gain at least, or about."""
        gains = {}
        may_add = SearchGraph(self.constraints, edges_of(self.families)).may_add()
        for (child, parents, wider), gain in self._last_gains.items():
            new = set(wider).difference(parents)
            if parents == self.families[child] and len(wider) == len(parents) + len(new) == len(parents) + 1:
                parent = new.pop()
                if may_add[parent, child]:
                    gains[parent, child] = gain
        return gains

    def move_to(self, families: Families) -> None:
        """Go on from another structure."""
        if families != self.families:
            self.families, self._components = families, {}
            self._seen.add(families)
        if self.sampled is not None:
            self.sampled.move_to(families)

    # --- gains of one family, everything else fixed

    def gain_family(self, child: int, parents: tuple[int, ...]) -> tuple[float, Floats]:
        """What the score gains at least by other parents of a child, at most one of them new, and the masses there."""
        self._check()
        old = self.families[child]
        component = self._component_with(child)
        cavity = self._cavities.get_or_compute(
            (child, old, component), lambda: CavityFamily(self.score, (child, old), component)
        )
        outside: RowPosteriors | None = None
        others: frozenset[Family] = frozenset()
        for new in set(parents).difference(old):
            if not cavity.covers(new):
                others = self._component_above(new)
                outside = self._find_posterior(new, others)
        key = child, old, component, parents, others
        if key not in self._gains:
            raised, masses = cavity.gain_by_parents(parents, outside)
            self._gains[key] = raised - self._extra_price({child: parents}), masses
        self._last_gains[child, old, parents] = self._gains[key][0]
        return self._gains[key]

    def _estimate_family(self, child: int, parents: tuple[int, ...]) -> float:
        """The gain of `gain_family`; its estimate by the sample if that is clearly too low."""
        if self.sampled is not None:
            estimate = self._scale_up(self.sampled.gain_family(child, parents)[0], {child: parents})
            if estimate < -_SLACK:
                return estimate
        return self.gain_family(child, parents)[0]

    def gain_singles(self) -> dict[_Single, float]:
        """Gains of all additions and deletions; the best one, and all if none gains enough, are up to date."""
        families, graph = self.families, SearchGraph(self.constraints, edges_of(self.families))
        singles: list[_Single] = []
        for parent, child in np.argwhere(graph.may_add() & self.candidates).tolist():
            singles.append(("add", parent, child, _with(families[child], parent)))
        for parent, child in np.argwhere(graph.may_delete()).tolist():
            singles.append(("delete", parent, child, _without(families[child], parent)))
        gains: dict[_Single, float] = {}
        stale = set()
        for single in singles:
            _, _, child, parents = single
            known = self._last_gains.get((child, families[child], parents))
            gains[single] = self._estimate_family(child, parents) if known is None else known
            if known is not None:
                stale.add(single)
        while stale:
            best = max(gains, key=gains.__getitem__)
            again = {best} & stale if gains[best] > LEAST_GAIN else stale.copy()
            if not again:
                break
            for single in sorted(again):
                gains[single] = self._estimate_family(*single[2:])
            stale -= again
        return gains

    def _near_moves(self, singles: dict[_Single, float]) -> list[FamilyMove]:
        """Single edges that EM may make worth more than their bound: those that come close, swaps and reversals."""
        families = self.families
        graph = SearchGraph(self.constraints, edges_of(families))
        reach = graph.reach
        bounds = {single: gain for single, gain in singles.items() if single[0] == "delete" or gain > -_CLOSE}
        for child, parents in enumerate(families):
            above: Bools = self.candidates[:, child] & self.constraints.allowed[:, child] & ~reach[child]
            if len(families) > _FEW_VARIABLES:
                strongest = np.argsort(-np.where(above, self._strength[:, child], -np.inf), kind="stable")
                above[strongest[_SWAPPED:]] = False
            for new in np.flatnonzero(above).tolist() if parents else ():
                for old in parents if new not in parents else ():
                    if not self.constraints.required[old, child]:
                        swapped = _with(_without(parents, old), new)
                        bounds["swap", new, child, swapped] = self._estimate_family(child, swapped)
        far = -_FAR * self.score.rows.total
        moves = []
        for action in ("add", "delete", "swap"):
            near = [single for single in bounds if single[0] == action and bounds[single] > far]
            nearest = sorted(near, key=lambda single: -bounds[single])[:_WIDTH]
            moves += [change_parents(families, *single) for single in nearest]
        for parent, child in np.argwhere(graph.may_reverse()).tolist():
            turned = list(families)
            turned[child], turned[parent] = _without(families[child], parent), _with(families[parent], child)
            moves.append(FamilyMove("reverse", parent, child, tuple(turned)))
        return moves

    def _list_rearrangements(self) -> Iterable[FamilyMove]:
        """Moves of several edges that keep the constraints."""
        edges = edges_of(self.families)
        hubs = {}
        for parent, child in np.argwhere(edges).tolist():
            both = np.minimum(self._strength[:, parent], self._strength[:, child])
            both[[parent, child]] = -np.inf
            number = _HUBS if len(edges) <= _FEW_VARIABLES else 1
            hubs[parent, child] = np.argsort(-both, kind="stable")[:number].tolist()
        moves = {move.families: move for move in list_rearrangements(edges, hubs)}
        return [move for move in moves.values() if keeps_constraints(move, self.constraints)]

    # --- gains by EM

    def _try_moves(self, moves: Iterable[FamilyMove]) -> tuple[FamilyMove, float] | None:
        """The move that gains most, if it gains enough."""
        best: tuple[FamilyMove, float] | None = None
        for move in moves:
            if self._is_new(move):
                gain = self.estimated_gain(move)
                if gain <= LEAST_GAIN:
                    self._tried.add(self._surroundings(move))
                elif best is None or gain > best[1]:
                    best = move, gain
        return best

    def _is_new(self, move: FamilyMove) -> bool:
        """Whether a move leads to a structure that was not there before, and was not tried in the same surroundings."""
        return move.families not in self._seen and self._surroundings(move) not in self._tried

    def _surroundings(self, move: FamilyMove) -> tuple[Families, Families]:
        """The families near a change, before and after it."""
        changed = move.changed_from(self.families)
        around = {p for k in changed for p in (*self.families[k], *move.families[k])}
        inside = self._find_inside(around, move.families)
        return _restrict(self.families, inside), _restrict(move.families, inside)

    def estimated_gain(self, move: FamilyMove) -> float:
        """What a move gains by EM; its estimate by the sample if it clearly loses there."""
        if self.sampled is not None:
            changes = {k: move.families[k] for k in move.changed_from(self.families)}
            sampled = self.sampled.estimated_gain(move)
            estimate = self._scale_up(sampled, changes)
            if sampled < -_SURE and estimate < -2.0 * _SURE:
                return estimate
        return self.exact_gain(move)

    def exact_gain(self, move: FamilyMove) -> float:
        """What a move gains by EM over its neighbourhood."""
        self._check()
        score, families = self.score, self.families
        changes = {k: move.families[k] for k in move.changed_from(families)}
        old, new = self._surroundings(move)
        before = score.log_likelihood(old)
        start: dict[Family, Floats] = {}
        for component in score.split_components(old):
            start |= score.fit_component(component).masses
        bound = -np.inf
        for child, parents in changes.items():
            if len(set(parents).difference(families[child])) <= 1:
                bound, start[child, parents] = self.gain_family(child, parents)
        price = self._extra_price(changes)
        gain = score.log_likelihood(new, start) - before - price
        if (
            len(changes) == 1 and gain < bound - LEAST_GAIN
        ):  # EM had ended elsewhere when it fitted this component before
            for component in score.split_components(new):
                score.improve_component(component, start)
            gain = score.log_likelihood(new, start) - before - price
        return gain

    def _extra_price(self, changes: dict[int, tuple[int, ...]]) -> float:
        penalty = self.score.penalty
        return sum(penalty(child, parents) - penalty(child, self.families[child]) for child, parents in changes.items())

    def _scale_up(self, gain: float, changes: dict[int, tuple[int, ...]]) -> float:
        """What a change gains on all rows, estimated from its gain on the sample.

        A likelihood at its maximum is too high by half a nat for every free parameter, on the sample as on all rows.
        """
        if self.sampled is None:
            return gain
        factor = self.score.rows.total / max(self.sampled.score.rows.total, 1)
        price, sampled_price = self._extra_price(changes), self.sampled._extra_price(changes)
        bias = price / self.score.price / 2.0
        return factor * (gain + sampled_price - bias) + bias - price

    # --- neighbourhoods and posteriors

    def _component_with(self, child: int) -> frozenset[Family]:
        """The families that share hidden states with that of a child, itself included, near it; empty without parents."""
        parents, key = self.families[child], (child, True)
        if key not in self._components:
            around = self._component_of(set(parents), (child, parents)) if parents else frozenset()
            self._components[key] = around
        return self._components[key]

    def _component_above(self, variable: int) -> frozenset[Family]:
        """The families near a variable that share its hidden state; empty if it has no children."""
        key = variable, False
        if key not in self._components:
            children = [k for k, parents in enumerate(self.families) if variable in parents]
            above: frozenset[Family] = frozenset()
            if children:
                family = children[0], _restrict(self.families, self._find_inside({variable}))[children[0]]
                above = self._component_of({variable}, family)
            self._components[key] = above
        return self._components[key]

    def _component_of(self, around: set[int], family: Family) -> frozenset[Family]:
        inside = self._find_inside(around)
        components = self.score.split_components(_restrict(self.families, inside))
        return next(component for component in components if family in component)

    def _find_inside(self, around: set[int], others: Families = ()) -> set[int]:
        """The hidden variables near some, in this structure and in another one."""
        scopes = [*self.score.hidden_scopes(self.families), *self.score.hidden_scopes(others)]
        return find_nearest(scopes, around, max(_MOST_HIDDEN, len(around)))

    def _find_posterior(self, variable: int, component: frozenset[Family]) -> RowPosteriors:
        """Posteriors of a hidden state; of one without children, the shares of its cell."""

        def compute() -> RowPosteriors:
            score = self.score
            columns = score.component_columns(component) if component else (variable,)
            numbers, combinations = score.tables.group_cells(columns)
            if component:
                return RowPosteriors(numbers, score.hidden_posteriors(component)[1][variable])
            return RowPosteriors(numbers, score.tables.cell_matrices(shared=True)[variable][combinations[:, 0]])

        return self._posteriors.get_or_compute((variable, component), compute)


def _restrict(families: Families, inside: set[int]) -> Families:
    """The families with only those parents that are inside."""
    return tuple(tuple(p for p in parents if p in inside) for parents in families)


def _with(parents: tuple[int, ...], new: int) -> tuple[int, ...]:
    return tuple(sorted((*parents, new)))


def _without(parents: tuple[int, ...], old: int) -> tuple[int, ...]:
    return tuple(p for p in parents if p != old)
