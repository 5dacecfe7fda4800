"""The hold-out check itself: for every target the cells that are known are hidden, all rows at a time, and completed.

A network given is checked on all rows, which it should not have been learned from; a recipe is learned on all folds but
one and checked on that one, in turn. Hiding a column is asking for it: `RowQueries.query_many` ignores the target's own
cell, and equal evidence is computed once.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.checking.cell_check import CellCheck, summarise_tally
from possnet.checking.cell_tallies import CheckScales, CheckTally, as_weights, empty_tally, tally_cells
from possnet.checking.check_results import Check
from possnet.checking.fold_rows import number_groups, split_folds
from possnet.checking.hidden_cells import choose_targets, count_states, find_known_cells, require_columns_of
from possnet.checking.recipes import Learn, Recipe, describe_recipe, take_network
from possnet.completion import complete
from possnet.dataset import Dataset, batches_of, require_rows
from possnet.doors import check_arguments, checks_itself
from possnet.errors import InputError, require_number
from possnet.inference import RowQueries, read_tables
from possnet.network import Network
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from possnet.aliases import Floats, Progress
    from possnet.dataset import Batches
    from possnet.inference import Reading
    from possnet.variables import Variable

UNSEEN: Final = "rows that the network was not learned from (as you say)"
_BLOCK_ROWS: Final = 1 << 16
_GRID: Final = np.round(np.linspace(0.05, 1.0, 20), 9)  # of reliability curves


@check_arguments
@checks_itself("data")
def check(
    subject: Network | Recipe | Learn,
    data: Dataset | Batches,
    targets: Sequence[str] | None = None,
    *,
    folds: int = 5,
    groups: str | Sequence[object] | ArrayLike | None = None,
    truth: Mapping[str, str] | None = None,
    levels: Sequence[float] = (0.5, 0.2, 0.1, 0.05),
    claims: Sequence[float] = (0.5, 0.8, 0.9),
    rng: np.random.Generator | int = 0,
    reading: Reading = "auto",
    limit: int | None = None,
    progress: Progress | None = None,
) -> Check:
    """Hide cells that are known, complete them, and report how often that is right and what the degrees keep.

    For every target, in every row where its cell is known, the cell is hidden and Π(x | the other cells) computed. The
    most possible state is compared with the truth, and with what the most frequent state and a random one get right; the
    cuts {x : Π(x) >= level} should hold the truth in 1 - level of the cells or more; states of high necessity should be
    right. See `CellCheck` for every figure.

    Parameters
    ----------
    subject
        A network, which is checked on all rows: they should be rows that it was not learned from. Or a `Recipe`, or a
        function from rows to a network, which is learned inside folds: each fold is checked by the network that is learned
        from the others.
    data
        A data set, or for a network also a stream. Columns that a network lacks are not used.
    targets
        Variables whose cells are hidden, one at a time; by default all that have several states.
    folds, rng
        For a recipe: how many folds, and the seed that draws them. The same seed gives the same folds.
    groups
        For a recipe: a column, or a label for each row; rows of one group are in one fold. The column is not learned from.
    truth
        Target -> the column that holds its truth, where its own cells are ambiguous. The truth column is neither learned
        from nor used as evidence. Cells of several states are then also resolved among their own candidates, as by
        `possnet.complete`, and compared with the truth: ``Check.resolved``.
    levels, claims
        Levels of cuts, and necessities.
    reading
        How tables are read, as for `possnet.complete`.
    limit
        Bytes that inference may take, as for `Inference`.
    progress
        Called with the rows done and the rows in all (0 if unknown).

    Notes
    -----
    The most frequent state is that of the rows learned from, or for a network that is given of the checked rows
    themselves, which favours the baseline. A cell of k states counts 1/k for each.

    Examples
    --------
    >>> import possnet as pn
    >>> survey = pn.load_example("survey")
    >>> data = pn.sample(survey, 400, process="precise", rng=1)
    >>> result = check(pn.Recipe(learner="likelihood", dag=survey.dag), data, folds=4)
    >>> result.folds, result.seen, result.accuracy > result.baseline
    (4, 'rows left out of learning, fold by fold (4 folds)', True)
    """
    started = perf_counter()
    require_rows(data, "check")
    named = groups if isinstance(groups, str) else None
    truths = dict(truth or {})
    aside = frozenset([*truths.values(), *([named] if named else [])])
    chosen = choose_targets(data, subject, targets, truths, aside)
    scales = CheckScales(_merge_levels(levels, "levels"), _merge_levels(claims, "claims"))
    known = _count_known(data, chosen, truths)
    skipped = _find_skipped(known, chosen, named=targets is not None)
    question = Question(tuple(v for v in chosen if v.name not in skipped), truths, aside, scales, limit, reading)
    seed = seed_of(rng)
    clock = _CheckClock(progress, _count_rows(data))
    if isinstance(subject, Network):
        if groups is not None:
            raise InputError("check: groups= are for folds, and a network that is given has none; expected a recipe")
        tallies = _check_network(subject, data, question, clock)
        words, seen, n_folds = f"network {subject.name!r}" if subject.name else "network", UNSEEN, None
    else:
        rows = data if isinstance(data, Dataset) else Dataset.concatenate(data)
        tallies = _check_recipe(subject, rows, split_folds(number_groups(rows, groups), folds, seed), question, clock)
        words, n_folds = describe_recipe(subject), folds
        apart = "" if groups is None else f", rows of one {named or 'group'} together"
        seen = f"rows left out of learning, fold by fold ({folds} folds{apart})"
    results = {kind: _summarise(tally, scales, levels, claims) for kind, tally in tallies.items()}
    (hidden, overall), (resolved, overall_resolved) = results[False], results.get(True, ({}, None))
    assert overall is not None  # noqa: S101 - there is a target with known cells
    return Check(
        hidden, overall, resolved, overall_resolved, words, seen, clock.done, n_folds, named, seed, skipped,
        perf_counter() - started, clock.learning_seconds,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every network: targets, where their truth stands, and columns that are neither."""

    targets: tuple[Variable, ...]
    truth: Mapping[str, str]
    aside: frozenset[str]
    scales: CheckScales
    limit: int | None
    reading: Reading


