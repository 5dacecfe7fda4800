"""Why an answer is what it is: a value that prints itself, draws itself, and goes to JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from possnet.drawing import Bar, Card, draw_graph, text_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.drawing import Drawing
    from possnet.network import Network

STORY, RIVAL, BOTH = "necessary", "reversed", "possible"  # colours of the drawing


@dataclass(frozen=True, slots=True)
class StoryFactor:
    """One degree that a story is made of: a table entry π(state | context), or the degree of an uncertain finding.

    ``decisive`` says that it lowers the story: below 1 for the product; the least one for the minimum.
    """

    variable: str
    state: str
    context: dict[str, str]
    degree: float
    decisive: bool
    is_finding: bool = False

    @property
    def label(self) -> str:
        """The degree in words."""
        if self.is_finding:
            return f"finding {self.variable}={self.state}"
        given = ", ".join(f"{name}={state}" for name, state in self.context.items())
        return f"{self.variable}={self.state}{f' given {given}' if given else ''}"


@dataclass(frozen=True, slots=True)
class FindingEffect:
    """A finding, and what the answer would be without it.

    ``caps`` says that without the finding the state would be more possible.
    """

    finding: str
    possibility_without: float
    necessity_without: float
    caps: bool


@dataclass(frozen=True, slots=True)
class SmallestChange:
    """The smallest changes, each of its kind, after which the state is among the most possible ones if it was not.

    If it was, it is no longer. A kind is None where no such change exists, or none within the budget.

    Attributes
    ----------
    dropped
        The fewest findings to drop.
    replaced
        One finding, and the state that it would have to be.
    entry, needed, side
        The table entry that has to move least, how far, and on which side of ``needed`` the answer is another: ``above``,
        ``at or above``, ``below`` or ``at or below``.
    """

    dropped: tuple[str, ...] | None
    replaced: tuple[str, str] | None
    entry: StoryFactor | None
    needed: float | None
    side: str = ""


@dataclass(frozen=True, slots=True)
class AnswerExplanation:
    """Why Π(target = state | evidence) is what it is: the best story for the state, and the best one for another state.

    Attributes
    ----------
    story, rival
        Every variable's state in the best configuration with the state, and in the best one without it. Where one of them
        is impossible it is the one with the fewest entries of degree 0. A target with one state has an empty rival.
    story_factors, rival_factors
        The degrees that each of them is made of, in the order of the variables.
    possibility, necessity
        Π and N of the state given the evidence.
    story_degree, rival_degree
        Π of the state, and of all others, together with the evidence.
    findings
        Name -> what each finding does to the answer.
    change
        The smallest changes that would flip the answer.

    Examples
    --------
    >>> import possnet as pn
    >>> why = pn.explain(pn.load_example("clinic"), "measles", {"fever": "high", "rash": "spots"}, state="yes")
    >>> why.story["contact"], why.rival["flu"], round(why.possibility, 6)
    ('yes', 'yes', 0.328125)
    >>> [factor.label for factor in why.rival_factors if factor.decisive]
    ['flu=yes given season=winter', 'fever=high given measles=no, flu=yes', 'rash=spots given measles=no']
    """

    network: Network
    target: str
    state: str
    given: tuple[str, ...]
    story: dict[str, str]
    rival: dict[str, str]
    story_factors: tuple[StoryFactor, ...]
    rival_factors: tuple[StoryFactor, ...]
    possibility: float
    necessity: float
    story_degree: float
    rival_degree: float
    findings: Mapping[str, FindingEffect]
    change: SmallestChange

    @property
    def caps(self) -> tuple[str, ...]:
        """Names of the findings without which the state would be more possible."""
        return tuple(name for name, effect in self.findings.items() if effect.caps)

    @property
    def leads(self) -> bool:
        """Whether the state is among the most possible ones."""
        return self.possibility == 1.0

    def to_dict(self) -> dict[str, Any]:
        """The explanation, for machines.

        >>> import possnet as pn
        >>> why = pn.explain(pn.load_example("clinic"), "measles", {"rash": "spots"})
        >>> why.to_dict()["rival"]["measles"]
        'yes'
        """
        change = self.change
        entry = None
        if change.entry is not None:
            entry = {
                "entry": change.entry.label,
                "now": change.entry.degree,
                "needed": change.needed,
                "side": change.side,
            }
        return {
            "target": self.target,
            "state": self.state,
            "given": list(self.given),
            "possibility": self.possibility,
            "necessity": self.necessity,
            "conjunction": self.network.conjunction.name,
            "story": dict(self.story),
            "rival": dict(self.rival),
            "story_possibility": self.story_degree,
            "rival_possibility": self.rival_degree,
            "story_factors": [_factor_document(factor) for factor in self.story_factors],
            "rival_factors": [_factor_document(factor) for factor in self.rival_factors],
            "findings": {
                name: {
                    "finding": effect.finding,
                    "possibility_without": effect.possibility_without,
                    "necessity_without": effect.necessity_without,
                    "caps": effect.caps,
                }
                for name, effect in self.findings.items()
            },
            "flips": {
                "drop": None if change.dropped is None else list(change.dropped),
                "replace": None if change.replaced is None else dict([change.replaced]),
                "entry": entry,
            },
        }

    def to_json(self) -> str:
        """The explanation as JSON text.

        >>> import possnet as pn
        >>> pn.explain(pn.load_example("clinic"), "measles", {"rash": "spots"}).to_json()[:24]
        '{"target": "measles", "s'
        """
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def draw(self) -> Drawing:
        """Both stories on the graph, as SVG text: bars are the table entries that each of them uses.

        >>> import possnet as pn
        >>> picture = pn.explain(pn.load_example("clinic"), "measles", {"rash": "spots"}, state="yes").draw()
        >>> "best story with measles=yes" in picture, "best without it" in picture
        (True, True)
        """
        network = self.network
        entries = {f.variable: f for f in self.story_factors if not f.is_finding}
        others = {f.variable: f for f in self.rival_factors if not f.is_finding}
        cards = {}
        for v in network.variables:
            own, other = entries[v.name], others.get(v.name)
            if other is not None and (own.state, own.degree) == (other.state, other.degree):
                bars = [Bar(own.state, own.degree, fill=BOTH)]
            else:
                bars = [Bar(own.state, own.degree, fill=STORY)]
                bars += [Bar(other.state, other.degree, fill=RIVAL)] if other is not None else []
            cards[v.name] = Card(tuple(bars), v.name in self.findings)
        fills = {
            STORY: f"best story with {self.target}={self.state}",
            RIVAL: "best without it",
            BOTH: "the same in both",
        }
        parents = {v.name: network.dag.parents(v.name) for v in network.variables}
        title = f"why {self.target}={self.state} is possible to {self.possibility:.3g}"
        return draw_graph(parents, cards, title=title, fills=fills)

    def _repr_html_(self) -> str:
        return str(self.draw())

    def __repr__(self) -> str:
        return (
            f"AnswerExplanation({self.target}={self.state}: possible {self.possibility:.6g}, "
            f"certain {self.necessity:.6g})"
        )

    def __str__(self) -> str:
        return "\n".join(_write_lines(self))


def _factor_document(factor: StoryFactor) -> dict[str, Any]:
    names = ("variable", "state", "context", "degree", "decisive")
    kind = "finding" if factor.is_finding else "table entry"
    return {name: getattr(factor, name) for name in names} | {"kind": kind}


def _write_lines(why: AnswerExplanation) -> list[str]:
    given = f" given {', '.join(why.given)}" if why.given else ""
    lines = [f"{why.target}={why.state}{given}: possible {why.possibility:.6g}, certain {why.necessity:.6g}", ""]
    lines += _write_story(f"The best story with {why.target}={why.state}", why.story_factors, why.story_degree, why)
    if why.rival:
        rival = why.rival[why.target]
        lines += _write_story(
            f"The best story without it ({why.target}={rival})", why.rival_factors, why.rival_degree, why
        )
    lines += _write_findings(why)
    return lines + _write_changes(why)


def _write_story(title: str, factors: tuple[StoryFactor, ...], degree: float, why: AnswerExplanation) -> list[str]:
    least = why.network.conjunction.name == "min"
    rows = [(f.label, f"{f.degree:.6g}") for f in factors if f.decisive]
    joined = "the least of them" if least else "their product"
    if not rows:
        return [f"{title}: nothing speaks against it, 1", ""]
    rows.append((joined if len(rows) > 1 else "together", f"{degree:.6g}"))
    return [f"{title}; every other degree is {'larger' if least else '1'}:", *text_table(rows), ""]


def _write_findings(why: AnswerExplanation) -> list[str]:
    if not why.findings:
        return []
    rows = [("finding", "possible without it", "certain without it", "")]
    rows += [
        (e.finding, f"{e.possibility_without:.6g}", f"{e.necessity_without:.6g}", "caps it" if e.caps else "")
        for e in why.findings.values()
    ]
    return ["What each finding does:", *text_table(rows), ""]


def _write_changes(why: AnswerExplanation) -> list[str]:
    change = why.change
    verb = "no longer among" if why.leads else "among"
    lines = [f"The smallest change after which {why.target}={why.state} is {verb} the most possible states:"]
    if change.dropped is not None:
        lines.append(f"  without {', '.join(why.findings[name].finding for name in change.dropped)}")
    if change.replaced is not None:
        lines.append(
            f"  with {change.replaced[0]}={change.replaced[1]} in place of {why.findings[change.replaced[0]].finding}"
        )
    if change.entry is not None and change.needed is not None:
        entry = change.entry
        lines.append(f"  with the entry {entry.label} {change.side} {change.needed:.6g} (now {entry.degree:.6g})")
    return lines if len(lines) > 1 else []
