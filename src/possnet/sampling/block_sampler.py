"""Samplers that draw the rows of any block: block b holds the rows from 65,536 b on.

In a block the variables are drawn parents first, each from random bits of its own: by look-up in a compiled law if it has
few outcomes (`possnet.sampling.categorical`), else state by state (`possnet.sampling.threshold_samplers`). Which of the
two depends on the network and the options alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.dataset import Dataset
from possnet.errors import InputError
from possnet.kernels import bitmaps
from possnet.sampling.categorical import Categorical
from possnet.sampling.cell_laws import Outcomes, compute_outcomes, context_degrees, count_entries
from possnet.sampling.context_signals import Signals, VariableSampler, mixed_radix_weights, number_contexts
from possnet.sampling.random_bits import BLOCK, RandomBits
from possnet.sampling.threshold_samplers import CHUNK, AlphaCutSampler, TracedSampler

if TYPE_CHECKING:
    from possnet.aliases import Floats, Words
    from possnet.sampling.sampling_spec import SamplingSpec

_CONTEXTS: Final = 1 << 14  # of a law that is listed, at most
_ENTRIES: Final = 1 << 19  # of a law that is listed, at most
# Entries a context beyond which look-ups miss the cache, and thresholds are faster; by the kind of signal.
_ENTRIES_A_CONTEXT: Final = {"cell": 1 << 8, "cut": 1 << 8, "state": 1 << 12}


def make_sampler(spec: SamplingSpec, seed: int) -> CompiledSampler | OwnSampler:
    """The sampler of a process: its own, or the compiled one."""
    return CompiledSampler(spec, seed) if spec.process.draw is None else OwnSampler(spec, seed)


class OwnSampler:
    """Draws by the function that a process brings."""

    def __init__(self, spec: SamplingSpec, seed: int) -> None:
        self.spec, self._seed = spec, seed

    def draw_rows(self, number: int, rows: int) -> Dataset:
        """The first rows of a block, from a generator of its own."""
        network, process = self.spec.network, self.spec.process
        rng = np.random.default_rng((self._seed, number))
        data: object = process.draw and process.draw(network, rows, self.spec.imprecision, rng)
        if not isinstance(data, Dataset) or len(data) != rows or set(data.variables) != set(network.variables):
            raise InputError(
                f"process {process.name!r} drew {data!r}; expected a data set of {rows} rows over the variables of "
                f"{network!r}"
            )
        return data.select(variable.name for variable in network.variables)


class _LookupSampler:
    """Draws a variable by look-up in its law."""

    def __init__(self, outcomes: Outcomes, sizes: list[int]) -> None:
        self.outcomes = outcomes
        self._categorical = Categorical(outcomes)
        self._weights = mixed_radix_weights(sizes)
        self._signals = outcomes.signals.astype(np.int32)
        self._same = np.array_equal(outcomes.signals, np.arange(len(outcomes.alphabet)))

    def draw_variable(self, parents: list[Signals], bits: RandomBits, drawn: int, rows: int) -> tuple[Signals, Words]:
        contexts = number_contexts(parents, self._weights)
        if self._categorical.has_bytes:
            octets, codes = self._categorical.draw_cells(contexts, bits, drawn, BLOCK)
            cells = bitmaps.spread_octets([octets[:rows]], self.outcomes.cells.shape[1], rows)
            return Signals(codes, self.outcomes.alphabet), cells
        outcomes = self._categorical.draw_outcomes(contexts, bits, drawn, BLOCK)
        codes = outcomes if self._same else np.take(self._signals, outcomes, mode="clip")
        return Signals(codes, self.outcomes.alphabet), bitmaps.encode_cells(outcomes[:rows], self.outcomes.cells)


class CompiledSampler:
    """Draws by the laws of a process.

    Parameters
    ----------
    entries
        Variables whose laws have more entries than this are drawn state by state.
    """

    def __init__(self, spec: SamplingSpec, seed: int, *, entries: int = _ENTRIES) -> None:
        self.spec, self._seed = spec, seed
        self._streams = {name: k for k, name in enumerate(sorted(v.name for v in spec.network.variables))}
        self._samplers: dict[str, VariableSampler] = {}
        build = self._build_state_sampler if spec.process.signal == "state" else self._build_set_sampler
        for name in spec.network.dag.topological_order():
            self._samplers[name] = build(name, entries)
        self._last_readers = _find_last_readers(spec)
        self._chunked = any(not isinstance(sampler, _LookupSampler) for sampler in self._samplers.values())

    def _build_set_sampler(self, name: str, entries: int) -> VariableSampler:
        """Sampler of a variable whose parents' signals are sets."""
        tables, theta, process = self.spec.tables, self.spec.imprecision[name], self.spec.process
        table, parents = tables[name], self.spec.network.dag.parents(name)
        alphabets = [above.outcomes.alphabet for p in parents if isinstance(above := self._samplers[p], _LookupSampler)]
        sizes = [len(alphabet) for alphabet in alphabets]
        contexts = int(np.prod(sizes, dtype=np.float64))
        if len(sizes) == len(parents) and contexts <= min(_CONTEXTS, 32 * entries / table.shape[-1]):
            degrees = context_degrees(table, alphabets)
            if not self._is_large(degrees, theta, entries):
                return _LookupSampler(compute_outcomes(degrees, theta, process), sizes)
        cores = [tables[p].reshape(-1, tables[p].shape[-1]).max(axis=0) == 1.0 for p in parents]
        return AlphaCutSampler(table, theta, process.law, parent_cores=cores, children_see_cut=process.signal == "cut")

    def _build_state_sampler(self, name: str, entries: int) -> VariableSampler:
        """Sampler of a variable whose parents' signals are states."""
        table, theta, process = self.spec.tables[name], self.spec.imprecision[name], self.spec.process
        degrees = table.reshape(-1, table.shape[-1])
        if process.imprecise and self._is_large(degrees, theta, entries):
            return TracedSampler(table, theta, process.law)
        return _LookupSampler(compute_outcomes(degrees, theta, process), list(table.shape[:-1]))

    def _is_large(self, degrees: Floats, theta: float, entries: int) -> bool:
        process = self.spec.process
        return count_entries(degrees, theta, process) > min(entries, _ENTRIES_A_CONTEXT[process.signal] * len(degrees))

    def draw_rows(self, number: int, rows: int) -> Dataset:
        """The first rows of a block."""
        return Dataset.unchecked(self.spec.network.variables, self.draw_block(number, rows)[0], rows)

    def draw_block(self, number: int, rows: int, *, traced: bool = False) -> tuple[dict[str, Words], dict[str, Words]]:
        """The first rows of a block: bitmaps of every variable's cells and, if asked for, of its hidden state."""
        drawn = -(-rows // CHUNK) * CHUNK if self._chunked else rows
        signals: dict[str, Signals] = {}
        cells: dict[str, Words] = {}
        trace: dict[str, Words] = {}
        for name, sampler in self._samplers.items():
            bits = RandomBits(self._seed, self._streams[name], number)
            parents = [signals[parent] for parent in self.spec.network.dag.parents(name)]
            signals[name], cells[name] = sampler.draw_variable(parents, bits, drawn, rows)
            codes = signals[name].codes
            if traced and codes is not None:
                trace[name] = bitmaps.encode_cells(codes[:rows], signals[name].sets)
            for read in self._last_readers.get(name, ()):
                del signals[read]
        return cells, trace


def _find_last_readers(spec: SamplingSpec) -> dict[str, list[str]]:
    """Name -> variables whose signals are no longer needed once this one is drawn."""
    last = {}
    for name in spec.network.dag.topological_order():
        last[name] = name
        for parent in spec.network.dag.parents(name):
            last[parent] = name
    readers: dict[str, list[str]] = {}
    for name, reader in last.items():
        readers.setdefault(reader, []).append(name)
    return readers
