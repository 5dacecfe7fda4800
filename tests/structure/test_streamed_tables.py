"""Structures learned in passes over a stream are those of rows in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given

import possnet as pn
from possnet.structure import RowSummary, StreamedTables
from possnet.structure.coded_rows import CodedRows
from possnet.structure.contingency import ContingencyTables
from possnet.structure.streamed_tables import count_stream
from tests.strategies import datasets

CLINIC = pn.load_example("clinic")


class Parts:
    """A stream of a data set in parts."""

    def __init__(self, data: pn.Dataset, size: int) -> None:
        self.data, self.size = data, size
        self.variables, self.rows, self.weighted = data.variables, len(data), data.weights is not None

    def __iter__(self) -> Iterator[pn.Dataset]:
        for first in range(0, len(self.data), self.size):
            yield self.data[first : first + self.size]


@pytest.mark.parametrize(("method", "measure"), [("greedy", "random-set-bic"), ("greedy", "mdl"), ("mwst", "mdl")])
def test_structures_in_passes_are_those_of_rows_in_memory(method: str, measure: str) -> None:
    data = pn.sample(CLINIC, 3_000, imprecision=0.5, process="traced", rng=1)
    held = pn.learn_structure(data, method, measure=measure)
    passed = pn.learn_structure(Parts(data, 700), method, measure=measure, search=pn.Search(in_passes=True))
    assert passed.dag == held.dag
    assert passed.score == pytest.approx(held.score, rel=1e-12)
    assert [step[:3] for step in passed.trace] == [step[:3] for step in held.trace]


def test_a_climb_makes_few_passes_for_every_move() -> None:
    data = pn.sample(CLINIC, 2_000, imprecision=0.5, rng=1)
    passes = 0

    class Counted(Parts):
        def __iter__(self) -> Iterator[pn.Dataset]:
            nonlocal passes
            passes += 1
            return super().__iter__()

    learned = pn.learn_structure(Counted(data, 500), "greedy", measure="mdl", search=pn.Search(in_passes=True, tabu=0))
    assert passes <= 4 + 2 * len(learned.trace)


@given(datasets(min_rows=1).filter(lambda data: len(data.variables) == 3 and data.total > 0))
def test_tables_of_a_stream_are_those_of_rows_in_memory(data: pn.Dataset) -> None:
    held = ContingencyTables(CodedRows(data))
    stream = Parts(data, 3)
    summary = RowSummary.from_stream(stream)
    passed = StreamedTables(summary, lambda queries: count_stream(summary, stream, queries))
    chosen = (0, 2)
    assert np.array_equal(passed.group_cells(chosen)[1], held.group_cells(chosen)[1])
    assert np.array_equal(passed.cell_counts(chosen), held.cell_counts(chosen))
    for parents in ((), (0,)):
        tables = list(passed.count_cells(parents, 1, [2]))
        wanted = list(held.count_cells(parents, 1, [2]))
        assert sum(t.counts.sum() for t in tables) == sum(t.counts.sum() for t in wanted)
        assert np.array_equal(tables[0].counts.sum(axis=0), wanted[0].counts.sum(axis=0))


def test_what_needs_rows_in_memory_is_refused_with_what_does_not() -> None:
    data = pn.sample(CLINIC, 100, rng=1)
    with pytest.raises(pn.InputError, match="needs rows in memory; expected method greedy, mwst"):
        pn.learn_structure(Parts(data, 50), "boss", measure="bic", search=pn.Search(in_passes=True))
    with pytest.raises(pn.InputError, match="in_passes 3; expected True or False or None"):
        pn.Search(in_passes=3)  # type: ignore[arg-type]
