"""EM by pyAgrum on rows with missing cells: ``python pyagrum_em.py ROWS.csv NET.bif THREADS``.

Timed is learning alone, not loading; EM stops when the log-likelihood gains less than .1 between two steps.
"""

import json
import sys
import time

import pyagrum as gum


def main() -> None:
    """Print seconds, steps and the log-likelihood as JSON."""
    net = gum.loadBN(sys.argv[2])
    learner = gum.BNLearner(sys.argv[1], net, ["?"])
    learner.setNumberOfThreads(int(sys.argv[3]))
    learner.useSmoothingPrior(1e-9)
    learner.useEMWithDiffCriterion(0.1)
    learner.EMsetVerbosity(True)  # noqa: FBT003
    begin = time.perf_counter()
    learner.learnParameters(net.dag())
    seconds = time.perf_counter() - begin
    history = list(learner.EMHistory())
    print(
        json.dumps({"seconds": seconds, "steps": learner.EMnbrIterations(), "last": history[-1] if history else None})
    )


if __name__ == "__main__":
    main()
