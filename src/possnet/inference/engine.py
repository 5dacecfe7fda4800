"""Exact inference in product-based and min-based networks: conditional possibilities, marginals, explanations.

`Inference.query` eliminates what the evidence leaves open around a few targets (see `possnet.inference.questions`). All
marginals come from a collect and a distribute pass over the junction tree of the whole network, and when the evidence
changes only the messages that it touches are computed again.

[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy.
"""

from __future__ import annotations

from functools import cached_property, partial
from itertools import pairwise
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from possnet.doors import check_arguments
from possnet.errors import ImpossibleEvidence, InputError, describe_value, require_number, require_whole
from possnet.inference.bounded_queries import BoundedQueries
from possnet.inference.conditioning import (
    MAX_SECONDS,
    Budget,
    ConditionedTree,
    best_in_turn,
    marginals_in_turn,
    require_cutset,
)
from possnet.inference.entry_derivatives import differentiate_factors
from possnet.inference.evidence import Evidence, describe_evidence, read_evidence, read_findings
from possnet.inference.exclusive_calls import ExclusiveCalls, exclusive
from possnet.inference.factor_graph import FactorGraph, to_semiring
from possnet.inference.junction_tree import JunctionTree
from possnet.inference.most_possible import Explanation, best_configurations, count_ties, tie_margin
from possnet.inference.pruned_best import best_pruned
from possnet.inference.questions import Questions
from possnet.inference.row_queries import RowQueries
from possnet.inference.semirings import MAX_MIN, MAX_SUM, ROUNDING, Semiring, condition_degrees
from possnet.inference.tree_layout import TreeLayout, layout_of_structure
from possnet.possibility import Possibility

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from possnet.aliases import Bools, Floats, Ints, Progress
    from possnet.dataset import Dataset
    from possnet.inference.plan import Plan
    from possnet.inference.possibility_bounds import PossibilityBounds
    from possnet.network import Network

# A tree of the whole network is calibrated in less time than one of what the evidence leaves is planned, if it is small: so
# many entries a variable. Networks of more variables than this are not planned just to know that.
_SMALL_A_VARIABLE, _FEW_VARIABLES = 1000, 80


