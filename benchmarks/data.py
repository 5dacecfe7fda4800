"""Reading data beside bare pyarrow: a million rows of 37 variables and 105 states, precise and imprecise.

Every job runs in a process of its own (so that peak memory is its own), three times, interleaved; the best time counts.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

SIZES = [2] * 13 + [3] * 17 + [4] * 7  # 37 variables, 105 states
ROWS = 1_000_000

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
"""

RUN = """
import json, re, sys, time
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
print(json.dumps([seconds, int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024]))
"""

KINDS = ("pyarrow", "read", "read with variables", "scan with variables")


def table() -> str:
    """Seconds, ratio to pyarrow and peak memory, file by file."""
    head = [f"{ROWS:,} rows, {len(SIZES)} variables, {sum(SIZES)} states; seconds (ratio to pyarrow), peak memory.", ""]
    head += ["| file | size | " + " | ".join(KINDS) + " |", "|---" * (len(KINDS) + 2) + "|"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", MAKE, folder, str(ROWS)], check=True)
        for path in sorted(Path(folder).iterdir()):
            best: dict[str, tuple[float, float]] = {}
            for _ in range(3):
                for kind in KINDS:
                    command = [sys.executable, "-c", RUN, kind, str(path)]
                    result = subprocess.run(command, check=True, capture_output=True, text=True)
                    seconds, memory = json.loads(result.stdout)
                    best[kind] = min(best.get(kind, (9e9, 0.0)), (seconds, memory))
            base = best["pyarrow"][0]
            cells = " | ".join(f"{s:.2f} s ({s / base:.2f}), {m:.0f} MB" for s, m in best.values())
            head.append(f"| {path.name} | {path.stat().st_size / 1e6:.0f} MB | {cells} |")
            print(head[-1], file=sys.stderr, flush=True)
    return "\n".join(head)


if __name__ == "__main__":
    print(table())
