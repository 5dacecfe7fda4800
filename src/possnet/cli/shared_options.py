"""Options that several commands have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import click

from possnet.cli.parse import BINNING, BINNING_EXAMPLE, COLUMN, FINDING, NET, OUTPUT, Choice
from possnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Option: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


def _collect_pairs(ctx: click.Context, param: click.Parameter, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Pairs of an option that may be repeated, each name once, as a mapping."""
    mapping: dict[str, Any] = {}
    for name, value in () if ctx.resilient_parsing else pairs:
        if name in mapping:
            raise InputError(f"{param.opts[0]}: {name or 'all variables'!r} is given twice; expected once")
        mapping[name] = value
    return mapping


def pairs_option(*names: str, **how: Any) -> Option:
    """An option that may be repeated, whose type reads a name and its value: a mapping from names to values."""
    return click.option(*names, multiple=True, callback=_collect_pairs, **how)


def choice_option(name: str, listed: Sequence[str] | str, help: str, **how: Any) -> Option:  # noqa: A002 - click's own
    """One word of a closed list, the first by default."""
    default = listed[0] if not isinstance(listed, str) else None
    return click.option(name, type=Choice(listed), help=help, **{"default": default, **how})


def number_option(name: str, help: str, *, least: int = 0, default: int | None = None) -> Option:  # noqa: A002
    """A whole number."""
    return click.option(name, type=click.IntRange(min=least), default=default, help=help)


def given_option(help: str) -> Option:  # noqa: A002
    """Evidence, a text for each variable."""
    return pairs_option("--given", type=FINDING, help=help)


def json_option(help: str) -> Option:  # noqa: A002
    """For machines."""
    return click.option("--json", "as_json", is_flag=True, help=help)


def out_option(help: str, *, required: bool = True) -> Option:  # noqa: A002
    """The file to write."""
    return click.option("--out", type=OUTPUT, required=required, help=help)


def transform_option(help: str) -> Option:  # noqa: A002
    """How probabilities become possibilities."""
    return choice_option("--transform", ("optimal", "symmetric", "ratio", "klir", "variable"), help)


bin_option = pairs_option(
    "--bin",
    "binnings",
    type=BINNING,
    help=f"A column of measurements and how to bin it, for example {BINNING_EXAMPLE}. "
    "edges=NUMBERS, or edges=quantile or edges=width with bins=N; error=NUMBER, error=5% or error=COLUMN; "
    "labels=a,b,c; ends=closed. May be repeated.",
)
variables_option = click.option("--variables", "domains", type=NET, help="Take the domains of DATA from a network.")
weights_option = click.option("--weights", type=COLUMN, help="The column that holds row weights.")
