"""Questions to a network, answered exactly.

`Inference` answers for product-based and min-based networks alike. A question about a few variables prunes what
cannot matter and runs one pass towards them; all marginals come from two passes over the whole network, and when the
evidence changes only what it touches is computed again.

Products of a thousand degrees can fall below the smallest float. Where the smallest possible product might, the work
is done on logarithms, where a degree of 1 is still exactly 0; nothing is lost and nothing is scaled.
"""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from possnet.errors import ImpossibleEvidence, InputError, among, listing, require_whole
from possnet.inference.batched import RowInference, condition_rows
from possnet.inference.evidence import Evidence, describe, read_evidence
from possnet.inference.junction_tree import JunctionTree
from possnet.inference.most_possible import Explanation, best_configurations, count_ties, rounding_of
from possnet.inference.plan import Plan, make_plan
from possnet.inference.pruning import connected, sliced, target_table
from possnet.inference.row_components import ComponentInference
from possnet.inference.semirings import MAX_MIN, MAX_PRODUCT, MAX_SUM, ROUNDING, Semiring, conditioned
from possnet.possibility import PRODUCT, Possibility

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from possnet.aliases import Bools, Floats
    from possnet.dataset import CodedColumn, Dataset
    from possnet.network import Network


_LOWEST_LOG = -600.0  # products above exp of this are far from the smallest float
_BATCH_BYTES = 1 << 28
_PLANNING_SECONDS = 1e-4  # a variable


