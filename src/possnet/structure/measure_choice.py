"""The choice of a measure from the rows: ``measure="auto"``.

Precise rows are scored by BIC. Unknown cells among single states, and sets as real tables have them, say no more than that
the state lies in the cell: they are scored by BIC under coarsening at random. Rows that were drawn by alpha-cuts give
themselves away: a cut always holds the most possible state, so that in rows of the process ``alpha-cut`` every column has a
state that lies in all of its cells. They are scored by their own law, which tells directions; if BIC then says that the
cells of the structure do not follow that law, by random-set BIC, which asks for none. In rows of the process ``traced``
every root has one, for its law is the same in all rows, while children follow their parents' hidden states. Neither happens
by chance where cells list candidates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from possnet.errors import listing

if TYPE_CHECKING:
    from possnet.structure.coded_rows import CodedRows

_MOST_CUTS: Final = 60  # variables up to which cut-bic takes seconds
_MISREAD: Final = 1e-3  # share of a column's cells that may lack the state of all others


class MeasureChoice(NamedTuple):
    """The name of a measure, and why it is taken."""

    name: str
    reason: str

    def replace_measure(self, name: str, method: str) -> MeasureChoice:
        """Another measure, where this one does not go with the method."""
        return MeasureChoice(name, f"{self.reason}, but {self.name} does not go with {method}")

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def choose_measure(rows: CodedRows) -> MeasureChoice:
    """The measure for some rows, whose unknown cells are coded apart.

    >>> import possnet as pn
    >>> from possnet.structure.coded_rows import CodedRows
    >>> data = pn.Dataset.from_table({"a": ["x", "y", None], "b": ["u", "v", "v"]})
    >>> print(choose_measure(CodedRows(data, missing=True)))
    coarsened-bic: 17 % of the cells are unknown, and all others single states
    """
    known = [sets[: len(masks)] for sets, masks in zip(rows.sets, rows.masks, strict=True)]
    counts = [rows.cell_counts(k)[: len(sets)] for k, sets in enumerate(known)]
    imprecise = [k for k, sets in enumerate(known) if (sets.sum(axis=1) > 1).any()]
    cells = max(rows.total * len(known), 1)
    unknown = sum(rows.cell_counts(k)[len(sets) :].sum() for k, sets in enumerate(known))
    if not imprecise and not unknown:
        return MeasureChoice("bic", "every cell is a single state")
    if not imprecise:
        return MeasureChoice(
            "coarsened-bic", f"{_percent(unknown / cells)} of the cells are unknown, and all others single states"
        )
    shared = [
        bool(len(sets)) and float((column @ sets).max()) >= (1.0 - _MISREAD) * float(column.sum())
        for sets, column in zip(known, counts, strict=True)
    ]
    if all(has or not len(sets) for has, sets in zip(shared, known, strict=True)):
        reason = "every column has a state in all its cells, as alpha-cut rows have"
        if len(known) > _MOST_CUTS:
            return MeasureChoice("random-set-bic", f"{reason}, and cut-bic would take long for {len(known)} variables")
        return MeasureChoice("cut-bic", reason)
    roots = [rows.variables[k].name for k in imprecise if shared[k]]
    if roots:
        have = "has" if len(roots) == 1 else "have"
        return MeasureChoice(
            "traced-bic",
            f"{listing(roots[:3])} {have} a state in all cells, as roots of traced rows have, and others have none",
        )
    share = sum(column[sets.sum(axis=1) > 1].sum() for sets, column in zip(known, counts, strict=True)) / cells
    return MeasureChoice(
        "coarsened-bic", f"{_percent(share)} of the cells are sets, and no column has a state in all its cells"
    )


def _percent(share: float) -> str:
    """A share in per cent, as people write it.

    >>> _percent(1.0), _percent(0.123), _percent(0.0002)
    ('100 %', '12 %', '0.02 %')
    """
    return f"{100 * share:.{0 if share >= 0.01 else 2}f} %"
