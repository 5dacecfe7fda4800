"""Networks as WCNF files: the question for a most possible configuration, for solvers of weighted MaxSAT.

The format is that of the MaxSAT Evaluations since 2022: a line ``h`` and literals is a hard clause, a line of a weight
and literals a soft one, each ended by 0. A variable and a state are a proposition, numbered from 1 in the order of the
network's variables and their states (comments ``c state 1 fever=none`` list them), and hard clauses make exactly one state
of every variable true. What is added depends on the conjunction.

- Product: every table entry of degree d < 1 forbids its configuration, softly, with the weight round(-scale ln d), or hard
  if d = 0. The cost of a configuration is then -scale ln π, up to half a unit for each variable, and the least cost is
  that of a most possible configuration: π = exp(-cost / scale).
- Minimum: the degrees below 1, descending, are the levels 1, 2, ... A proposition for each level is true if an entry of
  that level or a lower degree is met; each costs 1. The cost of a configuration is the level of its smallest degree,
  exactly (comments ``c level 1 0.5`` list them).

The file cannot be read: it is a question, and no network.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import InputError, describe_value, escape_controls, require_number, require_several
from possnet.io.atomic_files import write_text
from possnet.io.file_access import prefix_errors
from possnet.io.formats import NetworkFormat
from possnet.possibility import PRODUCT
from possnet.variables import number_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from possnet.network import Network

_LARGEST = 2**62  # of all weights together; solvers count in 64 bits


def write_wcnf(
    network: Network,
    path: str | Path,
    *,
    evidence: Mapping[str, str | Iterable[str]] | None = None,
    scale: float = 1_000_000.0,
) -> None:
    """Write the question for a most possible configuration that agrees with evidence (name -> a state or several)."""
    owner = str(path)
    require_number(scale, f"{owner}: scale", "a number from 1 to 1e12", 1.0, 1e12)
    if evidence is not None and not isinstance(evidence, Mapping):
        raise InputError(f"{owner}: evidence {describe_value(evidence)}; expected a mapping of names to states")
    with prefix_errors(owner):
        lines = list(encode_wcnf(network, evidence or {}, float(scale)))
    write_text(path, "\n".join(lines) + "\n")


def encode_wcnf(
    network: Network, evidence: Mapping[str, str | Iterable[str]], scale: float = 1_000_000.0
) -> Iterator[str]:
    """The lines of a WCNF file.

    >>> import possnet as pn
    >>> rash = pn.Variable("rash", ("yes", "no"))
    >>> net = pn.Network((rash,), pn.Dag({"rash": ()}), {"rash": [1, 0.5]})
    >>> [line for line in encode_wcnf(net, {}, 1000) if not line.startswith("c")]
    ['h 1 2 0', 'h -1 -2 0', '693 -2 0']
    """
    first = _number_states(network)
    yield f"c most possible configuration of a network by possnet, conjunction {network.conjunction.name}"
    for variable in network.variables:
        for k, state in enumerate(variable.states):
            yield escape_controls(f"c state {first[variable.name] + k} {variable.name}={state}")
    for variable in network.variables:
        literals = range(first[variable.name], first[variable.name] + len(variable))
        yield f"h {' '.join(map(str, literals))} 0"
        for one, other in combinations(literals, 2):
            yield f"h -{one} -{other} 0"
    for name, states in evidence.items():
        variable = network.variable(name)
        kept = {states} if isinstance(states, str) else set(require_several(states, f"evidence of {name!r}"))
        if not kept:
            raise InputError(f"evidence of {name!r}: no states; expected at least one")
        numbers = sorted(first[name] + variable.index(state) for state in kept)
        yield f"h {' '.join(map(str, numbers))} 0"
    entries = _list_entries(network, first)
    if network.conjunction.name == PRODUCT.name:
        yield f"c cost = -{number_text(scale)} ln possibility, up to {len(network.variables) / 2:g}"
        yield from _weigh_entries(entries, scale)
    else:
        yield from _rank_entries(entries, max(first.values()) + max(map(len, network.variables)), network)


def _number_states(network: Network) -> dict[str, int]:
    """The number of the proposition of each variable's first state."""
    sizes = np.array([len(variable) for variable in network.variables])
    starts = 1 + np.cumsum(sizes) - sizes
    return {variable.name: int(start) for variable, start in zip(network.variables, starts, strict=True)}


def _list_entries(network: Network, first: Mapping[str, int]) -> Iterator[tuple[float, str]]:
    """Every table entry below 1: its degree, and the literals of which one holds wherever it is not met."""
    for variable in network.variables:
        starts = np.array([first[name] for name in (*network.dag.parents(variable.name), variable.name)])
        table = network.table(variable.name)
        places = np.argwhere(table < 1.0)
        for place, degree in zip(places + starts, table[tuple(places.T)].tolist(), strict=True):
            yield degree, " ".join(f"-{number}" for number in place)


def _weigh_entries(entries: Iterator[tuple[float, str]], scale: float) -> Iterator[str]:
    total = 0
    for degree, literals in entries:
        if degree == 0.0:
            yield f"h {literals} 0"
            continue
        weight = round(-scale * math.log(degree))
        total += weight
        if total >= _LARGEST:
            raise InputError(
                f"WCNF: the weights add up to {total:,}; expected less than {_LARGEST:,}: use a smaller scale"
            )
        if weight:
            yield f"{weight} {literals} 0"


def _rank_entries(entries: Iterator[tuple[float, str]], free: int, network: Network) -> Iterator[str]:
    """Clauses of the minimum: entries imply their level, levels imply those above them, and each costs 1."""
    degrees = np.unique(np.concatenate([network.table(v.name).ravel() for v in network.variables]))[::-1]
    levels = {float(degree): level for level, degree in enumerate(degrees[(degrees > 0.0) & (degrees < 1.0)], start=1)}
    for degree, level in levels.items():
        yield f"c level {level} {number_text(degree)}"
    for level in levels.values():
        if level > 1:
            yield f"h -{free + level} {free + level - 1} 0"
        yield f"1 -{free + level} 0"
    for degree, literals in entries:
        yield f"h {literals} 0" if degree == 0.0 else f"h {literals} {free + levels[degree]} 0"


FORMAT = NetworkFormat(
    name="wcnf",
    label="WCNF",
    suffixes=(".wcnf",),
    sniff=lambda _: False,
    options=("evidence", "scale"),
    decode=None,
    write=write_wcnf,
)
