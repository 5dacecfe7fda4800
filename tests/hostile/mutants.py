"""Mutation testing of the mathematics and the readers: which small mistakes would the tests not notice?

A seeded sample of the mutants of each room is judged by the tests that run the changed block, the quickest first, those of
the room before all others. Tests are collected once; a mutant is a fork of that process in which the code of one function is
replaced, so it costs little more than the tests that it takes to notice it. What runs at import (constants of a module, defaults)
is judged by a process of its own that imports the mutated module. Results are kept in ``mutants.json``: a mutant is *killed*
(with the test that noticed it), *timeout* (its CPU seconds ran out, as a person would notice), *survived*, or *equivalent*, with
the reason why nobody could notice it.

    python -m tests.hostile.mutants --seconds 600 --room em      # goes on where it was left
    python -m tests.hostile.mutants --survivors                   # asks the survivors again, of more tests
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Final

import pytest

from tests.hostile.block_map import ASKED, OPTIONS, ROOMS, SOURCE, BlockMap, read_block_map, record_missing_maps
from tests.hostile.ledger import Record, update_ledger
from tests.hostile.mutant_results import (
    SAMPLED,
    SCRATCH,
    describe_results,
    list_pending,
    read_results,
    sample_mutants,
    write_results,
)
from tests.hostile.mutator import Mutant, mutate_source
from tests.hostile.section import Chunk, Section
from tests.paths import ROOT

BATCH: Final = 25
OWN_BUDGET: Final = 8.0  # CPU seconds of tests of the mutant's own room
BUDGET: Final = 6.0  # and of all others that run the block


class Judge:
    """A pytest plugin that, in place of running the collected tests, asks them of one mutant after the other."""

    def __init__(self, mutants: Sequence[Mutant], seconds: float, *, thorough: bool) -> None:
        self.mutants = mutants
        self.limit = time.monotonic() + seconds
        self.patience = 10 if thorough else 1
        self.block_map: BlockMap = read_block_map()
        self.failed = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Judge every mutant; each result is kept at once."""
        items = {item.nodeid: item for item in session.items}
        functions = index_functions()
        gc.freeze()
        results = read_results()
        for mutant in self.mutants:
            if time.monotonic() > self.limit:
                break
            start = time.monotonic()
            outcome, by, change = self.judge_mutant(mutant, items, functions)
            results[mutant.name] = [mutant.digest, outcome, by, change]
            write_results(results)
            sys.stderr.write(
                f"{time.monotonic() - start:5.1f} s  {outcome:9} {mutant.name} line {mutant.line}: {by} ({change})\n"
            )
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Whoever fails, in its body or its fixtures, has noticed the mutant."""
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def judge_mutant(
        self, mutant: Mutant, items: dict[str, pytest.Item], functions: FunctionIndex
    ) -> tuple[str, str, str]:
        """Outcome, who noticed, and the change; the tests of the mutant's own room are asked first."""
        path = SOURCE / f"{mutant.module}.py"
        tree, change = mutate_source(mutant.module, path.read_text(encoding="utf-8"), mutant.name)
        code = compile(tree, str(path), "exec")
        patches = [] if mutant.at_import else find_patches(code, functions)
        tests = self.block_map.choose(mutant)
        homes = tuple(f"{top}/{mutant.module.split('/')[0]}" for top in ("tests", "src/possnet"))
        own = [test for test in tests if test[0].startswith(homes)]
        others = [test for test in tests if not test[0].startswith(homes)]
        for group, budget in ((own, OWN_BUDGET), (others, BUDGET)):
            asked = within_budget([test for test in group if test[0] in items], budget * self.patience)
            allowed = int(10 + 4 * sum(seconds for _, seconds in asked))
            if not asked:
                continue
            if patches:
                outcome, by = self._ask_fork(patches, [items[name] for name, _ in asked], allowed)
            else:
                outcome, by = ask_fresh_process(mutant, [name for name, _ in asked], allowed)
            if outcome != "survived":
                return outcome, by, change
        return "survived", f"{len(tests)} tests run the block", change

    def _ask_fork(
        self, patches: Sequence[tuple[FunctionType, CodeType]], items: list[pytest.Item], allowed: int
    ) -> tuple[str, str]:
        answer = SCRATCH / "answer"
        answer.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            try:
                _limit_child(allowed)
                for function, code in patches:
                    function.__code__ = code
                for item, following in zip(items, [*items[1:], None], strict=True):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    if self.failed:
                        break
                answer.write_text(self.failed, encoding="utf-8")
            except BaseException as error:  # noqa: BLE001 - a test run that breaks down has noticed
                answer.write_text(f"{type(error).__name__}", encoding="utf-8")
            finally:
                os._exit(0)
        ended = wait_for(child, seconds=30.0 * allowed)
        noticed = answer.read_text(encoding="utf-8") if answer.exists() else None
        if noticed is None or not ended:
            return "timeout", f"more than {allowed} CPU seconds"
        return ("killed", noticed) if noticed else ("survived", "")


