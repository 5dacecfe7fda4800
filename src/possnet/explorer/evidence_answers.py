"""Answers to questions about a session: marginals given evidence, readings of numbers, and what to ask next."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Any, Final

from possnet.errors import InputError
from possnet.explanation import next_questions
from possnet.explorer.interventions import engine_after, network_after
from possnet.measurements import states_of_value
from possnet.possibility import necessities

if TYPE_CHECKING:
    from collections.abc import Iterable

    from possnet.explorer.request_types import AnswerRequest, QuestionsRequest, ReadingRequest
    from possnet.explorer.session import Session
    from possnet.inference import Evidence, Inference
    from possnet.network import Network

_EXACT: Final = 2**53  # the largest whole number up to which JavaScript counts exactly


def answer_evidence(session: Session, request: AnswerRequest) -> dict[str, Any]:
    """Marginals given evidence, how possible the evidence is and, on demand, the prior and the best configuration.

    >>> import possnet as pn
    >>> from possnet.explorer.request_types import AnswerRequest
    >>> from possnet.explorer.session import Session
    >>> session = Session.from_network(pn.load_example("clinic"))
    >>> answer = answer_evidence(session, AnswerRequest({"fever": ["mild", "high"], "rash": ["spots"]}))
    >>> round(answer["marginals"]["measles"]["possibility"][0], 6), round(answer["degree"], 6)
    (0.2625, 0.16)
    """
    evidence: dict[str, set[str]] = {name: set(states) for name, states in request.evidence.items()}
    if not session.network.variables:
        return {"marginals": {}, "before": {}, "revision": session.revision, "degree": 1.0}
    engine = engine_after(session, request.do, evidence)
    answer: dict[str, Any] = {
        "marginals": _list_marginals(engine, evidence or None),
        "revision": session.revision,
        "degree": engine.possibility_of(evidence),  # from the same calibration as the marginals
    }
    if evidence:
        answer["apart"] = find_unreached(session.network, evidence)
    if session.network.bounds is not None:
        answer["bounds"] = _list_bounds(engine, evidence or None)
        answer["degree_bounds"] = engine.evidence_bounds(evidence)
    if request.explain:
        best = engine.most_possible(evidence or None)
        ties = best.ties if best.ties < _EXACT else f"about 10^{log10(best.ties):.0f}"
        answer["best"] = {"configuration": best.configuration, "possibility": best.possibility, "ties": ties}
    if request.before:
        same = not evidence and not request.do
        answer["before"] = answer["marginals"] if same else _list_marginals(session.engine, None)
    return answer


def find_unreached(network: Network, evidence: Iterable[str]) -> list[str]:
    """Variables that no evidence on some others could tell about: those d-separated from them, nothing else being known.

    >>> import possnet as pn
    >>> find_unreached(pn.load_example("asia"), {"smoke"})
    ['asia', 'tub']
    """
    known = set(evidence)
    reached = network.dag.d_connected(known) | known
    return [variable.name for variable in network.variables if variable.name not in reached]


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
    >>> from possnet.explorer.session import Session
    >>> session = Session.from_network(pn.load_example("clinic"))
    >>> ranked = rank_questions(session, QuestionsRequest("measles", {"fever": ["high"]}))
    >>> ranked["questions"][0]["names"], ranked["questions"][0]["answers"][2]["answer"]
    (['rash'], 'widespread')
    """
    evidence: dict[str, set[str]] = {name: set(states) for name, states in request.evidence.items()}
    network = network_after(session, request.do, evidence)
    ranked = next_questions(network, request.target, evidence or None)
    return {**ranked.to_dict(), "revision": session.revision}


def read_number(session: Session, request: ReadingRequest) -> dict[str, list[str]]:
    """The states that a reading speaks of: the bins that it meets, all of them if it says nothing.

    >>> import possnet as pn
    >>> from possnet.explorer.request_types import ReadingRequest
    >>> data = pn.Dataset.from_table({"age": pn.bin_measurements([17, 30, 50], edges=[20, 40])})
    >>> from possnet.explorer.session import Session
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
