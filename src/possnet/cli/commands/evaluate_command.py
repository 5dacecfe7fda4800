"""``possnet evaluate``: how well networks are learned back."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.clusters import cluster_option, evaluate_with, open_cluster
from possnet.cli.commands.report_command import write_report
from possnet.cli.inputs import read_net
from possnet.cli.outputs import show_progress
from possnet.cli.parse import NET_NAME, numbers_type
from possnet.cli.render import Page, PageTable, make_table, show
from possnet.cli.terminal import show_line
from possnet.errors import InputError
from possnet.executors import WorkerPool

if TYPE_CHECKING:
    from possnet.aliases import Progress

_ROWS = numbers_type(int, "whole numbers, for example 100,1000")
_IMPRECISION = numbers_type(float, "numbers, for example 0,.5,1")


@click.command(short_help="How well networks are learned back.")
@click.argument("networks", metavar="[NET]...", nargs=-1, type=NET_NAME)
@click.option("--rows", type=_ROWS, default="100,1000,10000", help="Numbers of rows.")
@click.option("--imprecision", type=_IMPRECISION, default="0.5,1", help="From 0 (precise) to 1 (whole cuts).")
@shared.registry_option("possnet.sampling:PROCESSES", "--process", many=True, default="alpha-cut,traced")
@shared.registry_option(
    "possnet.learners:LEARNERS",
    "--learner",
    "learners",
    many=True,
    default=None,
    help="{names}; by default likelihood, em and, for alpha-cut rows, cut, which is run on those alone.",
)
@shared.registry_option(
    "possnet.structure:METHODS",
    "--learn",
    many=True,
    default="given",
    help="Structures: given (the true one), or learned from the rows too, such as greedy:random-set-bic.",
)
@shared.number_option("--random", "A random network of so many variables as well.", least=1)
@shared.number_option("--repeats", "Runs of every setting.", least=1, default=5)
@shared.number_option("--seed", "Same seed, same results.", default=1)
@shared.number_option("--workers", "Processes; by default one for each core.", least=1)
@cluster_option
@shared.registry_option("possnet.metrics:METRICS", "--metric", default="child_affinity", help="To print: {names}.")
@shared.json_option("Print JSON instead of a table.")
@shared.out_option("Keep every result there; a run that was killed goes on from there.", required=False, metavar="DIR")
def evaluate_command(
    networks: tuple[str, ...],
    random: int | None,
    seed: int,
    cluster: str | None,
    workers: int | None,
    metric: str,
    as_json: bool,  # noqa: FBT001
    out: str | None,
    **grid: Any,
) -> None:
    """Evaluate how well networks are learned back from imprecise data drawn from them.

    Draw rows with a process and an imprecision, learn, compare with the original; over all combinations, several times.
    Every metric stands beside total ignorance and, where it can be computed, what counting and the cut likelihood converge
    to with endless rows. Without arguments: bundled networks, in under a minute. With --out, a report to show to others:
    DIR/report.html.

    \b
    Examples:
      possnet evaluate
      possnet evaluate clinic --rows 100,1000 --learner likelihood,em --out my-run
      possnet evaluate pump --process alpha-cut --metric bound_coverage
    """
    with WorkerPool(workers) as pool:
        if cluster is None and out is not None:  # long work, so that they start while this process loads what it needs
            pool.prepare(import_module, "possnet.experiment")
        results = _run_trials(networks, random, seed, cluster, pool, metric, out, grid)
        show(results_document(results, metric) if as_json else results_page(results, metric, kept=out is not None))
        if out is not None:
            write_report(results.experiment, pool)


def _run_trials(
    networks: tuple[str, ...],
    random: int | None,
    seed: int,
    cluster: str | None,
    pool: WorkerPool,
    metric: str,
    out: str | None,
    grid: dict[str, Any],
) -> pn.Results:
    """The results; Ctrl-C ends the program, and says how to go on."""
    from possnet.experiment import DEFAULT_NETWORKS
    from possnet.metrics import METRICS

    METRICS.require(metric, "--metric")
    chosen = read_networks(networks or (() if random else DEFAULT_NETWORKS))
    if random is not None:
        chosen[f"random {random}"] = pn.random_network(random, rng=seed)
    try:
        with nullcontext() if cluster is None else open_cluster(cluster) as client:
            evaluate = pn.evaluate if cluster is None else evaluate_with(client)
            with show_progress("evaluating", "trials") as advance:
                watch = advance if out is None else _prepare_report(pool, advance)
                return evaluate(chosen, rng=seed, out=out, workers=pool, progress=watch, **grid)
    except KeyboardInterrupt:
        remedy = (
            f"Run the same command again to go on: {out} keeps what is done." if out else "Nothing was kept (no --out)."
        )
        show_line(f"Stopped. {remedy}")
        sys.exit(130)


def _prepare_report(pool: WorkerPool, advance: Progress | None) -> Progress:
    """Progress that, once all trials are done, has the workers load what figures need, while results are written."""
    from possnet.report import prepare_drawing

    def watch(done: int, total: int) -> None:
        if advance is not None:
            advance(done, total)
        if done == total:
            pool.prepare(prepare_drawing)

    return watch


def read_networks(files: tuple[str, ...]) -> dict[str, pn.Network]:
    """Networks by their names: a file's name is that of its network, without folders and suffixes."""
    networks: dict[str, pn.Network] = {}
    for file in files:
        name = Path(file).name.split(".")[0] if Path(file).suffix else file
        if name in networks:
            raise InputError(f"two networks are called {name!r}; expected files of different names")
        networks[name] = read_net(file)
    return networks


