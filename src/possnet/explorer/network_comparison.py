"""The network on the page beside another one: what differs, the worst table first, and tables in pairs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.errors import InputError, PossnetError, require_known
from possnet.explorer.interventions import SameNetwork
from possnet.io import example_names, load_example
from possnet.metrics import METRICS, NetworkDifferences, compare, compare_tables

if TYPE_CHECKING:
    from possnet.explorer.insight_requests import CompareRequest, PairRequest
    from possnet.explorer.session import Session
    from possnet.network import Network

_PAGE_DEGREES: Final = 400
_SHOWN_METRICS: Final = (
    "affinity",
    "mean_error",
    "marginal_distance",
    "hamming",
    "skeleton_precision",
    "skeleton_recall",
)
_MOST_MEASURED: Final = 200  # variables up to which the metrics of a comparison take less than a second or two


def choose_other(session: Session, file: Network | None, request: CompareRequest | PairRequest) -> Network:
    """The network to compare with.

    >>> import possnet as pn
    >>> from possnet.explorer.insight_requests import CompareRequest
    >>> from possnet.explorer.session import Session
    >>> choose_other(Session.from_network(pn.load_example("asia")), None, CompareRequest("example", "clinic")).name
    'clinic'
    """
    if request.other == "example":
        require_known(request.example, example_names(), "compare: example")
        return load_example(request.example)
    if request.other == "file":
        if file is None:
            raise InputError("compare: no second file was opened; drop one first")
        return file
    if request.other == "before":
        if session.place == 0:
            raise InputError("compare: nothing was changed yet; expected a step to look back to")
        return session.steps[session.place - 1].network
    return session.original


def compare_networks(session: Session, other: Network) -> dict[str, Any]:
    """What differs between another network, which is taken for the truth, and the one on the page.

    >>> import possnet as pn
    >>> from possnet.explorer.session import Session
    >>> asia = pn.load_example("asia")
    >>> session = Session.from_network(asia).with_edit(asia.with_table("smoke", [1, 0.5]))
    >>> page = compare_networks(session, asia)
    >>> page["tables"][0]["name"], page["tables"][0]["largest"], page["metrics"][0]["name"]
    ('smoke', 0.5, 'affinity')
    """
    _require_variables(session.network, other)
    differences = _keep_differences(SameNetwork(other), SameNetwork(session.network))
    tables = [
        {
            "name": table.name,
            "largest": None if table.reason else table.largest,
            "mean": None if table.reason else table.mean,
            "contexts": len(table.contexts),
            "same_parents": table.same_parents,
            "reason": table.reason,
        }
        for table in differences.tables
    ]
    metrics, reason = _measure(other, session.network)
    return {
        "other": other.name,
        "tables": tables,
        "edges": [[parent, child, change] for (parent, child), change in differences.edges.items()],
        "removed": differences.removed,
        "added": differences.added,
        "other_states": differences.other_states,
        "metrics": metrics,
        "reason": reason,
        "revision": session.revision,
    }


def _require_variables(*networks: Network) -> None:
    if any(not network.variables for network in networks):
        raise InputError("compare: a network has no variables; expected some in both")


def _measure(other: Network, network: Network) -> tuple[list[dict[str, Any]], str]:
    """The first metrics of `possnet.compare`, or why there are none."""
    if len(network.variables) > _MOST_MEASURED:
        return [], f"numbers for the whole are left out beyond {_MOST_MEASURED} variables; possnet compare gives them"
    try:
        comparison = compare(other, network)
    except PossnetError as error:
        return [], str(error)
    return [
        {
            "name": name,
            "label": METRICS[name].label,
            "meaning": METRICS[name].description,
            "value": comparison[name].value,
            "ignorance": comparison[name].vacuous,
        }
        for name in _SHOWN_METRICS
        if name in comparison
    ], ""


def pair_contexts(session: Session, other: Network, request: PairRequest) -> dict[str, Any]:
    """Contexts of a variable's two tables, those that differ most first, as many as hold about 400 degrees.

    >>> import possnet as pn
    >>> from possnet.explorer.insight_requests import PairRequest
    >>> from possnet.explorer.session import Session
    >>> asia = pn.load_example("asia")
    >>> session = Session.from_network(asia).with_edit(asia.with_table("smoke", [1, 0.5]))
    >>> pair_contexts(session, asia, PairRequest("original", "smoke"))["rows"]
    [{'number': 0, 'context': [], 'other': [1.0, 1.0], 'here': [1.0, 0.5]}]
    """
    _require_variables(session.network, other)
    differences = _keep_differences(SameNetwork(other), SameNetwork(session.network))
    pair = differences.pair_tables(request.variable)
    table = next(table for table in differences.tables if table.name == request.variable)
    parents = [other.variable(name) for name in pair.parents]
    sizes = tuple(len(parent) for parent in parents)
    states = other.variable(request.variable).states
    count = max(1, _PAGE_DEGREES // len(states))
    numbers = table.contexts or (0,)
    shown = numbers[request.start : request.start + count]
    rows = [
        {
            "number": number,
            "context": [p.states[k] for p, k in zip(parents, np.unravel_index(number, sizes), strict=True)],
            "other": pair.first[number, :_PAGE_DEGREES].tolist(),
            "here": pair.second[number, :_PAGE_DEGREES].tolist(),
        }
        for number in shown
    ]
    return {
        "variable": request.variable,
        "parents": list(pair.parents),
        "states": list(states[:_PAGE_DEGREES]),
        "rows": rows,
        "start": request.start,
        "differing": len(table.contexts),
        "contexts": len(pair.first),
        "same_parents": table.same_parents,
        "revision": session.revision,
    }


@lru_cache(maxsize=2)
def _keep_differences(first: SameNetwork, second: SameNetwork) -> NetworkDifferences:
    return compare_tables(first.network, second.network)
