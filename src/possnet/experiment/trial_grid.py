"""The grid of an experiment: networks, processes, imprecisions, rows, learners, repeats; every trial a value."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import numpy as np

from possnet.em import fit_em
from possnet.errors import InputError, did_you_mean, listing, require_known, require_whole
from possnet.io import encode_network
from possnet.network import Network
from possnet.parameters import fit
from possnet.structure import METHODS, fitting_measure, learn_structure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from possnet.dataset import Dataset
    from possnet.graph import Dag
    from possnet.possibility import Conjunction

    Learner: TypeAlias = Callable[[Dag, Dataset, float, Conjunction], Network]

T = TypeVar("T")

PROCESSES: Final = ("alpha-cut", "alpha-cut-text", "alpha-cut-cuts", "precise", "traced", "traced-text")
"""Processes of `possnet.sample`; ``-text`` names its law, ``-cuts`` says that children see their parents' whole cuts."""


def _corrected(theta: float) -> float | None:
    return theta if theta > 0.0 else None


LEARNERS: Final[dict[str, Learner]] = {
    "likelihood": lambda dag, data, _, c: fit(dag, data, conjunction=c),
    "histogram": lambda dag, data, _, c: fit(dag, data, method="histogram", normalise=True, conjunction=c),
    "capped": lambda dag, data, _, c: fit(dag, data, method="capped", total=1.0, normalise=True, conjunction=c),
    "transform": lambda dag, data, _, c: fit(dag, data, method="transform", conjunction=c),
    "symmetric": lambda dag, data, _, c: fit(dag, data, method="transform", transform="symmetric", conjunction=c),
    "likelihood-corrected": lambda dag, data, t, c: fit(dag, data, imprecision=_corrected(t), conjunction=c),
    "em": lambda dag, data, _, c: fit_em(dag, data, conjunction=c).network,
    "em-corrected": lambda dag, data, t, c: fit_em(dag, data, imprecision=_corrected(t), conjunction=c).network,
}
"""Learners by name; ``-corrected`` ones are told the imprecision of the rows."""


def learner_of(name: str) -> Learner:
    """A learner by its name: of `LEARNERS`, or ``learner@method:measure``, which learns the structure from the rows too.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> data = pn.sample(asia, 500, process="precise", rng=1)
    >>> len(learner_of("likelihood@mwst:chi2")(asia.dag, data, 0.0, pn.PRODUCT).dag.edges)
    7
    """
    tables, _, structure = name.partition("@")
    if not structure:
        return LEARNERS[tables]
    method, _, measure = structure.partition(":")

    def learn(_: Dag, data: Dataset, theta: float, conjunction: Conjunction) -> Network:
        found = learn_structure(data, method, measure=measure or None)
        return LEARNERS[tables](found.dag, data, theta, conjunction)

    return learn


def _structure(given: object) -> str:
    """Ending of learners' names for a way to get the structure; nothing for the true one."""
    text = given if isinstance(given, str) else repr(given)
    if text == "given":
        return ""
    method, _, measure = text.partition(":")
    if method not in METHODS:
        raise InputError(
            f"evaluate: learn {text!r}; expected 'given', or a method ({listing(METHODS)}) and perhaps a measure, "
            f"such as 'greedy:random-set-bic'{did_you_mean(method, ('given', *METHODS))}"
        )
    fitting_measure(method, measure or None, f"evaluate: learn {text!r}")
    return f"@{text}"


