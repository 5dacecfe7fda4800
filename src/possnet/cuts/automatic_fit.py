"""Learning a network by the learner that suits its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from possnet.cuts.cut_fitting import fit_cut
from possnet.cuts.process_detection import DetectedProcess, detect_process
from possnet.doors import check_arguments
from possnet.em import EmOptions, EmResult, fit_em
from possnet.parameters import fit
from possnet.possibility import PRODUCT, Conjunction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.aliases import Progress
    from possnet.cuts.cut_result import CutResult
    from possnet.dataset import Batches, Dataset
    from possnet.graph import Dag
    from possnet.network import Network


@dataclass(frozen=True, slots=True)
class AutoResult:
    """What `possnet.fit_auto` learned, by which learner, and why.

    Attributes
    ----------
    network
        The learned network.
    learner
        The learner that was chosen: ``symmetric``, ``cut`` or ``em``, as `possnet fit --learner` calls it.
    detected
        The process that the rows look like, with the evidence.
    result
        What the learner gave: a network, a `CutResult` (with bounds) or an `EmResult`.

    Examples
    --------
    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> result = pn.fit_auto(asia.dag, pn.sample(asia, 500, process="precise", rng=1))
    >>> print(result.reason)
    precise rows (every cell is a single state (500 rows)): conditional frequencies, transformed (symmetric)
    """

    network: Network
    learner: str
    detected: DetectedProcess
    result: Network | CutResult | EmResult

    @property
    def reason(self) -> str:
        """What was chosen and why, in a sentence.

        >>> import possnet as pn
        >>> clinic = pn.load_example("clinic")
        >>> pn.fit_auto(clinic.dag, pn.sample(clinic, 500, rng=1)).reason.split(" (")[0]
        'alpha-cut rows'
        """
        how = {
            "symmetric": "conditional frequencies, transformed (symmetric)",
            "cut": "the cut likelihood, which bounds what the rows do not tell",
            "em": "EM over the hidden trace",
        }
        return f"{self.detected.process} rows ({self.detected.reason}): {how[self.learner]}"

    def __repr__(self) -> str:
        return f"AutoResult({self.network!r}, {self.learner!r}: {self.detected.process} rows)"


@check_arguments
def fit_auto(
    dag: Dag,
    data: Dataset | Batches,
    *,
    imprecision: float | Mapping[str, float] | None = None,
    wrong: float = 0.005,
    conjunction: Conjunction = PRODUCT,
    name: str = "",
    progress: Progress | None = None,
) -> AutoResult:
    """Learn the tables of a network by the learner that suits the process which the rows look like.

    Precise rows: the symmetric transformation of conditional frequencies, which recovers the degrees of rows drawn by
    ``process="precise"``. Alpha-cut rows: `possnet.fit_cut`, which estimates an unknown imprecision. Traced rows:
    `possnet.fit_em`.

    Parameters
    ----------
    imprecision
        Theta of the rows, if it is known; precise rows have none.
    wrong
        Share of wrong cells that may not decide (see `possnet.detect_process`); alpha-cut rows that lack a state which all
        others have are left out.

    Examples
    --------
    >>> import possnet as pn
    >>> clinic = pn.load_example("clinic")
    >>> for process in ("precise", "alpha-cut", "traced"):
    ...     print(pn.fit_auto(clinic.dag, pn.sample(clinic, 1000, process=process, rng=1)).learner)
    symmetric
    cut
    em
    """
    detected = detect_process(data, dag, wrong=wrong)
    learner = {"precise": "symmetric", "alpha-cut": "cut", "traced": "em"}[detected.process]
    result: Network | CutResult | EmResult
    if detected.process == "precise":
        result = network = fit(
            dag, data, method="transform", transform="symmetric", conjunction=conjunction, name=name, progress=progress
        )
    elif detected.process == "alpha-cut":
        slack = min(max(wrong, *detected.absence.values(), 0.0) * 2.0, 0.49) if max(detected.absence.values()) else 0.0
        result = fit_cut(
            dag, data, imprecision=imprecision, wrong=slack, conjunction=conjunction, name=name, progress=progress
        )
        network = result.network
    else:
        result = fit_em(
            dag, data, imprecision=imprecision, conjunction=conjunction, options=EmOptions(name=name), progress=progress
        )
        network = result.network
    return AutoResult(network, learner, detected, result)
