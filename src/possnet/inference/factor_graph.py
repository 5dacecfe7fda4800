"""A network as numbered variables and factors, the input of all inference.

Products of a thousand degrees can fall below the smallest float. Where the smallest possible product might, the work is
done on logarithms (`MAX_SUM`), where a degree of 1 is still exactly 0; nothing is lost and nothing is scaled.

The tables may be read as probabilities too, each context divided by its sum, which undoes the transform ``ratio``; sums
then take the place of maxima, and rows sum to 1 where degrees peak at 1.
"""

from __future__ import annotations

from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np

from possnet.errors import InputError, among
from possnet.inference.semirings import LOG_SUM, MAX_MIN, MAX_PRODUCT, MAX_SUM, SUM_PRODUCT, Semiring
from possnet.possibility import PRODUCT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from possnet.aliases import Floats
    from possnet.network import Network

    Factor: TypeAlias = tuple[tuple[int, ...], Floats]

_Derived = TypeVar("_Derived")
_SMALL = 1 << 12  # entries
_LOWEST_LOG = -600.0  # products above exp of this are far from the smallest float


class FactorGraph:
    """The variables of a network by their numbers, and its tables as factors; factor k is the family of variable k.

    Parameters
    ----------
    probabilities
        Whether the tables are read as probabilities.
    """

    def __init__(self, network: Network, *, probabilities: bool = False) -> None:
        self.network, self.probabilities = network, probabilities
        self.names = [variable.name for variable in network.variables]
        self.numbers = {name: k for k, name in enumerate(self.names)}
        self.sizes = tuple([len(variable) for variable in network.variables])
        self.scopes = tuple([tuple([self.numbers[n] for n in (*network.dag.parents(v), v)]) for v in self.names])
        self.tables = [network.table(name) for name in self.names]
        if probabilities:
            self.tables = [table / table.sum(axis=-1, keepdims=True) for table in self.tables]
        self._derived: dict[Callable[[FactorGraph], object], object] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_derived": {}}

    def derive(self, make: Callable[[FactorGraph], _Derived]) -> _Derived:
        """A value that follows from the factors alone: made when first asked for, and kept with them."""
        if make not in self._derived:
            self._derived[make] = make(self)
        return cast("_Derived", self._derived[make])

    @cached_property
    def starts(self) -> list[int]:
        """Where the states of every variable begin when those of all stand in a line, and where the line ends."""
        return [0, *np.cumsum(self.sizes).tolist()]

    @cached_property
    def order(self) -> list[int]:
        """The variables, parents before children."""
        return [self.numbers[name] for name in self.network.dag.topological_order()]

    @cached_property
    def has_peaks(self) -> list[bool]:
        """Of every table whether all its rows peak at 1; as probabilities, whether they sum to 1, which they do."""
        if self.probabilities:
            return [True] * len(self.tables)
        peaks = [False] * len(self.tables)
        together: dict[int, list[int]] = {}  # small tables of as many states are looked at in one call
        for k, (table, size) in enumerate(zip(self.tables, self.sizes, strict=True)):
            if table.size <= _SMALL:
                together.setdefault(size, []).append(k)
            else:
                peaks[k] = bool((table.max(axis=-1) == 1.0).all())
        for size, members in together.items():
            rows = [self.tables[k].reshape(-1, size) for k in members]
            starts = np.cumsum([0, *[len(own) for own in rows[:-1]]])
            tops = np.concatenate(rows).max(axis=1) == 1.0
            for k, own in zip(members, np.logical_and.reduceat(tops, starts).tolist(), strict=True):
                peaks[k] = own
        return peaks

    @cached_property
    def least_product(self) -> float:
        """Logarithm of the product of the smallest positive degrees of all tables: no product is smaller."""
        flat = np.concatenate([table.reshape(-1) for table in self.tables])
        starts = np.cumsum([0, *[table.size for table in self.tables]])[:-1]
        return float(np.log(np.minimum.reduceat(np.where(flat > 0.0, flat, 1.0), starts)).sum())

    def find_number(self, name: str) -> int:
        """Number of a variable; an `InputError` if there is none of that name."""
        given: object = name
        if not isinstance(given, str) or given not in self.numbers:
            raise InputError(f"no variable {name!r}{among(name, self.names)}")
        return self.numbers[name]

    def choose_semiring(self, known: Mapping[int, Floats] | None = None) -> Semiring:
        """Max-min for a min-based network; for a product-based one logarithms if a product might underflow.

        For probabilities, sums of products. Of what is known only degrees between 0 and 1 bear on it.
        """
        if self._is_min_based:
            return MAX_MIN
        degrees = [d for vector in (known or {}).values() for d in vector.tolist()]
        least = self.least_product + sum(log(d) for d in degrees if 0.0 < d < 1.0)
        small = least < _LOWEST_LOG
        if self.probabilities:
            return LOG_SUM if small else SUM_PRODUCT
        return MAX_SUM if small else MAX_PRODUCT

    @cached_property
    def _is_min_based(self) -> bool:
        return self.network.conjunction.name != PRODUCT.name and not self.probabilities

    def tables_in(self, semiring: Semiring) -> list[Floats]:
        """The tables as values of a semiring."""
        return self._logarithms if semiring.is_logarithmic else self.tables

    @cached_property
    def _logarithms(self) -> list[Floats]:
        with np.errstate(divide="ignore"):
            return [np.log(table) for table in self.tables]

    def relevant_factors(self, numbers: Iterable[int]) -> list[int]:
        """Factors that matter for some variables: theirs, their ancestors', and those with rows that do not peak at 1."""
        needed = {self.names[v] for v in numbers}
        needed |= {name for name, peaks in zip(self.names, self.has_peaks, strict=True) if not peaks}
        needed |= self.network.dag.ancestors(needed)
        return [k for k, name in enumerate(self.names) if name in needed]


def to_semiring(degrees: Floats, semiring: Semiring) -> Floats:
    """Degrees as values of a semiring, which may be logarithms."""
    if not semiring.is_logarithmic:
        return degrees
    with np.errstate(divide="ignore"):
        return np.log(degrees)
