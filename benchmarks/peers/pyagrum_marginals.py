"""All marginals by pyAgrum's LazyPropagation, timed: ``python pyagrum_marginals.py FILE.uai --threads 1 --json``.

Timed are the creation of the inference object, ``makeInference`` and reading every posterior; then, with the object
kept, a change of the evidence on one variable, ``makeInference`` and reading every posterior. Building the network
is not timed.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyagrum as gum
import randomnet
import uai

if TYPE_CHECKING:
    from uai import Model, Table

ROUNDING = 1e-12


def normalised(table: Table) -> Table:
    """The table with every row (last axis) summing to one; a row of zeros becomes uniform."""
    sums = table.sum(axis=-1, keepdims=True)
    if (np.abs(sums - 1) <= ROUNDING).all():
        return np.ascontiguousarray(table)
    return np.divide(table, sums, out=np.full_like(table, 1 / table.shape[-1]), where=sums > 0)


def build(model: Model) -> gum.BayesNet:
    """The network whose conditional tables are the factors, the last variable of each scope the child."""
    children = [scope[-1] for scope in model.scopes]
    if model.kind != "BAYES" or sorted(children) != list(range(len(model.sizes))):
        raise SystemExit("a BAYES file with one factor per child is needed")
    net = gum.BayesNet()
    for v, size in enumerate(model.sizes):
        net.add(gum.RangeVariable(f"v{v}", "", 0, size - 1), v)
    net.beginTopologyTransformation()
    for *parents, child in model.scopes:
        for parent in reversed(parents):  # pyAgrum's arrays run backwards: the child last, the first arc before it
            net.addArc(parent, child)
    net.endTopologyTransformation()
    for child, table in zip(children, model.tables, strict=True):
        cpt = net.cpt(child)
        cpt.fillWith(normalised(table))
    return net


def read_all(engine: gum.LazyPropagation, count: int) -> list[gum.Tensor]:
    """Every posterior."""
    return [engine.posterior(v) for v in range(count)]


def start(net: gum.BayesNet, evidence: dict[int, int], threads: int) -> gum.LazyPropagation:
    """An inference object with its evidence."""
    engine = gum.LazyPropagation(net)
    engine.setNumberOfThreads(threads)
    if evidence:
        engine.setEvidence(evidence)
    return engine


def time_marginals(net: gum.BayesNet, evidence: dict[int, int], threads: int, repeat: int) -> list[float]:
    """Seconds of every repeat, from nothing to all posteriors."""
    seconds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        engine = start(net, evidence, threads)
        engine.makeInference()
        kept = read_all(engine, net.size())
        seconds.append(time.perf_counter() - begin)
        del kept, engine
    return seconds


def pick(net: gum.BayesNet, evidence: dict[int, int], threads: int, wanted: int | None) -> tuple[int, list[int]]:
    """The variable whose evidence changes, and its possible states given the rest of the evidence.

    The one asked for, else the first one observed, else the first leaf that has parents, else the first variable;
    these two must have two possible states.
    """
    choice = next(iter(evidence), None) if wanted is None else wanted
    rest = {v: k for v, k in evidence.items() if v != choice}
    engine = start(net, rest, threads)
    engine.makeInference()
    possible = [np.flatnonzero(p.toarray() > 0).tolist() for p in read_all(engine, net.size())]
    if choice is None:
        usable = [v for v in range(net.size()) if len(possible[v]) > 1]
        choice = next((v for v in usable if net.parents(v) and not net.children(v)), next(iter(usable), 0))
    return choice, possible[choice]


def time_change(
    net: gum.BayesNet, evidence: dict[int, int], threads: int, repeat: int, wanted: int | None
) -> dict[str, Any]:
    """Seconds of every repeat of a change of evidence on one variable, the inference object kept."""
    v, states = pick(net, evidence, threads, wanted)
    if len(states) < 2:
        return {"variable": v, "states": states, "best": None, "all": []}
    engine = start(net, evidence | {v: states[0]}, threads)
    engine.makeInference()
    kept = read_all(engine, net.size())
    seconds = []
    for turn in range(1, repeat + 1):
        begin = time.perf_counter()
        engine.chgEvidence(v, states[turn % len(states)])
        engine.makeInference()
        kept = read_all(engine, net.size())
        seconds.append(time.perf_counter() - begin)
    del kept
    return {"variable": v, "states": states, "best": min(seconds), "all": seconds}


def self_test() -> None:
    """Joints and posteriors of small networks against brute force."""
    rng = np.random.default_rng(5)
    models = (randomnet.network(rng, int(rng.integers(1, 8)), zeros=0.2) for _ in range(60))
    for place, model in enumerate(randomnet.through_files(models)):
        net = build(model)
        rows = tuple(table / table.sum(axis=-1, keepdims=True) for table in model.tables)
        truth = randomnet.joint(uai.Model("BAYES", model.sizes, model.scopes, rows))
        compare_joint(net, truth, place)
        compare_posteriors(net, truth, place, randomnet.some_evidence(rng, model.sizes, place % 3))
    print("self-test passed: 60 networks")


def compare_joint(net: gum.BayesNet, truth: Table, place: int) -> None:
    """The product of pyAgrum's own conditional tables, cell by cell."""
    names = [net.variable(v).name() for v in range(net.size())]
    cell = gum.Instantiation()
    for v in range(net.size()):
        cell.add(net.variable(v))
    for states in np.ndindex(truth.shape):
        cell.fromdict(dict(zip(names, map(int, states), strict=True)))
        randomnet.check(randomnet.close(net.jointProbability(cell), truth[states]), f"joint of network {place}")


def compare_posteriors(net: gum.BayesNet, truth: Table, place: int, evidence: dict[int, int]) -> None:
    """Posteriors without evidence, with it, and after it changed."""
    engine = start(net, {}, 1)
    for given in ({}, evidence, *({v: k} for v in evidence for k in range(truth.shape[v]))):
        seen = randomnet.observe(truth, given)
        if not seen.sum():
            continue
        if len(given) == 1 and engine.hasEvidence(next(iter(given))) and engine.nbrEvidence() == 1:
            engine.chgEvidence(*next(iter(given.items())))
        else:
            engine.setEvidence(given)
        engine.makeInference()
        for v, posterior in enumerate(read_all(engine, net.size())):
            axes = tuple(u for u in range(truth.ndim) if u != v)
            expected = seen.sum(axis=axes) / seen.sum()
            randomnet.check(randomnet.close(posterior.toarray(), expected), f"posterior {v} of network {place}")


def main() -> None:
    """Time one file, or test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--evidence", help="var=state,... known from the start")
    parser.add_argument("--change", type=int, help="the variable whose evidence changes")
    parser.add_argument("--json", action="store_true", help="on one line")
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_args()
    if given.self_test:
        return self_test()
    if given.file is None:
        parser.error("a file is needed")
    gum.setNumberOfThreads(given.threads)
    model = uai.read(given.file)
    evidence = uai.parse_evidence(given.evidence, model.sizes)
    begin = time.perf_counter()
    net = build(model)
    built = time.perf_counter() - begin
    seconds = time_marginals(net, evidence, given.threads, given.repeat)
    answer = {
        "peer": "pyAgrum LazyPropagation",
        "version": gum.__version__,
        "threads": given.threads,
        "variables": len(model.sizes),
        "entries": sum(table.size for table in model.tables),
        "build": built,
        "marginals": {"best": min(seconds), "all": seconds},
        "change": time_change(net, evidence, given.threads, given.repeat, given.change),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    return print(json.dumps(answer, indent=None if given.json else 2))


if __name__ == "__main__":
    main()
