"""A spec, compiled: draws any block of rows.

In a block the variables are drawn parents first, each from a random stream of its own: from a compiled law if its family
is small (`possnet.sampling.categorical`), else directly, state by state (`possnet.sampling.cut_thinning`). Which of the two
depends on the network and the options alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import numpy as np

from possnet.kernels import bitmaps
from possnet.sampling.categorical import Categorical
from possnet.sampling.cell_laws import Outcomes, context_degrees, outcomes_given, price
from possnet.sampling.cut_thinning import CHUNK, AlphaCutDrawer, TracedDrawer
from possnet.sampling.random_bits import BLOCK, RandomBits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from possnet.aliases import Bools, Floats, Words
    from possnet.sampling.sampling_spec import SamplingSpec

    Codes: TypeAlias = NDArray[np.int32]

_CONTEXTS: Final = 1 << 14
_ENTRIES: Final = 1 << 19
_A_CONTEXT: Final = {
    "alpha-cut": 1 << 8,
    "traced": 1 << 12,
}  # beyond, look-ups miss the cache and thresholds are faster


@dataclass(frozen=True, slots=True)
class _Signal:
    """What the children of a variable answer to: for every row the number of a set, or else the sets (states, rows)."""

    codes: Codes | None
    sets: Bools

    def spread(self) -> Bools:
        """The sets of the rows, shape (states, rows)."""
        if self.codes is None:
            return self.sets
        return np.stack([np.take(inside, self.codes, mode="clip") for inside in self.sets.T])


class _VariableSampler(Protocol):
    """How one variable is drawn from its parents' signals; returns its own signal, and its cells as bitmaps."""

    def draw(self, above: list[_Signal], stream: RandomBits, drawn: int, rows: int) -> tuple[_Signal, Words]: ...


class _LookupSampler:
    """By look-up."""

    def __init__(self, outcomes: Outcomes, sizes: list[int]) -> None:
        self.outcomes = outcomes
        self._categorical = Categorical(outcomes)
        self._weights = _radix(sizes)
        self._signals = outcomes.signals.astype(np.int32)
        self._same = np.array_equal(outcomes.signals, np.arange(len(outcomes.alphabet)))

    def draw(self, above: list[_Signal], stream: RandomBits, drawn: int, rows: int) -> tuple[_Signal, Words]:
        found = self._categorical.draw(_context(above, self._weights), stream, drawn, BLOCK)
        codes = found if self._same else np.take(self._signals, found, mode="clip")
        return _Signal(codes, self.outcomes.alphabet), bitmaps.encode_cells(found[:rows], self.outcomes.cells)


class _CutSampler:
    """State by state, from the parents' sets."""

    def __init__(self, family: AlphaCutDrawer, *, children_see_cut: bool) -> None:
        self._family, self._children_see_cut = family, children_see_cut

    def draw(self, above: list[_Signal], stream: RandomBits, drawn: int, rows: int) -> tuple[_Signal, Words]:
        parents = [signal.spread() for signal in above]
        parts = [
            self._family.draw(
                [sets[:, start : start + CHUNK] for sets in parents], stream, CHUNK, cut_wanted=self._children_see_cut
            )
            for start in range(0, drawn, CHUNK)
        ]
        shown, cells = (np.concatenate(side, axis=1) for side in zip(*parts, strict=True))
        return _Signal(None, shown), bitmaps.pack(cells[:, :rows])


class _TracedSampler:
    """State by state, from the parents' states."""

    def __init__(self, family: TracedDrawer, sizes: list[int], states: int) -> None:
        self._family, self._weights, self._states = family, _radix(sizes), states

    def draw(self, above: list[_Signal], stream: RandomBits, drawn: int, rows: int) -> tuple[_Signal, Words]:
        contexts = np.broadcast_to(_context(above, self._weights), drawn)
        parts = [self._family.draw(contexts[start : start + CHUNK], stream, CHUNK) for start in range(0, drawn, CHUNK)]
        trace = np.concatenate([part[0] for part in parts])
        cells = np.concatenate([part[1] for part in parts], axis=1)
        return _Signal(trace, np.eye(self._states, dtype=np.bool_)), bitmaps.pack(cells[:, :rows])


