"""The EM algorithm for the hidden trace (see `possnet.em.fitting`): starting points, and one step of EM.

The E-step of a component is in `possnet.em.e_step`, the M-step in `possnet.em.m_step`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from possnet.em.e_step import ComponentRows, find_posteriors, run_e_step, split_rows
from possnet.em.em_result import EmResult
from possnet.em.m_step import run_m_step
from possnet.errors import InputError, listing
from possnet.network import permute_axes
from possnet.parameters import NO_PRIOR
from possnet.variables import list_differences, require_same_bins

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Executor

    from possnet.aliases import Floats
    from possnet.em.em_rows import EmRows
    from possnet.em.hidden_states import HiddenComponent, HiddenStateModel
    from possnet.em.squarem import Masses
    from possnet.parameters import Prior


class PosteriorSums(Protocol):
    """What an E-step adds up over the rows, wherever they are held."""

    def sum_posteriors(self, masses: Masses) -> tuple[float, Masses]:
        """Log-likelihood of the rows of all components, and for every family with hidden states its posterior sums."""
        ...


class HeldPosteriors:
    """The distinct rows of every component of a model, held for one E-step after the other.

    Parameters
    ----------
    executor
        A ``concurrent.futures`` executor that shares the rows of each E-step among workers.
    """

    def __init__(self, model: HiddenStateModel, rows: EmRows, executor: Executor | None = None) -> None:
        self.model, self.executor = model, executor
        n_cells = {name: len(f.cells) + f.has_missing for name, f in model.families.items()}
        distinct = rows.group_rows([component.columns for component in model.components])
        self.parts: list[ComponentRows] = []
        for component, (ids, weights) in zip(model.components, distinct, strict=True):
            self.parts += split_rows(component, ids, weights, n_cells)

    def sum_posteriors(self, masses: Masses) -> tuple[float, Masses]:
        """Log-likelihood of the rows of all components, and for every family with hidden states its posterior sums."""
        families = self.model.families
        tables = {name: families[name].factor_table(values) for name, values in masses.items()}
        ordered = {id(component): self.order_tables(component, tables) for component in self.model.components}
        work = [(part, ordered[id(part.component)]) for part in self.parts]
        if self.executor is None:
            posteriors = [run_e_step(part, values) for part, values in work]
        else:
            posteriors = list(self.executor.map(run_e_step, *zip(*work, strict=True))) if work else []
        value = 0.0
        sums = {name: np.zeros(tables[name].shape) for name in families if name not in self.model.alone}
        for part, (log_likelihood, entries) in zip(self.parts, posteriors, strict=True):
            value += log_likelihood
            for number, (factor, entry) in enumerate(zip(part.component.factors, entries, strict=True)):
                if factor.family is not None and entry is not None:
                    sums[factor.family] += part.component.to_scope_order(number, entry)
        return value, sums

    def order_tables(self, component: HiddenComponent, tables: Masses) -> list[Floats]:
        """The values of every factor of a component, hidden variables in elimination order."""
        return [
            component.to_elimination_order(
                k, self._indicator(factor.column) if factor.family is None else tables[factor.family]
            )
            for k, factor in enumerate(component.factors)
        ]

    def _indicator(self, name: str) -> Floats:
        """[state in cell], and 1 for a missing cell if there are any."""
        family = self.model.families[name]
        inside = family.cells.T.astype(np.float64)
        return np.column_stack([inside, np.ones(len(inside))]) if family.has_missing else inside


class EmAlgorithm:
    """EM for a model and its rows.

    Parameters
    ----------
    prior
        Imagined rows added to every context: of the variable's own cells, or of the whole domain (which is then one of the
        distinct cells); see `possnet.parameters.Prior`.
    posteriors
        The sums of the E-step; by default of the rows held here.
    """

    def __init__(
        self,
        model: HiddenStateModel,
        rows: EmRows,
        *,
        prior: Prior = NO_PRIOR,
        posteriors: PosteriorSums | None = None,
    ) -> None:
        self.model, self.rows = model, rows
        self.imagined = {name: self._imagine_rows(name, prior) for name in model.families} if prior.weight else {}
        self.posteriors = HeldPosteriors(model, rows) if posteriors is None else posteriors
        self._constant = -sum(
            float(rows.cell_counts[name] @ np.log(model.families[name].cells.sum(axis=1))) for name in model.active
        )

    def _imagine_rows(self, name: str, prior: Prior) -> Floats:
        """Imagined rows with each cell of a variable, in every context."""
        counts = self.rows.cell_counts[name].astype(np.float64)
        if prior.kind == "ignorance":
            whole = (1 << len(self.rows.variables[name])) - 1
            return prior.weight * np.array([mask == whole for mask in self.rows.masks[name]], dtype=np.float64)
        return prior.weight * (counts / counts.sum() if counts.any() else np.full(len(counts), 1.0 / len(counts)))

    def equal_masses(self) -> Masses:
        """The default starting point: equal masses for the cells that occur, perturbed by up to 2 % at a saddle point."""
        point = {
            name: np.full((family.n_contexts, len(family.cells)), 1.0 / len(family.cells))
            for name, family in self.model.families.items()
        }
        if self._is_saddle():
            rng = np.random.default_rng(0)
            for name, masses in point.items():
                point[name] = _to_shares(masses * (1.0 + 0.02 * rng.random(masses.shape)))
        return point

    def random_masses(self, rng: np.random.Generator) -> Masses:
        """A random starting point, uniform on the masses of every context."""
        return {
            name: rng.dirichlet(np.ones(len(family.cells)), size=family.n_contexts)
            for name, family in self.model.families.items()
        }

    def continue_from(self, earlier: EmResult) -> Masses:
        """Masses of an earlier result as a starting point; cells that it lacks get a small mass, which EM can raise."""
        given: object = earlier
        if not isinstance(given, EmResult):
            raise InputError(f"fit_em: start {earlier!r}; expected an earlier result of fit_em")
        return {name: self._continue_family(name, earlier) for name in self.model.families}

    def _continue_family(self, name: str, earlier: EmResult) -> Floats:
        variable, family = self.rows.variables[name], self.model.families[name]
        if name not in earlier.masses:
            raise InputError(f"fit_em: the earlier result has no {name!r}; expected one of the same structure")
        parents = earlier.network.dag.parents(name)
        if set(parents) != set(family.parents):
            raise InputError(f"fit_em: the earlier result has other parents for {name!r}; expected the same structure")
        before = [earlier.network.variable(parent) for parent in parents]
        after = [self.rows.variables[parent] for parent in family.parents]
        require_same_bins(variable, earlier.network.variable(name), "fit_em")
        sides = ("the earlier result", "the data")
        differences = list_differences([*before, earlier.network.variable(name)], [*after, variable], sides)
        if differences:
            raise InputError(f"fit_em: {listing(differences, 6)}; expected the same states")
        cells, table = earlier.masses[name]
        flat = permute_axes(table, before, after).reshape(-1, len(cells))
        place = {variable.mask(cell): k for k, cell in enumerate(cells)}
        known = np.zeros((family.n_contexts, len(family.cells)))
        for k, mask in enumerate(self.rows.masks[name]):
            if mask in place:
                known[:, k] = flat[:, place[mask]]
        return _to_shares(np.where(known > 0.0, known, 1.0 / len(family.cells) / max(self.rows.n_rows, 1)))

    def _is_saddle(self) -> bool:
        """Whether equal masses are a saddle point: two states of a parent lie in exactly the same cells.

        EM treats such states alike, so that masses that start equal for both contexts stay equal for ever.
        """
        for name in self.model.active:
            seen = self.model.families[name].cells[self.rows.cell_counts[name] > 0]
            if len(np.unique(seen.T, axis=0)) < seen.shape[1] > 1:
                return True
        return False

    def take_step(self, masses: Masses) -> tuple[float, Masses]:
        """One EM step: the (penalised) log-likelihood at a point, and the next point."""
        value, counts = self.expected_counts(masses)
        for name, rows in self.imagined.items():
            counts[name] = counts[name] + rows
            value += float((rows * np.log(np.where(rows > 0.0, masses[name], 1.0))).sum())
        return value, run_m_step(counts, masses)

    def expected_counts(self, masses: Masses) -> tuple[float, Masses]:
        """The E-step: log-likelihood at a point, and the expected number of rows for every context and cell."""
        families = self.model.families
        value, sums = self.posteriors.sum_posteriors(masses)
        value += self._constant
        counts = {}
        for name, family in families.items():
            if name in sums:
                counts[name] = family.expected_counts(sums[name], masses[name])
            else:
                counts[name] = self.rows.cell_counts[name].astype(np.float64)[np.newaxis]
                value += float((counts[name] * np.log(np.where(counts[name] > 0, masses[name], 1.0))).sum())
        return value, counts

    def state_posteriors(
        self, masses: Masses, clamped: Mapping[str, int] | None = None
    ) -> tuple[Floats, dict[str, Floats]]:
        """Of a model of one component: ln P(row, clamped hidden states), and the posteriors of all its hidden states.

        Rows are the distinct ones of the component; up to a constant that does not depend on the clamped states.
        """
        (component,) = self.model.components
        assert isinstance(self.posteriors, HeldPosteriors)  # noqa: S101 - rows held elsewhere have no posteriors here
        families = self.model.families
        hidden = component.hidden
        tables = {name: families[name].factor_table(values) for name, values in masses.items()}
        ordered = self.posteriors.order_tables(component, tables)
        fixed = {hidden.index(name): state for name, state in (clamped or {}).items()}
        parts = [find_posteriors(part, ordered, fixed) for part in self.posteriors.parts]
        logs = np.concatenate([np.zeros(0), *(logs for logs, _ in parts)])
        return logs, {
            name: np.concatenate([np.zeros((0, component.sizes[k])), *(posteriors[k] for _, posteriors in parts)])
            for k, name in enumerate(hidden)
        }


def _to_shares(masses: Floats) -> Floats:
    shares: Floats = masses / masses.sum(axis=1, keepdims=True)
    return shares
