"""Networks of other Python libraries as networks of possnet, and graphs of networkx both ways.

None of these libraries is imported but by `to_networkx`: a given object is asked for what it has.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.doors import check_arguments
from possnet.errors import InputError, describe_value, listing
from possnet.graph import Dag
from possnet.io.file_access import prefix_errors
from possnet.io.probability_tables import NetworkDraft
from possnet.network import Network

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from typing import NoReturn

    from possnet.aliases import Floats
    from possnet.transforms import Transform

_NO_NAMES = ("anonymousBN", "unnamedBN")  # what pyAgrum calls networks that nobody named


@check_arguments
def from_pgmpy(model: object, *, transform: Transform = "optimal") -> Network:
    """Possibilistic network of a discrete Bayesian network of pgmpy.

    Parameters
    ----------
    model
        A ``DiscreteBayesianNetwork`` (``BayesianNetwork`` in older versions) with a ``TabularCPD`` for every node. Names
        of nodes and states become texts; states are matched by name between tables.
    transform
        How probabilities become possibilities: see `to_possibility`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> cpd = SimpleNamespace(variables=["rash"], values=[0.2, 0.8], state_names={"rash": ["yes", "no"]})
    >>> from_pgmpy(SimpleNamespace(nodes=lambda: ["rash"], get_cpds=lambda name: cpd)).table("rash")
    array([0.2, 1. ])
    """
    given: Any = model
    nodes = _ask(given, "from_pgmpy", "a discrete Bayesian network of pgmpy", "nodes", "get_cpds")
    draft = NetworkDraft("from_pgmpy", "TabularCPD")
    fail = partial(_fail, draft.owner)
    cpds = {node: given.get_cpds(node) for node in list(nodes())}
    for node, cpd in cpds.items():
        if not isinstance(node, str | int | float):
            fail(
                f"the node {describe_value(node)} is no name; expected texts or numbers: networks in time are not read"
            )
        if cpd is None:
            fail(f"no table of {node!r}; expected a TabularCPD for every node: model.add_cpds(...)")
        if not all(hasattr(cpd, field) for field in ("variables", "values", "state_names")):
            fail(f"the table of {node!r} is a {type(cpd).__name__}; expected a TabularCPD: discrete variables only")
        draft.declare_variable(str(node), [str(state) for state in cpd.state_names[node]], fail)
    for node, cpd in cpds.items():
        scope = list(cpd.variables)
        if not scope or scope[0] != node:
            fail(f"the table of {node!r} is over {listing(scope)}; expected {node!r} first")
        labels = [[str(state) for state in cpd.state_names[name]] for name in scope]
        _add_table(draft, scope, labels, np.asarray(cpd.values, dtype=np.float64))
    return draft.build_network(transform, str(getattr(given, "name", None) or ""))


@check_arguments
def from_pyagrum(network: object, *, transform: Transform = "optimal") -> Network:
    """Possibilistic network of a Bayesian network of pyAgrum.

    Parameters
    ----------
    network
        A ``pyagrum.BayesNet``. Ranges, numbers and intervals become ordered states; noisy gates become tables.
    transform
        How probabilities become possibilities: see `to_possibility`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> rash = SimpleNamespace(name=lambda: "rash", labels=lambda: ("yes", "no"))
    >>> cpt = SimpleNamespace(names=("rash",), tolist=lambda: [0.2, 0.8])
    >>> net = SimpleNamespace(nodes=lambda: {0}, variable=lambda node: rash, cpt=lambda node: cpt)
    >>> from_pyagrum(net).table("rash")
    array([0.2, 1. ])
    """
    given: Any = network
    nodes = _ask(given, "from_pyagrum", "a BayesNet of pyAgrum", "nodes", "variable", "cpt")
    if hasattr(given, "isUtilityNode"):
        _fail("from_pyagrum", "an influence diagram; expected a BayesNet: decisions and utilities are not read")
    draft, scopes = NetworkDraft("from_pyagrum", "cpt"), {}
    fail = partial(_fail, draft.owner)
    for node in sorted(nodes()):
        variable = given.variable(node)  # kept, because temporaries of pyAgrum may be freed too early
        is_numerical: Any = getattr(variable, "isNumerical", None)
        is_ordered = is_numerical is not None and bool(is_numerical())
        draft.declare_variable(variable.name(), list(variable.labels()), fail, ordered=is_ordered)
        cpt = given.cpt(node)
        array = np.array(cpt.tolist(), dtype=np.float64)  # of a noisy gate, toarray() is memory that nobody wrote
        scopes[variable.name()] = list(cpt.names), array.transpose()  # its axes are those of the names, reversed
    for scope, array in scopes.values():
        _add_table(draft, scope, [list(draft.variables[name].states) for name in scope], array)
    properties: Any = getattr(given, "propertyWithDefault", None)
    name = str(properties("name", "")) if properties is not None else ""
    return draft.build_network(transform, "" if name in _NO_NAMES else name)


def _add_table(draft: NetworkDraft, scope: Sequence[Hashable], labels: list[list[str]], values: Floats) -> None:
    """Add a table whose axes are the child, then its parents, each with its own order of states."""
    fail = partial(_fail, draft.owner)
    child, *given = [str(name) for name in scope]
    shape = draft.table_shape(child, given, fail)
    if values.shape != (shape[-1], *shape[:-1]):
        fail(f"the table of {child!r} has the shape {values.shape}; expected {(shape[-1], *shape[:-1])}")
    for axis, (name, states) in enumerate(zip((child, *given), labels, strict=True)):
        known = draft.variables[name].states
        if sorted(states) != sorted(known):
            fail(f"the table of {child!r} has the states {listing(states)} of {name!r}; expected {listing(known)}")
        values = values.take([states.index(state) for state in known], axis=axis)
    if not np.isfinite(values).all():
        fail(f"the table of {child!r} holds something else than finite numbers; expected probabilities")
    draft.parents[child] = tuple(given)
    draft.tables[child] = np.ascontiguousarray(np.moveaxis(values, 0, -1))


def _ask(given: Any, owner: str, expected: str, *methods: str) -> Any:
    """The first of some methods of an object that has them all."""
    if not all(callable(getattr(given, method, None)) for method in methods):
        raise InputError(f"{owner}: {describe_value(given)}; expected {expected}")
    return getattr(given, methods[0])


def _fail(owner: str, sentence: str) -> NoReturn:
    raise InputError(f"{owner}: {sentence}")


@check_arguments
def to_networkx(network: Network | Dag) -> Any:
    """``DiGraph`` of networkx with the nodes and edges of a network, or of a graph alone.

    Nodes of a network have the attributes ``states`` (a tuple), ``ordered`` and ``degrees`` (an array, its axes the
    parents in the order in which the node's incoming edges were added, then the node itself); the graph has ``name`` and
    ``conjunction``.

    Examples
    --------
    >>> import possnet as pn
    >>> graph = pn.to_networkx(pn.load_example("asia"))  # doctest: +SKIP
    >>> graph.nodes["tub"]["states"], sorted(graph.predecessors("either"))  # doctest: +SKIP
    (('yes', 'no'), ['lung', 'tub'])
    """
    try:
        import networkx as nx
    except ImportError:
        raise InputError(
            "to_networkx: networkx is not installed; expected it. Install it: pip install networkx"
        ) from None
    dag = network.dag if isinstance(network, Network) else network
    graph: Any = nx.DiGraph()
    graph.add_nodes_from(dag.nodes)
    graph.add_edges_from((parent, child) for child in dag.nodes for parent in dag.parents(child))
    if isinstance(network, Network):
        graph.graph.update(name=network.name, conjunction=network.conjunction.name)
        for variable in network.variables:
            graph.nodes[variable.name].update(
                states=variable.states, ordered=variable.ordered, degrees=network.table(variable.name).copy()
            )
    return graph


@check_arguments
def from_networkx(graph: object) -> Dag:
    """The `Dag` of a directed graph of networkx: parents in the order in which the edges were added.

    Nodes are names, which are texts; attributes are not read. A cycle is an `InputError`.

    Examples
    --------
    >>> class Graph:
    ...     nodes = ("fever", "rash")
    ...     def is_directed(self): return True
    ...     def predecessors(self, node): return {"rash": ["fever"]}.get(node, [])
    >>> from_networkx(Graph()).parents("rash")
    ('fever',)
    """
    given: Any = graph
    if not all(hasattr(given, name) for name in ("nodes", "is_directed", "predecessors")):
        if callable(getattr(given, "is_directed", None)) and not given.is_directed():
            raise InputError("from_networkx: the graph is not directed; expected a DiGraph")
        raise InputError(f"from_networkx: {describe_value(graph)}; expected a DiGraph of networkx")
    if not given.is_directed():
        raise InputError("from_networkx: the graph is not directed; expected a DiGraph")
    nodes = list(given.nodes)
    for node in nodes:
        if not isinstance(node, str):
            raise InputError(
                f"from_networkx: the node {describe_value(node)} is no text; expected names: "
                "networkx.relabel_nodes(graph, str)"
            )
    with prefix_errors("from_networkx"):
        return Dag({node: list(dict.fromkeys(given.predecessors(node))) for node in nodes})
