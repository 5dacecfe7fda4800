"""The public names of possnet, each listed once: `possnet.__init__` loads them from here when they are first used."""

from . import plots as plots
from .calibration import Calibration as Calibration, calibrate as calibrate
from .checking import CellCheck as CellCheck, Check as Check, Recipe as Recipe, check as check
from .completion import (
    Completion as Completion,
    CompletionStream as CompletionStream,
    CompletionSummary as CompletionSummary,
    complete as complete,
)
from .counting import Counts as Counts, count as count
from .cuts import (
    AutoResult as AutoResult,
    CutResult as CutResult,
    DetectedProcess as DetectedProcess,
    IdentifiedDegrees as IdentifiedDegrees,
    detect_process as detect_process,
    fit_auto as fit_auto,
    fit_cut as fit_cut,
    identify_degrees as identify_degrees,
)
from .dataset import Dataset as Dataset
from .em import (
    EmOptions as EmOptions,
    EmResult as EmResult,
    fit_coarsened as fit_coarsened,
    fit_em as fit_em,
)
from .errors import (
    ImpossibleEvidence as ImpossibleEvidence,
    InputError as InputError,
    PossnetError as PossnetError,
    PossnetWarning as PossnetWarning,
    TooLarge as TooLarge,
)
from .experiment import Results as Results, evaluate as evaluate
from .explanation import (
    ActUtility as ActUtility,
    AnswerExplanation as AnswerExplanation,
    Conflicts as Conflicts,
    Contribution as Contribution,
    Contributions as Contributions,
    Decision as Decision,
    EntrySensitivity as EntrySensitivity,
    NextQuestion as NextQuestion,
    NextQuestions as NextQuestions,
    PossibleAnswer as PossibleAnswer,
    Repair as Repair,
    Scenario as Scenario,
    ScenarioComparison as ScenarioComparison,
    Sensitivity as Sensitivity,
    conflicts as conflicts,
    contributions as contributions,
    decide as decide,
    explain as explain,
    next_questions as next_questions,
    scenarios as scenarios,
    sensitivity as sensitivity,
)
from .gates import (
    Gate as Gate,
    GateFit as GateFit,
    gate_and as gate_and,
    gate_max as gate_max,
    gate_min as gate_min,
    gate_or as gate_or,
)
from .graph import Dag as Dag, EssentialGraph as EssentialGraph, UndirectedGraph as UndirectedGraph
from .inference import (
    Explanation as Explanation,
    Inference as Inference,
    PossibilityBounds as PossibilityBounds,
)
from .io import (
    DataStream as DataStream,
    from_networkx as from_networkx,
    from_pgmpy as from_pgmpy,
    from_pyagrum as from_pyagrum,
    load_example as load_example,
    read_calibration as read_calibration,
    read_counts as read_counts,
    read_data as read_data,
    read_evidence as read_evidence,
    read_network as read_network,
    scan_data as scan_data,
    to_networkx as to_networkx,
    write_calibration as write_calibration,
    write_counts as write_counts,
    write_data as write_data,
    write_evidence as write_evidence,
    write_network as write_network,
)
from .likelihood import (
    log_likelihood as log_likelihood,
    log_likelihood_by_family as log_likelihood_by_family,
    random_set_log_likelihood as random_set_log_likelihood,
    random_set_log_likelihood_by_family as random_set_log_likelihood_by_family,
)
from .measurements import BinnedColumn as BinnedColumn, Binning as Binning, bin_measurements as bin_measurements
from .metrics import Comparison as Comparison, compare as compare, information_affinity as information_affinity
from .network import (
    Network as Network,
    align_network as align_network,
    nearest_gate as nearest_gate,
    normalise_tables as normalise_tables,
    random_network as random_network,
)
from .parameters import RandomSets as RandomSets, fit as fit, fit_random_sets as fit_random_sets
from .plots import draw_difference as draw_difference, draw_network as draw_network
from .possibility import MIN as MIN, PRODUCT as PRODUCT, Conjunction as Conjunction, Possibility as Possibility
from .randomset import MassFunction as MassFunction
from .report import write_check as write_check, write_report as write_report
from .sampling import (
    SampleStream as SampleStream,
    SimulatedLimit as SimulatedLimit,
    chanas as chanas,
    guyonnet as guyonnet,
    sample as sample,
    sample_batches as sample_batches,
    sampling_law as sampling_law,
    sampling_limit as sampling_limit,
    simulated_limit as simulated_limit,
)
from .structure import (
    Constraints as Constraints,
    EdgeExplanation as EdgeExplanation,
    LearnedStructure as LearnedStructure,
    Search as Search,
    draw_structure as draw_structure,
    explain_edge as explain_edge,
    learn_structure as learn_structure,
)
from .transforms import to_possibility as to_possibility, to_probability as to_probability
from .variables import Bins as Bins, Variable as Variable

__all__: list[str]
__version__: str
