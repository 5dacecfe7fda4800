"""The network as the page draws it: variables, edges, places, and what may be done next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from possnet.explorer.card_layout import place_cards
from possnet.explorer.session import summarise_session

if TYPE_CHECKING:
    from possnet.explorer.card_layout import Shape
    from possnet.explorer.session import Session


def describe_network(session: Session, shape: Shape = "wide") -> dict[str, Any]:
    """Names, states and edges, and where to draw them in a window of a shape.

    >>> import possnet as pn
    >>> from possnet.explorer.session import Session
    >>> page = describe_network(Session.from_network(pn.load_example("asia")))
    >>> page["name"], page["variables"][1]["parents"], page["started"]
    ('asia', ('asia',), True)
    """
    network = session.network
    gates = network.gates
    variables = [
        {
            "name": v.name,
            "states": v.states,
            "ordered": v.ordered,
            "bins": None if v.bins is None else {"text": v.bins.describe(), "unit": v.bins.unit},
            "parents": network.dag.parents(v.name),
            "children": network.dag.children(v.name),
            "gate": gates[v.name].describe() if v.name in gates else None,
        }
        for v in network.variables
    ]
    return {
        "name": network.name,
        "description": network.description,
        "conjunction": network.conjunction.name,
        "bounded": network.bounds is not None,
        "started": session.started,
        "arranged": session.step.arrangement is not None,
        "variables": variables,
        "geometry": place_cards(network, session.step.arrangement, shape),
        **summarise_session(session),
    }
