"""Exact inference: plan without numbers, run without decisions, the algebra as an argument."""

from possnet.inference.algebra import MAX_MIN, MAX_PRODUCT, MAX_SUM, SUM_PRODUCT, Algebra
from possnet.inference.best import Explanation
from possnet.inference.engine import Inference
from possnet.inference.plan import Plan, make_plan
from possnet.inference.run import JoinTree

__all__ = [
    "MAX_MIN",
    "MAX_PRODUCT",
    "MAX_SUM",
    "SUM_PRODUCT",
    "Algebra",
    "Explanation",
    "Inference",
    "JoinTree",
    "Plan",
    "make_plan",
]
