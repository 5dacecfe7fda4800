"""The registry of learners: ways to learn the tables of a network, and its structure too.

``learner@method:measure`` names a learner that first learns the structure from the same rows, by `possnet.learn_structure`
with that method and measure, and then the tables by the learner before the sign.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from possnet.cuts import fit_auto, fit_cut, identify_degrees
from possnet.em import fit_coarsened, fit_em
from possnet.errors import InputError, TooLarge, describe_value, did_you_mean, listing
from possnet.network import Network
from possnet.parameters import fit
from possnet.registries import Registry
from possnet.sampling import PROCESSES, sampling_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from possnet.dataset import Batches, Dataset
    from possnet.graph import Dag
    from possnet.possibility import Conjunction

    Fit: TypeAlias = Callable[..., Network | "Fitted"]
    Limit: TypeAlias = Callable[[Network, str, float], Network | None]


class Fitted(Protocol):
    """A result that holds the learned network, such as `possnet.EmResult`."""

    @property
    def network(self) -> Network:
        """The learned network."""
        ...


@dataclass(frozen=True, slots=True)
class Learner:
    """A way to learn a network from rows.

    Attributes
    ----------
    name, label
        For programs and for people.
    fit
        A function (dag, data, conjunction=...) that gives a network, or a result that has one; it also takes the
        ``options`` as keywords.
    options
        Keywords that it takes besides, as the command line and `possnet.fit` call them.
    needs_imprecision
        Whether it is given the imprecision of the rows, as ``imprecision=``, where that is above 0.
    estimates_imprecision
        Whether ``imprecision=None`` is estimated from the rows.
    takes_imprecise_rows, takes_streams
        Whether cells may hold several states, and whether the data may be a stream of batches.
    limit
        What it converges to with endless rows, if that is known: a function (network, name of a process, imprecision) that
        gives a network, or None where it cannot be computed.
    limit_label
        That limit, for people.
    process_options
        The processes whose rows it is for (of imprecision above 0), each with the keywords that suit them; None for a
        learner of any rows.

    Examples
    --------
    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> LEARNERS["em"].label, LEARNERS["em"].learn(asia.dag, pn.sample(asia, 50, rng=1), 1.0, pn.PRODUCT).dag == asia.dag
    ('EM', True)
    """

    name: str
    label: str
    fit: Fit
    options: frozenset[str] = frozenset()
    needs_imprecision: bool = False
    estimates_imprecision: bool = False
    takes_imprecise_rows: bool = True
    takes_streams: bool = True
    limit: Limit | None = None
    limit_label: str = "limit of counting"
    process_options: Mapping[str, Mapping[str, str]] | None = None

    def suits_rows(self, process: str, imprecision: float) -> bool:
        """Whether it is for rows of a process: those of others it would refuse, or give bounds that do not hold.

        >>> LEARNERS["cut"].suits_rows("alpha-cut", 0.5), LEARNERS["cut"].suits_rows("traced", 0.5)
        (True, False)
        """
        return self.process_options is None or (process in self.process_options and imprecision > 0.0)

    def learn(self, dag: Dag, data: Dataset | Batches, imprecision: float, conjunction: Conjunction) -> Network:
        """The network learned from rows that were drawn with an imprecision."""
        return network_of(self.learn_result(dag, data, imprecision, conjunction))

    def learn_result(
        self, dag: Dag, data: Dataset | Batches, imprecision: float, conjunction: Conjunction, process: str = ""
    ) -> Network | Fitted:
        """What the learner gives: a network, or a result that has one and says more of it."""
        known: dict[str, object] = dict((self.process_options or {}).get(process, {}))
        if self.needs_imprecision and imprecision > 0.0:
            known["imprecision"] = imprecision
        result = self.fit(dag, data, conjunction=conjunction, **known)
        network_of(result, f"learner {self.name!r}")
        return result


def network_of(result: Network | Fitted, learner: str = "the learner") -> Network:
    """The network that a learner gave; an `InputError` that names it if that is none.

    >>> network_of(None, "learner 'mine'")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: learner 'mine' gave None; expected a network, or a result whose .network is one
    """
    network: object = result if isinstance(result, Network) else getattr(result, "network", None)
    if not isinstance(network, Network):
        raise InputError(
            f"{learner} gave {describe_value(result)}; expected a network, or a result whose .network is one"
        )
    return network


_LIMIT_BYTES: Final = 1 << 28


def limit_of_counting(network: Network, process: str, imprecision: float) -> Network | None:
    """What counting converges to, where that is known and the exact computation takes at most 256 MiB.

    >>> import possnet as pn
    >>> limit_of_counting(pn.load_example("asia"), "alpha-cut-text", 0.5).name
    'asia'
    """
    if not PROCESSES[process].limit_known:
        return None
    try:
        return sampling_limit(network, process=process, imprecision=imprecision, limit=_LIMIT_BYTES)
    except TooLarge:
        return None


def limit_of_cuts(network: Network, process: str, imprecision: float) -> Network | None:
    """What the cut likelihood converges to from alpha-cut rows, where that takes at most 256 MiB.

    >>> import possnet as pn
    >>> limit_of_cuts(pn.load_example("asia"), "alpha-cut", 0.5).name, limit_of_cuts(pn.load_example("asia"), "traced", 0.5)
    ('asia', None)
    """
    if process != "alpha-cut" or imprecision == 0.0:
        return None
    try:
        return identify_degrees(network, imprecision=imprecision, limit=_LIMIT_BYTES).network
    except TooLarge:
        return None


LEARNERS: Final = Registry[Learner]("learner")
"""Learners of tables by name; ``-corrected`` ones are given the imprecision of the rows."""

_COUNTING: Final = frozenset({"imprecision", "name", "normalise", "prior", "progress", "pseudo", "total"})
_SHARING: Final = frozenset({"name", "normalise", "prior", "progress", "pseudo", "transform"})
_EM: Final = frozenset({"imprecision", "options", "prior", "progress", "pseudo", "unknown"})
_COARSENED: Final = frozenset({"name", "prior", "progress", "pseudo"})
for _learner in (
    Learner("likelihood", "counting", fit, _COUNTING, limit=limit_of_counting),
    Learner("histogram", "histogram", partial(fit, method="histogram", normalise=True), _COUNTING - {"total"},
            limit=limit_of_counting),
    Learner("capped", "capped counting", partial(fit, method="capped", total=1.0, normalise=True),
            _COUNTING - {"imprecision"}, limit=limit_of_counting),
    Learner("transform", "transformed probabilities", partial(fit, method="transform"), _SHARING),
    Learner("symmetric", "symmetric transformation of probabilities",
            partial(fit, method="transform", transform="symmetric"), _SHARING - {"transform"}),
    Learner("likelihood-corrected", "counting, corrected for imprecision", fit, _COUNTING, needs_imprecision=True),
    Learner("em", "EM", fit_em, _EM),
    Learner("em-corrected", "EM, corrected for imprecision", fit_em, _EM, needs_imprecision=True),
    Learner("coarsened", "EM under coarsening at random", fit_coarsened, _COARSENED),
    Learner("cut", "cut likelihood", fit_cut, frozenset({"imprecision", "name", "progress"}), needs_imprecision=True,
            estimates_imprecision=True, limit=limit_of_cuts, limit_label="limit of the cut likelihood",
            process_options={"alpha-cut": {}, "alpha-cut-text": {"law": "text"}, "alpha-cut-cuts": {"parents": "cut"}}),
    Learner("auto", "the learner that suits the rows", fit_auto, frozenset({"imprecision", "name", "progress"}),
            needs_imprecision=True, estimates_imprecision=True),
):  # fmt: skip
    LEARNERS.register(_learner)


def resolve_learner(name: str) -> Learner:
    """The learner of a name: of `LEARNERS`, or ``learner@method:measure``, which learns the structure from the rows too.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> learner = resolve_learner("likelihood@mwst:chi2")
    >>> data = pn.sample(asia, 500, process="precise", rng=1)
    >>> len(learner.learn(asia.dag, data, 0.0, pn.PRODUCT).dag.edges), learner.label
    (7, 'counting on a structure by mwst, chi2')
    """
    base, _, structure = name.partition("@")
    try:
        tables = LEARNERS.require(base, "evaluate")
    except InputError as error:
        end = "" if str(error).endswith("?") else "."
        raise InputError(f"{error}{end} A learner of your own is known only where it is registered") from None
    if not structure:
        return tables
    from possnet.structure import MEASURES, METHODS, fitting_measure  # learners of tables alone need not load it

    method, _, measure = structure.partition(":")
    if method not in METHODS:
        raise InputError(
            f"evaluate: learn {structure!r}; expected 'given', or a method ({listing(METHODS)}) and perhaps a measure, "
            f"such as 'greedy:random-set-bic'{did_you_mean(method, ('given', *METHODS))}"
        )
    score = MEASURES[fitting_measure(method, measure or None, f"evaluate: learn {structure!r}")]
    return replace(
        tables,
        name=name,
        label=_add_structure(tables.label, structure),
        fit=partial(_fit_with_structure, tables.fit, method, measure or None),
        takes_imprecise_rows=tables.takes_imprecise_rows and score.takes_imprecise_rows,
        limit=None,
    )


def _fit_with_structure(
    fit_tables: Fit, method: str, measure: str | None, _: Dag, data: Dataset, **options: object
) -> Network | Fitted:
    from possnet.structure import learn_structure

    return fit_tables(learn_structure(data, method, measure=measure).dag, data, **options)


def label_learner(name: str) -> str:
    """A learner for people; a name that is not registered stands for itself.

    >>> label_learner("likelihood"), label_learner("em@greedy:traced-bic"), label_learner("mine")
    ('counting', 'EM on a structure by greedy, traced-bic', 'mine')
    """
    base, _, structure = name.partition("@")
    return _add_structure(LEARNERS[base].label if base in LEARNERS else base, structure)


def _add_structure(label: str, structure: str) -> str:
    return f"{label} on a structure by {structure.replace(':', ', ')}" if structure else label
