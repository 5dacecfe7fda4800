"""Instructions of the hot kernels, counted by callgrind: they show a regression where times cannot.

They are the difference between more and fewer runs in a process, and do not depend on what else the machine does.
``benchmarks/instructions.json`` keeps them; a count more than a tenth above what is kept is a missed target. ``python
instructions.py`` keeps the counts of today.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure import Section, Target, say, table
from networks import load

import possnet as pn

KEPT = Path(__file__).parent / "instructions.json"
MORE = 1.1

# What is prepared and what is counted, and how often it is repeated.
CASES = {
    "count 65,536 precise rows of alarm": ("data = pn.sample(net, 65_536, process='precise', rng=1)", "pn.count(net.dag, data)", 10),
    "count 65,536 rows of alarm, theta .5": ("data = pn.sample(net, 65_536, rng=1)", "pn.count(net.dag, data)", 10),
    "draw 65,536 rows of alarm, theta .5": ("", "pn.sample(net, 65_536, rng=1)", 2),
    "plan alarm": (
        "from possnet.inference.tree_layout import layout_of_structure as kept", "kept.cache_clear(); pn.Inference(net).plan", 20,
    ),
    "all marginals of alarm, plan kept": ("engine = pn.Inference(net)", "engine.marginals({'HISTORY': next(turn)})", 20),
    "a new engine and all marginals of alarm, plan known": ("", "pn.Inference(net).marginals()", 20),
    "a single query of alarm, half of the variables known": (
        "row = pn.sample(net, 1, process='precise', rng=1).row(0); given = {name: next(iter(cell)) for name, cell in list(row.items())[::2] if name != 'HYPOVOLEMIA'}; engine = pn.Inference(net)",
        "engine.query('HYPOVOLEMIA', given)", 100,
    ),
    "the same, of a pattern that was not asked before": (
        "row = pn.sample(net, 1, process='precise', rng=1).row(0); given = {name: next(iter(cell)) for name, cell in list(row.items())[::2] if name != 'HYPOVOLEMIA'}; engine = pn.Inference(net)",
        "engine._questions._programs.clear(); engine.query('HYPOVOLEMIA', given)", 50,
    ),
    "complete a row of alarm, five cells unknown": (
        "data = pn.sample(net, 1, process='precise', rng=1); row = [next(iter(cell)) if k % 8 else None for k, cell in enumerate(data.row(0).values())]",
        "pn.complete(net, pn.Dataset.from_rows(data.variables, [tuple(row)]))", 20,
    ),
    "the most possible configuration of alarm": ("", "pn.Inference(net).most_possible_k(1, {'HISTORY': next(turn)})", 20),
    "the ten best of alarm": ("", "pn.Inference(net).most_possible_k(10, {'HISTORY': next(turn)})", 10),
    "1,000 evidence rows of alarm": (
        "data = pn.sample(net, 1_000, rng=1); engine = pn.Inference(net)", "engine.query_many('HYPOVOLEMIA', data)", 4,
    ),
    "1,000 evidence rows of alarm by slices": (
        "from possnet.inference import batched, row_loop, row_queries as q; row_loop._SECONDS_A_QUERY = float('inf'); q._QUICK_SECONDS = q._WORTH_A_TRY = -1.0; batched._SECONDS_A_CLIQUE = 1e9; data = pn.sample(net, 1_000, rng=1); engine = pn.Inference(net)",
        "engine.query_many('HYPOVOLEMIA', data)", 4,
    ),
    "a step of EM, 1,000 rows of alarm": (
        "data = pn.sample(net, 1_000, process='traced', rng=1)",
        "pn.fit_em(net.dag, data, tolerance=0.0, options=pn.EmOptions(accelerate=False, max_steps=1))", 2,
    ),
    "greedy structure, 1,000 rows of alarm": (
        "data = pn.sample(net, 1_000, process='precise', rng=1)", "pn.learn_structure(data, 'greedy', measure='bic', search=pn.Search(max_steps=5))", 2,
    ),
    "the best structure of all, 1,000 rows of asia": (
        "data = pn.sample(pn.load_example('asia'), 1_000, process='precise', rng=1)", "pn.learn_structure(data, 'boss', measure='bic')", 10,
    ),
    "pairs of columns counted together, 16,384 rows of alarm": (
        "from possnet.structure.coded_rows import CodedRows; from possnet.structure.contingency import ContingencyTables; tables = ContingencyTables(CodedRows(pn.sample(net, 16_384, process='precise', rng=1)))",
        "[list(tables.count_cells((0, 1), 2, range(3, 37))), list(tables.count_cells((4, 5, 7, 9), 6, range(10, 37)))]", 10,
    ),
    "read a CSV file of 20,000 rows of alarm": (
        "import tempfile; from possnet.io.data_formats import csv_data; csv_data._SMALL_FILE = 0; file = tempfile.mkdtemp() + '/rows.csv'; pn.write_data(pn.sample(net, 20_000, process='precise', rng=1), file)",
        "pn.read_data(file, variables=net)", 4,
    ),
    "read a CSV file of 1,000 rows of alarm, names of states alone": (
        "import tempfile; file = tempfile.mkdtemp() + '/rows.csv'; pn.write_data(pn.sample(net, 1_000, process='precise', rng=1), file)",
        "pn.read_data(file, variables=net)", 10,
    ),
    "complete 1,000 rows of alarm, half of the cells unknown": (
        "import numpy as np; data = pn.sample(net, 1_000, process='precise', rng=1); drawn = np.random.default_rng(1).random((1_000, 37)) < 0.5; rows = [{name: None if drawn[r, k] else cell for k, (name, cell) in enumerate(data.row(r).items())} for r in range(1_000)]; data = pn.Dataset.from_rows(data.variables, [tuple(row.values()) for row in rows])",
        "pn.complete(net, data)", 4,
    ),
}  # fmt: skip
PROGRAM = """
import gc, itertools, sys
import possnet as pn
net = pn.read_network(sys.argv[1])
turn = itertools.cycle(net.variable("HISTORY").states)
{begin}
gc.disable()
for _ in range(2 + int(sys.argv[2])):
    {work}
