"""Why an answer is what it is, what matters for it, what contradicts itself, and what if: the explanation room, for a page.

Every question may come with interventions (``do``): it is then asked of the network in which these variables have been set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from possnet.errors import InputError
from possnet.explanation import Scenario, conflicts, contributions, explain, scenarios, sensitivity
from possnet.explorer.interventions import network_after

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.explorer.insight_requests import ConflictRequest, Evidence, ScenariosRequest, Situation, WhyRequest
    from possnet.explorer.session import Session

_MOST_ENTRIES: Final = 12


def explain_answer(session: Session, request: WhyRequest) -> dict[str, Any]:
    """The best story behind a degree and its best rival, factor by factor, and what would flip the answer.

    >>> import possnet as pn
    >>> from possnet.explorer.insight_requests import WhyRequest
    >>> from possnet.explorer.session import Session
    >>> session = Session.from_network(pn.load_example("clinic"))
    >>> why = explain_answer(session, WhyRequest("measles", {"rash": ["spots"]}, "yes"))
    >>> why["story"]["contact"], why["rival"]["measles"], round(why["possibility"], 3), why["words"][0]
    ('yes', 'no', 0.21, 'measles=yes given rash=spots: possible 0.21, certain 0')
    """
    network = network_after(session, request.do, request.evidence)
    why = explain(network, request.target, read_sets(request.evidence), request.state)
    return {**why.to_dict(), "words": str(why).splitlines(), "revision": session.revision}


def rank_influences(session: Session, request: WhyRequest) -> dict[str, Any]:
    """What each table entry alone could make of a degree (a tornado), and how far each finding moves it.

    >>> import possnet as pn
    >>> from possnet.explorer.insight_requests import WhyRequest
    >>> from possnet.explorer.session import Session
    >>> session = Session.from_network(pn.load_example("clinic"))
    >>> ranked = rank_influences(session, WhyRequest("measles", {"rash": ["spots"]}, "yes"))
    >>> ranked["entries"][0]["label"], ranked["findings"][0]["finding"]
    ('rash=spots given measles=no', 'rash=spots')
    """
    network, evidence = network_after(session, request.do, request.evidence), read_sets(request.evidence)
    curves = sensitivity(network, request.target, request.state, evidence)
    entries = [
        {
            "variable": entry.variable,
            "state": entry.state,
            "context": entry.context,
            "label": entry.label,
            "degree": entry.degree,
            "low": entry.low,
            "high": entry.high,
            "normalises": entry.normalises,
        }
        for entry in curves[:_MOST_ENTRIES]
        if entry.swing > 0.0 and entry.variable not in request.do
    ]
    answer: dict[str, Any] = {
        "target": curves.target,
        "state": curves.state,
        "possibility": curves.answer,
        "entries": entries,
        "findings": [],
        "revision": session.revision,
    }
    if evidence:
        shares = contributions(network, request.target, evidence, curves.state)
        answer |= {
            "before": shares.before,
            "now": shares.now,
            "exact": shares.exact,
            "findings": [
                {
                    "name": share.name,
                    "finding": share.finding,
                    "possibility": share.possibility,
                    "necessity": share.necessity,
                    "left_out": share.possibility_left_out,
                }
                for share in shares
            ],
        }
    return answer


def find_conflicts(session: Session, request: ConflictRequest) -> dict[str, Any]:
    """The findings that contradict each other, and the least changes that make the evidence possible again.

    >>> import possnet as pn
    >>> from possnet.explorer.insight_requests import ConflictRequest
    >>> from possnet.explorer.session import Session
    >>> session = Session.from_network(pn.load_example("asia"))
    >>> answer = find_conflicts(session, ConflictRequest({"either": ["no"], "lung": ["yes"], "smoke": ["no"]}))
    >>> answer["sets"], answer["repairs"][0]["drop"]
    ([['either', 'lung']], ['lung'])
    """
    network = network_after(session, request.do, request.evidence)
    return {**conflicts(network, read_sets(request.evidence)).to_dict(), "revision": session.revision}


def compare_scenarios(session: Session, request: ScenariosRequest) -> dict[str, Any]:
    """The marginals of two situations side by side, and the variables that differ most.

    >>> import possnet as pn
    >>> from possnet.explorer.insight_requests import ScenariosRequest, Situation
    >>> from possnet.explorer.session import Session
    >>> session = Session.from_network(pn.load_example("clinic"))
    >>> seen, done = Situation(evidence={"flu": ["yes"]}), Situation(do={"flu": "yes"})
    >>> answer = compare_scenarios(session, ScenariosRequest(seen, done))
    >>> answer["labels"], answer["marginals"]["season"]
    (['given flu=yes', 'do(flu=yes)'], [[1.0, 0.25], [1.0, 1.0]])
    """
    compared = scenarios(session.network, {"A": _make_scenario(request.a), "B": _make_scenario(request.b)})
    return {
        "labels": [scenario.label for scenario in compared.scenarios.values()],
        "marginals": {
            variable.name: [own.degrees.tolist() for own in compared.of(variable.name).values()]
            for variable in session.network.variables
        },
        "differences": compared.differences(),
        "revision": session.revision,
    }


def _make_scenario(situation: Situation) -> Scenario:
    return Scenario(read_sets(situation.evidence), situation.do)


def read_sets(evidence: Evidence) -> Mapping[str, set[str]]:
    """Evidence as the library takes it; an `InputError` for a set without states."""
    for name, states in evidence.items():
        if not states:
            raise InputError(f"evidence on {name!r} is empty; expected at least one state")
    return {name: set(states) for name, states in evidence.items()}
