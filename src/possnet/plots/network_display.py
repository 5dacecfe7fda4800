"""How a network shows itself in a notebook: its marginals if they are cheap, else its outline, and its tables folded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from possnet.doors import check_arguments
from possnet.drawing import Picture, draw_details, draw_outline, draw_table, escape_markup, format_number
from possnet.inference import Inference
from possnet.limits import readable_bytes
from possnet.plots.network_drawings import draw_network

if TYPE_CHECKING:
    from possnet.drawing import Drawing
    from possnet.network import Network
    from possnet.variables import Variable

_CHEAP_SECONDS: Final = 0.2
_CHEAP_BYTES: Final = 1 << 26
_MOST_CARDS: Final = 60  # more are drawn by their names alone, and have no place for degrees
_MOST_ENTRIES: Final = 200


@check_arguments
def display_network(network: Network) -> Picture:
    """The mark-up that a notebook shows for a network.

    The marginals of all variables are drawn if the plan of inference says that they are cheap: within a fifth of a second
    and 64 MB. If they are not, and for more than 60 variables, the outline is drawn: names of states without any bar or
    number, and a sentence that says why. A network of cheap marginals also has its description and its tables, folded.

    >>> import possnet as pn
    >>> page = display_network(pn.load_example("clinic"))
    >>> "measles: yes 0.06, no 1.00" in page, page.count("<details>")
    (True, 10)
    """
    reason = explain_outline(network)
    if reason:
        return outline_network(network, note=reason)
    about = f"<p>{escape_markup(network.description)}</p>" if network.description else ""
    words = escape_markup(repr(network))
    return Picture(
        f"<div>{draw_network(network)}{draw_details('about', f'{about}<p>{words}</p>')}{_fold_tables(network)}</div>"
    )


@check_arguments
def outline_network(
    network: Network, *, title: str = "", note: str = "no degrees: they would take too long"
) -> Drawing:
    """Draw a network by the names of its variables and states alone, without any degree; a note below says why.

    >>> import possnet as pn
    >>> picture = outline_network(pn.load_example("clinic"))
    >>> "widespread" in picture, "1.00" in picture, "no degrees" in picture
    (True, False, True)
    """
    parents = {variable.name: network.dag.parents(variable.name) for variable in network.variables}
    states = {variable.name: variable.states for variable in network.variables}
    return draw_outline(parents, states, title=title or network.name or "network", note=note)


@check_arguments
def explain_outline(network: Network) -> str:
    """Why the marginals of a network are not shown unasked; empty if they are.

    >>> import possnet as pn
    >>> explain_outline(pn.load_example("clinic")), explain_outline(pn.random_network(80, rng=1))
    ('', 'no degrees: 80 variables are too many for one picture')
    """
    if len(network.variables) > _MOST_CARDS:
        return f"no degrees: {len(network.variables)} variables are too many for one picture"
    plan = Inference(network).plan
    if plan.seconds <= _CHEAP_SECONDS and plan.memory <= _CHEAP_BYTES:
        return ""
    price = f"about {plan.seconds:.2g} s and {readable_bytes(plan.memory)}"
    return f"no degrees: the marginals would take {price}; possnet.draw_network computes them"


def _fold_tables(network: Network) -> Picture:
    """The conditional tables behind a line each, as many as have room, all behind another line."""
    shown, left = [], _MOST_ENTRIES
    for variable in network.variables:
        size = network.table(variable.name).size
        if size <= left:
            left -= size
            parents = ", ".join(network.dag.parents(variable.name))
            title = f"{variable.name} given {parents}" if parents else variable.name
            shown.append(draw_details(title, _draw_conditional(network, variable)))
    more = len(network.variables) - len(shown)
    rest = f"<p>… and {more} more</p>" if more else ""
    return draw_details("tables", f'<div style="margin-left:1.2em">{"".join(shown)}{rest}</div>')


def _draw_conditional(network: Network, variable: Variable) -> Picture:
    """The table of a variable: a row for each context."""
    parents = network.dag.parents(variable.name)
    table = network.table(variable.name)
    rows = []
    for place in np.ndindex(table.shape[:-1]):
        context = [network.variable(p).states[k] for p, k in zip(parents, place, strict=True)]
        rows.append([*context, *(format_number(float(degree)) for degree in table[place])])
    return draw_table([*parents, *variable.states], rows)
