"""What counting converges to, estimated from drawn rows, with a standard error for every degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from possnet.counting import count
from possnet.errors import InputError
from possnet.network import Network
from possnet.sampling.draw import sample_batches

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from possnet.inference.evidence import Evidence
    from possnet.sampling.recipe import Imprecision, Law, Parents, Process

    Table: TypeAlias = NDArray[np.float64]

__all__ = ["SimulatedLimit", "simulated_limit"]

_BATCHES: Final = 50


@dataclass(frozen=True, slots=True)
class SimulatedLimit:
    """An estimate of `sampling_limit`.

    Attributes
    ----------
    network
        The degrees N_ijk / max_k N_ijk of the drawn rows; its support is N_ij.
    standard_errors
        Name -> standard error of every degree, from batches of the rows; NaN in contexts that no row showed.
    rows
        Rows that were drawn.

    >>> import possnet as pn
    >>> pn.simulated_limit(pn.load_example("asia"), 1000, rng=1).rows
    1000
    """

    network: Network
    standard_errors: dict[str, Table]
    rows: int

    @property
    def largest_error(self) -> float:
        """The largest standard error in any context with at least 30 rows."""
        return _largest(self.standard_errors, self.network.support or {})


def simulated_limit(
    network: Network,
    rows: int,
    *,
    imprecision: Imprecision = 1.0,
    process: Process = "alpha-cut",
    law: Law = "independent",
    parents: Parents = "observed",
    evidence: Evidence | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SimulatedLimit:
    """Estimate of the network that counting converges to, where there are too many sets for `sampling_limit`.

    The rows are counted in fifty batches; with X and Y the counts of a state and of the context's most frequent state, the
    degree is R = sum X / sum Y and its standard error sqrt(B/(B-1) sum (X_b - R Y_b)^2) / sum Y (a ratio estimate).

    >>> import possnet as pn
    >>> found = simulated_limit(pn.load_example("asia"), 10_000, rng=1)
    >>> found.largest_error < 0.1, found.network.support["smoke"]
    (True, array(10000.))
    """
    if rows < 2 * _BATCHES:
        raise InputError(f"simulated_limit: {rows} rows; expected at least {2 * _BATCHES}")
    stream = sample_batches(
        network, rows, imprecision=imprecision, process=process, law=law, parents=parents, evidence=evidence, rng=rng,
        batch=-(-rows // _BATCHES),
    )  # fmt: skip
    parts = []
    done = 0
    for batch in stream:
        parts.append(count(network.dag, batch))
        done += len(batch)
        if progress is not None:
            progress(done, rows)
    tables, errors, support = {}, {}, {}
    for variable in network.variables:
        counted = np.stack([part[variable.name] for part in parts]).astype(np.float64)
        total = counted.sum(axis=0)
        top = total.argmax(axis=-1)[..., np.newaxis]
        most = np.take_along_axis(total, top, axis=-1)
        seen = most > 0
        ratio = np.divide(total, most, out=np.ones_like(total), where=seen)
        reference = np.take_along_axis(counted, np.broadcast_to(top, (len(parts), *top.shape)), axis=-1)
        spread = ((counted - ratio * reference) ** 2).sum(axis=0) * len(parts) / (len(parts) - 1)
        tables[variable.name] = ratio
        errors[variable.name] = np.divide(np.sqrt(spread), most, out=np.full_like(total, np.nan), where=seen)
        rows_seen = np.sum([part.totals(variable.name) for part in parts], axis=0, dtype=np.float64)
        support[variable.name] = np.asarray(rows_seen)
    largest = _largest(errors, support)
    text = f"What counting converges to, from {rows:,} drawn rows; standard errors up to {largest:.2g}."
    learned = Network.unchecked(
        network.variables,
        network.dag,
        tables,
        conjunction=network.conjunction,
        support=support,
        name=network.name,
        description=text,
    )
    return SimulatedLimit(learned, errors, rows)


def _largest(errors: dict[str, Table], support: dict[str, Table]) -> float:
    seen = [errors[name][support[name] >= 30].reshape(-1) for name in errors]
    return float(np.max(np.concatenate(seen), initial=0.0))
