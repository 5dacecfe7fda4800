"""From models of a class to networks, and networks as models of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from possnet.dataset import Dataset, code_column
from possnet.em import FeatureCells
from possnet.graph import Dag
from possnet.inference import score_rows
from possnet.network import Network

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.aliases import Bools, Floats
    from possnet.classifier.feature_columns import FeatureColumn
    from possnet.em import ClassModel
    from possnet.variables import Variable


@dataclass(frozen=True, slots=True, eq=False)
class NetworkModel:
    """A network that has the class and some of the features, as a model of the class.

    ``places`` maps features by their numbers to variables.
    """

    network: Network
    target: str
    places: Mapping[int, Variable]

    def joint_logs(self, features: Sequence[FeatureCells]) -> Floats:
        """Log P(class | cells), (rows, classes)."""
        if not self.places:
            prior = self.network.table(self.target)
            return np.tile(np.log(np.maximum(prior / prior.sum(), 1e-300)), (len(features[0].codes), 1))
        data = to_dataset({variable: features[f] for f, variable in self.places.items()})
        return score_rows(self.network, self.target, data, by="probability")


def to_dataset(columns: Mapping[Variable, FeatureCells], weights: Floats | None = None) -> Dataset:
    """Coded cells as a data set.

    >>> from possnet.variables import Variable
    >>> data = to_dataset({Variable("x", ("0", "1")): FeatureCells.from_states(np.array([0, -1]), 2)})
    >>> data.row(0)["x"], bool(data.missing("x")[1])
    (frozenset({'0'}), True)
    """
    coded = [
        code_column(
            variable,
            cells.codes.astype(np.int64),
            np.packbits(cells.sets, axis=1, bitorder="little"),
            cells.sets.all(axis=1) & (np.arange(len(cells.sets)) >= cells.n_states),
        )
        for variable, cells in columns.items()
    ]
    rows = len(coded[0].codes)
    empty = Dataset.from_rows([coded[0].variable], [(None,)] * 1)
    data = empty[np.zeros(rows, dtype=np.int64)].with_columns(coded)
    return data if weights is None else data.with_weights(weights)


def candidate_column(variable: Variable, candidates: Bools) -> tuple[Variable, FeatureCells]:
    """Candidates of every row as coded cells of the class."""
    octets = np.packbits(candidates, axis=1)
    _, first, inverse = np.unique(octets, axis=0, return_index=True, return_inverse=True)
    sets = candidates[first]
    single = np.eye(len(variable), dtype=np.bool_)
    codes = np.where(sets.sum(axis=1) == 1, sets.argmax(axis=1), len(variable) + np.arange(len(sets)))
    return variable, FeatureCells(codes[inverse.reshape(-1)], np.concatenate([single, sets]))


def to_network(model: ClassModel, columns: Sequence[FeatureColumn], target: Variable) -> Network:
    """The network of a class model: degrees are probabilities divided by the largest in their context.

    Features that the structure leaves out stand by themselves, and say nothing.
    """
    variables = [column.variable() for column in columns]
    tables: dict[str, Floats] = {target.name: model.prior / model.prior.max()}
    parents: dict[str, tuple[str, ...]] = {target.name: ()}
    for f, variable in enumerate(variables):
        if f not in model.tree:
            parents[variable.name], tables[variable.name] = (), np.ones(len(variable))
            continue
        above, table = model.tree[f], model.tables[f]
        table = table / table.max(axis=-1, keepdims=True)
        parents[variable.name] = (target.name, *((variables[above].name,) if above >= 0 else ()))
        tables[variable.name] = table if above >= 0 else table[:, 0]
    return Network((target, *variables), Dag(parents), tables).with_transform("ratio")
