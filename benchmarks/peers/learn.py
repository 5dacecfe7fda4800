"""Learning parameters by peers: ``python learn.py ROWS.parquet ROWS.csv NET.bif LISTS.parquet FAMILIES.json``.

ROWS are precise; LISTS holds lists of states, which no peer learns from: they are exploded and grouped with pandas, family
by family. Each time is one run in this process.
"""

import json
import logging
import sys
import time

import pandas as pd
import pyagrum as gum
from pgmpy.models import DiscreteBayesianNetwork


def timed(work: object) -> tuple[float, object]:
    """Seconds and result of a call."""
    begin = time.perf_counter()
    result = work()  # type: ignore[operator]
    return time.perf_counter() - begin, result


def pyagrum_learn(source: object, net: gum.BayesNet) -> tuple[float, float]:
    """Seconds to load rows and to learn from them."""

    def load() -> gum.BNLearner:
        learner = gum.BNLearner(source, net)
        learner.useSmoothingPrior(1e-9)
        return learner

    loading, learner = timed(load)
    learning = min(timed(lambda: learner.learnParameters(net.dag()))[0] for _ in range(5))
    return loading, learning


def exploded(file: str, families: dict[str, list[str]]) -> float:
    """Seconds to count every family of set-valued rows with explode and groupby."""
    frame = pd.read_parquet(file)

    def work() -> None:
        for child, parents in families.items():
            part = frame[[*parents, child]]
            for name in (*parents, child):
                part = part.explode(name, ignore_index=True)
            part.groupby([*parents, child], observed=True).size()

    return timed(work)[0]


def main() -> None:
    """Print all times as JSON."""
    logging.disable(logging.CRITICAL)
    rows, text, bif, lists, families = sys.argv[1:]
    net = gum.loadBN(bif)
    structure = json.loads(families)
    frame = pd.read_parquet(rows).astype("category")
    found = {"explode": exploded(lists, structure)}
    found["csv load"], found["csv learn"] = pyagrum_learn(text, net)
    model = DiscreteBayesianNetwork([(p, child) for child, parents in structure.items() for p in parents])
    found["pgmpy fit"], _ = timed(lambda: model.fit(frame))
    found["frame load"], found["frame learn"] = pyagrum_learn(frame.astype(str), net)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
