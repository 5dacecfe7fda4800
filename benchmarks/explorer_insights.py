"""What the explorer's explanations and comparisons cost the server on gold-standard networks, by the clock and in processor time."""

import time
from collections.abc import Callable

from measure import Target, Times
from networks import load

import possnet as pn
from possnet.explorer import insight_answers as answers, insight_requests as types
from possnet.explorer.evidence_answers import rank_questions
from possnet.explorer.network_comparison import compare_networks
from possnet.explorer.request_types import QuestionsRequest
from possnet.explorer.session import Session

LIMIT = 100.0  # ms of an answer for alarm
FINDINGS = 10


def list_jobs(net: pn.Network) -> dict[str, Callable[[], object]]:
    """Every question, with ten findings of one row."""
    session = Session.from_network(net)
    session.engine.marginals()
    row = pn.sample(net, 1, process="precise", rng=1).row(0)
    first, *names = [v.name for v in net.variables]
    evidence = {name: sorted(row[name]) for name in names[4 : 4 + FINDINGS]}
    state, seen = net.variable(first).states[0], types.Situation(evidence=evidence)
    why = types.WhyRequest(first, evidence, state)
    flat = net.with_table(first, net.table(first) ** 0.0)
    return {
        "why": lambda: answers.explain_answer(session, why),
        "what matters": lambda: answers.rank_influences(session, why),
        "ask next": lambda: rank_questions(session, QuestionsRequest(first, evidence)),
        "scenarios A and B": lambda: answers.compare_scenarios(
            session, types.ScenariosRequest(types.Situation(), seen)
        ),
        "contradictions": lambda: answers.find_conflicts(session, types.ConflictRequest(evidence)),
        "compare": lambda: compare_networks(session, flat.with_table(first, flat.table(first))),
    }


def measure_insights(name: str, rounds: int) -> tuple[list[list[str]], list[Target]]:
    """A row for every question, and for alarm a target: the best of some rounds."""
    rows, targets = [], []
    for job, work in list_jobs(load(name)).items():
        waited, spent = [], []
        for _ in range(rounds):
            begin, start = time.process_time(), time.perf_counter()
            work()
            waited.append(time.perf_counter() - start)
            spent.append(time.process_time() - begin)
        wall = Times(tuple(waited))
        rows.append([f"{job}, `{name}`, {FINDINGS} findings", str(wall), f"{1e3 * min(spent):.1f} ms"])
        if name == "alarm":
            title = f"{job}, alarm, on the server"
            targets.append(Target(title, str(wall), "a limit", 1e3 * wall.best, LIMIT, "ms", at_most=True))
    return rows, targets


if __name__ == "__main__":
    for network in ("alarm", "andes"):
        for line in measure_insights(network, 5)[0]:
            print(*line)
