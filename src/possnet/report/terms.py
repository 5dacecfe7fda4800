"""The terms of a report, each explained once, where it first stands: under the pointer, and in brackets on paper."""

from __future__ import annotations

import re
from typing import Final

from possnet.drawing import escape_markup

TERMS: Final = {
    "information affinity": "closeness to the true network, the mean over its conditional tables; 1 = equal",
    "knowing nothing": "ignorance: every state fully possible",
    "limit of counting": "what counting converges to with endless rows, computed exactly",
    "limit of the cut likelihood": "what the cut likelihood converges to with endless rows, computed exactly",
    "counting": "degrees from the shares of rows whose cells allow a state (Proposition 1)",
    "EM": "expectation-maximisation over the true states behind imprecise cells",
    "cut likelihood": "maximum likelihood of the cuts that cells are, with bounds where rows do not tell",
    "alpha-cut rows": "every cell is a cut of a possibility distribution: the states as possible as a random level",
    "traced rows": "every cell holds the true state and states that could be confused with it",
    "precise rows": "every cell is one state",
    "imprecision": "theta: the probability that a state of a cut beside the most possible ones is kept; 0 = precise",
    "identified": "told exactly by endless rows; of other degrees rows tell bounds alone",
    "edges to mend": "structural Hamming distance: edges to add, delete or reverse until the graph is the true one",
}
"""Term -> its meaning, short enough to stand in brackets."""


class TermExplainer:
    """Marks the first occurrence of every term in the texts that it is given, in their order.

    >>> explainer = TermExplainer()
    >>> explainer.explain("EM & counting").count("<dfn"), explainer.explain("EM again")
    (2, 'EM again')
    """

    def __init__(self) -> None:
        self._left = dict(TERMS)

    def explain(self, text: str) -> str:
        """A text as mark-up, in which terms that were not explained before are."""
        if not self._left:
            return escape_markup(text)
        longest = sorted(self._left, key=len, reverse=True)
        pattern = re.compile(rf"\b({'|'.join(map(re.escape, longest))})\b", re.IGNORECASE)
        parts, end = [], 0
        for match in pattern.finditer(text):
            term = next(name for name in longest if name.lower() == match[0].lower())
            meaning = self._left.pop(term, None) if match[0] != "em" else None
            if meaning is not None:
                parts.append(escape_markup(text[end : match.start()]))
                parts.append(f'<dfn title="{escape_markup(meaning)}" tabindex="0">{escape_markup(match[0])}</dfn>')
                end = match.end()
        return "".join(parts) + escape_markup(text[end:])
