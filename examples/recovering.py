"""What counting recovers of a network, what it cannot, and what EM over the hidden trace recovers instead.

The figures of what alpha-cut rows tell are made here too; their measurements, by ``benchmarks/cut_quality.py``.

    python examples/recovering.py            a small table, in seconds
    python examples/recovering.py --write    the table and the figures of docs/recovering.md, in minutes

Rows are drawn from networks of several shapes by the ``traced`` process (each child answers to its parents' hidden true
states, of which only sets are seen) and learned back by counting and by EM. The error is the mean absolute difference
between learned and true degrees over the tables of all variables that have parents.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean

import numpy as np

import possnet as pn

DOCS = Path(__file__).parent.parent / "docs"
SHAPES: dict[str, tuple[dict[str, tuple[str, ...]], tuple[int, ...]]] = {
    "chain of 3": ({"a": (), "b": ("a",), "c": ("b",)}, (2, 3, 4)),
    "chain of 8": ({"a": (), **{n: (p,) for p, n in zip("abcdefg", "bcdefgh", strict=True)}}, (3,) * 8),
    "fork of 5": ({"a": (), "b": ("a",), "c": ("a",), "d": ("a",), "e": ("a",)}, (4, 2, 3, 4, 5)),
    "collider, 2 parents": ({"a": (), "b": (), "c": ("a", "b")}, (3, 2, 3)),
    "collider, 3 parents": ({"a": (), "b": (), "c": (), "d": ("a", "b", "c")}, (2, 2, 2, 3)),
    "diamond": ({"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")}, (3, 2, 3, 3)),
    "nested parents": ({"a": (), "b": ("a",), "c": ("a", "b")}, (3, 3, 2)),
    "8 variables": (
        {"a": (), "b": (), "c": ("a", "b"), "d": ("c",), "e": ("c",), "f": ("d", "e"), "g": ("f",), "h": ("f", "b")},
        (2, 3, 2, 3, 2, 3, 5, 2),
    ),
}


def network(shape: str, seed: int) -> pn.Network:
    """A network of a shape with random degrees; the degrees of a context are spread out, so that none nearly ties."""
    parents, sizes = SHAPES[shape]
    rng = np.random.default_rng(seed)
    variables = [
        pn.Variable(name, tuple(str(k + 1) for k in range(size))) for name, size in zip(parents, sizes, strict=True)
    ]
    known = {variable.name: variable for variable in variables}
    tables = {}
    for name, above in parents.items():
        contexts = tuple(len(known[parent]) for parent in above)
        states = len(known[name])
        steps = (np.arange(states) + rng.uniform(0.2, 0.8, (*contexts, states))) / states
        tables[name] = rng.permuted(steps, axis=-1)
    return pn.Network(variables, pn.Dag(parents), pn.normalise_tables(tables))


def error(truth: pn.Network, learned: pn.Network) -> float:
    """Mean absolute difference over the tables of variables with parents."""
    children = [v.name for v in truth.variables if truth.dag.parents(v.name)]
    return fmean(float(np.abs(truth.table(name) - learned.table(name)).mean()) for name in children)


def measure(shape: str, rows: list[int], seeds: range) -> dict[str, list[float]]:
    """Mean errors over seeds, by rows: of EM, of counting, of its limit, and of ignorance."""
    errors_by_learner: dict[str, list[list[float]]] = {"em": [], "counting": [], "limit": [], "vacuous": []}
    for seed in seeds:
        truth = network(shape, seed)
        vacuous = pn.Network(
            truth.variables, truth.dag, {v.name: np.ones_like(truth.table(v.name)) for v in truth.variables}
        )
        limit = error(truth, pn.sampling_limit(truth, process="traced"))
        lines: dict[str, list[float]] = {name: [] for name in errors_by_learner}
        for count in rows:
            data = pn.sample(truth, count, process="traced", rng=seed)
            lines["em"].append(error(truth, pn.fit_em(truth.dag, data).network))
            lines["counting"].append(error(truth, pn.fit(truth.dag, data)))
            lines["limit"].append(limit)
            lines["vacuous"].append(error(truth, vacuous))
        for name, line in lines.items():
            errors_by_learner[name].append(line)
    return {name: np.mean(lines, axis=0).tolist() for name, lines in errors_by_learner.items()}


def table(results: dict[str, dict[str, list[float]]], rows: list[int]) -> str:
    """Markdown: one network a line."""
    head = " | ".join(f"{count:,}" for count in rows)
    lines = [
        f"| network | {head} | slope | counting, {rows[-1]:,} | limit of counting | ignorance |",
        "|---" * (len(rows) + 5) + "|",
    ]
    for shape, errors in results.items():
        slope = np.polyfit(np.log(rows), np.log(errors["em"]), 1)[0]
        by_rows = " | ".join(f"{value:.4f}" for value in errors["em"])
        rest = " | ".join(f"{errors[name][-1]:.3f}" for name in ("counting", "limit", "vacuous"))
        lines.append(f"| {shape} | {by_rows} | {slope:.2f} | {rest} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table; with --write, make the page's table and figures."""
    write = "--write" in sys.argv
    rows = [1_000, 10_000, 100_000, 1_000_000] if write else [1_000, 30_000]
    shapes = list(SHAPES) if write else ["chain of 3", "collider, 2 parents"]
    results = {}
    for shape in shapes:
        results[shape] = measure(shape, rows, range(1, 6 if write else 2))
        print(shape, " ".join(f"{value:.4f}" for value in results[shape]["em"]), flush=True)
    text = table(results, rows)
    print(f"\nMean absolute error of EM, by rows:\n\n{text}")
    if write:
        sys.path.insert(0, str(Path(__file__).parent))
        from figures.recovering import draw_bars, draw_bounds, draw_curves, draw_told

        draw_curves(results, rows, DOCS / "figures" / "recovering.svg")
        draw_bars(DOCS / "figures" / "bars.svg")
        draw_told(DOCS / "figures" / "cuts_told.svg")
        draw_bounds(DOCS / "figures" / "cuts_bounds.svg")
        page = DOCS / "recovering.md"
        before, rest = page.read_text(encoding="utf-8").split("<!-- table -->\n")[0::2]
        page.write_text(f"{before}<!-- table -->\n{text}\n<!-- table -->\n{rest}", encoding="utf-8")


if __name__ == "__main__":
    main()
