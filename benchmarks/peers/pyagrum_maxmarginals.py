"""Exact max-product marginals with pyAgrum's tensors: ``python pyagrum_maxmarginals.py FILE.uai 0,3 5=1``.

The marginal of a target is, for each of its states, the largest product of all factors over the configurations with
that state that agree with the evidence; nothing is normalised.
"""

from __future__ import annotations

import heapq
import json
import math
import sys
from typing import TYPE_CHECKING

import numpy as np
import pyagrum as gum
import uai

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uai import Model

MAX_CELLS = 1 << 28


def bits(mask: int) -> Iterator[int]:
    """The places of the ones."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def moral(model: Model) -> list[int]:
    """The neighbours of every variable, as bit masks."""
    around = [0] * len(model.sizes)
    for scope in model.scopes:
        mask = sum(1 << v for v in scope)
        for v in scope:
            around[v] |= mask & ~(1 << v)
    return around


def greedy(model: Model, keep: int, *, fill: bool) -> tuple[int, list[int]]:
    """Cells of the largest table, and an elimination order of all variables but one, by min-fill or min-weight."""
    around = moral(model)

    def weight(v: int) -> int:
        return math.prod(model.sizes[u] for u in bits(around[v] | 1 << v))

    def cost(v: int) -> tuple[int, int]:
        missing = sum((around[v] & ~around[u]).bit_count() - 1 for u in bits(around[v])) if fill else 0
        return missing, weight(v)

    costs = {v: cost(v) for v in range(len(model.sizes)) if v != keep}
    heap = [(c, v) for v, c in costs.items()]
    heapq.heapify(heap)
    order, largest = [], 1
    while costs:
        price, v = heapq.heappop(heap)
        if costs.get(v) != price:
            continue
        del costs[v]
        order.append(v)
        largest = max(largest, weight(v))
        ring = around[v]
        touched = ring
        for u in bits(ring):
            around[u] = (around[u] | ring) & ~(1 << u) & ~(1 << v)
            touched |= around[u]
        for u in bits(touched if fill else ring):
            if u in costs and (new := cost(u)) != costs[u]:
                costs[u] = new
                heapq.heappush(heap, (new, u))
    return largest, order


class Tensors:
    """The factors of a model as tensors; the variables live here, since tensors only point to them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.variables = [gum.RangeVariable(f"v{v}", "", 0, size - 1) for v, size in enumerate(model.sizes)]
        self.constant = math.prod(float(table) for table in model.tables if not table.ndim)
        self.tensors = [
            (frozenset(scope), self.tensor(scope, table))
            for scope, table in zip(model.scopes, model.tables, strict=True)
            if scope
        ]

    def tensor(self, scope: tuple[int, ...], table: uai.Table) -> gum.Tensor:
        """One factor; pyAgrum's first variable runs fastest, so the scope goes in backwards."""
        tensor = gum.Tensor()
        for v in reversed(scope):
            tensor.add(self.variables[v])
        tensor.fillWith(np.ascontiguousarray(table))
        return tensor

    def marginal(self, target: int) -> list[float]:
        """The max-product marginal of one variable."""
        largest, order = min(greedy(self.model, target, fill=fill) for fill in (True, False))
        if largest > MAX_CELLS:
            raise SystemExit(f"variable {target} needs a table of {largest:,} cells, more than {MAX_CELLS:,}")
        pool, constant = list(self.tensors), self.constant
        for v in order:
            bucket = sorted((item for item in pool if v in item[0]), key=lambda item: item[1].domainSize())
            if not bucket:
                continue
            pool = [item for item in pool if v not in item[0]]
            product = multiply([tensor for _, tensor in bucket])
            scope = frozenset().union(*(scope for scope, _ in bucket)) - {v}
            if scope:
                pool.append((scope, product.maxOut([f"v{v}"])))
            else:  # the array of a tensor without variables is not to be trusted
                constant *= product.max()
        ends = [tensor.toarray() for _, tensor in pool]
        return list(map(float, math.prod(ends, start=np.full(self.model.sizes[target], constant))))


def multiply(tensors: list[gum.Tensor]) -> gum.Tensor:
    """The product, smallest first."""
    product = tensors[0]
    for tensor in tensors[1:]:
        product = product * tensor
    return product


def main() -> None:
    """Answer for one file."""
    file, targets, evidence = sys.argv[1:]
    tensors = Tensors(uai.read(file).restrict(uai.parse_evidence(evidence)))
    found = {target: tensors.marginal(int(target)) for target in targets.split(",")}
    print(json.dumps({"version": gum.__version__, "marginals": found}))


if __name__ == "__main__":
    main()
