"""Structures of gold-standard networks beside pyAgrum's and pgmpy's, and of 60 imprecise variables."""

import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from measure import (
    QUICK_ROUNDS,
    ROUNDS,
    Peer,
    Section,
    Target,
    better,
    faster,
    interleaved,
    next_limit,
    say,
    table,
    timed,
)
from networks import bif, load

import possnet as pn
from possnet.metrics.structures import structure_metrics

NETWORKS = ("asia", "alarm", "insurance", "hailfinder", "win95pts", "andes")
ROWS = (1_000, 10_000, 100_000)
FEW = 1_000  # rows on which searches are short enough to be run ten times a turn
MANY = 100_000  # rows from which on the search starts again six times
PATIENCE = 60
TOO_LONG = ("andes", 100_000)  # minutes of pyAgrum
WITH_PGMPY = ("asia", "alarm")
FEW_VARIABLES = ("asia",)  # of which the default search compares all structures
WITH_CAUSAL_LEARN = tuple((name, rows) for name in ("asia", "alarm", "insurance") for rows in (1_000, 10_000))
CALLS = "there, reading and searching are calls of Python's and numpy's, with little arithmetic in each."
CAUSAL_LEARN = ("causal_learn_ges", "causal_learn_boss")
TEXT = (
    "Greedy search by BIC on precise rows of the gold-standard structures (degrees `optimal`, rows `precise`), loading the CSV "
    f"file included; pyAgrum with one and two threads; pgmpy on {' and '.join(WITH_PGMPY)} once, given up after {PATIENCE} s. "
    "BIC is computed anew for both graphs, in nats; the higher is the better. The distances are structural Hamming distances "
    "between essential graphs. possnet walks on for ten moves at every peak (`tabu=10`), and starts again six times "
    f"(`restarts=6`) on {MANY:,} rows, which pyAgrum does not. Of {' and '.join(FEW_VARIABLES)} the default search, `boss`, is shown "
    "too: of so few variables it compares all orders, so that no BIC is better."
)


def mean_ratio(ratios: Iterable[float]) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(list(ratios)))))


def distance(truth: pn.Dag, edges: object) -> int:
    """Hamming distance of essential graphs."""
    learned = pn.Dag.from_edges([tuple(edge) for edge in edges], nodes=truth.nodes)  # type: ignore[attr-defined, misc]
    return int(structure_metrics(truth, learned)["essential_hamming"])


def bic(data: pn.Dataset, dag: pn.Dag) -> float:
    """BIC of a graph by its definition, from the counts of precise rows."""
    total, rows = 0.0, len(data)
    size = {v.name: len(v) for v in data.variables}
    for name in dag.nodes:
        key = np.zeros(rows, dtype=np.int64)
        for parent in dag.parents(name):
            key = key * size[parent] + data.column(parent).codes
        contexts, key = np.unique(key, return_inverse=True)
        counts = np.bincount(key * size[name] + data.column(name).codes, minlength=len(contexts) * size[name])
        counts = counts.reshape(len(contexts), size[name])
        shares = counts / counts.sum(axis=1, keepdims=True)
        configurations = np.prod([size[parent] for parent in dag.parents(name)], dtype=np.float64)
        total += float((counts * np.log(np.where(counts > 0, shares, 1.0))).sum())
        total -= np.log(rows) / 2 * configurations * (size[name] - 1)
    return total


def find_structure(net: pn.Network, file: Path, rows: int, method: str) -> pn.LearnedStructure:
    """From the file to the graph."""
    search = pn.Search(restarts=6) if rows >= MANY and method == "greedy" else pn.Search()
    return pn.learn_structure(pn.read_data(file, variables=net), method, measure="bic", search=search)


def longest_case(folder: Path) -> str:
    """The case for which pyAgrum takes minutes: it is given up after one."""
    name, rows = TOO_LONG
    net, file = load(name), folder / "longest.csv"
    pn.write_data(pn.sample(net, rows, process="precise", rng=1), file)
    seconds = timed(lambda: find_structure(net, file, rows, "greedy"))()
    with Peer() as peer:
        answer = peer("pyagrum_structure", patience=PATIENCE, file=file, net=bif(name, folder), threads=2)
    theirs = f"{answer['seconds']:.0f} s" if "seconds" in answer else f"given up after {PATIENCE} s"
    return f"{name}, {rows:,} rows, `greedy`: possnet {seconds:.1f} s, once; pyAgrum with two threads: {theirs}."


