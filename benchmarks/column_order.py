"""How often a structure's score depends on the order of the columns, which decides among moves that tie: docs/structure.md.

``python column_order.py`` prints the counts, in half a minute.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import possnet as pn

RUNS, ROWS, VARIABLES = 80, 300, 5
WAYS: Mapping[str, Mapping[str, Any]] = {
    "greedy": {"method": "greedy"},
    "greedy, 20 restarts": {"method": "greedy", "search": pn.Search(restarts=20)},
    "boss": {"method": "boss"},
}


def depends_on_order(seed: int, way: Mapping[str, Any]) -> bool:
    """Whether the columns in the opposite order lead to a structure with another BIC."""
    net = pn.random_network(VARIABLES, max_parents=2, states=(2, 3), rng=seed)
    data = pn.sample(net, ROWS, process="precise", rng=seed)
    turned = data.select([v.name for v in reversed(data.variables)])
    scores = [pn.learn_structure(rows, measure="bic", **way).score for rows in (data, turned)]
    return abs(scores[0] - scores[1]) > 1e-6 * abs(scores[0])


if __name__ == "__main__":
    warnings.simplefilter("ignore", pn.PossnetWarning)
    for name, way in WAYS.items():
        print(f"{name}: {sum(depends_on_order(seed, way) for seed in range(RUNS))} of {RUNS}")
