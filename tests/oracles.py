"""Slow definitions, straight from the paper or the textbook, that the library is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise, product
from math import inf, log, log2, prod

import possnet as pn


def possibility(degrees: dict[str, float], event: Iterable[str]) -> float:
    """Largest degree inside the event."""
    return max((degrees[state] for state in event), default=0.0)


def product_conditioning(degrees: dict[str, float], event: frozenset[str]) -> dict[str, float]:
    """Equation (1)."""
    top = possibility(degrees, event)
    return {state: degree / top if state in event else 0.0 for state, degree in degrees.items()}


def min_conditioning(degrees: dict[str, float], event: frozenset[str]) -> dict[str, float]:
    """Equation (2)."""
    top = possibility(degrees, event)

    def revised(state: str, degree: float) -> float:
        if state not in event:
            return 0.0
        return 1.0 if degree == top else degree

    return {state: revised(state, degree) for state, degree in degrees.items()}


def chain_rule(net: pn.Network, configuration: dict[str, str]) -> float:
    """Equation (4), one factor after the other."""
    factors = []
    for variable in net.variables:
        table = net.table(variable.name)
        for parent in net.dag.parents(variable.name):
            table = table[net.variable(parent).states.index(configuration[parent])]
        factors.append(float(table[variable.states.index(configuration[variable.name])]))
    return prod(factors) if net.conjunction is pn.PRODUCT else min(factors)


def configurations(net: pn.Network) -> list[dict[str, str]]:
    names = [v.name for v in net.variables]
    return [dict(zip(names, states, strict=True)) for states in product(*(v.states for v in net.variables))]


def nonspecificity(degrees: Sequence[float]) -> float:
    """U-uncertainty as the integral over levels of log2 of the size of the cut (all of it above the largest degree)."""
    levels = sorted({0.0, *degrees, 1.0})
    n = len(degrees)
    return sum((high - low) * log2(sum(d >= high for d in degrees) or n) for low, high in pairwise(levels))


def d_separated(dag: pn.Dag, first: set[str], second: set[str], known: set[str]) -> bool:
    """Every simple path blocked, path by path."""
    arrows = set(dag.edges)
    near = {n: set(dag.parents(n)) | set(dag.children(n)) for n in dag.nodes}
    opened = {n for n in dag.nodes if n in known or dag.descendants(n) & known}

    def blocked(path: list[str]) -> bool:
        for before, node, after in zip(path, path[1:], path[2:], strict=False):
            collider = (before, node) in arrows and (after, node) in arrows
            if (collider and node not in opened) or (not collider and node in known):
                return True
        return False

    def paths(path: list[str]) -> Iterable[list[str]]:
        if path[-1] in second:
            yield path
            return
        for node in near[path[-1]] - set(path):
            yield from paths([*path, node])

    return all(blocked(path) for start in first for path in paths([start]))


def equivalence_class(dag: pn.Dag) -> list[set[tuple[str, str]]]:
    """Edge sets of all DAGs with the same skeleton and v-structures, by trying every direction of every edge."""

    def v_structures(edges: set[tuple[str, str]]) -> set[tuple[frozenset[str], str]]:
        adjacent = {frozenset(e) for e in edges}
        return {
            (frozenset((a, b)), c)
            for (a, c), (b, d) in combinations(sorted(edges), 2)
            if c == d and frozenset((a, b)) not in adjacent
        }

    wanted = v_structures(set(dag.edges))
    found = []
    for turned in product((False, True), repeat=len(dag.edges)):
        edges = {(b, a) if turn else (a, b) for (a, b), turn in zip(dag.edges, turned, strict=True)}
        try:
            pn.Dag.from_edges(sorted(edges))
        except pn.InputError:
            continue
        if v_structures(edges) == wanted:
            found.append(edges)
    return found


Cell = frozenset[str]
Row = tuple[tuple[str, Cell], ...]


@lru_cache(maxsize=8)
def weighted_rows(data: pn.Dataset) -> tuple[tuple[dict[str, Cell], int], ...]:
    """Every row, and how often it counts."""
    weights = [1] * len(data) if data.weights is None else data.weights.tolist()
    return tuple((data.row(r), weight) for r, weight in enumerate(weights))


def row_groups(
    rows: Sequence[tuple[int, ...]], weights: Sequence[int] | None
) -> list[tuple[tuple[int, ...], int, int]]:
    """Every distinct row in lexicographic order, where it first stands, and the sum of its weights."""
    return [
        (
            row,
            rows.index(row),
            sum(1 if weights is None else weights[r] for r, other in enumerate(rows) if other == row),
        )
        for row in sorted(set(rows))
    ]


def subsets(states: Iterable[str]) -> list[Cell]:
    listed = sorted(states)
    return [frozenset(c) for size in range(len(listed) + 1) for c in combinations(listed, size)]


def cuts(degrees: dict[str, float]) -> dict[Cell, float]:
    """Alpha-cuts and their probabilities, alpha uniform on (0, 1]."""
    levels = sorted({0.0, *degrees.values()})
    return {frozenset(s for s, d in degrees.items() if d >= high): high - low for low, high in pairwise(levels)}


def thinned(cut: Cell, core: Cell, theta: float, law: str) -> dict[Cell, float]:
    """Section 3.1 of the paper: every set between the core and the cut, by its weight."""
    weights = {}
    for extra in subsets(cut - core):
        cell = core | extra
        weight = theta ** len(extra) * (1 - theta) ** (len(cut) - len(cell))
        if law == "text" and cell == cut and cut != core:
            weight = theta
        weights[cell] = weight
    total = sum(weights.values())
    return {cell: weight / total for cell, weight in weights.items() if weight > 0}


def conditional(net: pn.Network, name: str, states: dict[str, str]) -> dict[str, float]:
    """Degrees of a variable for one state of each parent."""
    table = net.table(name)
    for parent in net.dag.parents(name):
        table = table[net.variable(parent).index(states[parent])]
    return dict(zip(net.variable(name).states, table.tolist(), strict=True))


def equation_6(
    net: pn.Network, name: str, parents: dict[str, Cell], evidence: dict[str, Cell] | None = None
) -> dict[str, float]:
    """Largest joint degree, over all configurations that agree with the parents' sets and the evidence."""
    known = evidence or {}
    allowed = [c for c in configurations(net) if all(c[v] in cell for v, cell in known.items())]
    whole = max(chain_rule(net, c) for c in allowed)

    def degree(state: str) -> float:
        inside = [c for c in allowed if c[name] == state and all(c[p] in cell for p, cell in parents.items())]
        top = max((chain_rule(net, c) for c in inside), default=0.0)
        if not known:
            return top
        if net.conjunction is pn.PRODUCT:
            return 1.0 if top >= whole * (1 - 1e-12) else top / whole
        return 1.0 if top == whole else top

    return {state: degree(state) for state in net.variable(name).states}


