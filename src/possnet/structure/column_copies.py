"""Columns that are copies of each other: every state of one goes with one state of the other.

Whatever depends on one depends on the other: structures in which they change places have the same score, and so have all
ways to share out the children between them. A search would scatter them. So copies are set aside, and come back as leaves
below the first column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.structure.search_graph import CompiledConstraints

if TYPE_CHECKING:
    from possnet.structure.decomposable_scores import DecomposableScore


def find_copies(score: DecomposableScore, constraints: CompiledConstraints) -> dict[int, int]:
    """Copies, each with the first column that it copies, as far as the constraints treat both alike and the edge pays.

    >>> import possnet as pn
    >>> from possnet.structure import DecomposableScore
    >>> from possnet.structure.coded_rows import CodedRows
    >>> table = {"a": ["x", "y"] * 50, "b": ["u", "u", "v"] * 33 + ["v"], "c": ["no", "yes"] * 50}
    >>> free = CompiledConstraints(np.zeros((3, 3), bool), ~np.eye(3, dtype=bool), 2)
    >>> find_copies(DecomposableScore(CodedRows(pn.Dataset.from_table(table))), free)
    {2: 0}
    """
    rows = score.rows
    imprecise = set(rows.imprecise)
    counts = [tuple(sorted(rows.cell_counts(k).tolist())) for k in range(score.size)]
    copies: dict[int, int] = {}
    for copy in range(score.size):
        for first in range(copy):
            if (
                first not in copies
                and counts[first] == counts[copy]
                and len(counts[copy]) > 1
                and rows.variables[copy].name not in imprecise
                and len(rows.variables[first]) == len(rows.variables[copy])
                and _match_codes(rows.codes[first], rows.codes[copy], len(counts[copy]))
                and _are_alike(constraints, first, copy)
                and score.score_family(copy, (first,)) > score.score_family(copy, ())
            ):
                copies[copy] = first
                break
    return copies


def set_aside(constraints: CompiledConstraints, copies: dict[int, int]) -> CompiledConstraints:
    """The constraints, and no edges of copies."""
    allowed = constraints.allowed.copy()
    allowed[list(copies), :] = False
    allowed[:, list(copies)] = False
    return CompiledConstraints(constraints.required, allowed, constraints.max_parents)


def _match_codes(one: np.ndarray, other: np.ndarray, cells: int) -> bool:
    return len(np.unique(one.astype(np.int64) * cells + other)) == cells


def _are_alike(constraints: CompiledConstraints, first: int, copy: int) -> bool:
    """Whether all edges of the two are allowed alike, none is required, and the copy may hang below the first."""
    others = np.ones(len(constraints.allowed), dtype=np.bool_)
    others[[first, copy]] = False
    pair = [first, copy]
    allowed, required = constraints.allowed, constraints.required
    return bool(
        allowed[first, copy]
        and constraints.max_parents > 0
        and not required[pair].any()
        and not required[:, pair].any()
        and (allowed[first, others] == allowed[copy, others]).all()
        and (allowed[others, first] == allowed[others, copy]).all()
    )
