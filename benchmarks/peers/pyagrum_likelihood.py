"""Maximum log-likelihood of a structure on precise rows: ``python pyagrum_likelihood.py ROWS.csv '{"a": [], "b": ["a"]}'``.

pyAgrum's own ``logLikelihood`` of every variable given its parents, turned from base 2 into natural logarithms.
"""

import json
import math
import sys

import pyagrum as gum


def main() -> None:
    """Print the log-likelihood, by variable and in all, as JSON."""
    learner = gum.BNLearner(sys.argv[1])
    learner.useNoPrior()
    structure = json.loads(sys.argv[2])
    found = {name: learner.logLikelihood([name], parents) * math.log(2) for name, parents in structure.items()}
    print(json.dumps({"log_likelihood": math.fsum(found.values()), "by_variable": found, "version": gum.__version__}))


if __name__ == "__main__":
    main()
