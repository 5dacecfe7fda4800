"""Questions as toulbar2 itself reads and answers them, timed: a line of JSON on standard input each, an answer a line.

A model of toulbar2 answers once, so that every question reads it anew. Options stay from one question to the next, and now and
then the library ends the process when networks change: one process for each question, asked as often as wanted.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time

import pytoulbar2

DIGITS = 9


def time_question(file: str, evidence: dict[str, int], k: int, limit: float) -> dict[str, object]:
    """Seconds in all and of the solver alone, and the last configuration: for k > 1 each is the best of all that are new."""
    begin = time.perf_counter()
    problem = pytoulbar2.CFN(resolution=DIGITS)
    problem.Read(file)
    for variable, state in evidence.items():
        problem.Assign(int(variable), state)
    ready = time.perf_counter()
    more = {"allSolutions": k, "diversityBound": 1} if k > 1 else {}
    found = problem.Solve(timeLimit=math.ceil(limit), **more)
    end = time.perf_counter()
    proved = found is not None and not problem.Option.limited
    states = [int(state) for state in found[0]] if proved else []
    return {"seconds": end - begin, "solver": end - ready, "states": states, "proved": proved}


def main() -> None:
    """Answer line by line; what toulbar2 prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        given = json.loads(line)
        del given["job"]
        print(json.dumps(time_question(**given)), file=answers, flush=True)


if __name__ == "__main__":
    main()
