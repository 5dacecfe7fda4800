"""Structures behind unknown cells: the figures of that section of docs/structure.md; real tables are those of real.py.

``--alarm SEEDS`` (8 on the page) draws alarm, and ``--wide`` 60 variables, with every tenth cell unknown. Seconds are of CPU.
"""

import argparse
import time

from measure import say, table
from networks import load

import possnet as pn
from structure import distance, hide_cells


def learn_timed(
    data: pn.Dataset, method: str = "auto", measure: str | None = None
) -> tuple[pn.LearnedStructure, float]:
    """The structure, and the CPU seconds that it took."""
    begin = time.process_time()
    learned = pn.learn_structure(data, method, measure=measure)
    return learned, time.process_time() - begin


def compare_alarm(seeds: int) -> list[list[str]]:
    """Distances of alarm's CPDAG from that of the complete rows and from the truth."""
    net, rows = load("alarm"), []
    for method in ("boss", "greedy"):
        for seed in range(1, seeds + 1):
            data = pn.sample(net, 10_000, process="precise", rng=seed)
            complete = pn.learn_structure(data, method, measure="bic").dag
            learned, seconds = learn_timed(hide_cells(data, 0.1, seed), method, "coarsened-bic")
            apart, away = distance(complete, learned.dag.edges), distance(net.dag, learned.dag.edges)
            text = f"complete rows {apart}, truth {away} (complete rows from truth {distance(net.dag, complete.edges)})"
            rows.append(
                [f"alarm, 10,000 rows, 10 % unknown, seed {seed}: distance to", f"`{method}`", text, f"{seconds:.1f}"]
            )
            say(str(rows[-1]))
    return rows


def compare_wide() -> list[list[str]]:
    """Distance from the truth with 60 variables, at most three parents each."""
    net, rows = pn.random_network(60, max_parents=2, states=(2, 4), rng=5), []
    data = hide_cells(pn.sample(net, 10_000, process="precise", rng=1), 0.1, 1)
    limits = pn.Constraints(max_parents=3)
    for method in ("greedy", "boss"):
        begin = time.process_time()
        learned = pn.learn_structure(data, method, measure="coarsened-bic", constraints=limits)
        seconds = time.process_time() - begin
        job = "60 variables, 10,000 rows, 10 % unknown: distance to"
        rows.append([job, f"`{method}`", f"truth {distance(net.dag, learned.dag.edges)}", f"{seconds:.1f}"])
    return rows


def main() -> None:
    """Print the table of what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alarm", type=int, default=0, metavar="SEEDS")
    parser.add_argument("--wide", action="store_true")
    chosen = parser.parse_args()
    rows = []
    rows += compare_alarm(chosen.alarm)
    if chosen.wide:
        rows += compare_wide()
    print(table(" rows and task | structure by | result | seconds ", rows))


if __name__ == "__main__":
    main()
