"""Jobs of the peers: ``python serve.py GIGABYTES`` reads a line ``{"job": ..., ...}`` and answers with a line of JSON.

Every answer holds the seconds of one run; loading networks and frames is not timed unless it is the job. Above the given
number of gigabytes (0: no limit) an allocation fails.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import sys
import time
import warnings
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyagrum as gum
import uai
from structure_searches import structure_search

if TYPE_CHECKING:
    from collections.abc import Callable


def timed(work: Callable[[], object]) -> tuple[float, Any]:
    """Seconds and result of a call."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


@cache
def bif(file: str) -> gum.BayesNet:
    """Network of a BIF file."""
    return gum.loadBN(file)


@cache
def network(file: str) -> gum.BayesNet:
    """Network of a UAI file, in double precision: the last variable of each scope is the child, rows sum to one."""
    model = uai.read(file)
    net = gum.BayesNet()
    for v, size in enumerate(model.sizes):
        net.add(gum.RangeVariable(f"v{v}", "", 0, size - 1), v)
    net.beginTopologyTransformation()
    for *parents, child in model.scopes:
        for parent in reversed(parents):  # pyAgrum's arrays run backwards: the child last, the first arc before it
            net.addArc(parent, child)
    net.endTopologyTransformation()
    for scope, table in zip(model.scopes, model.tables, strict=True):
        sums = table.sum(axis=-1, keepdims=True)
        cpt = net.cpt(scope[-1])
        cpt.fillWith(np.divide(table, sums, out=np.full_like(table, 1 / table.shape[-1]), where=sums > 0))
    return net


@cache
def frame(file: str) -> pd.DataFrame:
    """Rows of a Parquet file as text."""
    return pd.read_parquet(file).astype(str)


def learner(source: object, net: gum.BayesNet, threads: int) -> gum.BNLearner:
    """A learner that has read its rows."""
    found = gum.BNLearner(source, net)
    found.setNumberOfThreads(threads)
    found.useSmoothingPrior(1e-9)
    return found


@cache
def loaded(file: str, net: str, threads: int) -> gum.BNLearner:
    """A learner that is kept."""
    return learner(frame(file) if file.endswith("parquet") else file, bif(net), threads)


def versions() -> dict[str, object]:
    """Who answers."""
    from importlib.metadata import version

    return {name: version(name) for name in ("pyagrum", "pgmpy", "causal-learn", "pandas")}


def samples(net: str, rows: int, threads: int) -> dict[str, object]:
    """Rows drawn from a network."""
    gum.setNumberOfThreads(threads)
    generator = gum.BNDatabaseGenerator(bif(net))
    return {"seconds": timed(lambda: generator.drawSamples(rows))[0]}


def read_and_learn(file: str, net: str, threads: int) -> dict[str, object]:
    """Parameters from a frame in memory (Parquet) or a CSV file, loading included."""
    source = frame(file) if file.endswith("parquet") else file
    structure = bif(net)
    loading, found = timed(lambda: learner(source, structure, threads))
    learning, _ = timed(lambda: found.learnParameters(structure.dag()))
    return {"seconds": loading + learning, "load": loading, "learn": learning}


def learn(file: str, net: str, threads: int) -> dict[str, object]:
    """Parameters by a learner that has its rows already."""
    found, dag = loaded(file, net, threads), bif(net).dag()
    return {"seconds": timed(lambda: found.learnParameters(dag))[0]}


def pgmpy_fit(file: str, families: dict[str, list[str]]) -> dict[str, object]:
    """Parameters by pgmpy from a categorical frame."""
    from pgmpy.models import DiscreteBayesianNetwork

    rows = frame(file).astype("category")
    model = DiscreteBayesianNetwork([(p, child) for child, parents in families.items() for p in parents])
    return {"seconds": timed(lambda: model.fit(rows))[0]}


def explode(file: str, families: dict[str, list[str]]) -> dict[str, object]:
    """Counts of every family of set-valued rows by pandas."""
    rows = pd.read_parquet(file)

    def work() -> None:
        for child, parents in families.items():
            part = rows[[*parents, child]]
            for name in (*parents, child):
                part = part.explode(name, ignore_index=True)
            part.groupby([*parents, child], observed=True).size()

    return {"seconds": timed(work)[0]}


def engine_of(net: gum.BayesNet, threads: int) -> gum.LazyPropagation:
    """An inference object."""
    found = gum.LazyPropagation(net)
    found.setNumberOfThreads(threads)
    return found


