"""What is to be drawn: a network, a process and its options, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from possnet.errors import InputError, require_known, require_number
from possnet.inference import Inference
from possnet.network import Network
from possnet.variables import for_every_variable

if TYPE_CHECKING:
    from possnet.aliases import Floats
    from possnet.inference import Evidence


Process: TypeAlias = Literal["alpha-cut", "precise", "traced"]
Law: TypeAlias = Literal["independent", "text"]
Parents: TypeAlias = Literal["observed", "cut"]
Imprecision: TypeAlias = float | Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SamplingSpec:
    """A checked way to draw rows from a network.

    ``tables`` holds, for every variable, the degrees that its cell is cut from, axes parents then variable: the joint
    possibility of the family given the evidence for ``alpha-cut``, so that its maximum over the parents' cells is
    equation (6) of [HLB]; the conditional table for ``precise`` and ``traced``, where parents have a single state.
    """

    network: Network
    process: Process
    law: Law
    parents: Parents
    imprecision: dict[str, float]
    tables: dict[str, Floats]

    @classmethod
    def of(
        cls,
        network: Network,
        imprecision: Imprecision,
        process: Process,
        law: Law,
        parents: Parents,
        evidence: Evidence | None,
    ) -> SamplingSpec:
        """Check the options and compute the degrees."""
        given: object = network
        if not isinstance(given, Network):
            raise InputError(f"sample: {network!r} is not a network; expected one, for example load_example('asia')")
        require_known(process, get_args(Process), "sample: process")
        require_known(law, get_args(Law), "sample: law")
        require_known(parents, get_args(Parents), "sample: parents")
        names = [variable.name for variable in network.variables]
        if isinstance(imprecision, Mapping):
            listed = for_every_variable(imprecision, names, "sample", "imprecision")
            thetas = {name: _theta(theta, f"imprecision of {name!r}") for name, theta in listed.items()}
        else:
            thetas = dict.fromkeys(names, _theta(imprecision, "imprecision"))
        if not network.is_normalised:
            raise InputError(
                f"sample: {network!r} has rows that do not peak at 1; expected a normalised network. "
                "Normalise its tables first: normalise_tables(...)"
            )
        if process == "alpha-cut":
            joints = Inference(network).families(evidence)
            tables = {name: joints[name].degrees for name in names}
        elif evidence:
            raise InputError(
                f"sample: evidence with process {process!r}; expected process 'alpha-cut' (or no evidence)"
            )
        else:
            tables = {name: network.table(name) for name in names}
        return cls(network, process, law, parents, thetas, tables)

    @property
    def order(self) -> list[str]:
        """Names, parents before children."""
        return list(self.network.dag.topological_order())


def _theta(value: object, what: str) -> float:
    return require_number(value, f"sample: {what}", "a number from 0 (precise) to 1 (the whole cut)", 0.0, 1.0)
