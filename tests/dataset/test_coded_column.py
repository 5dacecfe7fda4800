"""Coded columns: codes and distinct cells of a data set, against its rows; each column is decoded once."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.dataset import CodedColumn, coded_column
from possnet.kernels import bitmaps
from tests import strategies


def check_column(data: pn.Dataset, name: str, column: CodedColumn) -> None:
    """Compare a column with the rows it stands for."""
    missing, rows = data.missing(name), [data.row(r)[name] for r in range(len(data))]
    weights = [1] * len(data) if data.weights is None else data.weights.tolist()
    variable = data.variable(name)
    for r, code in enumerate(column.codes.tolist()):
        cell = column.cells[code]
        assert (cell is None) == missing[r] == (code == column.unknown)
        assert cell is None or set(cell) == rows[r]
        assert {s for s, inside in zip(variable.states, column.cell_sets[code], strict=True) if inside} == rows[r]
        assert column.cell_masks[code] == (0 if cell is None else sum(1 << variable.index(s) for s in cell))
        assert column.cell_sizes[code] == len(rows[r])
        assert column.is_ambiguous[r] == (missing[r] or len(rows[r]) > 1)
    assert sorted(set(column.codes.tolist())) == list(range(len(column)))
    known = column.cell_masks if column.unknown is None else column.cell_masks[:-1]
    assert known == sorted(set(known))
    assert column.count_cells(data.weights).tolist() == [
        sum(w for w, c in zip(weights, column.codes, strict=True) if c == k) for k in range(len(column))
    ]
    assert column.is_precise == (not missing.any() and all(len(cell) == 1 for cell in rows))
    assert column.codes.dtype == np.min_scalar_type(max(len(column) - 1, 0))
    assert not column.codes.flags.writeable
    assert not column.cell_sets.flags.writeable


@given(strategies.datasets())
def test_a_coded_column_is_its_rows(data: pn.Dataset) -> None:
    for variable in data.variables:
        column = data.column(variable.name)
        assert data.column(variable.name) is column
        check_column(data, variable.name, column)
        whole = pn.Dataset.unchecked(
            data.variables, {v.name: data.bitmaps(v.name) for v in data.variables}, len(data), weights=data.weights
        )
        check_column(whole, variable.name, column.fill_unknown())


@given(strategies.graded_datasets() | strategies.datasets(max_rows=12))
def test_few_cells_are_decoded_as_many(data: pn.Dataset) -> None:
    columns = []
    for few in (0, 1 << 20):
        with mock.patch.object(coded_column, "_FEW_CELLS", few):
            again = data.select([v.name for v in data.variables])
            again._columns = {}
            columns.append([again.column(v.name) for v in data.variables])
            assert [column.is_blank for column in columns[-1]] == [all(column.is_whole) for column in columns[-1]]
    for many, few_cells in zip(*columns, strict=True):
        assert many.codes.tolist() == few_cells.codes.tolist()
        assert many.codes.dtype == few_cells.codes.dtype
        assert many.octets.tolist() == few_cells.octets.tolist()
        assert many.unknown == few_cells.unknown
        assert many.degrees.tolist() == few_cells.degrees.tolist()


@given(strategies.graded_datasets() | strategies.datasets(min_rows=1))
def test_findings_are_what_the_cells_say(data: pn.Dataset) -> None:
    for variable in data.variables:
        column = data.column(variable.name)
        for code, finding in enumerate(column.findings):
            degrees = column.degrees[code].tolist()
            if finding is None:
                assert degrees == [1.0] * len(variable)
            elif isinstance(finding, int):
                assert degrees == [float(k == finding) for k in range(len(variable))]
            else:
                assert finding.tolist() == degrees


@given(strategies.datasets(min_rows=1), st.data())
def test_rows_of_a_coded_column_are_coded_as_if_decoded(data: pn.Dataset, draw: st.DataObject) -> None:
    for variable in data.variables:
        data.column(variable.name)
    start = draw.draw(st.integers(0, len(data)))
    for part in (
        data[start:],
        data[draw.draw(st.lists(st.integers(0, len(data) - 1)))],
        data.distinct(),
        data[start:][::2],
    ):
        for variable in data.variables:
            check_column(part, variable.name, part.column(variable.name))


def test_selected_variables_share_their_columns() -> None:
    data = pn.Dataset.from_table({"a": ["x", "y"], "b": ["u", "v"]})
    assert data.select(["b"]).column("b") is data.column("b")


@pytest.mark.parametrize("unknown", [0.0, 0.2])
def test_each_column_is_decoded_once(unknown: float, monkeypatch: pytest.MonkeyPatch) -> None:
    asia = pn.load_example("asia")
    data = pn.sample(asia, 300, imprecision=0.5, rng=1)
    missing = {v.name: np.random.default_rng(k).random(300) < unknown for k, v in enumerate(data.variables)}
    words = {n: data.bitmaps(n) | bitmaps.pack(rows) for n, rows in missing.items()}
    data = pn.Dataset.unchecked(
        data.variables, words, 300, unknown={n: bitmaps.pack(rows) for n, rows in missing.items()}
    )
    decoded = []
    for name in ("decode_cells", "decode_states"):
        kernel = getattr(bitmaps, name)

        def counted(words: object, rows: int, kernel: object = kernel) -> object:
            decoded.append(rows)
            return kernel(words, rows)  # type: ignore[operator]

        monkeypatch.setattr(bitmaps, name, counted)
    learned = pn.fit_em(asia.dag, data, tolerance=1.0).network
    pn.learn_structure(data)
    pn.learn_structure(data, measure="traced-bic", constraints=pn.Constraints(max_parents=1))
    pn.Inference(learned).query_many("lung", data)
    pn.complete(learned, data).resolved()
    pn.fit(asia.dag, data)
    data.distinct()
    assert len(decoded) <= len(data.variables)


def test_other_weights_share_the_columns_and_leave_the_rows_alone() -> None:
    data = pn.Dataset.from_table({"a": ["x", {"x", "y"}, None]})
    column = data.column("a")
    weighted = data.with_weights([2, 0, 5])
    assert weighted.column("a") is column
    assert (weighted.total, data.weights, weighted.with_weights(None) == data) == (7, None, True)
    with pytest.raises(pn.InputError, match="weight"):
        data.with_weights([1, 2])


def test_em_on_other_weights_does_not_change_em_on_the_rows_themselves() -> None:
    clinic = pn.load_example("clinic")
    data, fresh = (pn.sample(clinic, 100, process="traced", rng=1) for _ in range(2))
    weights = np.repeat([2, 0], 50)
    weighted = pn.fit_em(clinic.dag, data.with_weights(weights))
    assert pn.fit_em(clinic.dag, data).log_likelihood == pn.fit_em(clinic.dag, fresh).log_likelihood
    assert weighted.log_likelihood == pn.fit_em(clinic.dag, fresh.with_weights(weights)).log_likelihood
