"""What is to be drawn: a network, a process and its options, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias, TypedDict

from possnet.doors import check_arguments
from possnet.errors import InputError, require_known, require_number
from possnet.inference import Inference
from possnet.sampling.processes import Law, Parents, Process, resolve_process
from possnet.variables import for_every_variable

if TYPE_CHECKING:
    from possnet.aliases import Floats
    from possnet.inference import Evidence
    from possnet.network import Network


Imprecision: TypeAlias = float | Mapping[str, float]

_KEPT_DEGREES: Final = 1 << 20  # of a network whose family joints are kept for the next sample: 8 MiB


class SamplingOptions(TypedDict, total=False):
    """The options that decide the law of a row; see `possnet.sample`."""

    imprecision: Imprecision
    process: str
    law: Law
    parents: Parents
    evidence: Evidence | None


@dataclass(frozen=True, slots=True)
class SamplingSpec:
    """A network, a process and its options, checked.

    ``tables`` holds, for every variable, the degrees that its cell is cut from, axes parents then variable. Where signals
    are sets, it is the joint possibility of the family given the evidence, so that its maximum over the parents' sets is
    equation (6) of [HLB]; where they are states, the conditional table.
    """

    network: Network
    process: Process
    imprecision: dict[str, float]
    tables: dict[str, Floats]

    @classmethod
    @check_arguments
    def from_options(
        cls,
        network: Network,
        *,
        imprecision: Imprecision = 1.0,
        process: str = "alpha-cut",
        law: Law = "independent",
        parents: Parents = "observed",
        evidence: Evidence | None = None,
        **unknown: object,
    ) -> SamplingSpec:
        """Check the options and compute the degrees."""
        for option in unknown:
            require_known(option, SamplingOptions.__annotations__, "sample: option")
        entry = resolve_process(process, law, parents)
        names = [variable.name for variable in network.variables]
        if isinstance(imprecision, Mapping):
            listed = for_every_variable(imprecision, names, "sample", "imprecision")
            thetas = {name: _require_theta(theta, f"imprecision of {name!r}") for name, theta in listed.items()}
        else:
            thetas = dict.fromkeys(names, _require_theta(imprecision, "imprecision"))
        if not network.is_normalised:
            raise InputError(
                f"sample: {network!r} has rows that do not peak at 1; expected a normalised network. "
                "Normalise its tables first: normalise_tables(...)"
            )
        if evidence and not entry.takes("evidence"):
            raise InputError(
                f"sample: evidence with process {process!r}; expected process 'alpha-cut' (or no evidence)"
            )
        if entry.signal == "state":
            tables = {name: network.table(name) for name in names}
        else:
            kept = not evidence and sum(network.table(name).size for name in names) <= _KEPT_DEGREES
            tables = _keep_families(network) if kept else _condition_families(network, evidence)
        return cls(network, entry, thetas, tables)


def _condition_families(network: Network, evidence: Evidence | None = None) -> dict[str, Floats]:
    """Joint possibility of every variable and its parents, given evidence."""
    return {name: joint.degrees for name, joint in Inference(network).families(evidence).items()}


_keep_families = lru_cache(maxsize=2)(_condition_families)  # experiments draw from one network again and again


def _require_theta(value: object, what: str) -> float:
    return require_number(value, f"sample: {what}", "a number from 0 (precise) to 1 (the whole cut)", 0.0, 1.0)
