"""Why: the best configuration behind an answer and the best rival, factor by factor, and what would flip the answer.

A degree of possibility is a maximum over configurations, so that one best configuration explains it completely: Π(x, e)
is the product (or the least) of the table entries along it. Among all others, the best one with another state is what the
state competes with: Π(x | e) = 1 if and only if no rival is better. This is the possibilistic form of the most probable
explanation (Pearl 1988), with its runner-up as the contrast.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from possnet.doors import check_arguments
from possnet.errors import ImpossibleEvidence
from possnet.explanation.answer_explanation import AnswerExplanation, FindingEffect, SmallestChange, StoryFactor
from possnet.explanation.asked_question import ask_question, choose_state, necessity_of
from possnet.explanation.entry_coefficients import trace_entries
from possnet.inference import Inference
from possnet.network import Network
from possnet.possibility import PRODUCT

if TYPE_CHECKING:
    from possnet.aliases import Floats
    from possnet.explanation.asked_question import AskedQuestion
    from possnet.inference import Evidence

_MOST_ROWS = 4096  # variants of the evidence that are tried for the smallest change
_ALMOST_ZERO = 1e-60  # stands for 0 where a story without any 0 does not exist; far below any product that competes


@check_arguments
def explain(
    network: Network, target: str, evidence: Evidence | None = None, state: str | None = None
) -> AnswerExplanation:
    """Why Π(target = state | evidence) is what it is.

    Equation
    --------
    Π(x, e) = max_{ω ∈ x ∩ e} π(ω), and of its rival max_{ω ∈ e, ω not in x} π(ω)

    Parameters
    ----------
    state
        The state to explain; by default the most possible one given the evidence.

    Examples
    --------
    >>> import possnet as pn
    >>> print(explain(pn.load_example("clinic"), "measles", {"fever": {"mild", "high"}, "rash": "spots"}, state="yes"))
    measles=yes given fever=high|mild, rash=spots: possible 0.2625, certain 0
    <BLANKLINE>
    The best story with measles=yes; every other degree is 1:
      contact=yes                                0.2
      vaccinated=no                              0.3
      rash=spots given measles=yes               0.7
      their product                            0.042
    <BLANKLINE>
    The best story without it (measles=no); every other degree is 1:
      flu=yes given season=winter      0.8
      rash=spots given measles=no      0.2
      their product                   0.16
    <BLANKLINE>
    What each finding does:
      finding          possible without it  certain without it
      fever=high|mild  0.21                 0
      rash=spots       0.075                0
    <BLANKLINE>
    The smallest change after which measles=yes is among the most possible states:
      with rash=widespread in place of rash=spots
      with the entry rash=spots given measles=no at or below 0.0525 (now 0.2)
    """
    asked = ask_question(network, target, evidence, "explain")
    answer = asked.answer
    number = choose_state(asked, state, "explain")
    chosen = asked.target.states[number]
    others = [other for other in asked.target.states if other != chosen]
    story, story_degree = _find_story(asked, [chosen])
    rival, rival_degree = _find_story(asked, others) if others else ({}, 0.0)
    return AnswerExplanation(
        network,
        target,
        chosen,
        tuple(asked.describe_finding(name) for name in asked.findings),
        story,
        rival,
        _list_factors(asked, story),
        _list_factors(asked, rival) if rival else (),
        float(answer[number]),
        float(necessity_of(answer[np.newaxis], number)[0]),
        story_degree,
        rival_degree,
        _weigh_findings(asked, answer, number),
        _find_change(asked, answer, number),
    )


def _find_story(asked: AskedQuestion, states: list[str]) -> tuple[dict[str, str], float]:
    """The best configuration with one of some states of the target, and Π of them together with the evidence."""
    evidence: dict[str, object] = {**asked.evidence, asked.target.name: dict.fromkeys(states, 1.0)}
    try:
        best = asked.engine.most_possible_k(1, evidence)[0]  # type: ignore[arg-type]
    except ImpossibleEvidence:
        return _find_impossible_story(asked, evidence), 0.0
    return best.configuration, best.possibility


def _find_impossible_story(asked: AskedQuestion, evidence: dict[str, object]) -> dict[str, str]:
    """The configuration that agrees with the evidence and has the fewest entries of degree 0, then the best product."""
    network = asked.network
    tables = {v.name: np.maximum(network.table(v.name), _ALMOST_ZERO) for v in network.variables}
    raised = Network.unchecked(network.variables, network.dag, tables, conjunction=PRODUCT)
    return Inference(raised).most_possible_k(1, evidence)[0].configuration  # type: ignore[arg-type]


def _list_factors(asked: AskedQuestion, story: dict[str, str]) -> tuple[StoryFactor, ...]:
    network = asked.network
    listed: list[tuple[str, dict[str, str], float, bool]] = []
    for v in network.variables:
        context = {parent: story[parent] for parent in network.dag.parents(v.name)}
        places = [network.variable(name).index(state) for name, state in context.items()]
        listed.append((v.name, context, float(network.table(v.name)[(*places, v.index(story[v.name]))]), False))
    for name, degrees in asked.degrees.items():
        degree = float(degrees[network.variable(name).index(story[name])])
        if degree < 1.0:
            listed.append((name, {}, degree, True))
    least = min(degree for _, _, degree, _ in listed)
    multiplies = network.conjunction.name == PRODUCT.name
    return tuple(
        StoryFactor(name, story[name], context, degree, degree < 1.0 and (multiplies or degree == least), is_finding)
        for name, context, degree, is_finding in listed
    )


def _weigh_findings(asked: AskedQuestion, answer: Floats, number: int) -> dict[str, FindingEffect]:
    count = len(asked.findings)
    if not count:
        return {}
    without = asked.answer_subsets(1 - np.eye(count, dtype=np.int64))
    necessities = necessity_of(without, number)
    return {
        name: FindingEffect(
            asked.describe_finding(name),
            float(without[k, number]),
            float(necessities[k]),
            bool(without[k, number] > answer[number] + 1e-12),
        )
        for k, name in enumerate(asked.findings)
    }


def _find_change(asked: AskedQuestion, answer: Floats, number: int) -> SmallestChange:
    if len(asked.target) == 1:
        return SmallestChange(None, None, None, None)
    leads = bool(answer[number] == 1.0)
    return SmallestChange(
        _find_dropped(asked, number, leads), _find_replaced(asked, number, leads), *_find_entry(asked, number)
    )


def _find_dropped(asked: AskedQuestion, number: int, leads: bool) -> tuple[str, ...] | None:  # noqa: FBT001
    """The smallest set of findings without which the answer flips, of equal ones the first; sizes within a budget.

    Sizes share a batch of rows while they are few: a batch costs its schedule, whatever it holds.
    """
    count = len(asked.findings)
    batch: list[tuple[int, ...]] = []
    for size in range(1, count + 1):
        if comb(count, size) > _MOST_ROWS:
            return None
        batch += combinations(range(count), size)
        if size > 1 and size < count and len(batch) + comb(count, size + 1) <= _MOST_ROWS:
            continue
        kept = np.ones((len(batch), count), dtype=np.int64)
        for row, dropped in enumerate(batch):
            kept[row, list(dropped)] = 0
        flipped = np.flatnonzero((asked.answer_subsets(kept)[:, number] == 1.0) != leads)
        if len(flipped):
            return tuple(asked.findings[k] for k in batch[flipped[0]])
        batch = []
    return None


def _find_replaced(asked: AskedQuestion, number: int, leads: bool) -> tuple[str, str] | None:  # noqa: FBT001
    """One finding and the state in its place with which the answer flips; of ordered states the nearest."""
    cells: dict[str, list[Floats]] = {}
    variants: list[tuple[float, str, int, int]] = []
    for name, degrees in asked.degrees.items():
        variable = asked.network.variable(name)
        inside = np.flatnonzero(degrees > 0.0)
        cells[name] = [degrees]
        for place in np.flatnonzero(degrees == 0.0).tolist():
            gap = float(np.abs(inside - place).min()) if variable.ordered and len(inside) else 1.0
            variants.append((gap, name, len(cells[name]), place))
            cells[name].append(np.eye(len(variable))[place])
    if not variants:
        return None
    codes = {name: np.zeros(len(variants), dtype=np.int64) for name in asked.findings}
    for row, (_, name, code, _) in enumerate(variants):
        codes[name][row] = code
    answers = asked.answer_rows(cells, codes, len(variants))[:, number]
    flipped = [row for row, a in enumerate(answers.tolist()) if not np.isnan(a) and (a == 1.0) != leads]
    if not flipped:
        return None
    best = min(flipped, key=lambda row: (variants[row][0], row))
    _, name, _, place = variants[best]
    return name, asked.network.variable(name).states[place]


def _find_entry(asked: AskedQuestion, number: int) -> tuple[StoryFactor | None, float | None, str]:
    """The table entry that has to move least for the answer to flip, where it would then be, and on which side of that."""
    curves, _ = trace_entries(asked, number)
    network = asked.network
    today = np.concatenate([network.table(v.name).reshape(-1) for v in network.variables])
    distance, place, rises, reached = curves.nearest_flips(today)
    best = int(distance.argmin())
    if not np.isfinite(distance[best]):
        return None, None, ""
    side = f"{'at or ' if reached[best] else ''}{'above' if rises[best] else 'below'}"
    offset = best
    for v in network.variables:
        table = network.table(v.name)
        if offset < table.size:
            inside = np.unravel_index(offset, table.shape)
            parents = network.dag.parents(v.name)
            context = {p: network.variable(p).states[k] for p, k in zip(parents, inside[:-1], strict=True)}
            factor = StoryFactor(v.name, v.states[inside[-1]], context, float(table[inside]), decisive=True)
            return factor, float(place[best]), side
        offset -= table.size
    return None, None, ""
