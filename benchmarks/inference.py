"""Exact inference beside pyAgrum's LazyPropagation, on the same structures.

All marginals without evidence, planning included: possnet's max-product, a new engine every time, and pyAgrum's
sum-product with one thread and with two. Then a change of evidence with the plan kept, a data set of evidence rows, and
such data sets beside a loop of single queries.
"""

import itertools
import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measure import (
    QUICK_ROUNDS,
    ROUNDS,
    Peer,
    Section,
    Target,
    Times,
    better,
    faster,
    in_own_process,
    interleaved,
    next_limit,
    say,
    table,
    timed,
)
from networks import load

import possnet as pn
from possnet.arrow import TextColumn
from possnet.inference import MAX_PRODUCT, JunctionTree, make_plan
from possnet.inference.tree_layout import layout_of_structure

QUICK = ["asia", "alarm", "insurance", "hailfinder", "win95pts", "hepar2", "pathfinder", "andes"]
NETWORKS = [*QUICK, "pigs", "diabetes", "mildew", "water", "munin", "barley", "munin1"]
ROWS = 100_000
LOOP_ROWS = 999
TEXT = """Max-product marginals of all variables without evidence, on the gold-standard structures (probabilities turned into
possibilities with `optimal`), beside pyAgrum's LazyPropagation (sum-product marginals on the same graph). Each timed possnet run
makes a new engine; the plan is kept from an earlier engine of the same structure, or made anew ("first"). "Times faster" compares
with the better of one and two threads. Peak memory is that of a whole possnet process."""

MARGINALS = """
import json, sys, time
import possnet as pn
net = pn.read_network(sys.argv[1])
begin = time.perf_counter()
engine = pn.Inference(net)
engine.marginals()
print(json.dumps([time.perf_counter() - begin, engine.plan.entries, PEAK]))
"""


def plan_anew(net: pn.Network) -> None:
    """All marginals with no plan of an earlier engine."""
    layout_of_structure.cache_clear()
    pn.Inference(net).marginals()


def marginals(folder: Path, names: list[str], rounds: int, peer: Peer) -> tuple[str, list[Target]]:
    """All marginals, network by network."""
    rows: list[list[str]] = []
    ratios: dict[str, float] = {}
    first: dict[str, float] = {}
    for name in names:
        net = load(name)
        pn.write_network(net, folder / f"{name}.json")
        pn.write_network(net, folder / f"{name}.uai", preamble="BAYES")
        times = 10 if sum(net.table(v.name).size for v in net.variables) < 5_000 else 1  # a run of milliseconds
        pn.Inference(net).marginals()
        jobs = {"possnet": timed(lambda net=net: pn.Inference(net).marginals(), times)}
        jobs |= peer.with_threads("marginals", file=folder / f"{name}.uai", times=times)
        jobs["first"] = timed(lambda net=net: plan_anew(net), times)
        found = interleaved(jobs, 1 if name == "munin1" else rounds)
        _, cells, memory = in_own_process(MARGINALS, str(folder / f"{name}.json"))
        ratios[name], first[name] = (better(found).best / found[key].best for key in ("possnet", "first"))
        figures = [*map(str, found.values()), f"{ratios[name]:.1f}", f"{first[name]:.1f}", f"{memory:,.0f}"]
        rows.append([name, f"{cells:,}", *figures])
        say(" ".join(rows[-1]))
    mean, mean_first = (math.exp(sum(map(math.log, of.values())) / len(of)) for of in (ratios, first))
    worst, worst_first = (min(of, key=of.__getitem__) for of in (ratios, first))
    whole = f"{len(ratios)} networks"
    targets = [
        Target("all marginals, geometric mean", whole, "pyAgrum, 1 or 2 threads", mean, 4),
        Target("all marginals, the least", worst, "pyAgrum, 1 or 2 threads", ratios[worst], 2),
        Target("all marginals, planned anew, geometric mean", whole, "pyAgrum, 1 or 2 threads", mean_first, 2),
        Target(
            "all marginals, planned anew, never slower", worst_first, "pyAgrum, 1 or 2 threads", first[worst_first], 1
        ),
    ]
    return table(
        " network | cells | possnet | pyAgrum, 1 thread | 2 threads | possnet, first | times faster | first | possnet peak MB ",
        rows,
    ), targets


