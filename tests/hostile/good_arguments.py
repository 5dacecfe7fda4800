"""Arguments that public callables take: by the name of the callable and the parameter, or of the parameter alone."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import possnet as pn
from possnet.em import EmOptions
from possnet.registries import Registry
from tests.io.other_networks import make_graph, make_pgmpy_model, make_pyagrum_network

EVIDENCE: dict[str, Any] = {"fever": "high", "rash": {"spots", "widespread"}}
UTILITIES = {"isolate": {"yes": 1, "no": 0.4}, "wait": {"yes": 0, "no": 1}}


@cache
def net() -> pn.Network:
    return pn.load_example("clinic")


@cache
def rows() -> pn.Dataset:
    data = pn.sample(net(), 60, imprecision=0.5, rng=1)
    assert isinstance(data, pn.Dataset)
    return data


@cache
def folder() -> Path:
    """A folder with one file of each kind, away from everything else."""
    place = Path(tempfile.mkdtemp(prefix="possnet-types-"))
    pn.write_network(net(), place / "net.json")
    pn.write_data(rows(), place / "rows.csv")
    pn.write_counts(counts(), place / "counts.json")
    pn.write_calibration(calibration(), place / "calibration.json")
    pn.write_evidence({"fever": "high"}, net(), place / "evidence.uai.evid")
    return place


@cache
def counts() -> pn.Counts:
    return pn.count(net().dag, rows(), focal=True)


@cache
def engine() -> pn.Inference:
    return pn.Inference(net())


@cache
def bounded_engine() -> pn.Inference:
    tables = {v.name: net().table(v.name) for v in net().variables}
    return pn.Inference(net(), lower=tables, upper=tables)


@cache
def fever() -> pn.Variable:
    return net().variable("fever")


@cache
def calibration() -> pn.Calibration:
    return pn.calibrate(net(), rows(), "measles")


@cache
def structure() -> pn.LearnedStructure:
    return pn.learn_structure(rows(), "greedy", measure="random-set-bic")


@cache
def results() -> pn.Results:
    return pn.evaluate(
        "clinic", rows=(20, 40), imprecision=0.5, process="traced", learners="likelihood", repeats=1, workers=1
    )


@cache
def checked() -> pn.Check:
    return pn.check(net(), rows(), ["measles"], levels=(0.5,))


@cache
def classifier() -> Any:
    from possnet.classifier import PossibilisticClassifier

    return PossibilisticClassifier(structure="naive", bins=2, smoothing=1.0).fit(features(), labels())


@cache
def features() -> Any:
    return np.random.default_rng(1).normal(size=(30, 2))


@cache
def labels() -> list[str]:
    return ["sick" if x > 0 else "well" for x in features()[:, 0]]


@cache
def figure() -> Any:
    return pn.plots.em_convergence(INSTANCES["EmResult"]())


_MAKERS: dict[str, Callable[[], Any]] = {
    "ActUtility": lambda: INSTANCES["Decision"]().acts[0],
    "AnswerExplanation": lambda: pn.explain(net(), "measles", EVIDENCE),
    "AutoResult": lambda: pn.fit_auto(net().dag, rows()),
    "BinnedColumn": lambda: pn.bin_measurements([1.0, 2.0, 3.0], edges=[1.5, 2.5], name="dose"),
    "Binning": lambda: pn.Binning([1.5, 2.5], error=0.1),
    "Bins": lambda: pn.Bins((1.5, 2.5)),
    "Calibration": calibration,
    "CellCheck": lambda: checked()["measles"],
    "Check": checked,
    "Comparison": lambda: pn.compare(net(), net()),
    "Completion": lambda: pn.complete(net(), rows()),
    "CompletionStream": lambda: pn.complete(net(), pn.sample_batches(net(), 20, rng=1, batch=10)),
    "CompletionSummary": lambda: INSTANCES["Completion"]().summary(),
    "Conflicts": lambda: pn.conflicts(net(), EVIDENCE, threshold=0.99),
    "Constraints": pn.Constraints,
    "Contribution": lambda: INSTANCES["Contributions"]()[0],
    "Contributions": lambda: pn.contributions(net(), "measles", EVIDENCE),
    "Counts": counts,
    "CutResult": lambda: pn.fit_cut(net().dag, rows()),
    "Dag": lambda: net().dag,
    "DataStream": lambda: pn.scan_data(folder() / "rows.csv"),
    "Dataset": rows,
    "Decision": lambda: pn.decide(net(), ["isolate", "wait"], UTILITIES, EVIDENCE, target="measles"),
    "DetectedProcess": lambda: pn.detect_process(rows(), net().dag),
    "EdgeExplanation": lambda: pn.explain_edge(structure(), rows(), "measles", "rash"),
    "EmOptions": EmOptions,
    "EmResult": lambda: pn.fit_em(net().dag, rows(), tolerance=5.0),
    "EntrySensitivity": lambda: INSTANCES["Sensitivity"]()[0],
    "EssentialGraph": net().dag.essential_graph,
    "Explanation": lambda: engine().most_possible(),
    "Gate": lambda: pn.gate_or(net().variable("measles"), [net().variable("contact")], inhibition=0.2),
    "GateFit": lambda: pn.nearest_gate(net(), "measles"),
    "IdentifiedDegrees": lambda: pn.identify_degrees(net()),
    "ImpossibleEvidence": lambda: pn.ImpossibleEvidence("words"),
    "Inference": bounded_engine,
    "InputError": lambda: pn.InputError("words"),
    "LearnedStructure": structure,
    "MassFunction": lambda: pn.MassFunction(fever(), {frozenset({"none"}): 0.4, frozenset({"none", "mild"}): 0.6}),
    "Network": net,
    "NextQuestion": lambda: INSTANCES["NextQuestions"]()[0],
    "NextQuestions": lambda: pn.next_questions(net(), "measles", EVIDENCE),
    "Possibility": lambda: pn.Possibility(fever(), [1, 0.5, 0.2]),
    "PossibilityBounds": lambda: bounded_engine().bounds("fever"),
    "PossibleAnswer": lambda: next(iter(INSTANCES["NextQuestion"]().answers.values())),
    "PossnetError": lambda: pn.PossnetError("words"),
    "RandomSets": lambda: pn.fit_random_sets(net().dag, rows()),
    "Recipe": lambda: pn.Recipe("greedy", measure="random-set-bic"),
    "Repair": lambda: pn.Repair(("fever",), {}, 0.5),
    "Results": results,
    "SampleStream": lambda: pn.sample_batches(net(), 20, rng=1, batch=10),
    "Scenario": lambda: pn.Scenario({"fever": "high"}),
    "ScenarioComparison": lambda: pn.scenarios(net(), {"a": {"fever": "high"}, "b": {"fever": "none"}}),
    "Search": pn.Search,
    "Sensitivity": lambda: pn.sensitivity(net(), "measles", "yes", EVIDENCE),
    "SimulatedLimit": lambda: pn.simulated_limit(net(), 100, rng=1),
    "TooLarge": lambda: pn.TooLarge("words"),
    "UndirectedGraph": net().dag.skeleton,
    "Variable": fever,
    "classifier.CandidateScorer": lambda: pn.classifier.CandidateScorer("coverage"),
    "classifier.HeldOutScores": lambda: pn.classifier.score_folds(classifier(), features(), labels(), folds=2),
    "classifier.PossibilisticClassifier": classifier,
    "plots.NothingToShow": lambda: pn.plots.NothingToShow("words"),
    "registries.Registry": lambda: Registry("thing"),
}
INSTANCES: Mapping[str, Callable[[], Any]] = {name: cache(make) for name, make in _MAKERS.items()}

BY_PARAMETER: Mapping[str, Callable[[], Any]] = {
    "network": net,
    "networks": net,
    "first": net,
    "second": net,
    "truth": net,
    "learned": net,
    "subject": net,
    "frame": net,
    "dag": lambda: net().dag,
    "model": lambda: net().dag,
    "data": rows,
    "counts": counts,
    "variable": fever,
    "variables": lambda: net().variables,
    "possibility": INSTANCES["Possibility"],
    "conjunction": lambda: pn.PRODUCT,
    "evidence": lambda: EVIDENCE,
    "target": lambda: "measles",
    "name": lambda: "fever",
    "names": lambda: ["fever", "rash"],
    "node": lambda: "fever",
    "nodes": lambda: ("fever", "rash"),
    "state": lambda: "high",
    "states": lambda: {"mild", "high"},
    "event": lambda: {"mild", "high"},
    "rank": lambda: 0,
    "number": lambda: 3,
    "row": lambda: 3,
    "rows": lambda: 20,
    "draws": lambda: 20,
    "process": lambda: "traced",
    "imprecision": lambda: 0.5,
    "learner": lambda: "likelihood",
    "X": features,
    "y": labels,
    "y_true": labels,
    "estimator": classifier,
    "alpha": lambda: 0.3,
    "result": INSTANCES["CutResult"],
    "results": results,
    "check": checked,
    "calibration": calibration,
    "figure": figure,
    "experiment": lambda: folder() / "nothing",
    "lines": lambda: "words",
}


def _ambiguous() -> tuple[int, str]:
    """The row, from 0, and the variable of an ambiguous cell."""
    form = INSTANCES["Completion"]().long_form()
    return int(form["row"][0]), str(form["variable"][0])


def _report() -> Any:
    from possnet.arrow import ProblemReport

    return ProblemReport("data")


def _readings() -> Any:
    from possnet.measurements import read_numbers

    return read_numbers(np.array([1.0, 2.0]))


def _row_queries() -> Any:
    return INSTANCES["CompletionStream"]()._engine


def _semiring() -> Any:
    from possnet.inference import MAX_PRODUCT

    return MAX_PRODUCT


def _sources() -> Any:
    return INSTANCES["DataStream"]()._sources


@cache
def make_experiment() -> Path:
    place = folder() / "experiment"
    pn.evaluate(
        "clinic", rows=20, imprecision=0.5, process="traced", learners="likelihood", repeats=1, workers=1, out=place
    )
    return place


ARGUMENTS: Mapping[str, Mapping[str, Callable[[], Any]]] = {
    "BinnedColumn.to_bitmaps": {"variable": lambda: INSTANCES["BinnedColumn"]().variable, "report": _report},
    "BinnedColumn.with_name": {"name": lambda: "dose"},
    "Binning.bin_intervals": {"readings": _readings, "name": lambda: "dose"},
    "Binning.from_variable": {"variable": lambda: INSTANCES["BinnedColumn"]().variable},
    "Binning.settle_edges": {"numbers": lambda: np.array([1.0, 2.0, 3.0])},
    "Bins.edge_text": {"edge": lambda: 1.5},
    "Bins.index": {"number": lambda: 1.7},
    "Calibration.conflicts": {"raw": lambda: np.ones((2, 2))},
    "Calibration.degrees": {"raw": lambda: np.ones((2, 2))},
    "Calibration.p_values": {"raw": lambda: np.ones((2, 2))},
    "Calibration.sets": {"raw": lambda: np.ones((2, 2)), "alpha": lambda: 0.1},
    "Check.__getitem__": {"name": lambda: "measles"},
    "Comparison": {"metrics": lambda: dict(INSTANCES["Comparison"]())},
    "Completion.of": {"row": lambda: _ambiguous()[0], "name": lambda: _ambiguous()[1]},
    "CompletionStream": {"engine": _row_queries, "stream": INSTANCES["SampleStream"]},
    "CompletionSummary.__add__": {"other": INSTANCES["CompletionSummary"]},
    "Contributions.of": {"name": lambda: "fever"},
    "Counts.__add__": {"other": counts},
    "Counts.with_order": {"variables": lambda: net().variables, "dag": lambda: net().dag},
    "Dag": {"parents": lambda: {"fever": (), "rash": ("fever",)}},
    "Dag.d_separated": {"first": lambda: "fever", "second": lambda: "rash"},
    "Dag.from_edges": {"edges": lambda: [("fever", "rash")]},
    "DataStream": {"sources": _sources, "variables": lambda: rows().variables},
    "Dataset.__getitem__": {"rows": lambda: slice(2, 5)},
    "Dataset.concatenate": {"parts": lambda: [rows(), rows()]},
    "Dataset.from_columns": {"columns": lambda: [INSTANCES["BinnedColumn"]()]},
    "Dataset.from_rows": {"variables": lambda: (fever(),), "rows": lambda: [("mild",), ({"mild", "high"},)]},
    "Dataset.from_table": {"frame": lambda: {"fever": ["mild", "high"], "w": [1, 2]}},
    "Dataset.split": {"share": lambda: 0.5},
    "Dataset.with_columns": {"columns": lambda: [rows().column("fever")]},
    "Dataset.with_weights": {"weights": lambda: np.ones(60)},
    "Decision.of": {"name": lambda: "wait"},
    "EdgeExplanation.law_rows": {},
    "EmResult.mass_function": {"name": lambda: "season"},
    "EntrySensitivity.value": {"t": lambda: 0.5},
    "EssentialGraph": {
        "nodes": lambda: ("a", "b", "c"),
        "directed": lambda: [("a", "b")],
        "undirected": lambda: [("b", "c")],
    },
    "Inference.entry_derivatives": {"alternatives": lambda: [{"fever": "high"}, {"fever": "none"}]},
    "Inference.marginal_blocks": {"wanted": lambda: {"fever": np.ones(60, dtype=bool)}},
    "Inference.most_possible_k": {"k": lambda: 2},
    "MassFunction": {"masses": lambda: {frozenset({"none"}): 0.4, frozenset({"none", "mild"}): 0.6}},
    "MassFunction.is_close": {"other": INSTANCES["MassFunction"]},
    "Network": {"tables": lambda: {v.name: net().table(v.name) for v in net().variables}},
    "Network.subnormal": {"tables": lambda: {v.name: net().table(v.name) for v in net().variables}},
    "Network.derive": {"make": lambda: lambda network: len(network.variables)},
    "Network.do": {"interventions": lambda: {"vaccinated": "yes"}},
    "Network.is_close": {"other": net},
    "Network.joint": {"configuration": lambda: engine().most_possible().configuration},
    "Network.with_bounds": {
        "lower": lambda: {v.name: net().table(v.name) for v in net().variables},
        "upper": lambda: {v.name: net().table(v.name) for v in net().variables},
    },
    "Network.with_table": {"degrees": lambda: net().table("fever")},
    "Network.with_transform": {"transform": lambda: "ratio"},
    "Possibility": {"variables": fever, "degrees": lambda: [1, 0.5, 0.2]},
    "Possibility.__getitem__": {"configuration": lambda: "mild"},
    "Possibility.is_close": {"other": INSTANCES["Possibility"]},
    "Possibility.marginal": {"names": lambda: "fever"},
    "Possibility.vacuous": {"variables": fever},
    "PossibilityBounds": {
        "variables": lambda: (fever(),),
        "joint": lambda: (np.ones(3), np.ones(3)),
        "semiring": _semiring,
        "given": lambda: False,
        "attained": lambda: True,
    },
    "PossibilityBounds.__getitem__": {"configuration": lambda: "mild"},
    "RandomSets": {
        "dag": lambda: pn.Dag({"fever": ()}),
        "variables": lambda: (fever(),),
        "masses": lambda: {"fever": {(): INSTANCES["MassFunction"]()}},
        "support": lambda: {"fever": {(): 3}},
    },
    "RandomSets.contour": {"name": lambda: "season"},
    "RandomSets.mass_function": {"name": lambda: "season"},
    "Recipe.learn_tables": {"structure": structure},
    "Results.contexts": {"network": lambda: "clinic"},
    "SampleStream": {"sampler": lambda: INSTANCES["SampleStream"]()._sampler, "start": lambda: 0, "batch": lambda: 5},
    "ScenarioComparison.of": {"name": lambda: "fever"},
    "Sensitivity": {
        "state": lambda: "yes",
        "answer": lambda: 0.5,
        "curves": lambda: INSTANCES["Sensitivity"]()._curves,
        "only": lambda: INSTANCES["Sensitivity"]()._only,
    },
    "Sensitivity.entry": {"variable": lambda: "rash", "state": lambda: "spots", "context": lambda: {"measles": "no"}},
    "UndirectedGraph": {"edges": lambda: [("fever", "rash")]},
    "Variable": {"states": lambda: ("none", "high")},
    "Variable.follows_order": {"other": fever},
    "Variable.states_in": {"mask": lambda: 3},
    "bin_measurements": {"values": lambda: [1.0, 2.0, 3.0]},
    "classifier.candidate_log_loss": {"probabilities": lambda: classifier().predict_proba(features())},
    "classifier.decision_to_sets": {"decision": lambda: classifier().decision_function(features())},
    "classifier.discounted_accuracy": {"sets": lambda: classifier().predict_set(features())},
    "classifier.mean_set_size": {"sets": lambda: classifier().predict_set(features())},
    "classifier.set_coverage": {"sets": lambda: classifier().predict_set(features())},
    "classifier.score_sets": {
        "decision": lambda: classifier().decision_function(features()),
        "candidates": lambda: pn.classifier.candidates_to_multihot(labels()),
    },
    "classifier.superset_accuracy": {"y_pred": labels},
    "classifier.CandidateScorer": {"name": lambda: "coverage"},
    "classifier.CandidateScorer.__call__": {},
    "classifier.PossibilisticClassifier.explain": {"row": lambda: features()[0]},
    "decide": {
        "acts": lambda: ["isolate", "wait"],
        "utilities": lambda: UTILITIES,
        "target": lambda: "measles",
    },
    "draw_structure": {"learned": structure},
    "explain_edge": {"learned": structure, "parent": lambda: "measles", "child": lambda: "rash"},
    "explorer.explore": {"open_browser": lambda: False, "announce": lambda: str.upper},
    "gate_and": {"child": lambda: net().variable("measles"), "parents": lambda: [net().variable("contact")]},
    "gate_max": {"child": fever, "parents": lambda: [net().variable("rash")], "effects": lambda: 0.2},
    "gate_min": {"child": fever, "parents": lambda: [net().variable("rash")], "effects": lambda: 0.2},
    "gate_or": {"child": lambda: net().variable("measles"), "parents": lambda: [net().variable("contact")]},
    "information_affinity": {"first": lambda: [1, 0.5], "second": lambda: [0.5, 1]},
    "load_example": {"name": lambda: "clinic"},
    "normalise_tables": {"tables": lambda: {"fever": [0.5, 0.2, 0.1]}},
    "plots.accuracy_bars": {"variables": lambda: checked().variables},
    "plots.reliability_curves": {"variables": lambda: checked().variables, "overall": lambda: checked().overall},
    "plots.contribution_tornado": {"shares": INSTANCES["Contributions"]},
    "plots.drawing_figure": {"drawing": lambda: pn.draw_network(net())},
    "plots.em_convergence": {"result": INSTANCES["EmResult"]},
    "plots.learner_style": {"name": lambda: "likelihood", "among": lambda: ("likelihood", "em")},
    "plots.save_figure": {"stem": lambda: folder() / "figure"},
    "plots.sensitivity_curves": {"result": INSTANCES["Sensitivity"]},
    "plots.support_calibration": {"learned": lambda: pn.fit(net().dag, rows())},
    "plots.svg_text": {"title": lambda: "figure"},
    "plots.variable_heatmap": {"network": lambda: "clinic"},
    "plots.worst_variable": {"network": lambda: "clinic"},
    "from_networkx": {"graph": make_graph},
    "from_pgmpy": {"model": make_pgmpy_model},
    "from_pyagrum": {"network": make_pyagrum_network},
    "random_network": {"n": lambda: 4},
    "read_calibration": {"path": lambda: folder() / "calibration.json"},
    "read_counts": {"path": lambda: folder() / "counts.json"},
    "read_data": {"path": lambda: folder() / "rows.csv"},
    "read_evidence": {"path": lambda: folder() / "evidence.uai.evid"},
    "read_network": {"path": lambda: folder() / "net.json"},
    "registries.Registry": {"kind": lambda: "thing"},
    "registries.Registry.__getitem__": {"name": lambda: "nothing"},
    "registries.Registry.__contains__": {"key": lambda: "nothing"},
    "registries.Registry.get": {"key": lambda: "nothing"},
    "registries.Registry.register": {"entry": lambda: pn.Variable("thing", ("a",))},
    "registries.Registry.require": {"name": lambda: "nothing", "owner": lambda: "someone"},
    "registries.Registry.unregister": {"name": lambda: "nothing"},
    "sample_batches": {name: (lambda: None) for name in ("imprecision", "process", "law", "parents", "evidence")},
    "sampling_law": {"child": lambda: "season"}
    | {name: (lambda: None) for name in ("imprecision", "process", "law", "parents", "evidence")},
    "sampling_limit": {name: (lambda: None) for name in ("imprecision", "process", "law", "parents", "evidence")},
    "simulated_limit": {"rows": lambda: 100}
    | {name: (lambda: None) for name in ("imprecision", "process", "law", "parents", "evidence")},
    "scan_data": {"paths": lambda: folder() / "rows.csv", "header": lambda: None},
    "scenarios": {"named": lambda: {"a": {"fever": "high"}, "b": {"fever": "none"}}},
    "sensitivity": {"state": lambda: "yes"},
    "to_possibility": {"probabilities": lambda: [0.5, 0.3, 0.2]},
    "to_probability": {"degrees": lambda: [1, 0.3, 0.2]},
    "write_calibration": {"path": lambda: folder() / "out.json"},
    "write_check": {"path": lambda: folder() / "out.html"},
    "write_counts": {"path": lambda: folder() / "out.json"},
    "write_data": {"path": lambda: folder() / "out.csv"},
    "write_evidence": {"evidence": lambda: {"fever": "high"}, "path": lambda: folder() / "out.uai.evid"},
    "write_network": {"path": lambda: folder() / "out.json"},
    "write_report": {"experiment": make_experiment},
}

ALWAYS: Mapping[str, Mapping[str, Callable[[], Any]]] = {
    "decide": {"target": lambda: "measles"},
    "evaluate": {
        "networks": net,
        "rows": lambda: 20,
        "imprecision": lambda: 0.5,
        "process": lambda: "traced",
        "learners": lambda: "likelihood",
        "repeats": lambda: 1,
        "workers": lambda: 1,
    },
    "Calibration.sets": {"alpha": lambda: 0.1},
    "explorer.explore": ARGUMENTS["explorer.explore"],
    "Sensitivity.entry": ARGUMENTS["Sensitivity.entry"],
    "check": {"targets": lambda: ["measles"], "levels": lambda: (0.5,)},
    "gate_or": {"inhibition": lambda: 0.2},
    "learn_structure": {"method": lambda: "greedy", "measure": lambda: "random-set-bic"},
    "fit_em": {"tolerance": lambda: 5.0},
    "registries.Registry.require": {},
}
"""Options that are handed in unless it is their turn to be wrong: to be quick, or to write nothing."""


def make_value(callable_name: str, parameter: str) -> Any:
    """A good value for a parameter; a KeyError if none is listed."""
    own = ARGUMENTS.get(callable_name, {})
    if parameter in {"other", "value"} and callable_name.endswith("__eq__"):
        return INSTANCES[callable_name.rpartition(".")[0]]()
    return own[parameter]() if parameter in own else BY_PARAMETER[parameter]()
