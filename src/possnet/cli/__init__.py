"""The ``possnet`` command: parse, call one function, print, exit code.

Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 an input cannot be used, 2 the
command line cannot be understood. Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

import possnet as pn
from possnet.cli.measures import MEASURE_HELP, read_measures
from possnet.errors import InputError, PossnetError, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from possnet.io import DataStream
    from possnet.network import Network
    from possnet.parameters import Method
    from possnet.sampling import Law, Parents, Process
    from possnet.transforms import Transform

__all__ = ["main"]


class _Program(click.Group):
    """A group of commands that turns a possnet error into one line and exit code 1, and proposes near names."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except PossnetError as error:
            raise click.ClickException(str(error)) from None
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
            sys.exit(130)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            commands = self.list_commands(ctx)
            hint = did_you_mean(args[0], commands) or f" ({listing(commands)})"
            raise click.UsageError(f"no command {args[0]!r}{hint}", ctx) from error


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(pn.__version__, prog_name="possnet")
def main() -> None:
    """Possibilistic networks: reason and learn from data whose cells are sets.

    NET is a file or the name of a bundled network (asia, clinic, pump, survey). DATA is a .csv or .parquet file, a folder
    of them, or a pattern.
    """


@main.command()
@click.argument("file", metavar="NET|DATA")
@click.option("--variables", "domain", metavar="NET", help="Take the domains of DATA from a network.")
@click.option("--weights", metavar="COLUMN", help="The column that holds row weights.")
def info(file: str, domain: str | None, weights: str | None) -> None:
    """Show what a network or a data file holds.

    \b
    Examples:
      possnet info asia
      possnet info patients.csv --variables clinic
    """
    from possnet.cli.pages import data_page, network_page

    if _is_data(file):
        click.echo(data_page(_stream(file, domain, weights), file))
    else:
        click.echo(network_page(_network(file)))


