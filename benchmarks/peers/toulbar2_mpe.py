"""The largest product of all factors by toulbar2: ``python toulbar2_mpe.py FILE.uai 3=1 SECONDS``.

Degrees become whole costs, -log in units of 10^-digits below the largest entry of each factor, zeros forbidden. The
value is computed again from the configuration found; it may fall short of the true maximum by a factor of no less
than exp(-log_error), which rounding the costs explains.
"""

from __future__ import annotations

import json
import math
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pytoulbar2
import uai

if TYPE_CHECKING:
    from uai import Model, Table

DIGITS = 9
LARGEST = 1e15  # sums of costs below this are exact in float64, and far below toulbar2's forbidden cost


def logs(table: Table) -> Table:
    """-log of the entries, zero for the largest, infinite for zeros."""
    with np.errstate(divide="ignore"):
        return -np.log(table / table.max())


def choose_digits(costs: list[Table]) -> int:
    """As many digits as keep the dearest allowed configuration below the limit."""
    total = math.fsum(float(cost[np.isfinite(cost)].max()) for cost in costs)
    return min(DIGITS, math.floor(math.log10(LARGEST / max(total, 1.0))))


def add_factor(problem: pytoulbar2.CFN, scope: list[int], costs: Table) -> None:
    """Post one table; beyond three variables as its commonest cost and the exceptions."""
    if costs.ndim <= 3:
        problem.AddFunction(scope, costs.ravel().tolist())
        return
    values, counts = np.unique(costs, return_counts=True)
    common = float(values[counts.argmax()])
    others = costs != common
    if others.any():
        problem.AddCompactFunction(scope, common, np.argwhere(others).tolist(), costs[others].tolist())


def solve(model: Model, evidence: dict[int, int], timeout: float) -> dict[str, Any]:
    """The answer for a model."""
    fixed = evidence | {v: 0 for v, size in enumerate(model.sizes) if size == 1}
    slim = model.restrict(fixed)
    if not all(table.any() for table in slim.tables):
        return answer(model, None, optimal=True)
    factors = [(scope, logs(table)) for scope, table in zip(slim.scopes, slim.tables, strict=True) if scope]
    digits = choose_digits([costs for _, costs in factors])
    free = [v for v in range(len(model.sizes)) if v not in fixed]
    number = {v: place for place, v in enumerate(free)}
    problem = pytoulbar2.CFN(resolution=0)  # whole costs: the wrapper would cut digits off instead of rounding
    optimal = True
    try:
        for v in free:
            problem.AddVariable(f"v{v}", list(range(model.sizes[v])))
        for scope, costs in factors:
            add_factor(problem, [number[v] for v in scope], np.rint(costs * 10.0**digits))
        found = problem.Solve(timeLimit=math.ceil(timeout)) if free else ([], 0.0, 1)
    except problem.Contradiction:
        found = None
    else:
        optimal = not free or not problem.Option.limited
    if found is None:
        return answer(model, None, optimal=optimal)
    full = tuple(fixed[v] if v in fixed else int(found[0][number[v]]) for v in range(len(model.sizes)))
    return answer(model, full, optimal=optimal, log_error=len(factors) * 10.0**-digits)


def answer(model: Model, states: tuple[int, ...] | None, *, optimal: bool, log_error: float = 0.0) -> dict[str, Any]:
    """The value of a configuration; none found is no value at all, unless it is proved that none has any."""
    value = model.value(states) if states is not None else 0.0 if optimal else None
    return {"version": version("pytoulbar2"), "value": value, "optimal": optimal, "log_error": log_error}


def main() -> None:
    """Answer for one file."""
    file, evidence, timeout = sys.argv[1:]
    print(json.dumps(solve(uai.read(file), uai.parse_evidence(evidence), float(timeout))))


if __name__ == "__main__":
    main()
