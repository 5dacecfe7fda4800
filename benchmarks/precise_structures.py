"""Distances of structures learned from precise rows of gold-standard networks, beside those of the peers' searches.

The peers take half an hour, so their answers are kept: ``python precise_structures.py`` asks them and writes
tests/fixtures/precise_structures.json, which the tests read too. The section of the page learns possnet's structures anew.

Rows are drawn with several seeds, and the columns are put into a random order, the same for everyone: in the files of these
networks parents stand before their children, and a search that begins with the order of the columns would begin with
the truth. (pyAgrum reads the columns in the order of the network's file.)
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
from measure import ROOT, Peer, Section, Target, say, table
from networks import bif, load

import possnet as pn
from possnet.metrics.structures import structure_metrics

FIXTURE = ROOT / "tests" / "fixtures" / "precise_structures.json"
NETWORKS = ("asia", "alarm", "insurance", "hailfinder")
SEEDS = {1_000: 10, 10_000: 5}
PATIENCE = 60
PEERS = {
    "pyagrum_greedy": "pyAgrum greedy",
    "pyagrum_tabu": "pyAgrum tabu",
    "pgmpy_greedy": "pgmpy hill climbing",
    "pgmpy_ges": "pgmpy GES",
    "causal_learn_ges": "causal-learn GES",
    "causal_learn_boss": "causal-learn BOSS",
}
SCORES = {"bic": "BIC", "bdeu": "BDeu"}
OURS = (("greedy", "bic"), ("boss", "bic"), ("greedy", "bdeu"), ("boss", "bdeu"))
TEXT = (
    "Structural Hamming distance between the CPDAG learned and the true one, and CPU seconds, both means over ten draws of 1,000 "
    "rows and five of 10,000 (degrees `optimal`, rows `precise`), the columns in random order. BIC is the same for all; "
    "causal-learn has none for discrete rows and is lent one, with counts kept; pgmpy's BDeu has an equivalent sample size of "
    "10, the others' 1, and possnet's and causal-learn's make edges rare beforehand. `-`: no run ended within a minute or"
    " two (pgmpy's GES was asked by BIC alone, its hill climbing by BDeu about asia and alarm); a number in brackets is "
    "how many did where some did not. pgmpy, and causal-learn by BDeu, had five draws of 1,000 rows."
)
COPIES = (
    "In hailfinder three columns are copies of others (`Scenario` and `ScnRelPlFcst`, `CombVerMo` and `AreaMeso_ALS`, "
    "`CompPlFcst` and `CapChange`): nothing in the rows tells which of the two has the children, some 30 edges, so that the "
    "distance is half a lottery. With the names of copies exchanged where that is closer to the truth, for everyone alike, by BIC:"
)


def draw_rows(name: str, rows: int, seed: int) -> pn.Dataset:
    """Precise rows with the columns in random order."""
    data = pn.sample(load(name), rows, process="precise", rng=seed)
    order = np.random.default_rng(seed).permutation(len(data.variables))
    return data.select([data.variables[k].name for k in order])


def list_copies(data: pn.Dataset) -> list[tuple[str, str]]:
    """Pairs of columns whose states go with each other one to one."""
    codes = {v.name: data.column(v.name).codes.astype(np.int64) for v in data.variables}
    distinct = {name: len(np.unique(column)) for name, column in codes.items()}
    return [
        (one, other)
        for one, other in combinations(codes, 2)
        if distinct[one] == distinct[other] > 1 and len(np.unique(codes[one] * 1000 + codes[other])) == distinct[one]
    ]


def distances(truth: pn.Dag, edges: Any, copies: list[tuple[str, str]]) -> tuple[int, int]:
    """Distance of the CPDAGs, and the least with names of copies exchanged."""
    values = []
    for pairs in chain.from_iterable(combinations(copies, k) for k in range(len(copies) + 1)):
        names = {name: name for name in truth.nodes} | {a: b for pair in pairs for a, b in (pair, pair[::-1])}
        learned = pn.Dag.from_edges([(names[a], names[b]) for a, b in edges], nodes=truth.nodes)
        values.append(int(structure_metrics(truth, learned)["essential_hamming"]))
    return values[0], min(values)


def ask_peers(name: str, rows: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Answers of all peers about one network; one that does not end with the first seed is not asked again."""
    truth, model = load(name).dag, bif(name, folder)
    files = {}
    for seed in range(1, SEEDS[rows] + 1):
        files[seed] = folder / f"{name}-{rows}-{seed}.csv"
        pn.write_data(draw_rows(name, rows, seed), files[seed])
    copies = list_copies(draw_rows(name, rows, 1))
    for search, score in ((search, score) for score in SCORES for search in PEERS):
        answer: dict[str, Any] = {
            "network": name,
            "rows": rows,
            "search": search,
            "score": score,
            "failed": 0,
            "runs": [],
        }
        for seed, file in files.items():
            with Peer() as peer:
                reply = peer("structure_search", patience=PATIENCE, search=search, file=file, net=model, score=score)
            if "edges" in reply:
                answer["runs"].append([seed, *distances(truth, reply["edges"], copies), round(reply["seconds"], 2)])
                continue
            answer["failed"] += 1
            if seed == 1:
                break
        say(f"{name} {rows} {search} {score} {answer['runs']}")
        yield answer


