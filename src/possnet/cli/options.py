"""Options that several commands have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import click

from possnet.cli.binnings import BINNING_HELP
from possnet.cli.inputs import Choice, complete_evidence

if TYPE_CHECKING:
    from collections.abc import Callable

    Option: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

bin_option = click.option("--bin", "binnings", multiple=True, metavar="SPEC", help=BINNING_HELP)
weights_option = click.option("--weights", metavar="COLUMN", help="The column that holds row weights.")


def choice_option(*names: str, words: tuple[str, ...], help: str) -> Option:  # noqa: A002 - click's own name
    """One of several words, the first by default."""
    return click.option(*names, type=Choice(words), default=words[0], show_default=True, help=help)


def given_option(help: str) -> Option:  # noqa: A002
    """Evidence, a text for each variable."""
    return click.option("--given", multiple=True, metavar="X=A|B", help=help, shell_complete=complete_evidence)


def json_option(instead_of: str) -> Option:
    """For machines."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print JSON instead of {instead_of}.")


def transform_option(help: str) -> Option:  # noqa: A002
    """How probabilities become possibilities."""
    return choice_option("--transform", words=("optimal", "symmetric", "ratio", "klir", "variable"), help=help)
