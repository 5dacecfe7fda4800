"""Fuzzing led by coverage, with atheris (libFuzzer): inputs that reach new lines are kept and mutated further.

    python -m tests.hostile.coverage_fuzz --reader csv --runs 5000 --seed 1      one run, as the section ``coverage`` starts it
    python -m tests.hostile.coverage_fuzz --minimise                             tests/hostile/corpus from what the runs kept

atheris is installed beside the environment, in ``.venv/fuzz``: nothing else needs it. Half of the mutations are those of
`tests.hostile.mutators`, which know the formats.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from tests.hostile.section import KEPT, Chunk, Section, keep_input
from tests.paths import ROOT

ATHERIS = ROOT / ".venv" / "fuzz"
_RUNS = 20_000  # it takes 18 seconds to begin
_PATIENCE = 550
_SLOWER = 5  # times, while lines are traced
_NAMES = (
    "csv",
    "readings",
    "json",
    "counts",
    "bif",
    "xmlbif",
    "hugin",
    "xdsl",
    "uai",
    "evidence",
    "http",
    "experiment",
)
_MOST_KEPT, _MOST_BYTES = 40, 500  # inputs of a reader in the corpus, and the size of one


def _load_readers() -> dict[str, Any]:
    from tests.hostile.experiment_folders import EXPERIMENT
    from tests.hostile.readers import READERS
    from tests.hostile.web_requests import HTTP

    return {reader.name: reader for reader in (*READERS, HTTP, EXPERIMENT)}


def run_atheris(name: str, runs: int, seed: int) -> None:
    """Run libFuzzer over a reader; it ends the process, with a code other than 0 at the first failure."""
    sys.path.insert(0, str(ATHERIS))
    import atheris

    with atheris.instrument_imports(include=["possnet"], enable_loader_override=False):
        from tests.hostile.fuzzing import SLOW, check_input, read_corpus

        readers = _load_readers()
    reader = readers[name]
    warnings.simplefilter("ignore")
    folder = KEPT / "coverage" / name
    folder.mkdir(parents=True, exist_ok=True)
    inputs = [*reader.seeds(), *read_corpus(name)]
    for number, content in enumerate(inputs):
        (folder / f"seed-{number}").write_bytes(content)

    def try_input(content: bytes) -> None:
        check_input(reader, content, thorough=len(content) % 8 == 0, slow=_SLOWER * SLOW)

    def mutate(content: bytes, most: int, own_seed: int) -> bytes:
        generator = random.Random(own_seed)  # noqa: S311
        if generator.random() < 0.5 and content:
            return reader.mutate(content, inputs, reader.words, generator)[:most]  # type: ignore[no-any-return]
        return atheris.Mutate(content, most)  # type: ignore[no-any-return]

    options = [
        f"-runs={runs}",
        f"-seed={seed + 1}",
        "-max_len=4096",
        "-timeout=20",
        "-rss_limit_mb=4096",
        "-verbosity=0",
    ]
    artifacts = f"-artifact_prefix={KEPT / 'coverage'}/{name}-"
    atheris.Setup([sys.argv[0], *options, artifacts, str(folder)], try_input, custom_mutator=mutate)
    atheris.Fuzz()


def fuzz_by_coverage(seed: int) -> Chunk:
    """The readers in turn, a few thousand inputs each, in a process of their own."""
    name = _NAMES[seed % len(_NAMES)]
    command = [sys.executable, "-m", "tests.hostile.coverage_fuzz", "--reader", name]
    command += ["--runs", str(_RUNS), "--seed", str(seed)]
    try:
        done = subprocess.run(
            command, capture_output=True, cwd=ROOT, timeout=_PATIENCE, check=False, env=dict(os.environ)
        )
    except subprocess.TimeoutExpired:
        return Chunk(0, (f"{name}: no end after {_PATIENCE} seconds",))
    if done.returncode == 0:
        return Chunk(_RUNS)
    words = done.stderr.decode(errors="replace")
    kept = keep_input("coverage", f"{name}-{seed}.log", done.stderr)
    lines = [line.strip() for line in words.splitlines() if "Error" in line or "ERROR" in line]
    return Chunk(_RUNS, (f"{name}: {' / '.join(lines[:3])[:400]}; kept as {kept}",))


def _lacks_atheris() -> str:
    found = (ATHERIS / "atheris").is_dir()
    return "" if found else "atheris is not installed; expected it in .venv/fuzz. Install it: make .venv/.fuzz"


COVERAGE = Section(
    "coverage",
    "all readers in turn, led by coverage (atheris): 20,000 inputs or more each, beside the million of each reader's own section",
    fuzz_by_coverage,
    wanted=288_000,
    patience=600.0,
    lacks=_lacks_atheris,
)


def _trace_lines(reader: Any, content: bytes) -> set[tuple[str, int]]:
    """Lines of possnet that an input reaches."""
    from tests.hostile.fuzzing import check_input

    lines: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _: object) -> Any:
        file = frame.f_code.co_filename
        if "/possnet/" not in file or "/tests/" in file:
            return None
        if event == "line":
            lines.add((file, frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        check_input(reader, content, thorough=False)
    except AssertionError:  # slow, because of the trace
        pass
    finally:
        sys.settrace(None)
    return lines


def choose_inputs(reader: Any, candidates: Sequence[bytes], known: Sequence[bytes]) -> list[bytes]:
    """Inputs that together reach what the seeds do not, small ones first; those that are there already stay."""
    reached = set().union(*(_trace_lines(reader, content) for content in reader.seeds()))
    chosen = list(known)
    for content in known:
        reached |= _trace_lines(reader, content)
    for content in sorted({c for c in candidates if len(c) <= _MOST_BYTES}, key=lambda c: (len(c), c)):
        if len(chosen) >= _MOST_KEPT:
            break
        lines = _trace_lines(reader, content)
        if not lines <= reached:
            reached |= lines
            chosen.append(content)
    return chosen


def minimise_corpus(fresh: int) -> None:
    """Write tests/hostile/corpus from what the runs kept, and from fresh inputs of the mutators."""
    from possnet.threads import use_one_thread
    from tests.hostile.fuzzing import CORPUS, read_corpus

    use_one_thread()
    warnings.simplefilter("ignore")
    for name, reader in _load_readers().items():
        folder = KEPT / "coverage" / name
        candidates = [path.read_bytes() for path in sorted(folder.glob("*"))] if folder.is_dir() else []
        generator, inputs = random.Random(name), list(reader.seeds())  # noqa: S311
        candidates += [reader.mutate(generator.choice(inputs), inputs, reader.words, generator) for _ in range(fresh)]
        chosen = choose_inputs(reader, candidates, read_corpus(name))
        (CORPUS / f"{name}.txt").write_text("".join(f"{content!r}\n" for content in chosen), encoding="utf-8")
        sys.stdout.write(f"{name}: {len(chosen)} of {len(candidates)} inputs\n")


def main() -> None:
    """Run atheris, or write the corpus."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.coverage_fuzz", description=__doc__)
    parser.add_argument("--reader", choices=_NAMES, default="csv")
    parser.add_argument("--runs", type=int, default=_RUNS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minimise", action="store_true")
    parser.add_argument("--fresh", type=int, default=300, help="inputs of the mutators beside those of the runs")
    options = parser.parse_args()
    if options.minimise:
        minimise_corpus(options.fresh)
    else:
        run_atheris(options.reader, options.runs, options.seed)


if __name__ == "__main__":
    Path(KEPT).mkdir(parents=True, exist_ok=True)
    main()
