"""``possnet info``, ``query``, ``compare`` and ``convert``: what is there, and in other forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

import possnet as pn
from possnet.cli.inputs import (
    DATA,
    NET,
    complete_variable,
    is_data,
    progress_bar,
    read_net,
    read_stream,
    show,
    spooled_input,
    writing,
)
from possnet.cli.options import bin_option, choice_option, given_option, json_option, transform_option, weights_option
from possnet.errors import InputError

if TYPE_CHECKING:
    from possnet.transforms import Transform


@click.command()
@click.argument("file", metavar="NET|DATA", type=NET)
@click.option("--variables", "domain", metavar="NET", type=NET, help="Take the domains of DATA from a network.")
@weights_option
@bin_option
@json_option("a page")
def info(
    file: str,
    domain: str | None,
    weights: str | None,
    binnings: tuple[str, ...],
    as_json: bool,  # noqa: FBT001
) -> None:
    """Show what a network or a data file holds.

    \b
    Examples:
      possnet info asia
      possnet info patients.csv --variables clinic
      possnet info alarm.bif.gz --json
    """
    from possnet.cli.pages import data_page, network_page
    from possnet.io import sniff_kind

    name = "standard input" if file == "-" else file
    if file == "-":
        file = spooled_input()
    kind = sniff_kind(file)
    if kind == "data" or (kind is None and is_data(file)):
        show(data_page(read_stream(file, domain, weights, binnings), name, as_json=as_json))
    else:
        show(network_page(read_net(file), as_json=as_json))


@click.command(short_help="How possible and how certain each state of a variable is.")
@click.argument("net", metavar="NET", type=NET)
@click.argument("target", shell_complete=complete_variable)
@given_option("What is known: a state, a|b, or !a (all but a).")
@json_option("bars")
def query(net: str, target: str, given: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001
    """Show the possibility and the necessity of every state of a variable.

    Π is how far a state is possible, N how far it is certain, given what is known.

    \b
    Examples:
      possnet query clinic measles --given 'fever=mild|high' --given rash=spots
      possnet query asia lung --given xray=yes --json
      possnet fit rows.csv --structure clinic --out - | possnet query - flu --given fever=high
    """
    from possnet.cli.pages import answer_page, read_given

    network = read_net(net)
    evidence = read_given(given, network)
    engine = pn.Inference(network)
    answer = engine.query(target, evidence)
    show(answer_page(answer, engine.possibility_of(evidence), given, as_json=as_json))


@click.command(short_help="How far one network is from another.")
@click.argument("truth", metavar="NET", type=NET)
@click.argument("learned", metavar="NET", type=NET)
@json_option("a table")
def compare(truth: str, learned: str, as_json: bool) -> None:  # noqa: FBT001
    """Show how far the second network is from the first, beside total ignorance.

    \b
    Examples:
      possnet compare clinic learned.json
      possnet compare asia asia.json --json
    """
    found = pn.compare(read_net(truth), read_net(learned))
    document = {name: {"value": m.value, "vacuous": m.vacuous} for name, m in found.items()}
    show(document if as_json else str(found))


@click.command(short_help="Write a network or data in another format.")
@click.argument("source", metavar="IN", type=NET)
@click.argument("target", metavar="OUT", type=DATA)
@click.option("--variables", "domain", metavar="NET", type=NET, help="Take the domains of data from a network.")
@weights_option
@choice_option(
    "--layout", words=("masks", "lists"), help="Parquet cells: possnet's masks, or lists of strings for other programs."
)
@transform_option("How probabilities become possibilities.")
@bin_option
def convert(
    source: str,
    target: str,
    domain: str | None,
    weights: str | None,
    binnings: tuple[str, ...],
    layout: Literal["masks", "lists"],
    transform: Transform,
) -> None:
    """Write a network or a data file in another format, chosen by the suffix of OUT.

    Networks: from .json, .uai, .bif, .xmlbif (.gz too) to .json or .uai. Data: .csv and .parquet. A .uai file has no
    names; they go to OUT.names.json. OUT may be - for CSV or JSON on standard output.

    \b
    Examples:
      possnet convert alarm.bif.gz alarm.json --transform optimal
      possnet convert asia asia.uai
      possnet convert patients.csv patients.parquet
      possnet convert readings.csv readings.parquet --bin 'temp: edges=36,37.5,38.5 error=.2'
    """
    from possnet.io import sniff_kind

    if source == "-":
        source = spooled_input()
    whole = sniff_kind(source) == "data" or is_data(source)
    if target.lower().endswith((".json", ".uai")) if whole else is_data(target):
        kinds = ("data", "a network") if whole else ("a network", "data")
        raise InputError(
            f"{source} is {kinds[0]} and {target} would be {kinds[1]}; "
            "expected the same kind (networks: .json, .uai; data: .csv, .parquet)"
        )
    if whole:
        stream = read_stream(source, domain, weights, binnings)
        with writing(target, (".csv", ".parquet"), "") as file, progress_bar(stream.rows) as advance:
            pn.write_data(stream, file, layout=layout, weights=weights or "weight", progress=advance)
    elif binnings:
        raise InputError(f"--bin {binnings[0]!r} is for data, and {source} is a network; expected it with data only")
    else:
        from possnet.io import names_file

        with writing(target, (".json", ".uai"), "") as file:
            pn.write_network(read_net(source, transform), file)
        if target.lower().endswith(".uai"):
            click.echo(f"The names of variables and states are in {names_file(target)}.", err=True)