def law_of_rows(
    net: pn.Network,
    theta: dict[str, float],
    process: str,
    law: str = "independent",
    parents: str = "observed",
    evidence: dict[str, Cell] | None = None,
) -> dict[Row, float]:
    """Probability of every row that can be drawn, by following Algorithm 1 (or the other processes) branch by branch."""
    branches: list[tuple[float, dict[str, Cell], dict[str, Cell]]] = [(1.0, {}, {})]  # chance, cells, what children see
    known: dict[tuple[str, Row], dict[str, float]] = {}
    for name in net.dag.topological_order():
        grown: list[tuple[float, dict[str, Cell], dict[str, Cell]]] = []
        for chance, cells, seen in branches:
            above = {p: seen[p] for p in net.dag.parents(name)}
            context = name, tuple(above.items())
            if context not in known and process == "alpha-cut":
                known[context] = equation_6(net, name, above, evidence)
            elif context not in known:
                known[context] = conditional(net, name, {p: next(iter(states)) for p, states in above.items()})
            degrees = known[context]
            core = frozenset(s for s, d in degrees.items() if d == 1.0)
            for cut, cut_chance in cuts(degrees).items():
                if process == "precise":
                    for state in cut:
                        single = frozenset({state})
                        grown.append((chance * cut_chance / len(cut), cells | {name: single}, seen | {name: single}))
                    continue
                for cell, cell_chance in thinned(cut, core, theta[name], law).items():
                    found = chance * cut_chance * cell_chance
                    if process == "traced":
                        grown += [
                            (found / len(cell), cells | {name: cell}, seen | {name: frozenset({s})}) for s in cell
                        ]
                    else:
                        shown = cut if parents == "cut" else cell
                        grown.append((found, cells | {name: cell}, seen | {name: shown}))
        branches = grown
    rows: dict[Row, float] = {}
    for chance, cells, _ in branches:
        key = tuple((v.name, cells[v.name]) for v in net.variables)
        rows[key] = rows.get(key, 0.0) + chance
    return rows


