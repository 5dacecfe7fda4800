"""What if: the same network under different evidence and interventions, marginals side by side.

Seeing is not doing. Evidence on a variable says something about its causes; an intervention does(x) cuts it off from them
(`possnet.Network.do`, after Benferhat and Smaoui 2007). A scenario may have both: evidence is then read in the network
after the intervention, as something seen together with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.doors import check_arguments, check_fields, checks_itself
from possnet.drawing import Bar, Card, draw_graph, text_table
from possnet.errors import ImpossibleEvidence, InputError, among
from possnet.inference import Inference, describe_evidence
from possnet.network import Network

if TYPE_CHECKING:
    from possnet.drawing import Drawing
    from possnet.inference import Evidence
    from possnet.possibility import Possibility


@check_fields
@dataclass(frozen=True, slots=True)
class Scenario:
    """What is seen, and what is done.

    >>> Scenario(given={"rash": "spots"}, do={"vaccinated": "yes"}).label
    'do(vaccinated=yes), given rash=spots'
    """

    given: Mapping[str, Any] = field(default_factory=dict)
    do: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The scenario in words."""
        done = f"do({describe_evidence(self.do)})" if self.do else ""
        seen = f"given {describe_evidence(self.given)}" if self.given else ""
        return ", ".join(filter(None, (done, seen))) or "nothing is known"

    @check_arguments
    def answer_marginals(self, network: Network) -> dict[str, Possibility]:
        """Possibility of every variable in this scenario.

        >>> import possnet as pn
        >>> Scenario(do={"flu": "no"}).answer_marginals(pn.load_example("clinic"))["fever"]
        Possibility(fever: none 1, mild 0.3, high 0.1)
        """
        return Inference(network.do(self.do) if self.do else network).marginals(self.given or None)


@dataclass(frozen=True, slots=True)
class ScenarioComparison:
    """The marginals of some scenarios side by side.

    Attributes
    ----------
    scenarios
        Name -> scenario.
    marginals
        Name of the scenario -> variable -> possibility.

    Examples
    --------
    >>> import possnet as pn
    >>> compared = pn.scenarios(pn.load_example("clinic"), {"seen": {"flu": "yes"}, "done": pn.Scenario(do={"flu": "yes"})})
    >>> [marginal.degrees.tolist() for marginal in compared.of("season").values()]
    [[1.0, 0.25], [1.0, 1.0]]
    """

    network: Network
    scenarios: dict[str, Scenario]
    marginals: dict[str, dict[str, Possibility]]

    @check_arguments
    def of(self, name: str) -> dict[str, Possibility]:
        """Possibility of one variable in every scenario.

        >>> import possnet as pn
        >>> compared = pn.scenarios(pn.load_example("clinic"), {"a": {"flu": "yes"}, "b": {"flu": "no"}})
        >>> compared.of("fever")["b"]["mild"]
        0.3
        """
        variable = self.network.variable(name).name
        return {scenario: answers[variable] for scenario, answers in self.marginals.items()}

    def differences(self) -> dict[str, float]:
        """Variable -> the largest difference of a degree between any two scenarios, those that differ most first.

        >>> import possnet as pn
        >>> compared = pn.scenarios(pn.load_example("clinic"), {"a": {"flu": "yes"}, "b": {"flu": "no"}})
        >>> list(compared.differences())[:2]
        ['flu', 'fever']
        """
        spread = {}
        for variable in self.network.variables:
            degrees = np.stack([own.degrees for own in self.of(variable.name).values()])
            spread[variable.name] = float((degrees.max(axis=0) - degrees.min(axis=0)).max())
        return dict(sorted(spread.items(), key=lambda pair: -pair[1]))

    def to_dict(self) -> dict[str, Any]:
        """All marginals, for machines.

        >>> import possnet as pn
        >>> sorted(pn.scenarios(pn.load_example("clinic"), {"a": {}, "b": {"flu": "no"}}).to_dict())
        ['differences', 'marginals', 'scenarios']
        """
        listed = {
            name: {
                variable: dict(zip(own.variables[0].states, own.degrees.tolist(), strict=True))
                for variable, own in answers.items()
            }
            for name, answers in self.marginals.items()
        }
        labels = {name: scenario.label for name, scenario in self.scenarios.items()}
        return {"scenarios": labels, "marginals": listed, "differences": self.differences()}

    def draw(self) -> Drawing:
        """The last scenario's marginals on the graph, with a tick for each degree of the first one.

        >>> import possnet as pn
        >>> pn.scenarios(pn.load_example("clinic"), {"a": {}, "b": {"flu": "no"}}).draw().startswith("<svg")
        True
        """
        first, *_, last = self.marginals
        touched = {*self.scenarios[last].given, *self.scenarios[last].do}
        cards = {
            name: Card(
                tuple(
                    Bar(
                        state,
                        float(own[state]),
                        own.necessity(state) if own.is_normalised else 0.0,
                        float(other[state]),
                    )
                    for state in own.variables[0].states
                ),
                name in touched,
            )
            for name, own, other in (
                (name, own, self.marginals[first][name]) for name, own in self.marginals[last].items()
            )
        }
        dag = self.network.do(self.scenarios[last].do).dag  # what is done has no parents
        parents = {v.name: dag.parents(v.name) for v in self.network.variables}
        return draw_graph(
            parents,
            cards,
            title=f"{last} (bars) and {first} (ticks)",
            other_word=f"Π in '{first}'",
            mark_word="seen or done",
        )

    def _repr_html_(self) -> str:
        return str(self.draw())

    def __str__(self) -> str:
        lines = [f"{name}: {scenario.label}" for name, scenario in self.scenarios.items()]
        rows = [("variable", "state", *self.scenarios)]
        changed = [name for name, spread in self.differences().items() if spread > 1e-12]
        for name in changed:
            for k, state in enumerate(self.network.variable(name).states):
                degrees = [f"{own.degrees[k]:.6g}" for own in self.of(name).values()]
                rows.append((name if not k else "", state, *degrees))
        if len(rows) == 1:
            return "\n".join([*lines, "no degree differs"])
        return "\n".join([*lines, *text_table(rows, texts=2)])