def _limit_child(allowed: int) -> None:
    os.setsid()
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed + 1))
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)


def wait_for(child: int, seconds: float) -> bool:
    """Whether the child ended by itself in time; its group is ended either way."""
    limit, pause = time.monotonic() + seconds, 0.005
    try:
        while time.monotonic() < limit:
            if os.waitpid(child, os.WNOHANG)[0]:
                return True
            time.sleep(pause)
            pause = min(0.1, pause * 1.5)
        return False
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)


FunctionIndex = dict[tuple[str, str, int], list[FunctionType]]


def index_functions() -> FunctionIndex:
    """Every function object of the rooms under test, by file, name and line."""
    index: FunctionIndex = {}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename.startswith(str(SOURCE)):
            code = thing.__code__
            index.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno), []).append(thing)
    return index


def find_patches(module: CodeType, functions: FunctionIndex) -> list[tuple[FunctionType, CodeType]]:
    """Function objects whose code in the mutated module differs from the one they have, with that code."""
    patches, waiting = [], [module]
    while waiting:
        for code in waiting.pop().co_consts:
            if isinstance(code, CodeType):
                waiting.append(code)
                known = functions.get((code.co_filename, code.co_qualname, code.co_firstlineno), ())
                patches += [(function, code) for function in known if _can_replace(function.__code__, code)]
    return patches


def _can_replace(before: CodeType, after: CodeType) -> bool:
    return before != after and len(before.co_freevars) == len(after.co_freevars)