class Inference(ExclusiveCalls):
    """Exact inference in a network, by junction trees.

    Threads may share an engine: their queries run one after the other, as messages of one query serve the next. For queries
    at the same time give each thread its own. After a fork it works as before, and it can be pickled, without its messages.

    Parameters
    ----------
    lower, upper
        Tables between which the true ones lie, name -> array like the table, for `bounds`; by default those that the
        network carries (see `possnet.Network.with_bounds`).
    limit
        Bytes that a query may take; a larger one raises `TooLarge` before anything is allocated. By default half of the
        free memory.
    max_seconds
        Where a junction tree does not fit into that, `query`, `possibility_of`, `marginals` and `most_possible_k` fix some
        variables to each of their states in turn, if the estimate is at most so many seconds (see
        `possnet.inference.conditioning`); otherwise they raise `TooLarge`, with the estimate.
    progress
        Called with the number of configurations that are done, and of all, while variables are fixed in turn.

    Examples
    --------
    >>> import possnet as pn
    >>> engine = Inference(pn.load_example("clinic"))
    >>> engine.query("measles", evidence={"fever": {"mild", "high"}, "rash": "spots"})
    Possibility(measles: yes 0.2625, no 1)
    >>> engine.marginals({"rash": "spots"})["fever"]
    Possibility(fever: none 1, mild 0.8, high 0.64)
    """

    @check_arguments
    def __init__(
        self,
        network: Network,
        *,
        lower: Mapping[str, ArrayLike] | None = None,
        upper: Mapping[str, ArrayLike] | None = None,
        limit: int | None = None,
        max_seconds: float = MAX_SECONDS,
        progress: Progress | None = None,
    ) -> None:
        if lower is not None and upper is not None:
            network = network.with_bounds(lower, upper)
        elif lower is not None or upper is not None:
            given = "lower" if upper is None else "upper"
            raise InputError(f"Inference: {given} tables alone; expected both lower= and upper=, or neither")
        self.network = network
        self._graph = network.derive(FactorGraph)
        self._questions = self._graph.derive(Questions)
        self._limit = limit
        self._budget = Budget(limit, require_number(max_seconds, "Inference", "seconds, 0 or more", 0.0), progress)
        super().__init__()

    def _drop_results(self) -> None:
        """Forget the messages of earlier queries; the next ones compute them again."""
        self._rows = RowQueries(self._graph, self._limit, self._budget.max_seconds)
        self._trees: dict[str, JunctionTree] = {}

    @cached_property
    def plan(self) -> Plan:
        """The junction tree of the whole network; print its ``describe()``."""
        return self._layout.plan

    @property
    def _layout(self) -> TreeLayout:
        """The plan and its shapes, shared with other engines of the same structure."""
        return layout_of_structure(self._graph.sizes, self._graph.scopes)

    @check_arguments
    @exclusive
    def query(self, names: str | Sequence[str], evidence: Evidence | None = None) -> Possibility:
        """Possibility of a variable, or the joint one of several, given evidence, Π(x | e).

        Without evidence it is the marginal Π(x); with evidence, conditioned by the network's conjunction: (1) or (2) of
        [HLB]. Variables that cannot matter are pruned: those that are no ancestors of the targets or the evidence (barren
        nodes), and, for the product, those that the evidence d-separates from the targets.

        Equation
        --------
        Π(x, e) = max_{ω ∈ x ∩ e} π(ω)
        Π(x | e) = Π(x, e) / Π(e) (product)
        Π(x | e) = 1 if Π(x, e) = Π(e), else Π(x, e) (minimum)

        >>> import possnet as pn
        >>> engine = Inference(pn.load_example("asia"))
        >>> engine.query("lung", {"xray": "yes", "smoke": "yes"})
        Possibility(lung: yes 1, no 0.5)
        >>> engine.query(["lung", "bronc"], {"dysp": "yes"}).degrees.shape
        (2, 2)
        """
        targets = self._find_targets(names, "query")
        findings = read_findings(evidence, self.network.variables, self._graph.numbers)
        semiring = self._graph.choose_semiring(findings.degrees)
        total, table = self._questions.answer(targets, findings, semiring, self._budget)
        self._require_possible(total, semiring, evidence)
        assert table is not None  # noqa: S101
        scope = tuple([self.network.variables[target] for target in targets])
        return Possibility.unchecked(scope, self._condition_table(table, semiring, given=bool(evidence)))

    @check_arguments
    @exclusive
    def marginals(self, evidence: Evidence | None = None) -> dict[str, Possibility]:
        """Possibility of every variable given evidence, name -> Π(x | e), all from one calibration.

        >>> import possnet as pn
        >>> Inference(pn.load_example("asia")).marginals({"dysp": "yes"})["bronc"]
        Possibility(bronc: yes 1, no 0.1)
        """
        if self.plan.fits_lean(self._limit):
            known, tree = self._collect_evidence(evidence)
            semiring = tree.semiring
            with np.errstate(divide="ignore", invalid="ignore"):
                flat = np.concatenate([table.reshape(-1) for table in tree.distribute()])
        else:
            known, semiring, conditioned = self._condition_tree(evidence, passes=3)
            total, marginals = marginals_in_turn(conditioned, self._graph.sizes, self._budget.progress)
            self._require_possible(total, semiring, evidence)
            flat = np.concatenate(marginals)
        with np.errstate(divide="ignore", invalid="ignore"):
            degrees = self._condition_marginals(flat, semiring, given=bool(known))
        starts = self._graph.starts
        return {
            v.name: Possibility.unchecked((v,), degrees[start:end])
            for v, (start, end) in zip(self.network.variables, pairwise(starts), strict=True)
        }

    @check_arguments
    @exclusive
    def families(self, evidence: Evidence | None = None) -> dict[str, Possibility]:
        """Joint possibility of every variable and its parents, name -> Π(parents, x | e).

        >>> import possnet as pn
        >>> joint = Inference(pn.load_example("asia")).families()["lung"]
        >>> [variable.name for variable in joint.variables], joint["no", "yes"]
        (['smoke', 'lung'], 0.01)
        """
        known, tree = self._collect_evidence(evidence)
        joints = {}
        with np.errstate(divide="ignore", invalid="ignore"):
            for factor, table in tree.factor_marginals(self._graph.scopes):
                degrees = self._condition_table(table, tree.semiring, given=bool(known))
                scope = tuple([self.network.variables[v] for v in self._graph.scopes[factor]])
                joints[factor] = Possibility.unchecked(scope, degrees)
        return {name: joints[factor] for factor, name in enumerate(self._graph.names)}

    @check_arguments
    @exclusive
    def entry_derivatives(self, alternatives: Sequence[Evidence]) -> tuple[dict[str, Floats], Floats]:
        """How the possibility of evidence depends on every table entry, for several pieces of evidence at once.

        With t an entry, Π(e) = max(a, b ⊗ t): the best configuration without the entry, and b, the best one that uses it
        without the entry itself. Returned are all b, name -> array like the table with one more axis for the pieces of
        evidence, and Π(e) of each piece. In a product-based network both are divided by the largest Π(e), so that small
        degrees stay apart from 0. All come from one collect and one distribute pass, without division.

        >>> import possnet as pn
        >>> derivatives, values = Inference(pn.load_example("clinic")).entry_derivatives([{"rash": "spots"}])
        >>> derivatives["rash"][..., 0].round(6), values  # relative to the possibility of spots, .2
        (array([[0. , 0.3, 0. ], [0. , 5. , 0. ]]), array([1.]))
        """
        if not alternatives:
            raise InputError("entry_derivatives: no evidence; expected at least one piece, such as {}")
        pieces = [read_evidence(evidence, self.network.variables) for evidence in alternatives]
        observed = sorted({v for known in pieces for v in known})
        lowest = {v: np.array([d for known in pieces if v in known for d in known[v].tolist()]) for v in observed}
        semiring = self._graph.choose_semiring(lowest)
        ignorance = {v: np.ones(self._graph.sizes[v]) for v in observed}
        rows = {v: np.stack([known.get(v, ignorance[v]) for known in pieces], axis=-1) for v in observed}
        self.plan.refuse_if_large(self._graph.names, self._limit)
        tables = self._graph.tables_in(semiring)
        evidence_rows = _evidence_in(rows, semiring)
        factors, values = differentiate_factors(
            self.plan, self._graph.scopes, tables, semiring, evidence_rows, len(pieces)
        )
        top = float(values.max())
        self._require_possible(top, semiring, alternatives[0] if len(alternatives) == 1 else None)
        if semiring is MAX_SUM:
            with np.errstate(over="ignore"):
                factors, values = [np.exp(np.minimum(b - top, 700.0)) for b in factors], np.exp(values - top)
        elif semiring.divide is not None:
            factors, values = [b / top for b in factors], values / top
        return dict(zip(self._graph.names, factors, strict=True)), values

    @check_arguments
    @exclusive
    def pair_marginals(self, target: str, evidence: Evidence | None = None) -> dict[str, Floats]:
        """Joint possibility of a variable and every other one with the evidence, name -> array (target's, its states).

        The degrees are Π(t, x, e), in a product-based network divided by Π(e): not conditioned, so that either variable
        can be conditioned on afterwards. One calibration for each state of the target gives them all.

        >>> import possnet as pn
        >>> pairs = Inference(pn.load_example("clinic")).pair_marginals("measles", {"rash": "spots"})
        >>> pairs["fever"].round(6)
        array([[0.021, 0.126, 0.21 ], [1.   , 0.8  , 0.64 ]])
        """
        number = self._graph.find_number(target)
        known, tree = self._collect_evidence(evidence)
        semiring = tree.semiring
        before = known.get(number, np.ones(self._graph.sizes[number]))
        tables: list[list[Floats]] = []
        with np.errstate(divide="ignore", invalid="ignore"):
            top = tree.collect()
            for state in range(self._graph.sizes[number]):
                chosen = np.zeros(self._graph.sizes[number])
                chosen[state] = before[state]
                tree.set_evidence(_evidence_in({**known, number: chosen}, semiring))
                possible = tree.collect() > semiring.zero
                tables.append(tree.distribute() if possible else [np.full(n, semiring.zero) for n in self._graph.sizes])
            joints = {}
            for v, name in enumerate(self._graph.names):
                joint = np.stack([rows[v].reshape(-1) for rows in tables])
                if semiring is MAX_SUM:
                    joint = np.exp(joint - top)
                elif semiring.divide is not None:
                    joint = joint / top
                joints[name] = joint
        return joints

    @check_arguments
    @exclusive
    def possibility_of(self, evidence: Evidence) -> float:
        """Possibility of the evidence, Π(e); cheap right after `marginals` with the same evidence.

        Equation
        --------
        Π(e) = max_{ω ∈ e} π(ω)

        >>> import possnet as pn
        >>> round(Inference(pn.load_example("asia")).possibility_of({"xray": "yes", "asia": "yes"}), 9)
        0.001
        """
        known = read_evidence(evidence, self.network.variables)
        semiring = self._graph.choose_semiring(known)
        tree = self._trees.get(semiring.name)
        if tree is not None and not tree.changed_evidence(_evidence_in(known, semiring)):
            value = tree.collect()  # every message is there
        else:
            findings = read_findings(evidence, self.network.variables, self._graph.numbers)
            value, _ = self._questions.answer([], findings, semiring, self._budget)
        return float(np.exp(value)) if semiring is MAX_SUM else value

    @check_arguments
    def necessity(self, name: str, states: str | Iterable[str], evidence: Evidence | None = None) -> float:
        """Necessity that a variable is in one of some states, given evidence: N(A | e) = 1 - Π(not A | e).

        Equation
        --------
        N(A | e) = 1 - Π(not A | e)

        >>> import possnet as pn
        >>> Inference(pn.load_example("asia")).necessity("bronc", {"yes"}, {"dysp": "yes"})
        0.9
        """
        return self.query(name, evidence).necessity(states)

    @check_arguments
    @exclusive
    def bounds(self, names: str | Sequence[str], evidence: Evidence | None = None) -> PossibilityBounds:
        """Lower and upper possibility of a variable, or of several jointly, given evidence: of every network within bounds.

        Without evidence the upper degrees are attained, and the lower ones wherever ``.attained`` says so; given evidence
        both are outer bounds, which hold the truth (see `possnet.inference.bounded_queries` for proofs). Where evidence may
        be impossible (its lower possibility is 0), they hold in every network where it is possible.

        >>> import possnet as pn
        >>> fever, rash = pn.Variable("fever", ("none", "high")), pn.Variable("rash", ("yes", "no"))
        >>> dag = pn.Dag({"fever": (), "rash": ("fever",)})
        >>> net = pn.Network((fever, rash), dag, {"fever": [1, 0.4], "rash": [[0.1, 1], [1, 1]]})
        >>> lower = {"fever": [1, 0.2], "rash": [[0.1, 1], [0, 1]]}
        >>> engine = Inference(net, lower=lower, upper={"fever": [1, 0.5], "rash": [[0.1, 1], [1, 1]]})
        >>> engine.bounds("rash")
        PossibilityBounds(rash: yes [0.1, 0.5], no 1)
        >>> engine.bounds("fever", {"rash": "yes"})
        PossibilityBounds(fever: none [0.2, 1], high [0, 1])
        """
        return self._bounded.bound_targets(self._find_targets(names, "bounds"), evidence)

    @check_arguments
    @exclusive
    def marginal_bounds(self, evidence: Evidence | None = None) -> dict[str, PossibilityBounds]:
        """Lower and upper possibility of every variable given evidence, name -> bounds: see `bounds`.

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> tables = {v.name: asia.table(v.name) for v in asia.variables}
        >>> lower = tables | {"smoke": [1, 0.5]}
        >>> Inference(asia, lower=lower, upper=tables).marginal_bounds({"lung": "yes"})["smoke"]
        PossibilityBounds(smoke: yes 1, no [0.05, 0.1])
        """
        bounds = self._bounded.bound_marginals(evidence)
        return {variable.name: own for variable, own in zip(self.network.variables, bounds, strict=True)}

    @check_arguments
    @exclusive
    def evidence_bounds(self, evidence: Evidence) -> tuple[float, float]:
        """Lower and upper possibility of the evidence, Π(e). A lower one of 0 says that it may be impossible.

        >>> import possnet as pn
        >>> rash = pn.Variable("rash", ("none", "spots"))
        >>> net = pn.Network((rash,), pn.Dag({"rash": ()}), {"rash": [1, 0.5]})
        >>> Inference(net, lower={"rash": [1, 0]}, upper={"rash": [1, 0.6]}).evidence_bounds({"rash": "spots"})
        (0.0, 0.6)
        """
        return self._bounded.bound_evidence(evidence)

    @check_arguments
    def necessity_bounds(
        self, name: str, states: str | Iterable[str], evidence: Evidence | None = None
    ) -> tuple[float, float]:
        """Lower and upper necessity that a variable is in one of some states, given evidence: N(A | e) = 1 - Π(not A | e).

        >>> import possnet as pn
        >>> rash = pn.Variable("rash", ("none", "spots"))
        >>> net = pn.Network((rash,), pn.Dag({"rash": ()}), {"rash": [1, 0.5]})
        >>> Inference(net, lower={"rash": [1, 0.25]}, upper={"rash": [1, 0.5]}).necessity_bounds("rash", "none")
        (0.5, 0.75)
        """
        return self.bounds(name, evidence).necessity(states)

    @cached_property
    def _bounded(self) -> BoundedQueries:
        if self.network.bounds is None:
            raise InputError(
                "bounds: the network carries none; expected lower and upper tables, such as those of a network learned by "
                "possnet.fit_cut, or Inference(network, lower=..., upper=...)"
            )
        return BoundedQueries(self._graph, self.network.bounds, self._limit)

    @check_arguments
    @exclusive
    def query_many(self, target: str, data: Dataset) -> Floats:
        """Possibility of a variable given every row of a data set, as an array (rows, states).

        Cells are the evidence: a set is a disjunction, degrees are virtual evidence, an unknown cell is none, and the
        target's own cell is ignored; columns that the network lacks are an error. Every row is conditioned, so that it
        peaks at 1, even if all its cells are unknown; rows of impossible evidence are NaN. Equal pieces of evidence are
        computed once.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_rows([pn.load_example("asia").variable("dysp")], [("yes",), (None,)])
        >>> Inference(pn.load_example("asia")).query_many("bronc", data)
        array([[1. , 0.1], [1. , 1. ]])
        """
        return self._rows.query_many(target, data)

    @check_arguments
    @exclusive
    def marginals_many(self, data: Dataset) -> dict[str, Floats]:
        """Possibility of every variable given every row of a data set, name -> array (rows, states).

        Cells are the evidence, a variable's own cell included, so that states outside the cell have degree 0. Every row is
        conditioned and peaks at 1; rows of impossible evidence are NaN. All variables come from one collect and one
        distribute pass, and equal pieces of evidence are computed once.

        >>> import possnet as pn
        >>> clinic = pn.load_example("clinic")
        >>> data = pn.Dataset.from_rows([clinic.variable("rash")], [("spots",), ({"spots", "none"},)])
        >>> marginals = Inference(clinic).marginals_many(data)
        >>> marginals["fever"], marginals["rash"]
        (array([[1.  , 0.8 , 0.64], [1.  , 0.8 , 0.64]]), array([[0. , 1. , 0. ], [1. , 0.2, 0. ]]))
        """
        return self._rows.marginals_many(data)

    @check_arguments
    def marginal_blocks(
        self, data: Dataset, wanted: Mapping[str, Bools], rows: Ints | None = None
    ) -> Iterator[tuple[int, int, dict[str, Floats], Bools]]:
        """Marginals as in `marginals_many`, a block of rows at a time and only for the rows where they are wanted.

        ``wanted`` maps every variable of interest to a mask of the rows it is wanted for: of all rows, or of those whose
        numbers are given in ``rows``. Blocks are (first row, end, name -> array (wanted rows of the block, states), which
        rows of the block are possible).

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"dysp": ["yes", "no"]}, pn.load_example("asia").variable("dysp"))
        >>> blocks = Inference(pn.load_example("asia")).marginal_blocks(data, {"bronc": np.array([True, False])})
        >>> [(start, stop, degrees["bronc"], possible) for start, stop, degrees, possible in blocks]
        [(0, 2, array([[1. , 0.1]]), array([ True,  True]))]
        """
        return RowQueries(self._graph, self._limit).marginal_blocks(data, wanted, rows)

    @check_arguments
    @exclusive
    def most_possible(self, evidence: Evidence | None = None) -> Explanation:
        """The most possible configuration that agrees with the evidence, its degree, and how many reach the same degree.

        Equation
        --------
        π(ω^*) = max_{ω ∈ e} π(ω)

        >>> import possnet as pn
        >>> best = Inference(pn.load_example("clinic")).most_possible({"rash": "widespread", "cough": "none"})
        >>> best.configuration["measles"], round(best.possibility, 6), best.ties
        ('no', 0.02, 2)
        """
        (best,), count = self._find_best(1, evidence)
        return Explanation(best.configuration, best.possibility, count())

    @check_arguments
    @exclusive
    def most_possible_k(self, k: int, evidence: Evidence | None = None) -> list[Explanation]:
        """The k most possible configurations, best first; fewer if there are no more of degree above 0.

        ``ties`` counts those of the same degree among the answers. A degree below the smallest float shows as 0.

        >>> import possnet as pn
        >>> [round(e.possibility, 3) for e in Inference(pn.load_example("clinic")).most_possible_k(4, {"fever": "mild"})]
        [0.8, 0.64, 0.3, 0.3]
        """
        return self._find_best(require_whole(k, 1, "most_possible_k: k"), evidence)[0]

    def _find_targets(self, names: str | Sequence[str], owner: str) -> list[int]:
        """The numbers of the variables that are asked for; an `InputError` unless they are distinct names."""
        given: object = names
        if not isinstance(given, str | list | tuple):
            raise InputError(f"{owner}: {describe_value(names)}; expected a variable's name, or several in a list")
        wanted = [names] if isinstance(names, str) else list(names)
        targets = [self._graph.find_number(name) for name in wanted]
        if not targets or len(set(targets)) < len(targets):
            raise InputError(f"{owner}: variables {wanted!r}; expected one or more distinct names")
        return targets

    def _collect_evidence(self, evidence: Evidence | None) -> tuple[dict[int, Floats], JunctionTree]:
        """The evidence as degrees, and the junction tree of the network after `collect`; an error if impossible."""
        known = read_evidence(evidence, self.network.variables)
        semiring = self._graph.choose_semiring(known)
        if semiring.name not in self._trees:
            if not self.plan.fits_lean(self._limit):
                self.plan.refuse_if_large(self._graph.names, self._limit)
            tables = self._graph.tables_in(semiring)
            self._trees[semiring.name] = JunctionTree(
                self.plan,
                self._graph.scopes,
                tables,
                semiring,
                normalised=self._graph.has_peaks,
                layout=self._layout,
            )
        tree = self._trees[semiring.name]
        with np.errstate(divide="ignore", invalid="ignore"):
            tree.set_evidence(_evidence_in(known, semiring))
            self._require_possible(tree.collect(), semiring, evidence)
        return known, tree

    def _condition_tree(
        self, evidence: Evidence | None, passes: int
    ) -> tuple[dict[int, Floats], Semiring, ConditionedTree]:
        """The evidence as degrees, the semiring, and the whole network as a tree under every configuration of a cutset."""
        graph, known = self._graph, read_evidence(evidence, self.network.variables)
        semiring = graph.choose_semiring(known)
        scopes = [*graph.scopes, *((v,) for v in known)]
        tables = [*graph.tables_in(semiring), *_evidence_in(known, semiring).values()]
        cutset = require_cutset(graph.sizes, scopes, graph.names, self._budget, self.plan, passes=passes)
        return known, semiring, ConditionedTree(cutset, scopes, tables, semiring)

    def _find_best(self, k: int, evidence: Evidence | None) -> tuple[list[Explanation], Callable[[], int]]:
        """The k best configurations, and how to count those that reach the best degree."""
        known = read_evidence(evidence, self.network.variables)
        semiring = self._graph.choose_semiring(known)
        tree = self._trees.get(semiring.name)
        is_ready = tree is not None and not tree.changed_evidence(_evidence_in(known, semiring))
        if is_ready or (known and self._has_small_tree()):
            tree = self._collect_evidence(evidence)[1]
            with np.errstate(divide="ignore", invalid="ignore"):
                best: list[tuple[float, dict[int, int]]] | None = best_configurations(tree, k)
        else:
            best = best_pruned(self._graph, known, semiring, k, self._limit)
        if best is not None:
            self._require_possible(best[0][0] if best else semiring.zero, semiring, evidence)
            return self._explain_best(best, known, semiring), partial(self._count_best, evidence)
        conditioned = self._condition_tree(evidence, passes=4 if k == 1 else 2)[2]
        best, ties = best_in_turn(conditioned, k, self._budget.progress)
        self._require_possible(best[0][0] if best else semiring.zero, semiring, evidence)
        return self._explain_best(best, known, semiring), lambda: ties

    def _has_small_tree(self) -> bool:
        variables = len(self._graph.sizes)
        return variables <= _FEW_VARIABLES and self.plan.entries <= _SMALL_A_VARIABLE * variables

    def _count_best(self, evidence: Evidence | None) -> int:
        """How many configurations reach the best degree."""
        if self.plan.fits_lean(self._limit):
            tree = self._collect_evidence(evidence)[1]
            with np.errstate(divide="ignore", invalid="ignore"):
                return count_ties(tree)
        conditioned = self._condition_tree(evidence, passes=4)[2]
        return best_in_turn(conditioned, 1, self._budget.progress)[1]

    def _explain_best(
        self, best: list[tuple[float, dict[int, int]]], known: dict[int, Floats], semiring: Semiring
    ) -> list[Explanation]:
        margin = tie_margin(semiring, best[0][0], len(self._graph.sizes))
        explanations = []
        for value, states in best:
            configuration = {v.name: v.states[states[n]] for n, v in enumerate(self.network.variables)}
            families = zip(self._graph.scopes, self._graph.tables, strict=True)
            degrees = [table.item(*[states[v] for v in scope]) for scope, table in families]
            degrees += [given.item(states[number]) for number, given in known.items()]
            degree = min(degrees) if semiring is MAX_MIN else prod(degrees)
            scale = 1.0 if semiring is MAX_SUM else value
            ties = sum(abs(value - other) <= margin * scale for other, _ in best)
            explanations.append(Explanation(configuration, degree, ties))
        return explanations

    def _condition_table(self, table: Floats, semiring: Semiring, *, given: bool) -> Floats:
        """A table over some variables, conditioned on the evidence by the network's conjunction if any is given."""
        if not given:
            return np.exp(table) if semiring is MAX_SUM else table
        top = float(table.max())
        return condition_degrees(table, top, semiring, self._log_rounding(top))

    def _condition_marginals(self, flat: Floats, semiring: Semiring, *, given: bool) -> Floats:
        """Marginals of all variables, one after the other, each conditioned on the evidence if any is given."""
        if not given:
            return np.exp(flat) if semiring is MAX_SUM else flat
        sizes = self._graph.sizes
        tops = np.repeat(np.maximum.reduceat(flat, self._graph.starts[:-1]), sizes)
        return condition_degrees(flat, tops, semiring, self._log_rounding(float(tops[0])))

    def _log_rounding(self, value: float) -> float:
        """How far logarithms that add up to a value may differ by rounding alone."""
        return max(ROUNDING, 1e-15 * abs(value) * sqrt(len(self._graph.sizes)))

    def _require_possible(self, value: float, semiring: Semiring, evidence: Evidence | None) -> None:
        if value == semiring.zero or np.isnan(value):
            raise ImpossibleEvidence(
                f"the evidence ({describe_evidence(evidence)}) has possibility 0 in this network; nothing can be "
                "concluded from it"
            )


def _evidence_in(known: dict[int, Floats], semiring: Semiring) -> dict[int, Floats]:
    return {v: to_semiring(degrees, semiring) for v, degrees in known.items()}
