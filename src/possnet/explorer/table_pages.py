"""Conditional tables in the explorer: pages of them, and edits of some contexts."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.errors import InputError
from possnet.explorer.session import changed_tables, summarise_session
from possnet.network import normalise_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.explorer.request_types import EditRequest, NormaliseRequest, ResetRequest, TableRequest
    from possnet.explorer.session import Session
    from possnet.network import Network

_PAGE_DEGREES: Final = 500


def read_table_page(session: Session, request: TableRequest) -> dict[str, Any]:
    """Some rows of a variable's table: contexts from ``start`` on, as many as hold about 500 degrees.

    >>> import possnet as pn
    >>> from possnet.explorer.request_types import TableRequest
    >>> from possnet.explorer.session import Session
    >>> page = read_table_page(Session.from_network(pn.load_example("asia")), TableRequest("either", 2))
    >>> page["contexts"], page["rows"]
    (4, [{'number': 2, 'context': ['no', 'yes'], 'degrees': [1.0, 0.0], 'support': None}, ...])
    """
    network, name, start = session.network, request.variable, request.start
    variable = network.variable(name)
    parents = [network.variable(parent) for parent in network.dag.parents(name)]
    sizes = tuple(len(parent) for parent in parents)
    contexts = prod(sizes)
    _require_context(name, start, contexts)
    table = network.table(name).reshape(contexts, len(variable))
    support = None if network.support is None else network.support[name].reshape(contexts)
    stop = min(contexts, start + max(1, _PAGE_DEGREES // len(variable)))
    rows = [
        {
            "number": number,
            "context": [p.states[k] for p, k in zip(parents, np.unravel_index(number, sizes), strict=True)],
            "degrees": table[number, :_PAGE_DEGREES].tolist(),
            "support": None if support is None else float(support[number]),
        }
        for number in range(start, stop)
    ]
    return {
        "variable": name,
        "parents": [parent.name for parent in parents],
        "contexts": contexts,
        "start": start,
        "rows": rows,
        "whole": len(variable) <= _PAGE_DEGREES,
        **summarise_session(session),
    }


def _require_context(name: str, number: int, contexts: int) -> None:
    if not 0 <= number < contexts:
        raise InputError(f"table of {name!r}: no context number {number}; expected 0 to {contexts - 1}")


def normalise_rows(session: Session, request: NormaliseRequest) -> dict[str, Any]:
    """Rows of a variable's table, each with its peak at 1, by the network's own conjunction.

    >>> import possnet as pn
    >>> from possnet.explorer.request_types import NormaliseRequest
    >>> from possnet.explorer.session import Session
    >>> normalise_rows(Session.from_network(pn.load_example("asia")), NormaliseRequest("smoke", [[0.5, 0.2]]))
    {'rows': [[1.0, 0.4]]}
    """
    name, rows, states = request.variable, request.rows, len(session.network.variable(request.variable))
    if not rows or any(len(row) != states for row in rows):
        raise InputError(f"table of {name!r}: rows of other lengths; expected {states} degrees in each")
    return {"rows": normalise_tables({name: rows}, session.network.conjunction)[name].tolist()}


def edit_table(session: Session, request: EditRequest) -> Session:
    """The session with other degrees in some contexts of a variable's table.

    >>> import possnet as pn
    >>> from possnet.explorer.request_types import EditRequest
    >>> from possnet.explorer.session import Session
    >>> edited = edit_table(Session.from_network(pn.load_example("asia")), EditRequest("smoke", {0: [1, 0.5]}, 0))
    >>> edited.network.table("smoke"), edited.revision
    (array([1. , 0.5]), 1)
    """
    network, name = session.network, request.variable
    states, old = len(network.variable(name)), network.table(name)
    table = old.reshape(-1, states).copy()
    if not request.rows:
        raise InputError(f"table of {name!r}: no context is edited; expected at least one")
    for number, degrees in request.rows.items():
        _require_context(name, number, len(table))
        if len(degrees) != states:
            raise InputError(f"table of {name!r}: {len(degrees)} degrees in context {number}; expected {states}")
        table[number] = degrees
    edited = network.with_table(name, table.reshape(old.shape))
    return session.with_edit(_restore_bounds(edited, network, name, list(request.rows)), f"edit the table of {name}")


def reset_tables(session: Session, request: ResetRequest) -> Session:
    """The session with the original table of a variable, or as it was opened, without a name.

    >>> import possnet as pn
    >>> from possnet.explorer.request_types import EditRequest, ResetRequest
    >>> from possnet.explorer.session import Session
    >>> edited = edit_table(Session.from_network(pn.load_example("asia")), EditRequest("smoke", {0: [1, 0.5]}, 0))
    >>> reset_tables(edited, ResetRequest(1, "smoke")).network == edited.original
    True
    """
    network, original, name = session.network, session.original, request.variable
    if name is None:
        return session.with_edit(original, "reset all")
    title = f"reset the table of {name}"
    if name not in original.dag.nodes or (
        original.dag.parents(name) != network.dag.parents(name)
        or any(original.variable(axis) != network.variable(axis) for axis in (*network.dag.parents(name), name))
    ):
        raise InputError(
            f"reset: {name!r} had other states or parents, so its original table does not fit it; undo instead"
        )
    reset = _restore_bounds(network.with_table(name, original.table(name)), original, name)
    # the original has its support, which edits drop
    same = reset.variables == original.variables and reset.dag == original.dag and not changed_tables(reset, original)
    return session.with_edit(original if same else reset, title)


def _restore_bounds(network: Network, earlier: Network, name: str, edited: Sequence[int] = ()) -> Network:
    """The network with the earlier bounds of a variable, if there are any, except in edited contexts, which are given."""
    if network.bounds is None or earlier.bounds is None:
        return network
    ends = []
    for now, before in zip(network.bounds, earlier.bounds, strict=True):
        end = before[name].reshape(-1, before[name].shape[-1]).copy()
        end[list(edited)] = now[name].reshape(end.shape)[list(edited)]
        ends.append({**now, name: end.reshape(before[name].shape)})
    return network.with_bounds(*ends)
