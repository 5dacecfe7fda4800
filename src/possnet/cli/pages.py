"""What the commands print, as text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from possnet.errors import listing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.network import Network

__all__ = ["network_page", "text_table"]

_MOST_ROWS = 60


def network_page(network: Network) -> str:
    """Readable summary of a network: what it is about, its size, and a line for every variable.

    >>> import possnet as pn
    >>> print(network_page(pn.load_example("pump")))
    pump: a product-based possibilistic network
    <BLANKLINE>
      What ails the pump? An engineer's degrees for a centrifugal pump: ...
    <BLANKLINE>
      variables      7, with 2 to 3 states
      edges          8
      widest family  vibration given bearing, cavitation: 27 degrees
      degrees        83 in all
    <BLANKLINE>
      variable     states                    parents
      bearing      sound < worn < failing
      ...
    """
    sizes = [len(variable) for variable in network.variables]
    widest = max(network.variables, key=lambda variable: network.table(variable.name).size)
    parents = network.dag.parents(widest.name)
    edges = len(network.dag.edges)
    facts = [
        ("variables", f"{len(sizes)}, with {_range(sizes)} states"),
        ("edges", str(edges)),
        (
            "widest family",
            (
                f"{widest.name}{' given ' + listing(parents) if parents else ''}: "
                f"{network.table(widest.name).size:,} degrees"
            ),
        ),
        ("degrees", f"{sum(network.table(v.name).size for v in network.variables):,} in all"),
    ]
    if not network.is_normalised:
        facts.append(("normalised", "no: some rows do not peak at 1"))
    if network.support is not None:
        facts.append(("learned", "yes: every row carries the number of observations behind it"))
    rows = [
        (v.name, (" < " if v.ordered else ", ").join(_cut(v.states)), listing(network.dag.parents(v.name)))
        for v in network.variables[:_MOST_ROWS]
    ]
    lines = [f"{network.name or 'unnamed'}: a {network.conjunction.name}-based possibilistic network", ""]
    if network.description:
        lines += [*textwrap.wrap(network.description, 96, initial_indent="  ", subsequent_indent="  "), ""]
    lines += [*text_table(facts), "", *text_table([("variable", "states", "parents"), *rows])]
    if len(sizes) > _MOST_ROWS:
        lines.append(f"  ... and {len(sizes) - _MOST_ROWS} more")
    return "\n".join(lines)


def text_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of left-aligned columns, two spaces apart and indented by two.

    >>> text_table([("a", "bb"), ("ccc", "d")])
    ['  a    bb', '  ccc  d']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _range(sizes: Sequence[int]) -> str:
    low, high = min(sizes), max(sizes)
    return str(low) if low == high else f"{low} to {high}"


def _cut(states: Sequence[str], most: int = 6) -> list[str]:
    return list(states) if len(states) <= most else [*states[: most - 1], f"... {len(states)} states"]
