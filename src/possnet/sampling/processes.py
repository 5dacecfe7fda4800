"""The processes that draw rows, each an entry of `PROCESSES`.

A process cuts the cell of a variable, at a uniform level, from degrees that depend on the *signals* of its parents:
their cells, their cuts before thinning, or one state of each. Law and signal say everything that the exact laws
(`possnet.sampling.cell_laws`) and the samplers need to know of it. A process from outside brings a ``draw`` of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from possnet.errors import require_known
from possnet.registries import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from possnet.dataset import Dataset
    from possnet.network import Network

    Draw: TypeAlias = Callable[[Network, int, Mapping[str, float], np.random.Generator], Dataset]

Law: TypeAlias = Literal["independent", "text"]
Parents: TypeAlias = Literal["observed", "cut"]
Signal: TypeAlias = Literal["cell", "cut", "state"]


@dataclass(frozen=True, slots=True)
class Process:
    """A way to draw rows from a network.

    Attributes
    ----------
    name, label
        Its name in calls, and a name for people.
    signal
        What the law of a child depends on: its parents' ``cell``, their ``cut`` before thinning, or one ``state``.
    law
        How a cut is thinned by the imprecision: each state by itself, or with the weights of the ``text`` of [HLB].
    imprecise
        Whether cells may hold several states.
    options
        The options of `possnet.sample` that make a difference: imprecision, law, parents, evidence, trace.
    limit_known
        Whether `possnet.sampling_limit` computes what counting converges to.
    draw
        A function of its own: (network, rows, imprecision of every variable, generator) -> data set. Rows are drawn in
        blocks of 65,536, each with a generator of its own.

    Examples
    --------
    >>> PROCESSES["traced"].label, PROCESSES["traced"].takes("evidence")
    ('traced rows', False)
    """

    name: str
    label: str
    signal: Signal = "state"
    law: Law = "independent"
    imprecise: bool = True
    options: frozenset[str] = frozenset({"imprecision"})
    limit_known: bool = False
    draw: Draw | None = None

    def takes(self, option: str) -> bool:
        """Whether an option of `possnet.sample` makes a difference to this process."""
        return option in self.options


PROCESSES: Final = Registry[Process]("process")
"""Processes by name: those of [HLB] and variants; ``-text`` names the law, ``-cuts`` the signal."""

_OF_CUTS: Final = frozenset({"imprecision", "law", "parents", "evidence"})
_OF_TRACES: Final = frozenset({"imprecision", "law", "trace"})
for _process in (
    Process("alpha-cut", "alpha-cut rows", "cell", options=_OF_CUTS, limit_known=True),
    Process("alpha-cut-text", "alpha-cut rows by the text's law", "cell", "text", options=_OF_CUTS, limit_known=True),
    Process("alpha-cut-cuts", "alpha-cut rows given whole cuts", "cut", options=_OF_CUTS, limit_known=True),
    Process("precise", "precise rows", imprecise=False, options=frozenset(), limit_known=True),
    Process("traced", "traced rows", options=_OF_TRACES, limit_known=True),
    Process("traced-text", "traced rows by the text's law", law="text", options=_OF_TRACES, limit_known=True),
):
    PROCESSES.register(_process)


def resolve_process(name: str, law: Law, parents: Parents) -> Process:
    """The process of a name with the options of `possnet.sample`, which go before what its name says.

    >>> resolve_process("alpha-cut", "text", "cut").signal, resolve_process("traced-text", "independent", "observed").law
    ('cut', 'text')
    """
    process = PROCESSES.require(name, "sample")
    require_known(law, get_args(Law), "sample: law")
    require_known(parents, get_args(Parents), "sample: parents")
    if law != "independent":
        process = replace(process, law=law)
    return replace(process, signal="cut") if parents == "cut" and process.takes("parents") else process


def is_imprecise(name: str) -> bool:
    """Whether the cells of a process's rows may hold several states; a process that is not registered may do so.

    >>> is_imprecise("traced"), is_imprecise("precise")
    (True, False)
    """
    return name not in PROCESSES or PROCESSES[name].imprecise


def label_process(name: str) -> str:
    """Label of a process for people; a name that is not registered is its own label.

    >>> label_process("traced"), label_process("mine")
    ('traced rows', 'mine')
    """
    return PROCESSES[name].label if name in PROCESSES else name
