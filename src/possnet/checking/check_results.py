"""The result of a hold-out check: every variable, all together, and how it was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from possnet.checking.check_text import list_tables, state_verdict
from possnet.drawing import CurvePanel, PlainCurve, draw_curves, draw_details, draw_table, escape_markup, text_table
from possnet.errors import InputError, among, count_noun, describe_value, listing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from possnet.checking.cell_check import CellCheck
    from possnet.checking.check_text import TableParts
    from possnet.drawing import Drawing

_RESOLVED_TITLE: Final = "Ambiguous cells resolved among their candidates, against the truth in another column:"


@dataclass(frozen=True, slots=True, repr=False)
class Check:
    """A hold-out check: of every variable, of all together, and how it was made. Print it, or index it by a variable.

    Made by `possnet.check`; ``str(check)`` is a page for people, ``dataclasses.asdict(check)`` one for machines, and
    `possnet.write_check` a page with reliability curves.

    Attributes
    ----------
    variables, overall
        Cells that were hidden, by variable and in all.
    resolved, overall_resolved
        Ambiguous cells that were resolved and whose truth stands in another column (``truth=``), by variable and in all.
    subject, seen
        What was checked, and whether it was learned from the rows that it was checked on.
    rows, folds, groups
        Rows in all; folds in which the network was learned (None for a network that was given); the column of groups.
    skipped
        Variables that were left out because none of their cells is known.
    seconds, learning_seconds
        Time in all, and for learning; not compared.

    Examples
    --------
    >>> import possnet as pn
    >>> asia = pn.load_example("asia")
    >>> result = pn.check(asia, pn.sample(asia, 100, process="precise", rng=1), targets=("bronc",))
    >>> result.seen, result.folds, result.accuracy == result["bronc"].accuracy
    ('rows that the network was not learned from (as you say)', None, True)
    """

    variables: dict[str, CellCheck]
    overall: CellCheck
    resolved: dict[str, CellCheck]
    overall_resolved: CellCheck | None
    subject: str
    seen: str
    rows: int
    folds: int | None
    groups: str | None
    seed: int
    skipped: tuple[str, ...]
    seconds: float = field(compare=False)
    learning_seconds: float = field(compare=False)

    def __getitem__(self, name: str) -> CellCheck:
        try:
            return self.variables[name]
        except (KeyError, TypeError):
            shown = describe_value(name)
            raise InputError(f"check: {shown} was not checked{among(name, self.variables)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    @property
    def accuracy(self) -> float | None:
        """How often the most possible state of a hidden cell is right, over all variables."""
        return self.overall.accuracy

    @property
    def baseline(self) -> float | None:
        """How often the most frequent state of a hidden cell is right, over all variables."""
        return self.overall.baseline

    @property
    def coverage(self) -> dict[float, float]:
        """Level -> how often the cut holds the truth, over all variables."""
        return self.overall.coverage

    @property
    def size(self) -> dict[float, float | None]:
        """Level -> mean number of states of the cut, over all variables."""
        return self.overall.size

    @property
    def verdict(self) -> str:
        """The check in one line."""
        return state_verdict(self.overall, self.overall_resolved)

    @property
    def sentence(self) -> str:
        """The verdict as a sentence."""
        return f"{self.verdict[0].upper()}{self.verdict[1:]}."

    @property
    def method(self) -> list[str]:
        """How the check was made, in sentences: what was checked, on which rows, how long it took, how ties count."""
        learning = f", {self.learning_seconds:.2g} s of them learning" if self.folds else ""
        rows = count_noun(self.rows, "row")
        lines = [f"{self.subject}: checked on {self.seen}; {rows}, {self.seconds:.2g} s{learning}."]
        if self.skipped:
            lines.append(f"Not checked, for no cell of them is known: {listing(self.skipped)}.")
        return [
            *lines,
            "States that tie share the cell: 1/k right for k of them. ±: two standard errors of the difference.",
        ]

    def __str__(self) -> str:
        lines = [self.sentence, ""]
        for title, (head, rows, note) in self.list_tables():
            lines += [
                *filter(None, [title]),
                *text_table([head, *rows], texts=1),
                *filter(None, [note and f"  {note}"]),
                "",
            ]
        return "\n".join([*lines, *(f"  {line}" for line in self.method)])

    def __repr__(self) -> str:
        return f"Check({self.verdict})"

    def _repr_html_(self) -> str:
        """The verdict, a reliability curve, and the tables, folded but for the first, for notebooks."""
        first, *others = [
            (title or parts.head[0], draw_table(*parts[:2], caption=title, note=parts.note))
            for title, parts in self.list_tables()
        ]
        folded = "".join(draw_details(title, table) for title, table in others)
        below = escape_markup(" ".join(self.method))
        verdict = f'<div style="font-weight:600">{escape_markup(self.sentence)}</div>'
        return f"<div>{verdict}{self.draw_reliability()}{first[1]}{folded}<div>{below}</div></div>"

    def draw_reliability(self) -> Drawing:
        """How often the cuts hold the truth, over what they promise, as SVG text.

        >>> import possnet as pn
        >>> clinic = pn.load_example("clinic")
        >>> picture = pn.check(clinic, pn.sample(clinic, 20, process="precise", rng=1)).draw_reliability()
        >>> picture.startswith("<svg"), "cuts hold the truth" in picture
        (True, True)
        """
        held = tuple(sorted((round(1.0 - level, 9), share) for level, share in self.coverage.items()))
        promised = tuple((share, share) for share, _ in held)
        curves = (
            PlainCurve("cuts hold the truth", held, "necessary"),
            PlainCurve("promised", promised, "soft", dashed=True),
        )
        return draw_curves([CurvePanel("reliability", curves)], title="reliability", x="promised", y="held")

    def list_tables(self) -> list[tuple[str, TableParts]]:
        """Every table with the title above it, if it has one.

        >>> import possnet as pn
        >>> clinic = pn.load_example("clinic")
        >>> [parts.head[0] for _, parts in pn.check(clinic, pn.sample(clinic, 20, process="precise", rng=1)).list_tables()]
        ['variable', 'cut at', 'necessity']
        """
        tables = [("", parts) for parts in list_tables(self.variables, self.overall, "state", claims=True)]
        if self.overall_resolved is not None:
            resolved = list_tables(self.resolved, self.overall_resolved, "candidate", claims=False)
            tables += zip((_RESOLVED_TITLE, ""), resolved, strict=True)
        return tables
