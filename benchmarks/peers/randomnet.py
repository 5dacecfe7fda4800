"""Random networks for the peers, and their answers by brute force: ``python randomnet.py OUT.uai --variables 30``."""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import uai

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import Generator
    from uai import Model, Table


def network(rng: Generator, variables: int, *, parents: int = 3, states: int = 4, zeros: float = 0.0) -> Model:
    """A BAYES model on a random acyclic graph: rows whose largest entry is one, a share of the others zero."""
    sizes = tuple(map(int, rng.integers(2, states + 1, variables)))
    order = rng.permutation(variables)
    scopes, tables = [], []
    for place, child in enumerate(order):
        near = order[max(0, place - 8) : place]
        count = int(rng.integers(0, min(parents, len(near)) + 1))
        scope = (*map(int, rng.permutation(near)[:count]), int(child))
        table = 1 - rng.random(tuple(sizes[v] for v in scope))
        table /= table.max(axis=-1, keepdims=True)
        table[(rng.random(table.shape) < zeros) & (table < 1)] = 0
        scopes.append(scope)
        tables.append(table)
    return uai.Model("BAYES", sizes, tuple(scopes), tuple(tables))


def field(rng: Generator, variables: int, factors: int, *, states: int = 3, zeros: float = 0.2) -> Model:
    """A MARKOV model with random scopes of up to five variables, entries from zero to two, some states alone."""
    sizes = tuple(map(int, rng.integers(1, states + 1, variables)))
    scopes = tuple(
        tuple(map(int, rng.permutation(variables)[: int(rng.integers(1, min(5, variables) + 1))]))
        for _ in range(factors)
    )
    tables = tuple(rng.random(tuple(sizes[v] for v in scope)) * 2 for scope in scopes)
    for table in tables:
        table[rng.random(table.shape) < zeros] = 0
    return uai.Model("MARKOV", sizes, scopes, tables)


def coarse(rng: Generator, variables: int, factors: int) -> Model:
    """A MARKOV model with scopes of four or five variables, most entries zero, the others with many ties."""
    sizes = tuple(map(int, rng.integers(2, 4, variables)))
    scopes = tuple(tuple(map(int, rng.permutation(variables)[: int(rng.integers(4, 6))])) for _ in range(factors))
    tables = tuple(np.maximum(rng.integers(-4, 4, tuple(sizes[v] for v in scope)), 0) / 2.0 for scope in scopes)
    return uai.Model("MARKOV", sizes, scopes, tables)


def joint(model: Model) -> Table:
    """The product of all factors over all variables, one axis each."""
    product = np.ones(model.sizes)
    for scope, table in zip(model.scopes, model.tables, strict=True):
        axes = sorted(range(len(scope)), key=scope.__getitem__)
        product *= table.transpose(axes).reshape([n if v in scope else 1 for v, n in enumerate(model.sizes)])
    return product


def observe(table: Table, evidence: dict[int, int]) -> Table:
    """A joint with zeros wherever it contradicts the evidence."""
    kept = np.zeros_like(table)
    where = tuple(evidence.get(v, slice(None)) for v in range(table.ndim))
    kept[where] = table[where]
    return kept


def some_evidence(rng: Generator, sizes: tuple[int, ...], count: int) -> dict[int, int]:
    """Random states of random variables."""
    return {int(v): int(rng.integers(sizes[v])) for v in rng.permutation(len(sizes))[:count]}


def through_files(models: Iterator[Model]) -> Iterator[Model]:
    """Every model, written and read back; the copy must be the same to the last bit."""
    with tempfile.TemporaryDirectory() as folder:
        for place, model in enumerate(models):
            path = Path(folder) / ("model.uai.gz" if place % 2 else "model.uai")
            uai.write(model, path)
            back = uai.read(path)
            messy = uai.parse("\r\n\t " + uai.text(model).replace(" ", " \t\r\n").replace("\n", "\n\n "))
            check(same(model, back) and same(model, messy), f"model {place} reads back differently")
            yield back


def same(left: Model, right: Model) -> bool:
    """Whether two models are equal."""
    heads = (left.kind, left.sizes, left.scopes) == (right.kind, right.sizes, right.scopes)
    return heads and all(map(np.array_equal, left.tables, right.tables))


def check(truth: object, message: str) -> None:
    """Stop a self-test that found a fault."""
    if not truth:
        raise SystemExit(f"self-test failed: {message}")


def close(found: object, expected: object) -> bool:
    """Equal up to rounding."""
    return np.allclose(np.asarray(found), np.asarray(expected), rtol=1e-9, atol=1e-14)


def main() -> None:
    """Write a random network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--variables", type=int, default=30)
    parser.add_argument("--parents", type=int, default=3)
    parser.add_argument("--states", type=int, default=4)
    parser.add_argument("--zeros", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    model = network(rng, given.variables, parents=given.parents, states=given.states, zeros=given.zeros)
    uai.write(model, given.file)
    print(f"{len(model.sizes)} variables, {math.fsum(t.size for t in model.tables):.0f} entries")


if __name__ == "__main__":
    main()
