"""The result of EM: a network, the masses behind it, and which contexts the rows determine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from possnet.doors import check_arguments
from possnet.errors import InputError, listing
from possnet.randomset import MassFunction

if TYPE_CHECKING:
    from collections.abc import Mapping

    from possnet.aliases import Bools, Floats
    from possnet.em.squarem import Stopped
    from possnet.network import Network


class CellMasses(NamedTuple):
    """Masses m(A | a) of one variable: the cells A that occur, and a table whose axes are the parents, then the cells."""

    cells: tuple[frozenset[str], ...]
    table: Floats


@dataclass(frozen=True, slots=True, repr=False)
class EmResult:
    """The result of `fit_em`.

    Attributes
    ----------
    network
        The learned network; contexts that the rows do not identify are all 1 (see ``unvisited`` and ``confounded``), unless
        there is a marginal prior (see ``backed_off``).
    masses
        Name -> the cells A that occur, and m(A | a).
    log_likelihood
        At every accepted step, from the start on; with a prior the penalised one. It never falls.
    steps
        Number of E-steps over all runs, those of rejected extrapolations included.
    stopped
        ``converged`` or ``max_steps``.
    support
        Name -> expected number of rows behind every context.
    unvisited, confounded
        Name -> contexts that no row visits, and contexts that the rows visit but cannot tell apart from others.
    consonant
        Name -> in which contexts the focal sets are nested.
    backed_off
        Name -> contexts without rows that took the masses of a smaller context; their support is 0.

    Examples
    --------
    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", "x", {"x", "y"}], "b": ["u", "u", "v"]})
    >>> result = pn.fit_em(pn.Dag({"a": (), "b": ("a",)}), data)
    >>> result.stopped, float(result.support["b"].sum()), result.confounded["b"]
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
    backed_off: dict[str, Bools]

    def __repr__(self) -> str:
        text = f"{self.steps} steps, {self.stopped.replace('_', ' ')}, log-likelihood {self.log_likelihood[-1]:.6g}"
        for what, flags in (
            ("unvisited", self.unvisited),
            ("confounded", self.confounded),
            ("backed off", self.backed_off),
        ):
            number = sum(int(flag.sum()) for flag in flags.values())
            text += f", {number} contexts {what}" if number else ""
        return f"EmResult({self.network!r}, {text})"

    def _repr_html_(self) -> str:
        """The log-likelihood over the steps, and the support of every variable, folded, for notebooks."""
        from possnet.drawing import CurvePanel, PlainCurve, draw_curves, draw_details, draw_table, escape_markup

        rows = []
        for name, support in self.support.items():
            flags = [f"{int(contexts[name].sum()):,}" for contexts in (self.unvisited, self.confounded)]
            rows.append(
                [name, f"{support.size:,}", f"{support.min():,.1f}", *flags, f"{len(self.masses[name].cells):,}"]
            )
        head = ["variable", "contexts", "least expected rows", "unvisited", "confounded", "distinct cells"]
        climb = PlainCurve("log-likelihood", tuple(enumerate(self.log_likelihood)))
        picture = draw_curves([CurvePanel("EM", (climb,))], title="EM", x="step", y="log-likelihood")
        table = draw_details("contexts and cells of every variable", draw_table(head, rows[:60]))
        return f"<div><p>{escape_markup(repr(self)[9:-1])}</p>{picture}{table}</div>"

    @check_arguments
    def mass_function(self, name: str, given: Mapping[str, str] | None = None) -> MassFunction:
        """Masses of a variable's cell for given true states of its parents.

        >>> import possnet as pn
        >>> data = pn.Dataset.from_table({"a": ["x", {"x", "y"}]})
        >>> pn.fit_em(pn.Dag({"a": ()}), data).mass_function("a")
        MassFunction(a: {x} 0.5, {x, y} 0.5)
        """
        variable = self.network.variable(name)
        parents = self.network.dag.parents(name)
        states = given or {}
        if set(states) != set(parents):
            raise InputError(
                f"masses of {name!r}: states of {listing(states) or 'nothing'}; expected {listing(parents)}"
            )
        place = tuple(self.network.variable(p).index(states[p]) for p in parents)
        cells, table = self.masses[name]
        masses = {variable.mask(cell): float(m) for cell, m in zip(cells, table[place], strict=True) if m > 0.0}
        return MassFunction.unchecked(variable, masses)
