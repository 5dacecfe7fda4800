"""The registry of scores and measures by which structures are searched, and what a search method asks of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np

from possnet.errors import InputError, listing
from possnet.registries import Registry
from possnet.structure.coded_rows import CodedRows
from possnet.structure.search_clock import SearchClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from possnet.aliases import Bools, Floats, Progress
    from possnet.dataset import Batches, Dataset
    from possnet.parameters import PriorName
    from possnet.possibility import Conjunction
    from possnet.structure.contingency import ContingencyTables
    from possnet.structure.measure_choice import MeasureChoice
    from possnet.structure.search_graph import CompiledConstraints
    from possnet.structure.search_options import Search
    from possnet.structure.search_result import SearchResult


class TreeScorer(Protocol):
    """A measure by which trees are found."""

    def grow_tree(self, problem: SearchProblem) -> SearchResult:
        """The heaviest tree."""
        ...


class Scorer(TreeScorer, Protocol):
    """A score or measure on the rows of a problem. Variables are numbers, parents sorted tuples of them."""

    size: int

    def parent_gains(self, child: int, parents: tuple[int, ...], among: Bools, edges: Bools) -> Floats:
        """Gain of each variable ``among`` some as one more parent, given the edges there are; -inf where that cannot be."""
        ...

    def score_required(self, required: Bools) -> float:
        """The score, or the sum of the measures, of the required edges alone."""
        ...

    def fill_values(self, result: SearchResult) -> None:
        """Fill in the value of every edge of the result, and the scores of its families."""
        ...


class ClimbingScorer(Scorer, Protocol):
    """A score whose penalty for parents makes hill climbing terminate."""

    def climb_structures(self, problem: SearchProblem) -> SearchResult:
        """The best structure of a hill climbing."""
        ...


class EdgeWorth(NamedTuple):
    """What an edge adds to the score, or its measure; to the log-likelihood; and its price. None where there is none."""

    value: float | None = None
    likelihood: float | None = None
    price: float | None = None


class EdgeWeigher(Protocol):
    """A score or measure on the rows of a problem that is asked for single edges."""

    def weigh_edge(self, rest: Bools, parent: int, child: int) -> EdgeWorth:
        """The worth of an edge beside all others, a matrix (parent, child) without it."""
        ...


class RunnableMethod(Protocol):
    """A search method, as far as a measure that runs it several times needs to know it."""

    @property
    def run(self) -> Callable[[SearchProblem], SearchResult]:
        """Runs the search once."""
        ...

    @property
    def uses_start(self) -> bool:
        """Whether it can begin at a given structure."""
        ...

    @property
    def uses_order(self) -> bool:
        """Whether it takes an order of the variables."""
        ...

    @property
    def several_parents(self) -> bool:
        """Whether a variable may get several parents."""
        ...


@dataclass(frozen=True, slots=True)
class StructureScore:
    """A score of structures, or a measure of dependence on contours, as `MEASURES` lists it.

    Attributes
    ----------
    name, label
        Its name in calls, and a name for people.
    make_scorer
        Makes a `TreeScorer` for the rows of a problem.
    methods
        The search methods that it goes with. For ``k2`` the scorer must be a `Scorer`, for ``greedy`` a `ClimbingScorer`.
    penalised
        Whether it has a penalty for parents. Without one, methods that take several parents need a bound and a threshold.
    decomposable
        Whether the value of a structure is a sum over its families.
    adds_edges
        Whether it is a measure of the dependence of pairs; the value of a structure is then a sum over its edges.
    takes_imprecise_rows
        Whether cells may be sets of several states.
    separates_missing
        Whether an unknown cell is apart from a cell that holds the whole domain.
    learner, prior
        The learner that goes with it for the tables, and the prior of these (see `possnet.fit`).
    run_method
        Runs a method where that takes more than a scorer, such as rounds on completed rows.
    counts_alone
        Whether counts of cells of families are all that it needs, so that rows need not be in memory.
    choose
        For an entry that stands for others: the one to take for some rows (unknown cells coded apart), and why.
    tells_directions
        Whether structures of one CPDAG differ in it by so much that directions are found, not ties.
    caveat
        What it cannot do, for people.
    make_weigher
        Makes an `EdgeWeigher` for the rows of a problem, where the scorer has no ``score_family`` that says the same.
    """

    name: str
    label: str
    make_scorer: Callable[[SearchProblem], TreeScorer]
    methods: tuple[str, ...] = ("greedy", "boss", "mwst", "k2")
    penalised: bool = True
    decomposable: bool = True
    adds_edges: bool = False
    takes_imprecise_rows: bool = True
    separates_missing: bool = False
    learner: str = "likelihood"
    prior: PriorName = "none"
    run_method: Callable[[RunnableMethod, SearchProblem], SearchResult] | None = None
    counts_alone: bool = False
    choose: Callable[[CodedRows], MeasureChoice] | None = None
    make_weigher: Callable[[SearchProblem], EdgeWeigher] | None = None
    tells_directions: bool = False
    caveat: str = ""


MEASURES: Final = Registry[StructureScore]("measure")


@dataclass(frozen=True)
class SearchProblem:
    """The input of a search method. Variables are numbers, in the order of the data.

    ``tables`` counts families where the rows are not in memory. ``start`` is the structure at which a method that can do
    so begins; by default the required edges alone, or what the method finds by itself. ``reason`` says why the measure was
    taken, if it was not named; ``clock`` stops the search when its time is up.
    """

    data: Dataset | Batches
    measure: StructureScore
    conjunction: Conjunction
    constraints: CompiledConstraints
    search: Search
    threshold: float
    order: list[int] | None
    seed: int
    progress: Progress
    start: Bools | None = None
    tables: ContingencyTables | None = None
    reason: str = ""
    clock: SearchClock = field(default_factory=SearchClock)

    @property
    def names(self) -> list[str]:
        """Names of the variables."""
        return [variable.name for variable in self.data.variables]

    @cached_property
    def rows(self) -> CodedRows:
        """The rows, coded when first asked for; an `InputError` if the measure needs precise rows and these are not."""
        missing = self.measure.separates_missing
        rows = CodedRows(self.data, missing=missing) if self.tables is None else self.tables.rows
        if not self.measure.takes_imprecise_rows and rows.imprecise:
            others = [name for name, other in MEASURES.items() if other.takes_imprecise_rows and other.penalised]
            raise InputError(
                f"learn_structure: measure {self.measure.name!r} with cells of {rows.imprecise[0]!r} that are not single "
                f"states; expected precise rows, or another measure: {listing(others)}"
            )
        return rows

    def make_rng(self) -> np.random.Generator:
        """A generator that starts from the seed."""
        return np.random.default_rng(self.seed)
