"""The hostile run resumes where it stopped, sees processes that die, and counts what is mended."""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile import __main__ as program, coverage_fuzz, workers
from tests.hostile.defects import DEFECTS
from tests.hostile.ledger import LEDGER, Record, read_ledger, update_ledger
from tests.hostile.page import PAGE, format_page
from tests.hostile.section import Chunk, Section
from tests.hostile.sections import SECTIONS
from tests.paths import ROOT


def test_the_page_is_written_from_the_ledger() -> None:
    assert PAGE.read_text(encoding="utf-8") == format_page(SECTIONS, read_ledger())
    assert set(read_ledger()) <= {section.name for section in SECTIONS}


def test_sections_have_distinct_names() -> None:
    assert len({section.name for section in SECTIONS}) == len(SECTIONS)


def test_every_test_that_holds_a_defect_is_there() -> None:
    for defect in DEFECTS:
        for name in defect.tests:
            file, _, test = name.partition("::")
            module = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
            assert test in {node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef)}, name


def test_a_chunk_that_failed_and_passes_now_is_mended_and_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"

    def add(seed: int, chunk: Chunk) -> Callable[[Record], None]:
        return lambda record: record.add_chunk(seed, chunk, 1.0)

    update_ledger("a", add(0, Chunk(10, ("wrong", "wrong too"), {"slowest": 0.5})), path)
    update_ledger("a", add(1, Chunk(10, (), {"slowest": 0.25})), path)
    record = read_ledger(path)["a"]
    assert (record.tried, record.failed, record.mended, record.next_seed) == (20, 2, 0, 2)
    assert record.failing == {"0": 2}
    record = update_ledger("a", add(0, Chunk(10)), path)["a"]
    assert (record.tried, record.failed, record.mended, record.next_seed) == (20, 2, 2, 2)
    assert record.failing == {}
    assert record.figures == {"slowest": 0.5}


def test_an_abort_and_an_endless_chunk_are_failures_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker is given a program that answers, aborts, sleeps, and comes to an end."""
    program = (
        "import os, sys, time\n"
        "for line in sys.stdin:\n"
        "    match int(line):\n"
        "        case 1: os.abort()\n"
        "        case 2: time.sleep(60)\n"
        "        case 4: print('null', flush=True)\n"
        '        case _: print(\'{"tried": 5, "failures": [], "figures": {}}\', flush=True)\n'
    )
    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: start([command[0], "-c", program], **options))
    section = Section("none", "nothing", lambda _: None, patience=3.0)
    chunks = [chunk for _, chunk, _ in workers.run_chunks(section, [], 0, 100.0)]
    assert chunks[0] == chunks[3] == Chunk(5)
    assert chunks[1] is not None
    assert f"ended with code {-signal.SIGABRT}" in chunks[1].failures[0]
    assert chunks[2] == Chunk(0, ("no end after 3 seconds",))
    assert chunks[4] is None


def test_a_section_that_lacks_a_program_says_so_and_counts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(coverage_fuzz, "ATHERIS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["hostile", "--section", "coverage", "--seconds", "5"])
    before = LEDGER.read_bytes(), PAGE.read_bytes()
    assert program.main() == 2
    assert capsys.readouterr().err == (
        "coverage: not run: atheris is not installed; expected it in .venv/fuzz. Install it: make .venv/.fuzz\n"
    )
    assert (LEDGER.read_bytes(), PAGE.read_bytes()) == before
