"""Degrees kept beside the probabilities of a file that another program reads, and names that the program allows.

Such a file has a table of probabilities for every variable, and named texts for whatever a program wants to keep. A
possibilistic network is written as its probabilities, by the inverse of a named transformation, and its degrees as a text
``possnet_degrees`` of each variable. When the file is read, degrees count as long as they still make the probabilities
beside them. A table that was changed since by another program is read as probabilities, with a warning.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.drawing import compute_layout
from possnet.errors import InputError, listing, warn_user
from possnet.graph import Dag
from possnet.io.file_access import prefix_errors
from possnet.io.json_files import describe_bins
from possnet.io.probability_tables import compute_probabilities, parse_numbers
from possnet.network import Network
from possnet.possibility import MIN, PRODUCT
from possnet.transforms import to_probability
from possnet.variables import Bins, Variable, number_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from possnet.aliases import Floats
    from possnet.io.probability_tables import NetworkDraft
    from possnet.transforms import Inverse, Transform

_VERSION = 1
_SAME = 1e-5  # probabilities that another program wrote with six digits are the same
_MOST_PLACED = 300  # nodes; laying out more takes longer than writing them
_CONJUNCTIONS = {conjunction.name: conjunction for conjunction in (PRODUCT, MIN)}
NODE_SIZE: Final = (120.0, 40.0)
IDENTIFIER: Final = re.compile(r"[^A-Za-z0-9_]")
PRINTABLE: Final = re.compile(r'["\\\x00-\x1f\x7f\x85\u2028\u2029\ufffe\uffff]')
NOTES: Final = (
    "possnet_network",
    "possnet_name",
    "possnet_states",
    "possnet_ordered",
    "possnet_bins",
    "possnet_degrees",
)


def make_labels(texts: Sequence[str], forbidden: re.Pattern[str]) -> list[str]:
    """Distinct labels without the forbidden characters, which begin with a letter where only identifiers are allowed.

    >>> make_labels(["fever", "<5", "<6"], IDENTIFIER)
    ['fever', 'x_5', 'x_6']
    >>> make_labels(["a b", "a_b"], IDENTIFIER)
    ['a_b', 'a_b_2']
    """
    labels: dict[str, None] = {}
    for text in texts:
        plain = forbidden.sub("_", text)
        if forbidden is IDENTIFIER and not plain[:1].isalpha():
            plain = f"x{plain}" if plain.startswith("_") else f"x_{plain}"
        label, number = plain, 1
        while label in labels:
            number += 1
            label = f"{plain}_{number}"
        labels[label] = None
    return list(labels)


def format_rows(table: Floats, separator: str = " ") -> Iterator[str]:
    """The rows of a table, each number in the shortest form that reads back as the same.

    >>> list(format_rows(np.array([[1.0, 0.5], [0.0, 0.1]])))
    ['1 0.5', '0 0.1']
    """
    for row in table.reshape(-1, table.shape[-1]).tolist():
        yield separator.join(map(number_text, row))


@dataclass(frozen=True, slots=True)
class WrittenNetwork:
    """What a writer needs: labels of variables and states, probabilities, texts to keep, and places on a page."""

    network: Network
    labels: dict[str, str]
    states: dict[str, list[str]]
    probabilities: dict[str, Floats]
    notes: dict[str, dict[str, str]]
    network_note: str
    places: dict[str, tuple[int, int]]


def prepare_network(
    network: Network, transform: str | None, owner: str, names: re.Pattern[str], states: re.Pattern[str]
) -> WrittenNetwork:
    """Labels, probabilities and notes of a network, for the writer of a format; patterns are what labels may not have."""
    chosen = transform or network.transform or "symmetric"
    probabilities = compute_probabilities(network, chosen, owner)
    listed = [variable.name for variable in network.variables]
    labels = dict(zip(listed, make_labels(listed, names), strict=True))
    state_labels = {variable.name: make_labels(variable.states, states) for variable in network.variables}
    notes = {
        v.name: _describe_variable(v, labels[v.name], state_labels[v.name], network.table(v.name))
        for v in network.variables
    }
    page = {
        "version": _VERSION,
        "name": network.name,
        "description": network.description,
        "conjunction": network.conjunction.name,
        "probabilities": chosen,
        "transform": network.transform,
        "order": [labels[name] for name in listed],
    }
    return WrittenNetwork(
        network, labels, state_labels, probabilities, notes, json.dumps(page), _place_nodes(network.dag)
    )


def _describe_variable(variable: Variable, label: str, states: list[str], table: Floats) -> dict[str, str]:
    notes = {}
    if label != variable.name:
        notes["possnet_name"] = json.dumps(variable.name)
    if states != list(variable.states):
        notes["possnet_states"] = json.dumps(variable.states)
    if variable.ordered:
        notes["possnet_ordered"] = "true"
    for bins in describe_bins(variable).values():
        notes["possnet_bins"] = json.dumps(bins)
    notes["possnet_degrees"] = " ".join(format_rows(table))
    return notes


def _place_nodes(dag: Dag) -> dict[str, tuple[int, int]]:
    """The centres of the nodes of a page, in pixels; none for graphs that would take long to lay out."""
    if len(dag.nodes) > _MOST_PLACED:
        return {}
    parents = {node: dag.parents(node) for node in dag.nodes}
    layout = compute_layout(parents, dict.fromkeys(dag.nodes, NODE_SIZE))
    return {node: (round(x), round(y)) for node, (x, y) in layout.nodes.items()}


@dataclass(slots=True)
class KeptDegrees:
    """The notes of a file, as its reader collects them: ``network`` of the whole, ``variables`` by label."""

    network: str | None = None
    variables: dict[str, dict[str, str]] = field(default_factory=dict)

    def build_network(self, draft: NetworkDraft, transform: Transform, name: str) -> Network:
        """The network of a draft: degrees where they are kept and still make the probabilities, else of probabilities."""
        network = draft.build_network(transform, name)
        if self.network is None:
            return network
        page = _parse_json(self.network, draft.owner, "possnet_network")
        if not isinstance(page, dict) or page.get("version") != _VERSION:
            raise _refuse_note(draft.owner, "possnet_network", "another version, or none")
        method, conjunction = page.get("probabilities"), page.get("conjunction")
        if method not in {"symmetric", "ratio", "optimal"} or conjunction not in _CONJUNCTIONS:
            raise _refuse_note(draft.owner, "possnet_network", "unknown words")
        tables, changed = self._choose_tables(network, draft, method)
        renamed = _rename_variables(network, self.variables, draft.owner)
        if changed:
            warn_user(
                f"{draft.owner}: the probabilities of {listing(changed)} were changed since possnet wrote the file; they "
                f"are read as probabilities, with the transformation '{transform}'"
            )
        order = page.get("order")
        labels = list(draft.variables)
        if isinstance(order, list) and sorted(map(str, order)) == sorted(labels):
            labels = order
        given = {new.name: tuple(renamed[p].name for p in network.dag.parents(label)) for label, new in renamed.items()}
        with prefix_errors(draft.owner):
            if len(given) < len(renamed):
                raise InputError("two variables have the same possnet_name; expected distinct names")
            built = Network(
                [renamed[label] for label in labels],
                Dag({renamed[label].name: given[renamed[label].name] for label in labels}),
                {renamed[label].name: table for label, table in tables.items()},
                conjunction=_CONJUNCTIONS[conjunction],
                name=_read_title(page, "name") or name,
                description=_read_title(page, "description"),
            )
            return built.with_transform("ratio") if page.get("transform") == "ratio" and not changed else built

    def _choose_tables(
        self, network: Network, draft: NetworkDraft, method: Inverse
    ) -> tuple[dict[str, Floats], list[str]]:
        """Label -> degrees, and the labels of tables that no longer have theirs."""
        tables: dict[str, Floats] = {}
        changed = []
        for label, given in draft.tables.items():
            words = self.variables.get(label, {}).get("possnet_degrees", "").split()
            degrees = parse_numbers(words) if len(words) == given.size else np.full(given.size, np.nan)
            if _makes_probabilities(degrees.reshape(given.shape), given, method):
                tables[label] = degrees.reshape(given.shape)
            else:
                tables[label] = network.table(label)
                changed.append(label)
        return tables, changed


def _makes_probabilities(degrees: Floats, given: Floats, method: Inverse) -> bool:
    """Whether degrees are valid ones whose probabilities, by the inverse of a transformation, are those of the file."""
    if not ((degrees >= 0.0) & (degrees <= 1.0)).all() or not (degrees.max(axis=-1) == 1.0).all():
        return False
    try:
        probabilities = to_probability(degrees, method)
    except InputError:
        return False
    return bool((np.abs(probabilities - given / given.sum(axis=-1, keepdims=True)) <= _SAME).all())


def _rename_variables(network: Network, notes: Mapping[str, Mapping[str, str]], owner: str) -> dict[str, Variable]:
    """Label -> the variable with its own name, states, order and bins, where these still have the labels of the file."""
    renamed = {}
    for variable in network.variables:
        given = notes.get(variable.name, {})
        name, states = variable.name, list(variable.states)
        if "possnet_name" in given:
            name = str(_parse_json(given["possnet_name"], owner, "possnet_name"))
        if "possnet_states" in given:
            kept = _parse_json(given["possnet_states"], owner, "possnet_states")
            if not isinstance(kept, list) or not all(isinstance(state, str) for state in kept):
                raise _refuse_note(owner, "possnet_states", "no list of names")
            if states in (make_labels(kept, IDENTIFIER), make_labels(kept, PRINTABLE)):
                states = kept
        bins = _parse_json(given["possnet_bins"], owner, "possnet_bins") if "possnet_bins" in given else None
        ordered = variable.ordered or given.get("possnet_ordered") == "true"
        with prefix_errors(owner):
            renamed[variable.name] = Variable(name, tuple(states), ordered=ordered, bins=_restore_bins(bins, owner))
    return renamed


def _restore_bins(bins: Any, owner: str) -> Bins | None:
    if bins is None:
        return None
    try:
        return Bins(**{**bins, "edges": tuple(bins["edges"])})
    except (TypeError, KeyError):
        raise _refuse_note(owner, "possnet_bins", "no edges") from None


def _read_title(page: Mapping[str, Any], key: str) -> str:
    return text if isinstance(text := page.get(key), str) else ""


def _parse_json(text: str, owner: str, note: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise _refuse_note(owner, note, "no JSON") from None


def _refuse_note(owner: str, note: str, finding: str) -> InputError:
    return InputError(
        f"{owner}: {note} holds {finding}; remove what is called possnet_... to read the probabilities alone"
    )
