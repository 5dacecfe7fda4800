"""Evidence: observations of some variables.

- hard, ``{"fever": "high"}``: one state;
- set-valued, ``{"fever": {"mild", "high"}}``: one of several states;
- virtual, ``{"fever": {"mild": 1.0, "high": 0.4}}``: uncertain, a degree for each state (0 where none is given),
  combined with the network by its own conjunction;
- a number, ``{"age": 30}``, where the variable has bins: the bin that it lies in. An interval, ``(30, 40)``, and the text
  of a reading, ``">40"`` or ``"35±2"``, are the bins that they meet, and may be members of a set or keys of a mapping too.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from possnet.errors import InputError, among, describe_value, listing, require_number
from possnet.measurements import states_of_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Floats
    from possnet.variables import Variable


Value: TypeAlias = "str | float | np.number[Any] | tuple[float | None, float | None]"
Observation: TypeAlias = "Value | Set[Any] | list[Any] | Mapping[Any, float]"
Evidence: TypeAlias = Mapping[str, Observation]


class Findings(NamedTuple):
    """What is observed: of some variables one state, of others degrees of their states."""

    states: dict[int, int]
    degrees: dict[int, Floats]

    def as_degrees(self, sizes: Sequence[int]) -> dict[int, Floats]:
        """Degrees of the states of every observed variable.

        >>> Findings({1: 0}, {0: np.array([1.0, 0.5])}).as_degrees((2, 3))
        {0: array([1. , 0.5]), 1: array([1., 0., 0.])}
        """
        known = dict(self.degrees)
        for v, state in self.states.items():
            known[v] = np.zeros(sizes[v])
            known[v][state] = 1.0
        return known


def read_findings(evidence: Evidence | None, variables: Sequence[Variable], numbers: Mapping[str, int]) -> Findings:
    """What evidence says of the variables; ``numbers`` are theirs, by their names.

    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> numbers = {variable.name: k for k, variable in enumerate(clinic.variables)}
    >>> read_findings({"season": "winter", "fever": {"mild", "high"}}, clinic.variables, numbers)
    Findings(states={2: 0}, degrees={5: array([0., 1., 1.])})
    """
    states: dict[int, int] = {}
    degrees: dict[int, Floats] = {}
    for name, seen in _require_evidence(evidence, numbers).items():
        number = numbers[name]
        variable = variables[number]
        if variable.bins is None:
            state = next(iter(seen)) if isinstance(seen, set | frozenset) and len(seen) == 1 else seen
            if isinstance(state, str):
                states[number] = variable.index(state)
                continue
        given = _observation_degrees(variable, seen)
        if given.max() == 1.0 and np.count_nonzero(given) == 1:
            states[number] = int(given.argmax())
        else:
            degrees[number] = given
    return Findings(states, degrees)


def read_evidence(evidence: Evidence | None, variables: Sequence[Variable]) -> dict[int, Floats]:
    """Degrees of the states of every observed variable, by the variable's number."""
    numbers = {variable.name: k for k, variable in enumerate(variables)}
    given = _require_evidence(evidence, numbers)
    return {numbers[name]: _observation_degrees(variables[numbers[name]], seen) for name, seen in given.items()}


def _require_evidence(evidence: Evidence | None, numbers: Mapping[str, int]) -> Evidence:
    """The evidence, if it is a mapping from names of variables."""
    if evidence is None:
        return {}
    given: object = evidence
    if not isinstance(given, Mapping):
        raise InputError(f"evidence {describe_value(evidence)}; expected a mapping such as {{'fever': 'high'}}")
    for name in evidence:
        if name not in numbers:
            raise InputError(f"evidence: no variable {describe_value(name)}{among(name, numbers)}")
    return evidence


def _observation_degrees(variable: Variable, observation: object) -> Floats:
    degrees = np.zeros(len(variable))
    if variable.bins is not None:
        return _number_degrees(variable, observation)
    if isinstance(observation, str):
        degrees[variable.index(observation)] = 1.0
    elif isinstance(observation, Mapping):
        for state, degree in observation.items():
            owner = f"evidence on {variable.name!r}: degree of {describe_value(state)}"
            degrees[variable.index(state)] = require_number(degree, owner, "a number from 0 to 1", 0.0, 1.0)
    elif isinstance(observation, set | frozenset):
        for state in observation:
            degrees[variable.index(state)] = 1.0
    else:
        kind = type(observation).__name__
        raise InputError(
            f"evidence on {variable.name!r}: a {kind} {describe_value(observation)}; expected a state, a set such as "
            "{'mild', 'high'} (one of these), or a mapping such as {'mild': 1.0, 'high': 0.4} (uncertain)"
        )
    if not observation:
        raise InputError(f"evidence on {variable.name!r}: nothing in it; expected at least one state, or no evidence")
    return degrees


def _number_degrees(variable: Variable, observation: object) -> Floats:
    """Degrees of the bins that an observation speaks of: a value, several in a set or a list, or a degree for each."""
    degrees = np.zeros(len(variable))
    several = observation if isinstance(observation, Mapping | set | frozenset | list) else [observation]
    for value in several:
        owner = f"evidence on {variable.name!r}"
        degree = 1.0
        if isinstance(observation, Mapping):
            degree = require_number(
                observation[value], f"{owner}: degree of {describe_value(value)}", "a number from 0 to 1", 0.0, 1.0
            )
        try:
            states = states_of_value(value, variable)
        except InputError as error:
            raise InputError(f"{owner}: {error}") from None
        for state in variable.states if states is None else states:
            place = variable.index(state)
            degrees[place] = max(degrees[place], degree)
    if not several:
        raise InputError(f"evidence on {variable.name!r}: nothing in it; expected at least one state, or no evidence")
    return degrees


def describe_evidence(evidence: Evidence | None) -> str:
    """Evidence in words, for messages."""
    parts = []
    for name, observation in (evidence or {}).items():
        if isinstance(observation, str):
            parts.append(f"{name}={observation}")
        elif isinstance(observation, Mapping):
            parts.append(f"{name}={{{', '.join(f'{s}: {d:g}' for s, d in observation.items())}}}")
        elif isinstance(observation, Set | list):
            parts.append(f"{name}={'|'.join(sorted(map(str, observation)))}")
        else:
            parts.append(f"{name}={observation}")
    return listing(parts) or "nothing"
