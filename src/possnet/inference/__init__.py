"""Exact inference by message passing on junction trees, for any commutative semiring.

A plan (`make_plan`) is a junction tree without numbers; `JunctionTree` runs it for one piece of evidence, `RowPasses` for
many rows at once. `Inference` is the public door; `PosteriorQueries` answers rows by probabilities.
"""

from possnet.inference.engine import Inference
from possnet.inference.evidence import Evidence, describe_evidence, read_evidence
from possnet.inference.junction_tree import JunctionTree
from possnet.inference.message_passing import CliqueLayout, Potential, Projection, order_axes
from possnet.inference.most_possible import Explanation
from possnet.inference.plan import Plan, make_plan
from possnet.inference.possibility_bounds import PossibilityBounds, describe_band
from possnet.inference.row_passes import RowPasses
from possnet.inference.row_queries import PosteriorQueries, Reading, RowQueries, read_tables
from possnet.inference.row_schedule import RowSchedule
from possnet.inference.row_scores import LOWEST_SCORE, SCORED_BY, ScoredBy, score_rows
from possnet.inference.semirings import MAX_MIN, MAX_PRODUCT, MAX_SUM, SUM_PRODUCT, Semiring

__all__ = [
    "LOWEST_SCORE",
    "MAX_MIN",
    "MAX_PRODUCT",
    "MAX_SUM",
    "SCORED_BY",
    "SUM_PRODUCT",
    "CliqueLayout",
    "Evidence",
    "Explanation",
    "Inference",
    "JunctionTree",
    "Plan",
    "PossibilityBounds",
    "PosteriorQueries",
    "Potential",
    "Projection",
    "Reading",
    "RowPasses",
    "RowQueries",
    "RowSchedule",
    "ScoredBy",
    "Semiring",
    "describe_band",
    "describe_evidence",
    "make_plan",
    "order_axes",
    "read_evidence",
    "read_tables",
    "score_rows",
]