def counting_limit(net: pn.Network, rows: dict[Row, float], name: str) -> dict[tuple[str, ...], list[float] | None]:
    """For every configuration of the parents P(x in cell, a in parents' cells), divided by the largest; None if never."""
    above = net.dag.parents(name)
    listed = [(dict(row), chance) for row, chance in rows.items()]
    found: dict[tuple[str, ...], list[float] | None] = {}
    for states in product(*(net.variable(p).states for p in above)):
        inside = [(row, c) for row, c in listed if all(s in row[p] for p, s in zip(above, states, strict=True))]
        shares = [sum(c for row, c in inside if state in row[name]) for state in net.variable(name).states]
        found[states] = [share / max(shares) for share in shares] if max(shares) > 0 else None
    return found


def counts(dag: pn.Dag, data: pn.Dataset, name: str) -> dict[tuple[str, ...], tuple[int, dict[str, int]]]:
    """For every configuration of the parents N_ij and, by state, N_ijk: row by row."""
    above = dag.parents(name)
    found = {}
    for states in product(*(data.variable(p).states for p in above)):
        inside = [
            (row[name], weight)
            for row, weight in weighted_rows(data)
            if all(s in row[p] for p, s in zip(above, states, strict=True))
        ]
        by_state = {s: sum(w for cell, w in inside if s in cell) for s in data.variable(name).states}
        found[states] = sum(w for _, w in inside), by_state
    return found


def focal_counts(dag: pn.Dag, data: pn.Dataset, name: str) -> dict[tuple[Cell, ...], int]:
    """Rows whose cells equal given sets."""
    found: dict[tuple[Cell, ...], int] = {}
    for row, weight in weighted_rows(data):
        key = tuple(row[n] for n in (*dag.parents(name), name))
        found[key] = found.get(key, 0) + weight
    return {key: n for key, n in found.items() if n}


Masses = dict[str, dict[tuple[str, ...], dict[Cell, float]]]  # variable -> parents' states -> cell -> mass


def hidden_worlds(
    dag: pn.Dag, masses: Masses, row: dict[str, Cell | None]
) -> list[tuple[float, dict[str, str], dict[str, Cell]]]:
    """Every hidden state and every cell behind a row (None is missing), with its probability: section 8, term by term."""
    names = list(dag.nodes)
    cells = {
        n: [c] if (c := row[n]) is not None else sorted({a for m in masses[n].values() for a in m}, key=sorted)
        for n in names
    }
    found = []
    for shown in product(*(cells[n] for n in names)):
        chosen = dict(zip(names, shown, strict=True))
        for states in product(*(sorted(chosen[n]) for n in names)):
            hidden = dict(zip(names, states, strict=True))
            chance = 1.0
            for n in names:
                context = tuple(hidden[p] for p in dag.parents(n))
                chance *= masses[n][context].get(chosen[n], 0.0) / len(chosen[n])
            if chance > 0:
                found.append((chance, hidden, chosen))
    return found


