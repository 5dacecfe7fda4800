"""``possnet query``: how possible and how certain each state of a variable is."""

from __future__ import annotations

from typing import Any

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.parse import NET, VARIABLE, parse_evidence
from possnet.cli.render import Page, get_width, show


@click.command(short_help="How possible and how certain each state of a variable is.")
@click.argument("net", type=NET)
@click.argument("target", type=VARIABLE)
@shared.given_option(
    "What is known: a state, a|b, or !a (all but a); of a variable made from numbers also x=30, 'x>40' or x=30..40."
)
@shared.json_option("Print JSON instead of bars.")
def query_command(net: pn.Network, target: str, given: dict[str, str], as_json: bool) -> None:  # noqa: FBT001
    """Show the possibility and the necessity of every state of a variable.

    Π is how far a state is possible, N how far it is certain, given what is known.

    \b
    Examples:
      possnet query clinic measles --given 'fever=mild|high' --given rash=spots
      possnet query asia lung --given xray=yes --json
      possnet query adult.json income --given age=30 --given 'hours>40'
      possnet fit rows.csv --structure clinic --out - | possnet query - flu --given fever=high
    """
    evidence = parse_evidence(given, net)
    engine = pn.Inference(net)
    answer, degree = engine.query(target, evidence), engine.possibility_of(evidence)
    findings = [f"{name}={cell}" for name, cell in given.items()]
    show(answer_document(answer, degree, findings) if as_json else answer_page(answer, degree, findings))


def answer_document(answer: pn.Possibility, degree: float, findings: list[str]) -> dict[str, Any]:
    """The answer to a question about one variable, for machines."""
    states = {
        state: {"possibility": answer[state], "necessity": answer.necessity({state}) if answer.is_normalised else None}
        for state in answer.variables[0].states
    }
    return {"target": answer.variables[0].name, "given": findings, "possibility_of_given": degree, "states": states}


def answer_page(answer: pn.Possibility, degree: float, findings: list[str]) -> Page:
    """The answer to a question about one variable as bars: the length is Π, the filled part N.

    >>> from possnet.cli.render import render_page
    >>> engine = pn.Inference(pn.load_example("asia"))
    >>> print(render_page(answer_page(engine.query("bronc", {"dysp": "yes"}), 1.0, ["dysp=yes"])))
    bronc, given dysp=yes
    <BLANKLINE>
      yes  ████████████████████████████▒▒▒  Π 1.000  N 0.900
      no   ▒▒▒                              Π 0.100  N 0.000
    <BLANKLINE>
      Π of what is given: 1
    """
    variable = answer.variables[0]
    width = max(len(state) for state in variable.states)
    longest = max(4, min(31, get_width() - width - 26))
    page: Page = [f"{variable.name}{', given ' + ', '.join(findings) if findings else ''}", ""]
    for state in variable.states:
        possibility = answer[state]
        necessity = answer.necessity({state}) if answer.is_normalised else 0.0
        full, half = round(necessity * longest), round(possibility * longest)
        bar = ("█" * full + "▒" * (half - full)).ljust(longest)
        degrees = f"Π {possibility:.3f}" + (f"  N {necessity:.3f}" if answer.is_normalised else "")
        page.append(f"  {state.ljust(width)}  {bar}  {degrees}")
    if findings:
        page += ["", f"  Π of what is given: {degree:.6g}"]
    return page
