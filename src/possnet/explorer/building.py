"""Changes of variables, edges and places: each a function (session, message) -> session.

What becomes of tables is decided in `possnet.network`; here it is decided where the cards are. Once someone has built
something, no card moves by itself: the layout of that moment becomes an arrangement.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.errors import InputError
from possnet.explorer import build_requests as types
from possnet.explorer.card_layout import Arrangement, arrange_cards, find_free_place
from possnet.explorer.routes import Change
from possnet.explorer.session import Step, require_page_size
from possnet.gates import restore_gate
from possnet.network import (
    add_edge,
    add_variable,
    change_states,
    remove_edge,
    remove_variables,
    rename_network,
    rename_variable,
)
from possnet.possibility import MIN, PRODUCT
from possnet.variables import Variable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.explorer.card_layout import Point
    from possnet.explorer.routes import Route
    from possnet.explorer.session import Session
    from possnet.network import Network

_MOST_VARIABLES: Final = 5000


def add_card(session: Session, request: types.AddRequest) -> Session:
    """The session with a new variable, of which nothing is known.

    >>> from possnet.explorer.session import Session
    >>> session = add_card(Session.without_network(), types.AddRequest(0, place=(40.0, 30.0)))
    >>> session.network.variables, session.step.arrangement.places
    ((Variable('variable 1', ('yes', 'no')),), {'variable 1': (40.0, 30.0)})
    """
    network = session.network
    if len(network.variables) >= _MOST_VARIABLES:
        raise InputError(f"{_MOST_VARIABLES:,} variables already; expected at most so many on a page")
    name = request.name.strip() or _find_free_name(network)
    variable = Variable(name, tuple(request.states) or ("yes", "no"), ordered=request.ordered)
    arrangement = arrange_cards(network, session.step.arrangement, request.shape)
    place = find_free_place(network, arrangement, variable, request.place)
    places = {**arrangement.places, name: place}
    return _replace_network(
        session, add_variable(network, variable), f"add {name}", replace(arrangement, places=places)
    )


def _find_free_name(network: Network) -> str:
    number = len(network.variables) + 1
    while f"variable {number}" in network.dag.nodes:
        number += 1
    return f"variable {number}"


def change_variable(session: Session, request: types.VariableRequest) -> Session:
    """The session with another name or other states of a variable.

    >>> import possnet as pn
    >>> from possnet.explorer.session import Session
    >>> states = [types.StateRow("yes", "yes"), types.StateRow("no", "no"), types.StateRow("maybe")]
    >>> session = Session.from_network(pn.load_example("asia"))
    >>> change_variable(session, types.VariableRequest(0, "smoke", "smoker", states)).network.dag.parents("lung")
    ('smoker',)
    """
    network, old, name = session.network, request.variable, request.name.strip()
    states = [(row.name.strip(), row.was) for row in request.states]
    changed = change_states(network, old, states, ordered=request.ordered)
    changed = rename_variable(changed, old, name)
    arrangement = arrange_cards(network, session.step.arrangement, request.shape)
    names = {old: name}
    arrangement = Arrangement(
        {names.get(card, card): place for card, place in arrangement.places.items()},
        {(names.get(a, a), names.get(b, b)): line for (a, b), line in arrangement.lines.items()},
    )
    return _replace_network(session, changed, f"change {name}", arrangement)


def change_edge(session: Session, request: types.EdgeRequest) -> Session:
    """The session with an edge more or less.

    >>> import possnet as pn
    >>> from possnet.explorer.session import Session
    >>> session = Session.from_network(pn.load_example("asia"))
    >>> change_edge(session, types.EdgeRequest(0, "smoke", "lung", remove=True)).network.dag.parents("lung")
    ()
    """
    parent, child = request.parent, request.child
    edit, verb = (remove_edge, "delete") if request.remove else (add_edge, "draw")
    arrangement = arrange_cards(session.network, session.step.arrangement, request.shape)
    lines = {edge: line for edge, line in arrangement.lines.items() if edge != (parent, child)}
    return _replace_network(
        session,
        edit(session.network, parent, child),
        f"{verb} the edge from {parent} to {child}",
        replace(arrangement, lines=lines),
    )


def remove_cards(session: Session, request: types.RemoveRequest) -> Session:
    """The session without some variables."""
    names = set(request.names)
    if not names:
        raise InputError("delete: no variable is named; expected at least one")
    arrangement = arrange_cards(session.network, session.step.arrangement, request.shape)
    kept = Arrangement(
        {name: place for name, place in arrangement.places.items() if name not in names},
        {edge: line for edge, line in arrangement.lines.items() if not names.intersection(edge)},
    )
    title = f"delete {request.names[0]}" if len(names) == 1 else f"delete {len(names)} variables"
    return _replace_network(session, remove_variables(session.network, request.names), title, kept)


def move_cards(session: Session, request: types.MoveRequest) -> Session:
    """The session with cards at other places, or with all of them where the layout puts them."""
    step = session.step
    if request.places is None:
        return session.with_step(replace(step, arrangement=None, title="tidy up"))
    for name in request.places:
        session.network.variable(name)
    moved = arrange_cards(session.network, step.arrangement, request.shape)
    title = f"move {next(iter(request.places))}" if len(request.places) == 1 else f"move {len(request.places)} cards"
    return session.with_step(replace(step, arrangement=_move_places(moved, request.places), title=title))


def _move_places(arrangement: Arrangement, places: Mapping[str, Point]) -> Arrangement:
    """An arrangement with cards moved; edges at them go straight."""
    lines = {edge: line for edge, line in arrangement.lines.items() if not places.keys() & set(edge)}
    return Arrangement({**arrangement.places, **places}, lines)


def fill_table(session: Session, request: types.GateRequest) -> Session:
    """The session with a table that a gate makes from few numbers, or with one of which nothing is known.

    >>> import possnet as pn
    >>> from possnet.explorer.session import Session
    >>> session = Session.from_network(pn.load_example("asia"))
    >>> fill_table(session, types.GateRequest(0, "either", "or", {"tub": 0.1, "lung": 0.2})).network.gates
    {'either': Gate(either = lung OR tub; inhibition lung 0.2, tub 0.1)}
    """
    network, name = session.network, request.variable
    if request.kind == "ignorance":
        edited = network.with_table(name, np.ones_like(network.table(name)))
        return session.with_edit(edited, f"forget the table of {name}")
    parents = [network.variable(parent) for parent in network.dag.parents(name)]
    numbers = {"or": "inhibition", "and": "substitution", "max": "effects", "min": "effects"}[request.kind]
    parameters = {numbers: {p.name: request.numbers.get(p.name, 0.0) for p in parents}, "leak": request.leak}
    if set(request.numbers) - {p.name for p in parents}:
        raise InputError(f"gate of {name!r}: numbers for {', '.join(request.numbers)}; expected one for each parent")
    gate = restore_gate(request.kind, network.variable(name), parents, parameters, network.conjunction)
    return session.with_edit(network.with_table(name, gate), f"fill the table of {name} with {request.kind.upper()}")


def change_title(session: Session, request: types.TitleRequest) -> Session:
    """The session with another name, description or conjunction of the network."""
    network = session.network
    conjunction = MIN if request.conjunction == "min" else PRODUCT
    named = rename_network(
        network, name=request.name.strip(), description=request.description.strip(), conjunction=conjunction
    )
    return session.with_edit(named, "change the network's name or kind")


def _replace_network(session: Session, network: Network, title: str, arrangement: Arrangement) -> Session:
    require_page_size(network)
    return session.with_step(Step(network, session.original, title, arrangement, session.step.file))


ROUTES: Final[tuple[Route, ...]] = (
    Change("build/add", types.AddRequest, add_card),
    Change("build/variable", types.VariableRequest, change_variable),
    Change("build/edge", types.EdgeRequest, change_edge),
    Change("build/remove", types.RemoveRequest, remove_cards),
    Change("build/move", types.MoveRequest, move_cards),
    Change("build/gate", types.GateRequest, fill_table),
    Change("build/title", types.TitleRequest, change_title),
)