def ask_fresh_process(mutant: Mutant, names: Sequence[str], allowed: int) -> tuple[str, str]:
    """The same for a mutant that has to be in place before possnet is imported."""
    command = [sys.executable, "-m", "tests.hostile.fresh_mutant", mutant.module, mutant.name, str(allowed + 20)]
    limit = 30.0 * (allowed + 20)
    try:
        run = subprocess.run(
            command, input="\n".join(names), capture_output=True, text=True, check=False, cwd=ROOT, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return "timeout", f"more than {limit:.0f} seconds"
    if run.returncode < 0:
        return "timeout", f"more than {allowed} CPU seconds"
    noticed = run.stdout.rpartition("noticed by: ")[2].strip()
    return ("killed", noticed) if noticed else ("survived", "")


def within_budget(tests: Sequence[tuple[str, float]], budget: float) -> list[tuple[str, float]]:
    """The first tests, as many as the CPU seconds allow, and one at least."""
    asked: list[tuple[str, float]] = []
    spent = 0.0
    for test in tests:
        spent += test[1]
        if spent > budget and asked:
            break
        asked.append(test)
    return asked


def run_mutants(mutants: Sequence[Mutant], seconds: float, *, thorough: bool = False) -> None:
    """Judge mutants until the time is over, with more tests and examples where that is asked for."""
    os.environ["HYPOTHESIS_PROFILE"] = "quick" if thorough else "few"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    record_missing_maps()
    judge = Judge(mutants, seconds, thorough=thorough)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        shown, sys.stdout = sys.stdout, nowhere
        try:
            pytest.main([*OPTIONS, *ASKED], plugins=[judge])
        finally:
            sys.stdout = shown


def list_batches() -> list[list[Mutant]]:
    """The sample in chunks."""
    sampled = [mutant for room in ROOMS for mutant in sample_mutants(room)]
    return [sampled[start : start + BATCH] for start in range(0, len(sampled), BATCH)]


def judge_batch(batch: Sequence[Mutant], results: dict[str, list[str]]) -> Chunk:
    """What is known of a batch; a mutant that survives, and could be noticed, is a failure."""
    judged = [mutant for mutant in batch if results.get(mutant.name, [""])[0] == mutant.digest]
    open_ones = [results[mutant.name] for mutant in judged if results[mutant.name][1] == "survived"]
    return Chunk(len(judged), tuple(f"{by}: {change}" for _, _, by, change in open_ones))


def run_chunk(seed: int) -> Chunk | None:
    """A batch of the sample."""
    batches = list_batches()
    if seed >= len(batches):
        return None
    command = [sys.executable, "-m", "tests.hostile.mutants", "--batch", str(seed)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return judge_batch(batches[seed], read_results())


def count_results(batches: Sequence[Sequence[Mutant]], results: dict[str, list[str]], record: Record) -> None:
    """Bring the ledger's record up to what is known of all mutants: those judged by name or room count too."""
    chunks = [judge_batch(batch, results) for batch in batches]
    for seed, chunk in enumerate(chunks):
        record.add_chunk(seed, chunk, 0.0)
    record.tried = sum(chunk.tried for chunk in chunks)
    record.done = record.tried == sum(map(len, batches))


def keep_sampled(batches: Sequence[Sequence[Mutant]], results: dict[str, list[str]]) -> dict[str, list[str]]:
    """Results of mutants that are in the sample; a change of the code takes others in."""
    names = {mutant.name for batch in batches for mutant in batch}
    return {name: result for name, result in results.items() if name in names}


MUTANTS: Final = Section(
    "mutants",
    "small mistakes in the code of kernels, counting, inference, em, parameters, sampling and io, which the tests have to notice",
    run_chunk,
    wanted=sum(SAMPLED.values()),
    patience=3600.0,
    notes=describe_results,
)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.hostile.mutants", description="Mutation testing, room by room"
    )
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--room", choices=ROOMS, action="append")
    parser.add_argument("--batch", type=int, help=f"{BATCH} mutants of the whole sample")
    parser.add_argument("--survivors", action="store_true", help="ask the survivors again, of more tests")
    parser.add_argument("--equivalent", nargs=2, metavar=("NAME", "REASON"), help="nobody can notice this one, because")
    options = parser.parse_args()
    if options.equivalent:
        results = read_results()
        name, reason = options.equivalent
        results[name][1:3] = ["equivalent", reason]
        write_results(results)
    pending = [] if options.equivalent else list_pending(options.room or ROOMS, survivors=options.survivors)
    if options.batch is not None:
        sampled = [mutant.name for room in ROOMS for mutant in sample_mutants(room)]
        batch = set(sampled[BATCH * options.batch : BATCH * (options.batch + 1)])
        pending = [mutant for mutant in pending if mutant.name in batch]
        pending += [m for m in list_pending(ROOMS, survivors=True) if m.name in batch and m not in pending]
    if pending:
        run_mutants(pending, options.seconds, thorough=options.survivors)
    if options.batch is None:  # else the section counts it
        batches = list_batches()
        results = keep_sampled(batches, read_results())
        write_results(results)
        update_ledger(MUTANTS.name, partial(count_results, batches, results))


if __name__ == "__main__":
    main()
