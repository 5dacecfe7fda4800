"""EM over the hidden trace: learning that recovers a network from imprecise data, missing cells included."""

from possnet.em.algorithm import EmAlgorithm
from possnet.em.em_result import CellMasses, EmResult
from possnet.em.em_rows import EmRows
from possnet.em.fitting import EmOptions, fit_em
from possnet.em.hidden_states import HiddenStateModel, merge_overlapping
from possnet.em.squarem import run_squarem

__all__ = [
    "CellMasses",
    "EmAlgorithm",
    "EmOptions",
    "EmResult",
    "EmRows",
    "HiddenStateModel",
    "fit_em",
    "merge_overlapping",
    "run_squarem",
]
