"""Which structures are found behind alpha-cut rows: ``python benchmarks/cut_structures.py`` writes docs/structures-found-cut.md.

Takes a few minutes of CPU. Rows are those of `possnet.sample`, imprecision 1 unless the line says otherwise; columns stand in
random order. An edge is *visible* if the law of the rows depends on it: if for some cells of the other parents the degrees
g_A that the child is cut from differ between two of the parent's cells. Others leave no trace, and the structure to be found
is that of the visible edges.
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from cut_quality import generic_network
from structure_quality import Trial, draw_network, draw_parents

import possnet as pn

PAGE = Path(__file__).parent.parent / "docs" / "structures-found-cut.md"
MEASURES = ("cut-bic", "random-set-bic")
SMALL = {"chain": {0: (), 1: (0,), 2: (1,)}, "fork": {0: (), 1: (0,), 2: (0,)}, "collider": {0: (), 1: (), 2: (0, 1)}}
CHOICES = 24
VISIBLE = 0.05  # least difference of two degrees in the networks of three variables


class Setting(NamedTuple):
    """What is drawn: tables ``generic`` (degrees uniform, one state of a context at 1) or ``sharp``."""

    tables: str
    shape: str
    states: int
    rows: int
    imprecision: float = 1.0
    seeds: int = 10


def list_settings() -> Iterator[Setting]:
    """The lines of the page."""
    for shape in SMALL:
        for states in (2, 3):
            yield from (Setting("generic", f"{shape} of 3", states, rows) for rows in (10_000, 100_000))
    for imprecision in (1.0, 0.5):
        for shape in ("chain of 5", "tree of 8", "DAG of 5", "DAG of 8"):
            yield Setting("generic", shape, 3, 10_000, imprecision, seeds=6 if shape.endswith("8") else 10)
    for states in (2, 3):
        yield from (Setting("generic", shape, states, 100_000, seeds=5) for shape in ("tree of 8", "DAG of 8"))
    for shape in (
        "chain of 8",
        "fork of 8",
        "colliders of 8",
        "DAG of 8",
        "chain of 15",
        "fork of 15",
        "tree of 15",
        "DAG of 15",
    ):
        yield Setting("sharp", shape, 3, 10_000, seeds=3 if shape.endswith("15") else 5)
    for shape in ("tree of 15", "DAG of 15"):
        yield Setting("generic", shape, 3, 10_000, seeds=5)


def draw_tables(parents: list[tuple[int, ...]], states: int, rng: np.random.Generator) -> pn.Network:
    """A network with uniform degrees, and one state of every context at 1."""
    variables = [pn.Variable(f"x{k:02d}", tuple("abcdefgh"[:states])) for k in range(len(parents))]
    tables = {}
    for variable, above in zip(variables, parents, strict=True):
        table = rng.uniform(0.0, 1.0, (states,) * (len(above) + 1))
        np.put_along_axis(table, rng.integers(states, size=(*table.shape[:-1], 1)), 1.0, axis=-1)
        tables[variable.name] = table
    dag = pn.Dag({v.name: [variables[p].name for p in above] for v, above in zip(variables, parents, strict=True)})
    return pn.Network(variables, dag, tables)


def find_effects(net: pn.Network, data: pn.Dataset) -> dict[tuple[str, str], float]:
    """For every edge the largest difference of g_A between two combinations that differ in this parent's cell alone."""
    inference = pn.Inference(net)
    effects = {}
    for child in net.dag.nodes:
        parents = list(net.dag.parents(child))
        if not parents:
            continue
        joint = net.table(child) * inference.query(parents).degrees[..., np.newaxis]
        columns = [data.column(parent) for parent in parents]
        cells = {tuple(row) for row in np.unique(np.stack([c.codes for c in columns], axis=1), axis=0).tolist()}
        degrees = {}
        for cell in cells:
            held = [np.flatnonzero(column.cell_sets[code]) for column, code in zip(columns, cell, strict=True)]
            degrees[cell] = joint[np.ix_(*held)].reshape(-1, joint.shape[-1]).max(axis=0)
        for place, parent in enumerate(parents):
            others = sorted(cells, key=lambda cell: cell[:place] + cell[place + 1 :])
            spread = 0.0
            for _, group in groupby(others, key=lambda cell: cell[:place] + cell[place + 1 :]):
                values = np.stack([degrees[cell] for cell in group])
                spread = max(spread, float(np.ptp(values, axis=0).max()))
            effects[parent, child] = spread
    return effects


def draw_case(setting: Setting, seed: int) -> tuple[pn.Network, pn.Dataset, set[tuple[str, str]]]:
    """A network, rows of it, and its visible edges; networks of three variables are drawn until all edges are."""
    rng = np.random.default_rng([seed, setting.states, len(setting.shape)])
    kind, size = setting.shape.rsplit(" of ", 1)
    while True:
        if setting.tables == "sharp":
            net = draw_network(Trial(setting.shape, setting.states, setting.rows, 1.0, "alpha-cut", seed))
        else:
            parents = list(SMALL[kind].values()) if kind in SMALL and size == "3" else draw_parents(setting.shape, rng)
            net = draw_tables(parents, setting.states, rng)
        data = pn.sample(net, setting.rows, imprecision=setting.imprecision, rng=seed)
        effects = find_effects(net, data)
        if size != "3" or min(effects.values()) > VISIBLE:
            break
    names = [variable.name for variable in data.variables]
    shuffled = data.select([names[k] for k in rng.permutation(len(names))])
    return net, shuffled, {edge for edge, effect in effects.items() if effect > 1e-9}


