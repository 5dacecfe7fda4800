"""Searches of the peers for the structure behind precise rows: a CSV file in, the edges of a DAG and CPU seconds out.

BIC charges for all states of the network's variables, as possnet does, and not for those alone that occur. causal-learn's
only score of its own for discrete rows is BDeu, by a data frame for each family; so that its searches come to an end, and by
the same score as the others, BIC is put in its place: `discrete_bic`, which keeps what it has counted.
"""

from __future__ import annotations

import time
from functools import cache
from math import log, prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyagrum as gum

if TYPE_CHECKING:
    from collections.abc import Callable

Edges = list[tuple[str, str]]
_SCORES = {"bic": "useScoreBIC", "bdeu": "useScoreBDeu"}


@cache
def read_domains(net: str) -> dict[str, list[str]]:
    """States of every variable of a BIF file."""
    model = gum.loadBN(net)
    return {name: list(model.variable(name).labels()) for name in model.names()}


@cache
def read_rows(file: str) -> pd.DataFrame:
    """Rows as text."""
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def learn_by_pyagrum(file: str, net: str, score: str, search: str) -> Edges:
    """Edges that a search of pyAgrum's comes to."""
    model = gum.loadBN(net)  # kept while the learner lives, which does not hold it
    learner = gum.BNLearner(file, model)
    learner.setNumberOfThreads(1)
    learner.useNoPrior()
    getattr(learner, _SCORES[score])()
    getattr(learner, search)()
    names = list(learner.names())
    return [(names[a], names[b]) for a, b in learner.learnDAG().arcs()]


def pyagrum_greedy(file: str, net: str, score: str) -> Edges:
    """Greedy hill climbing."""
    return learn_by_pyagrum(file, net, score, "useGreedyHillClimbing")


def pyagrum_extended(file: str, net: str, score: str) -> Edges:
    """Extended greedy hill climbing."""
    return learn_by_pyagrum(file, net, score, "useExtendedGreedyHillClimbing")


def pyagrum_tabu(file: str, net: str, score: str) -> Edges:
    """Local search with a tabu list."""
    return learn_by_pyagrum(file, net, score, "useLocalSearchWithTabuList")


def pgmpy_score(file: str, net: str, score: str) -> Any:
    """A score of pgmpy's on the rows."""
    from pgmpy.structure_score import BIC, BDeu

    return {"bic": BIC, "bdeu": BDeu}[score](read_rows(file), state_names=read_domains(net))


def pgmpy_greedy(file: str, net: str, score: str) -> Edges:
    """Hill climbing."""
    from pgmpy.causal_discovery import HillClimbSearch

    search = HillClimbSearch(pgmpy_score(file, net, score), return_type="dag", show_progress=False)
    return list(search.fit(read_rows(file)).causal_graph_.edges())


def pgmpy_ges(file: str, net: str, score: str) -> Edges:
    """Greedy equivalence search."""
    from pgmpy.causal_discovery import GES

    return list(GES(pgmpy_score(file, net, score), return_type="dag").fit(read_rows(file)).causal_graph_.edges())


def code_rows(file: str, net: str) -> np.ndarray:
    """Rows as numbers of states."""
    rows, domains = read_rows(file), read_domains(net)
    return np.stack([pd.Categorical(rows[name], domains[name]).codes for name in rows], axis=1).astype(np.int64)


def discrete_bic(rows: np.ndarray, sizes: list[int]) -> Callable[..., float]:
    """BIC of a family, for causal-learn."""
    price = log(len(rows)) / 2

    @cache
    def score(child: int, parents: tuple[int, ...]) -> float:
        codes = np.zeros(len(rows), dtype=np.int64)
        for parent in parents:
            codes = codes * sizes[parent] + rows[:, parent]
        if parents:
            codes = np.unique(codes, return_inverse=True)[1]
        counts = np.bincount(codes * sizes[child] + rows[:, child])
        contexts = np.bincount(codes)
        gained = sum(
            float((n * np.log(n)).sum()) * sign for n, sign in ((counts[counts > 0], 1), (contexts[contexts > 0], -1))
        )
        return gained - price * (sizes[child] - 1) * prod(sizes[parent] for parent in parents)

    def local_score_bic(_: object, child: int, parents: list[int], _parameters: object = None) -> float:
        return score(int(child), tuple(sorted(map(int, parents))))

    return local_score_bic


def use_score(module: Any, file: str, net: str, score: str) -> np.ndarray:
    """The rows, and BIC in the place of BDeu if that is asked for."""
    from causallearn.score.LocalScoreFunction import local_score_BDeu

    rows = code_rows(file, net)
    sizes = [len(read_domains(net)[name]) for name in read_rows(file)]
    module.local_score_BDeu = local_score_BDeu if score == "bdeu" else discrete_bic(rows, sizes)
    return rows


def list_edges(graph: Any, file: str) -> Edges:
    """Edges of a DAG of the class that causal-learn's graph stands for."""
    from causallearn.utils.PDAG2DAG import pdag2dag

    matrix, names = pdag2dag(graph).graph, list(read_rows(file))
    return [(names[a], names[b]) for a, b in np.argwhere((matrix == -1) & (matrix.T == 1)).tolist()]


def causal_learn_ges(file: str, net: str, score: str) -> Edges:
    """Greedy equivalence search."""
    from causallearn.search.ScoreBased import GES

    return list_edges(GES.ges(use_score(GES, file, net, score), "local_score_BDeu")["G"], file)


def causal_learn_boss(file: str, net: str, score: str) -> Edges:
    """Best order score search."""
    import random

    from causallearn.search.PermutationBased import BOSS

    random.seed(1)
    return list_edges(BOSS.boss(use_score(BOSS, file, net, score), "local_score_BDeu", verbose=False), file)


SEARCHES = (
    pyagrum_greedy, pyagrum_extended, pyagrum_tabu, pgmpy_greedy, pgmpy_ges, causal_learn_ges, causal_learn_boss,
)  # fmt: skip


def structure_search(search: str, file: str, net: str, score: str) -> dict[str, object]:
    """Edges that one of the searches comes to, and its CPU seconds."""
    work = {entry.__name__: entry for entry in SEARCHES}[search]
    begin = time.process_time()
    edges = work(file, net, score)
    return {"seconds": time.process_time() - begin, "edges": edges}
