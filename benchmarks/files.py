"""Reading data beside bare pyarrow, streams of a hundred million rows, and reading networks.

A million rows of 37 variables and 105 states, precise and imprecise. Every job runs in a process of its own, so that peak
memory is its own.
"""

import tempfile
from pathlib import Path

from measure import QUICK_ROUNDS, ROUNDS, Section, Target, in_own_process, interleaved, say, table, timed
from networks import load

SIZES = [2] * 13 + [3] * 17 + [4] * 7  # 37 variables, 105 states
ROWS = 1_000_000
NETWORKS = ("alarm", "hailfinder", "pathfinder", "munin", "link", "diabetes", "mildew")

MAKE = """
import sys, numpy as np, possnet as pn
from possnet.kernels import bitmaps
folder, rows = sys.argv[1], int(sys.argv[2])
sizes = [2] * 13 + [3] * 17 + [4] * 7
rng = np.random.default_rng(1)
scope = [pn.Variable(f"v{k:02d}", tuple(f"state{j}" for j in range(n))) for k, n in enumerate(sizes)]
for name, share in (("precise", 0.0), ("imprecise", 0.5)):
    words = {}
    for v in scope:
        cells = np.eye(len(v), dtype=bool)[rng.integers(0, len(v), rows)] | (rng.random((rows, len(v))) < share)
        words[v.name] = bitmaps.pack(np.ascontiguousarray(cells.T))
    data = pn.Dataset.unchecked(scope, words, rows)
    pn.write_data(data, f"{folder}/{name}.csv")
    pn.write_data(data, f"{folder}/{name}-masks.parquet")
    pn.write_data(data, f"{folder}/{name}-lists.parquet", layout="lists")
print("{}")
"""

RUN = """
import json, sys, time
kind, path = sys.argv[1], sys.argv[2]
import pyarrow, pyarrow.csv, pyarrow.parquet
if kind == "pyarrow":
    if path.endswith("csv"):
        work = lambda: pyarrow.csv.read_csv(path)
    else:
        def work():
            file = pyarrow.parquet.ParquetFile(path)
            return [file.read_row_group(group).num_rows for group in range(file.num_row_groups)]
else:
    import possnet as pn
    scope = pn.read_data(path.rsplit("/", 1)[0] + "/precise-masks.parquet").variables
    if kind == "read":
        work = lambda: pn.read_data(path)
    elif kind == "read with variables":
        work = lambda: pn.read_data(path, variables=scope)
    else:
        work = lambda: sum(len(batch) for batch in pn.scan_data(path, variables=scope))
work()
begin = time.perf_counter(); work(); seconds = time.perf_counter() - begin
print(json.dumps([seconds, PEAK]))
"""

STREAM = """
import json, sys, time
import possnet as pn
variables = pn.read_data(sys.argv[1]).variables
names = [variable.name for variable in variables]
dag = pn.Dag({name: tuple(names[max(k - 2, 0):k]) for k, name in enumerate(names)})
begin = time.perf_counter()
counts = pn.count(dag, pn.scan_data([sys.argv[2]] * int(sys.argv[3]), variables=variables))
print(json.dumps([time.perf_counter() - begin, counts.rows, PEAK]))
"""

WRITE = """
import json, sys, time
import pyarrow, pyarrow.parquet
import possnet as pn
kind, folder = sys.argv[1], sys.argv[2]
if kind == "pyarrow":
    rows = pyarrow.parquet.read_table(folder + "/imprecise-lists.parquet")
    work = lambda: pyarrow.parquet.write_table(rows, folder + "/written.parquet")
else:
    rows = pn.read_data(folder + "/imprecise-masks.parquet")
    work = lambda: pn.write_data(rows, folder + "/written.parquet", layout="lists")
work()
begin = time.perf_counter(); work(); seconds = time.perf_counter() - begin
print(json.dumps([seconds, PEAK]))
"""

KINDS = ("pyarrow", "read", "read with variables", "scan with variables")


