"""Options that several commands have."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import click

from possnet.cli.inputs import keep_bin_error, keep_cells
from possnet.cli.parse import (
    BIN_ERROR,
    BINNING,
    BINNING_EXAMPLE,
    CERTAINTY,
    COLUMN,
    COLUMNS,
    FINDING,
    NET,
    OUTPUT,
    READING,
    SEPARATOR,
    Choice,
    Text,
    name_type,
)
from possnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from possnet.registries import Registered

    Option: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


def _collect_pairs(ctx: click.Context, param: click.Parameter, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Pairs of an option that may be repeated, each name once, as a mapping."""
    mapping: dict[str, Any] = {}
    for name, value in () if ctx.resilient_parsing else pairs:
        if name in mapping:
            remedy = ", with all its states between |" if param.type is FINDING else ""
            raise InputError(
                f"{param.opts[0]}: {'all of them' if name in {'', '*'} else name!r} is given twice; expected once{remedy}"
            )
        mapping[name] = value
    return mapping


def pairs_option(*names: str, **how: Any) -> Option:
    """An option that may be repeated, whose type reads a name and its value: a mapping from names to values."""
    return click.option(*names, multiple=True, callback=_collect_pairs, **how)


class RenamedOption(click.Option):
    """An option whose help shows its first name alone; the others are earlier names, which are still understood."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Its first name, and its help."""
        renamed = copy(self)
        renamed.opts = self.opts[:1]
        return click.Option.get_help_record(renamed, ctx)


class RegistryOption(click.Option):
    """An option whose help lists the entries of a registry in place of ``{names}``, with their labels.

    Of several names the first is shown: the others are earlier names, which are still understood.
    """

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Names and help."""
        entries: Any = cast("Text", self.type).words(ctx)
        described = copy(self)
        described.opts = self.opts[:1]
        described.help = str(self.help).format(names=", ".join(map(_describe_entry, entries.values())))
        return click.Option.get_help_record(described, ctx)


def _describe_entry(entry: Registered) -> str:
    """The name, the label if that says more, and what the entry cannot do."""
    words = entry.label.lower().removesuffix(" rows").replace(" ", "-")
    label = "" if words == entry.name.replace("_", "-") else entry.label
    remarks = [text for text in (label, getattr(entry, "caveat", "")) if text]
    return f"{entry.name} ({'; '.join(remarks)})" if remarks else entry.name


def registry_option(registry: str, *names: str, many: bool = False, closed: bool = False, **how: Any) -> Option:
    """A name of a registry, or several with commas between them; in its help ``{names}`` are those that are registered.

    A name that is not registered is refused by the function that takes it, or here if the option is ``closed``.
    """
    kind = Choice(registry) if closed else name_type(registry, many=many)
    return click.option(*names, cls=RegistryOption, type=kind, **{"help": "{names}.", **how})


def choice_option(name: str, words: Sequence[str], help: str) -> Option:  # noqa: A002 - click's own name
    """One of several words, the first by default."""
    return click.option(name, type=Choice(words), default=words[0], help=help)


def number_option(name: str, help: str, *, least: int = 0, default: int | None = None) -> Option:  # noqa: A002
    """A whole number."""
    return click.option(name, type=click.IntRange(min=least), metavar="N", default=default, help=help)


def given_option(help: str) -> Option:  # noqa: A002
    """Evidence, a text for each variable."""
    return pairs_option("--given", type=FINDING, help=help)


def json_option(help: str) -> Option:  # noqa: A002
    """Whether to print JSON."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def out_option(help: str, *, required: bool = True, metavar: str = "FILE") -> Option:  # noqa: A002
    """The file to write."""
    return click.option("--out", type=OUTPUT, required=required, metavar=metavar, help=help)


def transform_option(help: str) -> Option:  # noqa: A002
    """How probabilities become possibilities."""
    return choice_option("--transform", ("optimal", "symmetric", "ratio", "klir", "variable"), help)


def reading_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """How the tables of a network are read."""
    return click.option(
        "--reading",
        type=Choice(("auto", "possibility", "probability")),
        default="auto",
        help="Degrees by maxima over the tables (possibility), or by sums over them as probabilities; auto: the latter "
        "where the tables were learned as probabilities.",
    )(function)


def prior_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Imagined rows: ``prior`` and ``pseudo``."""
    prior = click.option(
        "--prior",
        type=Choice(("marginal", "ignorance", "none")),
        help="Imagined rows in every context: as the column itself (contexts without rows then take a smaller context), of "
        "whole domains, or none.",
    )
    pseudo = click.option(
        "--pseudo",
        type=float,
        metavar="NUMBER",
        help="How many imagined rows: 1 by default; without --prior, marginal ones.",
    )
    return prior(pseudo(function))


_bin_option = pairs_option(
    "--bin",
    "binnings",
    type=BINNING,
    help=f"Columns of measurements (a, or a,b, or * for all numeric ones) and how to bin them, for example "
    f"{BINNING_EXAMPLE}. edges=NUMBERS; edges=quantile (the default) or edges=width, bins=N; edges=mdl target=COLUMN; "
    "error=NUMBER, error=5% or error=COLUMN; unit=°C; labels=a,b,c; ends=closed. May be repeated.",
)
_error_option = click.option(
    "--bin-error",
    type=BIN_ERROR,
    callback=lambda ctx, _, value: keep_bin_error(ctx, value),
    expose_value=False,
    help="The error of all binned columns that --bin gives none: a number, or 5%.",
)
weights_option = click.option("--weights", type=COLUMN, help="The column that holds row weights.")
variables_option = click.option("--variables", "domains", type=NET, help="Take the domains of DATA from a network.")


def bin_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """How columns of measurements are binned: ``binnings``; a common error is kept for `scan_file`."""
    return _bin_option(_error_option(function))


_CELL_OPTIONS = (
    ("--unknown-words", COLUMNS, "Texts that mean unknown, such as NA,ND, besides ?, * and nothing."),
    (
        "--cells",
        READING,
        "How texts are read: auto, plain, sets, range or degrees; COLUMN=WORD,COLUMN=WORD for some. May be repeated.",
    ),
    (
        "--certainty",
        CERTAINTY,
        "Column of certainties beside a column of cells, and the largest certainty: 'label=sure/7'. May be repeated.",
    ),
    ("--separator", SEPARATOR, "What stands between states, | and ; by default; COLUMN=TEXT for one. May be repeated."),
)


def cells_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """How the texts of data are read; kept for `scan_file` and not handed to the command."""
    for name, kind, help_text in _CELL_OPTIONS:
        several = kind is not COLUMNS
        option = click.option(
            name, type=kind, multiple=several, callback=_keep_option, expose_value=False, help=help_text
        )
        function = option(function)
    return function


def _keep_option(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep an option of cells where `scan_file` finds it."""
    if value and not ctx.resilient_parsing:
        if param.type is READING:
            value = [pair for pairs in value for pair in pairs]
        keep_cells(ctx, str(param.name), _collect_pairs(ctx, param, value) if param.multiple else value)


def columns_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """How the columns of data are read: ``weights`` and ``binnings``, and how their cells are."""
    return weights_option(bin_option(cells_options(function)))
