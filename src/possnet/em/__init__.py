"""EM over the hidden trace: learning that recovers a network from imprecise data, missing cells included."""

from possnet.em.algorithm import EmAlgorithm
from possnet.em.em_result import CellMasses, EmResult
from possnet.em.em_rows import DistinctRows, EmRows, code_cells
from possnet.em.fitting import EmOptions, fit_em
from possnet.em.hidden_states import HiddenStateModel, merge_overlapping
from possnet.em.squarem import EmRun, EmStep, Masses, run_squarem

__all__ = [
    "CellMasses",
    "DistinctRows",
    "EmAlgorithm",
    "EmOptions",
    "EmResult",
    "EmRows",
    "EmRun",
    "EmStep",
    "HiddenStateModel",
    "Masses",
    "code_cells",
    "fit_em",
    "merge_overlapping",
    "run_squarem",
]
