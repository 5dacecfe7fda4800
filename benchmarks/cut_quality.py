"""How well the cut likelihood learns: its limits, errors, bounds, the imprecision, and which process drew the rows.

    python benchmarks/cut_quality.py            a slice, in a minute
    python benchmarks/cut_quality.py --write    docs/cut-figures.md, in a few minutes of two cores

Alpha-cut rows are drawn from bundled and random networks and learned back. The exit code is 1 if a figure is not as
asked.
"""

import sys
import warnings
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from cut_information import bound_distance, bound_imprecision

import possnet as pn

FIRST_NETWORK = 70_000  # seed of the first random network: none of them was used while the learner was written
PAGE = Path(__file__).parent.parent / "docs" / "cut-figures.md"
LIMITS = {("pump", 1.0): 0.887, ("pump", 0.5): 0.888, ("clinic", 1.0): 0.900, ("clinic", 0.5): 0.900,
          ("asia", 1.0): 0.865, ("asia", 0.5): 0.865}  # fmt: skip
LEAST = {("pump", 1.0): 0.875, ("pump", 0.5): 0.865, ("clinic", 1.0): 0.88, ("clinic", 0.5): 0.88,
         ("asia", 1.0): 0.85, ("asia", 0.5): 0.85}  # fmt: skip


@dataclass
class Page:
    """Text of the page, and what is not as asked."""

    lines: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def say(self, line: str = "") -> None:
        """Add a line, and print it."""
        print(line, flush=True)
        self.lines.append(line)

    def ask(self, what: str, *, met: bool) -> None:
        """Note a figure that is not as asked."""
        if not met:
            self.missed.append(what)


def affinity(truth: pn.Network, learned: pn.Network) -> float:
    """Information affinity of the tables of children."""
    return pn.compare(truth, learned)["child_affinity"].value


def distance(exact: pn.IdentifiedDegrees, result: pn.CutResult) -> float:
    """Mean difference of the upper ends of children from their limit."""
    dag = result.network.dag
    return float(np.mean([np.abs(result.upper[n] - u).mean() for n, u in exact.upper.items() if dag.parents(n)]))


def show_bundled(page: Page, seeds: int, most: int) -> None:
    """Bundled networks: limits, and affinity at growing numbers of rows."""
    sizes = [rows for rows in (1_000, 10_000, 100_000, 1_000_000) if rows <= most]
    head = " | ".join(f"{rows:,}" for rows in sizes)
    page.say(f"| network | imprecision | {head} | limit | middle | counting, {sizes[-1]:,} | ignorance | identified |")
    page.say("|---" * (len(sizes) + 7) + "|")
    for (name, theta), asked in LIMITS.items():
        net = pn.load_example(name)
        exact = pn.identify_degrees(net, imprecision=theta)
        means = []
        for rows in sizes:
            values = []
            for seed in range(seeds):
                data = pn.sample(net, rows, imprecision=theta, rng=seed)
                values.append(affinity(net, pn.fit_cut(net.dag, data, imprecision=theta).network))
            means.append(float(np.mean(values)))
            if rows == 100_000:
                page.ask(f"{name}, {theta}: {means[-1]:.3f} at 100,000 rows", met=means[-1] >= LEAST[name, theta])
        middle = affinity(net, pn.fit_cut(net.dag, data, imprecision=theta, point="middle").network)
        limit = affinity(net, exact.network)
        page.ask(f"{name}, {theta}: limit {limit:.4f}", met=abs(limit - asked) <= 0.001)
        counted = pn.compare(net, pn.fit(net.dag, data))["child_affinity"]
        shown = " | ".join(f"{value:.3f}" for value in means)
        page.say(
            f"| {name} | {theta:g} | {shown} | {limit:.3f} | {middle:.3f} | {counted.value:.3f} | "
            f"{counted.vacuous:.3f} | {100 * exact.share:.0f} % |"
        )


def measure_random(theta: float, parents: str, seed: int, sizes: tuple[int, ...]) -> dict[str, Any]:
    """A random network learned back: distance to the limit, true degrees outside, falsely identified ones, by rows."""
    net = pn.random_network(3 + seed % 6, max_parents=2, states=(2, 4), rng=FIRST_NETWORK + seed)
    exact = pn.identify_degrees(net, imprecision=theta, parents=parents)
    lines = []
    for rows in sizes:
        data = pn.sample(net, rows, imprecision=theta, parents=parents, rng=seed)
        result = pn.fit_cut(net.dag, data, imprecision=theta, parents=parents)
        outside = 0
        for name, lower in result.lower.items():
            truth, margin = net.table(name), 3 * result.error[name] + 1e-9
            outside += int(((truth < lower - margin) | (truth > result.upper[name] + margin)).sum())
        false = sum(int((result.identified[n] & ~exact.identified[n]).sum()) for n in result.lower)
        claimed = sum(int(result.identified[n].sum()) for n in result.lower)
        gap = distance(exact, result) if net.dag.edges else np.nan
        entries = sum(table.size for table in result.lower.values())
        lines.append((gap, outside, entries, false, claimed, result.share if net.dag.edges else np.nan))
    hidden = parents == "cut" and net.dag.edges
    return {"lines": lines, "bound": bound_distance(net, theta, sizes) if hidden else np.full(len(sizes), np.nan)}