def reading(folder: Path, rounds: int, *, quick: bool) -> tuple[str, list[Target]]:
    """Seconds, ratio to pyarrow and peak memory, file by file."""
    rows, rates = [], {}
    for path in sorted(folder.glob("*imprecise-*.parquet") if quick else folder.iterdir()):
        peaks = dict.fromkeys(KINDS, 0.0)

        def job(kind: str, path: Path = path, peaks: dict[str, float] = peaks) -> float:
            seconds, peaks[kind] = in_own_process(RUN, kind, str(path))
            return float(seconds)

        found = interleaved({kind: lambda kind=kind: job(kind) for kind in KINDS}, rounds)
        base = found["pyarrow"].best
        cells = [f"{times} ({times.best / base:.2f}), {peaks[kind]:.0f} MB" for kind, times in found.items()]
        rows.append([path.name, f"{path.stat().st_size / 1e6:.0f} MB", *cells])
        rates[path.stem] = (found["scan with variables"], found["pyarrow"])
        say(" ".join(rows[-1]))
    targets = []
    for layout, share in (("lists", 0.5), ("masks", 0.25)):
        ours, theirs = rates[f"imprecise-{layout}"]
        ratio = theirs.best / ours.best
        what = "lists of strings" if layout == "lists" else "masks"
        targets.append(
            Target(f"stream Parquet of {what}", str(ours), f"bare pyarrow {theirs}", ratio, share, "of its rate")
        )
    return table(f" file | size | {' | '.join(KINDS)} ", rows), targets


def writing(folder: Path, rounds: int) -> tuple[str, list[Target]]:
    """Lists of strings written, beside pyarrow's own writer, which gets them ready made."""
    jobs = {
        kind: lambda kind=kind: float(in_own_process(WRITE, kind, str(folder))[0]) for kind in ("pyarrow", "possnet")
    }
    found = interleaved(jobs, rounds)
    ours, theirs = found["possnet"], found["pyarrow"]
    text = (
        f'Written as a Parquet file of lists of strings (`layout="lists"`): {ours}; pyarrow alone, from a table of lists in '
        f"memory: {theirs}."
    )
    ratio = ours.best / theirs.best
    job = f"write {ROWS:,} imprecise rows as lists"
    return text, [Target(job, str(ours), f"bare pyarrow {theirs}", ratio, 2, "times the time", at_most=True)]


def streaming(folder: Path, *, quick: bool) -> tuple[str, list[Target]]:
    """The same file many times over, counted."""
    lines, peaks = [], []
    for layout in ("masks", "lists"):
        for times in (1, 10) if quick else (1, 10, 100):
            arguments = [str(folder / "precise-masks.parquet"), str(folder / f"imprecise-{layout}.parquet"), str(times)]
            seconds, rows, peak = in_own_process(STREAM, *arguments)
            peaks.append(peak)
            lines.append([layout, f"{rows:,}", f"{seconds:.1f}", f"{rows / seconds / 1e6:.1f}", f"{peak:.0f}"])
            say(" ".join(lines[-1]))
    span = len(peaks) // 2
    growth = max(peaks[span - 1] / peaks[0], peaks[-1] / peaks[span])
    most = max(peaks)
    return table(" Parquet of | rows streamed and counted | seconds | million rows a second | peak MB ", lines), [
        Target("stream and count, peak memory", f"{most:.0f} MB", "a limit", most, 500, "MB", at_most=True),
        Target(
            f"stream and count, memory from 1 to {10 if quick else 100} million rows", f"{most:.0f} MB", "flat", growth, 1.25,
            "times the memory", at_most=True,
        ),
    ]  # fmt: skip


def networks(rounds: int) -> str:
    """Time of every BIF file."""
    found = interleaved({name: timed(lambda name=name: load(name)) for name in NETWORKS}, rounds)
    rows = []
    for name, times in found.items():
        net = load(name)
        rows.append([name, f"{sum(net.table(v.name).size for v in net.variables):,}", str(times)])
    return table(" network | degrees | BIF to possibilities ", rows)


def measure(*, quick: bool) -> Section:
    """The whole section."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        in_own_process(MAKE, name, str(ROWS))
        read, targets = reading(folder, QUICK_ROUNDS if quick else ROUNDS, quick=quick)
        written, own = writing(folder, QUICK_ROUNDS if quick else ROUNDS)
        streamed, more = streaming(folder, quick=quick)
    head = f"{ROWS:,} rows, {len(SIZES)} variables, {sum(SIZES)} states; time (ratio to pyarrow), peak memory."
    parts = [head, read, written, streamed] if quick else [head, read, written, streamed, networks(3)]
    return Section("\n\n".join(parts), [*targets, *own, *more])