"""


def instructions(case: str, network: Path) -> int:
    """Instructions of one run: a process that repeats it less one that does not, without the garbage collector."""
    begin, work, times = CASES[case]

    def ran(count: int) -> int:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c"]
        code = PROGRAM.format(begin=begin, work=work)
        environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= {"OPENBLAS_NUM_THREADS": "1"}  # threads that wait for work count too
        run = subprocess.run(
            [*command, code, str(network), str(count)], check=False, capture_output=True, text=True, env=environment
        )
        found = re.search(r"Collected : (\d+)", run.stderr)
        if run.returncode or not found:
            raise SystemExit(f"callgrind, {case}: {run.stderr[-300:]}")
        return int(found[1])

    count = (ran(times) - ran(0)) // times
    say(f"{case}: {count:,} instructions")
    return count


def counted() -> dict[str, int]:
    """Instructions of every case."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        file = Path(folder) / "alarm.json"
        pn.write_network(load("alarm"), file)
        return dict(zip(CASES, pool.map(lambda case: instructions(case, file), CASES), strict=True))


def measure() -> Section:
    """Counts of today beside those kept."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    rows, ratios = [], {}
    for case, count in counted().items():
        before = kept.get(case, count)  # of a new kernel nothing is kept yet
        ratios[case] = count / before
        rows.append([case, f"{count / 1e6:,.1f}", f"{before / 1e6:,.1f}", f"{ratios[case]:.3f}"])
    worst = max(ratios, key=ratios.__getitem__)
    target = Target(
        "instructions of the hot kernels, the worst", worst, "counts kept", ratios[worst], MORE, "times", at_most=True
    )
    return Section(table(" kernel | million instructions | kept | ratio ", rows), [target])


if __name__ == "__main__":
    KEPT.write_text(json.dumps(counted(), indent=1) + "\n", encoding="utf-8")
