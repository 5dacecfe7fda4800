"""The registry of search methods, and which measures go with which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from possnet.errors import InputError, listing
from possnet.registries import Registry
from possnet.structure.best_order_search import search_best_order
from possnet.structure.hybrid import learn_hybrid_dag, learn_hybrid_tree
from possnet.structure.k2 import search_orders
from possnet.structure.registered_scores import MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable

    from possnet.structure.decomposable_scores import DecomposableScore
    from possnet.structure.score_registry import ClimbingScorer, Scorer, SearchProblem, StructureScore
    from possnet.structure.search_options import Search
    from possnet.structure.search_result import SearchResult

# Without a penalty every further parent gains a little, if only by chance: their number and their gain need a bound.
_UNPENALISED_PARENTS: Final = 2
_UNPENALISED_THRESHOLD: Final = 0.01
_FEW_VARIABLES: Final = 60  # up to so many, best order score search takes seconds


@dataclass(frozen=True, slots=True)
class SearchMethod:
    """A way to search structures, as `METHODS` lists it.

    Attributes
    ----------
    name, label
        Its name in calls, and a name for people.
    run
        Runs the search.
    refusal
        Why a measure that does not list this method does not go with it.
    default_measure
        The measure where none is named.
    several_parents
        Whether a variable may get several parents.
    caveat
        What it cannot do, for people.
    uses_order, uses_start
        Whether it takes an order of the variables, and whether it can begin at a given structure.
    few_passes
        Whether it asks for the counts of many families at once, so that rows need not be in memory.
    choose
        Names the method to take, by the measure, the options and the number of variables; of ``auto`` alone.
    """

    name: str
    label: str
    run: Callable[[SearchProblem], SearchResult]
    refusal: str
    default_measure: str = "auto"
    several_parents: bool = True
    uses_order: bool = False
    uses_start: bool = False
    few_passes: bool = False
    caveat: str = ""
    choose: Callable[[StructureScore, Search, int], str] | None = None

    def search(self, problem: SearchProblem) -> SearchResult:
        """Run the search as the measure asks for."""
        run = problem.measure.run_method
        return self.run(problem) if run is None else run(self, problem)

    def default_max_parents(self, measure: StructureScore, variables: int) -> int:
        """Maximum number of parents of a variable: small where the measure has no penalty for parents."""
        return _UNPENALISED_PARENTS if self.several_parents and not measure.penalised else variables - 1

    def default_threshold(self, measure: StructureScore) -> float:
        """What an edge must gain: more than 0 where the measure has no penalty for parents."""
        return _UNPENALISED_THRESHOLD if self.several_parents and not measure.penalised else 0.0


METHODS: Final = Registry[SearchMethod]("method")


def fitting_measure(method: str, measure: str | None, owner: str = "learn_structure") -> str:
    """The measure, or the method's default if none is given; an `InputError` if the two do not go together.

    >>> fitting_measure("greedy", None), fitting_measure("hybrid-dag", None)
    ('auto', 'specificity-gain')
    """
    entry = METHODS.require(method, owner)
    if measure is None:
        return entry.default_measure
    methods = MEASURES.require(measure, owner).methods
    if method not in methods and entry.choose is None:
        fitting = [name for name, other in MEASURES.items() if method in other.methods]
        raise InputError(
            f"{owner}: method {method!r} with measure {measure!r}, {entry.refusal}; expected measure {listing(fitting)}, "
            f"or method {listing(methods)}"
        )
    return measure


def choose_method(measure: StructureScore, search: Search, variables: int) -> str:
    """The method for a measure: ``boss`` where that goes and there are not too many variables, else ``greedy``.

    >>> from possnet.structure.search_options import Search
    >>> choose_method(MEASURES["bic"], Search(), 37), choose_method(MEASURES["traced-bic"], Search(), 37)
    ('boss', 'greedy')
    >>> choose_method(MEASURES["chi2"], Search(), 37)
    'mwst'
    """
    few = variables <= _FEW_VARIABLES and search.max_steps is None
    if few and "boss" in measure.methods:
        return "boss"
    return "greedy" if "greedy" in measure.methods else measure.methods[0]


def _search_by_choice(problem: SearchProblem) -> SearchResult:
    chosen = choose_method(problem.measure, problem.search, len(problem.names))
    return METHODS[chosen].search(problem)


def _climb(problem: SearchProblem) -> SearchResult:
    scorer = cast("ClimbingScorer", problem.measure.make_scorer(problem))  # as its entry says by listing this method
    return scorer.climb_structures(problem)


def _search_best_order(problem: SearchProblem) -> SearchResult:
    return search_best_order(cast("DecomposableScore", problem.measure.make_scorer(problem)), problem)


def _grow_tree(problem: SearchProblem) -> SearchResult:
    return problem.measure.make_scorer(problem).grow_tree(problem)


def _search_orders(problem: SearchProblem) -> SearchResult:
    scorer = cast("Scorer", problem.measure.make_scorer(problem))  # as its entry says by listing this method
    return search_orders(scorer, problem)


_CAVEAT: Final = "joins children of imprecise parents"
METHODS.register(SearchMethod("auto", "the method that fits the measure", _search_by_choice, "", choose=choose_method))
_HYBRID: Final = "but its search lowers conditional non-specificity"
for _method in (
    SearchMethod(
        "greedy",
        "greedy hill climbing",
        _climb,
        "which has no price that would keep it from adding edges",
        uses_start=True,
        few_passes=True,
    ),
    SearchMethod("boss", "best order score search", _search_best_order, "which is no sum over families"),
    SearchMethod(
        "hidden-tree",
        "hidden tree",
        _grow_tree,
        "which says nothing of hidden states",
        "hidden-mutual-information",
        several_parents=False,
    ),
    SearchMethod(
        "mwst",
        "maximum-weight spanning tree",
        _grow_tree,
        "which weighs no pairs",
        several_parents=False,
        few_passes=True,
    ),
    SearchMethod("k2", "K2", _search_orders, "which weighs no further parent", uses_order=True),
    SearchMethod(
        "hybrid-tree",
        "hybrid tree of the literature",
        learn_hybrid_tree,
        _HYBRID,
        "specificity-gain",
        several_parents=False,
        caveat=_CAVEAT,
    ),
    SearchMethod(
        "hybrid-dag", "hybrid DAG of the literature", learn_hybrid_dag, _HYBRID, "specificity-gain", caveat=_CAVEAT
    ),
):
    METHODS.register(_method)
