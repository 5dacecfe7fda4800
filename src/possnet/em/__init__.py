"""EM over the hidden trace: maximum-likelihood tables from imprecise data, missing cells included.

The *trace* of a row is the true state behind each of its cells. `fit_em` runs the algorithm (see `possnet.em.fitting`).
"""

from possnet.em.algorithm import EmAlgorithm, HeldPosteriors, PosteriorSums
from possnet.em.class_model import ClassModel, fit_class_model, join_features
from possnet.em.class_trees import grow_class_tree, measure_class_information
from possnet.em.coarsened_fitting import fit_coarsened
from possnet.em.coarsening import CoarsenedNetwork
from possnet.em.em_result import CellMasses, EmResult
from possnet.em.em_rows import (
    CellCounts,
    DistinctRows,
    EmRows,
    count_em_cells,
    group_em_rows,
    join_em_rows,
    merge_em_rows,
    number_cells,
)
from possnet.em.feature_rows import FeatureCells, FeatureRows
from possnet.em.fitting import EmOptions, EmSettings, fit_em, run_em
from possnet.em.hidden_states import HiddenStateModel, merge_overlapping
from possnet.em.m_step import run_m_step
from possnet.em.squarem import run_squarem

__all__ = [
    "CellCounts",
    "CellMasses",
    "ClassModel",
    "CoarsenedNetwork",
    "DistinctRows",
    "EmAlgorithm",
    "EmOptions",
    "EmResult",
    "EmRows",
    "EmSettings",
    "FeatureCells",
    "FeatureRows",
    "HeldPosteriors",
    "HiddenStateModel",
    "PosteriorSums",
    "count_em_cells",
    "fit_class_model",
    "fit_coarsened",
    "fit_em",
    "group_em_rows",
    "grow_class_tree",
    "join_em_rows",
    "join_features",
    "measure_class_information",
    "merge_em_rows",
    "merge_overlapping",
    "number_cells",
    "run_em",
    "run_m_step",
    "run_squarem",
]