def line(
    name: str, rows: int, method: str, folder: Path, rounds: int, peer: Peer, *, slow: bool
) -> tuple[list[str], dict[str, Any], float]:
    """One row of the table, its times, and how much better the BIC of a row is than pyAgrum's."""
    net = load(name)
    file = folder / f"{name}-{rows}.csv"
    pn.write_data(pn.sample(net, rows, process="precise", rng=1), file)
    model = bif(name, folder)

    def ours() -> pn.LearnedStructure:
        return find_structure(net, file, rows, method)

    times = 10 if rows <= FEW else 1  # a run of milliseconds
    jobs: dict[str, Callable[[], float]] = {"possnet": timed(ours, times)}
    jobs |= peer.with_threads("pyagrum_structure", file=file, net=model, times=times)
    found = interleaved(jobs, rounds)
    edges = peer("pyagrum_structure", file=file, net=model, threads=1)["edges"]
    data, learned = pn.read_data(file, variables=net), ours().dag
    theirs = pn.Dag.from_edges([tuple(edge) for edge in edges], nodes=net.dag.nodes)
    scores = bic(data, learned), bic(data, theirs)
    cells = [
        name,
        f"{rows:,}",
        method,
        str(found["possnet"]),
        str(distance(net.dag, learned.edges)),
        f"{scores[0]:,.0f}",
    ]
    cells += [str(found["peer, 1"]), str(found["peer, 2"]), str(distance(net.dag, edges)), f"{scores[1]:,.0f}"]
    cells.append(f"{better(found).best / found['possnet'].best:.2f}")
    if slow:
        answer: dict[str, Any] = {}
        if name in WITH_PGMPY:
            with Peer() as other:
                answer = other("pgmpy_structure", patience=PATIENCE, file=file)
        known = "seconds" in answer
        cells += [f"{answer['seconds']:.1f} s", str(distance(net.dag, answer["edges"]))] if known else ["-", "-"]
    say(" ".join(cells))
    return cells, found, (scores[0] - scores[1]) / rows


def beside_causal_learn(folder: Path, peer: Peer) -> tuple[str, dict[tuple[str, int], float]]:
    """BIC of possnet's searches and of causal-learn's, and how much better a row is by possnet's default, by the case."""
    rows, gains = [], {}
    for name, number in WITH_CAUSAL_LEARN:
        net, file = load(name), folder / f"{name}-{number}.csv"
        if not file.exists():
            pn.write_data(pn.sample(net, number, process="precise", rng=1), file)
        data = pn.read_data(file, variables=net)
        greedy, boss = (bic(data, pn.learn_structure(data, way, measure="bic").dag) for way in ("greedy", "boss"))
        cells, theirs = [name, f"{number:,}", f"{greedy:,.0f}", f"{boss:,.0f}"], []
        for search in CAUSAL_LEARN:
            answer = peer(
                "structure_search",
                patience=PATIENCE,
                search=search,
                file=file,
                net=bif(name, folder),
                score="bic",
            )
            if "edges" not in answer:
                cells.append("-")
                continue
            theirs.append(bic(data, pn.Dag.from_edges([tuple(edge) for edge in answer["edges"]], nodes=net.dag.nodes)))
            cells.append(f"{theirs[-1]:,.0f}")
        if theirs:
            gains[name, number] = (boss - max(theirs)) / number
        rows.append(cells)
        say(" ".join(cells))
    head = " network | rows | greedy | boss, the default | causal-learn, GES | causal-learn, BOSS "
    return f"BIC of other searches on the same rows; bnlearn needs R and was not run.\n\n{table(head, rows)}", gains


def imprecise() -> str:
    """Seconds for 60 variables and 100,000 imprecise rows."""
    net = pn.random_network(60, max_parents=2, states=(2, 4), rng=5)
    data = pn.sample(net, 100_000, process="traced", imprecision=0.7, rng=1)
    rows = []
    for method, measure in (
        ("mwst", "mutual-information"),
        ("mwst", "random-set-bic"),
        ("k2", "random-set-bic"),
        ("greedy", "random-set-bic"),
        ("greedy", "mdl"),
        ("hybrid-tree", None),
    ):
        begin = time.perf_counter()
        found = pn.learn_structure(
            data,
            method,
            measure=measure,
            constraints=pn.Constraints(max_parents=3),
        )
        seconds = time.perf_counter() - begin
        summary = f"{method} by {found.measure}"
        rows.append([summary, f"{seconds:.2f}", str(len(found.edges)), str(distance(net.dag, found.dag.edges))])
    return table(" 60 variables, 100,000 traced rows | seconds | edges | distance ", rows)


