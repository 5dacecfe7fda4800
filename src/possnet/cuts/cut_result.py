"""What the cut likelihood learned: a network, and how sure each of its degrees is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from possnet.cuts.identified_degrees import identified_share

if TYPE_CHECKING:
    from possnet.aliases import Bools, Floats
    from possnet.network import Network


@dataclass(frozen=True, slots=True)
class CutResult:
    """What `possnet.fit_cut` learned from alpha-cut rows.

    Attributes
    ----------
    network
        The learned network, with its support. By default the least specific one: every degree at its upper end.
    lower, upper
        Name -> ends of every degree, axes as the table. Contexts that no row shows have 0 and 1.
    identified
        Name -> which degrees the rows tell exactly, up to noise: both ends are the same.
    error
        Name -> standard error of every degree's ends, as far as they are estimated; 0 for the states of the core, whose
        upper end is 1 in every context.
    imprecision
        Theta of the rows, given or estimated: one number, or one for every variable.
    imprecision_identified
        Whether the rows tell the imprecision; None if it was given. An imprecision that they do not tell is taken as 1.
    log_likelihood
        Of the cells given their parents' cells, by the full law of a cell, summed over the families.
    support
        Name -> rows whose parents' cells contain each context.
    left_out
        Name -> rows that were left out of a family because one of its cells is unknown (available cases).
    wrong
        Name -> rows that were left out of a family because a cell lacks a state of the core (see ``wrong``).

    Examples
    --------
    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}]})
    >>> pn.fit_cut(pn.Dag({"a": ()}), data)
    CutResult(Network(1 variable, 0 edges, 2 degrees, product; with bounds), 100 % of the degrees ...)
    """

    network: Network
    lower: dict[str, Floats]
    upper: dict[str, Floats]
    identified: dict[str, Bools]
    error: dict[str, Floats]
    imprecision: float | dict[str, float]
    imprecision_identified: bool | dict[str, bool] | None
    log_likelihood: float
    support: dict[str, Floats]
    left_out: dict[str, int]
    wrong: dict[str, int]

    @property
    def share(self) -> float:
        """Share of the degrees of variables with parents (of all, if none has any) that are identified.

        >>> import possnet as pn
        >>> clinic = pn.load_example("clinic")
        >>> round(pn.fit_cut(clinic.dag, pn.sample(clinic, 100_000, rng=1)).share, 1)
        0.5
        """
        return identified_share(self.network, self.identified)

    def __repr__(self) -> str:
        text = f"{100 * self.share:.0f} % of the degrees of children identified"
        text += f", log-likelihood {self.log_likelihood:.6g}"
        for what, rows in (("unknown cells", self.left_out), ("a state of the core missing", self.wrong)):
            families = sum(count > 0 for count in rows.values())
            if families:
                most = max(rows.values())
                text += f", up to {most:,} rows with {what} left out of {families} families"
        return f"CutResult({self.network!r}, {text})"

    def _repr_html_(self) -> str:
        from possnet.drawing import draw_table

        rows = []
        for name, identified in self.identified.items():
            errors = self.error[name][identified]
            width = (self.upper[name] - self.lower[name])[~identified]
            rows.append(
                [
                    name,
                    f"{identified.size:,}",
                    f"{100 * identified.mean():.0f} %",
                    f"{errors.max(initial=0.0):.3g}",
                    f"{width.mean():.2f}" if width.size else "",
                    f"{self.support[name].min():,.0f}",
                ]
            )
        head = ["variable", "degrees", "identified", "largest error", "mean width of the others", "least support"]
        return draw_table(head, rows[:60], caption=repr(self)[10:-1])
