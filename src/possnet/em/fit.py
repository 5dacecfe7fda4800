"""Learning that recovers: EM over the hidden trace.

Counting cannot recover a child's degrees from imprecise rows, because a row counts for every context that its parents'
cells contain (see `possnet.sampling_limit`). Here each child answers to its parents' *hidden true states*, of which only
the cells are seen (see `possnet.em.model`), and EM finds the masses m_i(A | a) that make the rows most likely: what the
device shows (a set A) when the parents' true states are a. Their contour, divided by its largest degree, is π(x | a).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, get_args

import numpy as np

from possnet.em.climb import Climb, Stopped, climb
from possnet.em.expect import Part, expected, parts_of
from possnet.em.identify import identified
from possnet.em.model import Model
from possnet.em.observed import Observed, Unknown
from possnet.errors import InputError, listing, require_known, require_number, require_whole
from possnet.network import Network
from possnet.parameters import corrected, normalised, thetas_of
from possnet.possibility import PRODUCT, Conjunction, check_conjunction, snap_tops
from possnet.randomset import MassFunction
from possnet.seeds import seed_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor

    from possnet.aliases import Bools, Floats, Progress
    from possnet.dataset import Batches, Dataset
    from possnet.em.model import Component
    from possnet.graph import Dag

    Point: TypeAlias = dict[str, Floats]


class CellMasses(NamedTuple):
    """Masses m(A | a) of one variable: the cells A that occur, and a table whose axes are the parents, then the cells."""

    cells: tuple[frozenset[str], ...]
    table: Floats


@dataclass(frozen=True, slots=True, repr=False)
class EmResult:
    """What `fit_em` found.

    Attributes
    ----------
    network
        The learned network; contexts that the data cannot tell are all 1 (see ``unvisited`` and ``confounded``).
    masses
        Name -> the cells that occur and m(A | a).
    log_likelihood
        At every step, from the start on; with pseudo-counts the penalised one. It never falls.
    steps
        E-steps made, those of refused jumps included.
    stopped
        ``converged`` or ``max_steps``.
    support
        Name -> expected number of rows behind every context.
    unvisited, confounded
        Name -> which contexts no row shows, and which the rows cannot tell apart from others.
    consonant
        Name -> in which contexts the focal sets are nested.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", "x", {"x", "y"}], "b": ["u", "u", "v"]})
    >>> found = pn.fit_em(pn.Dag({"a": (), "b": ("a",)}), data)
    >>> found.stopped, float(found.support["b"].sum()), found.confounded["b"]
    ('converged', 3.0, array([False, False]))
    """

    network: Network
    masses: dict[str, CellMasses]
    log_likelihood: tuple[float, ...]
    steps: int
    stopped: Stopped
    support: dict[str, Floats]
    unvisited: dict[str, Bools]
    confounded: dict[str, Bools]
    consonant: dict[str, Bools]

    def __repr__(self) -> str:
        text = f"{self.steps} steps, {self.stopped.replace('_', ' ')}, log-likelihood {self.log_likelihood[-1]:.6g}"
        for what, flags in (("unvisited", self.unvisited), ("confounded", self.confounded)):
            number = sum(int(flag.sum()) for flag in flags.values())
            text += f", {number} contexts {what}" if number else ""
        return f"EmResult({self.network!r}, {text})"

    def _repr_html_(self) -> str:
        from possnet.drawing import draw_table

        rows = []
        for name, support in self.support.items():
            flags = [f"{int(found[name].sum()):,}" for found in (self.unvisited, self.confounded)]
            rows.append(
                [name, f"{support.size:,}", f"{support.min():,.1f}", *flags, f"{len(self.masses[name].cells):,}"]
            )
        head = ["variable", "contexts", "least expected rows", "unvisited", "confounded", "distinct cells"]
        return draw_table(head, rows[:60], caption=repr(self)[9:-1])

    def mass_function(self, name: str, given: Mapping[str, str] | None = None) -> MassFunction:
        """Masses of a variable's cell for given true states of its parents.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}]})
        >>> pn.fit_em(pn.Dag({"a": ()}), data).mass_function("a")
        MassFunction(a: {x} 0.5, {x, y} 0.5)
        """
        variable = self.network.variable(name)
        above = self.network.dag.parents(name)
        states = given or {}
        if set(states) != set(above):
            raise InputError(f"masses of {name!r}: states of {listing(states) or 'nothing'}; expected {listing(above)}")
        place = tuple(self.network.variable(p).index(states[p]) for p in above)
        cells, table = self.masses[name]
        found = {variable.mask(cell): float(m) for cell, m in zip(cells, table[place], strict=True) if m > 0.0}
        return MassFunction.unchecked(variable, found)


def fit_em(
    dag: Dag,
    data: Dataset | Batches,
    *,
    tolerance: float = 0.1,
    max_steps: int = 10_000,
    unknown: Unknown = "missing",
    starts: int = 1,
    rng: np.random.Generator | int | None = None,
    start: EmResult | None = None,
    pseudo: float = 0.0,
    imprecision: float | Mapping[str, float] | None = None,
    pooled: bool = False,
    accelerate: bool = True,
    executor: Executor | None = None,
    limit: int | None = None,
    conjunction: Conjunction = PRODUCT,
    name: str = "",
    progress: Progress | None = None,
) -> EmResult:
    """Network learned by EM over the hidden trace: each child answers to its parents' hidden true states.

    Parameters
    ----------
    tolerance
        Stop when the log-likelihood still to be gained is below this, in nats and in all, by Aitken's estimate.
    max_steps
        Stop after this many E-steps, converged or not.
    unknown
        Cells that were given as unknown are ``missing`` (not observed; with the other cells precise this is EM for Bayesian
        networks with missing data) or ``focal`` (the whole domain is what was said).
    starts, rng
        Climbs to make, the first from equal masses, the others from random ones; the best is kept.
    start
        An earlier result to go on from, instead of equal masses.
    pseudo
        Rows imagined in every context whose cell is the whole domain: a prior of ignorance.
    imprecision
        Theta of the rows, if known: degrees are divided by it before they are normalised (see `possnet.fit`).
    pooled
        Give contexts that the data cannot tell the degrees that EM ended with, instead of all 1.
    accelerate
        Jump between steps where that raises the likelihood (see `possnet.em.climb`).
    executor
        A ``concurrent.futures`` executor that shares the rows of each E-step among workers.
    limit
        Bytes that the tables may take; more is refused before they are made.
    progress
        Called with the steps made and ``max_steps``.

    >>> import possnet as pn
    >>> x, y = pn.Variable("x", ("1", "2")), pn.Variable("y", ("1", "2"))
    >>> net = pn.Network((x, y), pn.Dag({"x": (), "y": ("x",)}), {"x": [1, 0.5], "y": [[1, 0.2], [0.1, 1]]})
    >>> data = pn.sample(net, 100_000, process="traced", rng=1)
    >>> pn.fit(net.dag, data).table("y").round(1)
    array([[1. , 0.5], [0.9, 1. ]])
    >>> found = fit_em(net.dag, data)
    >>> found.network.table("y").round(1)
    array([[1. , 0.2], [0.1, 1. ]])
    >>> found.stopped
    'converged'
    """
    _check(tolerance, max_steps, unknown, starts, pseudo, limit)
    check_conjunction(conjunction)
    observed = Observed(dag, data, unknown)
    thetas = thetas_of(imprecision, observed.variables.values(), "fit_em")
    if pseudo > 0.0:
        observed.add_whole_domains()
    model = Model(dag, observed, limit)
    problem = Problem(model, observed, pseudo, executor)
    chance = np.random.default_rng(0 if rng is None else seed_of(rng))
    best: Climb | None = None
    steps = 0
    for number in range(starts):
        point = problem.begin(start if number == 0 else None, chance, random=number > 0)
        found = climb(
            point, problem.step, tolerance=tolerance, max_steps=max_steps, accelerate=accelerate, progress=progress
        )
        steps += found.steps
        if best is None or found.log_likelihood[-1] > best.log_likelihood[-1]:
            best = found
    assert best is not None  # noqa: S101
    return problem.result(best, steps, thetas, conjunction, name, pooled=pooled)


class Problem:
    """The data, the model, and how one step is made."""

    def __init__(self, model: Model, observed: Observed, pseudo: float, executor: Executor | None) -> None:
        self.model, self.observed, self.pseudo, self.executor = model, observed, pseudo, executor
        kinds = {name: len(f.cells) + f.has_missing for name, f in model.families.items()}
        rows = observed.distinct([component.columns for component in model.components])
        self.parts: list[Part] = []
        for component, (ids, weights) in zip(model.components, rows, strict=True):
            self.parts += parts_of(component, ids, weights, kinds)
        self.constant = -sum(
            float(observed.weights[name] @ np.log(observed.sets(name).sum(axis=1))) for name in model.active
        )

    def begin(self, earlier: EmResult | None, chance: np.random.Generator, *, random: bool) -> Point:
        """Equal masses for the cells that occur, random ones, or those of an earlier result."""
        point = {}
        for name, family in self.model.families.items():
            shape = (family.contexts, len(family.cells))
            if random:
                point[name] = chance.dirichlet(np.ones(shape[1]), size=shape[0])
            else:
                point[name] = np.full(shape, 1.0 / shape[1])
        if earlier is not None:
            return {name: self._continued(name, earlier, equal) for name, equal in point.items()}
        if not random and self._is_saddle():
            tilt = np.random.default_rng(0)
            for name, masses in point.items():
                moved = masses * (1.0 + 0.02 * tilt.random(masses.shape))
                point[name] = moved / moved.sum(axis=1, keepdims=True)
        return point

    def _is_saddle(self) -> bool:
        """Whether two states of a parent occur in exactly the same cells, so that equal masses stay equal for ever."""
        for name in self.model.active:
            seen = self.model.sets[name][self.observed.weights[name] > 0]
            if len(np.unique(seen.T, axis=0)) < seen.shape[1] > 1:
                return True
        return False

    def _continued(self, name: str, earlier: EmResult, equal: Floats) -> Floats:
        """Masses of an earlier result; cells that it did not know get a small share."""
        given: object = earlier
        if not isinstance(given, EmResult):
            raise InputError(f"fit_em: start {earlier!r}; expected an earlier result of fit_em")
        if name not in earlier.masses or earlier.network.variable(name) != self.observed.variables[name]:
            raise InputError(
                f"fit_em: the earlier result has no {name!r} with these states; expected one of the same kind"
            )
        cells, table = earlier.masses[name]
        variable = self.observed.variables[name]
        place = {variable.mask(cell): k for k, cell in enumerate(cells)}
        if table.shape[:-1] != self.model.families[name].shape:
            raise InputError(f"fit_em: the earlier result has other parents for {name!r}; expected the same structure")
        flat = table.reshape(-1, len(cells))
        known = np.zeros_like(equal)
        for k, mask in enumerate(self.observed.masks[name]):
            if mask in place:
                known[:, k] = flat[:, place[mask]]
        mixed: Floats = np.where(known > 0.0, known, equal / max(self.observed.rows, 1))  # new cells get a little
        shares: Floats = mixed / mixed.sum(axis=1, keepdims=True)
        return shares

    def step(self, point: Point) -> tuple[float, Point]:
        """Log-likelihood at a point, and the point after one EM step."""
        value, counts = self.counts(point)
        after = {}
        for name, numbers in counts.items():
            amounts = numbers
            if self.pseudo > 0.0:
                whole = self._whole(name)
                amounts = numbers.copy()
                amounts[:, whole] += self.pseudo
                value += self.pseudo * float(np.log(point[name][:, whole]).sum())
            sums = amounts.sum(axis=1, keepdims=True)
            after[name] = np.divide(amounts, sums, out=point[name].copy(), where=sums > 0.0)
        return value, after

    def _whole(self, name: str) -> int:
        return self.observed.masks[name].index((1 << len(self.observed.variables[name])) - 1)

    def counts(self, point: Point) -> tuple[float, Point]:
        """Log-likelihood at a point, and the expected number of rows for every context and cell: the E-step."""
        families = self.model.families
        tables = {name: families[name].factor_table(masses) for name, masses in point.items()}
        prepared = {id(component): self._arranged(component, tables) for component in self.model.components}
        work = [(part, prepared[id(part.component)]) for part in self.parts]
        if self.executor is None:
            found = [expected(part, values) for part, values in work]
        else:
            found = list(self.executor.map(expected, *zip(*work, strict=True))) if work else []
        value = self.constant
        sums: Point = {}
        for part, (log_likelihood, entries) in zip(self.parts, found, strict=True):
            value += log_likelihood
            for number, (factor, entry) in enumerate(zip(part.component.factors, entries, strict=True)):
                if factor.family is not None and entry is not None:
                    back = part.component.restored(number, entry)
                    sums[factor.family] = sums[factor.family] + back if factor.family in sums else back
        counts = {}
        for name, family in families.items():
            if name in self.model.alone:
                numbers = self.observed.weights[name].astype(np.float64)[np.newaxis]
                counts[name] = numbers
                value += float((numbers * np.log(np.where(numbers > 0, point[name], 1.0))).sum())
            else:
                total = sums.get(name)
                shape = (tables[name].shape[0], tables[name].shape[1])
                counts[name] = family.expected_cells(np.zeros(shape) if total is None else total, point[name])
        return value, counts

    def _arranged(self, component: Component, tables: Point) -> list[Floats]:
        return [
            component.arranged(k, self._indicator(factor.column) if factor.family is None else tables[factor.family])
            for k, factor in enumerate(component.factors)
        ]

    def _indicator(self, name: str) -> Floats:
        """[state in cell], and 1 for a missing cell."""
        inside = self.model.sets[name].T.astype(np.float64)
        return np.column_stack([inside, np.ones(len(inside))])

    def result(
        self,
        found: Climb,
        steps: int,
        thetas: Mapping[str, float],
        conjunction: Conjunction,
        title: str,
        *,
        pooled: bool,
    ) -> EmResult:
        """Everything that is told about where the climb ended."""
        _, counts = self.counts(found.point)
        told = self._identified()
        tables, masses, support, unvisited, confounded, consonant = {}, {}, {}, {}, {}, {}
        for name, family in self.model.families.items():
            variable = self.observed.variables[name]
            visited, known = told[name]
            degrees = found.point[name] @ family.cells
            if name in thetas:
                degrees = corrected(np.minimum(degrees, 1.0), thetas[name])
            degrees = np.minimum(normalised(degrees), 1.0)
            degrees[~visited if pooled else ~known] = 1.0
            snap_tops(degrees, axis=-1)
            tables[name] = degrees.reshape(*family.shape, len(variable))
            cells = tuple(variable.states_in(mask) for mask in self.observed.masks[name])
            masses[name] = CellMasses(cells, found.point[name].reshape(*family.shape, len(cells)))
            support[name] = np.asarray(counts[name].sum(axis=1).reshape(family.shape))
            unvisited[name] = np.asarray(~visited.reshape(family.shape))
            confounded[name] = np.asarray((visited & ~known).reshape(family.shape))
            consonant[name] = np.asarray(_nested(found.point[name], family.cells).reshape(family.shape))
        network = Network.unchecked(
            tuple(self.observed.variables.values()),
            self.observed.dag,
            tables,
            conjunction=conjunction,
            support=support,
            name=title,
        )
        trace = tuple(found.log_likelihood)
        return EmResult(network, masses, trace, steps, found.stopped, support, unvisited, confounded, consonant)

    def _identified(self) -> dict[str, tuple[Bools, Bools]]:
        """Visited and identified contexts of every family, from the rows that show the variable and all its parents."""
        families = self.model.families
        scopes = {name: (*family.parents, name) for name, family in families.items()}
        found = {}
        for name, (rows, _) in zip(scopes, self.observed.distinct(list(scopes.values())), strict=True):
            shown = rows[(rows < [len(self.observed.masks[n]) for n in scopes[name]]).all(axis=1)]
            above = np.unique(shown[:, :-1], axis=0)
            sets = [self.model.sets[parent] for parent in families[name].parents]
            found[name] = identified(above, sets, families[name].shape)
        return found


def _nested(masses: Floats, cells: Bools) -> Bools:
    """Whether the cells with mass in a context are nested."""
    order = np.argsort(cells.sum(axis=1), kind="stable")
    nested = np.ones(len(masses), dtype=np.bool_)
    for context, row in enumerate(masses):
        there = order[row[order] > 1e-9]
        nested[context] = all(not (cells[small] & ~cells[large]).any() for small, large in pairwise(there))
    return nested


def _check(
    tolerance: object, max_steps: object, unknown: object, starts: object, pseudo: object, limit: object
) -> None:
    require_number(tolerance, "fit_em: tolerance", "a number >= 0", 0.0)
    if 0.0 < require_number(pseudo, "fit_em: pseudo", "a number >= 0", 0.0) < 1e-9:
        raise InputError(f"fit_em: pseudo {pseudo!r}; expected 0, or a number from 1e-9 on")
    for value, what in ((max_steps, "max_steps"), (starts, "starts"), (1 if limit is None else limit, "limit")):
        require_whole(value, 1, f"fit_em: {what}")
    require_known(unknown, get_args(Unknown), "fit_em: unknown")
