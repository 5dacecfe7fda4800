"""Objects that answer as those of other libraries do, with as much of them as possnet asks for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


class FakeGraph:
    """A directed graph as networkx has it."""

    def __init__(self, edges: Iterable[tuple[Any, Any]] = (), nodes: Iterable[Any] = (), directed: bool = True) -> None:
        self.pred: dict[Any, list[Any]] = {node: [] for node in nodes}
        self.directed, self.graph = directed, dict[str, Any]()
        self.nodes: dict[Any, dict[str, Any]] = {node: {} for node in self.pred}
        self.add_edges_from(edges)

    def add_nodes_from(self, nodes: Iterable[Any]) -> None:
        for node in nodes:
            self.nodes.setdefault(node, {})
            self.pred.setdefault(node, [])

    def add_edges_from(self, edges: Iterable[tuple[Any, Any]]) -> None:
        for parent, child in edges:
            self.add_nodes_from((parent, child))
            self.pred[child].append(parent)

    def is_directed(self) -> bool:
        return self.directed

    def predecessors(self, node: Any) -> Iterable[Any]:
        return iter(self.pred[node])


class FakeCpd:
    """A table as pgmpy has it: axes are the child, then its parents."""

    def __init__(self, variables: list[Any], values: Any, state_names: dict[Any, list[Any]]) -> None:
        self.variables, self.values, self.state_names = variables, np.array(values), state_names


class FakePgmpy:
    """A Bayesian network as pgmpy has it."""

    name = "fake"

    def __init__(self, cpds: dict[Any, Any]) -> None:
        self.cpds = cpds

    def nodes(self) -> list[Any]:
        return list(self.cpds)

    def get_cpds(self, node: Any) -> Any:
        return self.cpds[node]


class FakeVariable:
    """A variable as pyAgrum has it."""

    def __init__(self, name: str, labels: tuple[str, ...], is_numerical: bool = False) -> None:
        self._name, self._labels, self._is_numerical = name, labels, is_numerical

    def name(self) -> str:
        return self._name

    def labels(self) -> tuple[str, ...]:
        return self._labels

    def isNumerical(self) -> bool:  # noqa: N802 - pyAgrum's name
        return self._is_numerical


class FakeTensor:
    """A table as pyAgrum has it: the axes of its array are those of its names, reversed."""

    def __init__(self, names: tuple[str, ...], array: Any) -> None:
        self.names, self._array = names, np.array(array)

    def tolist(self) -> Any:
        return self._array.tolist()


class FakePyagrum:
    """A Bayesian network as pyAgrum has it."""

    def __init__(self, variables: list[FakeVariable], cpts: list[FakeTensor]) -> None:
        self._variables, self._cpts = variables, cpts

    def nodes(self) -> set[int]:
        return set(range(len(self._variables)))

    def variable(self, node: int) -> FakeVariable:
        return self._variables[node]

    def cpt(self, node: int) -> FakeTensor:
        return self._cpts[node]


def make_graph() -> FakeGraph:
    return FakeGraph([("fever", "rash"), ("season", "rash")])


def make_pgmpy_model() -> FakePgmpy:
    """P(rash given fever, season), whose table has the states of fever in another order than the table of fever."""
    fever, season, rash = ["none", "high"], [0, 1, 2], ["yes", "no"]
    yes = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]  # by fever (high, none) and season
    table = FakeCpd(
        ["rash", "fever", "season"],
        [yes, 1 - np.array(yes)],
        {"rash": rash, "fever": ["high", "none"], "season": season},
    )
    return FakePgmpy(
        {
            "fever": FakeCpd(["fever"], [0.75, 0.25], {"fever": fever}),
            "season": FakeCpd(["season"], [0.5, 0.25, 0.25], {"season": season}),
            "rash": table,
        }
    )


def make_pyagrum_network() -> FakePyagrum:
    """The same network, its axes as pyAgrum has them: season, fever, rash."""
    variables = [FakeVariable("fever", ("none", "high")), FakeVariable("season", ("0", "1", "2"))]
    yes = np.array([[0.4, 0.1], [0.5, 0.2], [0.6, 0.3]])  # by season and fever (none, high)
    cpts = [FakeTensor(("fever",), [0.75, 0.25]), FakeTensor(("season",), [0.5, 0.25, 0.25])]
    rash = FakeTensor(("rash", "fever", "season"), np.stack([yes, 1 - yes], axis=-1))
    return FakePyagrum([*variables, FakeVariable("rash", ("yes", "no"))], [*cpts, rash])
