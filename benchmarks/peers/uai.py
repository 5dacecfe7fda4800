"""Factor models in the UAI text format, as the peers read them: any white space."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Table = NDArray[np.float64]

KINDS = ("MARKOV", "BAYES")


@dataclass(frozen=True)
class Model:
    """Variables 0, 1, ... with their numbers of states, and one table per scope, its axes in the order of the scope."""

    kind: str
    sizes: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    tables: tuple[Table, ...]

    def log(self, states: tuple[int, ...]) -> float:
        """Natural logarithm of the product of all factors at one configuration."""
        entries = self.entries(states)
        return math.fsum(map(math.log, entries)) if all(entries) else -math.inf

    def entries(self, states: tuple[int, ...]) -> list[float]:
        """The entry of every factor at one configuration."""
        return [
            float(table[tuple(states[v] for v in scope)]) for scope, table in zip(self.scopes, self.tables, strict=True)
        ]

    def restrict(self, evidence: Mapping[int, int]) -> Model:
        """The same variables, the observed ones fixed and gone from every scope."""
        scopes = tuple(tuple(v for v in scope if v not in evidence) for scope in self.scopes)
        tables = tuple(
            np.asarray(table[tuple(evidence.get(v, slice(None)) for v in scope)], dtype=np.float64, order="C")
            for scope, table in zip(self.scopes, self.tables, strict=True)
        )
        return Model("MARKOV", self.sizes, scopes, tables)


class _Numbers:
    """A cursor over the numbers of a file."""

    def __init__(self, values: Table) -> None:
        self.values = values
        self.at = 0

    def take(self, count: int) -> Table:
        """The next ``count`` numbers."""
        end = self.at + count
        if count < 0 or end > len(self.values):
            raise ValueError(f"the file ends after {len(self.values)} numbers, {end} were announced")
        found = self.values[self.at : end]
        self.at = end
        return found

    def counts(self, count: int) -> tuple[int, ...]:
        """The next ``count`` numbers, which must be whole and not negative."""
        found = self.take(count)
        if not (found >= 0).all() or not (found == np.floor(found)).all() or not np.isfinite(found).all():
            raise ValueError(f"whole numbers expected, not {found.tolist()}")
        return tuple(map(int, found.tolist()))


def parse(text: str) -> Model:
    """The model in a text."""
    first, rest = (*text.split(None, 1), "", "")[:2]
    kind = first.upper()
    if kind not in KINDS:
        raise ValueError(f"a UAI file starts with {' or '.join(KINDS)}, not with {kind[:20]!r}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = np.fromstring(rest.strip(), dtype=np.float64, sep=" ")
    return _model(kind, _Numbers(values))


def _model(kind: str, numbers: _Numbers) -> Model:
    """The model whose numbers follow."""
    sizes = numbers.counts(numbers.counts(1)[0])
    scopes = tuple(numbers.counts(numbers.counts(1)[0]) for _ in range(numbers.counts(1)[0]))
    if any(v >= len(sizes) for scope in scopes for v in scope):
        raise ValueError(f"a scope names a variable beyond the last one, {len(sizes) - 1}")
    tables = []
    for place, scope in enumerate(scopes):
        if len(set(scope)) < len(scope):
            raise ValueError(f"factor {place} names a variable twice")
        shape = tuple(sizes[v] for v in scope)
        (count,) = numbers.counts(1)
        if count != math.prod(shape):
            raise ValueError(f"factor {place} announces {count} entries, its scope has {math.prod(shape)}")
        tables.append(numbers.take(count).reshape(shape))
    if numbers.at < len(numbers.values):
        raise ValueError(f"{len(numbers.values) - numbers.at} numbers follow the last factor")
    return Model(kind, sizes, scopes, tuple(tables))


def read(path: str | Path) -> Model:
    """The model in a file."""
    return parse(Path(path).read_text(encoding="ascii"))


def parse_evidence(given: str | None, sizes: tuple[int, ...]) -> dict[int, int]:
    """States by variable from ``"3=1,5=0"``."""
    evidence: dict[int, int] = {}
    for item in filter(None, (part.strip() for part in (given or "").split(","))):
        variable, _, state = item.partition("=")
        v, k = int(variable), int(state)
        if not 0 <= v < len(sizes) or not 0 <= k < sizes[v]:
            raise ValueError(f"evidence {item!r}: no such variable or state")
        evidence[v] = k
    return evidence