def link(folder: Path) -> tuple[str, list[Target]]:
    """The network that needs a good plan."""
    net = load("link")
    pn.write_network(net, folder / "link.json")
    pn.write_network(net, folder / "link.uai", preamble="BAYES")
    runs = [in_own_process(MARGINALS, str(folder / "link.json")) for _ in range(ROUNDS)]
    took, peak = Times(tuple(run[0] for run in runs)), max(run[2] for run in runs)
    with Peer(most_gigabytes=16) as peer:
        answer = peer("marginals", patience=120, file=folder / "link.uai", threads=1)
    summary = f"{answer['seconds']:.1f} s" if "seconds" in answer else answer["failed"]
    text = (
        f"link ({runs[0][1]:,} cells): possnet {took}, peak {peak:,.0f} MB. pyAgrum with one thread, 16 GB and two minutes: "
        f"{summary}."
    )
    return text, [
        Target("link, all marginals", str(took), "a limit", took.best, 10, "s", at_most=True),
        Target("link, peak memory", f"{peak:,.0f} MB", "a limit", peak / 1024, 4, "GB", at_most=True),
    ]


def change(folder: Path, rounds: int, peer: Peer) -> Target:
    """Evidence changes on alarm, the plan kept."""
    net = load("alarm")
    name = next(v for v in net.dag.leaves if net.dag.parents(v))
    variable, place = net.variable(name), [v.name for v in net.variables].index(name)
    engine = pn.Inference(net)
    engine.marginals()

    turns = itertools.count()
    jobs = {"possnet": timed(lambda: engine.marginals({name: variable.states[next(turns) % 2]}), 40)}
    jobs |= peer.with_threads("change", file=folder / "alarm.uai", variable=place, times=40)
    found = interleaved(jobs, rounds)
    return faster("alarm, all marginals after a change of evidence", found["possnet"], "pyAgrum", better(found), 3)


def evidence_rows(net: pn.Network, target: str, rows: int, share: float, *, sets: bool = False) -> pn.Dataset:
    """Rows that agree with the network, each cell known with the given probability; every second with a state more."""
    rng = np.random.default_rng(1)
    states: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.int64]]] = {}
    for name in net.dag.topological_order():
        table = net.table(name)
        p = table / table.sum(axis=-1, keepdims=True)
        parents = tuple(states[parent] for parent in net.dag.parents(name))
        row = p[parents] if parents else np.broadcast_to(p, (rows, p.size))
        draws = (rng.random((rows, 1)) > np.cumsum(row, axis=-1)).sum(axis=-1)
        states[name] = np.minimum(draws, row.shape[-1] - 1)
    columns = []
    for variable in net.variables:
        if variable.name != target:
            size, state = len(variable), states[variable.name]
            pairs = [(s, t) for s in variable.states for t in variable.states]
            other = (state + rng.integers(1, max(size, 2), rows)) % size
            known = np.where(sets & (rng.random(rows) < 0.5), size + 1 + state * size + other, state)
            codes = np.where(rng.random(rows) < share, known, size)
            columns.append(TextColumn(variable.name, codes, [*((s,) for s in variable.states), None, *pairs]))
    return pn.Dataset.from_columns(columns, variables=[v for v in net.variables if v.name != target])


def many_rows(folder: Path, rounds: int, peer: Peer) -> Target:
    """Many evidence rows on alarm; pyAgrum answers the first 200."""
    net = load("alarm")
    target = "HYPOVOLEMIA"
    data = evidence_rows(net, target, ROWS, 0.5)
    place = {v.name: k for k, v in enumerate(net.variables)}
    some = []
    for r in range(200):
        missing = {v.name for v in data.variables if data.missing(v.name)[r]}
        row = data.row(r).items()
        some.append([[place[n], net.variable(n).index(next(iter(s)))] for n, s in row if n not in missing])
    (folder / "rows.json").write_text(json.dumps(some), encoding="utf-8")
    jobs: dict[str, Callable[[], float]] = {
        "possnet": lambda: timed(lambda: pn.Inference(net).query_many(target, data))() / ROWS
    }
    jobs |= peer.with_threads("rows", file=folder / "alarm.uai", rows=folder / "rows.json", target=place[target])
    found = interleaved(jobs, rounds)
    return faster(f"alarm, {ROWS:,} evidence rows, one target, a row", found["possnet"], "pyAgrum", better(found), 100)


def wide_network() -> pn.Network:
    """39 variables of four states and 71 edges, at most four parents, no further than twelve places up."""
    rng = np.random.default_rng(7)
    names = [f"x{k:02d}" for k in range(39)]
    parents: dict[str, list[str]] = {name: [] for name in names}
    while sum(map(len, parents.values())) < 71:
        child = int(rng.integers(1, len(names)))
        parent = names[int(rng.integers(max(0, child - 12), child))]
        if parent not in parents[names[child]] and len(parents[names[child]]) < 4:
            parents[names[child]].append(parent)
    tables = {name: rng.random((4,) * (len(above) + 1)) for name, above in parents.items()}
    scope = [pn.Variable(name, ("a", "b", "c", "d")) for name in names]
    return pn.Network(scope, pn.Dag(parents), pn.normalise_tables(tables))


