"""possnet: possibilistic networks, and learning them from data whose cells are sets.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> asia.table("smoke")
    array([1., 1.])

Names are loaded when they are first used, so that ``possnet --help`` need not wait for numpy.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from possnet import plots as plots
    from possnet.completion import Completion, CompletionStream, CompletionSummary, complete
    from possnet.counting import Counts, count
    from possnet.dataset import Dataset
    from possnet.em import EmResult, fit_em
    from possnet.errors import ImpossibleEvidence, InputError, PossnetError, PossnetWarning, TooLarge
    from possnet.experiment import Results, evaluate
    from possnet.graph import Dag, EssentialGraph, UndirectedGraph
    from possnet.inference import Explanation, Inference
    from possnet.io import (
        DataStream,
        load_example,
        read_counts,
        read_data,
        read_evidence,
        read_network,
        scan_data,
        write_counts,
        write_data,
        write_evidence,
        write_network,
    )
    from possnet.likelihood import (
        log_likelihood,
        log_likelihood_by_family,
        random_set_log_likelihood,
        random_set_log_likelihood_by_family,
    )
    from possnet.measurements import BinnedColumn, Measure, bin_measurements
    from possnet.metrics import Comparison, compare, information_affinity
    from possnet.network import Network, normalise_tables, random_network
    from possnet.parameters import RandomSets, fit, fit_random_sets
    from possnet.plots import draw_difference, draw_network
    from possnet.possibility import MIN, PRODUCT, Conjunction, Possibility
    from possnet.randomset import MassFunction
    from possnet.report import write_report
    from possnet.sampling import (
        SampleStream,
        SimulatedLimit,
        chanas,
        guyonnet,
        sample,
        sample_batches,
        sampling_law,
        sampling_limit,
        simulated_limit,
    )
    from possnet.structure import LearnedStructure, learn_structure
    from possnet.transforms import to_possibility, to_probability
    from possnet.variables import Variable

__version__ = "0.1.0"

__all__ = [
    "MIN",
    "PRODUCT",
    "BinnedColumn",
    "Comparison",
    "Completion",
    "CompletionStream",
    "CompletionSummary",
    "Conjunction",
    "Counts",
    "Dag",
    "DataStream",
    "Dataset",
    "EmResult",
    "EssentialGraph",
    "Explanation",
    "ImpossibleEvidence",
    "Inference",
    "InputError",
    "LearnedStructure",
    "MassFunction",
    "Measure",
    "Network",
    "Possibility",
    "PossnetError",
    "PossnetWarning",
    "RandomSets",
    "Results",
    "SampleStream",
    "SimulatedLimit",
    "TooLarge",
    "UndirectedGraph",
    "Variable",
    "bin_measurements",
    "chanas",
    "compare",
    "complete",
    "count",
    "draw_difference",
    "draw_network",
    "evaluate",
    "fit",
    "fit_em",
    "fit_random_sets",
    "guyonnet",
    "information_affinity",
    "learn_structure",
    "load_example",
    "log_likelihood",
    "log_likelihood_by_family",
    "normalise_tables",
    "random_network",
    "random_set_log_likelihood",
    "random_set_log_likelihood_by_family",
    "read_counts",
    "read_data",
    "read_evidence",
    "read_network",
    "sample",
    "sample_batches",
    "sampling_law",
    "sampling_limit",
    "scan_data",
    "simulated_limit",
    "to_possibility",
    "to_probability",
    "write_counts",
    "write_data",
    "write_evidence",
    "write_network",
    "write_report",
]

_ROOMS = {
    "completion": ("Completion", "CompletionStream", "CompletionSummary", "complete"),
    "dataset": ("Dataset",),
    "errors": ("ImpossibleEvidence", "InputError", "PossnetError", "PossnetWarning", "TooLarge"),
    "inference": ("Explanation", "Inference"),
    "graph": ("Dag", "EssentialGraph", "UndirectedGraph"),
    "io": (
        "DataStream",
        "load_example",
        "read_counts",
        "read_data",
        "read_evidence",
        "read_network",
        "scan_data",
        "write_counts",
        "write_data",
        "write_evidence",
        "write_network",
    ),
    "network": ("Network", "normalise_tables", "random_network"),
    "possibility": ("MIN", "PRODUCT", "Conjunction", "Possibility"),
    "randomset": ("MassFunction",),
    "sampling": (
        "SampleStream",
        "SimulatedLimit",
        "chanas",
        "guyonnet",
        "sample",
        "sample_batches",
        "sampling_law",
        "sampling_limit",
        "simulated_limit",
    ),
    "counting": ("Counts", "count"),
    "parameters": ("RandomSets", "fit", "fit_random_sets"),
    "likelihood": (
        "log_likelihood",
        "log_likelihood_by_family",
        "random_set_log_likelihood",
        "random_set_log_likelihood_by_family",
    ),
    "em": ("EmResult", "fit_em"),
    "measurements": ("BinnedColumn", "Measure", "bin_measurements"),
    "metrics": ("Comparison", "compare", "information_affinity"),
    "experiment": ("Results", "evaluate"),
    "plots": ("draw_difference", "draw_network"),
    "report": ("write_report",),
    "structure": ("LearnedStructure", "learn_structure"),
    "transforms": ("to_possibility", "to_probability"),
    "variables": ("Variable",),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _HOME:
        globals()[name] = value = getattr(import_module(f"possnet.{_HOME[name]}"), name)
        return value
    if name == "plots":
        return import_module("possnet.plots")
    raise AttributeError(f"module 'possnet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