def marginals(file: str, threads: int, times: int = 1) -> dict[str, object]:
    """All posteriors without evidence, from a new inference object: the best of some runs."""
    net = network(file)

    def work() -> object:
        engine = engine_of(net, threads)
        engine.makeInference()
        return engine, [engine.posterior(v) for v in range(net.size())]

    return {"seconds": min(timed(work)[0] for _ in range(times))}


@cache
def changing(file: str, threads: int, variable: int) -> gum.LazyPropagation:
    """An inference object that has answered once."""
    engine = engine_of(network(file), threads)
    engine.setEvidence({variable: 0})
    engine.makeInference()
    return engine


def change(file: str, threads: int, variable: int, times: int) -> dict[str, object]:
    """All posteriors after a change of evidence on one variable, the object kept: seconds a change, the best."""
    engine, size = changing(file, threads, variable), network(file).size()

    def work(state: int) -> object:
        engine.chgEvidence(variable, state)
        engine.makeInference()
        return [engine.posterior(v) for v in range(size)]

    return {"seconds": min(timed(lambda s=turn: work(s % 2))[0] for turn in range(1, times + 1))}


def rows(file: str, rows: str, target: int, threads: int) -> dict[str, object]:
    """One target, or all that a row does not observe (-1), given rows of evidence (pairs [variable, state]): seconds a row.

    What an engine needs for its first answer is not counted.
    """
    net = network(file)
    given = [dict(map(tuple, row)) for row in json.loads(Path(rows).read_text(encoding="utf-8"))]
    engine = engine_of(net, threads)
    if target >= 0:
        engine.setTargets({target})
    engine.makeInference()
    engine.posterior(max(target, 0))

    def work() -> None:
        for row in given:
            try:
                engine.setEvidence(row)
                engine.makeInference()
                for wanted in [target] if target >= 0 else net.nodes() - row.keys():
                    engine.posterior(wanted)
            except gum.IncompatibleEvidence:
                continue

    return {"seconds": timed(work)[0] / len(given)}


def em(file: str, net: str, threads: int) -> dict[str, object]:
    """EM on rows with missing cells until a step gains less than .1; loading is not timed."""
    found = gum.BNLearner(file, bif(net), ["?"])
    found.setNumberOfThreads(threads)
    found.useSmoothingPrior(1e-9)
    found.useEMWithDiffCriterion(0.1)
    dag = bif(net).dag()
    seconds, _ = timed(lambda: found.learnParameters(dag))
    return {"seconds": seconds, "steps": found.EMnbrIterations()}


def pyagrum_structure(file: str, net: str, threads: int, times: int = 1) -> dict[str, object]:
    """Greedy search by BIC, loading the CSV file included; the best of several times."""
    structure = bif(net)

    def load() -> gum.BNLearner:
        found = gum.BNLearner(file, structure)
        found.setNumberOfThreads(threads)
        found.useNoPrior()
        found.useScoreBIC()
        found.useGreedyHillClimbing()
        return found

    runs = []
    for _ in range(times):
        loading, found = timed(load)
        learning, dag = timed(found.learnDAG)
        runs.append((loading + learning, loading, learning))
    seconds, loading, learning = min(runs)
    names = list(found.names())
    edges = [(names[a], names[b]) for a, b in dag.arcs()]
    return {"seconds": seconds, "load": loading, "learn": learning, "edges": edges}


def pgmpy_structure(file: str) -> dict[str, object]:
    """The same search by pgmpy."""
    from pgmpy.estimators import HillClimbSearch

    loading, found = timed(lambda: pd.read_csv(file, dtype="category"))
    learning, dag = timed(lambda: HillClimbSearch(found).estimate(scoring_method="bic-d", show_progress=False))
    return {"seconds": loading + learning, "load": loading, "learn": learning, "edges": list(dag.edges())}


JOBS = (
    versions, samples, read_and_learn, learn, pgmpy_fit, explode, marginals, change, rows, em, pyagrum_structure,
    pgmpy_structure, structure_search,
)  # fmt: skip


def main() -> None:
    """Answer line by line; what peers print goes to standard error."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if limit := int(float(sys.argv[1]) * 2**30):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    jobs = {job.__name__: job for job in JOBS}
    for line in sys.stdin:
        given = json.loads(line)
        try:
            found = jobs[given.pop("job")](**given)
        except Exception as error:  # noqa: BLE001 - whatever a peer raises is its answer
            found = {"failed": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
