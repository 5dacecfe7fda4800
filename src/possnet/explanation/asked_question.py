"""A question with its evidence, checked once, and its answers under many variants of the evidence in one batch of rows.

A *finding* is what the evidence says of one variable. A variant replaces or drops findings; dropped, the variable is
unknown. All variants are rows of evidence of `possnet.Inference.query_many`, which computes equal pieces once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from possnet.dataset import CodedColumn, Dataset
from possnet.errors import ImpossibleEvidence, InputError, among
from possnet.inference import Inference, describe_evidence, read_evidence
from possnet.network import Network

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.aliases import Floats, Ints
    from possnet.inference import Evidence
    from possnet.variables import Variable


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A network and its engine, the variable that is asked for, the evidence as given and as degrees, and Π(target | e).

    The answer is conditioned even without evidence, so that it peaks at 1 in a subnormal network, too.
    """

    engine: Inference
    target: Variable
    evidence: dict[str, object]
    degrees: dict[str, Floats]
    answer: Floats

    @property
    def network(self) -> Network:
        """The network that is asked."""
        return self.engine.network

    @property
    def findings(self) -> tuple[str, ...]:
        """Names of the observed variables."""
        return tuple(self.degrees)

    def describe_finding(self, name: str) -> str:
        """A finding in words: ``fever=mild|high``."""
        return describe_evidence({name: self.evidence[name]})  # type: ignore[dict-item]

    def without(self, dropped: Sequence[str]) -> dict[str, object]:
        """The evidence without some findings."""
        return {name: seen for name, seen in self.evidence.items() if name not in dropped}

    def answer_rows(self, cells: Mapping[str, Sequence[Floats]], codes: Mapping[str, Ints], n_rows: int) -> Floats:
        """Degrees of the target (rows, states) given rows of evidence; NaN where that is impossible.

        ``cells`` has the degrees that a finding may have; ``codes`` says for every row which of them it has, and -1 where
        it is dropped.
        """
        columns = [
            _code_column(self.network.variable(name), cells[name], codes[name]) for name in codes if len(cells[name])
        ]
        if not columns:
            (row,) = self.engine.query_many(self.target.name, _no_evidence(self.target, 1))
            return np.tile(row, (n_rows, 1))
        names = [column.variable for column in columns]
        words = {v.name: np.zeros((len(v), -(-n_rows // 64)), dtype=np.uint64) for v in names}
        rows = Dataset.unchecked(names, words, n_rows).with_columns(columns)
        return self.engine.query_many(self.target.name, rows)

    def answer_subsets(self, kept: Ints) -> Floats:
        """Degrees of the target (rows, states) given those findings of every row (rows, findings) that are kept."""
        cells = {name: [degrees] for name, degrees in self.degrees.items()}
        codes = {name: kept[:, k].astype(np.int64) - 1 for k, name in enumerate(self.findings)}
        return self.answer_rows(cells, codes, len(kept))


def ask_question(network: Network, target: str, evidence: Evidence | None, owner: str) -> AskedQuestion:
    """The question, checked: the target is a variable that is not observed, and the evidence is possible."""
    given: object = network
    if not isinstance(given, Network):
        raise InputError(f"{owner}: {network!r} is not a network; expected one")
    variable = find_variable(network, target, owner)
    degrees = read_evidence(evidence, network.variables)
    known = {network.variables[number].name: vector for number, vector in degrees.items()}
    if variable.name in known:
        raise InputError(
            f"{owner}: the target {target!r} is in the evidence; expected a variable that is not observed. Leave it out of "
            "the evidence"
        )
    engine = Inference(network)
    try:
        answer = engine.query(target, evidence).degrees
    except ImpossibleEvidence:
        raise ImpossibleEvidence(
            f"{owner}: the evidence ({describe_evidence(evidence)}) has possibility 0 in this network; nothing can be "
            "concluded from it. possnet.conflicts(network, evidence) says which findings contradict each other"
        ) from None
    if answer.max() < 1.0:
        answer = network.conjunction.normalise(answer)
    return AskedQuestion(engine, variable, dict(evidence or {}), known, answer)


def find_variable(network: Network, name: str, owner: str) -> Variable:
    """The variable of a name; an `InputError` in the name of the owner if there is none."""
    names = [variable.name for variable in network.variables]
    given: object = name
    if not isinstance(given, str) or name not in names:
        raise InputError(f"{owner}: no variable {name!r}{among(name, names)}")
    return network.variable(name)


def choose_state(asked: AskedQuestion, state: str | None, owner: str) -> int:
    """The number of the state that is explained: the one that is given, or the first of the most possible ones."""
    if state is None:
        return int(asked.answer.argmax())
    if state not in asked.target.states:
        raise InputError(f"{owner}: {asked.target.name!r} has no state {state!r}{among(state, asked.target.states)}")
    return asked.target.index(state)


def necessity_of(answers: Floats, state: int) -> Floats:
    """N of one state in rows that peak at 1: 1 minus the largest degree of another state.

    >>> necessity_of(np.array([[1.0, 0.25], [0.5, 1.0]]), 0)
    array([0.75, 0.  ])
    """
    others = np.delete(answers, state, axis=1)
    return 1.0 - (others.max(axis=1) if others.shape[1] else np.zeros(len(answers)))


def _code_column(variable: Variable, cells: Sequence[Floats], codes: Ints) -> CodedColumn:
    """A column of cells with degrees, in which -1 is unknown; cells that are sets come before graded ones."""
    degrees = np.stack([*cells])
    graded = ((degrees > 0.0) & (degrees < 1.0)).any(axis=1)
    order = np.argsort(graded, kind="stable")
    number = np.empty(len(cells) + 1, dtype=np.int64)
    number[order], number[-1] = np.arange(len(cells)), len(cells)  # code -1 is the last one
    sets = np.vstack([degrees[order] > 0.0, np.ones(len(variable), dtype=np.bool_)])
    octets = np.packbits(sets, axis=1, bitorder="little")
    numbers = number[codes].astype(np.uint16)
    grades = degrees[order][int((~graded).sum()) :] if graded.any() else None
    return CodedColumn(variable, numbers, octets, len(cells), grades)


def _no_evidence(target: Variable, n_rows: int) -> Dataset:
    return Dataset.from_rows([target], [(None,)] * n_rows)