def em_step(dag: pn.Dag, masses: Masses, rows: list[tuple[dict[str, Cell | None], int]]) -> tuple[float, Masses]:
    """Log-likelihood and expected counts by enumeration; a missing cell that no child looks at is left out of the counts."""
    active = {p for n in dag.nodes for p in dag.parents(n)}
    score = 0.0
    counts: Masses = {n: {a: dict.fromkeys(m, 0.0) for a, m in found.items()} for n, found in masses.items()}
    for row, weight in rows:
        worlds = hidden_worlds(dag, masses, row)
        total = sum(chance for chance, _, _ in worlds)
        score += weight * log(total)
        for chance, hidden, chosen in worlds:
            for n in dag.nodes:
                if row[n] is not None or n in active:
                    context = tuple(hidden[p] for p in dag.parents(n))
                    counts[n][context][chosen[n]] += weight * chance / total
    return score, counts


def completed_cell(net: pn.Network, row: dict[str, frozenset[str]], name: str) -> dict[str, float] | None:
    """Degrees of a variable's states given a whole row, its own cell included; None for an impossible row."""
    joint = dict.fromkeys(net.variable(name).states, 0.0)
    for configuration in configurations(net):
        if all(configuration[n] in cell for n, cell in row.items()):
            state = configuration[name]
            joint[state] = max(joint[state], chain_rule(net, configuration))
    top = max(joint.values())
    if top == 0.0:
        return None
    if net.conjunction is pn.PRODUCT:
        return {state: degree / top for state, degree in joint.items()}
    return {state: 1.0 if degree == top else degree for state, degree in joint.items()}


def completed_posterior(net: pn.Network, row: dict[str, frozenset[str]], name: str) -> dict[str, float] | None:
    """The same by the tables as probabilities, rows divided by their sums: posteriors divided by the largest."""
    joint = dict.fromkeys(net.variable(name).states, 0.0)
    for configuration in configurations(net):
        if all(configuration[n] in cell for n, cell in row.items()):
            probability = 1.0
            for v in net.variables:
                entries = net.table(v.name)
                for parent in net.dag.parents(v.name):
                    entries = entries[net.variable(parent).states.index(configuration[parent])]
                probability *= float(entries[v.states.index(configuration[v.name])]) / float(sum(entries))
            joint[configuration[name]] += probability
    top = max(joint.values())
    return None if top == 0.0 else {state: value / top for state, value in joint.items()}


def met_bins(lower: Fraction | float, upper: Fraction | float, edges: Sequence[Fraction]) -> list[int]:
    """Numbers of the bins [-inf, e1), [e1, e2), ..., [ek, inf) that a closed interval meets, one bin after the other."""
    ends: list[Fraction | float] = [-inf, *edges, inf]
    return [k for k, (low, high) in enumerate(pairwise(ends)) if lower < high and upper >= low]


def pair_counts(data: pn.Dataset, first: str, second: str) -> list[list[int]]:
    """Rows that contain both states, row by row."""
    rows = weighted_rows(data)
    return [
        [sum(w for row, w in rows if x in row[first] and y in row[second]) for y in data.variable(second).states]
        for x in data.variable(first).states
    ]


def dependence(name: str, contour: list[list[float]], reading: str) -> float:
    """A measure on the contour of a pair (largest degree 1), entry by entry."""
    rows = [max(row) for row in contour]
    columns = [max(row[k] for row in contour) for k in range(len(contour[0]))]
    entries = [
        (degree, a * b if reading == "product" else min(a, b))
        for row, a in zip(contour, rows, strict=True)
        for degree, b in zip(row, columns, strict=True)
    ]
    if name == "chi2":
        return sum((p - q) ** 2 for p, q in entries)
    if name == "mutual-information":
        if reading == "min":
            return -sum(p * log2(p / q) for p, q in entries if p > 0)
        return sum((p * log2(p / q) if p > 0 else 0.0) - (p - q) / log(2) for p, q in entries)
    first, second, both = nonspecificity(rows), nonspecificity(columns), nonspecificity([p for p, _ in entries])
    gain = first + second - both
    whole = {"specificity-gain": 1.0, "specificity-ratio": first, "specificity-symmetric": both}[name]
    return gain / whole if whole > 1e-12 else 0.0