class _CheckClock:
    """Rows done so far, the time that learning took, and whom to tell."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.done, self.learning_seconds = 0, 0.0
        self._progress, self._total = progress, total

    def advance(self, rows: int, share: float) -> None:
        """Report a share of some more rows as done; all of them at 1."""
        if self._progress is not None:
            self._progress(self.done + int(rows * share), self._total)
        if share == 1.0:
            self.done += rows


_Tallies = dict[bool, dict[str, CheckTally]]
"""Whether cells were resolved (or hidden) -> variable -> tally."""


def _check_network(network: Network, data: Dataset | Batches, question: Question, clock: _CheckClock) -> _Tallies:
    """A network on all rows, a batch at a time; the most frequent states are those of the rows themselves."""
    columns = {variable.name for variable in data.variables}
    frequencies = count_states(batches_of(data), [v.name for v in question.targets if v.name in columns])
    engine = read_tables(network, question.reading, question.limit, "check")
    tallies: _Tallies = defaultdict(dict)
    for batch in batches_of(data):
        _add_batch(tallies, engine, batch, question, frequencies, clock)
    return tallies


def _check_recipe(
    recipe: Recipe | Learn, data: Dataset, folds: Sequence[Any], question: Question, clock: _CheckClock
) -> _Tallies:
    """Every fold by the network that is learned from the others."""
    learn = recipe.learn if isinstance(recipe, Recipe) else recipe
    names = [variable.name for variable in data.variables if variable.name not in question.aside]
    tallies: _Tallies = defaultdict(dict)
    for fold in folds:
        rest = np.ones(len(data), dtype=np.bool_)
        rest[fold] = False
        training = data[np.flatnonzero(rest)].select(names)
        begun = perf_counter()
        network = take_network(learn(training))
        clock.learning_seconds += perf_counter() - begun
        lacking = [v.name for v in question.targets if v.name not in {own.name for own in network.variables}]
        if lacking:
            raise InputError(f"check: the recipe's network lacks the target {lacking[0]!r}; expected all targets in it")
        frequencies = count_states([training], [v.name for v in question.targets])
        engine = read_tables(network, question.reading, question.limit, "check")
        _add_batch(tallies, engine, data[fold], question, frequencies, clock)
    return tallies


def _add_batch(
    tallies: _Tallies,
    engine: RowQueries,
    batch: Dataset,
    question: Question,
    frequencies: Mapping[str, Floats],
    clock: _CheckClock,
) -> None:
    """Add what becomes of the cells of some rows to the tallies."""
    own = require_columns_of(engine.network, [v for v in batch.variables if v.name not in question.aside])
    evidence = batch.select(own)
    weights = as_weights(batch.weights, len(batch))
    parts = [
        *(
            (False, name, tally)
            for name, tally in _hide_cells(engine, batch, evidence, weights, question, frequencies, clock)
        ),
        *(
            (True, name, tally)
            for name, tally in _resolve_cells(engine, batch, evidence, weights, question, frequencies)
        ),
    ]
    for resolved, name, tally in parts:
        before = tallies[resolved].get(name)
        tallies[resolved][name] = tally if before is None else before + tally
    clock.advance(len(batch), 1.0)


def _hide_cells(
    engine: RowQueries,
    batch: Dataset,
    evidence: Dataset,
    weights: Floats,
    question: Question,
    frequencies: Mapping[str, Floats],
    clock: _CheckClock,
) -> Iterator[tuple[str, CheckTally]]:
    """The tally of every target whose known cells are hidden, blocks of rows at a time."""
    for number, target in enumerate(question.targets):
        known = find_known_cells(batch, target, question.truth.get(target.name, target.name))
        everything = np.ones((1, len(target)), dtype=np.bool_)
        frequency = frequencies.get(target.name, np.zeros(len(target)))
        tally = empty_tally(question.scales)
        for start in range(0, len(known.rows), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            rows = known.rows[block]
            asked = evidence if len(rows) == len(evidence) else evidence[rows]
            degrees = engine.query_many(target.name, asked)
            tally += tally_cells(
                degrees, known.truth[block], known.precise[block], everything, frequency, weights[rows], question.scales
            )
        clock.advance(len(batch), number / len(question.targets))
        yield target.name, tally


def _resolve_cells(
    engine: RowQueries,
    batch: Dataset,
    evidence: Dataset,
    weights: Floats,
    question: Question,
    frequencies: Mapping[str, Floats],
) -> Iterator[tuple[str, CheckTally]]:
    """The tally of every target's cells of several states, resolved among these, where another column has the truth."""
    targets = [v for v in question.targets if v.name in question.truth and v.name in frequencies]
    if not targets:
        return
    completion = complete(engine.network, evidence, reading=question.reading, limit=question.limit)
    for target in targets:
        known = find_known_cells(batch, target, question.truth[target.name])
        column = batch.column(target.name)
        several = ((column.cell_sizes > 1) & ~column.unknown_cells)[column.codes[known.rows]]
        rows = known.rows[several]
        possible, numbers, table, _ = completion.degrees[target.name]
        degrees = np.full((len(batch), len(target)), np.nan)
        degrees[possible] = table[numbers]
        yield (
            target.name,
            tally_cells(
                degrees[rows],
                known.truth[several],
                known.precise[several],
                column.cell_sets[column.codes[rows]],
                frequencies[target.name],
                weights[rows],
                question.scales,
            ),
        )


