"""The limit of counting, estimated from drawn rows, with a standard error for every degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Unpack

import numpy as np

from possnet.counting import count
from possnet.doors import check_arguments
from possnet.errors import require_whole
from possnet.network import Network
from possnet.parameters import normalise_rows
from possnet.sampling.sample_rows import sample_batches
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from possnet.aliases import Floats, Progress
    from possnet.sampling.sampling_spec import SamplingOptions


_BATCHES: Final = 50  # from whose spread the standard errors are estimated


@dataclass(frozen=True, slots=True)
class SimulatedLimit:
    """An estimate of `sampling_limit`.

    Attributes
    ----------
    network
        The degrees N_ijk / max_k N_ijk of the drawn rows; its support is N_ij.
    standard_errors
        Name -> standard error of every degree, from batches of the rows; NaN in contexts without rows.
    rows
        Rows that were drawn.

    Examples
    --------
    >>> import possnet as pn
    >>> pn.simulated_limit(pn.load_example("asia"), 1000, rng=1).rows
    1000
    """

    network: Network
    standard_errors: dict[str, Floats]
    rows: int

    @property
    def largest_error(self) -> float:
        """The largest standard error in any context with at least 30 rows."""
        return _find_largest(self.standard_errors, self.network.support or {})


@check_arguments
def simulated_limit(
    network: Network,
    rows: int,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
    **options: Unpack[SamplingOptions],
) -> SimulatedLimit:
    """Estimate of the network that counting converges to, where there are too many sets for `sampling_limit`.

    The rows are counted in fifty batches; with X and Y the counts of a state and of the context's most frequent state, the
    degree is R = sum X / sum Y and its standard error sqrt(B/(B-1) sum (X_b - R Y_b)^2) / sum Y (a ratio estimate).

    Equation
    --------
    R = ∑_b X_b / ∑_b Y_b
    se(R) = √(B/(B - 1) ∑_b (X_b - R Y_b)^2) / ∑_b Y_b

    >>> import possnet as pn
    >>> limit = simulated_limit(pn.load_example("asia"), 10_000, rng=1)
    >>> limit.largest_error < 0.1, limit.network.support["smoke"]
    (True, array(10000.))
    """
    require_whole(rows, 2 * _BATCHES, "simulated_limit: rows")
    stream = sample_batches(network, rows, rng=seed_of(rng), batch=-(-rows // _BATCHES), **options)
    counts = count(network.dag, stream, progress=progress)
    tables, tops, most, support = {}, {}, {}, {}
    for variable in network.variables:
        total = counts[variable.name].astype(np.float64)
        tops[variable.name] = total.argmax(axis=-1)[..., np.newaxis]
        most[variable.name] = np.take_along_axis(total, tops[variable.name], axis=-1)
        tables[variable.name] = normalise_rows(total)
        support[variable.name] = np.asarray(counts.totals(variable.name).astype(np.float64))
    spread = {name: np.zeros_like(table) for name, table in tables.items()}
    batches = 0
    for batch in stream:  # drawn again: nothing but the sums of squares is kept
        part = count(network.dag, batch)
        batches += 1
        for name, table in tables.items():
            counted = part[name].astype(np.float64)
            spread[name] += (counted - table * np.take_along_axis(counted, tops[name], axis=-1)) ** 2
    errors = {}
    for name, squares in spread.items():
        deviation = np.sqrt(squares * batches / (batches - 1))
        errors[name] = np.divide(deviation, most[name], out=np.full_like(squares, np.nan), where=most[name] > 0)
    largest = _find_largest(errors, support)
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


def _find_largest(errors: dict[str, Floats], support: dict[str, Floats]) -> float:
    seen = [errors[name][support[name] >= 30].reshape(-1) for name in errors]
    return float(np.max(np.concatenate(seen), initial=0.0))
