"""Everything that takes a stream, on more rows than memory should hold: seconds and memory of each verb, in a process of its own.

    python benchmarks/out_of_core.py [--rows 100000000] [--only count,fit] [--write]

draws asia's rows into Parquet files, and gives each verb a fresh process. With ``--write`` the table goes into docs/scale.md
between its marks. A verb that takes more than 500 MB fails the run.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import possnet as pn

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "scale.md"
MARKS = "<!-- out of core -->", "<!-- end out of core -->"
MOST = 500.0  # MB
ASIA = pn.load_example("asia")
Verb = Callable[[Path, Path], object]


def _write_completed(rows: Path, out: Path) -> object:
    return pn.write_data(pn.complete(ASIA, pn.scan_data(rows)).resolved(), out / "completed.parquet")


def _read_all(rows: Path, _: Path) -> object:
    return sum(len(batch) for batch in pn.scan_data(rows))


def _query_all(rows: Path, _: Path) -> object:
    engine = pn.Inference(ASIA)
    return sum(len(engine.query_many("lung", batch)) for batch in pn.scan_data(rows))


def _fit_cuts(rows: Path, _: Path) -> object:
    count = pn.scan_data(rows).rows or 0
    return pn.fit_cut(ASIA.dag, pn.sample_batches(ASIA, count, imprecision=0.5, rng=1, batch=1 << 18), imprecision=0.5)


VERBS: dict[str, Verb] = {
    "scan_data": _read_all,
    "count": lambda rows, _: pn.count(ASIA.dag, pn.scan_data(rows)),
    "count(focal=True)": lambda rows, _: pn.count(ASIA.dag, pn.scan_data(rows), focal=True),
    "fit": lambda rows, _: pn.fit(ASIA.dag, pn.scan_data(rows)),
    "fit_em": lambda rows, _: pn.fit_em(ASIA.dag, pn.scan_data(rows), options=pn.EmOptions(max_steps=20)),
    "fit_cut, of alpha-cut rows drawn meanwhile": _fit_cuts,
    "detect_process": lambda rows, _: pn.detect_process(pn.scan_data(rows), ASIA.dag),
    "log_likelihood": lambda rows, _: pn.log_likelihood(ASIA, pn.scan_data(rows)),
    "random_set_log_likelihood": lambda rows, _: pn.random_set_log_likelihood(ASIA.dag, pn.scan_data(rows)),
    "learn_structure, mwst": lambda rows, _: pn.learn_structure(
        pn.scan_data(rows), "mwst", measure="mdl", search=pn.Search(in_passes=True)
    ),
    "learn_structure, greedy": lambda rows, _: pn.learn_structure(
        pn.scan_data(rows), "greedy", measure="random-set-bic", search=pn.Search(in_passes=True)
    ),
    "query_many": _query_all,
    "complete": _write_completed,
    "check": lambda rows, _: pn.check(ASIA, pn.scan_data(rows), ["lung"]),
    "write_data": lambda rows, out: pn.write_data(pn.scan_data(rows), out / "again.parquet"),
}


def run_verb(name: str, rows: Path) -> dict[str, float]:
    """Seconds, and the largest memory of the process in MB."""
    with tempfile.TemporaryDirectory(dir=rows.parent) as place:
        begun = time.perf_counter()
        VERBS[name](rows, Path(place))
        seconds = time.perf_counter() - begun
    return {"seconds": seconds, "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000}


def run_apart(*arguments: str) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr[-2000:]}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def draw_rows(count: int, folder: Path) -> dict[str, float]:
    """Rows of asia in one Parquet file."""
    begun = time.perf_counter()
    stream = pn.sample_batches(ASIA, count, imprecision=0.5, process="traced", rng=1, batch=1 << 18)
    pn.write_data(stream, folder / "rows.parquet")
    return {
        "seconds": time.perf_counter() - begun,
        "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        "bytes": (folder / "rows.parquet").stat().st_size,
    }


def main() -> None:
    """Draw the rows, run every verb, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--draw", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--verb", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.draw is not None:
        print(json.dumps(draw_rows(given.rows, given.draw)))
        return
    if given.verb is not None:
        print(json.dumps(run_verb(given.verb[0], Path(given.verb[1]))))
        return
    chosen = [name for name in VERBS if not given.only or name in given.only.split(",")]
    with tempfile.TemporaryDirectory() as place:
        drawn = run_apart("--rows", str(given.rows), "--draw", place)
        what = (
            f"{given.rows:,} rows of 8 variables, traced, imprecision .5, in a Parquet file of {drawn['bytes'] / 1e6:,.0f} MB, "
            f"measured on {dt.datetime.now(dt.UTC):%Y-%m-%d}; memory is the largest that the process had:"
        )
        lines = [
            what,
            "",
            "| verb | seconds | memory, MB |",
            "|---|---:|---:|",
            f"| `sample_batches` to `write_data` | {drawn['seconds']:.0f} | {drawn['MB']:.0f} |",
        ]
        print("\n".join(lines), flush=True)
        worst = drawn["MB"]
        for name in chosen:
            figures = run_apart("--verb", name, str(Path(place) / "rows.parquet"))
            lines.append(f"| `{name}` | {figures['seconds']:.0f} | {figures['MB']:.0f} |")
            print(lines[-1], flush=True)
            worst = max(worst, figures["MB"])
    if given.write:
        text = PAGE.read_text(encoding="utf-8")
        before, after = text.split(MARKS[0])[0], text.split(MARKS[1])[1]
        table = "\n".join(lines)
        PAGE.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}", encoding="utf-8")
    if worst > MOST:
        sys.exit(f"{worst:.0f} MB; expected at most {MOST:.0f}")


if __name__ == "__main__":
    main()