def rows_or_loop(rounds: int) -> tuple[str, list[Target]]:
    """Rows of evidence beside a loop of single queries, from nothing observed to everything; the loop on fifty rows."""
    net, target, few = wide_network(), "x20", 50
    lines, ratios = [], {}
    for sets in (False, True):
        for share in (0.0, 0.1, 0.5, 0.9, 1.0):
            data = evidence_rows(net, target, LOOP_ROWS, share, sets=sets)
            evidence = []
            for r in range(few):
                cells = data.row(r).items()
                evidence.append({name: set(cell) for name, cell in cells if not data.missing(name)[r]})
            engine = pn.Inference(net)
            jobs: dict[str, Callable[[], float]] = {
                "rows": timed(lambda data=data: pn.Inference(net).query_many(target, data)),
                "loop": lambda asked=evidence, engine=engine: (
                    timed(lambda: [engine.query(target, e) for e in asked])() * LOOP_ROWS / few
                ),
            }
            found = interleaved(jobs, rounds)
            kind = "precise and pairs" if sets else "precise"
            ratios[f"{share:.0%} observed, {kind}"] = ratio = found["loop"].best / found["rows"].best
            lines.append([kind, f"{share:.0%}", str(found["rows"]), str(found["loop"]), f"{ratio:.1f}"])
    worst = min(ratios, key=ratios.__getitem__)
    text = (
        f"A random network of 39 four-state variables and 71 edges, {LOOP_ROWS} rows: `query_many` beside a loop of `query`.\n\n"
        + table(" cells | observed | `query_many` | loop | times faster ", lines)
    )
    job = "rows of evidence, never slower than a loop of `query`"
    return text, [Target(job, worst, "possnet, a loop", ratios[worst], 1)]


def zeros_line() -> str:
    """How much of the clique tables is zero: what a sparse engine could leave out."""
    shares = []
    for name in [*NETWORKS[:-1], "link"]:
        net = load(name)
        place = {v.name: k for k, v in enumerate(net.variables)}
        scopes = [tuple(place[n] for n in (*net.dag.parents(v.name), v.name)) for v in net.variables]
        plan = make_plan([len(v) for v in net.variables], scopes)
        tree = JunctionTree(plan, scopes, [net.table(v.name) for v in net.variables], MAX_PRODUCT)
        tree.collect()
        zeros = sum(int((tree.table(k) == 0.0).sum()) for k in range(len(plan.cliques)))
        shares.append(f"{name} {100 * zeros / plan.entries:.0f} %")
    dense, sparse, finding = cell_costs()
    return (
        f"Zero cells of the clique tables: {', '.join(shares)}. On a million cells, combining and projecting costs "
        f"{dense:.1f} ns a cell densely; by index, with an eighth of the cells left, {sparse:.1f} ns a cell that is left, "
        f"and {finding:.1f} ns a cell of the full table to find them, which alone is {finding / dense:.1f} of the dense "
        "work. So a single calibration gains nothing by leaving zeros out; many on one plan might. States that evidence "
        "excludes are cut from the tables of a query."
    )


def cell_costs() -> tuple[float, float, float]:
    """Nanoseconds a cell: combine and project densely; the same by index on the cells left; finding these."""
    rng = np.random.default_rng(1)
    left, right = rng.random(1 << 20), rng.random(1 << 20)
    left[rng.random(left.size) > 1 / 8] = 0.0

    def best(work: Callable[[], object], cells: int) -> float:
        return timed(work, 7)() / cells * 1e9

    kept = np.flatnonzero(left)
    starts = np.arange(0, kept.size, 4)
    dense = best(lambda: np.maximum.reduce((left * right).reshape(4, -1), axis=0), left.size)
    sparse = best(lambda: np.maximum.reduceat(np.take(left, kept) * np.take(right, kept), starts), kept.size)
    return dense, sparse, best(lambda: np.flatnonzero(left), left.size)


def measure(*, quick: bool) -> Section:
    """The whole section."""
    rounds = QUICK_ROUNDS if quick else ROUNDS
    with tempfile.TemporaryDirectory() as name, Peer() as peer:
        folder = Path(name)
        text, targets = marginals(folder, QUICK if quick else NETWORKS, rounds, peer)
        targets += [change(folder, rounds, peer), many_rows(folder, rounds, peer)]
        loops, of_loops = rows_or_loop(rounds)
        targets += of_loops
        if quick:
            return Section(f"{text}\n\n{loops}", targets)
        summary, more = link(folder)
    limits = []
    for name in ("asia", "alarm", "munin"):
        net = load(name)
        limits.append(
            next_limit(f"all marginals of {name}", lambda net=net: [pn.Inference(net).marginals() for _ in range(5)], 5)
        )
    return Section("\n\n".join([TEXT, text, loops, summary, "\n".join(limits), zeros_line()]), [*targets, *more])