def show_random(page: Page, pool: Executor, networks: int, most: int) -> None:
    """Random networks: error to the limit, its slope, truth outside the bounds, degrees that are falsely identified."""
    sizes = tuple(rows for rows in (1_000, 10_000, 100_000) if rows <= most)
    page.say(
        "| imprecision | children see | rows | distance to the limit | at the bound | outside three errors | falsely identified "
        "| identified |"
    )
    page.say("|---" * 8 + "|")
    for theta, parents in ((1.0, "observed"), (0.5, "observed"), (0.5, "cut")):
        runs = list(pool.map(partial(measure_random, theta, parents, sizes=sizes), range(networks)))
        lines = np.array([run["lines"] for run in runs], dtype=np.float64)
        gaps, least = np.nanmean(lines[:, :, 0], axis=0), None
        if parents == "cut":
            least = np.nanmean([run["bound"] for run in runs], axis=0)
        outside, entries, false, claimed = lines[:, :, 1:5].sum(axis=0).T
        for k, rows in enumerate(sizes):
            bound = "" if least is None else f"{least[k]:.4f}"
            page.say(
                f"| {theta:g} | {parents} | {rows:,} | {gaps[k]:.4f} | {bound} | {100 * outside[k] / entries[k]:.2f} % | "
                f"{100 * false[k] / max(claimed[k], 1):.2f} % | {100 * np.nanmean(lines[:, k, 5]):.0f} % |"
            )
            where = f"{theta} {parents} {rows}"
            page.ask(f"outside, {where}: {outside[k] / entries[k]:.4f}", met=outside[k] <= 0.005 * entries[k])
            page.ask(f"falsely identified, {where}: {false[k] / claimed[k]:.4f}", met=false[k] <= 0.01 * claimed[k])
        if len(sizes) > 1:
            _show_slopes(page, theta, parents, sizes, gaps, least)


def _show_slopes(page: Page, theta: float, parents: str, sizes: tuple[int, ...], gaps: Any, least: Any) -> None:
    """Slopes of the distances; where the distance at the bound falls more slowly than asked, the ratio to it counts."""
    slope, other = (
        float("nan") if curve is None else float(np.polyfit(np.log(sizes), np.log(curve), 1)[0])
        for curve in (gaps, least)
    )
    page.say(f"| {theta:g} | {parents} | slope | {slope:.2f} | {'' if least is None else f'{other:.2f}'} | | | |")
    if least is None or other <= -0.4:
        page.ask(f"slope, {theta} {parents}: {slope:.2f}", met=-0.6 <= slope <= -0.4)
    else:
        ratio = float((gaps / least).max())
        page.ask(f"distance, {theta} {parents}: {ratio:.2f} times that at the bound", met=ratio <= 2.0)