def random_set_bic(dag: pn.Dag, data: pn.Dataset) -> float:
    """mLL minus (ln N / 2) times the sum of (K_i - 1) prod K_p, from the cells as they stand."""
    total = data.total
    kinds = {n: len({key[-1] for key in focal_counts(pn.Dag({n: ()}), data, n)}) for n in dag.nodes}
    score = 0.0
    for name in dag.nodes:
        found = focal_counts(dag, data, name)
        above: dict[tuple[Cell, ...], int] = {}
        for key, number in found.items():
            above[key[:-1]] = above.get(key[:-1], 0) + number
        score += sum(number * log(number / above[key[:-1]]) for key, number in found.items())
        score -= log(max(total, 2)) / 2 * (kinds[name] - 1) * prod(kinds[p] for p in dag.parents(name))
    return score


def bdeu(dag: pn.Dag, data: pn.Dataset, sample_size: float = 1.0) -> float:
    """The probability of precise rows one after the other, each given those before, and of the edges, as a logarithm."""
    score = -log(max(len(dag.nodes) - 2, 1)) * len(dag.edges)
    occurring = {n: len({row[n] for row, _ in weighted_rows(data)}) for n in dag.nodes}
    for name in dag.nodes:
        parents, states = dag.parents(name), occurring[name]
        contexts = prod(occurring[n] for n in parents)
        before: dict[tuple[str, ...], int] = {}
        for row, weight in weighted_rows(data):
            (*context, state) = (next(iter(row[n])) for n in (*parents, name))
            for _ in range(int(weight)):
                above = before.get(tuple(context), 0)
                family = before.get((*context, "child", state), 0)
                score += log((family + sample_size / contexts / states) / (above + sample_size / contexts))
                before[tuple(context)] = above + 1
                before[*context, "child", state] = family + 1
    return score


def mdl(dag: pn.Dag, data: pn.Dataset) -> float:
    """Possibilistic MDL: every row shared equally among the configurations of the family that it contains."""
    score = 0.0
    for name in dag.nodes:
        family = (*dag.parents(name), name)
        shares: dict[tuple[str, ...], float] = {}
        for row, weight in weighted_rows(data):
            cells = [sorted(row[n]) for n in family]
            for states in product(*cells):
                shares[states] = shares.get(states, 0.0) + weight / prod(len(cell) for cell in cells)
        above: dict[tuple[str, ...], float] = {}
        for states, amount in shares.items():
            above[states[:-1]] = above.get(states[:-1], 0.0) + amount
        score += sum(amount * log(amount / above[states[:-1]]) for states, amount in shares.items() if amount > 0)
        sizes = [len(data.variable(n)) for n in family]
        score -= log(max(data.total, 2)) / 2 * prod(sizes[:-1]) * (sizes[-1] - 1)
    return score


Tables = dict[str, dict[tuple[str, ...], dict[str, float]]]


def contexts(dag: pn.Dag, data: pn.Dataset, name: str) -> list[tuple[str, ...]]:
    """Every configuration of a variable's parents."""
    return list(product(*(data.variable(p).states for p in dag.parents(name))))


