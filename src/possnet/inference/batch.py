"""One question for every row of a data set.

Messages towards the target are computed for many rows at once, the rows along the last axis. A message depends only on the
evidence in its part of the tree, and rows that agree there share it: every clique numbers the combinations of its own cells
and its children's messages that occur, and computes each once. Blocks bound the memory.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from possnet.inference.run import merge_parts
from possnet.kernels.bitmaps import compress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from possnet.arrow import CodedColumn
    from possnet.inference.algebra import Algebra
    from possnet.inference.plan import Clique, Plan
    from possnet.variables import Variable

    Table: TypeAlias = NDArray[np.float64]
    Codes: TypeAlias = NDArray[np.int64]
    Known: TypeAlias = tuple[tuple[int, ...], Table, Codes]

__all__ = [
    "BLOCK_BYTES",
    "answer_rows",
    "cell_degrees",
    "clique_potentials",
    "clique_tables",
    "on_separator",
    "pieces_of",
]

BLOCK_BYTES = 1 << 20  # a block that stays in the processor's cache: twice as fast as one of 32 MB
_ROWS = 1 << 17


def answer_rows(
    plan: Plan,
    scopes: Sequence[tuple[int, ...]],
    tables: Sequence[Table],
    algebra: Algebra,
    target: int,
    columns: Mapping[int, CodedColumn],
    rows: int,
    variables: Sequence[Variable],
    budget: int,
) -> Table:
    """Unnormalised table of the target for every row, shape (rows, states); messages stay below ``budget`` bytes."""
    cells = sum(prod(clique.shape[clique.residual :]) for clique in plan.cliques)
    most = max(min(budget // (8 * max(cells, 1)), _ROWS), 64)
    potentials = clique_potentials(plan, scopes, tables, algebra)
    vectors = {v: cell_degrees(column, variables[v], algebra) for v, column in columns.items()}
    answers = np.empty((rows, len(variables[target])))
    for start in range(0, rows, most):
        stop = min(start + most, rows)
        codes = {v: np.asarray(column.codes[start:stop], dtype=np.int64) for v, column in columns.items()}
        answers[start:stop] = _block(plan, potentials, algebra, target, vectors, codes, stop - start)
    return answers


def cell_degrees(column: CodedColumn, variable: Variable, algebra: Algebra) -> Table:
    """Degrees (states, distinct cells) of the cells as evidence; an unknown cell is none."""
    inside = np.array([[cell is None or state in cell for cell in column.cells] for state in variable.states])
    return np.where(inside, algebra.one, algebra.zero).reshape(len(variable), -1)


def clique_potentials(
    plan: Plan, scopes: Sequence[tuple[int, ...]], tables: Sequence[Table], algebra: Algebra
) -> list[Table]:
    """Factors of every clique combined, as (cells, 1)."""
    combined = []
    for clique in plan.cliques:
        table = np.full(clique.shape, algebra.one)
        for factor in clique.factors:
            scope = scopes[factor]
            order = sorted(range(len(scope)), key=lambda k: plan.position[scope[k]])
            shape = [size if v in scope else 1 for v, size in zip(clique.variables, clique.shape, strict=True)]
            algebra.combine(table, tables[factor].transpose(order).reshape(shape), out=table)
        combined.append(table.reshape(-1, 1))
    return combined


def _block(
    plan: Plan,
    potentials: Sequence[Table],
    algebra: Algebra,
    target: int,
    vectors: Mapping[int, Table],
    codes: Mapping[int, Codes],
    rows: int,
) -> Table:
    """Answers for some rows: a message and a number a row for every clique, children first."""
    messages: list[Table] = [np.zeros((0, 0))] * len(plan.cliques)
    numbers: list[Codes] = [np.zeros(0, dtype=np.int64)] * len(plan.cliques)
    result = np.full((rows, plan.sizes[target]), algebra.one)
    identity = np.arange(rows)
    home = plan.home[target]
    while plan.cliques[home].parent >= 0:
        home = plan.cliques[home].parent
    for number, clique in enumerate(plan.cliques):
        mine = [v for v in clique.variables[: clique.residual] if v in vectors]
        known: list[Known] = [((v,), vectors[v], codes[v]) for v in mine]
        known += [(plan.cliques[k].separator, messages[k], numbers[k]) for k in clique.children]
        numbers[number], count, pieces = pieces_of(clique, known, identity)
        kept = target if number == home else None
        out_cells = plan.sizes[target] if kept is not None else prod(clique.shape[clique.residual :])
        message = np.empty((out_cells, count))
        for chosen, parts in pieces:
            table = clique_tables(potentials[number], parts, clique.shape, chosen.stop - chosen.start, algebra)
            if kept is None:
                message[:, chosen] = on_separator(table, clique, algebra)
            else:
                axes = tuple(axis for axis, v in enumerate(clique.variables) if v != kept)
                message[:, chosen] = algebra.project.reduce(table, axis=axes) if axes else table
        messages[number] = message
        for child in clique.children:
            messages[child] = np.zeros((0, 0))
        if clique.parent < 0:
            values = (messages[number] if numbers[number] is identity else messages[number][:, numbers[number]]).T
            result = algebra.combine(result, values)
    return result


def clique_tables(
    potential: Table, parts: list[tuple[tuple[int, ...], Table]], shape: tuple[int, ...], width: int, algebra: Algebra
) -> Table:
    """A clique's table for some combinations of evidence, which lie along the last axis."""
    shaped = [((*inside, width), table.reshape(*inside, width)) for inside, table in parts]
    merged = merge_parts(shaped, algebra, prod(shape) * width)
    table = potential.reshape(*shape, 1)
    if not merged:
        return np.repeat(table, width, axis=-1)
    merged.sort(key=lambda part: -part[1].size)
    combined: Table = algebra.combine(table, merged[0][1])
    for _, part in merged[1:]:
        algebra.combine(combined, part, out=combined)
    return combined


