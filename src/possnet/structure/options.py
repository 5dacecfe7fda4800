"""The options of a structure learner, checked once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import numpy as np

from possnet.dependence import CONTOUR_MEASURES
from possnet.errors import InputError, require_known, require_number, require_whole
from possnet.possibility import PRODUCT, Conjunction, check_conjunction
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from possnet.dependence import Reading

Method: TypeAlias = Literal["greedy", "mwst", "k2", "hybrid-tree", "hybrid-dag"]
Measure: TypeAlias = Literal[
    "random-set-bic", "traced-bic", "mdl", "bic",
    "specificity-gain", "specificity-ratio", "specificity-symmetric", "chi2", "mutual-information",
]  # fmt: skip
METHODS: Final[tuple[str, ...]] = get_args(Method)
MEASURES: Final[tuple[str, ...]] = get_args(Measure)
SCORES: Final = tuple(name for name in MEASURES if name not in CONTOUR_MEASURES)
_CONTOUR_THRESHOLD: Final = 0.01


class Options:
    """The options of a run, checked."""

    def __init__(
        self,
        method: str,
        measure: str | None,
        conjunction: Conjunction,
        orders: int,
        tabu: int,
        restarts: int,
        max_steps: int | None,
        threshold: float | None,
        errors: float,
        bootstrap: int,
        rng: np.random.Generator | int | None,
    ) -> None:
        self.method, self.measure = method, fitting_measure(method, measure)
        self.by_contours = self.measure in CONTOUR_MEASURES
        check_conjunction(conjunction)
        self.reading: Reading = "product" if conjunction is PRODUCT else "min"
        require_whole(orders, 1, "learn_structure: orders")
        counted = {
            "tabu": tabu,
            "restarts": restarts,
            "bootstrap": bootstrap,
            "max_steps": 0 if max_steps is None else max_steps,
        }
        for what, value in counted.items():
            require_whole(value, 0, f"learn_structure: {what}")
        self.orders, self.tabu, self.restarts, self.max_steps = orders, tabu, restarts, max_steps
        self.unpriced = self.by_contours and method in {"k2", "hybrid-dag"}
        default = _CONTOUR_THRESHOLD if self.unpriced else 0.0
        given = default if threshold is None else threshold
        self.threshold = require_number(given, "learn_structure: threshold", "a number")
        self.errors = require_number(errors, "learn_structure: errors", "standard errors from 0 on", 0.0)
        self.seed = 0 if rng is None else seed_of(rng)

    @property
    def rng(self) -> np.random.Generator:
        """A generator that starts from the seed."""
        return np.random.default_rng(self.seed)


def fitting_measure(method: str, measure: str | None, owner: str = "learn_structure") -> str:
    """The measure, or a method's own if there is none; an `InputError` if the two do not go together.

    >>> fitting_measure("greedy", None), fitting_measure("hybrid-dag", None)
    ('random-set-bic', 'specificity-gain')
    """
    require_known(method, METHODS, f"{owner}: method")
    hybrid = method in {"hybrid-tree", "hybrid-dag"}
    if measure is None:
        return "specificity-gain" if hybrid else "random-set-bic"
    require_known(measure, MEASURES, f"{owner}: measure")
    if hybrid and measure != "specificity-gain":
        raise InputError(
            f"{owner}: method {method!r} with measure {measure!r}; expected 'specificity-gain': its search lowers "
            "conditional non-specificity"
        )
    if method == "greedy" and measure in CONTOUR_MEASURES:
        raise InputError(
            f"{owner}: method 'greedy' with measure {measure!r}, which nothing keeps from adding edges; expected a score: "
            "random-set-bic, traced-bic, mdl or bic; or method 'mwst' or 'k2'"
        )
    return measure