def coarsened_counts(dag: pn.Dag, tables: Tables, data: pn.Dataset) -> tuple[float, Tables]:
    """The E-step of a Bayesian network under coarsening at random, by enumeration: log-likelihood, expected counts."""
    value = 0.0
    counts: Tables = {n: {a: dict.fromkeys(row, 0.0) for a, row in table.items()} for n, table in tables.items()}
    for row, weight in weighted_rows(data):
        worlds = [dict(zip(dag.nodes, states, strict=True)) for states in product(*(sorted(row[n]) for n in dag.nodes))]
        above = [{n: tuple(world[p] for p in dag.parents(n)) for n in dag.nodes} for world in worlds]
        joint = [prod(tables[n][a[n]][world[n]] for n in dag.nodes) for world, a in zip(worlds, above, strict=True)]
        value += weight * log(sum(joint))
        for world, a, probability in zip(worlds, above, joint, strict=True):
            for n in dag.nodes:
                counts[n][a[n]][world[n]] += weight * probability / sum(joint)
    return value, counts


def coarsened_step(dag: pn.Dag, tables: Tables, data: pn.Dataset) -> tuple[float, Tables]:
    """EM of a Bayesian network under coarsening at random, by enumeration: the log-likelihood, and the next tables."""
    value, counts = coarsened_counts(dag, tables, data)
    following: Tables = {n: {} for n in tables}
    for n, table in counts.items():
        for context, expected in table.items():
            total = sum(expected.values())
            kept = tables[n][context]
            following[n][context] = {x: c / total for x, c in expected.items()} if total > 0 else kept
    return value, following


def all_dags(names: Sequence[str]) -> list[pn.Dag]:
    """Every DAG over a few names."""
    pairs = list(combinations(names, 2))
    found = []
    for choice in product((None, 0, 1), repeat=len(pairs)):
        edges = [pair if way == 0 else pair[::-1] for pair, way in zip(pairs, choice, strict=True) if way is not None]
        try:
            found.append(pn.Dag.from_edges(edges, nodes=names))
        except pn.InputError:
            continue
    return found


def heaviest_tree(weights: dict[frozenset[str], float], names: Sequence[str]) -> float:
    """Largest weight of a spanning tree, over all of them."""
    best = float("-inf")
    for edges in combinations(combinations(names, 2), len(names) - 1):
        groups = {n: n for n in names}
        for a, b in edges:
            groups = {n: groups[a] if g == groups[b] else g for n, g in groups.items()}
        if len(set(groups.values())) == 1:
            best = max(best, sum(weights[frozenset(edge)] for edge in edges))
    return best


def alpha_cuts(row: dict[str, dict[str, float]]) -> list[tuple[float, float, dict[str, frozenset[str]]]]:
    """Levels of a row of degrees, highest first: (level, difference to the next lower one, the cut of every cell)."""
    levels = sorted({1.0, *(d for degrees in row.values() for d in degrees.values() if d > 0.0)}, reverse=True)
    return [
        (high, high - low, {n: frozenset(s for s, d in degrees.items() if d >= high) for n, degrees in row.items()})
        for high, low in pairwise([*levels, 0.0])
    ]


def graded_counts(dag: pn.Dag, data: pn.Dataset, name: str) -> tuple[list[float], list[float]]:
    """N_ij and N_ijk of a family, row by row: weight times the smallest degree of a configuration."""
    parents = [data.variable(parent) for parent in dag.parents(name)]
    child = data.variable(name)
    totals, by_state = [], []
    rows = [data.degrees(number) for number in range(len(data))]
    weights = [1.0] * len(data) if data.weights is None else data.weights.tolist()
    for context in product(*(parent.states for parent in parents)):
        smallest = [
            min((row[p.name].get(state, 0.0) for p, state in zip(parents, context, strict=True)), default=1.0)
            for row in rows
        ]
        totals.append(sum(w * d for w, d in zip(weights, smallest, strict=True)))
        for state in child.states:
            degrees = [min(d, row[name].get(state, 0.0)) for d, row in zip(smallest, rows, strict=True)]
            by_state.append(sum(w * d for w, d in zip(weights, degrees, strict=True)))
    return totals, by_state
