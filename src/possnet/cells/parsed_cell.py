"""A cell as it is written, and what it means in a domain.

What a text means may depend on the domain: ``a,b`` is a set if ``a`` and ``b`` are states, and a state if ``a,b`` is one.
`ParsedCell` keeps the text and the ways to read it; `ParsedCell.resolve_states` decides. **An exact name of a state always
wins**: only a text that is no state is taken apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from possnet.arrow import describe_misfit
from possnet.cells.written_degrees import split_degree
from possnet.errors import listing

if TYPE_CHECKING:
    from possnet.arrow import Cell, Finding
    from possnet.variables import Variable

Doubt: TypeAlias = Literal["", "interval", "unclosed"]
"""Why a text may be a state of its own rather than a set: ``[20,30]`` may be a bin, and ``[20,30)`` is no list."""


class CellPart(NamedTuple):
    """A part of a cell: the text of a state, and the two ends if it may mean a range of states."""

    text: str
    ends: tuple[str, str] | None = None

    def resolve_states(self, variable: Variable) -> tuple[set[str], Finding]:
        """States of the part in the domain, and what is wrong with it (or nothing)."""
        if self.text in variable:
            return {self.text}, ""
        stranger = next((end for end in self.ends or (self.text,) if end not in variable), None)
        if self.ends is None or stranger is not None:
            return set(), partial(describe_misfit, (stranger or self.text,), variable)
        first, last = self.ends
        low, high = variable.index(first), variable.index(last)
        if low == high:
            return {first}, ""
        if not variable.ordered:
            order = f"the states of {variable.name!r} have no order; list them, or order them"
            return set(), f"{self.text!r} is a range, but {order}"
        if low > high:
            return set(), f"the range {self.text!r} runs backwards; expected {last}..{first}"
        return set(variable.states[low : high + 1]), ""


@dataclass(frozen=True, slots=True)
class ParsedCell:
    """A cell as written: unknown, a set of parts, or everything but those; or a finding if it cannot be read.

    Attributes
    ----------
    text
        The whole text, which is a state if the domain has one of that name; empty if there was none.
    doubt
        Why the text may be a state of its own where the domain is made from the data.
    comma_parts
        What stands between the commas of the text: its parts, if they are states and the text is none.
    is_list
        Whether the text is a list in brackets, beyond doubt.
    asks_degrees
        Whether the column is said to carry degrees, so that parts are states with degrees even where no domain is known.
    """

    text: str = ""
    parts: tuple[CellPart, ...] = ()
    unknown: bool = False
    all_but: bool = False
    finding: str = ""
    doubt: Doubt = ""
    comma_parts: tuple[CellPart, ...] = ()
    is_list: bool = False
    asks_degrees: bool = False

    def named_states(self) -> set[str]:
        """States that the text names, for a domain made from data; ends of ranges are not among them."""
        if self.asks_degrees:
            return {pair[0].strip() if (pair := split_degree(part.text)) else part.text for part in self.parts}
        return set() if self.doubt else {part.text for part in self.parts if part.ends is None}

    def possible_ranges(self) -> tuple[CellPart, ...]:
        """Parts that may be ranges of states."""
        return () if self.doubt else tuple(part for part in self.parts if part.ends is not None)

    def resolve_states(self, variable: Variable) -> tuple[Cell, Finding]:
        """States of the cell in the domain, in order, and what is wrong with it (or nothing)."""
        for name in (self.text, self.text.strip()):
            if name in variable:
                return (name,), ""
        if self.unknown or self.finding:
            return (None if self.unknown else ()), self.finding
        cell, finding = self._combine_parts(self.parts, variable)
        if finding and self.comma_parts:
            at_commas, misfit = self._combine_parts(self.comma_parts, variable)
            if not misfit:
                return at_commas, ""
        if finding and self.doubt == "unclosed":
            return (), f"{self.text.strip()!r} has a bracket without its partner; expected a list such as [a, b]"
        return cell, finding

    def resolve_degrees(self, variable: Variable) -> tuple[dict[str, float], Finding] | None:
        """Degrees of the states that the parts name, and what is wrong with them; None if the text has no degrees.

        A part without a degree has degree 1. Texts are taken apart if one of their states is in the domain, or the column
        is said to carry degrees.
        """
        pairs = [split_degree(part.text) if part.text not in variable else None for part in self.parts]
        pairs = [pair and (pair[0] if pair[0] in variable else pair[0].strip(), pair[1]) for pair in pairs]
        if self.all_but or not any(pair and (pair[0] in variable or self.asks_degrees) for pair in pairs):
            return None
        degrees: dict[str, float] = {}
        for part, pair in zip(self.parts, pairs, strict=True):
            state, degree = pair or (part.text, 1.0)
            if state not in variable:
                return {}, partial(describe_misfit, (state,), variable)
            if state in degrees and degrees[state] != degree:
                return {}, f"{state!r} has two degrees, {degrees[state]:g} and {degree:g}; expected one"
            degrees[state] = degree
        return degrees, ""

    def describe_choice(self, variable: Variable) -> str:
        """How an ambiguous text was settled by the domain, if it was: which states it is taken for."""
        ambiguous = self.doubt == "interval" or (self.comma_parts and self.parts[0].text not in variable)
        if not ambiguous or self.unknown:
            return ""
        cell, finding = self.resolve_states(variable)
        if finding or cell is None or len(cell) < 2:
            return ""
        return f"{self.text.strip()!r} is read as the set of {listing(cell)}, which are states"

    def may_be_range(self, variable: Variable) -> bool:
        """Whether two ordered states with others between them were taken for a set at their comma."""
        if not variable.ordered or len(self.comma_parts) != 2:
            return False
        first, last = (variable.index(part.text) if part.text in variable else -1 for part in self.comma_parts)
        return 0 <= first < last - 1

    def _combine_parts(self, parts: tuple[CellPart, ...], variable: Variable) -> tuple[Cell, Finding]:
        named: set[str] = set()
        for part in parts:
            states, finding = part.resolve_states(variable)
            if finding:
                return (), finding
            named |= states
        if len(named) == 1 and not self.all_but:
            return tuple(named), ""
        kept = tuple(s for s in variable.states if (s in named) != self.all_but)
        return kept, "" if kept else f"leaves no state of {listing(variable.states)}; expected at least one"
