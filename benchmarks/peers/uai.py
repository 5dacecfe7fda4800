"""Factor models in the UAI text format, as possnet writes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Table = NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """Variables 0, 1, ... with their numbers of states, and one table per scope, its axes in the order of the scope."""

    sizes: tuple[int, ...]
    scopes: tuple[tuple[int, ...], ...]
    tables: tuple[Table, ...]

    def value(self, states: tuple[int, ...]) -> float:
        """Product of all factors at one configuration."""
        factors = zip(self.scopes, self.tables, strict=True)
        return math.prod(float(table[tuple(states[v] for v in scope)]) for scope, table in factors)

    def restrict(self, evidence: Mapping[int, int]) -> Model:
        """The same variables, the observed ones fixed and gone from every scope."""
        scopes = tuple(tuple(v for v in scope if v not in evidence) for scope in self.scopes)
        tables = tuple(
            np.asarray(table[tuple(evidence.get(v, slice(None)) for v in scope)], dtype=np.float64, order="C")
            for scope, table in zip(self.scopes, self.tables, strict=True)
        )
        return Model(self.sizes, scopes, tables)


def read(path: str | Path) -> Model:
    """The model in a file: a word, sizes, scopes, then tables, every list after its length."""
    _, *words = Path(path).read_text(encoding="ascii").split()
    at = 0

    def numbers() -> Table:
        nonlocal at
        begin, at = at + 1, at + 1 + int(words[at])
        return np.array(words[begin:at], dtype=np.float64)

    sizes = tuple(map(int, numbers()))
    count, at = int(words[at]), at + 1
    scopes = tuple(tuple(map(int, numbers())) for _ in range(count))
    tables = tuple(numbers().reshape([sizes[v] for v in scope]) for scope in scopes)
    return Model(sizes, scopes, tables)


def parse_evidence(given: str) -> dict[int, int]:
    """States by variable from ``"3=1,5=0"``."""
    pairs = (item.split("=") for item in given.split(",") if item)
    return {int(variable): int(state) for variable, state in pairs}
