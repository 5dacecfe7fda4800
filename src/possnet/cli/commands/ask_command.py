"""``possnet ask``: a questionnaire that asks the best question next."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import Any

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.commands.query_command import answer_document, answer_page
from possnet.cli.parse import COST, NET, VARIABLE, parse_evidence, write_finding
from possnet.cli.render import Page, show
from possnet.cli.terminal import show_line

_STOP = ("stop", "quit", "exit")


@click.command(short_help="Ask the questions that settle a variable, the best one next.")
@click.argument("net", type=NET)
@click.argument("target", type=VARIABLE)
@shared.given_option("What is known already, as in possnet query.")
@click.option(
    "--until",
    type=click.FloatRange(0.0, 1.0),
    default=0.9,
    metavar="N",
    help="Stop when a state is certain to this degree.",
)
@shared.choice_option(
    "--weights", ("pignistic", "worst"), "How answers count: by their pignistic probabilities, or the worst one."
)
@shared.pairs_option("--cost", type=COST, help="What asking a variable costs, as x=2; 1 unless given.")
@shared.json_option("Print the answers and the result as JSON at the end.")
def ask_command(
    net: pn.Network,
    target: str,
    given: dict[str, str],
    until: float,
    weights: Any,
    cost: dict[str, float],
    as_json: bool,  # noqa: FBT001
) -> None:
    """Ask for the variables that settle a target, the best question next, until a state is certain enough.

    An answer is a state or its number, several as a|b, ? if it is not known, or stop. A question is worth the
    non-specificity of the target that it is expected to settle, divided by its cost.

    \b
    Examples:
      possnet ask clinic measles --given fever=high
      possnet ask clinic measles --until .5 --cost contact=3
    """
    talk = Questionnaire(net, target, dict(given), until, weights, cost, sys.stdin.isatty())
    talk = talk.run()
    findings = [write_finding(name, cell) for name, cell in talk.given.items()]
    engine = pn.Inference(net)
    evidence = parse_evidence(talk.given, net)
    answer, degree = engine.query(target, evidence), engine.possibility_of(evidence)
    if as_json:
        show({**answer_document(answer, degree, findings), "asked": talk.asked, "settled": talk.ending})
    else:
        show([f"{talk.ending}.", "", *answer_page(answer, degree, findings)])


@dataclass(frozen=True)
class Questionnaire:
    """What is asked, what is known so far, and why it ended."""

    net: pn.Network
    target: str
    given: dict[str, str]
    until: float
    weights: Any
    cost: dict[str, float]
    on_terminal: bool
    asked: list[dict[str, str]] = field(default_factory=list)
    skipped: frozenset[str] = frozenset()
    ending: str = ""

    def run(self) -> Questionnaire:
        """Ask until the target is settled, nothing is left that would help, or the reader stops."""
        talk = self
        while not talk.ending:
            talk = talk.ask_next()
        return talk

    def ask_next(self) -> Questionnaire:
        """The questionnaire after one more question, or at its end."""
        evidence = parse_evidence(self.given, self.net)
        questions = pn.next_questions(self.net, self.target, evidence, weights=self.weights, costs=self.cost)
        now = questions.now
        best = max(now.variables[0].states, key=lambda state: (now.necessity({state}), now[state]))
        certain = now.necessity({best})
        if certain >= self.until:
            return replace(self, ending=f"{self.target}={best} is certain to {certain:.3f}")
        left = [q for q in questions if q.name not in self.skipped and q.reduction > 0.0]
        if not left:
            return replace(self, ending=f"No further question is expected to settle {self.target}")
        return self._put_question(left[0], len(self.asked) + 1)

    def _put_question(self, question: pn.NextQuestion, number: int) -> Questionnaire:
        variable = self.net.variable(question.name)
        page: Page = [f"{number}. {variable.name}? (settles {question.reduction:.3f} bits)"]
        for place, state in enumerate(variable.states, start=1):
            own = question.answers.get(state)
            page.append(f"   {place} {state}" + ("  (impossible by what is known)" if own is None else ""))
        show(page, err=True)
        while True:
            typed = self._read_line()
            if typed is None or typed.lower() in _STOP:
                return replace(self, ending="Stopped")
            if typed in {"", "?"}:
                return replace(self, skipped=self.skipped | {variable.name})
            cell = "|".join(_read_number(part.strip(), variable) for part in typed.split("|"))
            try:
                known = self.given | {variable.name: cell}
                pn.Inference(self.net).query(self.target, parse_evidence(known, self.net))
            except pn.ImpossibleEvidence:
                show_line(f"{variable.name}={cell} contradicts what is known; expected another answer, or ?")
                continue
            except pn.InputError as error:
                show_line(str(error).removeprefix("--given "))
                continue
            return replace(self, given=known, asked=[*self.asked, {"variable": variable.name, "answer": cell}])

    def _read_line(self) -> str | None:
        """What was typed; None at the end of the input."""
        if self.on_terminal:
            click.echo("> ", nl=False, err=True)
        line = sys.stdin.readline()
        return line.strip() if line else None


def _read_number(text: str, variable: pn.Variable) -> str:
    """The state of a number, unless a state itself is named so."""
    if text in variable.states or not text.isdecimal() or not 1 <= int(text) <= len(variable):
        return text
    return variable.states[int(text) - 1]
