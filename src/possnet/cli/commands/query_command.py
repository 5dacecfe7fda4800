"""``possnet query``: how possible and how certain each state of a variable is."""

from __future__ import annotations

from typing import Any

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.outputs import show_late_progress
from possnet.cli.parse import NET, VARIABLE, parse_evidence, write_finding
from possnet.cli.render import Page, draw_bar, escape_names, show
from possnet.cli.terminal import get_width
from possnet.drawing import format_number

_ALIKE = 0.0005  # degrees that three decimals do not tell apart


@click.command(short_help="How possible and how certain each state of a variable is.")
@click.argument("net", type=NET)
@click.argument("target", type=VARIABLE)
@shared.given_option(
    "What is known: a state, a|b, or !a (all but a); of a variable made from numbers also x=30, 'x>40' or x=30..40."
)
@click.option(
    "--bounds", "with_bounds", is_flag=True, help="Show the bounds of every degree too, if the network has any."
)
@click.option("--why", is_flag=True, help="Explain the most possible state, or that of --state, too.")
@click.option("--state", metavar="STATE", help="The state that --why explains.")
@click.option(
    "--max-seconds",
    type=click.FloatRange(0.0),
    default=60.0,
    show_default=True,
    metavar="S",
    help="Where the network is too wide for memory, fix variables in turn if that takes at most so long.",
)
@shared.json_option("Print JSON instead of bars.")
def query_command(
    net: pn.Network,
    target: str,
    given: dict[str, str],
    with_bounds: bool,  # noqa: FBT001
    why: bool,  # noqa: FBT001
    state: str | None,
    max_seconds: float,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Show the possibility and the necessity of every state of a variable.

    Π is how far a state is possible, N how far it is certain, given what is known. A network learned from alpha-cut rows
    (possnet fit --learner cut) carries bounds of its degrees: with --bounds, those of every answer are shown. With --why,
    the best story behind the answer is shown, its best rival, what each finding does, and the smallest change that
    would flip it.

    \b
    Examples:
      possnet query clinic measles --given 'fever=mild|high' --given rash=spots
      possnet query clinic measles --given rash=spots --why --state yes
      possnet query asia lung --given xray=yes --json
      possnet query adult.json income --given age=30 --given 'hours>40'
      possnet fit rows.csv --structure clinic --out - | possnet query - flu
    """
    if with_bounds and net.bounds is None:
        raise pn.InputError(
            "query --bounds: the network carries no bounds; expected one that does, such as possnet fit --learner cut "
            "writes"
        )
    if state is not None and not why:
        raise pn.InputError("query --state: nothing is explained; expected --why with it")
    evidence = parse_evidence(given, net)
    explained = _explain_answer(net, target, evidence, state) if why else None  # first, because its refusals say more
    with show_late_progress("fixing variables in turn", "configurations") as advance:
        engine = pn.Inference(net, max_seconds=max_seconds, progress=advance)
        answer, degree = engine.query(target, evidence), engine.possibility_of(evidence)
    findings = [write_finding(name, cell) for name, cell in given.items()]
    if with_bounds:
        bounds = engine.bounds(target, evidence), engine.evidence_bounds(evidence)
        document, page = bounds_document, bounds_page
        content: Any = (
            document(answer, degree, findings, *bounds) if as_json else page(answer, degree, findings, *bounds)
        )
    else:
        content = answer_document(answer, degree, findings) if as_json else answer_page(answer, degree, findings)
    if explained is not None and as_json:
        content["why"] = explained.to_dict()
    elif explained is not None:
        content += ["", *escape_names(str(explained), net).splitlines()]
    show(content)


def _explain_answer(net: pn.Network, target: str, evidence: Any, state: str | None) -> pn.AnswerExplanation:
    """The explanation; impossible evidence is refused with the findings that contradict each other."""
    try:
        return pn.explain(net, target, evidence, state)
    except pn.ImpossibleEvidence:
        conflict = pn.conflicts(net, evidence, most=1)
        names = " and ".join(conflict.findings[name] for name in conflict.sets[0])
        remedy = "Drop one of these"
        if conflict.repairs:  # none if very many findings contradict each other
            repair = conflict.repairs[0]
            drop = ", ".join(conflict.findings[name] for name in repair.drop)
            admit = ", ".join(f"{name}={other}" for name, other in repair.widen.items())
            remedy = f"Drop {drop}, or admit {admit} too"
        raise pn.ImpossibleEvidence(
            f"query --why: the evidence is impossible: {names} contradict each other; expected possible evidence. {remedy}"
        ) from None


def answer_document(answer: pn.Possibility, degree: float, findings: list[str]) -> dict[str, Any]:
    """The answer to a question about one variable, for machines."""
    states = {
        state: {"possibility": answer[state], "necessity": answer.necessity({state}) if answer.is_normalised else None}
        for state in answer.variables[0].states
    }
    return {"target": answer.variables[0].name, "given": findings, "possibility_of_given": degree, "states": states}


def bounds_document(
    answer: pn.Possibility,
    degree: float,
    findings: list[str],
    bounds: pn.PossibilityBounds,
    given: tuple[float, float],
) -> dict[str, Any]:
    """The answer to a question about one variable, with the bounds of every degree, for machines."""
    document = answer_document(answer, degree, findings)
    for state, entry in document["states"].items():
        entry |= {"possibility_bounds": bounds[state], "necessity_bounds": bounds.necessity(state)}
    return document | {"bounds_of_given": given, "bounds_attained": bounds.attained}


def bounds_page(
    answer: pn.Possibility,
    degree: float,
    findings: list[str],
    bounds: pn.PossibilityBounds,
    given: tuple[float, float],
) -> Page:
    """The answer to a question about one variable, with the bounds of every degree.

    Bars are filled to the lower N, dark to the lower and light to the upper Π.

    >>> from possnet.cli.render import render_page
    >>> asia = pn.load_example("asia")
    >>> tables = {v.name: asia.table(v.name) for v in asia.variables}
    >>> engine = pn.Inference(asia, lower=tables | {"smoke": [1, 0.5]}, upper=tables)
    >>> answer, bounds = engine.query("smoke", {"lung": "yes"}), engine.bounds("smoke", {"lung": "yes"})
    >>> print(render_page(bounds_page(answer, 0.1, ["lung=yes"], bounds, (0.1, 0.1))))
    smoke: yes (N 0.900), given lung=yes
    <BLANKLINE>
      yes  ██████████████████▒▒  Π 1.000                   N 0.900 [0.900, 0.950]
      no   ▒░                    Π 0.100 [0.050, 0.100]    N 0.000
    <BLANKLINE>
      Π of what is given: 0.1
    """
    variable = answer.variables[0]
    width = max(len(state) for state in variable.states)
    longest = max(4, min(20, get_width() - width - 56))
    page: Page = [state_answer(answer, findings), ""]
    for state in variable.states:
        (low, high), certain = bounds[state], bounds.necessity(state)
        full, solid, light = (round(share * longest) for share in (certain[0], low, high))
        bar = ("█" * full + "▒" * (solid - full) + "░" * (light - max(full, solid))).ljust(longest)
        degrees = (
            f"Π {_with_band(answer[state], low, high).ljust(22)}  N {_with_band(answer.necessity(state), *certain)}"
        )
        page.append(f"  {state.ljust(width)}  {bar}  {degrees}")
    if findings:
        remark = "; it may be impossible" if given[0] == 0.0 else ""
        band = f" [{given[0]:.6g}, {given[1]:.6g}]" if given[0] != given[1] else ""
        page += ["", f"  Π of what is given: {degree:.6g}{band}{remark}"]
    return page


def _with_band(degree: float, low: float, high: float) -> str:
    """A degree, and its bounds if they are apart."""
    ends = f"{low:.3f}", f"{high:.3f}"
    return f"{degree:.3f}" if ends[0] == ends[1] else f"{degree:.3f} [{', '.join(ends)}]"


def answer_page(answer: pn.Possibility, degree: float, findings: list[str]) -> Page:
    """The answer to a question about one variable as bars.

    >>> from possnet.cli.render import render_page
    >>> engine = pn.Inference(pn.load_example("asia"))
    >>> print(render_page(answer_page(engine.query("bronc", {"dysp": "yes"}), 1.0, ["dysp=yes"])))
    bronc: yes (N 0.900), given dysp=yes
    <BLANKLINE>
      yes  ████████████████████████████▒▒▒  Π 1.000  N 0.900
      no   ▒▒▒                              Π 0.100  N 0.000
    <BLANKLINE>
      Π of what is given: 1
    """
    page: Page = [state_answer(answer, findings), ""]
    page += list_bars(answer)
    if findings:
        page += ["", f"  Π of what is given: {format_number(degree)}"]
    return page


def state_answer(answer: pn.Possibility, findings: list[str]) -> str:
    """The answer in a line: the states that are fully possible, and how certain it is that one of these is true.

    >>> fever = pn.Variable("fever", ("none", "mild", "high"))
    >>> state_answer(pn.Possibility(fever, [0.3, 1, 1]), ["rash=spots"])
    'fever: mild or high (N 0.700), given rash=spots'
    >>> state_answer(pn.Possibility(fever, [1, 1, 1]), [])
    'fever: none, mild or high, every state is fully possible'
    """
    variable, highest = answer.variables[0], float(answer.degrees.max())
    best = [state for state in variable.states if highest - answer[state] < _ALIKE]
    words = " or ".join(filter(None, (", ".join(best[:-1]), best[-1])))
    if not answer.is_normalised:
        words = f"most possibly {words} (Π {highest:.3f})"
    elif len(best) == len(variable):
        words += ", every state is fully possible" if len(best) > 1 else ""
    else:
        words += f" (N {answer.necessity(set(best)):.3f})"
    return f"{variable.name}: {words}{', given ' + ', '.join(findings) if findings else ''}"


def list_bars(answer: pn.Possibility) -> list[str]:
    """The states of a variable as bars: the length is Π, the filled part N.

    >>> print(*list_bars(pn.Possibility(pn.Variable("rash", ("yes", "no")), [0.25, 1])), sep="\\n")
      yes  ▒▒▒▒▒▒▒▒                         Π 0.250  N 0.000
      no   ███████████████████████▒▒▒▒▒▒▒▒  Π 1.000  N 0.750
    """
    states = answer.variables[0].states
    width = max(len(state) for state in states)
    longest = max(4, min(31, get_width() - width - 26))
    lines = []
    for state in states:
        possibility = answer[state]
        necessity = answer.necessity({state}) if answer.is_normalised else 0.0
        degrees = f"Π {possibility:.3f}" + (f"  N {necessity:.3f}" if answer.is_normalised else "")
        lines.append(f"  {state.ljust(width)}  {draw_bar(possibility, necessity, longest)}  {degrees}")
    return lines
