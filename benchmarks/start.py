"""What one waits for before the work begins: imports, commands, worker processes; and what the friendliest call costs."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from figures import figure_targets
from measure import QUICK_ROUNDS, ROOT, ROUNDS, Section, Target, in_own_process, interleaved, table, timed
from networks import load

import possnet as pn
from possnet.counting.count import tally_family
from possnet.counting.row_blocks import BLOCK, split_blocks
from possnet.inference import MAX_PRODUCT, JunctionTree, make_plan
from possnet.kernels import tally

POSSNET = str(Path(sys.executable).parent / "possnet")
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import possnet": [sys.executable, "-c", "import possnet"],
    "import possnet, touch every name": [
        sys.executable, "-c", "import possnet as pn\nfor name in pn.__all__: getattr(pn, name)",
    ],
    "a notebook's first drawing: import possnet, load a network, draw it": [
        sys.executable, "-c", "import possnet as pn; pn.load_example('clinic')._repr_html_()",
    ],
    "possnet --help": [POSSNET, "--help"],
    "possnet info asia": [POSSNET, "info", "asia"],
    "possnet query asia lung --given xray=yes": [POSSNET, "query", "asia", "lung", "--given", "xray=yes"],
}  # fmt: skip

WORKERS = """
import json, time
from concurrent.futures import wait
import possnet as pn
from possnet.executors import workers
begin = time.perf_counter()
with workers(2) as pool:
    wait([pool.submit(pow, 2, 10) for _ in range(2)])
    first = time.perf_counter() - begin
    wait([pool.submit(pn.load_example, "asia") for _ in range(2)])
    print(json.dumps([first, time.perf_counter() - begin]))
"""


def first_line(command: list[str]) -> float:
    """Seconds until a command prints something."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None  # noqa: S101
        process.stdout.readline()
        seconds = time.perf_counter() - begin
        process.stdout.read()
    return seconds


def starts(rounds: int) -> tuple[str, list[Target]]:
    """Times of commands, and until the demo's first line."""
    jobs: dict[str, Callable[[], float]] = {
        job: timed(lambda command=command: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
        for job, command in COMMANDS.items()
    }
    jobs["examples/demo.py, first line"] = lambda: first_line([sys.executable, "examples/demo.py"])
    jobs["two workers ready"] = lambda: float(in_own_process(WORKERS)[0])
    jobs["two workers with possnet loaded"] = lambda: float(in_own_process(WORKERS)[1])
    found = interleaved(jobs, rounds)
    beyond = 1e3 * (found["import possnet"].best - found["import numpy"].best)
    helping = found["possnet --help"]
    drawing = next(times for job, times in found.items() if job.startswith("a notebook"))
    return table(" job | time ", [[f"`{job}`", str(times)] for job, times in found.items()]), [
        Target("import possnet, beyond numpy", str(found["import possnet"]), f"numpy {found['import numpy']}", beyond, 30, "ms", at_most=True),
        Target("possnet --help", str(helping), "a limit", 1e3 * helping.best, 200, "ms", at_most=True),
        Target("a notebook's first drawing, import included", str(drawing), "a limit", drawing.best, 1, "s", at_most=True),
    ]  # fmt: skip


def friendliest(rounds: int) -> str:
    """The call that people write beside the kernel underneath."""
    alarm = load("alarm")
    data = pn.sample(alarm, 1_000_000, process="precise", rng=1)
    some = [data.row(k) for k in range(10_000)]
    listed = [tuple(row[v.name] for v in data.variables) for row in some]
    names = [v.name for v in alarm.variables]
    place = {name: k for k, name in enumerate(names)}
    scopes = [tuple(place[n] for n in (*alarm.dag.parents(name), name)) for name in names]

    def kernels() -> None:
        for block in split_blocks(data, names, tally.Scratch(), BLOCK):
            for name in names:
                tally_family(block, list(alarm.dag.parents(name)), name)

    def tree() -> None:
        plan = make_plan([len(v) for v in alarm.variables], scopes)
        found = JunctionTree(plan, scopes, [alarm.table(name) for name in names], MAX_PRODUCT)
        with np.errstate(divide="ignore", invalid="ignore"):  # as the engine does
            found.collect()
            found.distribute()

    fever = pn.load_example("clinic").variable("fever")
    pi = pn.Possibility(fever, [1.0, 0.6, 0.1])
    numbers = np.array([1.0, 0.6, 0.1])
    pairs: dict[str, tuple[Callable[[], object], str, Callable[[], object]]] = {
        "`pn.fit(dag, data)`, a million rows": (lambda: pn.fit(alarm.dag, data), "counting kernels", kernels),
        "`pn.Inference(net).marginals()`, alarm": (
            lambda: pn.Inference(alarm).marginals(),
            "plan and junction tree",
            tree,
        ),
        "`pn.sample(net, 1_000_000)`": (
            lambda: pn.sample(alarm, 1_000_000, process="precise", rng=1),
            "as many random numbers",
            lambda: np.random.default_rng(1).random((37, 1_000_000), dtype=np.float32),
        ),
        "`Dataset.from_rows`, 10,000 rows of 37 sets": (
            lambda: pn.Dataset.from_rows(data.variables, listed),
            "a list of their lengths",
            lambda: [[len(cell) for cell in row] for row in listed],
        ),
        "`pi.possibility({...})`, a thousand times": (
            lambda: [pi.possibility({"mild", "high"}) for _ in range(1000)],
            "numpy's own maximum",
            lambda: [numbers[1:].max() for _ in range(1000)],
        ),
    }
    jobs: dict[str, Callable[[], float]] = {}
    for name, (call, _, kernel) in pairs.items():
        jobs[name], jobs[f"{name}|"] = timed(call), timed(kernel)
    found = interleaved(jobs, rounds)
    rows = [
        [name, str(found[name]), f"{under}: {found[f'{name}|']}", f"{found[name].best / found[f'{name}|'].best:.1f}"]
        for name, (_, under, _) in pairs.items()
    ]
    return table(" call | time | underneath | times as much ", rows)


def measure(*, quick: bool) -> Section:
    """The whole section."""
    rounds = QUICK_ROUNDS if quick else ROUNDS + 2
    text, targets = starts(rounds)
    targets += figure_targets(rounds)
    return Section(text, targets) if quick else Section(f"{text}\n\n{friendliest(ROUNDS)}", targets)
