"""Explanations of answers: what they cost beside one calibration, and beside asking the same one by one."""

import itertools
from functools import partial

from gold_questions import fresh
from measure import QUICK_ROUNDS, ROUNDS, Section, Target, interleaved, next_limit, table, timed
from networks import load

import possnet as pn

TARGET = "HISTORY"
FINDINGS = 10
TEXT = """Answers that explain themselves ([explaining.md](explaining.md)) on alarm, every run with a new engine, planning included, beside one
calibration (all marginals after a change of evidence, with the plan kept) and beside the same work done one query at a time
with one engine. A peer does none of this for possibilities. `do` makes a network of which nothing is known, and is put beside the first
query of such a network; "query" is one that has been asked before."""


def one_by_one(evidence: dict[str, str], engine: pn.Inference) -> None:
    """Every set of findings, one query each: what Shapley values are made of."""
    for size in range(len(evidence) + 1):
        for names in itertools.combinations(evidence, size):
            engine.query(TARGET, {name: evidence[name] for name in names})


def ask_all(net: pn.Network, evidence: dict[str, str], engine: pn.Inference) -> None:
    """Every answer to every unknown variable, one query each."""
    for variable in net.variables:
        if variable.name not in {TARGET, *evidence}:
            for state in variable.states:
                if engine.query(variable.name, evidence)[state] > 0.0:
                    engine.query(TARGET, evidence | {variable.name: state})


def measure(*, quick: bool = False) -> Section:
    """All of it on alarm."""
    net = load("alarm")
    row = pn.sample(net, 1, process="precise", rng=1).row(0)
    chosen = [v.name for v in net.variables if v.name != TARGET][:FINDINGS]
    evidence = {name: next(iter(row[name])) for name in chosen}
    state = net.variable(TARGET).states[0]
    engine = pn.Inference(net)
    turns = itertools.cycle([evidence, {chosen[0]: evidence[chosen[0]]}])
    settable = next(v for v in net.variables if net.dag.parents(v.name) and v.name not in {TARGET, *evidence})
    setting = {settable.name: settable.states[0]}

    def ask_first() -> float:
        return min(timed(partial(pn.Inference(fresh(net)).query, TARGET, evidence))() for _ in range(10))

    jobs = {
        "calibration": timed(lambda: engine.marginals(next(turns)), 20),
        "sensitivity": timed(lambda: pn.sensitivity(net, TARGET, state, evidence), 3),
        "Shapley": timed(lambda: pn.contributions(net, TARGET, evidence, state)),
        "one by one": timed(lambda: one_by_one(evidence, engine)),
        "next question": timed(lambda: pn.next_questions(net, TARGET), 3),
        "ask all": timed(lambda: ask_all(net, {}, engine)),
        "query": timed(lambda: pn.Inference(net).query(TARGET, evidence), 10),
        "first query": ask_first,
        "do": timed(lambda: pn.Inference(net.do(setting)).query(TARGET, evidence), 10),
        "explain": timed(lambda: pn.explain(net, TARGET, evidence, state)),
    }
    found = interleaved(jobs, QUICK_ROUNDS if quick else ROUNDS)
    entries = sum(net.table(v.name).size for v in net.variables)
    unknown = len(net.variables) - 1
    best = {name: times.best for name, times in found.items()}
    targets = [
        Target(
            f"sensitivity of all {entries} entries, alarm",
            str(found["sensitivity"]),
            f"one calibration {found['calibration']}",
            best["sensitivity"] / best["calibration"],
            20.0,
            "calibrations",
            at_most=True,
        ),
        Target(
            f"Shapley values of {FINDINGS} findings, alarm",
            str(found["Shapley"]),
            f"{1 << FINDINGS:,} queries {found['one by one']}",
            best["Shapley"],
            1.0,
            "s",
            at_most=True,
        ),
        Target(
            f"next question among {unknown} unknown, alarm",
            str(found["next question"]),
            f"one query an answer {found['ask all']}",
            1e3 * best["next question"],
            50.0,
            "ms",
            at_most=True,
        ),
        Target(
            "do and query, alarm",
            str(found["do"]),
            f"the first query of a network {found['first query']}",
            best["do"] / best["first query"],
            2.0,
            "first queries",
            at_most=True,
        ),
    ]
    rows = [[name, str(times), f"{times.best / best['calibration']:.1f}"] for name, times in found.items()]
    limit = next_limit("sensitivity of alarm", lambda: pn.sensitivity(net, TARGET, state, evidence))
    return Section(f"{TEXT}\n\n{table(' job | time | calibrations ', rows)}\n\n{limit}", targets)
