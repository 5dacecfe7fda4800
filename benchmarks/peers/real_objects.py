"""possnet's `from_pgmpy`, `from_pyagrum`, `from_networkx` and `to_networkx` on the libraries' own objects: one line of JSON.

Run by the peers' Python, which finds possnet and what it needs at the end of ``sys.path``. For every object the answer has
what the object says to possnet (``given``, so that a test can say it again), what the library itself answers by names
(``meant``), and the states and tables that possnet made of it.
"""

import itertools
import json
import tempfile
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pgmpy
import pyagrum as gum
from pgmpy.factors.discrete import TabularCPD
from pgmpy.models import DiscreteBayesianNetwork

import possnet as pn

warnings.simplefilter("ignore")


def make_pgmpy_models() -> dict[str, DiscreteBayesianNetwork]:
    """An alarm with two causes; numbers for names and states; tables that pgmpy learned from rows."""
    alarm = DiscreteBayesianNetwork([("burglary", "alarm"), ("quake", "alarm")])
    states = {"burglary": ["yes", "no"], "quake": ["none", "small", "big"], "alarm": ["on", "off"]}
    rings = [0.95, 0.96, 0.99, 0.02, 0.3, 0.8]
    alarm.add_cpds(
        TabularCPD("burglary", 2, [[0.01], [0.99]], state_names={"burglary": states["burglary"]}),
        TabularCPD("quake", 3, [[0.9], [0.07], [0.03]], state_names={"quake": states["quake"]}),
        TabularCPD("alarm", 2, [rings, [1 - p for p in rings]], ["burglary", "quake"], [2, 3], state_names=states),
    )
    numbers = DiscreteBayesianNetwork([(1, 2)])
    numbers.add_cpds(TabularCPD(1, 2, [[0.3], [0.7]]), TabularCPD(2, 3, [[0.1, 0.2], [0.3, 0.3], [0.6, 0.5]], [1], [2]))
    import pandas as pd

    rows = pd.DataFrame({"x": ["a", "b", "a", "a"] * 5, "y": [1, 2, 1, 2] * 5, "z": [True, False, True, True] * 5})
    learned = DiscreteBayesianNetwork([("x", "y"), ("x", "z"), ("y", "z")])
    learned.fit(rows)
    return {"alarm": alarm, "numbers": numbers, "learned": learned}


def describe_pgmpy(model: DiscreteBayesianNetwork) -> dict[str, object]:
    """What a model says to possnet, and what pgmpy answers by names."""
    given, meant = {}, {}
    for node in model.nodes():
        cpd = model.get_cpds(node)
        names = {str(name): list(map(str, cpd.state_names[name])) for name in cpd.variables}
        given[str(node)] = {"variables": list(map(str, cpd.variables)), "values": cpd.values.tolist(), "states": names}
        child, *parents = cpd.variables
        meant[str(node)] = [
            {
                "states": {str(name): str(state) for name, state in chosen.items()},
                "probability": float(cpd.values[tuple(cpd.get_state_no(n, s) for n, s in chosen.items())]),
            }
            for combination in itertools.product(*(cpd.state_names[name] for name in (child, *parents)))
            for chosen in [dict(zip((child, *parents), combination, strict=True))]
        ]
    return {"given": given, "meant": meant}


def make_pyagrum_networks() -> dict[str, gum.BayesNet]:
    """Labels, ranges, integers and intervals; the alarm; a noisy OR, whose table is nowhere in memory."""
    alarm = gum.fastBN("burglary{yes|no}->alarm{on|off}<-quake{none|small|big}")
    alarm.cpt("burglary").fillWith([0.01, 0.99])
    alarm.cpt("quake").fillWith([0.9, 0.07, 0.03])
    rings = iter([0.95, 0.96, 0.99, 0.02, 0.3, 0.8])
    for burglary, quake in itertools.product(("yes", "no"), ("none", "small", "big")):
        chance = next(rings)
        alarm.cpt("alarm")[{"burglary": burglary, "quake": quake}] = [chance, 1 - chance]
    gum.initRandom(7)
    kinds = gum.fastBN("count[0,3]->level[0,1.5,4]->code{-1|0|3}<-word{low|high}; count->code")
    noisy = gum.BayesNet("noisy")
    for name in ("a", "b", "c"):
        noisy.add(gum.LabelizedVariable(name, "", ["no", "yes"]))
        noisy.cpt(name).fillWith([0.7, 0.3])
    noisy.addNoisyOR(gum.LabelizedVariable("ill", "", ["no", "yes"]), 0.1)
    for name, weight in (("a", 0.3), ("b", 0.5), ("c", 0.8)):
        noisy.addWeightedArc(name, "ill", weight)
    return {"alarm": alarm, "kinds": kinds, "noisy": noisy}


def describe_pyagrum(network: gum.BayesNet) -> dict[str, object]:
    """What a network says to possnet, and what pyAgrum answers by names."""
    given, meant = {}, {}
    for node in sorted(network.nodes()):
        variable, cpt = network.variable(node), network.cpt(node)
        given[variable.name()] = {
            "labels": list(variable.labels()),
            "numerical": bool(variable.isNumerical()),
            "names": list(cpt.names),
            "list": cpt.tolist(),
        }
        entries = []
        instance = gum.Instantiation(cpt)
        while not instance.end():
            states = {instance.variable(k).name(): instance.variable(k).label(instance.val(k)) for k in range(instance.nbrDim())}  # fmt: skip
            entries.append({"states": states, "probability": cpt.get(instance)})
            instance.inc()
        meant[variable.name()] = entries
    return {"given": given, "meant": meant}


