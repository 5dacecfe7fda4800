"""``possnet convert``: a network or data in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.inputs import DataFile, guess_kind, read_net, scan_columns
from possnet.cli.outputs import announce_file, describe_network, open_output, show_progress
from possnet.cli.parse import OUTPUT, SOURCE
from possnet.errors import InputError, count_noun


class _ConvertCommand(click.Command):
    """The command, with the formats that are registered below its options."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from possnet.io import describe_formats

        self.epilog = describe_formats()
        super().format_epilog(ctx, formatter)


@click.command(cls=_ConvertCommand, short_help="Write a network or data in another format.")
@click.argument("source", metavar="IN", type=SOURCE)
@click.argument("target", metavar="OUT", type=OUTPUT)
@shared.variables_option
@shared.weights_option
@shared.choice_option(
    "--layout", ("masks", "lists"), "Parquet cells: possnet's masks, or lists of strings for other programs."
)
@shared.transform_option(
    "How probabilities become possibilities; for OUT with probabilities, also back (symmetric, ratio or optimal)."
)
@shared.bin_option
@shared.cells_options
def convert_command(
    source: DataFile | str, target: str, layout: Literal["masks", "lists"], transform: Any, **columns: Any
) -> None:
    """Write a network or a data file in another format, chosen by the suffix of OUT.

    OUT may be - for CSV or JSON on standard output. A .uai file has no names; they go to OUT.names.json. A .bif or .xmlbif
    file holds probabilities alone: name the transformation whose inverse gives them. A .xdsl (GeNIe) or .net (Hugin) file
    keeps the degrees beside them. A .wcnf file asks MaxSAT solvers for the most possible configuration.

    \b
    Examples:
      possnet convert alarm.bif.gz alarm.json --transform optimal
      possnet convert asia asia.uai
      possnet convert clinic clinic.bif --transform symmetric
      possnet convert clinic clinic.xdsl
      possnet convert patients.csv patients.parquet
      possnet convert wards.csv wards.parquet --bin 'temp: edges=37,39 error=.2'
    """
    from possnet.io import NETWORK_FORMATS, choose_format, has_suffix

    if isinstance(source, DataFile):
        if has_suffix(target, NETWORK_FORMATS):
            raise _refuse_kinds(f"{source.name} is data and {target} would be a network")
        stream = scan_columns(source, **columns)
        with open_output(target, "data", option="") as file, show_progress("writing", "rows", stream.rows) as advance:
            pn.write_data(stream, file, layout=layout, weights=columns["weights"] or "weight", progress=advance)
        announce_file(target, f"the rows of {source.name}, {count_noun(len(stream.variables), 'variable')}")
        return
    if guess_kind(target) == "data":
        raise _refuse_kinds(f"{source} is a network and {target} would be data")
    if columns["binnings"]:
        raise InputError(f"--bin is for data, and {source} is a network; expected it with data only")
    network = read_net(source, transform)
    with open_output(target, "network", option="") as file:
        pn.write_network(network, file, transform=transform if _is_named("transform") else None)
    announce_file(target, describe_network(network))
    names_file = None if target == "-" else choose_format(target, NETWORK_FORMATS, "write").names_file
    if names_file is not None:
        announce_file(names_file(Path(target)), "the names of its variables and states")


def _is_named(option: str) -> bool:
    """Whether an option was given, rather than left at its default."""
    return click.get_current_context().get_parameter_source(option) is not click.core.ParameterSource.DEFAULT


def _refuse_kinds(finding: str) -> InputError:
    from possnet.io import describe_formats

    return InputError(f"{finding}; expected the same kind. {describe_formats()}")