def on_separator(table: Table, clique: Clique, algebra: Algebra) -> Table:
    """A clique's table on its separator, with the rows last."""
    leading = table.reshape(prod(table.shape[: clique.residual]), -1)
    separator: Table = algebra.project.reduce(leading, axis=0)
    return separator.reshape(-1, table.shape[-1])


def pieces_of(
    clique: Clique, known: Sequence[Known], identity: Codes
) -> tuple[Codes, int, Iterator[tuple[slice, list[tuple[tuple[int, ...], Table]]]]]:
    """Number of every row's combination of what is known, how many there are, and the parts of the table, some at a time.

    What is known are variables of the clique, degrees (cells, ...) for each combination of their own, and its number for
    every row.
    """
    keys, members = combinations([codes for _, _, codes in known], identity)
    count = len(members[0]) if members else 1
    axes = list(zip(clique.variables, clique.shape, strict=True))
    shapes = [tuple([size if v in scope else 1 for v, size in axes]) for scope, _, _ in known]

    def pieces() -> Iterator[tuple[slice, list[tuple[tuple[int, ...], Table]]]]:
        width = max(BLOCK_BYTES // (8 * max(prod(clique.shape), 1)), 1)
        for start in range(0, count, width):
            chosen = slice(start, min(start + width, count))
            parts = []
            for shape, (_, table, _), member in zip(shapes, known, members, strict=True):
                # all codes are in range: "clip" only spares numpy a check
                same = member is identity
                picked = table[:, chosen] if same else np.take(table, member[chosen], axis=1, mode="clip")
                parts.append((shape, picked))
            yield chosen, parts

    return keys, count, pieces()


def combinations(parts: list[Codes], identity: Codes) -> tuple[Codes, list[Codes]]:
    """Number a row for the combination of its codes, and, for every part, its code in each combination.

    ``identity`` holds the row numbers, and stands for itself wherever every row is a combination of its own.
    """
    rows = len(identity)
    if not parts:
        return np.zeros(rows, dtype=np.int64), []
    if parts[0] is identity:
        keys, members = identity, [identity]
    else:
        keys, found = compress(parts[0], int(parts[0].max(initial=0)) + 1)
        members = [found]
    for part in parts[1:]:
        if 2 * len(members[0]) > rows:  # nearly every row is a combination of its own: let each be one
            members = [
                *(member if member is identity else np.take(member, keys, mode="clip") for member in members),
                part,
            ]
            keys = identity
        else:
            radix = int(part.max(initial=0)) + 1
            keys, found = compress(keys * radix + part, len(members[0]) * radix)
            members = [*(member[found // radix] for member in members), found % radix]
    return keys, members
