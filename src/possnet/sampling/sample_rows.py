"""Drawing rows from a network: `sample`, `sample_batches`, and single distributions.

Rows are drawn in logical blocks of 65,536, each with random streams of its own, so the rows depend on the seed and on
nothing else: not on how many are drawn at a time, nor by how many workers. The first rows of a longer sample are the
rows of a shorter one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack, overload

import numpy as np

from possnet.dataset import Dataset
from possnet.doors import check_arguments
from possnet.errors import InputError, require_whole
from possnet.graph import Dag
from possnet.kernels import bitmaps
from possnet.limits import refuse_over
from possnet.network import Network
from possnet.possibility import Possibility
from possnet.sampling.block_sampler import CompiledSampler, OwnSampler, make_sampler
from possnet.sampling.random_bits import BLOCK
from possnet.sampling.sampling_spec import Imprecision, SamplingOptions, SamplingSpec
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from possnet.aliases import Progress
    from possnet.inference import Evidence
    from possnet.sampling.processes import Law, Parents, Process
    from possnet.variables import Variable


@check_arguments
def guyonnet(possibility: Possibility, draws: int, *, rng: np.random.Generator | int | None = None) -> Dataset:
    """Whole alpha-cuts of a normalised distribution, at levels uniform on (0, 1]: a set in every row.

    P(x in the cut) = π(x) (Guyonnet et al. 2003; section 3.1 of [HLB]).

    Equation
    --------
    P(x ∈ cut) = π(x)

    >>> import possnet as pn
    >>> fever = pn.Variable("fever", ("none", "mild", "high"))
    >>> data = guyonnet(pn.Possibility(fever, [1.0, 0.6, 0.1]), 10_000, rng=1)
    >>> round(data.imprecise_share(), 1)
    0.6
    """
    return sample(_single_network(possibility), draws, rng=rng)


@check_arguments
def chanas(possibility: Possibility, draws: int, *, rng: np.random.Generator | int | None = None) -> Dataset:
    """One state from each alpha-cut, all states of a cut equally likely: precise rows.

    Their law is the pignistic probability of π, the inverse of ``to_possibility(..., method="symmetric")`` (Chanas and
    Nowakowski 1988; section 3.1 of [HLB]).

    Equation
    --------
    p_r = ∑_{j ≥ r} (π_j - π_{j+1}) / j, π_1 ≥ ... ≥ π_n, π_{n+1} = 0

    >>> import possnet as pn
    >>> fever = pn.Variable("fever", ("none", "mild", "high"))
    >>> chanas(pn.Possibility(fever, [1.0, 0.6, 0.1]), 10_000, rng=1)
    Dataset(10000 rows, 1 variable, 0 % of the cells imprecise)
    """
    return sample(_single_network(possibility), draws, process="precise", rng=rng)


def _single_network(possibility: Possibility) -> Network:
    given: object = possibility
    if not isinstance(given, Possibility):
        raise InputError(f"sampling of {possibility!r}: expected a possnet.Possibility")
    if len(possibility.variables) != 1 or not possibility.is_normalised:
        raise InputError(f"sampling of {possibility!r}: expected a normalised distribution of one variable")
    (variable,) = possibility.variables
    return Network((variable,), Dag({variable.name: ()}), {variable.name: possibility.degrees})


class _RowOptions(SamplingOptions, total=False):
    """The options of `sample`, but for ``trace``, on which the type of its result depends."""

    rng: np.random.Generator | int | None
    start: int
    progress: Progress | None


@overload
def sample(network: Network, rows: int, *, trace: Literal[False] = ..., **options: Unpack[_RowOptions]) -> Dataset: ...
@overload
def sample(
    network: Network, rows: int, *, trace: Literal[True], **options: Unpack[_RowOptions]
) -> tuple[Dataset, Dataset]: ...
@check_arguments
def sample(
    network: Network,
    rows: int,
    *,
    imprecision: Imprecision = 1.0,
    process: str = "alpha-cut",
    law: Law = "independent",
    parents: Parents = "observed",
    evidence: Evidence | None = None,
    rng: np.random.Generator | int | None = None,
    start: int = 0,
    trace: bool = False,
    progress: Progress | None = None,
) -> Dataset | tuple[Dataset, Dataset]:
    """Draw rows of set-valued cells from a network.

    [HLB] is M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and
    evaluation strategy.

    Equation
    --------
    Π(x | A) = max_{a ∈ A} π(x | a) ⊗ π(a) (alpha-cut rows)
    cut = {x : Π(x | A) ≥ α}, α uniform in (0, 1]

    Parameters
    ----------
    imprecision
        Theta: every state of a cut, apart from the most possible ones, is kept with this probability. One number, or one
        for every variable. 1 keeps the whole cut, 0 the most possible states alone. ``precise`` does not use it.
    process
        A name of `possnet.sampling.PROCESSES`.
        ``alpha-cut`` is Algorithm 1 of [HLB]: the cell of a variable is cut from (6), its possibility given that the
        parents lie in their own cells. ``precise``: a single state from the cut of π(. | the parents' states).
        ``traced``: a hidden state of every variable; the cell is cut from π(. | the parents' hidden states), and the
        hidden state is then drawn uniformly from the cell. The network's conjunction matters for ``alpha-cut`` only.
    law
        How a cut is thinned: each state by itself (``independent``), or with the weights in the ``text`` of [HLB].
    parents
        For ``alpha-cut``, what the law of a child depends on: its parents' ``observed`` cells, or their whole ``cut``
        before thinning, as in the listing of [HLB].
    evidence
        For ``alpha-cut``: draw from the network given states or sets of states.
    rng
        A whole number or a numpy Generator. The same number gives the same rows, however many are drawn at a time.
    start
        Number of the first row in the sequence of ``rng``, so that workers can each draw a part of it.
    trace
        For ``traced``: return the hidden states too, as a second data set.
    progress
        Called with the number of rows drawn so far and of all rows.

    Examples
    --------
    >>> import possnet as pn
    >>> data = sample(pn.load_example("clinic"), 1000, imprecision=0.5, rng=7)
    >>> len(data), data.row(0)["contact"] <= {"yes", "no"}
    (1000, True)
    >>> sample(pn.load_example("clinic"), 10, imprecision=0.5, rng=7, start=990) == data[990:]
    True
    """
    stream = sample_batches(
        network, rows, imprecision=imprecision, process=process, law=law, parents=parents, evidence=evidence, rng=rng,
        start=start,
    )  # fmt: skip
    if trace and (stream.process.draw is not None or not stream.process.takes("trace")):
        raise InputError(f"sample: trace=True with process {process!r}; expected process 'traced'")
    needed = sum(len(variable) for variable in network.variables) * (int(rows) // 8) * (2 if trace else 1)
    refuse_over(needed, f"a sample of {rows:,} rows", "draw it in parts with sample_batches(...)")
    return stream._draw_all(trace, progress)


@check_arguments
def sample_batches(
    network: Network,
    rows: int,
    *,
    rng: np.random.Generator | int | None = None,
    start: int = 0,
    batch: int = BLOCK,
    **options: Unpack[SamplingOptions],
) -> SampleStream:
    """The rows of `sample`, a batch at a time: any number of them in constant memory.

    The options are those of `sample`. The stream can be iterated again and again, written to a file with
    `possnet.write_data`, and counted.

    >>> import possnet as pn
    >>> stream = sample_batches(pn.load_example("clinic"), 100_000, imprecision=0.5, rng=7)
    >>> stream
    SampleStream(100000 rows, 8 variables)
    >>> [len(batch) for batch in stream]
    [65536, 34464]
    """
    rows = require_whole(rows, 0, "sample: rows")
    start = require_whole(start, 0, "sample: start")
    batch = require_whole(batch, 1, "sample: batch")
    spec = SamplingSpec.from_options(network, **options)
    return SampleStream(make_sampler(spec, seed_of(rng)), start, rows, batch)


class SampleStream:
    """Batches of drawn rows, as often as it is iterated; see `sample_batches`.

    >>> import possnet as pn
    >>> stream = sample_batches(pn.load_example("asia"), 10, rng=1)
    >>> list(stream)[0] == list(stream)[0]
    True
    """

    __slots__ = ("_batch", "_rows", "_sampler", "_start")

    @check_arguments
    def __init__(self, sampler: CompiledSampler | OwnSampler, start: int, rows: int, batch: int) -> None:
        self._sampler, self._start, self._rows, self._batch = sampler, start, rows, batch

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, the same in every batch."""
        return self._sampler.spec.network.variables

    @property
    def process(self) -> Process:
        """How the rows are drawn."""
        return self._sampler.spec.process

    @property
    def rows(self) -> int:
        """Number of rows of all batches together."""
        return self._rows

    @property
    def weighted(self) -> bool:
        """Whether rows have weights: drawn rows have none."""
        return False

    def __iter__(self) -> Iterator[Dataset]:
        waiting: list[Dataset] = []
        ready = 0
        for block in self._draw_blocks():
            waiting.append(block)
            ready += len(block)
            if ready < self._batch:
                continue
            joined = waiting[0] if len(waiting) == 1 else Dataset.concatenate(waiting)
            whole = ready - ready % self._batch
            for first in range(0, whole, self._batch):
                yield joined if ready == self._batch else joined[first : first + self._batch]
            waiting = [joined[whole:]]
            ready -= whole
        if ready:
            yield waiting[0] if len(waiting) == 1 else Dataset.concatenate(waiting)

    def _draw_blocks(self) -> Iterator[Dataset]:
        """The logical blocks in order, the first and the last cut to the rows of the stream."""
        end = self._start + self._rows
        for number in range(self._start // BLOCK, -(-end // BLOCK)):
            first, last = max(self._start - number * BLOCK, 0), min(end - number * BLOCK, BLOCK)
            block = self._sampler.draw_rows(number, last)
            yield block[first:] if first else block

    def _draw_all(self, trace: bool, progress: Progress | None) -> Dataset | tuple[Dataset, Dataset]:  # noqa: FBT001
        """All rows at once: the blocks of a compiled sampler are copied into place as they are drawn."""
        if isinstance(self._sampler, OwnSampler):
            blocks: list[Dataset] = []
            for drawn_block in self._draw_blocks():
                blocks.append(drawn_block)
                if progress is not None:
                    progress(sum(map(len, blocks)), self._rows)
            return Dataset.concatenate(blocks) if blocks else self._sampler.draw_rows(0, 0)
        shift = self._start % BLOCK
        length = -(-(self._rows + shift) // 64)
        kept = [
            {v.name: np.empty((len(v), length), dtype=bitmaps.WORD) for v in self.variables} for _ in range(1 + trace)
        ]
        end = self._start + self._rows
        for number in range(self._start // BLOCK, -(-end // BLOCK)) if self._rows else ():
            block = self._sampler.draw_block(number, min(end - number * BLOCK, BLOCK), traced=trace)
            first = (number - self._start // BLOCK) * (BLOCK // 64)
            for words, target in zip(block, kept, strict=False):
                for name, part in words.items():
                    target[name][:, first : first + part.shape[1]] = part
            if progress is not None:
                progress(min(end, (number + 1) * BLOCK) - self._start, self._rows)
        drawn = [Dataset.unchecked(self.variables, words, self._rows + shift) for words in kept]
        if shift:  # a slice copies
            drawn = [data[shift:] for data in drawn]
        return (drawn[0], drawn[1]) if trace else drawn[0]

    def __repr__(self) -> str:
        variables = len(self.variables)
        return f"SampleStream({self._rows} rows, {variables} variable{'s' * (variables != 1)})"
