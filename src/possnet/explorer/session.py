"""The network that is being explored: a value with its engine and its history, replaced as a whole by every change.

Whatever changes the network (an edited table, a new variable, a moved card, a file that is opened, a network that was
learned) is a new `Step`, and a function ``(session, message) -> session`` that `possnet.explorer.routes` names. So undo
and redo go over everything, a reply never mixes two states, and a window that knows an earlier ``revision`` is told so.

`Inference` keeps messages between questions and is not made for two threads at once; `possnet.explorer.app` lets one in
at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from possnet.errors import InputError, TooLarge
from possnet.graph import Dag
from possnet.inference import Inference
from possnet.network import Network

if TYPE_CHECKING:
    from pathlib import Path

    from possnet.explorer.card_layout import Arrangement
    from possnet.explorer.request_types import HistoryRequest

_MOST_STEPS: Final = 200
_MOST_STATES: Final = 20_000


def empty_network(name: str = "") -> Network:
    """A network without variables, on which others are drawn; it cannot be queried or saved.

    >>> len(empty_network().variables)
    0
    """
    return Network.unchecked((), Dag({}), {}, name=name)


def require_page_size(network: Network) -> None:
    """Refuse a network with more states than a page holds."""
    states = sum(len(variable) for variable in network.variables)
    if states > _MOST_STATES:
        raise TooLarge(
            f"explore: {states:,} states in all; a page holds at most {_MOST_STATES:,}; explore a part of the network"
        )


@dataclass(frozen=True)
class Step:
    """What there is to see at one moment.

    Attributes
    ----------
    network
        The network; without variables, it is an empty canvas.
    original
        The network that edits are compared with: as it was opened, learned or begun.
    title
        What was done, as in "undo: edit the table of fever".
    arrangement
        Where the cards are, once someone has moved or added one; None leaves it to the layout.
    file
        Where the network is saved, below the folder of the explorer; None before it is.
    """

    network: Network
    original: Network
    title: str = ""
    arrangement: Arrangement | None = None
    file: Path | None = None

    @cached_property
    def engine(self) -> Inference:
        """The engine of the network, made when it is first asked."""
        return Inference(self.network)

    def keep_engine(self, other: Step) -> Step:
        """The step with the engine of another one if that has the same network, and one."""
        if other.network is self.network and "engine" in other.__dict__:
            self.__dict__["engine"] = other.engine
        return self


@dataclass(frozen=True, slots=True)
class Session:
    """The steps so far, ``place`` being the current one.

    Every change has a ``revision`` of its own; ``frame`` is the revision at which variables, edges or places of cards
    last changed, ``touched`` are the variables whose tables the last change made anew, and ``saved`` is the network as it
    was last opened or saved.
    """

    steps: tuple[Step, ...]
    place: int = 0
    revision: int = 0
    frame: int = 0
    touched: tuple[str, ...] = ()
    started: bool = field(default=True, kw_only=True)
    saved: Network | None = field(default=None, kw_only=True)

    @classmethod
    def from_network(cls, network: Network, file: Path | None = None) -> Session:
        """The session of a network that nobody has edited yet.

        >>> import possnet as pn
        >>> Session.from_network(pn.load_example("clinic")).revision
        0
        """
        return cls((Step(network, network, file=file),), saved=network)

    @classmethod
    def without_network(cls) -> Session:
        """The session of an explorer that was started without a network: the page shows what could be opened.

        >>> Session.without_network().started
        False
        """
        empty = empty_network()
        return cls((Step(empty, empty),), started=False)

    @property
    def step(self) -> Step:
        """The current step."""
        return self.steps[self.place]

    @property
    def network(self) -> Network:
        """The network as it is now."""
        return self.step.network

    @property
    def original(self) -> Network:
        """The network that edits are compared with."""
        return self.step.original

    @property
    def engine(self) -> Inference:
        """The engine of the network as it is now."""
        return self.step.engine

    def with_edit(self, network: Network, title: str = "edit") -> Session:
        """The session after an edit of the network; its original, file and arrangement stay.

        >>> import possnet as pn
        >>> asia = pn.load_example("asia")
        >>> Session.from_network(asia).with_edit(asia.with_table("smoke", [1, 0.5])).touched
        ('smoke',)
        """
        return self.with_step(Step(network, self.original, title, self.step.arrangement, self.step.file))

    def with_opened(self, network: Network, title: str, file: Path | None = None) -> Session:
        """The session after another network was opened, learned or begun; undo leads back to the one before.

        >>> import possnet as pn
        >>> session = Session.without_network().with_opened(pn.load_example("asia"), "open asia")
        >>> session.started, session.revision, session.original.name
        (True, 1, 'asia')
        """
        return replace(self.with_step(Step(network, network, title, None, file)), saved=network)

    def with_step(self, step: Step) -> Session:
        """The session after a step; what was undone is forgotten."""
        steps = (*self.steps[: self.place + 1], step)[-_MOST_STEPS - 1 :]
        return replace(self, steps=steps)._move_to(len(steps) - 1, self.step)

    def with_file(self, file: Path) -> Session:
        """The session after its network was saved in a file; this is no step to undo."""
        step = replace(self.step, file=file).keep_engine(self.step)
        steps = (*self.steps[: self.place], step, *self.steps[self.place + 1 :])
        return replace(self, steps=steps, revision=self.revision + 1, touched=(), saved=step.network)

    def with_place(self, place: int) -> Session:
        """The session at another place of its history."""
        return self._move_to(place, self.step)

    def _move_to(self, place: int, last: Step) -> Session:
        step, revision = self.steps[place].keep_engine(last), self.revision + 1
        touched = () if step.network is last.network else tuple(changed_tables(step.network, last.network))
        return replace(
            self,
            place=place,
            revision=revision,
            touched=touched,
            frame=self.frame if _same_frame(step, last) else revision,
            started=True,
        )


def _same_frame(step: Step, other: Step) -> bool:
    """Whether two steps have the same cards and edges at the same places, under the same name."""
    one, two = step.network, other.network
    return (one is two or (one.name == two.name and one.variables == two.variables and one.dag == two.dag)) and (
        step.arrangement is other.arrangement and step.file == other.file
    )


def changed_tables(network: Network, other: Network) -> list[str]:
    """Variables that another network lacks, or whose parents or degrees there are others.

    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> changed_tables(asia.with_table("smoke", [1, 0.5]), asia)
    ['smoke']
    """
    if network is other:
        return []
    known = {variable.name: variable for variable in other.variables}
    return [
        v.name
        for v in network.variables
        if known.get(v.name) != v
        or network.dag.parents(v.name) != other.dag.parents(v.name)
        or (
            network.table(v.name) is not other.table(v.name)
            and not np.array_equal(network.table(v.name), other.table(v.name))
        )
    ]


def summarise_session(session: Session) -> dict[str, Any]:
    """What may be done next, and what differs from the original."""
    step, original = session.step, session.original
    ahead = session.steps[session.place + 1 : session.place + 2]
    return {
        "revision": session.revision,
        "frame": session.frame,
        "touched": session.touched,
        "undo": step.title if session.place > 0 else None,
        "redo": ahead[0].title if ahead else None,
        "edited": changed_tables(step.network, original) if original.variables else [],
        "missing": [v.name for v in original.variables if v.name not in step.network.dag.nodes],
        "normal": step.network.is_normalised,
        "file": None if step.file is None else step.file.name,
        "saved": session.saved is step.network or not step.network.variables,
    }


def step_history(session: Session, request: HistoryRequest) -> Session:
    """The session one step back or forward, or with the original table of a variable (of all, without a name).

    >>> import possnet as pn
    >>> from possnet.explorer.request_types import HistoryRequest
    >>> asia = pn.load_example("asia")
    >>> edited = Session.from_network(asia).with_edit(asia.with_table("smoke", [1, 0.5]))
    >>> undone = step_history(edited, HistoryRequest("undo", 1))
    >>> undone.network == undone.original, step_history(undone, HistoryRequest("redo", 2)).network == edited.network
    (True, True)
    """
    place = session.place + (1 if request.step == "redo" else -1)
    if not 0 <= place < len(session.steps):
        raise InputError(f"{request.step}: no change is left to {request.step}")
    return session.with_place(place)