@check_arguments
@checks_itself("named")
def scenarios(network: Network, named: Mapping[str, Scenario | Evidence]) -> ScenarioComparison:
    """Marginals of several scenarios side by side: A/B, or more.

    Parameters
    ----------
    named
        Name -> a `Scenario`, or a mapping, which is evidence.

    Examples
    --------
    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> print(scenarios(clinic, {"seen": {"measles": "yes"}, "done": Scenario(do={"measles": "yes"})}))
    seen: given measles=yes
    done: do(measles=yes)
      variable    state        seen  done
      contact     yes             1   0.2
                  no            0.5     1
      vaccinated  yes      0.333333     1
                  no              1   0.3
    """
    given: object = network
    if not isinstance(given, Network):
        raise InputError(f"scenarios: {network!r} is not a network; expected one")
    listed: object = named
    if not isinstance(listed, Mapping) or len(listed) < 2:
        raise InputError(
            "scenarios: fewer than two scenarios; expected a mapping such as {'A': {...}, 'B': Scenario(do=...)}"
        )
    chosen, marginals = {}, {}
    for name, what in named.items():
        scenario = what if isinstance(what, Scenario) else Scenario(given=_check_evidence(name, what))
        both = [v for v in scenario.do if v in scenario.given]
        if both:
            raise InputError(f"scenarios: {name!r} sets {both[0]!r} and has evidence on it; expected one of the two")
        chosen[name] = scenario
        try:
            marginals[name] = scenario.answer_marginals(network)
        except ImpossibleEvidence as error:
            raise ImpossibleEvidence(f"scenarios: {name!r}: {error}") from None
        except InputError as error:
            raise InputError(f"scenarios: {name!r}: {error}") from None
    return ScenarioComparison(network, chosen, marginals)


def _check_evidence(name: str, what: object) -> Mapping[str, Any]:
    if not isinstance(what, Mapping):
        raise InputError(f"scenarios: {name!r} is {what!r}; expected a Scenario, or a mapping that is evidence")
    if set(what) and set(what) <= {"given", "do"}:
        hint = among("given", ("Scenario(given=..., do=...)",))
        raise InputError(f"scenarios: {name!r} has the keys {', '.join(what)}; expected a Scenario{hint}")
    return what
