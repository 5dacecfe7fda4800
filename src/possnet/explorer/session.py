"""The network that is being explored: a value with its engine and its history, replaced as a whole by every edit.

`Inference` keeps messages between questions and is not made for two threads at once; `possnet.explorer.app` lets one in
at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log10, prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.errors import InputError
from possnet.explanation import next_questions
from possnet.inference import Inference
from possnet.measurements import states_of_value
from possnet.network import normalise_tables
from possnet.possibility import necessities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.explorer.request_types import (
        AnswerRequest,
        EditRequest,
        HistoryRequest,
        NormaliseRequest,
        QuestionsRequest,
        ReadingRequest,
        TableRequest,
    )
    from possnet.inference import Evidence
    from possnet.network import Network

_PAGE_DEGREES: Final = 500
_MOST_EDITS: Final = 200
_EXACT: Final = 2**53  # the largest whole number up to which JavaScript counts exactly


@dataclass(frozen=True, slots=True)
class Session:
    """A network, what it was before its edits, and the networks before and after each edit, ``place`` being the current.

    Every step has a ``revision`` of its own; ``touched`` are the variables whose tables it changed.
    """

    original: Network
    engine: Inference
    history: tuple[Network, ...]
    place: int = 0
    revision: int = 0
    touched: tuple[str, ...] = ()

    @classmethod
    def from_network(cls, network: Network) -> Session:
        """The session of a network that nobody has edited yet.

        >>> import possnet as pn
        >>> Session.from_network(pn.load_example("clinic")).revision
        0
        """
        return cls(network, Inference(network), (network,))

    @property
    def network(self) -> Network:
        """The network as it is now."""
        return self.history[self.place]

    def with_edit(self, network: Network) -> Session:
        """The session after an edit; what was undone is forgotten."""
        history = (*self.history[: self.place + 1], network)[-_MOST_EDITS - 1 :]
        return replace(self, history=history).with_place(len(history) - 1, self.network)

    def with_place(self, place: int, last: Network) -> Session:
        """The session at another place of its history, after another network."""
        network = self.history[place]
        touched = tuple(_changed_tables(network, last))
        return replace(self, engine=Inference(network), place=place, revision=self.revision + 1, touched=touched)


def summarise_session(session: Session) -> dict[str, Any]:
    """What may be done next, and which tables differ from the original."""
    return {
        "revision": session.revision,
        "touched": session.touched,
        "undo": session.place > 0,
        "redo": session.place < len(session.history) - 1,
        "edited": _changed_tables(session.network, session.original),
        "normal": session.network.is_normalised,
    }


def _changed_tables(network: Network, other: Network) -> list[str]:
    return [v.name for v in network.variables if not np.array_equal(network.table(v.name), other.table(v.name))]


def answer_evidence(session: Session, request: AnswerRequest) -> dict[str, Any]:
    """Marginals given evidence, how possible the evidence is and, on demand, the prior and the best configuration.

    >>> import possnet as pn
    >>> from possnet.explorer.request_types import AnswerRequest
    >>> session = Session.from_network(pn.load_example("clinic"))
    >>> answer = answer_evidence(session, AnswerRequest({"fever": ["mild", "high"], "rash": ["spots"]}))
    >>> round(answer["marginals"]["measles"]["possibility"][0], 6), round(answer["degree"], 6)
    (0.2625, 0.16)
    """
    engine = session.engine
    evidence: dict[str, set[str]] = {name: set(states) for name, states in request.evidence.items()}
    answer: dict[str, Any] = {
        "marginals": _list_marginals(engine, evidence or None),
        "revision": session.revision,
        "degree": engine.possibility_of(evidence),  # from the same calibration as the marginals
    }
    if session.network.bounds is not None:
        answer["bounds"] = _list_bounds(engine, evidence or None)
        answer["degree_bounds"] = engine.evidence_bounds(evidence)
    if request.explain:
        best = engine.most_possible(evidence or None)
        ties = best.ties if best.ties < _EXACT else f"about 10^{log10(best.ties):.0f}"
        answer["best"] = {"configuration": best.configuration, "possibility": best.possibility, "ties": ties}
    if request.before:
        answer["before"] = _list_marginals(engine, None) if evidence else answer["marginals"]
    return answer


def _list_marginals(engine: Inference, evidence: Evidence | None) -> dict[str, dict[str, list[float] | None]]:
    return {
        name: {
            "possibility": marginal.degrees.tolist(),
            "necessity": necessities(marginal.degrees).tolist() if marginal.is_normalised else None,
        }
        for name, marginal in engine.marginals(evidence).items()
    }


def _list_bounds(engine: Inference, evidence: Evidence | None) -> dict[str, dict[str, list[float]]]:
    """Name -> lower and upper possibility and necessity of every state."""
    listed = {}
    for name, bounds in engine.marginal_bounds(evidence).items():
        least, most = bounds.necessities()
        ends = {"lower": bounds.lower, "upper": bounds.upper, "least": least, "most": most}
        listed[name] = {end: degrees.tolist() for end, degrees in ends.items()}
    return listed


def rank_questions(session: Session, request: QuestionsRequest) -> dict[str, Any]:
    """The unknown variables, ranked by what asking them would settle of a target, and what each answer would make of it.

    >>> import possnet as pn
    >>> from possnet.explorer.request_types import QuestionsRequest
    >>> session = Session.from_network(pn.load_example("clinic"))
    >>> ranked = rank_questions(session, QuestionsRequest("measles", {"fever": ["high"]}))
    >>> ranked["questions"][0]["names"], ranked["questions"][0]["answers"][2]["answer"]
    (['rash'], 'widespread')
    """
    evidence: dict[str, set[str]] = {name: set(states) for name, states in request.evidence.items()}
    ranked = next_questions(session.network, request.target, evidence or None)
    return {**ranked.to_dict(), "revision": session.revision}


def read_number(session: Session, request: ReadingRequest) -> dict[str, list[str]]:
    """The states that a reading speaks of: the bins that it meets, all of them if it says nothing.

    >>> import possnet as pn
    >>> from possnet.explorer.request_types import ReadingRequest
    >>> data = pn.Dataset.from_table({"age": pn.bin_measurements([17, 30, 50], edges=[20, 40])})
    >>> session = Session.from_network(pn.fit(pn.Dag({"age": ()}), data))
    >>> read_number(session, ReadingRequest("age", ">30"))
    {'states': ['20..40', '>=40']}
    """
    variable = session.network.variable(request.variable)
    try:
        states = states_of_value(request.text, variable)
    except InputError as error:
        raise InputError(f"{variable.name!r}: {error}") from None
    return {"states": list(variable.states if states is None else states)}


def read_table_page(session: Session, request: TableRequest) -> dict[str, Any]:
    """Some rows of a variable's table: contexts from ``start`` on, as many as hold about 500 degrees.

    >>> import possnet as pn
    >>> from possnet.explorer.request_types import TableRequest
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
    return session.with_edit(_restore_bounds(edited, network, name, list(request.rows)))


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


def step_history(session: Session, request: HistoryRequest) -> Session:
    """The session one edit back or forward, or with the original table of a variable (of all, without a name).

    >>> import possnet as pn
    >>> from possnet.explorer.request_types import EditRequest, HistoryRequest
    >>> edited = edit_table(Session.from_network(pn.load_example("asia")), EditRequest("smoke", {0: [1, 0.5]}, 0))
    >>> undone = step_history(edited, HistoryRequest("undo", 1))
    >>> undone.network == undone.original, step_history(undone, HistoryRequest("redo", 2)).network == edited.network
    (True, True)
    """
    original, name = session.original, request.variable
    if request.step == "reset":
        reset = original
        if name is not None:
            reset = _restore_bounds(session.network.with_table(name, original.table(name)), original, name)
        # the original has its support, which edits drop
        return session.with_edit(reset if _changed_tables(reset, original) else original)
    place = session.place + (1 if request.step == "redo" else -1)
    if not 0 <= place < len(session.history):
        raise InputError(f"{request.step}: no edit is left to {request.step}")
    return session.with_place(place, session.network)
