"""What matters: how far each finding moves an answer, by leaving it out, and by Shapley values over the evidence.

With v(S) = Π(x | e_S) (or N) for the findings S, leaving a finding f out moves the answer by v(all) - v(all without f).
That hides findings that say the same: each can go, both cannot. The Shapley value (Shapley 1953; Strumbelj and Kononenko
2010 for predictions) is the mean of v(S with f) - v(S) over all orders in which the findings could have come in; the
values of all findings add up to v(all) - v(none). Up to 12 findings all subsets are asked in one batch of rows, so that
it is exact; beyond, random orders are drawn, and the standard error of the mean stands beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from possnet.doors import check_arguments
from possnet.drawing import text_table
from possnet.errors import InputError, require_whole
from possnet.explanation.asked_question import ask_question, choose_state, necessity_of
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from possnet.aliases import Floats, Ints
    from possnet.explanation.asked_question import AskedQuestion
    from possnet.inference import Evidence
    from possnet.network import Network

EXACT_FINDINGS = 12
"""Up to so many findings Shapley values are exact."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """How far one finding moves an answer; positive where it makes the state more possible or more certain.

    Attributes
    ----------
    name, finding
        The observed variable, and the finding in words.
    possibility, necessity
        Shapley values on Π(x | e) and on N(x | e).
    possibility_left_out, necessity_left_out
        The answer minus the answer without the finding.
    possibility_error, necessity_error
        Standard errors of the Shapley values; 0 if they are exact.

    Examples
    --------
    >>> import possnet as pn
    >>> (share,) = pn.contributions(pn.load_example("clinic"), "measles", {"rash": "widespread"}, "yes")
    >>> share.finding, round(share.possibility, 6), round(share.necessity, 6)
    ('rash=widespread', 0.94, 0.666667)
    """

    name: str
    finding: str
    possibility: float
    necessity: float
    possibility_left_out: float
    necessity_left_out: float
    possibility_error: float = 0.0
    necessity_error: float = 0.0


@dataclass(frozen=True, slots=True)
class Contributions(Sequence[Contribution]):
    """How far each finding moves an answer, largest first; the sum of the Shapley values is ``now`` minus ``before``.

    ``before`` and ``now`` are (Π, N) of the state without any evidence and with all of it.

    >>> import possnet as pn
    >>> record = {"fever": "high", "rash": "spots", "vaccinated": "no"}
    >>> shares = pn.contributions(pn.load_example("clinic"), "measles", record, "yes")
    >>> [(share.finding, round(share.possibility, 4)) for share in shares]
    [('rash=spots', 0.4016), ('vaccinated=no', 0.3888), ('fever=high', 0.1497)]
    >>> shares.exact, round(sum(share.possibility for share in shares) + shares.before[0], 9), shares.now[0]
    (True, 1.0, 1.0)
    """

    target: str
    state: str
    before: tuple[float, float]
    now: tuple[float, float]
    findings: tuple[Contribution, ...]
    exact: bool

    def __len__(self) -> int:
        return len(self.findings)

    @overload
    def __getitem__(self, rank: int) -> Contribution: ...
    @overload
    def __getitem__(self, rank: slice) -> tuple[Contribution, ...]: ...
    def __getitem__(self, rank: int | slice) -> Contribution | tuple[Contribution, ...]:
        return self.findings[rank]

    @check_arguments
    def of(self, name: str) -> Contribution:
        """The contribution of one finding.

        >>> import possnet as pn
        >>> shares = pn.contributions(pn.load_example("clinic"), "measles", {"rash": "spots"}, "yes")
        >>> round(shares.of("rash").possibility, 6)
        0.15
        """
        for share in self.findings:
            if share.name == name:
                return share
        raise InputError(f"contributions: {name!r} is no finding; expected one of {', '.join(s.name for s in self)}")

    def to_dict(self) -> dict[str, Any]:
        """The contributions, for machines.

        >>> import possnet as pn
        >>> pn.contributions(pn.load_example("clinic"), "measles", {"rash": "spots"}, "yes").to_dict()["exact"]
        True
        """
        numbers = ("possibility", "necessity", "possibility_left_out", "necessity_left_out")
        fields = ("name", "finding", *numbers, "possibility_error", "necessity_error")
        return {
            "target": self.target,
            "state": self.state,
            "exact": self.exact,
            "before": {"possibility": self.before[0], "necessity": self.before[1]},
            "now": {"possibility": self.now[0], "necessity": self.now[1]},
            "findings": [{name: getattr(share, name) for name in fields} for share in self.findings],
        }

    def __repr__(self) -> str:
        return (
            f"Contributions({self.target}={self.state}: {len(self)} findings, {'exact' if self.exact else 'sampled'})"
        )

    def __str__(self) -> str:
        (before, no_certainty), (now, certainty) = self.before, self.now
        lines = [f"{self.target}={self.state}: Π {before:.6g} without evidence, {now:.6g} with all of it; "]
        lines[0] += f"N {no_certainty:.6g}, {certainty:.6g}"
        if not self.findings:
            return lines[0]
        rows: list[tuple[str, ...]] = [("finding", "share of Π", "share of N", "Π if left out", "N if left out")]
        for s in self.findings:
            shares = [
                f"{value:+.4f}" + (f" ± {error:.4f}" if not self.exact else "")
                for value, error in ((s.possibility, s.possibility_error), (s.necessity, s.necessity_error))
            ]
            rows.append(
                (s.finding, *shares, f"{0.0 - s.possibility_left_out:+.4f}", f"{0.0 - s.necessity_left_out:+.4f}")
            )
        return "\n".join([*lines, *text_table(rows, texts=1)])


@check_arguments
def contributions(
    network: Network,
    target: str,
    evidence: Evidence,
    state: str | None = None,
    *,
    orders: int = 500,
    rng: np.random.Generator | int | None = 0,
) -> Contributions:
    """How far each finding moves Π and N of a state: leave-one-out, and Shapley values over the evidence.

    Equation
    --------
    φ_f = ∑_{S without f} |S|! (n - |S| - 1)! / n! · (v(S ∪ f) - v(S))
    v(S) = Π(x | e_S) or N(x | e_S)

    Parameters
    ----------
    state
        By default the most possible one given the evidence.
    orders
        Beyond 12 findings, how many random orders the Shapley values are means over.

    Examples
    --------
    >>> import possnet as pn
    >>> print(contributions(pn.load_example("clinic"), "measles", {"fever": "high", "rash": "widespread"}, "yes"))
    measles=yes: Π 0.06 without evidence, 1 with all of it; N 0, 0.786667
      finding          share of Π  share of N  Π if left out  N if left out
      rash=widespread     +0.9231     +0.7267        -0.9062        -0.7867
      fever=high          +0.0169     +0.0600        +0.0000        -0.1200
    """
    asked = ask_question(network, target, evidence, "contributions")
    number = choose_state(asked, state, "contributions")
    count = len(asked.findings)
    if count <= EXACT_FINDINGS:
        shares, errors, ends = _exact_shares(asked, number)
    else:
        draws = require_whole(orders, 2, "contributions: orders")
        shares, errors, ends = _sampled_shares(asked, number, draws, np.random.default_rng(seed_of(rng)))
    without = ends[0] if not count else _values(asked, 1 - np.eye(count, dtype=np.int64), number)
    left_out = ends[1] - without if count else np.zeros((0, 2))
    listed = [
        Contribution(
            name,
            asked.describe_finding(name),
            *map(float, (*shares[k], *left_out[k], *errors[k])),
        )
        for k, name in enumerate(asked.findings)
    ]
    listed.sort(key=lambda s: -max(abs(s.possibility), abs(s.necessity)))
    before, now = ((float(end[0]), float(end[1])) for end in ends)
    return Contributions(target, asked.target.states[number], before, now, tuple(listed), count <= EXACT_FINDINGS)


def _values(asked: AskedQuestion, kept: Ints, number: int) -> Floats:
    """Π and N of a state (rows, 2), given the findings that each row keeps."""
    answers = asked.answer_subsets(kept)
    return np.stack([answers[:, number], necessity_of(answers, number)], axis=1)


def _exact_shares(asked: AskedQuestion, number: int) -> tuple[Floats, Floats, Floats]:
    """Shapley values (findings, 2) from all subsets, their errors (0), and the values of no and of all findings."""
    count = len(asked.findings)
    subsets = np.arange(1 << count)
    kept = (subsets[:, np.newaxis] >> np.arange(count)) & 1
    values = _values(asked, kept, number)
    sizes = kept.sum(axis=1)
    weights = np.array([1.0 / (count * comb(count - 1, k)) for k in range(count)])
    shares = np.zeros((count, 2))
    for k in range(count):
        absent = np.flatnonzero(kept[:, k] == 0)
        shares[k] = weights[sizes[absent]] @ (values[absent | 1 << k] - values[absent])
    return shares, np.zeros((count, 2)), values[[0, -1]]


def _sampled_shares(
    asked: AskedQuestion, number: int, orders: int, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Means of what each finding adds over random orders (findings, 2), their standard errors, and both ends."""
    count = len(asked.findings)
    places = np.argsort(rng.random((orders, count)), axis=1)  # the findings, in the order in which they come in
    rank = np.argsort(places, axis=1)
    kept = (rank[:, np.newaxis, :] < np.arange(count + 1)[:, np.newaxis]).astype(np.int64)
    values = _values(asked, kept.reshape(-1, count), number).reshape(orders, count + 1, 2)
    steps = np.diff(values, axis=1)
    added = np.take_along_axis(steps, rank[..., np.newaxis], axis=1)  # of each finding, in the order of the findings
    return added.mean(axis=0), added.std(axis=0, ddof=1) / np.sqrt(orders), values[0, [0, -1]]
