"""The network after some variables have been set from outside, kept for the questions that follow each other."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from possnet.errors import InputError
from possnet.inference import Inference

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from possnet.explorer.session import Session
    from possnet.network import Network


class SameNetwork:
    """A network as a key: itself, not what it equals, so that nothing is compared table by table."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameNetwork) and other.network is self.network

    def __hash__(self) -> int:
        return id(self.network)


def engine_after(session: Session, do: Mapping[str, str], evidence: Collection[str] = ()) -> Inference:
    """The engine of the network in which some variables have been set; an `InputError` for evidence on one of them.

    >>> import possnet as pn
    >>> from possnet.explorer.session import Session
    >>> session = Session.from_network(pn.load_example("clinic"))
    >>> engine_after(session, {"flu": "no"}).query("fever")
    Possibility(fever: none 1, mild 0.3, high 0.1)
    """
    if not do:
        return session.engine
    both = [name for name in do if name in evidence]
    if both:
        raise InputError(f"{both[0]!r} is set and has evidence on it; expected one of the two")
    return _keep_engine(SameNetwork(session.network), tuple(do.items()))


def network_after(session: Session, do: Mapping[str, str], evidence: Collection[str] = ()) -> Network:
    """The network in which some variables have been set.

    >>> import possnet as pn
    >>> from possnet.explorer.session import Session
    >>> session = Session.from_network(pn.load_example("clinic"))
    >>> network_after(session, {"flu": "no"}).dag.parents("flu")
    ()
    """
    return engine_after(session, do, evidence).network


@lru_cache(maxsize=4)
def _keep_engine(key: SameNetwork, do: tuple[tuple[str, str], ...]) -> Inference:
    return Inference(key.network.do(dict(do)))