def record() -> None:
    """Ask the peers and write the fixture."""
    with Peer() as peer:
        versions = peer("versions")
    with tempfile.TemporaryDirectory() as folder:
        answers = [answer for name in NETWORKS for rows in SEEDS for answer in ask_peers(name, rows, Path(folder))]
    write_fixture(versions, answers)


def write_fixture(versions: dict[str, str], answers: list[dict[str, Any]]) -> None:
    """One line for every answer."""
    lines = ",\n".join(json.dumps(answer) for answer in answers)
    FIXTURE.write_text(f'{{"peers": {json.dumps(versions)}, "answers": [\n{lines}\n]}}\n', encoding="utf-8")


def learn_ours(name: str, rows: int) -> tuple[list[dict[str, Any]], float]:
    """What possnet's searches come to, in the form of the peers' answers; how far greedy's BIC lies below, on average."""
    truth = load(name).dag
    answers = [{"search": f"possnet {m}", "score": score, "failed": 0, "runs": []} for m, score in OURS]
    below = []
    for seed in range(1, SEEDS[rows] + 1):
        data = draw_rows(name, rows, seed)
        copies = list_copies(data)
        scores = []
        for (method, measure), answer in zip(OURS, answers, strict=True):
            begin = time.process_time()
            learned = pn.learn_structure(data, method, measure=measure)
            seconds = time.process_time() - begin
            answer["runs"].append([seed, *distances(truth, learned.dag.edges, copies), seconds])  # type: ignore[attr-defined]
            scores.append(learned.score)
        below.append(scores[1] - scores[0])
    say(f"{name} {rows} {[mean_of(answer) for answer in answers]}")
    return answers, float(np.mean(below))


def mean_of(answer: dict[str, Any], which: int = 1) -> float:
    """Mean distance (2: with copies exchanged, 3: seconds) of the runs that ended."""
    return float(np.mean([run[which] for run in answer["runs"]])) if answer["runs"] else float("inf")


def cell_of(answer: dict[str, Any] | None, which: int = 1) -> str:
    """Distance and seconds for the table."""
    if answer is None or not answer["runs"]:
        return "-"
    ended = f" ({len(answer['runs'])})" if answer["failed"] else ""
    return f"{mean_of(answer, which):.1f}{ended}, {mean_of(answer, 3):.2g} s"


def row_of(name: str, rows: int, score: str, answers: list[dict[str, Any]], which: int = 1) -> list[str]:
    """One line of a table: possnet's searches, then the peers'."""
    by_search = {answer["search"]: answer for answer in answers if answer["score"] == score}
    searches = ("possnet greedy", "possnet boss", *PEERS)
    return [name, f"{rows:,}", *(cell_of(by_search.get(search), which) for search in searches)]


def judge(name: str, rows: int, ours: dict[str, Any], peers: list[dict[str, Any]]) -> Target:
    """Whether possnet's structures are as close to the truth as those of the best peer."""
    best = min(peers, key=mean_of)
    label = f"{PEERS[best['search']]} by {SCORES[best['score']]} {cell_of(best)}"
    job = f"distance of CPDAGs, {name}, {rows:,} precise rows, `boss` by `bdeu`"
    return Target(job, cell_of(ours), label, mean_of(ours), round(mean_of(best), 2), "edges", at_most=True)


def measure(*, quick: bool) -> Section:
    """The whole section."""
    fixture = json.loads(FIXTURE.read_text(encoding="utf-8"))
    cases = [("asia", 1_000)] if quick else [(name, rows) for name in NETWORKS for rows in SEEDS]
    by_bic, by_bdeu, exchanged, gaps, targets = [], [], [], [], []
    for name, rows in cases:
        ours, below = learn_ours(name, rows)
        peers = [a for a in fixture["answers"] if (a["network"], a["rows"]) == (name, rows)]
        by_bic.append(row_of(name, rows, "bic", [*ours, *peers]))
        by_bdeu.append(row_of(name, rows, "bdeu", [*ours, *peers]))
        if name == "hailfinder":
            exchanged.append(row_of(name, rows, "bic", [*ours, *peers], 2))
        gaps.append(f"{name} {rows:,} {below:,.1f}")
        targets.append(judge(name, rows, ours[-1], peers))
    versions = ", ".join(f"{peer} {number}" for peer, number in fixture["peers"].items())
    head = " | ".join([" network", "rows", "possnet `greedy`", "possnet `boss`", *PEERS.values()]) + " "
    text = [f"{TEXT} Peers: {versions}.", "By BIC:", table(head, by_bic), "By BDeu:", table(head, by_bdeu)]
    text += [f"Nats by which the BIC of `greedy` lies below that of `boss`, on average: {', '.join(gaps)}."]
    if exchanged:
        text += [COPIES, table(head, exchanged)]
    return Section("\n\n".join(text), targets)


if __name__ == "__main__":
    sys.exit(record())
