"""Learning from alpha-cut rows by their own law: identified degrees, and exact bounds of the others.

`fit_cut` learns a network (see `possnet.cuts.cut_fitting`), `identify_degrees` says what endless rows would tell. A score
of structures needs one family at a time: `count_family` counts its cells, `fit_family` gives bounds and log-likelihood,
`fit_cells` the log-likelihood alone.
"""

from possnet.cuts.ancestor_bounds import ContextDegrees
from possnet.cuts.automatic_fit import AutoResult, fit_auto
from possnet.cuts.cell_likelihood import estimate_imprecision
from possnet.cuts.cut_fitting import fit_cut
from possnet.cuts.cut_result import CutResult
from possnet.cuts.family_cells import FamilyCells, count_cells, count_family
from possnet.cuts.family_fitting import CellFit, FamilyFit, fit_cells, fit_family
from possnet.cuts.identified_degrees import IdentifiedDegrees, identify_degrees
from possnet.cuts.process_detection import DetectedProcess, detect_process

__all__ = [
    "AutoResult",
    "CellFit",
    "ContextDegrees",
    "CutResult",
    "DetectedProcess",
    "FamilyCells",
    "FamilyFit",
    "IdentifiedDegrees",
    "count_cells",
    "count_family",
    "detect_process",
    "estimate_imprecision",
    "fit_auto",
    "fit_cells",
    "fit_cut",
    "fit_family",
    "identify_degrees",
]