class BlockSampler:
    """A spec and a seed; block b holds the rows from 65,536 b on.

    Parameters
    ----------
    entries
        Families whose laws have more entries than this are drawn state by state.
    """

    def __init__(self, spec: SamplingSpec, seed: int, *, entries: int = _ENTRIES) -> None:
        self.spec, self.seed = spec, seed
        self._streams = {name: k for k, name in enumerate(sorted(v.name for v in spec.network.variables))}
        self._families: dict[str, _VariableSampler] = {}
        for name in spec.order:
            self._families[name] = (
                self._cut_family(name, entries) if spec.process == "alpha-cut" else self._state_family(name, entries)
            )
        self._last_seen = _last_seen(spec)
        self._chunked = any(not isinstance(family, _LookupSampler) for family in self._families.values())

    def _cut_family(self, name: str, entries: int) -> _VariableSampler:
        """A family whose parents show sets."""
        spec, table, theta = self.spec, self.spec.tables[name], self.spec.imprecision[name]
        parents = spec.network.dag.parents(name)
        alphabets = [above.outcomes.alphabet for p in parents if isinstance(above := self._families[p], _LookupSampler)]
        sizes = [len(alphabet) for alphabet in alphabets]
        contexts = int(np.prod(sizes, dtype=np.float64))
        if len(sizes) == len(parents) and contexts <= min(_CONTEXTS, 32 * entries / table.shape[-1]):
            degrees = context_degrees(table, alphabets)
            if not self._is_large(degrees, theta, entries):
                return _LookupSampler(outcomes_given(degrees, theta, spec.process, spec.law, spec.parents), sizes)
        cores = [spec.tables[p].reshape(-1, spec.tables[p].shape[-1]).max(axis=0) == 1.0 for p in parents]
        return _CutSampler(AlphaCutDrawer(table, theta, spec.law, cores=cores), children_see_cut=spec.parents == "cut")

    def _state_family(self, name: str, entries: int) -> _VariableSampler:
        """A family whose parents show states."""
        spec, table, theta = self.spec, self.spec.tables[name], self.spec.imprecision[name]
        degrees = table.reshape(-1, table.shape[-1])
        sizes = list(table.shape[:-1])
        if spec.process == "traced" and self._is_large(degrees, theta, entries):
            return _TracedSampler(TracedDrawer(degrees, theta, spec.law), sizes, table.shape[-1])
        return _LookupSampler(outcomes_given(degrees, theta, spec.process, spec.law, spec.parents), sizes)

    def _is_large(self, degrees: Floats, theta: float, entries: int) -> bool:
        cost = price(degrees, theta, self.spec.process, self.spec.parents)
        return cost > min(entries, _A_CONTEXT[self.spec.process] * len(degrees))

    def block(self, number: int, rows: int, *, traced: bool = False) -> tuple[dict[str, Words], dict[str, Words]]:
        """The first rows of a block: bitmaps of every variable's cells and, if asked for, of its hidden state."""
        drawn = -(-rows // CHUNK) * CHUNK if self._chunked else rows
        signals: dict[str, _Signal] = {}
        cells: dict[str, Words] = {}
        trace: dict[str, Words] = {}
        for name, family in self._families.items():
            stream = RandomBits(self.seed, self._streams[name], number)
            above = [signals[parent] for parent in self.spec.network.dag.parents(name)]
            signals[name], cells[name] = family.draw(above, stream, drawn, rows)
            codes = signals[name].codes
            if traced and codes is not None:
                trace[name] = bitmaps.encode_cells(codes[:rows], signals[name].sets)
            for gone in self._last_seen.get(name, ()):
                del signals[gone]
        return cells, trace


def _last_seen(spec: SamplingSpec) -> dict[str, list[str]]:
    """Name -> variables whose signals nobody needs once this one is drawn."""
    last = {}
    for name in spec.order:
        last[name] = name
        for parent in spec.network.dag.parents(name):
            last[parent] = name
    found: dict[str, list[str]] = {}
    for name, reader in last.items():
        found.setdefault(reader, []).append(name)
    return found


def _radix(sizes: list[int]) -> list[int]:
    """Weights of a mixed-radix number whose last digit runs fastest."""
    weights = [1] * len(sizes)
    for k in range(len(sizes) - 2, -1, -1):
        weights[k] = weights[k + 1] * sizes[k + 1]
    return weights


def _context(above: list[_Signal], weights: list[int]) -> Codes | int:
    """Number of the context of every row."""
    contexts: Codes | int = 0
    for signal, weight in zip(above, weights, strict=True):
        if signal.codes is not None:
            contexts = signal.codes * np.int32(weight) + contexts if weight != 1 else signal.codes + contexts
    return contexts
