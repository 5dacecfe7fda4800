"""Decisions: acts compared by their optimistic and pessimistic possibilistic utility, exactly, with the reason.

With π the possibility of the outcomes after an act, u their utility in [0, 1] and ⊗ the network's conjunction,

    optimistic  U+ = max over x of π(x) ⊗ u(x),      pessimistic  U- = 1 - max over x of π(x) ⊗ (1 - u(x)).

For the minimum these are the criteria of Dubois and Prade (1995): U- = min over x of max(1 - π(x), u(x)) is large if all
outcomes that are at all possible are good, U+ if some possible outcome is good. For the product they are the
Shilkret integral of u and its dual, of the same meaning on a numerical scale. Each is reached at one
outcome, its *witness*, which is why the act has that utility.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.doors import check_arguments
from possnet.drawing import text_table
from possnet.errors import ImpossibleEvidence, InputError, among, describe_value, listing, require_number
from possnet.explanation.asked_question import find_variable
from possnet.inference import Inference, describe_evidence
from possnet.network import Network

if TYPE_CHECKING:
    from possnet.aliases import Floats
    from possnet.inference import Evidence
    from possnet.variables import Variable

_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class OutcomeWitness:
    """The outcome at which a utility is reached: states of the targets, how possible and how good they are."""

    outcome: dict[str, str]
    possibility: float
    utility: float

    @property
    def label(self) -> str:
        """The outcome in words."""
        return ", ".join(f"{name}={state}" for name, state in self.outcome.items())

    def describe(self) -> str:
        """The outcome, its possibility and its utility."""
        return f"{self.label}, possible to {self.possibility:.4g}, worth {self.utility:.4g}"


@dataclass(frozen=True, slots=True)
class ActUtility:
    """An act, its two utilities, and the outcome at which each is reached.

    >>> import possnet as pn
    >>> utilities = {"rest": {"yes": 0.2, "no": 1.0}, "isolate": {"yes": 0.9, "no": 0.6}}
    >>> clinic, rash = pn.load_example("clinic"), {"rash": "widespread"}
    >>> decision = pn.decide(clinic, ["rest", "isolate"], utilities, rash, target="measles")
    >>> act = decision.of("rest")
    >>> round(act.optimistic, 6), round(act.pessimistic, 6), act.worst.label
    (0.333333, 0.2, 'measles=yes')
    """

    name: str
    optimistic: float
    pessimistic: float
    best: OutcomeWitness
    worst: OutcomeWitness


@dataclass(frozen=True, slots=True)
class Decision:
    """Acts and their utilities; which are best by either criterion, ties included.

    >>> import possnet as pn
    >>> utilities = {"rest": {"yes": 0.2, "no": 1.0}, "isolate": {"yes": 0.9, "no": 0.6}}
    >>> clinic, rash = pn.load_example("clinic"), {"rash": "widespread"}
    >>> decision = pn.decide(clinic, ["rest", "isolate"], utilities, rash, target="measles")
    >>> decision.best, decision.optimistic_best
    (('isolate',), ('isolate',))
    """

    acts: tuple[ActUtility, ...]
    given: str

    @property
    def best(self) -> tuple[str, ...]:
        """The acts of the largest pessimistic utility; of these the ones of the largest optimistic utility."""
        return _choose_best(self.acts, "pessimistic", "optimistic")

    @property
    def pessimistic_best(self) -> tuple[str, ...]:
        """All acts of the largest pessimistic utility."""
        return _choose_best(self.acts, "pessimistic")

    @property
    def optimistic_best(self) -> tuple[str, ...]:
        """All acts of the largest optimistic utility."""
        return _choose_best(self.acts, "optimistic")

    @check_arguments
    def of(self, name: str) -> ActUtility:
        """An act and its utilities.

        >>> import possnet as pn
        >>> utilities = {"rest": {"yes": 0.2, "no": 1.0}}
        >>> pn.decide(pn.load_example("clinic"), ["rest"], utilities, target="measles").of("rest").pessimistic
        0.952
        """
        for act in self.acts:
            if act.name == name:
                return act
        names = [act.name for act in self.acts]
        raise InputError(f"decide: no act {name!r}{among(name, names)}")

    @property
    def reason(self) -> str:
        """Why the best act is best, in a sentence or two."""
        first = self.of(self.best[0])
        rivals = [act for act in self.acts if act.name not in self.best]
        verb = "tie for the best" if len(self.best) > 1 else "is best"
        names = " and ".join(self.best)
        text = (
            f"{names} {verb}{f' given {self.given}' if self.given else ''}: whatever is at all possible, the "
            f"utility is {first.pessimistic:.4g} (held down by {first.worst.describe()})."
        )
        if rivals:
            second = max(rivals, key=lambda act: (act.pessimistic, act.optimistic))
            text += f" {second.name} comes to {second.pessimistic:.4g}, held down by {second.worst.describe()}."
        if not set(self.best) & set(self.optimistic_best):
            hopeful = self.of(self.optimistic_best[0])
            names = " or ".join(self.optimistic_best)
            text += f" An optimist would take {names}, for {hopeful.best.label} ({hopeful.optimistic:.4g})."
        return text

    def to_dict(self) -> dict[str, Any]:
        """The decision, for machines.

        >>> import possnet as pn
        >>> utilities = {"rest": {"yes": 0.2, "no": 1.0}}
        >>> pn.decide(pn.load_example("clinic"), ["rest"], utilities, target="measles").to_dict()["best"]
        ['rest']
        """
        return {
            "given": self.given,
            "best": list(self.best),
            "pessimistic_best": list(self.pessimistic_best),
            "optimistic_best": list(self.optimistic_best),
            "reason": self.reason,
            "acts": {
                act.name: {
                    "optimistic": act.optimistic,
                    "pessimistic": act.pessimistic,
                    "best_outcome": {
                        **act.best.outcome,
                        "possibility": act.best.possibility,
                        "utility": act.best.utility,
                    },
                    "worst_outcome": {
                        **act.worst.outcome,
                        "possibility": act.worst.possibility,
                        "utility": act.worst.utility,
                    },
                }
                for act in self.acts
            },
        }

    def __str__(self) -> str:
        rows = [("act", "pessimistic", "held down by", "optimistic", "hoping for")]
        ranked = sorted(self.acts, key=lambda act: (-act.pessimistic, -act.optimistic))
        rows += [(a.name, f"{a.pessimistic:.4g}", a.worst.label, f"{a.optimistic:.4g}", a.best.label) for a in ranked]
        return "\n".join([*text_table(rows, indent=""), "", self.reason])


def _choose_best(acts: Sequence[ActUtility], *criteria: str) -> tuple[str, ...]:
    kept = list(acts)
    for criterion in criteria:
        top = max(getattr(act, criterion) for act in kept)
        kept = [act for act in kept if getattr(act, criterion) >= top - _EQUAL]
    return tuple(act.name for act in kept)


@check_arguments
def decide(
    network: Network,
    acts: Sequence[str] | Mapping[str, Mapping[str, str] | None],
    utilities: Mapping[Any, Any],
    evidence: Evidence | None = None,
    *,
    target: str | Sequence[str] | None = None,
) -> Decision:
    """Compare acts by their optimistic and pessimistic possibilistic utility.

    Equation
    --------
    U^+ = max_x π(x) ⊗ u(x)
    U^- = 1 - max_x π(x) ⊗ (1 - u(x))

    Parameters
    ----------
    acts
        Names of acts that leave the network as it is and only have utilities of their own; or a mapping from names to
        what each act sets, as in `possnet.Network.do` (None: nothing).
    utilities
        Act -> utilities of its outcomes, numbers from 0 to 1; or, if they are the same for all acts, these alone.
        Utilities of outcomes are ``{target: {state: utility}}``, over several targets ``{(target, target): {(state,
        state): utility}}``; with ``target`` given, the inner mapping alone.
    evidence
        What is known; it is read in the network after the act.
    target
        The variable or variables that utilities speak of.

    Examples
    --------
    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> acts = {"vaccinate": {"vaccinated": "yes"}, "wait": None}
    >>> worth = {"measles": {"yes": 0.1, "no": 1.0}}
    >>> print(decide(clinic, acts, worth, {"contact": "yes"}))
    act        pessimistic  held down by  optimistic  hoping for
    vaccinate  0.91         measles=yes   1           measles=no
    wait       0.73         measles=yes   1           measles=no
    <BLANKLINE>
    vaccinate is best given contact=yes: whatever is at all possible, the utility is 0.91 (held down by measles=yes, ...
    """
    given: object = network
    if not isinstance(given, Network):
        raise InputError(f"decide: {network!r} is not a network; expected one")
    done = _read_acts(network, acts, evidence)
    tables = _read_utilities(network, list(done), utilities, target)
    decided = []
    for name, setting in done.items():
        targets, worth = tables[name]
        for variable in targets:
            if variable.name in (evidence or {}):
                raise InputError(
                    f"decide: the target {variable.name!r} is in the evidence; expected a variable that is not observed"
                )
        engine = Inference(network.do(setting) if setting else network)
        try:
            degrees = engine.query([v.name for v in targets], evidence).degrees
        except ImpossibleEvidence as error:
            raise ImpossibleEvidence(f"decide: act {name!r}: {error}") from None
        decided.append(_weigh_act(network, name, targets, degrees, worth))
    return Decision(tuple(decided), describe_evidence(evidence) if evidence else "")


def _weigh_act(network: Network, name: str, targets: Sequence[Variable], degrees: Floats, worth: Floats) -> ActUtility:
    combine = network.conjunction.combine
    hopes, fears = combine(degrees, worth), combine(degrees, 1.0 - worth)
    witnesses = []
    for values in (hopes, fears):
        place = np.unravel_index(int(values.argmax()), values.shape)
        outcome = {v.name: v.states[k] for v, k in zip(targets, place, strict=True)}
        witnesses.append(OutcomeWitness(outcome, float(degrees[place]), float(worth[place])))
    return ActUtility(name, float(hopes.max()), float(1.0 - fears.max()), *witnesses)


def _read_acts(network: Network, acts: object, evidence: Evidence | None) -> dict[str, dict[str, str]]:
    """Name of every act -> what it sets."""
    if isinstance(acts, str) or not isinstance(acts, Sequence | Mapping) or not acts:
        raise InputError(
            f"decide: acts {describe_value(acts)}; expected names in a list, or a mapping from names to what each act sets"
        )
    listed: Mapping[str, Any] = acts if isinstance(acts, Mapping) else dict.fromkeys(acts)
    if len(listed) < len(acts):
        raise InputError("decide: two acts have the same name; expected distinct names")
    done: dict[str, dict[str, str]] = {}
    for name, setting in listed.items():
        if setting is not None and not isinstance(setting, Mapping):
            raise InputError(
                f"decide: act {name!r} sets {describe_value(setting)}; expected a mapping such as {{'vaccinated': 'yes'}}"
            )
        try:
            network.do(setting) if setting else None
        except InputError as error:
            raise InputError(f"decide: act {name!r}: {error}") from None
        both = [v for v in setting or {} if v in (evidence or {})]
        if both:
            raise InputError(
                f"decide: act {name!r} sets {both[0]!r}, and there is evidence on it; expected one of the two"
            )
        done[name] = dict(setting or {})
    return done


def _read_utilities(
    network: Network, acts: list[str], utilities: object, target: str | Sequence[str] | None
) -> dict[str, tuple[list[Variable], Floats]]:
    """Act -> the variables that its utilities speak of, and an array of utilities with an axis for each."""
    if not isinstance(utilities, Mapping) or not utilities:
        raise InputError(
            f"decide: utilities {describe_value(utilities)}; expected a mapping from acts, or from a target, to utilities"
        )
    shared = not set(utilities) & set(acts)
    if shared and not _fits_outcomes(network, utilities, target):
        key = next(iter(utilities))
        raise InputError(f"decide: utilities of an unknown act {key!r}{among(key, acts)}")
    if not shared:
        missing, strange = [a for a in acts if a not in utilities], [a for a in utilities if a not in acts]
        if strange:
            raise InputError(f"decide: utilities of an unknown act {strange[0]!r}{among(strange[0], acts)}")
        if missing:
            raise InputError(f"decide: no utilities of act {listing(missing)}; expected utilities of every act")
    return {act: _read_outcomes(network, act, utilities if shared else utilities[act], target) for act in acts}


def _fits_outcomes(network: Network, utilities: Mapping[Any, Any], target: str | Sequence[str] | None) -> bool:
    """Whether utilities without acts speak of a target, or of the states of the one that is given."""
    names = {v.name for v in network.variables}
    if target is not None:
        return all(not isinstance(worth, Mapping) for worth in utilities.values())
    key = next(iter(utilities))
    return key in names or (isinstance(key, tuple) and set(key) <= names)


def _read_outcomes(
    network: Network, act: str, worth: object, target: str | Sequence[str] | None
) -> tuple[list[Variable], Floats]:
    owner = f"decide: utilities of act {act!r}"
    if target is None:
        if not isinstance(worth, Mapping) or len(worth) != 1 or not isinstance(next(iter(worth.values())), Mapping):
            raise InputError(
                f"{owner}: {describe_value(worth)}; expected {{target: {{state: utility}}}}, of several targets "
                "{(target, target): {(state, state): utility}}, or the inner one with target="
            )
        ((target, worth),) = worth.items()
    if not isinstance(worth, Mapping):
        raise InputError(f"{owner}: {describe_value(worth)}; expected a mapping from states to utilities")
    names = (target,) if isinstance(target, str) else tuple(target or ())
    if not names or len(set(names)) < len(names):
        raise InputError(f"{owner}: targets {target!r}; expected one or more distinct names")
    targets = [find_variable(network, name, owner) for name in names]
    outcomes = {key if isinstance(key, tuple) else (key,): value for key, value in worth.items()}
    expected = list(product(*(v.states for v in targets)))
    for key in outcomes:
        if key not in expected:
            shown = "/".join(key) if all(isinstance(part, str) for part in key) else key
            raise InputError(f"{owner}: {describe_value(shown)} is no state of {', '.join(names)}; expected its states")
    lacking = ["/".join(key) for key in expected if key not in outcomes]
    if lacking:
        raise InputError(f"{owner} lack {', '.join(names)} {listing(lacking)}; expected a utility of every state")
    numbers = [
        require_number(outcomes[key], f"{owner}: utility of {'/'.join(key)!r}", "a number from 0 to 1", 0.0, 1.0)
        for key in expected
    ]
    return targets, np.array(numbers).reshape([len(v) for v in targets])