def _merge_levels(given: Sequence[float], owner: str) -> Floats:
    """The levels asked for and those of the curves, ascending."""
    expected = "degrees above 0, up to 1"
    asked = [require_number(level, f"check: {owner}", expected, float(np.nextafter(0.0, 1.0)), 1.0) for level in given]
    if not asked:
        raise InputError(f"check: no {owner}; expected {expected}")
    return np.unique([*asked, *_GRID.tolist()])


def _count_known(data: Dataset | Batches, targets: Sequence[Variable], truth: Mapping[str, str]) -> dict[str, int]:
    """How many cells of every target are known, in rows that count."""
    known = {target.name: 0 for target in targets}
    for batch in batches_of(data):
        for target in targets:
            rows = find_known_cells(batch, target, truth.get(target.name, target.name)).rows
            known[target.name] += len(rows) if batch.weights is None else int((batch.weights[rows] > 0).sum())
    return known


def _find_skipped(known: Mapping[str, int], targets: Sequence[Variable], *, named: bool) -> tuple[str, ...]:
    """Targets of which no cell is known; an `InputError` if they were named, or if there is no other."""
    skipped = tuple(target.name for target in targets if not known[target.name])
    if skipped and (named or len(skipped) == len(targets)):
        raise InputError(
            f"check: no cell of {skipped[0]!r} is known, so that there is nothing to hide; expected states in its column, "
            f"or truth={{{skipped[0]!r}: the column that has them}}"
        )
    return skipped


def _count_rows(data: Dataset | Batches) -> int:
    return len(data) if isinstance(data, Dataset) else data.rows or 0


def _summarise(
    tallies: Mapping[str, CheckTally], scales: CheckScales, levels: Sequence[float], claims: Sequence[float]
) -> tuple[dict[str, CellCheck], CellCheck | None]:
    """Every variable that has cells, and all of them together; None if there is none."""
    filled = {name: tally for name, tally in tallies.items() if tally.precise + tally.sets}
    if not filled:
        return {}, None
    total = sum(filled.values(), empty_tally(scales))
    return {name: summarise_tally(t, scales, levels, claims) for name, t in filled.items()}, summarise_tally(
        total, scales, levels, claims
    )
