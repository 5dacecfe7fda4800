"""What is known and can be hidden: the truth of every cell of a target, from its own column or from another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from possnet.errors import InputError, among, describe_value, listing
from possnet.network import Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from possnet.aliases import Bools, Floats, Ints
    from possnet.dataset import Batches, Dataset
    from possnet.variables import Variable


class KnownCells(NamedTuple):
    """Cells of a target of which something is known: their rows, the states they may truly have, and which are precise."""

    rows: Ints
    truth: Bools
    precise: Bools


def find_known_cells(data: Dataset, variable: Variable, source: str) -> KnownCells:
    """The cells of the column ``source`` that say something, in the states of a variable, matched by name.

    A cell that is unknown says nothing, nor does one that lists the whole domain. A state that the variable lacks is no
    state of it: such a cell has no true state.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"rash": ["yes", None, "no", {"yes", "no"}]})
    >>> known = find_known_cells(data, data.variable("rash"), "rash")
    >>> known.rows.tolist(), known.truth.tolist(), known.precise.tolist()
    ([0, 2], [[False, True], [True, False]], [True, True])
    """
    column = data.column(source)
    place = {state: k for k, state in enumerate(variable.states)}
    cells = np.zeros((len(column), len(variable)), dtype=np.bool_)
    for k, state in enumerate(column.variable.states):
        if state in place:
            cells[:, place[state]] = column.cell_sets[:, k]
    precise = column.cell_sizes == 1
    informative = ~column.unknown_cells & (precise | (cells.sum(axis=1) < len(variable)))
    rows = np.flatnonzero(informative[column.codes])
    codes = column.codes[rows]
    return KnownCells(rows, cells[codes], precise[codes])


def count_states(data: Iterable[Dataset], names: Iterable[str]) -> dict[str, Floats]:
    """How often each state of some columns occurs: a cell of k states counts 1/k for each; unknown cells say nothing.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"rash": ["yes", None, {"yes", "no"}]})
    >>> count_states([data], ["rash"])["rash"].tolist()
    [0.5, 1.5]
    """
    totals: dict[str, Floats] = {}
    wanted = list(names)
    for batch in data:
        for name in wanted:
            column = batch.column(name)
            counts = column.count_cells(batch.weights) * ~column.unknown_cells / column.cell_sizes
            totals[name] = totals.get(name, 0.0) + counts @ column.cell_sets
    return totals


def require_columns_of(network: Network, variables: Sequence[Variable]) -> list[str]:
    """Columns that the network knows; their states must be the network's."""
    known = {variable.name: variable for variable in network.variables}
    own = [variable for variable in variables if variable.name in known]
    for variable in own:
        states = known[variable.name].states
        if variable.states != states:
            raise InputError(
                f"check: column {variable.name!r} has states {listing(variable.states)} and the network {listing(states)}; "
                "expected the same. Read the data with variables=network"
            )
    return [variable.name for variable in own]


def choose_targets(
    data: Dataset | Batches,
    subject: object,
    targets: Sequence[str] | None,
    truth: Mapping[str, str],
    aside: frozenset[str],
) -> tuple[Variable, ...]:
    """The variables whose cells are hidden, in the order named; by default all that have several states."""
    given: object = targets
    if isinstance(given, str):
        raise InputError(f"check: targets {given!r}; expected several names, such as targets=({given!r},)")
    columns = {variable.name: variable for variable in data.variables}
    for name, source in truth.items():
        if source not in columns:
            raise InputError(f"check: truth of {name!r} in {source!r}: no such column{among(source, columns)}")
    usable = {name: variable for name, variable in columns.items() if name not in aside}
    if isinstance(subject, Network):
        own = {variable.name: variable for variable in subject.variables}
        usable = {name: own[name] for name in dict.fromkeys((*usable, *truth)) if name in own}
    owner = "no column of the data that the network has" if isinstance(subject, Network) else "no column of the data"
    for name in (*(targets or ()), *truth):
        if name not in usable:
            raise InputError(f"check: target {describe_value(name)} is {owner}{among(name, usable)}")
    if targets is None:
        chosen = [variable for variable in usable.values() if len(variable) > 1]
    else:
        chosen = [usable[name] for name in dict.fromkeys(targets)]
    if not chosen:
        raise InputError(
            f"check: no column of the data ({listing(columns)}) can be hidden and completed; expected a variable of the "
            "network with several states"
        )
    return tuple(chosen)
