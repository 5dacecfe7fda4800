"""The network that is being explored: a value with its engine and its history, replaced as a whole by every edit.

`Inference` keeps messages between questions and is not made for two threads at once; `possnet.explorer.app` lets one in
at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log10, prod
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from possnet.errors import InputError
from possnet.inference import Inference
from possnet.network import normalise_tables
from possnet.possibility import necessities

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.network import Network

Step: TypeAlias = Literal["undo", "redo", "reset"]
_CELLS: Final = 500
_KEPT: Final = 200
_EXACT: Final = 2**53


@dataclass(frozen=True, slots=True)
class Session:
    """A network, what it was before its edits, and what was undone.

    Every step has a ``revision`` of its own; ``touched`` are the variables whose tables it changed.
    """

    original: Network
    network: Network
    engine: Inference
    revision: int = 0
    touched: tuple[str, ...] = ()
    past: tuple[Network, ...] = ()
    future: tuple[Network, ...] = ()

    @classmethod
    def of(cls, network: Network) -> Session:
        """The model of a network that nobody has edited yet.

        >>> import possnet as pn
        >>> Session.of(pn.load_example("clinic")).revision
        0
        """
        return cls(network, network, Inference(network))

    def now(self, network: Network, past: tuple[Network, ...], future: tuple[Network, ...]) -> Session:
        """The model after a step."""
        return replace(
            self,
            network=network,
            engine=Inference(network),
            revision=self.revision + 1,
            touched=tuple(_changed_tables(network, self.network)),
            past=past[-_KEPT:],
            future=future,
        )


def summary(model: Session) -> dict[str, Any]:
    """What may be done next, and which tables differ from the original."""
    return {
        "revision": model.revision,
        "touched": model.touched,
        "undo": bool(model.past),
        "redo": bool(model.future),
        "edited": _changed_tables(model.network, model.original),
        "normal": model.network.is_normalised,
    }


def _changed_tables(now: Network, first: Network) -> list[str]:
    return [v.name for v in now.variables if not np.array_equal(now.table(v.name), first.table(v.name))]


def answer(
    model: Session, evidence: Mapping[str, Sequence[str]], *, before: bool = False, explain: bool = False
) -> dict[str, Any]:
    """Marginals given evidence, how possible the evidence is and, on demand, the prior and the best configuration.

    >>> import possnet as pn
    >>> model = Session.of(pn.load_example("clinic"))
    >>> found = answer(model, {"fever": ["mild", "high"], "rash": ["spots"]})
    >>> round(found["marginals"]["measles"]["possibility"][0], 6), round(found["degree"], 6)
    (0.2625, 0.16)
    """
    given: dict[str, set[str]] = {name: set(states) for name, states in evidence.items()}
    page: dict[str, Any] = {
        "marginals": _marginals(model, given),
        "revision": model.revision,
        "degree": model.engine.possibility_of(given),
    }
    if explain:
        best = model.engine.most_possible(given or None)
        ties = best.ties if best.ties < _EXACT else f"about 10^{log10(best.ties):.0f}"
        page["best"] = {"configuration": best.configuration, "possibility": best.possibility, "ties": ties}
    if before:
        page["before"] = _marginals(model, {}) if given else page["marginals"]
    return page


def _marginals(model: Session, given: Mapping[str, set[str]]) -> dict[str, dict[str, list[float] | None]]:
    return {
        name: {
            "possibility": found.degrees.tolist(),
            "necessity": necessities(found.degrees).tolist() if found.is_normalised else None,
        }
        for name, found in model.engine.marginals(given or None).items()
    }


def read_table_page(model: Session, name: str, start: int = 0) -> dict[str, Any]:
    """Some rows of a variable's table: contexts from ``start`` on, as many as hold about 500 degrees.

    >>> import possnet as pn
    >>> found = read_table_page(Session.of(pn.load_example("asia")), "either", 2)
    >>> found["contexts"], found["rows"]
    (4, [{'number': 2, 'context': ['no', 'yes'], 'degrees': [1.0, 0.0], 'support': None}, ...])
    """
    network = model.network
    variable = network.variable(name)
    parents = [network.variable(parent) for parent in network.dag.parents(name)]
    sizes = tuple(len(parent) for parent in parents)
    contexts = prod(sizes)
    if not 0 <= start < contexts:
        raise InputError(f"table of {name!r}: no context number {start}; expected 0 to {contexts - 1}")
    table = network.table(name).reshape(contexts, len(variable))
    support = None if network.support is None else network.support[name].reshape(contexts)
    stop = min(contexts, start + max(1, _CELLS // len(variable)))
    rows = []
    for number in range(start, stop):
        places = np.unravel_index(number, sizes)
        rows.append(
            {
                "number": number,
                "context": [parent.states[int(k)] for parent, k in zip(parents, places, strict=True)],
                "degrees": table[number, :_CELLS].tolist(),
                "support": None if support is None else float(support[number]),
            }
        )
    return {
        "variable": name,
        "parents": [parent.name for parent in parents],
        "contexts": contexts,
        "start": start,
        "rows": rows,
        "whole": len(variable) <= _CELLS,
        **summary(model),
    }


def edit_table(model: Session, name: str, rows: Mapping[int, Sequence[float]]) -> Session:
    """The model with other degrees in some contexts of a variable's table.

    >>> import possnet as pn
    >>> found = edit_table(Session.of(pn.load_example("asia")), "smoke", {0: [1, 0.5]})
    >>> found.network.table("smoke"), found.revision
    (array([1. , 0.5]), 1)
    """
    network = model.network
    states = len(network.variable(name))
    old = network.table(name)
    table = old.reshape(-1, states).copy()
    if not rows:
        raise InputError(f"table of {name!r}: no context is edited; expected at least one")
    for number, degrees in rows.items():
        if not 0 <= number < len(table):
            raise InputError(f"table of {name!r}: no context number {number}; expected 0 to {len(table) - 1}")
        if len(degrees) != states:
            raise InputError(f"table of {name!r}: {len(degrees)} degrees in context {number}; expected {states}")
        table[number] = degrees
    return model.now(network.with_table(name, table.reshape(old.shape)), (*model.past, network), ())


def normalise_rows(model: Session, name: str, rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Rows of a variable's table, each with its peak at 1, by the network's own conjunction.

    >>> import possnet as pn
    >>> normalise_rows(Session.of(pn.load_example("asia")), "smoke", [[0.5, 0.2]])
    [[1.0, 0.4]]
    """
    variable = model.network.variable(name)
    if not rows or any(len(row) != len(variable) for row in rows):
        raise InputError(f"table of {name!r}: rows of other lengths; expected {len(variable)} degrees in each")
    found: list[list[float]] = normalise_tables({name: rows}, model.network.conjunction)[name].tolist()
    return found


def step_history(model: Session, step: Step, name: str | None = None) -> Session:
    """The model one edit back or forward, or with the original table of a variable (of all, without a name).

    >>> import possnet as pn
    >>> changed = edit_table(Session.of(pn.load_example("asia")), "smoke", {0: [1, 0.5]})
    >>> back = step_history(changed, "undo")
    >>> back.network == back.original, step_history(back, "redo").network == changed.network
    (True, True)
    """
    if step == "undo":
        if not model.past:
            raise InputError("undo: no edit is left to undo")
        return model.now(model.past[-1], model.past[:-1], (model.network, *model.future))
    if step == "redo":
        if not model.future:
            raise InputError("redo: no edit is left to redo")
        return model.now(model.future[0], (*model.past, model.network), model.future[1:])
    first = model.original
    fresh = first if name is None else model.network.with_table(name, first.table(name))
    if not _changed_tables(fresh, first):
        fresh = first  # its support, which edits drop, comes back too
    return model.now(fresh, (*model.past, model.network), ())
