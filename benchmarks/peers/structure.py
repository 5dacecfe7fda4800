"""Structures by peers: ``python structure.py PEER ROWS.csv NET.bif THREADS``; PEER is pyagrum or pgmpy.

Both climb greedily by BIC. Loading is timed apart; pyAgrum reads the CSV file itself, with the domains of the network.
"""

import json
import logging
import sys
import time


def pyagrum(rows: str, bif: str, threads: int) -> dict[str, object]:
    """Seconds to load and to learn, and the edges."""
    import pyagrum as gum

    net = gum.loadBN(bif)
    begin = time.perf_counter()
    learner = gum.BNLearner(rows, net)
    learner.setNumberOfThreads(threads)
    learner.useNoPrior()
    learner.useScoreBIC()
    learner.useGreedyHillClimbing()
    loaded = time.perf_counter()
    dag = learner.learnDAG()
    seconds = time.perf_counter() - loaded
    names = list(learner.names())
    edges = [(names[a], names[b]) for a, b in dag.arcs()]
    return {"load": loaded - begin, "learn": seconds, "edges": edges}


def pgmpy(rows: str) -> dict[str, object]:
    """Seconds to load and to learn, and the edges."""
    import pandas as pd
    from pgmpy.estimators import HillClimbSearch

    begin = time.perf_counter()
    frame = pd.read_csv(rows, dtype="category")
    loaded = time.perf_counter()
    found = HillClimbSearch(frame).estimate(scoring_method="bic-d", show_progress=False)
    seconds = time.perf_counter() - loaded
    return {"load": loaded - begin, "learn": seconds, "edges": list(found.edges())}


def main() -> None:
    """Print seconds and edges as JSON."""
    logging.disable(logging.CRITICAL)
    peer, rows, bif, threads = sys.argv[1:]
    print(json.dumps(pyagrum(rows, bif, int(threads)) if peer == "pyagrum" else pgmpy(rows)))


if __name__ == "__main__":
    main()
