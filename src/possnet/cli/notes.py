"""Notes: what the library warns of while a command runs, one line each on standard error, and in every JSON document."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from possnet.cli.spooling import name_input
from possnet.cli.terminal import show_line
from possnet.errors import PossnetWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

_CAUGHT = "possnet.warnings"


@contextmanager
def catch_notes(ctx: click.Context) -> Iterator[None]:
    """Keep the warnings of a command; those of possnet are printed at its end, once each, and others are dropped."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PossnetWarning)
        ctx.meta[_CAUGHT] = caught
        yield
    for note in list_notes(ctx):
        show_line(f"Note: {note}")


def list_notes(ctx: click.Context) -> list[str]:
    """What possnet has warned of so far, in its order, once each."""
    texts = (str(w.message) for w in ctx.find_root().meta.get(_CAUGHT, ()) if issubclass(w.category, PossnetWarning))
    return [name_input(text, ctx) for text in dict.fromkeys(texts)]