def check_entries(network: pn.Network, meant: dict[str, list[dict[str, object]]]) -> float:
    """The largest distance of possnet's degrees, made by ratios, from those of the probabilities that are meant."""
    worst = 0.0
    for child, entries in meant.items():
        parents = network.dag.parents(child)
        table = np.zeros(network.table(child).shape)
        for entry in entries:
            states = entry["states"]
            table[tuple(network.variable(name).index(states[name]) for name in (*parents, child))] = entry[
                "probability"
            ]
        degrees = table / table.max(axis=-1, keepdims=True)
        worst = max(worst, float(np.abs(degrees - network.table(child)).max()))
    return worst


def record_objects() -> dict[str, object]:
    """Every object of both libraries, as it is and as possnet has it."""
    answers = {}
    for library, objects, describe, convert in (
        ("pgmpy", make_pgmpy_models(), describe_pgmpy, pn.from_pgmpy),
        ("pyagrum", make_pyagrum_networks(), describe_pyagrum, pn.from_pyagrum),
    ):
        for name, model in objects.items():
            network = convert(model, transform="ratio")
            page = describe(model)
            distance = check_entries(network, page["meant"])
            assert distance < 1e-12, (library, name, distance)  # noqa: S101
            ordered = [variable.name for variable in network.variables if variable.ordered]
            tables = {v.name: network.table(v.name).tolist() for v in network.variables}
            answers[f"{library} {name}"] = {**page, "ordered": ordered, "tables": tables}
    return answers


def write_texts() -> dict[str, str]:
    """The alarm as both libraries write it, format by format."""
    from pgmpy.readwrite import BIFWriter, NETWriter, XDSLWriter, XMLBIFWriter

    texts = {}
    with tempfile.TemporaryDirectory() as folder:
        alarm = make_pgmpy_models()["alarm"]
        for suffix, writer, method in (
            ("bif", BIFWriter, "write_bif"),
            ("xml", XMLBIFWriter, "write_xmlbif"),
            ("net", NETWriter, "write_net"),
            ("xdsl", XDSLWriter, "write_xdsl"),
        ):
            path = Path(folder) / f"pgmpy.{suffix}"
            getattr(writer(alarm), method)(str(path))
            texts[path.name] = path.read_text(encoding="utf-8")
        alarm = make_pyagrum_networks()["alarm"]
        for suffix in ("bif", "bifxml", "net", "xdsl", "uai"):
            path = Path(folder) / f"pyagrum.{suffix}"
            gum.saveBN(alarm, str(path))
            texts[path.name] = path.read_text(encoding="utf-8")
    return texts


def list_refusals() -> dict[str, str]:
    """Objects of the libraries that are no discrete Bayesian networks, and what possnet says of them."""
    from pgmpy.models import DynamicBayesianNetwork, LinearGaussianBayesianNetwork

    in_time = DynamicBayesianNetwork([(("d", 0), ("d", 1))])
    in_time.add_cpds(TabularCPD(("d", 0), 2, [[0.4], [0.6]]))
    alarm = make_pgmpy_models()["alarm"]
    cases = {
        "pgmpy in time": (pn.from_pgmpy, in_time),
        "pgmpy gaussian": (pn.from_pgmpy, LinearGaussianBayesianNetwork([("a", "b")])),
        "pgmpy without tables": (pn.from_pgmpy, DiscreteBayesianNetwork([("a", "b")])),
        "pgmpy markov": (pn.from_pgmpy, alarm.to_markov_model()),
        "pyagrum decisions": (pn.from_pyagrum, gum.fastID("a->*d->$u")),
        "pyagrum markov": (pn.from_pyagrum, gum.fastMRF("a--b--c")),
        "networkx undirected": (pn.from_networkx, nx.Graph([("a", "b")])),
        "networkx numbers": (pn.from_networkx, nx.DiGraph([(1, 2)])),
        "networkx cycle": (pn.from_networkx, nx.DiGraph([("a", "b"), ("b", "a")])),
    }
    said = {}
    for name, (convert, value) in cases.items():
        try:
            convert(value)
        except pn.InputError as error:
            said[name] = str(error)
    assert len(said) == len(cases), set(cases) - set(said)  # noqa: S101
    return said


def record_graphs() -> dict[str, object]:
    """What networkx computes on the graphs that possnet gives it."""
    answers = {}
    for name in ("asia", "clinic", "pump", "survey"):
        network = pn.load_example(name)
        graph = pn.to_networkx(network)
        assert pn.from_networkx(graph) == network.dag  # noqa: S101
        nodes = list(graph)
        separated = [
            [a, b, sorted(given)]
            for a, b in itertools.combinations(nodes, 2)
            for given in [(), *((c,) for c in nodes if c not in {a, b})]
            if nx.is_d_separator(graph, {a}, {b}, set(given))
        ]
        answers[name] = {
            "edges": list(graph.edges),
            "order": list(nx.lexicographical_topological_sort(graph)),
            "moral": sorted(map(sorted, nx.moral_graph(graph).edges)),
            "ancestors": {node: sorted(nx.ancestors(graph, node)) for node in nodes},
            "separated": separated,
        }
    return answers


def main() -> None:
    """Print what was found."""
    versions = {"pgmpy": pgmpy.__version__, "pyagrum": gum.__version__, "networkx": nx.__version__}
    page = {"versions": versions, "objects": record_objects(), "files": write_texts(), "refused": list_refusals()}
    print(json.dumps({**page, "graphs": record_graphs()}))


if __name__ == "__main__":
    main()