class Inference:
    """Exact answers about a network.

    Parameters
    ----------
    limit
        Bytes that a question may take; a larger one raises `TooLarge` before anything is allocated. By default half of the
        free memory.

    >>> import possnet as pn
    >>> engine = Inference(pn.load_example("clinic"))
    >>> engine.query("measles", evidence={"fever": {"mild", "high"}, "rash": "spots"})
    Possibility(measles: yes 0.2625, no 1)
    >>> engine.marginals({"rash": "spots"})["fever"]
    Possibility(fever: none 1, mild 0.8, high 0.64)
    """

    def __init__(self, network: Network, *, limit: int | None = None) -> None:
        self.network = network
        self._limit = limit
        self._names = [variable.name for variable in network.variables]
        self._variables = {v.name: (k, v) for k, v in enumerate(network.variables)}
        self._sizes = tuple([len(variable) for variable in network.variables])
        place = {name: k for k, name in enumerate(self._names)}
        self._scopes = [tuple([place[n] for n in (*network.dag.parents(name), name)]) for name in self._names]
        self._tables = [network.table(name) for name in self._names]
        self._is_product = network.conjunction.name == PRODUCT.name
        self._plan: Plan | None = None
        self._trees: dict[str, JunctionTree] = {}
        self._peak: list[bool] | None = None
        self._least: float | None = None
        self._prepared: dict[tuple[frozenset[int], frozenset[int], int | None], RowInference] = {}
        self._components: ComponentInference | None = None
        self._budget = min(limit or _BATCH_BYTES, _BATCH_BYTES)

    @property
    def plan(self) -> Plan:
        """The junction tree of the whole network; print its ``describe()``."""
        if self._plan is None:
            self._plan = make_plan(self._sizes, self._scopes)
        return self._plan

    def query(self, names: str | Sequence[str], evidence: Evidence | None = None) -> Possibility:
        """Possibility of a variable, or the joint one of several, given evidence, Π(x | e).

        Without evidence it is the marginal Π(x); with evidence, conditioned by the network's conjunction: (1) or (2) of
        [HLB]. Variables that cannot matter are left out: those below neither the question nor the evidence, and, for the
        product, those that the evidence separates from the question.

        >>> import possnet as pn
        >>> engine = Inference(pn.load_example("asia"))
        >>> engine.query("lung", {"xray": "yes", "smoke": "yes"})
        Possibility(lung: yes 1, no 0.5)
        >>> engine.query(["lung", "bronc"], {"dysp": "yes"}).degrees.shape
        (2, 2)
        """
        given: object = names
        if not isinstance(given, str | list | tuple):
            raise InputError(f"query: {names!r}; expected a variable's name, or several in a list")
        wanted = [names] if isinstance(names, str) else list(names)
        targets = [self._number(name) for name in wanted]
        if not targets or len(set(targets)) < len(targets):
            raise InputError(f"query: variables {wanted!r}; expected one or more distinct names")
        known = read_evidence(evidence, self._variables)
        table = self._reduced(targets, known, evidence)
        scope = tuple(self.network.variables[target] for target in targets)
        return Possibility.unchecked(scope, table)

    def marginals(self, evidence: Evidence | None = None) -> dict[str, Possibility]:
        """Possibility of every variable given evidence, name -> Π(x | e), all from one calibration.

        >>> import possnet as pn
        >>> Inference(pn.load_example("asia")).marginals({"dysp": "yes"})["bronc"]
        Possibility(bronc: yes 1, no 0.1)
        """
        known, tree = self._collected(evidence)
        with np.errstate(divide="ignore", invalid="ignore"):
            flat = np.concatenate([table.reshape(-1) for table in tree.distribute()])
            flat = self._conditioned_marginals(flat, tree.semiring, given=bool(known))
        found = {}
        start = 0
        for variable, size in zip(self.network.variables, self._sizes, strict=True):
            found[variable.name] = Possibility.unchecked((variable,), flat[start : start + size])
            start += size
        return found

    def families(self, evidence: Evidence | None = None) -> dict[str, Possibility]:
        """Joint possibility of every variable and its parents, name -> Π(parents, x | e): what sampling needs.

        >>> import possnet as pn
        >>> joint = Inference(pn.load_example("asia")).families()["lung"]
        >>> [variable.name for variable in joint.variables], joint["no", "yes"]
        (['smoke', 'lung'], 0.01)
        """
        known, tree = self._collected(evidence)
        found = {}
        with np.errstate(divide="ignore", invalid="ignore"):
            for factor, table in tree.factor_marginals(self._scopes):
                degrees = self._conditioned_table(table, tree.semiring, given=bool(known))
                scope = tuple([self.network.variables[v] for v in self._scopes[factor]])
                found[factor] = Possibility.unchecked(scope, degrees)
        return {name: found[factor] for factor, name in enumerate(self._names)}

    def possibility_of(self, evidence: Evidence) -> float:
        """Possibility of the evidence, Π(e); right after other questions with the same evidence, from their messages.

        >>> import possnet as pn
        >>> round(Inference(pn.load_example("asia")).possibility_of({"xray": "yes", "asia": "yes"}), 9)
        0.001
        """
        known = read_evidence(evidence, self._variables)
        semiring = self._choose_semiring(known)
        tree = self._trees.get(semiring.name)
        if tree is not None and not tree.changed_evidence(_in_semiring(known, semiring)):
            value = tree.collect()  # every message is there
        else:
            value, _ = self._pruned_value([], known, semiring)
        return float(np.exp(value)) if semiring is MAX_SUM else value

    def necessity(self, name: str, states: str | Iterable[str], evidence: Evidence | None = None) -> float:
        """How far it is certain, given evidence, that a variable is in some states: N(A | e) = 1 - Π(not A | e).

        >>> import possnet as pn
        >>> Inference(pn.load_example("asia")).necessity("bronc", {"yes"}, {"dysp": "yes"})
        0.9
        """
        return self.query(name, evidence).necessity(states)

    def query_many(self, target: str, data: Dataset) -> Floats:
        """Possibility of a variable given every row of a data set, as an array (rows, states).

        Cells are the evidence: a set is a disjunction, an unknown cell is none, and the target's own cell is ignored;
        columns that the network lacks are an error. Every row is conditioned, so that it peaks at 1, even if all its cells
        are unknown; rows of impossible evidence are NaN. Equal pieces of evidence are computed once.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_rows([pn.load_example("asia").variable("dysp")], [("yes",), (None,)])
        >>> Inference(pn.load_example("asia")).query_many("bronc", data)
        array([[1. , 0.1], [1. , 1. ]])
        """
        number = self._number(target)
        self._require_own(data, "query_many")
        columns = {self._number(v.name): data.column(v.name) for v in data.variables if v.name != target}
        answers = np.empty((len(data), self._sizes[number]))
        wanted = {number: np.ones(len(data), dtype=np.bool_)}
        for block, tables, _ in self._run_rows(columns, len(data), wanted, number):
            answers[block] = tables[number]
        return answers

    def marginals_many(self, data: Dataset) -> dict[str, Floats]:
        """Possibility of every variable given every row of a data set, name -> array (rows, states).

        Cells are the evidence, a variable's own cell included, so that states outside the cell have degree 0. Every row is
        conditioned and peaks at 1; rows of impossible evidence are NaN. All variables come from one pass up and one down,
        and equal pieces of evidence are computed once.

        >>> import possnet as pn
        >>> clinic = pn.load_example("clinic")
        >>> data = pn.Dataset.from_rows([clinic.variable("rash")], [("spots",), ({"spots", "none"},)])
        >>> found = Inference(clinic).marginals_many(data)
        >>> found["fever"], found["rash"]
        (array([[1.  , 0.8 , 0.64], [1.  , 0.8 , 0.64]]), array([[0. , 1. , 0. ], [1. , 0.2, 0. ]]))
        """
        wanted = {v.name: np.ones(len(data), dtype=np.bool_) for v in self.network.variables}
        found = {v.name: np.empty((len(data), len(v))) for v in self.network.variables}
        for start, stop, tables, _ in self.marginal_blocks(data, wanted):
            for name, table in tables.items():
                found[name][start:stop] = table
        return found

    def marginal_blocks(
        self, data: Dataset, wanted: Mapping[str, Bools]
    ) -> Iterator[tuple[int, int, dict[str, Floats], Bools]]:
        """The same, some rows at a time and only where asked for: what filling a large table needs.

        ``wanted`` says for every variable of interest which rows it is wanted for. Blocks are (first row, end, name ->
        array (wanted rows of the block, states), which rows of the block are possible).

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"dysp": ["yes", "no"]}, pn.load_example("asia").variable("dysp"))
        >>> blocks = Inference(pn.load_example("asia")).marginal_blocks(data, {"bronc": np.array([True, False])})
        >>> [(start, stop, found["bronc"], possible) for start, stop, found, possible in blocks]
        [(0, 2, array([[1. , 0.1]]), array([ True,  True]))]
        """
        self._require_own(data, "marginal_blocks")
        columns = {self._number(v.name): data.column(v.name) for v in data.variables}
        numbers = {self._number(name): mask for name, mask in wanted.items()}
        for block, tables, possible in self._run_rows(columns, len(data), numbers):
            yield block.start, block.stop, {self._names[v]: table for v, table in tables.items()}, possible

    def _run_rows(
        self, columns: Mapping[int, CodedColumn], rows: int, wanted: Mapping[int, Bools], target: int | None = None
    ) -> Iterator[tuple[slice, dict[int, Floats], Bools]]:
        """Blocks of rows, degrees of the wanted variables conditioned on each row, and which rows are possible.

        Rows are answered by one junction tree for all, or each by the components of what it does not observe, whichever is
        estimated to be faster.
        """
        semiring = self._choose_semiring({})
        components, tree = self._component_inference(semiring), None
        seconds = components.estimate_seconds(columns, rows, wanted)
        if seconds > _PLANNING_SECONDS * len(self._sizes):
            tree = self._tree_for_rows(wanted.keys(), columns.keys(), target, semiring)
        if tree is not None and tree.estimate_seconds(columns, rows) < seconds:
            blocks = tree.run_blocks(columns, rows, wanted)
        else:
            blocks = components.run_blocks(columns, rows, wanted)
        for block, tables, total in blocks:
            degrees = {
                v: condition_rows(table, total[wanted[v][block]], semiring, len(self._sizes))
                for v, table in tables.items()
            }
            yield block, degrees, total > semiring.zero

    def _component_inference(self, semiring: Semiring) -> ComponentInference:
        if self._components is None:
            place = {name: k for k, name in enumerate(self._names)}
            order = [place[name] for name in self.network.dag.topological_order()]
            tables = [_log(t) if semiring is MAX_SUM else t for t in self._tables]
            self._components = ComponentInference(
                self._names,
                self._sizes,
                self._scopes,
                tables,
                semiring,
                self._peaks(),
                order,
                self._limit,
                self._budget,
            )
        return self._components

    def _tree_for_rows(
        self, wanted: Iterable[int], observed: Iterable[int], target: int | None, semiring: Semiring
    ) -> RowInference | None:
        """The families that matter for some variables under evidence on others, planned and combined; None if too large."""
        key = frozenset(wanted), frozenset(observed), target
        if key not in self._prepared:  # one is kept: batches of a stream have the same columns
            last = 0 if target is None else 1 << target
            scopes, tables, dropped = self._relevant((*key[0], *key[1]), key[1])
            plan = make_plan(self._sizes, scopes, dropped=dropped, last=last) if dropped or last else self.plan
            if not plan.fits(self._limit):
                return None
            tables = [_log(t) if semiring is MAX_SUM else t for t in tables]
            self._prepared = {key: RowInference(plan, scopes, tables, semiring, target, self._budget)}
        return self._prepared[key]

    def _require_own(self, data: Dataset, owner: str) -> None:
        for variable in data.variables:
            known = self._variables.get(variable.name)
            if known is None or known[1].states != variable.states:
                what = "no such variable" if known is None else f"states {listing(known[1].states)}"
                raise InputError(
                    f"{owner}: column {variable.name!r} ({listing(variable.states)}) and the network has {what}; "
                    "expected columns of the network's own variables"
                )

    def most_possible(self, evidence: Evidence | None = None) -> Explanation:
        """The most possible configuration that agrees with the evidence, its degree, and how many reach the same degree.

        >>> import possnet as pn
        >>> found = Inference(pn.load_example("clinic")).most_possible({"rash": "widespread", "cough": "none"})
        >>> found.configuration["measles"], round(found.possibility, 6), found.ties
        ('no', 0.02, 2)
        """
        (found,), tree = self._best(1, evidence)
        with np.errstate(divide="ignore", invalid="ignore"):
            return Explanation(found.configuration, found.possibility, count_ties(tree))

    def most_possible_k(self, k: int, evidence: Evidence | None = None) -> list[Explanation]:
        """The k most possible configurations, best first; fewer if there are no more of degree above 0.

        ``ties`` counts those of the same degree among the answers. A degree below the smallest float shows as 0.

        >>> import possnet as pn
        >>> [round(e.possibility, 3) for e in Inference(pn.load_example("clinic")).most_possible_k(4, {"fever": "mild"})]
        [0.8, 0.64, 0.3, 0.3]
        """
        return self._best(require_whole(k, 1, "most_possible_k: k"), evidence)[0]

    def _collected(self, evidence: Evidence | None) -> tuple[dict[int, Floats], JunctionTree]:
        """The evidence as degrees, and the whole tree with all messages upward; impossible evidence is an error."""
        known = read_evidence(evidence, self._variables)
        semiring = self._choose_semiring(known)
        tree = self._tree(semiring)
        with np.errstate(divide="ignore", invalid="ignore"):
            tree.set_evidence(_in_semiring(known, semiring))
            self._require_possible(tree.collect(), semiring, evidence)
        return known, tree

    def _best(self, k: int, evidence: Evidence | None) -> tuple[list[Explanation], JunctionTree]:
        known, tree = self._collected(evidence)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = best_configurations(tree, k)
        conjunction = self.network.conjunction
        margin = rounding_of(tree) if tree.semiring is MAX_SUM else ROUNDING
        explained = []
        for value, states in found:
            configuration = {v.name: v.states[states[n]] for n, v in enumerate(self.network.variables)}
            degree = self.network.joint(configuration)
            for number, degrees in known.items():
                degree = float(conjunction.combine(degree, degrees[states[number]]))
            scale = 1.0 if tree.semiring is MAX_SUM else value
            ties = sum(abs(value - other) <= margin * scale for other, _ in found)
            explained.append(Explanation(configuration, degree, ties))
        return explained, tree

    def _number(self, name: str) -> int:
        given: object = name
        if not isinstance(given, str) or given not in self._variables:
            raise InputError(f"no variable {name!r}{among(name, self._names)}")
        return self._variables[name][0]

    def _tree(self, semiring: Semiring) -> JunctionTree:
        if semiring.name not in self._trees:
            self.plan.refuse_if_large(self._names, self._limit)
            tables = [_log(table) for table in self._tables] if semiring is MAX_SUM else self._tables
            self._trees[semiring.name] = JunctionTree(self.plan, self._scopes, tables, semiring)
        return self._trees[semiring.name]

    def _peaks(self) -> list[bool]:
        """Whether each table's rows peak at 1."""
        if self._peak is None:
            self._peak = [bool((table.max(axis=-1) == 1.0).all()) for table in self._tables]
        return self._peak

    def _least_product(self) -> float:
        """Logarithm of the product of the smallest positive degrees of all tables: no product is smaller."""
        if self._least is None:
            flat = np.concatenate([table.reshape(-1) for table in self._tables])
            starts = np.cumsum([0, *[table.size for table in self._tables]])[:-1]
            self._least = float(np.log(np.minimum.reduceat(np.where(flat > 0.0, flat, 1.0), starts)).sum())
        return self._least

    def _choose_semiring(self, known: dict[int, Floats]) -> Semiring:
        """Max-min for a min-based network; for a product-based one logarithms if a product might underflow."""
        if not self._is_product:
            return MAX_MIN
        least = self._least_product() + sum(
            log(d) for degrees in known.values() for d in degrees.tolist() if 0.0 < d < 1.0
        )
        return MAX_SUM if least < _LOWEST_LOG else MAX_PRODUCT

    def _relevant(
        self, targets: Iterable[int], observed: Iterable[int]
    ) -> tuple[list[tuple[int, ...]], list[Floats], int]:
        """Families that can matter: the targets, the observed, their ancestors, and whatever does not peak at 1."""
        peaks = self._peaks()
        dag = self.network.dag
        needed = {self._names[v] for v in (*targets, *observed)}
        needed |= {name for name, peaked in zip(self._names, peaks, strict=True) if not peaked}
        needed |= dag.ancestors(needed)
        kept = [k for k, name in enumerate(self._names) if name in needed]
        dropped = sum(1 << k for k, name in enumerate(self._names) if name not in needed)
        return [self._scopes[k] for k in kept], [self._tables[k] for k in kept], dropped

    def _pruned_value(
        self, targets: list[int], known: dict[int, Floats], semiring: Semiring
    ) -> tuple[float, Floats | None]:
        """Value of everything that matters, and the table over the targets (unnormalised, in their order)."""
        if not all(degrees.any() for degrees in known.values()):
            return semiring.zero, None
        scopes, tables, dropped = self._relevant(targets, set(known))
        left = {
            v: np.flatnonzero(d) for v, d in known.items() if v not in targets
        }  # the states that are still possible
        hard = {v: int(states[0]) for v, states in left.items() if len(states) == 1 and known[v][states[0]] == 1.0}
        sizes = [len(left[v]) if v in left else size for v, size in enumerate(self._sizes)]
        kept = [sliced(scope, table, hard, left) for scope, table in zip(scopes, tables, strict=True)]
        kept += [((v,), d[left[v]] if v in left else d) for v, d in known.items() if v not in hard]
        if semiring is not MAX_MIN and targets and known:  # conditioning divides by what lies apart
            kept = connected(kept, targets)
        if semiring is MAX_SUM:
            kept = [(scope, _log(table)) for scope, table in kept]
        value = semiring.one
        for scope, table in kept:
            if not scope:
                value = float(semiring.combine(value, float(table)))
        factors = [(scope, table) for scope, table in kept if scope]
        present = {v for scope, _ in factors for v in scope} | set(targets)
        absent = sum(1 << v for v in range(len(self._sizes)) if v not in present) | dropped
        chosen = sum(1 << target for target in targets)
        plan = make_plan(
            sizes, [scope for scope, _ in factors], dropped=absent & ~chosen, last=chosen, together=targets
        )
        plan.refuse_if_large(self._names, self._limit)
        if not plan.cliques:
            return value, None
        tree = JunctionTree(plan, [scope for scope, _ in factors], [table for _, table in factors], semiring)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = float(semiring.combine(value, tree.collect(keep=False)))
            return total, target_table(tree, plan, targets, value, semiring) if targets else None

    def _reduced(self, targets: list[int], known: dict[int, Floats], evidence: Evidence | None) -> Floats:
        semiring = self._choose_semiring(known)
        total, table = self._pruned_value(targets, known, semiring)
        self._require_possible(total, semiring, evidence)
        assert table is not None  # noqa: S101
        return self._conditioned_table(table, semiring, given=bool(known))

    def _conditioned_table(self, table: Floats, semiring: Semiring, *, given: bool) -> Floats:
        """A table over some variables, conditioned on the evidence by the network's conjunction if any is given."""
        if not given:
            return np.exp(table) if semiring is MAX_SUM else table
        top = float(table.max())
        return conditioned(table, top, semiring, self._rounding(top))

    def _rounding(self, value: float) -> float:
        """How far logarithms that add up to a value may differ by rounding alone."""
        return max(ROUNDING, 1e-15 * abs(value) * sqrt(len(self._tables)))

    def _conditioned_marginals(self, flat: Floats, semiring: Semiring, *, given: bool) -> Floats:
        """Marginals of all variables, one after the other, each conditioned on the evidence if any is given."""
        if not given:
            return np.exp(flat) if semiring is MAX_SUM else flat
        starts = np.cumsum([0, *self._sizes])[:-1]
        tops = np.repeat(np.maximum.reduceat(flat, starts), self._sizes)
        return conditioned(flat, tops, semiring, self._rounding(float(tops[0])))

    def _require_possible(self, value: float, semiring: Semiring, evidence: Evidence | None) -> None:
        if value == semiring.zero or np.isnan(value):
            raise ImpossibleEvidence(
                f"the evidence ({describe(evidence)}) has possibility 0 in this network; nothing can be concluded from it"
            )


def _log(table: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(table)


def _in_semiring(known: dict[int, Floats], semiring: Semiring) -> dict[int, Floats]:
    return {v: _log(d) for v, d in known.items()} if semiring is MAX_SUM else known
