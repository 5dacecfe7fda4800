"""Conflict: findings that contradict each other, and the least change that makes the evidence possible again.

A set of findings is *in conflict* if its possibility is at most a threshold (0: it is impossible). The possibility of
evidence only falls as findings are added, so that minimal conflicts are well defined; QuickXplain (Junker 2004) finds one
with few questions, by halving. The sets of findings whose removal resolves all conflicts are the hitting sets of the
minimal conflicts (Reiter 1987); searched by size, the first one is the smallest.

Widening: instead of dropping a finding, admit one more state. With D a smallest set to drop and ω the best configuration
that agrees with the rest, admitting ω's state in each finding of D gives a possibility of at least π(ω) = Π(e without D),
and more is impossible because widened evidence says at least as much as dropped. So it takes exactly one state for each
finding of a smallest D, and no widening does with fewer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from possnet.doors import check_arguments
from possnet.errors import ImpossibleEvidence, InputError, require_number, require_whole
from possnet.inference import Inference, describe_evidence, read_evidence
from possnet.network import Network

if TYPE_CHECKING:
    from possnet.inference import Evidence


@dataclass(frozen=True, slots=True)
class Repair:
    """The least change: findings to drop, or states to admit in them; either way the rest has this possibility.

    >>> import possnet as pn
    >>> repair = pn.conflicts(pn.load_example("asia"), {"either": "no", "lung": "yes"}).repairs[0]
    >>> repair.drop, repair.widen, repair.possibility
    (('lung',), {'lung': 'no'}, 1.0)
    """

    drop: tuple[str, ...]
    widen: dict[str, str]
    possibility: float


@dataclass(frozen=True, slots=True)
class Conflicts(Sequence[tuple[str, ...]]):
    """Findings that contradict each other: a sequence of minimal conflicts, smallest first, empty if there are none.

    Attributes
    ----------
    possibility
        Π(e) of all findings.
    sets
        The minimal conflicts: each is in conflict, and without any one of its findings it is not.
    repairs
        The smallest sets of findings to drop, or to widen by one state each, the most possible rest first.
    complete
        Whether all minimal conflicts and all smallest repairs are there, within the budget and the number asked for.

    Examples
    --------
    >>> import possnet as pn
    >>> pn.conflicts(pn.load_example("asia"), {"either": "no", "lung": "yes", "smoke": "no"}).sets
    (('either', 'lung'),)
    """

    possibility: float
    threshold: float
    findings: dict[str, str]
    sets: tuple[tuple[str, ...], ...]
    repairs: tuple[Repair, ...]
    complete: bool

    def __len__(self) -> int:
        return len(self.sets)

    @overload
    def __getitem__(self, rank: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, rank: slice) -> tuple[tuple[str, ...], ...]: ...
    def __getitem__(self, rank: int | slice) -> tuple[str, ...] | tuple[tuple[str, ...], ...]:
        return self.sets[rank]

    def to_dict(self) -> dict[str, Any]:
        """The conflicts, for machines.

        >>> import possnet as pn
        >>> pn.conflicts(pn.load_example("asia"), {"either": "no", "lung": "yes"}).to_dict()["sets"]
        [['either', 'lung']]
        """
        return {
            "possibility": self.possibility,
            "threshold": self.threshold,
            "findings": dict(self.findings),
            "sets": [list(names) for names in self.sets],
            "repairs": [
                {"drop": list(r.drop), "widen": dict(r.widen), "possibility": r.possibility} for r in self.repairs
            ],
            "complete": self.complete,
        }

    def __str__(self) -> str:
        level = "impossible" if self.possibility == 0.0 else f"possible to {self.possibility:.6g} only"
        if not self.sets:
            return f"no conflict: the evidence is possible to {self.possibility:.6g}"
        lines = [f"the evidence is {level}; findings that contradict each other:"]
        lines += [f"  {', '.join(self.findings[name] for name in names)}" for names in self.sets]
        if self.repairs:
            lines.append("the least change that makes it possible:")
        for repair in self.repairs:
            widened = " and ".join(f"{name}={state}" for name, state in repair.widen.items())
            dropped = ", ".join(self.findings[name] for name in repair.drop)
            lines.append(f"  drop {dropped}, or admit {widened} too: possible to {repair.possibility:.6g}")
        if not self.complete:
            lines.append("there may be more: the search ended at its budget")
        return "\n".join(lines)


class _EvidenceTests:
    """Whether sets of findings are in conflict, each asked once, within a budget."""

    def __init__(self, network: Network, evidence: Evidence, threshold: float, budget: int) -> None:
        self.engine, self.evidence, self.threshold, self.left = Inference(network), evidence, threshold, budget
        self.names = tuple(evidence)
        self._known: dict[frozenset[str], float] = {}

    def possibility(self, names: frozenset[str]) -> float:
        """Π of some findings; a positive one that underflows is the smallest float."""
        if names not in self._known:
            self.left -= 1
            chosen = {name: self.evidence[name] for name in self.names if name in names}
            value = self.engine.possibility_of(chosen)
            if value == 0.0 and chosen:
                try:
                    self.engine.query(next(iter(chosen)), chosen)
                    value = float(np.finfo(np.float64).tiny)
                except ImpossibleEvidence:
                    pass
            self._known[names] = value
        return self._known[names]

    def conflict(self, names: frozenset[str]) -> bool:
        """Whether Π of some findings is at most the threshold."""
        return self.possibility(names) <= self.threshold


@check_arguments
def conflicts(
    network: Network, evidence: Evidence, *, threshold: float = 0.0, most: int = 10, budget: int = 5_000
) -> Conflicts:
    """Minimal sets of findings that contradict each other, and the least change that makes the evidence possible.

    Equation
    --------
    Π(C) ≤ t, and Π(B) > t for all B ⊆ C, B ≠ C

    Parameters
    ----------
    threshold
        Evidence whose possibility is at most this is in conflict: 0 for impossible evidence, more for nearly impossible
        one.
    most
        How many minimal conflicts, and how many of the smallest repairs, are looked for at most.
    budget
        How many questions to the network, and sets of dropped findings, are tried at most; a conflict whose search has
        begun is finished.

    Examples
    --------
    >>> import possnet as pn
    >>> record = {"contact": "no", "rash": "widespread", "season": "winter"}
    >>> print(conflicts(pn.load_example("clinic"), record, threshold=0.1))
    the evidence is possible to 0.03 only; findings that contradict each other:
      rash=widespread
    the least change that makes it possible:
      drop rash=widespread, or admit rash=none too: possible to 1
    """
    given: object = network
    if not isinstance(given, Network):
        raise InputError(f"conflicts: {network!r} is not a network; expected one")
    read_evidence(evidence, network.variables)
    level = require_number(threshold, "conflicts: threshold", "a number from 0 to below 1", 0.0, 1.0)
    wanted, questions = require_whole(most, 1, "conflicts: most"), require_whole(budget, 1, "conflicts: budget")
    tests = _EvidenceTests(network, evidence, level, questions)
    if tests.conflict(frozenset()):
        raise InputError(
            f"conflicts: threshold {threshold!r}, and the network itself is possible to "
            f"{tests.possibility(frozenset()):.6g} without any evidence; expected less than that"
        )
    every = frozenset(tests.names)
    findings = {name: describe_evidence({name: evidence[name]}) for name in tests.names}
    if not tests.conflict(every):
        return Conflicts(tests.possibility(every), level, findings, (), (), complete=True)
    sets, drops, complete = _search_hitting_sets(tests, wanted)
    repairs = sorted((_make_repair(tests, drop) for drop in drops), key=lambda repair: -repair.possibility)
    ordered = sorted(sets, key=lambda names: (len(names), [tests.names.index(n) for n in names]))
    complete = complete and max(len(ordered), len(repairs)) <= wanted
    return Conflicts(
        tests.possibility(every), level, findings, tuple(ordered[:wanted]), tuple(repairs[:wanted]), complete
    )


def _quick_xplain(tests: _EvidenceTests, names: Sequence[str]) -> tuple[str, ...]:
    """A minimal conflict among findings that are in conflict (Junker 2004)."""

    def search(background: frozenset[str], grown: bool, rest: list[str]) -> list[str]:  # noqa: FBT001
        if grown and tests.conflict(background):
            return []
        if len(rest) == 1:
            return rest
        half = len(rest) // 2
        first, second = rest[:half], rest[half:]
        late = search(background | set(first), bool(first), second)
        early = search(background | set(late), bool(late), first)
        return early + late

    return tuple(search(frozenset(), False, list(names)))  # noqa: FBT003


def _search_hitting_sets(
    tests: _EvidenceTests, wanted: int
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]], bool]:
    """Minimal conflicts, and the smallest sets of findings that meet all conflicts, by breadth-first search.

    A node of Reiter's tree is a set of dropped findings. If what is left is in conflict, a minimal conflict of it is
    searched (or known), and each of its findings is dropped in turn. The first nodes without conflict are the smallest
    repairs.
    """
    every = tests.names
    minimal: list[tuple[str, ...]] = []
    repairs: list[tuple[str, ...]] = []
    waiting: deque[frozenset[str]] = deque([frozenset()])
    seen = {frozenset[str]()}
    while waiting:
        dropped = waiting.popleft()
        if repairs and len(dropped) > len(repairs[0]):
            if len(minimal) >= wanted:
                return minimal, repairs, False
            if any(set(repair) <= dropped for repair in repairs):
                continue
        tests.left -= 1  # nodes whose conflict is known cost no question, but time
        if tests.left <= 0:
            return minimal, repairs, False
        rest = [name for name in every if name not in dropped]
        conflict = next((names for names in minimal if not dropped & set(names)), None)
        if conflict is None:
            if not tests.conflict(frozenset(rest)):
                if not repairs or len(dropped) == len(repairs[0]):
                    repairs.append(tuple(name for name in every if name in dropped))
                continue
            conflict = _quick_xplain(tests, rest)
            minimal.append(conflict)
        if len(repairs) >= wanted and len(minimal) >= wanted:
            return minimal, repairs, False
        for name in conflict:
            larger = dropped | {name}
            if larger not in seen:
                seen.add(larger)
                waiting.append(larger)
    return minimal, repairs, True


def _make_repair(tests: _EvidenceTests, drop: tuple[str, ...]) -> Repair:
    """A set of findings to drop, and the state to admit in each of them."""
    rest = {name: tests.evidence[name] for name in tests.names if name not in drop}
    best = tests.engine.most_possible_k(1, rest)[0]
    return Repair(drop, {name: best.configuration[name] for name in drop}, best.possibility)
