"""EM over the hidden trace: maximum-likelihood tables from imprecise data, missing cells included.

The *trace* of a row is the true state behind each of its cells. `fit_em` runs the algorithm (see `possnet.em.fitting`).
"""

from possnet.em.algorithm import EmAlgorithm
from possnet.em.class_model import ClassModel, fit_class_model, join_features
from possnet.em.class_trees import grow_class_tree, measure_class_information
from possnet.em.coarsened_fitting import fit_coarsened
from possnet.em.coarsening import CoarsenedNetwork
from possnet.em.em_result import CellMasses, EmResult
from possnet.em.em_rows import EmRows
from possnet.em.feature_rows import FeatureCells, FeatureRows
from possnet.em.fitting import EmOptions, fit_em
from possnet.em.hidden_states import HiddenStateModel, merge_overlapping
from possnet.em.m_step import run_m_step
from possnet.em.squarem import run_squarem

__all__ = [
    "CellMasses",
    "ClassModel",
    "CoarsenedNetwork",
    "EmAlgorithm",
    "EmOptions",
    "EmResult",
    "EmRows",
    "FeatureCells",
    "FeatureRows",
    "HiddenStateModel",
    "fit_class_model",
    "fit_coarsened",
    "fit_em",
    "grow_class_tree",
    "join_features",
    "measure_class_information",
    "merge_overlapping",
    "run_m_step",
    "run_squarem",
]