def _check_rows(learn: Iterable[str], processes: Iterable[str], imprecision: Iterable[float]) -> None:
    """Refuse a score for precise rows where rows will not be precise."""
    scored = next((ending[1:] for ending in learn if ending.partition(":")[2] == "bic"), None)
    vague = next((process for process in processes if process != "precise"), None)
    if scored is not None and vague is not None and any(theta > 0.0 for theta in imprecision):
        raise InputError(
            f"evaluate: learn {scored!r} from {vague} rows, which are imprecise; expected process 'precise', imprecision "
            "0, or another measure: random-set-bic, traced-bic or mdl"
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """One run: draw rows from a network by a process, learn, compare."""

    network: str
    process: str
    imprecision: float
    rows: int
    learner: str
    repeat: int

    @property
    def setting(self) -> tuple[str, str, float, int, str]:
        """What its repeats have in common."""
        return self.network, self.process, self.imprecision, self.rows, self.learner

    @property
    def key(self) -> str:
        """Short text that names the trial in a file name."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:20]

    def seed(self, experiment: int, network: str) -> int:
        """Seed of the rows, given the network as JSON: the same for every learner, and for more or fewer rows."""
        told = json.dumps([experiment, network, self.process, self.imprecision, self.repeat])
        return int.from_bytes(hashlib.sha256(told.encode()).digest()[:8], "little")


@dataclass(frozen=True, slots=True)
class Grid:
    """Everything that decides the results of an experiment."""

    networks: dict[str, Network]
    processes: tuple[str, ...]
    imprecision: tuple[float, ...]
    rows: tuple[int, ...]
    learners: tuple[str, ...]
    repeats: int
    seed: int

    @classmethod
    def of(
        cls,
        networks: Mapping[str, Network],
        processes: Iterable[str],
        imprecision: Iterable[float],
        rows: Iterable[int],
        learners: Iterable[str],
        repeats: int,
        seed: int,
        learn: Iterable[object] = ("given",),
    ) -> Grid:
        """Check everything."""
        if not networks:
            raise InputError("evaluate: no networks; expected at least one")
        for name, network in networks.items():
            given: tuple[object, object] = name, network
            if not isinstance(given[0], str):
                raise InputError(f"evaluate: a network is called {name!r}; expected a name, as text")
            if not isinstance(given[1], Network):
                raise InputError(f"evaluate: {network!r}, called {name!r}, is not a network")
            if not network.is_normalised:
                raise InputError(f"evaluate: network {name!r} has rows that do not peak at 1; normalise it first")
        ways = _each(learn, _structure, "learn")
        drawn = _each(processes, lambda name: _known(name, PROCESSES, "process"), "process")
        thetas = _each(imprecision, _theta, "imprecision")
        _check_rows(ways, drawn, thetas)
        counts = _each(rows, lambda count: require_whole(count, 1, "evaluate: rows"), "rows")
        tables = _each(learners, lambda name: _known(name, LEARNERS, "learner"), "learner")
        named = tuple(f"{learner}{structure}" for structure in ways for learner in tables)
        return cls(dict(networks), drawn, thetas, counts, named, require_whole(repeats, 1, "evaluate: repeats"), seed)

    def trials(self) -> list[Trial]:
        """Every trial, in the order of the results; ``precise`` rows have no imprecision, so they are run once."""
        found = []
        for network, process, theta, rows, learner, repeat in product(
            self.networks, self.processes, self.imprecision, self.rows, self.learners, range(self.repeats)
        ):
            if process == "precise" and theta != self.imprecision[0]:
                continue
            found.append(Trial(network, process, 0.0 if process == "precise" else theta, rows, learner, repeat))
        return found

    def description(self) -> dict[str, Any]:
        """The grid as plain values: two experiments are the same if these are."""
        return {
            "format": "possnet-experiment",
            "version": 1,
            "networks": {
                name: hashlib.sha256(encode_network(network).encode()).hexdigest()
                for name, network in self.networks.items()
            },
            "processes": list(self.processes),
            "imprecision": list(self.imprecision),
            "rows": list(self.rows),
            "learners": list(self.learners),
            "repeats": self.repeats,
            "seed": self.seed,
        }


def as_tuple(values: object) -> tuple[Any, ...]:
    """One value or several, as a tuple.

    >>> as_tuple(0.5), as_tuple([100, 1000])
    ((0.5,), (100, 1000))
    """
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        return (values,)
    return tuple(values)


def _each(values: Iterable[Any], check: Callable[[Any], T], what: str) -> tuple[T, ...]:
    """Distinct values, each checked; at least one."""
    found = tuple(dict.fromkeys(check(value) for value in values))
    if not found:
        raise InputError(f"evaluate: no {what}; expected at least one")
    return found


def _known(value: object, names: Iterable[str], what: str) -> str:
    text = value if isinstance(value, str) else repr(value)
    require_known(text, names, f"evaluate: {what}")
    return text


def _theta(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 <= float(value) <= 1.0:
        raise InputError(f"evaluate: imprecision {value!r}; expected a number from 0 to 1")
    return float(value)
