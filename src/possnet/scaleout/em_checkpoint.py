"""Masses of an EM run, kept in a ledger so that a run whose client was killed goes on from them."""

from __future__ import annotations

import hashlib
from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.scaleout.kept_arrays import read_arrays, write_arrays
from possnet.scaleout.ledger import describe_structure, part_key

if TYPE_CHECKING:
    from pathlib import Path

    from possnet.aliases import Floats
    from possnet.em import EmAlgorithm, EmSettings, PosteriorSums
    from possnet.graph import Dag
    from possnet.io import StreamPart

_EVERY: Final = 5.0  # seconds between two writes


class EmCheckpoint:
    """Sums of posteriors of groups of rows; the point with the highest log-likelihood so far is kept in a file."""

    def __init__(
        self, groups: PosteriorSums, folder: Path, parts: list[StreamPart], dag: Dag, settings: EmSettings
    ) -> None:
        about = (describe_structure(dag), settings.unknown, settings.prior)
        digest = hashlib.sha256("".join(part_key(part, "em", *about) for part in parts).encode()).hexdigest()
        self._groups, self._file = groups, folder / f"em-{digest[:32]}.npz"
        self._best, self._written = -np.inf, monotonic()

    def sum_posteriors(self, masses: dict[str, Floats]) -> tuple[float, dict[str, Floats]]:
        """The sums of the groups; the masses are kept if they are the best so far and some seconds have passed."""
        value, sums = self._groups.sum_posteriors(masses)
        if value > self._best:
            self._best = value
            if monotonic() - self._written > _EVERY:
                self.keep_masses(masses)
        return value, sums

    def keep_masses(self, masses: dict[str, Floats]) -> None:
        """Write the masses with a checksum, whole or not at all."""
        write_arrays(self._file, list(masses.values()))
        self._written = monotonic()

    def resume_from(self, algorithm: EmAlgorithm) -> EmAlgorithm:
        """The algorithm, which begins at the masses of an earlier run if there are any that fit and are not damaged."""
        equal = algorithm.equal_masses()
        known = self._read_masses(equal)
        if known is not None:
            algorithm.equal_masses = lambda: known  # type: ignore[method-assign]
        return algorithm

    def _read_masses(self, like: dict[str, Floats]) -> dict[str, Floats] | None:
        tables = read_arrays(self._file)
        if tables is None or [table.shape for table in tables] != [table.shape for table in like.values()]:
            return None
        return dict(zip(like, tables, strict=True))