def run_case(setting: Setting, seed: int) -> dict[str, dict[str, float]]:
    """What each measure finds of the visible edges."""
    net, data, visible = draw_case(setting, seed)
    target = pn.Dag.from_edges(sorted(visible), nodes=net.dag.nodes)
    outcomes = {}
    for measure in MEASURES:
        begin = time.process_time()
        learned = pn.learn_structure(data, measure=measure)
        seconds = time.process_time() - begin
        edges = set(learned.dag.edges)
        turned = {(b, a) for a, b in edges} & visible
        outcomes[measure] = {
            "exact": edges == visible,
            "equivalent": learned.dag.essential_graph() == target.essential_graph(),
            "missing": len(visible - edges - turned),
            "extra": len(edges - visible) - len(turned),
            "turned": len(turned),
            "seconds": seconds,
            "edges": len(net.dag.edges),
            "visible": len(visible),
        }
    return outcomes


def run_setting(setting: Setting) -> str:
    """The line of a setting."""
    return describe_line(setting, [run_case(setting, seed) for seed in range(setting.seeds)])


def describe_line(setting: Setting, runs: list[dict[str, dict[str, float]]]) -> str:
    """A line of the page."""

    def total(measure: str, key: str) -> float:
        return sum(run[measure][key] for run in runs)

    n = len(runs)
    first = MEASURES[0]
    cells: list[Any] = [setting.tables, setting.shape, setting.states, f"{setting.rows:,}", f"{setting.imprecision:g}"]
    cells.append(f"{total(first, 'visible') / n:.1f} of {total(first, 'edges') / n:.1f}")
    for measure in MEASURES:
        cells += [f"{total(measure, 'exact'):.0f} of {n}", f"{total(measure, 'equivalent'):.0f}"]
        cells += [f"{total(measure, key) / n:.1f}" for key in ("missing", "extra", "turned")]
        cells.append(f"{max(run[measure]['seconds'] for run in runs):.1f}")
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def count_choices(process: str, imprecision: float, rows: int) -> str:
    """How often ``auto`` takes each measure; traced rows are of networks whose variables have one favourite state each."""
    measures = []
    for seed in range(CHOICES):
        net = generic_network(100 + seed, favourite=process == "traced")
        data = pn.sample(net, rows, process=process, imprecision=imprecision, rng=seed)
        measures.append(pn.learn_structure(data).measure)
    cells = [process, f"{imprecision:g}", f"{rows:,}"]
    cells += [f"{measures.count(measure)} of {CHOICES}" for measure in (*MEASURES, "traced-bic")]
    return "| " + " | ".join(cells) + " |"


CHOICE = """
## What `measure="auto"` takes

Networks of three to eight variables. A column of alpha-cut rows always has a state in all of its cells; so do traced rows of networks in
which every variable has one favourite state, and these are recognised once the structure by `cut-bic` is known: BIC then prefers one free
probability for every cell to the law of cuts. Thinned, such rows differ little from alpha-cut rows, and doubt goes to `cut-bic`.

| rows drawn by | imprecision | rows | cut-bic | random-set-bic | traced-bic |
|---|---|---|---|---|---|
"""

HEAD = """
# Structures that are found behind alpha-cut rows

Made by `python benchmarks/cut_structures.py`. Every line is some networks, each with its own rows; both scores see the same rows, and the
method is the default, `boss`. *Generic* tables have uniform degrees and one state of every context at 1; *sharp* ones have the others
between 0 and .3. Many edges of generic networks leave no trace in alpha-cut rows, so that *visible* edges are counted by the exact law, and
what is found is compared with these alone: *exact* counts the runs in which all visible edges are found, each in its direction, and no
other; *CPDAG* those that are Markov equivalent to that; *missing*, *extra* and *turned* are edges on average; *seconds* of CPU the most. The
networks of three variables are drawn until all of their edges are visible by .05. *Turned* edges by `random-set-bic` are a matter of ties:
it does not tell directions.

| tables | shape | states | rows | imprecision | visible | cut-bic: exact | CPDAG | missing | extra | turned | seconds | random-set-bic: exact | CPDAG | missing | extra | turned | seconds |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def main() -> None:
    """Run everything, and write the page."""
    warnings.simplefilter("ignore", pn.PossnetWarning)  # columns without edges are counted as missing
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="a text that the line must contain; prints, and writes nothing")
    parser.add_argument("--workers", type=int, default=min(os.cpu_count() or 1, 2))
    chosen = parser.parse_args()
    settings = [setting for setting in list_settings() if chosen.only in " ".join(map(str, setting))]
    lines, choices = [], []
    with ProcessPoolExecutor(chosen.workers) as pool:
        for line in pool.map(run_setting, settings):
            lines.append(line)
            print(line, flush=True)
        if not chosen.only:
            drawn = list(product(("alpha-cut", "traced"), (1.0, 0.5), (300, 1_000, 10_000)))
            for line in pool.map(count_choices, *zip(*drawn, strict=True)):
                choices.append(line)
                print(line, flush=True)
            PAGE.write_text(
                HEAD.lstrip() + "\n".join(lines) + "\n" + CHOICE + "\n".join(choices) + "\n", encoding="utf-8"
            )


if __name__ == "__main__":
    main()