def measure_imprecision(law: str, rows: int, seed: int) -> tuple[float, float]:
    """Error of the estimated imprecision, and its Cramér-Rao bound; NaN where it is not identified, or at its end 1."""
    net = pn.random_network(6, max_parents=2, states=(2, 4), rng=FIRST_NETWORK + 1000 + seed)
    theta = (0.3, 0.5, 0.8, 1.0)[seed % 4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = pn.sample(net, rows, imprecision=theta, law=law, rng=seed)
        result = pn.fit_cut(net.dag, data, imprecision=None, law=law)
    if not result.imprecision_identified:
        return np.nan, np.nan
    return result.imprecision - theta, bound_imprecision(net, theta, law, rows) if theta < 1.0 else np.nan


def show_imprecision(page: Page, pool: Executor, networks: int) -> None:
    """How far the estimated imprecision is from the true one."""
    page.say("| law | rows | root mean square error | the same below 1 | at the bound | largest |")
    page.say("|---|---|---|---|---|---|")
    for law in ("independent", "text"):
        for rows in (1_000, 10_000, 100_000):
            errors, least = np.array(list(pool.map(partial(measure_imprecision, law, rows), range(networks)))).T
            below = errors[np.isfinite(least)]
            overall, inner, bound = (np.sqrt(np.nanmean(np.square(part))) for part in (errors, below, least))
            largest = np.nanmax(np.abs(errors))
            page.say(f"| {law} | {rows:,} | {overall:.4f} | {inner:.4f} | {bound:.4f} | {largest:.4f} |")
            page.ask(f"imprecision, {law}, {rows}: {overall:.3f}", met=rows != 10_000 or overall <= 0.03)


def generic_network(seed: int, *, favourite: bool = False) -> pn.Network:
    """Three to eight variables, every one but the first with a parent or two; perhaps one favourite state each."""
    rng = np.random.default_rng(seed)
    names = [f"x{k}" for k in range(3 + seed % 6)]
    parents = {
        name: tuple(rng.choice(names[:k], min(k, int(rng.integers(1, 3))), replace=False)) if k else ()
        for k, name in enumerate(names)
    }
    sizes = {name: int(rng.integers(2, 5)) for name in names}
    tables = {}
    for name, above in parents.items():
        table = rng.random((*(sizes[p] for p in above), sizes[name]))
        if favourite:
            table[..., 0] = 1.0
        tables[name] = table
    variables = [pn.Variable(name, tuple(str(k) for k in range(size))) for name, size in sizes.items()]
    return pn.Network(variables, pn.Dag(parents), pn.normalise_tables(tables))


def show_processes(page: Page, networks: int) -> None:
    """How often the process that drew the rows is found."""
    page.say("| rows drawn by | networks | 300 rows | 10,000 rows |")
    page.say("|---|---|---|---|")
    for process, favourite in (("precise", False), ("alpha-cut", False), ("traced", False), ("traced", True)):
        shares = []
        for rows in (300, 10_000):
            right = 0
            for seed in range(networks):
                net = generic_network(FIRST_NETWORK + seed, favourite=favourite)
                data = pn.sample(net, rows, process=process, imprecision=(1.0, 0.5, 0.8)[seed % 3], rng=seed)
                right += pn.detect_process(data, net.dag).process == process
            shares.append(right)
        kind = "one favourite state a variable" if favourite else "generic"
        page.say(f"| {process} | {kind} | " + " | ".join(f"{right} of {networks}" for right in shares) + " |")
        page.ask(f"process {process}, 300 rows: {shares[0]}", met=favourite or shares[0] >= 0.95 * networks)


def main() -> int:
    """All figures; with --write as a page."""
    write = "--write" in sys.argv
    page = Page()
    with ProcessPoolExecutor(2) as pool:
        show_figures(page, pool, write=write)
    page.say("\n## As asked?\n")
    page.say("\n".join(f"- missed: {what}" for what in page.missed) or "Every figure is as asked.")
    if write:
        PAGE.write_text("\n".join(page.lines) + "\n", encoding="utf-8")
    return int(bool(page.missed))


def show_figures(page: Page, pool: Executor, *, write: bool) -> None:
    """All tables, or a slice of them."""
    page.say("# Figures of the cut likelihood\n")
    page.say(
        "Made by `python benchmarks/cut_quality.py --write`. What the words mean is in [recovering.md](recovering.md).\n"
    )
    page.say("## Bundled networks\n")
    page.say(
        "Information affinity of the tables of children, by rows (mean of five seeds); what endless rows would give; the middle of "
        "the bounds;\ncounting; ignorance; and the share of the degrees that endless rows identify.\n"
    )
    show_bundled(page, 5 if write else 1, 1_000_000 if write else 10_000)
    page.say("\n## Random networks\n")
    page.say(
        "Networks of three to eight variables. The distance is the mean difference of upper ends from what endless rows would tell; "
        "*outside* are\ntrue degrees of all variables beyond their bounds by more than three standard errors; *falsely identified* are degrees "
        "called identified\nthat endless rows would not identify. *At the bound* is the distance of an estimator at the Cramér-Rao bound that also knows the law of the\n"
        "hidden cuts (`benchmarks/cut_information.py`). Cuts that are rare and seen only thinned are told by few rows; some ends stay unknown up to\n"
        "millions of rows, so that even that mean distance does not fall like one over the square root of the rows before that.\n"
    )
    show_random(page, pool, 80 if write else 6, 100_000 if write else 1_000)
    page.say("\n## Unknown imprecision\n")
    page.say(
        "True values .3, .5, .8 and 1; networks of six variables with two to four states. *At the bound* is the root mean square of the\n"
        "Cramér-Rao bounds of the networks whose imprecision is below 1 (`benchmarks/cut_information.py`): no unbiased estimate has a smaller error.\n"
    )
    show_imprecision(page, pool, 40 if write else 4)
    page.say("\n## Which process?\n")
    show_processes(page, 36 if write else 6)


if __name__ == "__main__":
    sys.exit(main())