def hide_cells(data: pn.Dataset, share: float, seed: int) -> pn.Dataset:
    """The same rows with a share of their cells unknown."""
    rng = np.random.default_rng(seed)
    columns = []
    for variable in data.variables:
        column = data.column(variable.name)
        cells = np.array([*(cell[0] for cell in column.cells if cell), None], dtype=object)
        columns.append(cells[np.where(rng.random(len(data)) < share, len(cells) - 1, column.codes)].tolist())
    table = {v.name: column for v, column in zip(data.variables, columns, strict=True)}
    return pn.Dataset.from_table(table, variables=data.variables)


def missing_cells() -> str:
    """CPDAGs of alarm where every tenth cell is unknown, beside those of the complete rows."""
    net, rows = load("alarm"), []
    for method in ("greedy", "boss"):
        for seed in range(1, 6):
            complete = pn.sample(net, 10_000, process="precise", rng=seed)
            gaps = hide_cells(complete, 0.1, seed)
            begin = time.process_time()
            found = pn.learn_structure(gaps, method)
            seconds = time.process_time() - begin
            whole = pn.learn_structure(complete, method)
            distances = [distance(net.dag, found.dag.edges), distance(net.dag, whole.dag.edges)]
            distances.append(distance(whole.dag, found.dag.edges))
            rows.append([f"{method}, seed {seed}", f"{seconds:.1f}", *map(str, distances)])
            say(" ".join(rows[-1]))
    return table(
        " alarm, 10,000 rows, every tenth cell unknown | CPU seconds | distance | of complete rows | between the two ",
        rows,
    )


def measure(*, quick: bool) -> Section:
    """The whole section."""
    rounds = QUICK_ROUNDS if quick else ROUNDS
    cases = (
        [("alarm", 10_000, "greedy")]
        if quick
        else [
            (name, rows, method)
            for name in NETWORKS
            for rows in ROWS
            for method in ("greedy", *(["boss"] if name in FEW_VARIABLES else []))
            if (name, rows) != TOO_LONG
        ]
    )
    rows, times, gains = [], {}, {}
    with tempfile.TemporaryDirectory() as folder, Peer() as peer:
        for case in cases:
            few = min(rounds, 3) if case[1] >= MANY else rounds
            cells, times[case], gains[case] = line(*case, Path(folder), few, peer, slow=not quick)
            rows.append(cells)
        beside, beyond = ("", {}) if quick else beside_causal_learn(Path(folder), peer)
        longest = "" if quick else longest_case(Path(folder))
    found = times["alarm", 10_000, "greedy"]
    target = faster(
        "greedy structure search, alarm, 10,000 rows, BIC, file to graph", found["possnet"], "pyAgrum", better(found), 1
    )
    head = " network | rows | method | possnet | distance | BIC | pyAgrum, 1 thread | 2 threads | distance | BIC | times faster "
    if quick:
        return Section(table(head, rows), [target])
    net = load("alarm")
    data = pn.sample(net, 10_000, process="precise", rng=1)
    limit = next_limit(
        "alarm, 10,000 rows, without loading", lambda: pn.learn_structure(data, "greedy", measure="bic"), 5
    )
    ratios = {case: better(times[case]).best / times[case]["possnet"].best for case in cases}
    slower = [f"{name}, {n:,} rows, `{way}` ({ratio:.2f})" for (name, n, way), ratio in ratios.items() if ratio < 1]
    small = f"pyAgrum is faster on {'; '.join(slower)}: {CALLS}" if slower else "pyAgrum is nowhere faster."
    text = [
        TEXT,
        table(f"{head}| pgmpy | distance ", rows),
        longest,
        small,
        limit,
        beside,
        imprecise(),
        missing_cells(),
    ]
    many = {case: ratio for case, ratio in ratios.items() if case[1] >= 10_000}
    few_rows = [ratio for case, ratio in ratios.items() if case not in many]
    worst = min(gains, key=gains.__getitem__)
    more = [
        Target("structure, file to graph, 10,000 rows and more, geometric mean", f"{len(many)} cases", "pyAgrum", mean_ratio(many.values()), 1),
        Target("structure, file to graph, 1,000 rows, geometric mean", f"{len(few_rows)} cases", "pyAgrum", mean_ratio(few_rows), 1),
        Target("structure, BIC, never worse", "{}, {:,} rows, `{}`".format(*worst), "pyAgrum",
               round(gains[worst], 9), 0, "nats a row better"),
    ]  # fmt: skip
    if beyond:
        least = min(beyond, key=beyond.__getitem__)
        more.append(
            Target("structure, BIC of the default search, never worse", "{}, {:,} rows".format(*least),
                   "the better of causal-learn's GES and BOSS", round(beyond[least], 9), 0, "nats a row better"),
        )  # fmt: skip
    return Section("\n\n".join(text), [target, *more])
