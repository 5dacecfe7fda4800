"""The benchmark page: what its own sections say, nothing written by hand, and how targets are judged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

BENCHMARKS = ROOT / "benchmarks"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=BENCHMARKS, check=False, capture_output=True, text=True)


def test_the_page_says_what_was_measured_and_every_target_is_met() -> None:
    report = run("report.py", "--check")
    assert (report.returncode, report.stderr) == (0, "")


def test_a_figure_changed_by_hand_is_noticed(tmp_path: Path) -> None:
    page = (BENCHMARKS.parent / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    (tmp_path / "page.md").write_text(page.replace("| yes |", "| **no** |", 1), encoding="utf-8")
    code = f"import report; from pathlib import Path; report.PAGE = Path({str(tmp_path / 'page.md')!r}); print(report.check())"
    assert "changed by hand" in run("-c", code).stdout


@pytest.mark.parametrize(
    ("found", "asked", "at_most", "met"),
    [(2.0, 2.0, False, True), (1.99, 2.0, False, False), (3.0, 3.0, True, True), (3.01, 3.0, True, False)],
)
def test_a_target_is_met_at_its_limit_and_not_beyond(found: float, asked: float, at_most: bool, met: bool) -> None:
    code = f"from measure import Target; print(Target('j', 'p', 'q', {found}, {asked}, at_most={at_most}).met)"
    assert run("-c", code).stdout.strip() == str(met)


def test_the_page_of_the_architecture_has_the_walks_that_were_measured() -> None:
    walks = run("walks.py", "--check")
    assert (walks.returncode, walks.stderr) == (0, "")


def test_the_picture_of_the_rooms_is_that_of_the_layers() -> None:
    code = (
        "import rooms_picture; print(rooms_picture.draw_rooms() == rooms_picture.PICTURE.read_text(encoding='utf-8'))"
    )
    words = [sys.executable, "-c", code]
    drawn = subprocess.run(words, cwd=ROOT / "examples" / "figures", check=True, capture_output=True, text=True)
    assert drawn.stdout == "True\n", "run: python examples/figures/rooms_picture.py"


def test_estimates_of_the_imprecision_are_as_exact_as_their_bound() -> None:
    """The Cramér-Rao bound against the spread of estimates from 60 draws of a root with three states off the core."""
    code = (
        "import numpy as np, possnet as pn\n"
        "from cut_information import bound_imprecision, cell_law\n"
        "assert np.isclose(cell_law(np.array([0.9, 0.6, 0.3]), 0.4, 'text').sum(), 1.0)\n"
        "x = pn.Variable('x', ('a', 'b', 'c', 'd'))\n"
        "net = pn.Network([x], pn.Dag({'x': ()}), {'x': [1, 0.9, 0.6, 0.3]})\n"
        "for law in ('independent', 'text'):\n"
        "    rows = [pn.sample(net, 2000, imprecision=0.5, law=law, rng=k) for k in range(60)]\n"
        "    errors = [pn.fit_cut(net.dag, data, imprecision=None, law=law).imprecision - 0.5 for data in rows]\n"
        "    print(np.sqrt(np.mean(np.square(errors))) / bound_imprecision(net, 0.5, law, 2000))\n"
    )
    ratios = [float(line) for line in run("-c", code).stdout.split()]
    assert len(ratios) == 2
    assert all(0.75 < ratio < 1.3 for ratio in ratios)