def results_document(results: pn.Results, metric: str) -> dict[str, Any]:
    """What an experiment measured, for machines."""
    failed = [{"learner": trial.learner, "network": trial.network, "error": text} for trial, text in results.failed]
    return {"metric": metric, "summary": [s._asdict() for s in results.summary(metric)], "failed": failed}


def results_page(results: pn.Results, metric: str, *, kept: bool) -> Page:
    """What an experiment measured: the answer in sentences, the table of one metric, and what failed.

    >>> results = pn.evaluate(["asia"], rows=50, imprecision=1, process="traced", learners="em", repeats=1, rng=1)
    >>> page = results_page(results, "child_affinity", kept=True)
    >>> page[-2].partition(";")[2]
    ' asia, traced rows, imprecision 1, 50 rows'
    """
    from possnet.metrics import METRICS
    from possnet.report import state_answer

    page: Page = [*state_answer(results), ""] if metric == "child_affinity" else []
    shared, table = results_table(results, metric)
    repeats = max(trial.repeat for trial in results.trials) + 1
    spread = "" if repeats == 1 else f" (mean of {repeats} repeats ± 95 % interval)"
    caption = f"{METRICS[metric].label}: {METRICS[metric].description}{spread}"
    page += ["; ".join([caption, *([", ".join(shared)] if shared else [])]), table]
    if results.failed:
        page += ["", f"{len(results.failed)} of {len(results.trials)} trials failed:"]
        page += [f"  {trial.network}, {trial.process}, {trial.learner}: {text}" for trial, text in results.failed[:5]]
    if not kept:
        page += ["", "With --out DIR every result is kept there, with a report to show to others."]
    return page


def results_table(results: pn.Results, metric: str) -> tuple[list[str], PageTable]:
    """What all settings share, and the means in a table: a line for each setting, a column for each learner."""
    from possnet.learners import LEARNERS, label_learner
    from possnet.sampling import label_process

    head, *rows = results.table_rows(metric)
    titles = [label_learner(name) if name.partition("@")[0] in LEARNERS else name for name in head]
    titles = [_label_limit(title) for title in titles]
    lines = [(network, label_process(process), *rest) for network, process, *rest in rows]
    columns = list(zip(*lines, strict=True))
    same = [k for k in range(4) if len(set(columns[k])) == 1 and columns[k][0]]
    words = {2: "imprecision {}", 3: "{} rows"}
    shared = [words.get(k, "{}").format(columns[k][0]) for k in same]
    kept = [k for k in range(len(head)) if k not in same]
    cells = [tuple(line[k] for k in kept) for line in lines]
    keys = sum(k < 4 for k in kept)
    return shared, make_table(
        cells, [titles[k] for k in kept], numbers=[new for new, old in enumerate(kept) if old > 1], keys=max(1, keys)
    )


def _label_limit(title: str) -> str:
    """The title of a column with the learner's label, if it is that of a limit.

    >>> _label_limit("limit"), _label_limit("limit of cut"), _label_limit("ignorance")
    ('limit of counting', 'limit of cut likelihood', 'ignorance')
    """
    from possnet.learners import label_learner

    name = "likelihood" if title == "limit" else title.removeprefix("limit of ")
    return f"limit of {label_learner(name)}" if title.startswith("limit") else title
