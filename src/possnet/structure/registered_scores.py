"""The scores and measures that come with possnet; see `possnet.structure.score_registry` for what an entry says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from possnet.dependence import CONTOUR_MEASURES
from possnet.structure.bdeu_score import BdeuScore
from possnet.structure.coarsened_search import search_coarsened
from possnet.structure.coded_rows import CodedRows
from possnet.structure.contour_scorer import ContourScorer
from possnet.structure.cut_score import CutScore
from possnet.structure.cut_search import CutWeigher, search_cuts
from possnet.structure.decomposable_scores import DecomposableScore
from possnet.structure.edge_worth import CoarsenedWeigher, ContourWeigher, HiddenPairWeigher, TracedWeigher
from possnet.structure.hidden_tree import HiddenTreeScorer
from possnet.structure.measure_choice import choose_measure
from possnet.structure.score_registry import MEASURES, StructureScore
from possnet.structure.structural_em import TracedScorer

if TYPE_CHECKING:
    from possnet.structure.score_registry import SearchProblem, TreeScorer

__all__ = ["MEASURES"]


def _make_chosen_scorer(problem: SearchProblem) -> TreeScorer:
    chosen = MEASURES[choose_measure(CodedRows(problem.data, missing=True)).name]
    return chosen.make_scorer(replace(problem, measure=chosen))


for _score in (
    StructureScore("auto", "the score that fits the rows", _make_chosen_scorer, choose=choose_measure),
    StructureScore(
        "random-set-bic",
        "random-set BIC",
        lambda problem: DecomposableScore(problem.rows, counting="cells", tables=problem.tables),
        counts_alone=True,
    ),
    StructureScore(
        "traced-bic",
        "traced BIC",
        lambda problem: TracedScorer(problem.rows),
        methods=("greedy", "mwst", "k2"),
        decomposable=False,
        separates_missing=True,
        learner="em",
        make_weigher=TracedWeigher,
    ),
    StructureScore(
        "coarsened-bic",
        "BIC under coarsening at random",
        lambda problem: DecomposableScore(problem.rows),  # of completed rows
        decomposable=False,
        learner="coarsened",
        prior="marginal",
        run_method=search_coarsened,
        make_weigher=CoarsenedWeigher,
    ),
    StructureScore(
        "cut-bic",
        "cut BIC",
        lambda problem: CutScore(problem.rows),  # of families on their own
        decomposable=False,
        separates_missing=True,
        learner="cut",
        run_method=search_cuts,
        make_weigher=CutWeigher,
        tells_directions=True,
    ),
    StructureScore(
        "mdl",
        "possibilistic MDL",
        lambda problem: DecomposableScore(problem.rows, counting="shared", tables=problem.tables),
        counts_alone=True,
    ),
    StructureScore(
        "bic",
        "BIC",
        lambda problem: DecomposableScore(problem.rows, tables=problem.tables),
        takes_imprecise_rows=False,
        counts_alone=True,
    ),
    StructureScore("bdeu", "BDeu", lambda problem: BdeuScore(problem.rows), takes_imprecise_rows=False),
):
    MEASURES.register(_score)

MEASURES.register(
    StructureScore(
        "hidden-mutual-information",
        "hidden mutual information",
        lambda _: HiddenTreeScorer(),
        methods=("hidden-tree",),
        decomposable=False,
        adds_edges=True,
        learner="em",
        make_weigher=HiddenPairWeigher,
    )
)

_CONTOUR_METHODS = ("mwst", "k2")
_HYBRID_METHODS = {"specificity-gain": ("hybrid-tree", "hybrid-dag")}  # which lower conditional non-specificity
for _measure in CONTOUR_MEASURES.values():
    MEASURES.register(
        StructureScore(
            _measure.name,
            _measure.label,
            ContourScorer,
            methods=_CONTOUR_METHODS + _HYBRID_METHODS.get(_measure.name, ()),
            penalised=False,
            decomposable=False,
            adds_edges=True,
            make_weigher=ContourWeigher,
            caveat="joins children of imprecise parents",
        )
    )
