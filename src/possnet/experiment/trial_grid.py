"""The grid of an experiment: networks, processes, imprecisions, rows, learners, repeats; every trial a value."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Final, TypeVar

from possnet.errors import InputError, describe_value, listing, require_number, require_several, require_whole
from possnet.experiment.trial import Trial
from possnet.io import encode_network
from possnet.learners import LEARNERS, resolve_learner
from possnet.metrics import METRICS
from possnet.network import Network
from possnet.registries import is_bundled
from possnet.sampling import PROCESSES
from possnet.structure import MEASURES, METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

T = TypeVar("T")
DEFAULT_LEARNERS: Final = ("likelihood", "em", "cut")
"""What is compared unless learners are named, each where it suits the rows."""


@dataclass(frozen=True)
class Grid:
    """Everything that decides the results of an experiment."""

    networks: dict[str, Network]
    processes: tuple[str, ...]
    imprecision: tuple[float, ...]
    rows: tuple[int, ...]
    learners: tuple[str, ...]
    repeats: int
    seed: int

    @cached_property
    def texts(self) -> dict[str, str]:
        """The networks as JSON, encoded once for seeds, workers and the folder."""
        return {name: encode_network(network) for name, network in self.networks.items()}

    @property
    def own_entries(self) -> list[str]:
        """Learners, processes, methods and measures that are not possnet's own, by their names."""
        entries: dict[str, object] = {}
        for name in self.learners:
            base, _, structure = name.partition("@")
            method, _, measure = structure.partition(":")
            entries[base] = LEARNERS[base].fit
            if method:
                entries[method] = METHODS[method].run
            if measure:
                entries[measure] = MEASURES[measure].make_scorer
        entries |= {name: PROCESSES[name].draw for name in self.processes}
        return [name for name, function in entries.items() if not is_bundled(function)]

    @property
    def suits_workers(self) -> bool:
        """Whether other processes, which start afresh, know all that is run, drawn and measured."""
        return not self.own_entries and all(metric.is_bundled for metric in METRICS.values())

    @classmethod
    def from_options(
        cls,
        networks: Mapping[str, Network],
        processes: object,
        imprecision: object,
        rows: object,
        learners: object,
        repeats: int,
        seed: int,
        learn: object = "given",
    ) -> Grid:
        """Check everything; one value or several of each."""
        if not networks:
            raise InputError("evaluate: no networks; expected at least one")
        for name, network in networks.items():
            given: tuple[object, object] = name, network
            if not isinstance(given[0], str):
                raise InputError(f"evaluate: a network is called {describe_value(name)}; expected a name, as text")
            if not isinstance(given[1], Network):
                raise InputError(f"evaluate: {describe_value(network)}, called {name!r}, is not a network")
            if not network.is_normalised:
                raise InputError(f"evaluate: network {name!r} has rows that do not peak at 1; normalise it first")
        endings = _check_each(learn, _read_structure, "learn")
        names = _check_each(processes, lambda name: PROCESSES.require(name, "evaluate").name, "process")
        theta = "a number from 0 to 1"
        thetas = _check_each(
            imprecision, lambda value: require_number(value, "evaluate: imprecision", theta, 0.0, 1.0), "imprecision"
        )
        counts = _check_each(rows, lambda count: require_whole(count, 1, "evaluate: rows"), "rows")
        given_learners = DEFAULT_LEARNERS if learners is None else learners
        bases = _check_each(
            given_learners, lambda name: resolve_learner(_require_name(name, "learner")).name, "learner"
        )
        if learners is None:
            bases = tuple(name for name in bases if _suits_any(name, names, thetas))
        chosen = tuple(f"{base}{ending}" for ending in endings for base in bases)
        _refuse_other_rows(chosen, names, thetas)
        if any(thetas):
            _refuse_imprecise_rows(chosen, names)
        repeats = require_whole(repeats, 1, "evaluate: repeats")
        return cls(dict(networks), names, thetas, counts, chosen, repeats, seed)

    def list_trials(self) -> list[Trial]:
        """Every trial, in the order of the results; a process that takes no imprecision is run once, with 0.

        Learners that are for the rows of some processes are run on those alone.
        """
        trials: list[Trial] = []
        for network, process, theta, rows, learner, repeat in product(
            self.networks, self.processes, self.imprecision, self.rows, self.learners, range(self.repeats)
        ):
            if PROCESSES[process].takes("imprecision"):
                trials.append(Trial(network, process, theta, rows, learner, repeat))
            elif theta == self.imprecision[0]:
                trials.append(Trial(network, process, 0.0, rows, learner, repeat))
        return [t for t in trials if resolve_learner(t.learner).suits_rows(t.process, t.imprecision)]

    def describe(self) -> dict[str, Any]:
        """The grid as plain values: two experiments are the same if these are."""
        return {
            "format": "possnet-experiment",
            "version": 1,
            "networks": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in self.texts.items()},
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
    return tuple(require_several(values, "evaluate: options"))


def _check_each(values: object, check: Callable[[Any], T], what: str) -> tuple[T, ...]:
    """Distinct values, each checked; at least one."""
    checked = tuple(dict.fromkeys(check(value) for value in as_tuple(values)))
    if not checked:
        raise InputError(f"evaluate: no {what}; expected at least one")
    return checked


def _require_name(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"evaluate: {what} {describe_value(value)}; expected a name, as text")
    return value


def _read_structure(value: object) -> str:
    """Ending of learners' names for a way to get the structure; nothing for the true one."""
    text = _require_name(value, "structure")
    if text == "given":
        return ""
    resolve_learner(f"likelihood@{text}")  # any learner of tables: the structure is what is checked
    return f"@{text}"


def _suits_any(learner: str, processes: Iterable[str], thetas: Iterable[float]) -> bool:
    """Whether a learner is for the rows of any setting."""
    entry = resolve_learner(learner)
    settings = [
        (name, theta if PROCESSES[name].takes("imprecision") else 0.0) for name in processes for theta in thetas
    ]
    return any(entry.suits_rows(*setting) for setting in settings)


def _refuse_other_rows(learners: Iterable[str], processes: Iterable[str], thetas: Iterable[float]) -> None:
    """Refuse a learner that is for the rows of some processes where none of these is drawn."""
    for name in learners:
        if not _suits_any(name, processes, thetas):
            expected = listing(resolve_learner(name).process_options or ())
            raise InputError(
                f"evaluate: learner {name!r} is not for {listing(processes)} with imprecision {listing(map(str, thetas))}; "
                f"expected one of its processes too ({expected}, imprecision above 0), or another learner"
            )


def _refuse_imprecise_rows(learners: Iterable[str], processes: Iterable[str]) -> None:
    """Refuse a learner that needs precise rows where rows will not be precise."""
    strict = next((name for name in learners if not resolve_learner(name).takes_imprecise_rows), None)
    imprecise = next((PROCESSES[name] for name in processes if PROCESSES[name].imprecise), None)
    if strict is not None and imprecise is not None:
        others = [name for name, score in MEASURES.items() if score.takes_imprecise_rows and score.penalised]
        raise InputError(
            f"evaluate: learn {(strict.partition('@')[2] or strict)!r} from {imprecise.label}, which are imprecise; "
            f"expected process 'precise', imprecision 0, or another measure: {listing(others)}"
        )
