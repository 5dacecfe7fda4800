"""Networks as pictures: marginals given evidence, and two networks over each other."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from possnet.doors import check_arguments
from possnet.drawing import Bar, Card, Drawing, draw_graph
from possnet.inference import Inference
from possnet.network import align_network
from possnet.possibility import necessities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.drawing import Detail
    from possnet.inference import Evidence, PossibilityBounds
    from possnet.network import Network
    from possnet.possibility import Possibility


@check_arguments
def draw_network(
    network: Network,
    evidence: Evidence | None = None,
    *,
    detail: Detail | None = None,
    title: str = "",
    widest: float = inf,
) -> Drawing:
    """Draw a network as SVG text: every variable a card with possibility and necessity of its states, given evidence.

    A network that carries bounds (`possnet.Network.with_bounds`) is drawn with those of its marginals: bars are solid up to
    the lower, light up to the upper possibility, and filled as far as the state is certain at least.

    Parameters
    ----------
    evidence
        What is known (see `possnet.Inference`); these cards are marked.
    detail
        ``bars`` for all states, ``short`` for at most three, ``names`` for none; by default as much as stays clear.
    widest
        The width to keep to, in units of the drawing, if that can be done with more layers and the same cards.

    Examples
    --------
    >>> import possnet as pn
    >>> picture = draw_network(pn.load_example("clinic"), {"fever": {"mild", "high"}})
    >>> picture.startswith("<svg"), "known" in picture
    (True, True)
    """
    known = evidence or {}
    engine = Inference(network)
    if network.bounds is None:
        marginals = engine.marginals(evidence)
        cards = {name: _marginal_card(marginal, marked=name in known) for name, marginal in marginals.items()}
    else:
        bounds = engine.marginal_bounds(evidence)
        cards = {name: _bounded_card(own, marked=name in known) for name, own in bounds.items()}
    return draw_graph(
        _parents_of(network), cards, detail=detail, title=title or network.name or "network", widest=widest
    )


@check_arguments
def draw_difference(
    first: Network,
    second: Network,
    *,
    detail: Detail | None = None,
    title: str = "",
    sides: tuple[str, str] = ("the first", "the second"),
    widest: float = inf,
) -> Drawing:
    """Draw two networks over each other: edges that only one has or that the second reverses, and both marginals.

    Bars are the second network's marginals; a tick marks the first one's possibility. ``sides`` is what both are called in
    the legend; ``detail`` and ``widest`` are as for `draw_network`.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> "only in the first" in draw_difference(asia, pn.Network(asia.variables, pn.Dag(dict.fromkeys(asia.dag.nodes, ())),
    ...     {v.name: [1] * len(v) for v in asia.variables}))
    True
    """
    owners = ("the first network", "the second network")
    second = align_network(second, first, owner="draw_difference", sides=owners)
    marginals, others = (Inference(network).marginals() for network in (second, first))
    cards = {name: _marginal_card(marginal, other=others[name]) for name, marginal in marginals.items()}
    names = " and ".join(net.name or "network" for net in (first, second))
    return draw_graph(
        _parents_of(first),
        cards,
        over=_parents_of(second),
        detail=detail,
        title=title or names,
        sides=sides,
        other_word=f"Π in {sides[0]}",
        widest=widest,
    )


def _parents_of(network: Network) -> Mapping[str, tuple[str, ...]]:
    return {variable.name: network.dag.parents(variable.name) for variable in network.variables}


def _marginal_card(marginal: Possibility, *, marked: bool = False, other: Possibility | None = None) -> Card:
    necessary = necessities(marginal.degrees).tolist() if marginal.is_normalised else [0.0] * marginal.degrees.size
    bars = (
        Bar(state, float(marginal[state]), degree, None if other is None else float(other[state]))
        for state, degree in zip(marginal.variables[0].states, necessary, strict=True)
    )
    return Card(tuple(bars), marked)


def _bounded_card(bounds: PossibilityBounds, *, marked: bool) -> Card:
    """A variable's states as bands from lower to upper possibility, filled by the lower necessity."""
    ends = zip(bounds.lower.tolist(), bounds.upper.tolist(), bounds.necessities()[0].tolist(), strict=True)
    bars = (
        Bar(state, high, least, band=(low, high))
        for state, (low, high, least) in zip(bounds.variables[0].states, ends, strict=True)
    )
    return Card(tuple(bars), marked)
