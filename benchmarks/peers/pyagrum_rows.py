"""One target given many rows of evidence by pyAgrum: ``python pyagrum_rows.py FILE.uai ROWS.json --target 3``.

ROWS.json holds a list of rows, each a list of pairs [variable, state]. Timed are, for every row, setting the evidence,
``makeInference`` and reading the target's posterior; a row of impossible evidence counts like any other.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import pyagrum as gum
import uai
from pyagrum_marginals import build


def main() -> None:
    """Print the seconds a row, best of the repeats."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("rows")
    parser.add_argument("--target", type=int, required=True)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    net = build(uai.read(options.file))
    names = {k: net.variable(k).name() for k in net.nodes()}
    rows = [{names[v]: s for v, s in row} for row in json.loads(Path(options.rows).read_text(encoding="utf-8"))]
    engine = gum.LazyPropagation(net)
    engine.setNumberOfThreads(1)
    engine.setTargets({names[options.target]})
    best = float("inf")
    for _ in range(options.repeat):
        begin = time.perf_counter()
        for row in rows:
            try:
                engine.setEvidence(row)
                engine.makeInference()
                engine.posterior(names[options.target])
            except gum.IncompatibleEvidence:
                continue
        best = min(best, time.perf_counter() - begin)
    print(json.dumps({"version": gum.__version__, "seconds_per_row": best / len(rows)}))


if __name__ == "__main__":
    main()
