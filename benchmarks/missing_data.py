"""EM for Bayesian networks with missing cells, by enumerating every completion of every row: slow, plain, independent.

It shares no code with possnet; ``benchmarks/fixtures.py`` records its answers for the tests.
"""

import itertools
import math
import random

Row = list[str | None]


def completions(row: Row, domains: list[list[str]]) -> list[list[str]]:
    """Every way to fill the missing cells."""
    return [
        list(filled)
        for filled in itertools.product(*([c] if c is not None else d for c, d in zip(row, domains, strict=True)))
    ]


def fit(
    names: list[str], domains: list[list[str]], parents: dict[str, list[str]], rows: list[Row], steps: int
) -> tuple[float, dict[str, dict[tuple[str, ...], dict[str, float]]]]:
    """Log-likelihood and tables after some EM steps from uniform tables."""
    place = {name: k for k, name in enumerate(names)}
    tables = {
        n: {
            context: dict.fromkeys(domains[place[n]], 1 / len(domains[place[n]]))
            for context in itertools.product(*(domains[place[p]] for p in parents[n]))
        }
        for n in names
    }
    distinct: dict[tuple[str | None, ...], int] = {}
    for row in rows:
        distinct[tuple(row)] = distinct.get(tuple(row), 0) + 1
    score = -math.inf
    for _ in range(steps):
        counts = {n: {c: dict.fromkeys(t, 0.0) for c, t in tables[n].items()} for n in names}
        score = 0.0
        for row, weight in distinct.items():
            filled = completions(list(row), domains)
            chances = [
                math.prod(tables[n][tuple(f[place[p]] for p in parents[n])][f[place[n]]] for n in names) for f in filled
            ]
            total = math.fsum(chances)
            score += weight * math.log(total)
            for f, chance in zip(filled, chances, strict=True):
                for n in names:
                    counts[n][tuple(f[place[p]] for p in parents[n])][f[place[n]]] += weight * chance / total
        for n in names:
            for context, found in counts[n].items():
                total = sum(found.values())
                if total > 0:
                    tables[n][context] = {s: c / total for s, c in found.items()}
    return score, tables


def cases() -> list[dict[str, object]]:
    """Chains, forks, colliders with missing cells, and what EM makes of them."""
    found = []
    for name, parents, seed in (
        ("chain", {"a": [], "b": ["a"], "c": ["b"]}, 1),
        ("fork", {"a": [], "b": ["a"], "c": ["a"]}, 2),
        ("collider", {"a": [], "b": [], "c": ["a", "b"]}, 3),
        ("diamond", {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}, 4),
    ):
        rng = random.Random(seed)  # noqa: S311
        names = list(parents)
        domains = [["x", "y", "z"] if k == 0 else ["u", "v"] for k in range(len(names))]
        truth: dict[tuple[str, tuple[str, ...]], list[float]] = {}
        rows: list[Row] = []
        for _ in range(300):
            values: dict[str, str] = {}
            for k, n in enumerate(names):
                key = (n, tuple(values[p] for p in parents[n]))
                if key not in truth:
                    truth[key] = [rng.random() ** 2 + 0.05 for _ in domains[k]]
                values[n] = rng.choices(domains[k], truth[key])[0]
            rows.append([None if rng.random() < 0.15 else values[n] for n in names])
        score, tables = fit(names, domains, parents, rows, 3000)
        nested = {n: _nested(tables[n], [domains[names.index(p)] for p in parents[n]]) for n in names}
        found.append(
            {
                "name": name,
                "variables": dict(zip(names, domains, strict=True)),
                "parents": parents,
                "rows": rows,
                "log_likelihood": score,
                "tables": nested,
            }
        )
    return found


def _nested(
    table: dict[tuple[str, ...], dict[str, float]], domains: list[list[str]], done: tuple[str, ...] = ()
) -> list[object]:
    if not domains:
        return [round(value, 9) for value in table[done].values()]
    return [_nested(table, domains[1:], (*done, state)) for state in domains[0]]
