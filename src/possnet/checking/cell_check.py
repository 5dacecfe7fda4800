"""What became of checked cells, as shares: accuracy, cuts and claims of one variable or of all."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.checking.cell_tallies import CheckScales, CheckTally


@dataclass(frozen=True, slots=True)
class CutPoint:
    """The cut {x : Π(x) >= level}: the share of cells whose truth it holds, and its mean number of states."""

    level: float
    coverage: float
    size: float | None


@dataclass(frozen=True, slots=True)
class ClaimPoint:
    """The states of at least a necessity: the share of cells that have one, and how often it is right."""

    necessity: float
    claimed: float
    right: float | None


@dataclass(frozen=True, slots=True)
class CellCheck:
    """What became of the cells of one variable, or of all: shares, rows counted with their weights.

    Attributes
    ----------
    rows, sets
        Cells whose truth is one known state, and cells of which only a set is known. Accuracy and claims are of the
        first alone; a cut holds a set if it meets it, so that coverage is an upper bound where there are sets.
    impossible
        Cells in rows whose evidence has possibility 0: wrong, and held by no cut.
    accuracy
        How often the most possible state is the truth; a cell in which k states tie counts 1/k. None without ``rows``.
    baseline, random
        The same of the state (for ambiguous cells, the candidate) that is most frequent in the rows learned from, and of
        one drawn at random.
    inside
        The share of cells whose truth is among the states that compete: 1 for hidden cells, unless a truth is outside the
        domain; less for ambiguous cells that miss it, which no completion can get right.
    margin
        Twice the standard error of accuracy - baseline, as if rows were independent.
    coverage, size
        For every level asked for: the share of cells whose truth the cut {x : Π(x) >= level} holds, which calibrated
        degrees keep at 1 - level or more; and its mean number of states, impossible rows left out.
    claimed, right
        For every necessity asked for: the share of cells with a state of at least that necessity, and how often that
        state is the truth (None if it is never claimed).
    cut_curve, claim_curve
        The same at many levels, for reliability curves.

    Examples
    --------
    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> result = pn.check(asia, pn.sample(asia, 100, process="precise", rng=1), targets=("bronc",))
    >>> result["bronc"].rows, sorted(result["bronc"].coverage)
    (100, [0.05, 0.1, 0.2, 0.5])
    """

    rows: int
    sets: int
    impossible: int
    accuracy: float | None
    baseline: float | None
    random: float | None
    inside: float | None
    margin: float | None
    coverage: dict[float, float]
    size: dict[float, float | None]
    claimed: dict[float, float | None]
    right: dict[float, float | None]
    cut_curve: tuple[CutPoint, ...]
    claim_curve: tuple[ClaimPoint, ...]

    @property
    def accuracy_inside(self) -> float | None:
        """Accuracy where the truth is among the states that compete."""
        return self.accuracy / self.inside if self.accuracy is not None and self.inside else None

    @property
    def gain(self) -> float | None:
        """How much more often than the most frequent state it is right."""
        return None if self.accuracy is None or self.baseline is None else self.accuracy - self.baseline


def summarise_tally(
    tally: CheckTally, scales: CheckScales, levels: Sequence[float], claims: Sequence[float]
) -> CellCheck:
    """Shares of the sums of a tally, at the levels and necessities asked for and at all of them."""
    cells, answered = tally.precise + tally.sets, tally.precise + tally.sets - tally.impossible
    cuts = tuple(
        CutPoint(level, held / max(cells, 1.0), _share(size, answered))
        for level, held, size in zip(scales.levels.tolist(), tally.held.tolist(), tally.sizes.tolist(), strict=True)
    )
    counts = zip(scales.claims.tolist(), tally.claimed.tolist(), tally.claimed_right.tolist(), strict=True)
    points = tuple(
        ClaimPoint(necessity, claimed / max(tally.precise, 1.0), _share(right, claimed))
        for necessity, claimed, right in counts
    )
    by_level, by_necessity = {p.level: p for p in cuts}, {p.necessity: p for p in points}
    return CellCheck(
        rows=round(tally.precise),
        sets=round(tally.sets),
        impossible=round(tally.impossible),
        accuracy=_share(tally.right, tally.precise),
        baseline=_share(tally.baseline, tally.precise),
        random=_share(tally.random, tally.precise),
        inside=_share(tally.inside, tally.precise),
        margin=_margin_of(tally),
        coverage={level: by_level[level].coverage for level in levels},
        size={level: by_level[level].size for level in levels},
        claimed={n: by_necessity[n].claimed if tally.precise else None for n in claims},
        right={n: by_necessity[n].right for n in claims},
        cut_curve=cuts,
        claim_curve=points,
    )


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _margin_of(tally: CheckTally) -> float | None:
    """Twice the standard error of the mean of right - baseline."""
    if not tally.precise:
        return None
    mean = (tally.right - tally.baseline) / tally.precise
    variance = max(tally.gain_squares / tally.precise - mean * mean, 0.0)
    return 2.0 * sqrt(variance / tally.precise)
