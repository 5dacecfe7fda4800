"""Run sections of the hostile run: ``python -m tests.hostile --section NAME --seconds N``; all of them without a name."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from tests.hostile.ledger import Record, read_ledger, update_ledger
from tests.hostile.page import write_page
from tests.hostile.section import Chunk, Section
from tests.hostile.sections import SECTIONS
from tests.hostile.workers import run_chunks, serve_chunks


def _end_section(record: Record) -> None:
    record.done = True


def _start_at(seed: int, record: Record) -> None:
    record.next_seed, record.done = max(record.next_seed, seed), False


def _count_chunk(seed: int, chunk: Chunk, seconds: float, record: Record) -> None:
    record.add_chunk(seed, chunk, seconds)


def run_section(section: Section, seconds: float, seed: int | None) -> Record:
    """Run a section for a while, or until it has tried what is wanted; each chunk is in the ledger before the next begins."""
    if seed is not None:
        update_ledger(section.name, partial(_start_at, seed))
    record = read_ledger().get(section.name, Record())
    failing = sorted(int(key) for key in record.failing)
    if not failing and (record.done or (section.wanted and record.tried >= section.wanted)):
        sys.stdout.write(f"{section.name}: all {record.tried:,} are tried; --seed {record.next_seed} tries more\n")
        return record
    waiting = set(failing)
    for number, chunk, took in run_chunks(section, failing, record.next_seed, seconds):
        waiting.discard(number)
        if chunk is None:
            record = update_ledger(section.name, _end_section)[section.name]
            break
        record = update_ledger(section.name, partial(_count_chunk, number, chunk, took))[section.name]
        for failure in chunk.failures:
            sys.stdout.write(f"{section.name}, seed {number}: {failure}\n")
        if seed is None and section.wanted and record.tried >= section.wanted and not waiting:
            break
    sys.stdout.write(f"{section.name}: {record.tried:,} tried, {record.failed} failed, {record.mended} mended\n")
    return record


def main() -> int:
    """Run what was asked for; 1 if any chunk of it fails, 2 if something is not installed that a section needs."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--section", default="", choices=["", *(section.name for section in SECTIONS)])
    parser.add_argument("--seconds", type=float, default=600.0, help="for each section")
    parser.add_argument("--seed", type=int, help="the first chunk; the one after the last run by default")
    parser.add_argument("--page", action="store_true", help="only write docs/hostile.md from the ledger")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    chosen = [section for section in SECTIONS if options.section in {"", section.name}]
    if options.serve:
        serve_chunks(chosen[0])
        return 0
    lacking = [] if options.page else [section for section in chosen if section.lacks()]
    for section in lacking:
        sys.stderr.write(f"{section.name}: not run: {section.lacks()}\n")
    run = [] if options.page else [section for section in chosen if section not in lacking]
    records = [run_section(section, options.seconds, options.seed) for section in run]
    if records or options.page:
        write_page(SECTIONS, read_ledger())
    return 1 if any(record.failing for record in records) else 2 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
