"""``possnet sample``, ``fit`` and ``score``: data from networks, networks from data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

import possnet as pn
from possnet.cli.inputs import DATA, NET, data_file, progress_bar, read_net, scan, show, writing
from possnet.cli.options import bin_option, choice_option, given_option, json_option, transform_option, weights_option
from possnet.errors import InputError

if TYPE_CHECKING:
    from possnet.parameters import FitMethod
    from possnet.sampling import Law, Parents
    from possnet.transforms import Transform


@click.command()
@click.argument("net", metavar="NET", type=NET)
@click.option("--rows", type=click.IntRange(min=0), default=1000, show_default=True, help="Number of rows.")
@click.option(
    "--imprecision",
    multiple=True,
    metavar="THETA",
    help="From 0 (precise) to 1 (the whole cut; the default), or X=THETA for one variable; may be repeated.",
)
@choice_option(
    "--process",
    words=("alpha-cut", "precise", "traced"),
    help="alpha-cut: the paper's Algorithm 1; precise: single states; traced: children answer to hidden states.",
)
@choice_option("--law", words=("independent", "text"), help="How cuts are thinned.")
@choice_option(
    "--parents",
    words=("observed", "cut"),
    help="What a child answers to in alpha-cut: the parents' cells or their whole cuts.",
)
@given_option("Draw given this (alpha-cut only).")
@click.option("--seed", type=click.IntRange(min=0), help="Same seed, same rows. By default a new one, which is told.")
@click.option("--out", required=True, metavar="FILE", help="A .parquet or .csv file, or - (CSV on standard output).")
def sample(
    net: str,
    rows: int,
    imprecision: tuple[str, ...],
    process: str,
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
      possnet sample asia --rows 5 --out -
      possnet sample clinic --process traced --imprecision 1 --imprecision fever=0.2 --out clinic.csv
    """
    from secrets import randbits

    from possnet.cli.pages import read_given, read_imprecision

    network = read_net(net)
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
    with writing(out, (".csv", ".parquet")) as file, progress_bar(rows) as advance:
        pn.write_data(stream, file, progress=advance)
    if seed is None:
        click.echo(f"Drawn with --seed {number}.", err=True)


@click.command(short_help="Learn the tables of a given structure.")
@click.argument("data", metavar="DATA", type=DATA)
@click.option(
    "--structure", required=True, metavar="NET", type=NET, help="The network whose graph and domains are used."
)
@choice_option(
    "--method",
    words=("likelihood", "capped", "histogram", "transform", "em"),
    help="The estimator: by counting (see possnet.fit), or em, over the hidden true states (see possnet.fit_em).",
)
@click.option("--total", metavar="S", help="Sum of the degrees of a context: a number, or 'data' (the mean cell size).")
@click.option("--normalise/--as-it-stands", default=None, help="Divide by the largest degree or not; by method.")
@click.option("--imprecision", type=float, metavar="THETA", help="Undo a known thinning of the cells.")
@click.option("--pseudo", type=float, default=0.0, metavar="ROWS", help="Imagined rows of ignorance in every context.")
@transform_option("For --method transform.")
@choice_option(
    "--unknown",
    words=("missing", "focal"),
    help="For em: unknown cells were not observed, or the whole domain is what was said.",
)
@click.option("--starts", type=click.IntRange(min=1), default=1, show_default=True, help="For em: climbs to make.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For em: of further starts.")
@weights_option
@bin_option
@click.option("--out", required=True, metavar="NET", help="A .json file, or - (standard output).")
def fit(
    data: str,
    structure: str,
    method: FitMethod | Literal["em"],
    total: str | None,
    normalise: bool | None,  # noqa: FBT001
    imprecision: float | None,
    pseudo: float,
    transform: Transform,
    unknown: Literal["missing", "focal"],
    starts: int,
    seed: int,
    weights: str | None,
    binnings: tuple[str, ...],
    out: str,
) -> None:
    """Learn the tables of a network from data, by counting or by EM; files larger than memory work.

    \b
    Examples:
      possnet fit patients.parquet --structure clinic --out learned.json
      possnet fit patients.csv --structure clinic --method em --out learned.json
      possnet sample clinic --out - | possnet fit - --structure clinic --out learned.json
      possnet fit 'parts/*.parquet' --structure asia --method histogram --out raw.json
    """
    from possnet.cli.pages import em_page, read_total

    known = read_net(structure)
    stream = scan(data_file(data), known, weights, binnings)
    shared: dict[str, Any] = {"imprecision": imprecision, "pseudo": pseudo, "conjunction": known.conjunction}
    if method == "em":
        if total is not None or normalise is not None:
            raise InputError("--total and --normalise are for learning by counting; expected --method em without them")
        with writing(out, (".json",)) as file, progress_bar(None) as advance:
            options = pn.EmOptions(starts=starts, rng=seed, name=known.name)
            found = pn.fit_em(known.dag, stream, unknown=unknown, options=options, progress=advance, **shared)
            pn.write_network(found.network, file)
        click.echo(em_page(found), err=True)
        return
    with writing(out, (".json",)) as file, progress_bar(stream.rows) as advance:
        learned = pn.fit(
            known.dag,
            stream,
            method=method,
            total=read_total(total),
            normalise=normalise,
            transform=transform,
            name=known.name,
            progress=advance,
            **shared,
        )
        pn.write_network(learned, file)


@click.command(short_help="Both likelihoods of a network on data.")
@click.argument("net", metavar="NET", type=NET)
@click.argument("data", metavar="DATA", type=DATA)
@weights_option
@bin_option
@json_option("a table")
def score(
    net: str,
    data: str,
    weights: str | None,
    binnings: tuple[str, ...],
    as_json: bool,  # noqa: FBT001
) -> None:
    """Show how well a network fits data: both likelihoods of the paper, by variable and in all.

    piLL is the score of the network's degrees, sum of N log pi; at most 0, and 0 for a network that knows nothing. mLL is
    the log-likelihood of its structure over the cells as they stand, at its maximum.

    \b
    Examples:
      possnet score clinic patients.csv
      possnet score learned.json test.parquet --json
    """
    from possnet.cli.pages import score_page

    network = read_net(net)
    stream = scan(data_file(data), network, weights, binnings)
    with progress_bar(stream.rows) as advance:
        counts = pn.count(network.dag, stream, focal=True, progress=advance)
    show(score_page(network, counts, as_json=as_json))
