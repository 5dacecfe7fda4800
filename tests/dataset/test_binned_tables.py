"""Columns of numbers in tables of other libraries: `from_table` bins them as readers of files do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import possnet as pn
from tests.refused import refused
from tests.rows import rows_of

NUMBERS = [36.9, 38.2, None, 39.5]
CELLS: list[Any] = [{"<37", "37..39"}, {"37..39"}, None, {">=39"}]
BINNING = pn.Binning([37, 39], error=0.2)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_numbers_of_any_table_are_binned_as_those_of_a_file(make: Any, tmp_path: Path) -> None:
    columns = {"temp": NUMBERS, "rash": ["no", "no|yes", "yes", "no"]}
    data = pn.Dataset.from_table(make(columns), binnings={"temp": BINNING})
    assert [row[0] for row in rows_of(data)] == CELLS
    assert data.variable("temp").bins == pn.Bins((37.0, 39.0))
    pd.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    assert data == pn.read_data(tmp_path / "t.csv", binnings={"temp": BINNING})


def test_the_remedy_in_the_error_works() -> None:
    frame = pd.DataFrame({"f0": [k / 7 for k in range(30)], "label": ["a", "b"] * 15})
    with pytest.raises(
        pn.InputError, match=r"numbers with fractions.*binnings=\{'f0': possnet.Binning\(\)\} \(--bin f0\)"
    ):
        pn.Dataset.from_table(frame)
    data = pn.Dataset.from_table(frame, binnings={"f0": pn.Binning()})
    assert data.variable("f0").ordered
    assert data.imprecise_share() == 0.0
    network = pn.fit(pn.Dag({"f0": (), "label": ("f0",)}), data)
    assert pn.Dataset.from_table(frame, network) == data  # the network remembers the bins
    fewer = frame.head(3)
    again = pn.Dataset.from_table(fewer, network, binnings={"f0": pn.Binning(error=0.01)})
    assert again.variable("f0") == data.variable("f0")


def test_readings_and_words_for_unknown_are_read_as_in_files() -> None:
    texts = ["<36", "38..40", "ND", "37.5"]
    cells = [{"<37"}, {"37..39", ">=39"}, None, {"37..39"}]
    for frame in ({"temp": texts}, pa.table({"temp": texts})):
        data = pn.Dataset.from_table(frame, binnings={"temp": pn.Binning([37, 39])}, unknown_words=("ND",))
        assert [row[0] for row in rows_of(data)] == cells


def test_binnings_that_make_no_sense_are_told() -> None:
    table: dict[str, Any] = {"temp": [36.9, 38.0], "rash": ["no", "yes"]}
    refused(
        "table: no column 'tmep' to bin .*did you mean 'temp'",
        pn.Dataset.from_table,
        table,
        binnings={"temp": BINNING, "tmep": BINNING},
    )
    refused("binning of 'temp': 3; expected names of columns", pn.Dataset.from_table, table, binnings={"temp": 3})
    refused(r"binning '\*'; expected names", pn.Dataset.from_table, table, binnings={"*": BINNING})
    refused("binnings 3; expected a mapping", pn.Dataset.from_table, table, binnings=3)
    other = {"temp": pn.Binning([37], error="off")}
    refused("names another column.*bin_measurements", pn.Dataset.from_table, table, binnings=other)
    refused(
        "row 1, column 'rash': 'no' is not a reading",
        pn.Dataset.from_table,
        table,
        binnings={"rash": BINNING, "temp": BINNING},
    )
    done = {"temp": pn.bin_measurements([36.9, 38.0], edges=[37])}
    refused("binning of 'temp': cells that are states already", pn.Dataset.from_table, done, binnings={"temp": BINNING})
