"""From the conditional probabilities of a file to a possibilistic network, and back; errors for all that can be wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, NoReturn, TypeAlias, get_args

import numpy as np

from possnet.errors import InputError, did_you_mean, listing, require_known
from possnet.graph import Dag
from possnet.io.file_access import prefix_errors
from possnet.limits import refuse_above, refuse_over
from possnet.network import Network
from possnet.possibility import PRODUCT
from possnet.transforms import Inverse, Transform, to_possibility, to_probability
from possnet.variables import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from possnet.aliases import Floats

    Fail: TypeAlias = Callable[[str], NoReturn]

_INVERSES: tuple[Inverse, ...] = get_args(Inverse)
_SUM_TOLERANCE = 0.01  # files round, some to two digits
_SURELY_FITS = 1 << 20  # entries, 8 MB: below that, asking for the free memory would take longer than the table


def require_table_fits(owner: str, child: str, sizes: Sequence[int]) -> int:
    """Number of entries of a table, refused with its size if it would not fit."""
    entries = prod(sizes)
    if entries > _SURELY_FITS:
        refuse_over(
            entries * 8, f"{owner}: the table of {child!r} ({len(sizes) - 1} parents)", "use fewer parents or states"
        )
    return entries


def parse_numbers(words: Sequence[str] | Sequence[bytes]) -> Floats:
    """Numbers of words, NaN for a word that is none.

    >>> parse_numbers(["1e-3", "many"])
    array([0.001,   nan])
    """
    try:
        return np.array(words, dtype=np.float64)
    except ValueError:
        return np.array([_parse_number(word) for word in words])


def _parse_number(word: str | bytes) -> float:
    try:
        return float(word)
    except ValueError:
        return np.nan


@dataclass(slots=True)
class NetworkDraft:
    """Variables and tables of a file, checked as they are read; ``block`` is what the file calls the place of a table.

    ``fail`` raises a finding with its place in the file.
    """

    owner: str
    block: str
    variables: dict[str, Variable] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tables: dict[str, Floats] = field(default_factory=dict)
    states: int = 0

    def declare_variable(self, name: str, states: Sequence[str], fail: Fail, *, ordered: bool = False) -> None:
        """Add a variable."""
        refuse_above("variables", len(self.variables) + 1, self.owner, at_least=True)
        self.states += len(states)
        refuse_above("states", self.states, self.owner, at_least=True)
        if name in self.variables:
            fail(f"variable {name!r} is declared twice; expected distinct names")
        try:
            self.variables[name] = Variable(name, tuple(states), ordered=ordered)
        except InputError as error:
            fail(str(error))

    def table_shape(self, child: str, given: Sequence[str], fail: Fail) -> list[int]:
        """Numbers of states along the axes of a table: the parents, then the child."""
        for name in (child, *given):
            if name not in self.variables:
                near = did_you_mean(name, self.variables)
                fail(f"{name!r} is not a variable{near}; expected a declared variable")
        if child in self.tables:
            fail(f"a second {self.block} for {child!r}; expected one for every variable")
        shape = [len(self.variables[name]) for name in (*given, child)]
        require_table_fits(self.owner, child, shape)
        return shape

    def build_network(self, transform: Transform, name: str) -> Network:
        """The network of all variables and tables, its probabilities turned into possibilities."""
        lacking = [variable for variable in self.variables if variable not in self.tables]
        if lacking:
            raise InputError(f"{self.owner}: no {self.block} for {listing(lacking)}; expected one for every variable")
        variables = list(self.variables.values())
        with prefix_errors(self.owner):
            return convert_bayesian_network(variables, self.parents, self.tables, transform, name=name)


def convert_bayesian_network(
    variables: Sequence[Variable],
    parents: Mapping[str, Sequence[str]],
    tables: Mapping[str, Floats],
    transform: Transform,
    *,
    name: str,
) -> Network:
    """Possibilistic network of a Bayesian one: every row of every table transformed.

    A row must add up to 1 within 1 %, because files round; it is renormalised before it is transformed.
    """
    dag = Dag({variable.name: parents[variable.name] for variable in variables})
    domains = {variable.name: variable for variable in variables}
    degrees = {}
    for child, table in ((variable.name, tables[variable.name]) for variable in variables):
        off = np.argwhere(~(np.abs(table.sum(axis=-1) - 1.0) <= _SUM_TOLERANCE))
        negative = np.argwhere((table < 0.0).any(axis=-1))
        if len(off) or len(negative):
            place = off[0] if len(off) else negative[0]
            row = table[tuple(place)]
            finding = (
                f"add up to {row.sum():.6g}; expected 1" if len(off) else f"hold {row.min():.6g}; expected numbers >= 0"
            )
            states = [f"{parent}={domains[parent].states[k]}" for parent, k in zip(parents[child], place, strict=True)]
            given = f" given ({', '.join(states)})" if states else ""
            raise InputError(f"the probabilities of {child!r}{given} {finding}")
        degrees[child] = to_possibility(table, transform)
    description = f"Probabilities turned into possibilities with the transformation '{transform}'."
    return Network.unchecked(variables, dag, degrees, name=name, description=description)


def compute_probabilities(network: Network, transform: object, owner: str) -> dict[str, Floats]:
    """Name -> conditional probabilities, shaped like the table, by the inverse of a named transformation.

    >>> import possnet as pn
    >>> compute_probabilities(pn.load_example("asia"), "ratio", "asia.bif")["smoke"]
    array([0.5, 0.5])
    """
    require_known(transform, _INVERSES, f"{owner}: transform")
    if not network.is_normalised:
        raise InputError(
            f"{owner}: a subnormal network has no probabilities; normalise it first: normalise_tables(...)"
        )
    probabilities = {}
    for variable in network.variables:
        with prefix_errors(f"{owner}: table of {variable.name!r}"):
            probabilities[variable.name] = to_probability(network.table(variable.name), transform)  # type: ignore[arg-type]
    return probabilities


def require_transform(network: Network, transform: str | None, owner: str, label: str) -> str:
    """The transformation whose inverse gives the probabilities of a file that holds nothing else.

    A network whose tables are said to be probabilities divided by the largest (`Network.transform`) needs none.
    """
    if network.conjunction.name != PRODUCT.name:
        raise InputError(
            f"{owner}: a {network.conjunction.name}-based network cannot be a {label} file, which multiplies; expected a "
            "product-based one, or a file that keeps degrees (.json, .xdsl, .net)"
        )
    if transform is None and not network.transform:
        raise InputError(
            f"{owner}: a {label} file holds probabilities, and the network holds degrees; name the transformation between "
            f"them: transform= (--transform) {listing(_INVERSES)}"
        )
    return transform or network.transform
