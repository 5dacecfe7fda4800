"""Numbers in PDF figures: few decimals, so that a file has the same bytes however sums were rounded."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest

import possnet as pn
from possnet.plots import bounds_figure, save_figure


def test_positions_in_a_pdf_have_at_most_four_decimals(tmp_path: Path) -> None:
    """Text is placed by matrices; matplotlib alone writes them with ten decimals."""
    pytest.importorskip("matplotlib")
    asia = pn.load_example("asia")
    result = pn.fit_cut(asia.dag, pn.sample(asia, 100, imprecision=1, rng=1))
    save_figure(bounds_figure(result, truth=asia, columns=1), tmp_path / "bounds", "bounds")
    streams = re.findall(rb"stream\r?\n(.*?)endstream", (tmp_path / "bounds.pdf").read_bytes(), flags=re.DOTALL)
    page = zlib.decompress(streams[0].rstrip(b"\r\n"))
    matrices = re.findall(rb"^(.*) cm$", page, flags=re.MULTILINE)
    assert len(matrices) > 20
    assert all(len(number.partition(b".")[2]) <= 4 for line in matrices for number in line.split())
