"""A recipe: how a network is learned from rows, so that it can be learned again from a part of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from possnet.doors import check_arguments, check_fields
from possnet.errors import InputError, listing
from possnet.learners import LEARNERS
from possnet.network import Network
from possnet.possibility import PRODUCT, Conjunction

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from possnet.aliases import Progress
    from possnet.dataset import Dataset
    from possnet.graph import Dag
    from possnet.structure import LearnedStructure

Learn: TypeAlias = "Callable[[Dataset], Any]"
"""From rows to a network, or to a result that has one as ``.network``."""


@check_fields
@dataclass(frozen=True, slots=True)
class Recipe:
    """A structure, given or learned, and then its tables: what `possnet learn` and `possnet fit` do.

    Attributes
    ----------
    method, measure
        Of `possnet.learn_structure`; its defaults if not given. Not used with a ``dag``.
    learner
        A name of `possnet.learners.LEARNERS`; by default the learner that goes with the measure, or with a ``dag``
        ``"likelihood"``.
    dag
        The structure, if it is given.
    options
        Of the learner, such as ``{"pseudo": 1}``.

    Examples
    --------
    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> recipe = Recipe(learner="em", dag=asia.dag)
    >>> recipe.learn(pn.sample(asia, 100, rng=1)).dag == asia.dag, recipe.describe()
    (True, 'tables by EM on a given structure')
    """

    method: str = "auto"
    measure: str | None = None
    learner: str | None = None
    dag: Dag | None = None
    conjunction: Conjunction = PRODUCT
    options: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.learner is not None:
            LEARNERS.require(self.learner, "recipe")

    @check_arguments
    def learn(self, data: Dataset) -> Network:
        """The network that the recipe learns from rows.

        >>> import possnet as pn
        >>> data = pn.sample(pn.load_example("pump"), 200, process="precise", rng=1)
        >>> Recipe("mwst", "mutual-information").learn(data).variables == data.variables
        True
        """
        return self.learn_tables(data, self.search_structure(data))

    @check_arguments
    def search_structure(self, data: Dataset, *, progress: Progress | None = None) -> LearnedStructure | None:
        """The structure that the recipe learns from rows; None if it is given.

        >>> import possnet as pn
        >>> data = pn.sample(pn.load_example("pump"), 200, process="precise", rng=1)
        >>> len(Recipe("mwst", "mutual-information").search_structure(data).edges)
        6
        """
        if self.dag is not None:
            return None
        from possnet.structure import learn_structure  # a given structure need not load it

        return learn_structure(data, self.method, measure=self.measure, conjunction=self.conjunction, progress=progress)

    @check_arguments
    def learn_tables(
        self, data: Dataset, structure: LearnedStructure | None, *, progress: Progress | None = None
    ) -> Network:
        """The network whose tables are learned for a structure that `search_structure` gave.

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> Recipe(dag=asia.dag).learn_tables(pn.sample(asia, 100, rng=1), None).dag == asia.dag
        True
        """
        dag, learner, options = self.dag, self.learner, dict(self.options)
        if structure is not None:
            from possnet.structure import MEASURES

            dag, score = structure.dag, MEASURES[structure.measure]
            if learner is None and score.prior != "none" and not options.keys() & {"prior", "pseudo"}:
                options["prior"] = score.prior
            learner = learner or score.learner
        if dag is None:
            raise InputError("recipe: no structure; expected a dag, or what search_structure gave")
        chosen = LEARNERS[learner or "likelihood"]
        for odd in (option for option in self.options if option not in chosen.options):
            known = listing(sorted(chosen.options), len(chosen.options))
            raise InputError(f"recipe: option {odd!r} is not for learner {chosen.name!r}; expected one of {known}")
        if progress is not None and "progress" in chosen.options:
            options["progress"] = progress
        return take_network(chosen.fit(dag, data, conjunction=self.conjunction, **options))

    def describe(self) -> str:
        """The recipe in words.

        >>> Recipe("greedy", "traced-bic").describe()
        'structure by greedy, traced-bic, tables by the learner of the measure'
        """
        label = "" if self.learner is None else LEARNERS[self.learner].label
        if self.dag is not None:
            return f"tables by {label or LEARNERS['likelihood'].label} on a given structure"
        if (self.method, self.measure, self.learner) == ("auto", None, None):
            return "the default recipe of possnet learn"
        measure = f", {self.measure}" if self.measure else ""
        return f"structure by {self.method}{measure}, tables by {label or 'the learner of the measure'}"


def take_network(result: object) -> Network:
    """The network that a learner gave, itself or in a result; an `InputError` if there is none.

    >>> take_network(3)
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: check: the recipe gave a int; expected a Network, or a result that has one as .network
    """
    network = getattr(result, "network", result)
    if not isinstance(network, Network):
        raise InputError(
            f"check: the recipe gave a {type(result).__name__}; expected a Network, or a result that has one as .network"
        )
    return network


def describe_recipe(recipe: Recipe | Learn) -> str:
    """A recipe in words: its own, or the name of the function.

    >>> describe_recipe(sorted)
    'sorted'
    """
    return recipe.describe() if isinstance(recipe, Recipe) else str(getattr(recipe, "__name__", type(recipe).__name__))
