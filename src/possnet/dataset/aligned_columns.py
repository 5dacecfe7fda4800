"""Columns whose states stand in another order than those of a variable, or are some of them: matched by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import InputError, among, listing
from possnet.kernels import bitmaps
from possnet.kernels.graded_cells import GradedCells, grade_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.aliases import Words
    from possnet.variables import Variable


def align_words(words: Words, unknown: Words | None, before: Variable, after: Variable) -> Words:
    """Bitmaps of a column in the order of other states; unknown cells get them all, states that one side lacks none.

    >>> from possnet.variables import Variable
    >>> small, large = Variable("fever", ("mild", "none")), Variable("fever", ("none", "mild", "high"))
    >>> align_words(np.array([[3], [6]], dtype=np.uint64), np.array([2], dtype=np.uint64), small, large)
    array([[6], [3], [2]], dtype=uint64)
    """
    common = [state for state in before.states if state in after]
    aligned = np.zeros((len(after), words.shape[1]), dtype=words.dtype)
    aligned[[after.index(state) for state in common]] = words[[before.index(state) for state in common]]
    return aligned if unknown is None else aligned | unknown


def align_degrees(graded: GradedCells, before: Variable, after: Variable) -> GradedCells:
    """Degrees in the order of other states; states that one side lacks have none.

    >>> from possnet.variables import Variable
    >>> small, large = Variable("fever", ("mild", "none")), Variable("fever", ("none", "mild", "high"))
    >>> align_degrees(GradedCells(np.array([0]), np.array([0]), np.array([[1.0, 0.4]])), small, large).degrees
    array([[0.4, 1. , 0. ]])
    """
    common = [state for state in before.states if state in after]
    degrees = np.zeros((len(graded.degrees), len(after)))
    degrees[:, [after.index(s) for s in common]] = graded.degrees[:, [before.index(s) for s in common]]
    return grade_cells(graded.rows, graded.codes, degrees) or graded


def find_strangers(
    words: Words, unknown: Words | None, rows: int, before: Variable, after: Variable
) -> list[tuple[int, str]]:
    """The states in cells of a column that a variable lacks: the first row of each, and a sentence; unknown cells apart.

    >>> from possnet.variables import Variable
    >>> small, large = Variable("fever", ("mild", "hgh")), Variable("fever", ("none", "mild", "high"))
    >>> find_strangers(np.array([[3], [6]], dtype=np.uint64), None, 3, small, large)
    [(1, "column 'fever': 'hgh' is not a state (none, mild, high); did you mean 'high'?")]
    """
    strangers = []
    for state in before.states:
        if state not in after:
            own = words[before.index(state)]
            named = own if unknown is None else own & ~unknown
            if named.any():
                row = int(np.argmax(bitmaps.unpack(named, rows)))
                finding = f"column {before.name!r}: {state!r} is not a state{among(state, after.states)}"
                strangers.append((row, finding))
    return strangers


def require_order(before: Variable, after: Variable, owner: str) -> None:
    """Raise an `InputError` for ordered states that a variable has in another order."""
    if not after.follows_order(before):
        raise InputError(
            f"{owner}: column {before.name!r} is ordered {' < '.join(before.states)}; "
            f"expected {' < '.join(after.states)}"
        )


def widest_variables(parts: Sequence[Sequence[Variable]], owner: str) -> list[Variable]:
    """For every name the variable that has the states of all others of that name; an `InputError` if there is none.

    >>> from possnet.variables import Variable
    >>> widest_variables([[Variable("rash", ("no",))], [Variable("rash", ("yes", "no"))]], "concatenate")
    [Variable('rash', ('yes', 'no'))]
    """
    domains = [{variable.name: variable for variable in part} for part in parts]
    widest, differences = [], []
    for number, domain in enumerate(domains[1:], start=2):
        odd = domain.keys() ^ domains[0].keys()
        if odd:
            differences.append(f"{listing(sorted(odd))} only in one of data set 1 and data set {number}")
    for name in domains[0] if not differences else ():
        variables = [domain[name] for domain in domains]
        largest = max(variables, key=len)
        for number, variable in enumerate(variables, start=1):
            lacking = [state for state in variable.states if state not in largest]
            if lacking:
                differences.append(f"{name!r} is {listing(lacking, 4)} in data set {number} only")
            elif not largest.follows_order(variable):
                orders = " and ".join(" < ".join(v.states) for v in (variable, largest))
                differences.append(f"{name!r} is ordered {orders}")
        widest.append(next((v for v in variables if v.ordered and len(v) == len(largest)), largest))
    if differences:
        raise InputError(
            f"{owner}: data sets over different variables: {listing(differences, 6)}; expected the same names and states, "
            "or one domain that has the others': read them with variables="
        )
    return widest