@main.command()
@click.argument("net", metavar="NET")
@click.argument("target")
@click.option(
    "--given", "given", multiple=True, metavar="X=A|B", help="What is known: a state, a|b, or !a (all but a)."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of bars.")
def query(net: str, target: str, given: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001
    """Show the possibility and the necessity of every state of a variable.

    Π is how far a state is possible, N how far it is certain, given what is known.

    \b
    Examples:
      possnet query clinic measles --given 'fever=mild|high' --given rash=spots
      possnet query asia lung --given xray=yes --json
    """
    from possnet.cli.pages import answer_page, read_given

    network = _network(net)
    evidence = read_given(given, network)
    engine = pn.Inference(network)
    answer = engine.query(target, evidence)
    click.echo(answer_page(answer, engine.possibility_of(evidence), given, as_json=as_json))


@main.command()
@click.argument("net", metavar="NET")
@click.option("--rows", type=click.IntRange(min=0), default=1000, show_default=True, help="Number of rows.")
@click.option(
    "--imprecision",
    "imprecision",
    multiple=True,
    metavar="THETA",
    help="From 0 (precise) to 1 (the whole cut; the default), or X=THETA for one variable; may be repeated.",
)
@click.option(
    "--process",
    type=click.Choice(["alpha-cut", "precise", "traced"]),
    default="alpha-cut",
    show_default=True,
    help="alpha-cut: the paper's Algorithm 1; precise: single states; traced: children answer to hidden states.",
)
@click.option(
    "--law",
    type=click.Choice(["independent", "text"]),
    default="independent",
    show_default=True,
    help="How cuts are thinned.",
)
@click.option(
    "--parents",
    type=click.Choice(["observed", "cut"]),
    default="observed",
    show_default=True,
    help="What a child answers to in alpha-cut: the parents' cells or their whole cuts.",
)
@click.option("--given", "given", multiple=True, metavar="X=A|B", help="Draw given this (alpha-cut only).")
@click.option("--seed", type=click.IntRange(min=0), help="Same seed, same rows. By default a new one, which is told.")
@click.option("--out", required=True, metavar="FILE", help="A .parquet or .csv file.")
def sample(
    net: str,
    rows: int,
    imprecision: tuple[str, ...],
    process: Process,
    law: Law,
    parents: Parents,
    given: tuple[str, ...],
    seed: int | None,
    out: str,
) -> None:
    """Draw rows of set-valued cells from a network.

    \b
    Examples:
      possnet sample asia --rows 10000 --imprecision 0.5 --seed 7 --out asia.parquet
      possnet sample clinic --process traced --imprecision 1 --imprecision fever=0.2 --out clinic.csv
    """
    from secrets import randbits

    from possnet.cli.pages import read_given, read_imprecision

    _check_target(out, (".csv", ".parquet"))
    network = _network(net)
    number = randbits(32) if seed is None else seed
    stream = pn.sample_batches(
        network,
        rows,
        imprecision=read_imprecision(imprecision, network),
        process=process,
        law=law,
        parents=parents,
        evidence=read_given(given, network),
        rng=number,
        batch=1 << 18,
    )
    with _progress(rows) as advance:
        pn.write_data(stream, out, progress=advance)
    if seed is None:
        click.echo(f"Drawn with --seed {number}.", err=True)


@main.command()
@click.argument("data", metavar="DATA")
@click.option("--structure", required=True, metavar="NET", help="The network whose graph and domains are used.")
@click.option(
    "--method",
    type=click.Choice(["likelihood", "capped", "histogram", "transform", "em"]),
    default="likelihood",
    show_default=True,
    help="The estimator: by counting (see possnet.fit), or em, over the hidden true states (see possnet.fit_em).",
)
@click.option("--total", metavar="S", help="Sum of the degrees of a context: a number, or 'data' (the mean cell size).")
@click.option("--normalise/--as-it-stands", default=None, help="Divide by the largest degree or not; by method.")
@click.option("--imprecision", type=float, metavar="THETA", help="Undo a known thinning of the cells.")
@click.option("--pseudo", type=float, default=0.0, metavar="ROWS", help="Imagined rows of ignorance in every context.")
@click.option(
    "--transform",
    type=click.Choice(["optimal", "symmetric", "ratio", "klir", "variable"]),
    default="optimal",
    show_default=True,
    help="For --method transform.",
)
@click.option(
    "--unknown",
    type=click.Choice(["missing", "focal"]),
    default="missing",
    show_default=True,
    help="For em: unknown cells were not observed, or the whole domain is what was said.",
)
@click.option("--starts", type=click.IntRange(min=1), default=1, show_default=True, help="For em: climbs to make.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For em: of further starts.")
@click.option("--weights", metavar="COLUMN", help="The column that holds row weights.")
@click.option("--out", required=True, metavar="NET", help="A .json file.")
def fit(
    data: str,
    structure: str,
    method: Method | Literal["em"],
    total: str | None,
    normalise: bool | None,  # noqa: FBT001
    imprecision: float | None,
    pseudo: float,
    transform: Transform,
    unknown: Literal["missing", "focal"],
    starts: int,
    seed: int,
    weights: str | None,
    out: str,
) -> None:
    """Learn the tables of a network from data, by counting or by EM; files larger than memory work.

    \b
    Examples:
      possnet fit patients.parquet --structure clinic --out learned.json
      possnet fit patients.csv --structure clinic --method em --out learned.json
      possnet fit 'parts/*.parquet' --structure asia --method histogram --out raw.json
    """
    from possnet.cli.pages import em_page, read_total

    _check_target(out, (".json",))
    known = _network(structure)
    stream = pn.scan_data(data, variables=known, weights=weights)
    if method == "em":
        if total is not None or normalise is not None:
            raise InputError("--total and --normalise are for learning by counting; expected --method em without them")
        with _progress(None, "steps") as advance:
            found = pn.fit_em(
                known.dag,
                stream,
                unknown=unknown,
                starts=starts,
                rng=seed,
                pseudo=pseudo,
                imprecision=imprecision,
                conjunction=known.conjunction,
                name=known.name,
                progress=advance,
            )
        pn.write_network(found.network, out)
        click.echo(em_page(found), err=True)
        return
    with _progress(stream.rows) as advance:
        learned = pn.fit(
            known.dag,
            stream,
            method=method,
            total=read_total(total),
            normalise=normalise,
            imprecision=imprecision,
            pseudo=pseudo,
            transform=transform,
            conjunction=known.conjunction,
            name=known.name,
            progress=advance,
        )
    pn.write_network(learned, out)


@main.command()
@click.argument("net", metavar="NET")
@click.argument("data", metavar="DATA")
@click.option("--weights", metavar="COLUMN", help="The column that holds row weights.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def score(net: str, data: str, weights: str | None, as_json: bool) -> None:  # noqa: FBT001
    """Show how well a network fits data: both likelihoods of the paper, by variable and in all.

    piLL is the score of the network's degrees, sum of N log pi; at most 0, and 0 for a network that knows nothing. mLL is
    the log-likelihood of its structure over the cells as they stand, at its maximum.

    \b
    Examples:
      possnet score clinic patients.csv
      possnet score learned.json test.parquet --json
    """
    from possnet.cli.pages import score_page

    network = _network(net)
    stream = pn.scan_data(data, variables=network, weights=weights)
    with _progress(stream.rows) as advance:
        counts = pn.count(network.dag, stream, focal=True, progress=advance)
    click.echo(score_page(network, counts, as_json=as_json))


@main.command()
@click.argument("truth", metavar="NET")
@click.argument("learned", metavar="NET")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def compare(truth: str, learned: str, as_json: bool) -> None:  # noqa: FBT001
    """Show how far the second network is from the first, beside total ignorance.

    \b
    Examples:
      possnet compare clinic learned.json
      possnet compare asia asia.json --json
    """
    import json

    found = pn.compare(_network(truth), _network(learned))
    if as_json:
        document = {name: {"value": m.value, "vacuous": m.vacuous} for name, m in found.items()}
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo(str(found))


@main.command()
@click.argument("networks", metavar="[NET]...", nargs=-1)
@click.option("--rows", metavar="N,N,...", default="100,1000,10000", show_default=True, help="Numbers of rows.")
@click.option("--imprecision", metavar="T,T,...", default="0.5,1", show_default=True, help="Thetas, from 0 to 1.")
@click.option(
    "--process",
    metavar="P,P,...",
    default="alpha-cut,traced",
    show_default=True,
    help="alpha-cut, precise, traced; alpha-cut-text, alpha-cut-cuts, traced-text.",
)
@click.option(
    "--learner",
    metavar="L,L,...",
    default="likelihood,em",
    show_default=True,
    help="likelihood, histogram, capped, transform, symmetric, em; likelihood-corrected, em-corrected.",
)
@click.option(
    "--learn",
    metavar="S,S,...",
    default="given",
    show_default=True,
    help="Structures: given (the true one), or learned from the rows too, such as greedy:random-set-bic.",
)
@click.option("--random", metavar="N", type=click.IntRange(min=1), help="A random network of N variables as well.")
@click.option("--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Runs of every setting.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Same seed, same results.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes; by default one for each core.")
@click.option("--metric", default="child_affinity", show_default=True, help="The metric of the printed table.")
@click.option("--out", metavar="DIR", help="Keep every result there; a run that was killed goes on from there.")
def evaluate(
    networks: tuple[str, ...],
    rows: str,
    imprecision: str,
    process: str,
    learner: str,
    learn: str,
    random: int | None,
    repeats: int,
    seed: int,
    workers: int | None,
    metric: str,
    out: str | None,
) -> None:
    """Evaluate how well networks are learned back from imprecise data drawn from them.

    Draw rows with a process and an imprecision, learn, compare with the original; over all combinations, several times.
    Every measure stands beside total ignorance and, where it can be computed, what counting converges to with endless
    rows. Without arguments: bundled networks, in under a minute. With --out, a report to show to others: DIR/report.html.

    \b
    Examples:
      possnet evaluate
      possnet evaluate clinic --rows 100,1000,10000 --imprecision 0,.5,1 --learner likelihood,em --out clinic-run
    """
    from possnet.cli.pages import evaluation_page, read_numbers

    if metric not in _metrics():
        raise InputError(f"--metric {metric!r}; expected {listing(_metrics())}{did_you_mean(metric, _metrics())}")
    chosen: dict[str, Network] = {}
    for file in networks or (() if random else _default_networks()):
        name = Path(file).name.split(".")[0] if Path(file).suffix else file
        if name in chosen:
            raise InputError(f"two networks are called {name!r}; expected files of different names")
        chosen[name] = _network(file)
    if random is not None:
        chosen[f"random {random}"] = pn.random_network(random, rng=seed)
    try:
        with _progress(None, "runs") as advance:
            found = pn.evaluate(
                chosen,
                rows=[int(number) for number in read_numbers(rows, "--rows", whole=True)],
                imprecision=read_numbers(imprecision, "--imprecision"),
                process=[text.strip() for text in process.split(",")],
                learners=[text.strip() for text in learner.split(",")],
                learn=[text.strip() for text in learn.split(",")],
                repeats=repeats,
                rng=seed,
                out=out,
                workers=workers,
                progress=advance,
            )
    except KeyboardInterrupt:
        told = (
            f"Run the same command again to go on: {out} keeps what is done." if out else "Nothing was kept (no --out)."
        )
        click.echo(f"Stopped. {told}", err=True)
        sys.exit(130)
    click.echo(evaluation_page(found, metric, out))
    if out is not None:
        _write_report(out)


def _write_report(folder: str) -> None:
    with _progress(None, "figures") as advance:
        page = pn.write_report(folder, progress=advance)
    click.echo(
        f"\nReport: {page}\nAll measures: {page.parent / 'results.csv'}; figures for papers: {page.parent / 'figures'}"
    )


@main.command()
@click.argument("folder", metavar="DIR")
def report(folder: str) -> None:
    """Write the report of a finished experiment again: report.html, and figures/ as SVG and PDF.

    DIR is what possnet evaluate --out wrote.

    \b
    Examples:
      possnet report clinic-run
    """
    _write_report(folder)


def _metrics() -> tuple[str, ...]:
    from possnet.metrics import METRICS

    return tuple(METRICS)


def _default_networks() -> tuple[str, ...]:
    from possnet.experiment import DEFAULT_NETWORKS

    return DEFAULT_NETWORKS


@main.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--variables", "domain", metavar="NET", help="Take the domains of data from a network.")
@click.option("--weights", metavar="COLUMN", help="The column that holds row weights.")
@click.option(
    "--layout",
    type=click.Choice(["masks", "lists"]),
    default="masks",
    show_default=True,
    help="Parquet cells: possnet's masks, or lists of strings for other programs.",
)
@click.option(
    "--transform",
    type=click.Choice(["optimal", "symmetric", "ratio", "klir", "variable"]),
    default="optimal",
    show_default=True,
    help="How probabilities become possibilities.",
)
@click.option("--measure", "measures", multiple=True, metavar="SPEC", help=MEASURE_HELP)
def convert(
    source: str,
    target: str,
    domain: str | None,
    weights: str | None,
    measures: tuple[str, ...],
    layout: Literal["masks", "lists"],
    transform: Transform,
) -> None:
    """Write a network or a data file in another format, chosen by the suffix of OUT.

    Networks: from .json, .uai, .bif, .xmlbif (.gz too) to .json or .uai. Data: .csv and .parquet. A .uai file has no
    names; they go to OUT.names.json.

    \b
    Examples:
      possnet convert alarm.bif.gz alarm.json --transform optimal
      possnet convert asia asia.uai
      possnet convert patients.csv patients.parquet
      possnet convert readings.csv readings.parquet --measure 'temp: edges=36,37.5,38.5 error=.2'
    """
    if _is_data(source) != _is_data(target):
        kinds = {True: "data", False: "a network"}
        raise InputError(
            f"{source} is {kinds[_is_data(source)]} and {target} would be {kinds[_is_data(target)]}; "
            "expected the same kind (networks: .json, .uai; data: .csv, .parquet)"
        )
    if _is_data(source):
        stream = _stream(source, domain, weights, measures)
        with _progress(stream.rows) as advance:
            pn.write_data(stream, target, layout=layout, weights=weights or "weight", progress=advance)
    elif measures:
        raise InputError(
            f"--measure {measures[0]!r} is for data, and {source} is a network; expected it with data only"
        )
    else:
        from possnet.io import names_file

        pn.write_network(_network(source, transform), target)
        if target.lower().endswith(".uai"):
            click.echo(f"The names of variables and states are in {names_file(target)}.", err=True)


def _check_target(name: str, suffixes: tuple[str, ...]) -> None:
    """Refuse, before any work, a file that could not be written at its end."""
    if not name.lower().endswith(suffixes):
        raise InputError(f"--out {name}: unknown suffix {Path(name).suffix!r}; expected {' or '.join(suffixes)}")
    if not Path(name).resolve().parent.is_dir():
        raise InputError(f"--out {name}: no such folder; make it first, or check the name")


def _stream(name: str, domain: str | None, weights: str | None, measures: tuple[str, ...] = ()) -> DataStream:
    """Data of a file, with the domains of a network for the columns that the network knows."""
    from possnet.io import column_names

    measured = read_measures(measures)
    if domain is None:
        return pn.scan_data(name, weights=weights, measures=measured)
    known, found = _network(domain).variables, set(column_names(name))
    chosen = [v for v in known if v.name in found] or known
    return pn.scan_data(name, variables=chosen, weights=weights, measures=measured)


def _is_data(name: str) -> bool:
    """Data by its suffix, or a folder or a pattern that is not a network's file or name."""
    from possnet.io import NETWORK_SUFFIXES, example_names

    if name.lower().endswith((".csv", ".parquet")):
        return True
    if not name or name.lower().endswith(NETWORK_SUFFIXES) or name in example_names():
        return False
    return any(mark in name for mark in "*[") or _exists(name, folder=True)


def _exists(name: str, *, folder: bool = False) -> bool:
    try:
        return Path(name).is_dir() if folder else Path(name).exists()
    except (OSError, ValueError):
        return False


@contextmanager
def _progress(total: int | None, what: str = "rows") -> Iterator[Callable[[int, int], None] | None]:
    """A bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done, most: bar.update(task, completed=done, total=total or most or None)


def _network(name: str, transform: Transform = "optimal") -> Network:
    """A file, or a bundled network."""
    from possnet.io import example_names

    if Path(name).suffix:
        return pn.read_network(name, transform=transform)
    if name in example_names():
        return pn.load_example(name)
    if _exists(name):
        return pn.read_network(name, transform=transform)
    raise InputError(
        f"{name}: no such file and no bundled network of that name ({listing(example_names())})"
        f"{did_you_mean(name, example_names())}"
    )


from possnet.cli.complete import complete  # noqa: E402 - it is one of the commands above, in a file of its own

main.add_command(complete)


def _register() -> None:
    """Add the commands that live in modules of their own."""
    from possnet.cli.learn import learn

    main.add_command(learn)


_register()
