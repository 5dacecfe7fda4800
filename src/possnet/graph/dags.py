"""Directed acyclic graphs: order, moral graph, d-separation, v-structures and the CPDAG.

A `Dag` maps every node to its parents, *in the order of the node's table axes*. It answers questions about order
(ancestors, topological order), about independence (d-separation) and about Markov equivalence: two DAGs with the same
skeleton and the same v-structures express the same independences, so that no data can tell them apart, and their common
CPDAG, `EssentialGraph`, keeps an edge directed only if all of them agree on it (Verma and Pearl 1990; Meek 1995).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import combinations
from typing import TYPE_CHECKING

from possnet.doors import check_arguments, checks_itself
from possnet.errors import InputError, among, describe_value, did_you_mean, listing, require_several
from possnet.variables import check_text

if TYPE_CHECKING:
    from collections.abc import Iterable


class Dag:
    """A directed acyclic graph: child -> its parents, in table order.

    Two are equal when every node has the same parents in the same order; the order of the nodes does not matter.

    >>> dag = Dag({"fever": (), "rash": ("fever",)})
    >>> dag
    Dag(fever; rash <- fever)
    >>> dag.nodes, dag.parents("rash"), dag.children("fever"), dag.edges
    (('fever', 'rash'), ('fever',), ('rash',), (('fever', 'rash'),))
    """

    __slots__ = ("_children", "_parents")
    _parents: dict[str, tuple[str, ...]]
    _children: dict[str, tuple[str, ...]]

    @check_arguments
    @checks_itself("parents")
    def __init__(self, parents: Mapping[str, Iterable[str]]) -> None:
        if not isinstance(parents, Mapping):
            raise InputError(
                f"dag: parents {describe_value(parents)}; expected a mapping from every node to its parents"
            )
        families: dict[str, tuple[str, ...]] = {}
        for child, its_parents in parents.items():
            check_text(child, "dag: node")
            if isinstance(its_parents, str):
                raise InputError(
                    f"dag: parents of {child!r} are one text {its_parents!r}; expected several, ({its_parents!r},)"
                )
            families[child] = tuple(require_several(its_parents, f"dag: parents of {child!r} are"))
            for parent in families[child]:
                check_text(parent, f"dag: parent of {child!r}")
        children: dict[str, list[str]] = {node: [] for node in families}
        for child, its_parents in families.items():
            for parent in its_parents:
                if parent not in families:
                    raise InputError(
                        f"dag: {parent!r}, a parent of {child!r}, is not a node"
                        f"{did_you_mean(parent, families) or f'; add {parent!r}: ()'}"
                    )
                children[parent].append(child)
            if len(set(its_parents)) < len(its_parents):
                raise InputError(f"dag: {child!r} lists a parent twice {its_parents!r}; expected distinct parents")
        self._parents = families
        self._children = {node: tuple(nodes) for node, nodes in children.items()}
        if len(self.topological_order()) < len(families):
            raise InputError(f"dag: cycle {' -> '.join(self._find_cycle())}; expected no directed cycle")

    @classmethod
    @check_arguments
    @checks_itself("edges")
    def from_edges(cls, edges: Iterable[tuple[str, str]], *, nodes: Iterable[str] = ()) -> Dag:
        """Graph of (parent, child) pairs; nodes appear as listed, then as the edges name them.

        >>> Dag.from_edges([("fever", "rash"), ("measles", "rash")], nodes=["age"])
        Dag(age; fever; rash <- fever, measles; measles)
        """
        parents: dict[str, list[str]] = {node: [] for node in nodes}
        for edge in require_several(edges, "dag: edges"):
            if not isinstance(edge, tuple | list) or len(edge) != 2:
                raise InputError(f"dag: edge {describe_value(edge)}; expected a pair (parent, child)")
            parent, child = edge
            check_text(parent, "dag: node")
            check_text(child, "dag: node")
            parents.setdefault(parent, [])
            parents.setdefault(child, []).append(parent)
        return cls(parents)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes, as given."""
        return tuple(self._parents)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The edges as (parent, child), child by child."""
        return tuple((parent, child) for child, parents in self._parents.items() for parent in parents)

    def parents(self, node: str) -> tuple[str, ...]:
        """Parents of a node, in table order.

        >>> Dag({"fever": (), "rash": ("fever",)}).parents("rash")
        ('fever',)
        """
        try:
            return self._parents[node]
        except (KeyError, TypeError):
            raise self._refuse_node(node) from None

    def children(self, node: str) -> tuple[str, ...]:
        """Children of a node.

        >>> Dag({"fever": (), "rash": ("fever",)}).children("fever")
        ('rash',)
        """
        try:
            return self._children[node]
        except (KeyError, TypeError):
            raise self._refuse_node(node) from None

    @property
    def roots(self) -> tuple[str, ...]:
        """Nodes without parents."""
        return tuple(node for node, parents in self._parents.items() if not parents)

    @property
    def leaves(self) -> tuple[str, ...]:
        """Nodes without children."""
        return tuple(node for node, children in self._children.items() if not children)

    @check_arguments
    def ancestors(self, nodes: str | Iterable[str]) -> frozenset[str]:
        """All nodes from which a path leads to one of the given nodes, themselves excluded unless on such a path.

        >>> sorted(Dag.from_edges([("a", "b"), ("b", "c"), ("d", "c")]).ancestors("c"))
        ['a', 'b', 'd']
        """
        return self._reach_along(nodes, self._parents)

    @check_arguments
    def descendants(self, nodes: str | Iterable[str]) -> frozenset[str]:
        """All nodes to which a path leads from one of the given nodes.

        >>> sorted(Dag.from_edges([("a", "b"), ("b", "c"), ("d", "c")]).descendants("a"))
        ['b', 'c']
        """
        return self._reach_along(nodes, self._children)

    def topological_order(self) -> tuple[str, ...]:
        """Every node after its parents; among those that are ready, the first given comes first.

        >>> Dag({"c": ("a", "b"), "a": (), "b": ("a",)}).topological_order()
        ('a', 'b', 'c')
        """
        waiting = {node: len(parents) for node, parents in self._parents.items()}
        nodes = list(waiting)
        position = {node: k for k, node in enumerate(nodes)}
        ready = [k for k, node in enumerate(nodes) if not waiting[node]]
        order: list[str] = []
        while ready:
            node = nodes[heappop(ready)]
            order.append(node)
            for child in self._children[node]:
                waiting[child] -= 1
                if not waiting[child]:
                    heappush(ready, position[child])
        return tuple(order)

    @check_arguments
    def subgraph(self, nodes: Iterable[str]) -> Dag:
        """The given nodes and the edges among them.

        >>> Dag.from_edges([("a", "b"), ("b", "c"), ("a", "c")]).subgraph({"a", "c"})
        Dag(a; c <- a)
        """
        kept = {self._require_node(node) for node in nodes}
        return Dag({n: [p for p in parents if p in kept] for n, parents in self._parents.items() if n in kept})

    def skeleton(self) -> UndirectedGraph:
        """The same edges without their directions.

        >>> Dag({"fever": (), "rash": ("fever",)}).skeleton().edges
        (('fever', 'rash'),)
        """
        return UndirectedGraph(self.nodes, self.edges)

    def moral_graph(self) -> UndirectedGraph:
        """The moral graph: edges without directions, and every two parents of a node connected ("married").

        >>> Dag({"a": (), "b": (), "c": ("a", "b")}).moral_graph().edges
        (('a', 'b'), ('a', 'c'), ('b', 'c'))
        """
        married = [pair for parents in self._parents.values() for pair in combinations(parents, 2)]
        return UndirectedGraph(self.nodes, (*self.edges, *married))

    def v_structures(self) -> frozenset[tuple[str, str, str]]:
        """Triples (a, c, b) with a -> c <- b where a and b are not adjacent; a before b as text.

        >>> Dag({"a": (), "b": (), "c": ("a", "b")}).v_structures()
        frozenset({('a', 'c', 'b')})
        """
        return frozenset(
            (first, child, second)
            for child, parents in self._parents.items()
            if len(parents) > 1
            for first, second in combinations(sorted(parents), 2)
            if first not in self._parents[second] and second not in self._parents[first]
        )

    def essential_graph(self) -> EssentialGraph:
        """The CPDAG of the Markov equivalence class: an edge stays directed when every equivalent DAG has it so.

        Directs the v-structures, then applies Meek's first three rules until nothing changes (Meek 1995).

        >>> Dag.from_edges([("a", "b"), ("b", "c")]).essential_graph()
        EssentialGraph(a - b; b - c)
        >>> Dag.from_edges([("a", "c"), ("b", "c"), ("c", "d")]).essential_graph()
        EssentialGraph(a -> c; c -> d; b -> c)
        """
        adjacent: dict[str, set[str]] = {node: {*self._parents[node], *self._children[node]} for node in self._parents}
        into: dict[str, set[str]] = {node: set() for node in self._parents}  # node -> its compelled parents so far
        for first, child, second in self.v_structures():
            into[child] |= {first, second}
        open_edges = {(p, c) for p, c in self.edges if p not in into[c]}
        pending = True
        while pending:
            compelled = {(p, c) for p, c in open_edges if _is_compelled(p, c, adjacent, into)}
            for parent, child in compelled:
                into[child].add(parent)
            open_edges -= compelled
            pending = bool(compelled)
        arrows = frozenset([(p, c) for c, parents in into.items() for p in parents])
        return EssentialGraph.unchecked(self.nodes, arrows, open_edges)

    @check_arguments
    def d_separated(
        self, first: str | Iterable[str], second: str | Iterable[str], given: str | Iterable[str] = ()
    ) -> bool:
        """Whether two sets of nodes are d-separated by a third, ``given``: independent once it is known.

        No path may be open: a path is blocked at a known node that is not a collider on it, and at a collider neither
        known nor with a known descendant (Pearl 1988; one pass over the graph, Shachter 1998).

        >>> dag = Dag({"measles": (), "flu": (), "fever": ("measles", "flu")})
        >>> dag.d_separated("measles", "flu"), dag.d_separated("measles", "flu", given="fever")
        (True, False)
        """
        sources, targets, known = self._require_nodes(first), self._require_nodes(second), self._require_nodes(given)
        if sources & targets or sources & known or targets & known:
            raise InputError(
                f"d_separated: {listing(sorted(sources & targets | sources & known | targets & known))} "
                "stands in two of the three sets; expected disjoint sets"
            )
        return not targets & self._reach_open(sources, known)

    @check_arguments
    def d_connected(self, first: str | Iterable[str], given: str | Iterable[str] = ()) -> frozenset[str]:
        """All nodes that are not d-separated from a set of nodes by a second, ``given``: those that it could tell about.

        >>> dag = Dag({"measles": (), "flu": (), "fever": ("measles", "flu"), "age": ()})
        >>> sorted(dag.d_connected("measles")), sorted(dag.d_connected("measles", given="fever"))
        (['fever'], ['flu'])
        """
        sources, known = self._require_nodes(first), self._require_nodes(given)
        if sources & known:
            raise InputError(
                f"d_connected: {listing(sorted(sources & known))} stands in both sets; expected disjoint sets"
            )
        return frozenset(self._reach_open(sources, known) - sources - known)

    def _reach_open(self, sources: set[str], known: set[str]) -> set[str]:
        """Nodes at the ends of open paths from some nodes."""
        opened = known | self.ancestors(known)
        visited: set[tuple[str, bool]] = set()
        frontier = [(node, False) for node in sources]  # (node, came from one of its parents?)
        while frontier:
            step = frontier.pop()
            if step in visited:
                continue
            visited.add(step)
            node, from_parent = step
            if node not in known:
                frontier.extend((child, True) for child in self._children[node])
                if not from_parent:
                    frontier.extend((parent, False) for parent in self._parents[node])
            if from_parent and node in opened:
                frontier.extend((parent, False) for parent in self._parents[node])
        return {node for node, _ in visited}

    def __eq__(self, other: object) -> bool:
        return self._parents == other._parents if isinstance(other, Dag) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._parents.items()))

    def _repr_html_(self) -> str:
        """The graph in layers, for notebooks."""
        from possnet.drawing import draw_graph

        return draw_graph(self._parents, title=f"graph of {len(self._parents)} nodes")

    def __repr__(self) -> str:
        families = [f"{node} <- {', '.join(parents)}" if parents else node for node, parents in self._parents.items()]
        if len(families) > 12:
            return f"Dag({len(families)} nodes, {len(self.edges)} edges)"
        return f"Dag({'; '.join(families)})"

    def _require_node(self, node: str) -> str:
        if node not in self._parents:
            raise self._refuse_node(node)
        return node

    def _refuse_node(self, node: object) -> InputError:
        return InputError(f"{describe_value(node)} is not a node{among(node, self._parents)}")

    def _require_nodes(self, nodes: str | Iterable[str]) -> set[str]:
        return {self._require_node(node) for node in ((nodes,) if isinstance(nodes, str) else nodes)}

    def _reach_along(self, nodes: str | Iterable[str], step: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
        reached: set[str] = set()
        frontier = list(self._require_nodes(nodes))
        while frontier:
            for node in step[frontier.pop()]:
                if node not in reached:
                    reached.add(node)
                    frontier.append(node)
        return frozenset(reached)

    def _find_cycle(self) -> list[str]:
        """Nodes of one directed cycle; only called when there is one."""
        ordered = set(self.topological_order())
        path = [next(node for node in self._parents if node not in ordered)]
        while path[-1] not in path[:-1]:
            path.append(next(parent for parent in self._parents[path[-1]] if parent not in ordered))
        return path[path.index(path[-1]) :][::-1]


class _ComparedByContent:
    """Equality by content, regardless of the order of nodes and edges."""

    __slots__ = ()

    def _content(self) -> tuple[frozenset[object], ...]:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._content())


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class UndirectedGraph(_ComparedByContent):
    """Nodes and undirected edges; each edge once, sorted by the order of the nodes.

    >>> UndirectedGraph(("a", "b", "c"), [("c", "a"), ("a", "c")])
    UndirectedGraph(3 nodes: a - c)
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]

    @check_arguments
    def __init__(self, nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> None:
        listed = tuple(nodes)
        object.__setattr__(self, "nodes", listed)
        object.__setattr__(self, "edges", _undirected(listed, edges))

    def neighbours(self) -> dict[str, frozenset[str]]:
        """Every node's neighbours.

        >>> UndirectedGraph(("a", "b"), [("a", "b")]).neighbours()
        {'a': frozenset({'b'}), 'b': frozenset({'a'})}
        """
        near: dict[str, set[str]] = {node: set() for node in self.nodes}
        for first, second in self.edges:
            near[first].add(second)
            near[second].add(first)
        return {node: frozenset(neighbours) for node, neighbours in near.items()}

    def _content(self) -> tuple[frozenset[object], ...]:
        return frozenset(self.nodes), frozenset(map(frozenset, self.edges))

    def __repr__(self) -> str:
        return f"UndirectedGraph({len(self.nodes)} nodes: {listing(f'{a} - {b}' for a, b in self.edges)})"


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class EssentialGraph(_ComparedByContent):
    """A CPDAG (completed partially directed acyclic graph): a Markov equivalence class of DAGs.

    ``directed`` are the edges that all members of the class direct alike, ``undirected`` those they do not.

    >>> graph = EssentialGraph(("a", "b", "c"), directed=[("a", "b")], undirected=[("c", "b")])
    >>> graph
    EssentialGraph(a -> b; b - c)
    >>> graph.directed, graph.undirected
    (frozenset({('a', 'b')}), (('b', 'c'),))
    """

    nodes: tuple[str, ...]
    directed: frozenset[tuple[str, str]]
    undirected: tuple[tuple[str, str], ...]

    @check_arguments
    def __init__(
        self,
        nodes: Iterable[str],
        *,
        directed: Iterable[tuple[str, str]],
        undirected: Iterable[tuple[str, str]],
    ) -> None:
        listed = tuple(nodes)
        object.__setattr__(self, "nodes", listed)
        arrows = frozenset(directed)
        _undirected(listed, arrows)  # checks the names
        object.__setattr__(self, "directed", arrows)
        object.__setattr__(self, "undirected", _undirected(listed, undirected))

    @classmethod
    def unchecked(
        cls, nodes: tuple[str, ...], directed: frozenset[tuple[str, str]], undirected: Iterable[tuple[str, str]]
    ) -> EssentialGraph:
        """The graph of edges that are known to be among the nodes.

        >>> EssentialGraph.unchecked(("a", "b"), frozenset([("a", "b")]), [])
        EssentialGraph(a -> b)
        """
        graph = object.__new__(cls)
        object.__setattr__(graph, "nodes", nodes)
        object.__setattr__(graph, "directed", directed)
        object.__setattr__(graph, "undirected", _undirected(nodes, undirected))
        return graph

    def _content(self) -> tuple[frozenset[object], ...]:
        return frozenset(self.nodes), self.directed, frozenset(map(frozenset, self.undirected))

    def __repr__(self) -> str:
        position = {node: k for k, node in enumerate(self.nodes)}
        arrows = sorted(self.directed, key=lambda edge: (position[edge[0]], position[edge[1]]))
        shown = [*(f"{a} -> {b}" for a, b in arrows), *(f"{a} - {b}" for a, b in self.undirected)]
        if len(shown) > 12:
            return f"EssentialGraph({len(arrows)} directed, {len(self.undirected)} undirected edges)"
        return f"EssentialGraph({'; '.join(shown)})"


def _undirected(nodes: tuple[str, ...], edges: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Each edge once, its ends and the edges themselves in the order of the nodes."""
    position = {node: k for k, node in enumerate(nodes)}
    try:
        pairs = {tuple(sorted((position[a], position[b]))) for a, b in edges}
    except KeyError as error:
        raise InputError(f"graph: an edge names {error.args[0]!r}, which is not a node ({listing(nodes)})") from None
    return tuple((nodes[a], nodes[b]) for a, b in sorted(pairs))


def _is_compelled(parent: str, child: str, adjacent: dict[str, set[str]], into: dict[str, set[str]]) -> bool:
    """Meek's rules for the undirected edge parent - child; only the DAG's own direction can come out."""
    if any(before not in adjacent[child] for before in into[parent]):  # 1: would make a new v-structure
        return True
    if any(parent in into[between] for between in into[child]):  # 2: would close a cycle
        return True
    sides = [side for side in into[child] if side in adjacent[parent] and side not in into[parent]]
    return any(b not in adjacent[a] for a, b in combinations(sides, 2))  # 3: else a new v-structure, or a cycle


def require_structure(given: object, owner: str) -> None:
    """Raise an `InputError` for anything but a DAG with at least one node.

    >>> require_structure("a -> b", "count")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: count: 'a -> b' is not a structure; expected a possnet.Dag (a network's is network.dag)
    """
    if not isinstance(given, Dag):
        raise InputError(
            f"{owner}: {describe_value(given)} is not a structure; expected a possnet.Dag (a network's is network.dag)"
        )
    if not given.nodes:
        raise InputError(f"{owner}: the structure has no nodes; expected at least one")
