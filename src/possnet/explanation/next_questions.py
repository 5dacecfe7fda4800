"""What next: the unknown variables, ranked by what asking them would settle.

Asking q leads to one of its answers, and each answer to Π(target | e, q = answer). How much is still open then is the
non-specificity U (Higashi and Klir 1983), 0 when one state is left. Before an answer is known, the U of all answers are
averaged with the pignistic probabilities of Π(q | e) (the inverse of the symmetric transformation; Dubois, Prade and
Smets 2008), or the worst possible answer counts. What is left of U(target | e) is the reduction that the question
promises: the possibilistic counterpart of the mutual information that ranks tests in Bayesian networks.

All joints Π(target, q, e) come from one calibration for each state of the target (`possnet.Inference.pair_marginals`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np

from possnet.doors import check_arguments
from possnet.drawing import text_table
from possnet.errors import InputError, require_known, require_number
from possnet.explanation.asked_question import ask_question, find_variable
from possnet.possibility import PRODUCT, Possibility
from possnet.transforms import to_probability

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from possnet.aliases import Floats
    from possnet.explanation.asked_question import AskedQuestion
    from possnet.inference import Evidence
    from possnet.network import Network

Weighing: TypeAlias = Literal["pignistic", "worst"]
_NEGLIGIBLE = 1e-9  # bits


@dataclass(frozen=True, slots=True)
class PossibleAnswer:
    """One answer to a question: how possible it is now, and what the target would then be.

    >>> import possnet as pn
    >>> best = pn.next_questions(pn.load_example("clinic"), "measles", {"fever": "high"})[0]
    >>> best.name, best.answers["widespread"].target
    ('rash', Possibility(measles: yes 1, no 0.213333))
    """

    possibility: float
    weight: float
    target: Possibility
    nonspecificity: float


@dataclass(frozen=True, slots=True)
class NextQuestion:
    """An unknown variable, or a pair of them, and what asking would settle.

    Attributes
    ----------
    names
        The variable, or both.
    reduction
        Expected (or, by ``worst``, least) reduction of the non-specificity of the target, in bits.
    cost
        What asking costs; questions are ranked by reduction / cost.
    answers
        State -> answer, for those that are possible; of a pair the key is a tuple of states.

    Examples
    --------
    >>> import possnet as pn
    >>> question = pn.next_questions(pn.load_example("clinic"), "measles", {"fever": "high"})[0]
    >>> question.name, list(question.answers), question.cost
    ('rash', ['none', 'spots', 'widespread'], 1.0)
    """

    names: tuple[str, ...]
    reduction: float
    cost: float
    answers: Mapping[Any, PossibleAnswer]

    @property
    def name(self) -> str:
        """The variable, or both with a plus between them."""
        return " + ".join(self.names)

    @property
    def worth(self) -> float:
        """Reduction for each unit of cost; a question that settles nothing is the worse the more it costs."""
        return self.reduction / self.cost if self.reduction > 0.0 else self.reduction * self.cost

    def to_dict(self) -> dict[str, Any]:
        """The question and its answers, for machines: what a page shows while the pointer rests on a variable.

        >>> import possnet as pn
        >>> question = pn.next_questions(pn.load_example("clinic"), "measles", {"fever": "high"})[0]
        >>> question.to_dict()["answers"][0]["answer"]
        'none'
        """
        return {
            "names": list(self.names),
            "reduction": self.reduction,
            "cost": self.cost,
            "answers": [
                {
                    "answer": key,
                    "possibility": own.possibility,
                    "weight": own.weight,
                    "target": own.target.degrees.tolist(),
                    "nonspecificity": own.nonspecificity,
                }
                for key, own in self.answers.items()
            ],
        }


@dataclass(frozen=True, slots=True)
class NextQuestions(Sequence[NextQuestion]):
    """Questions that could be asked next, best first; ``now`` is Π(target | e), ``pair`` the best pair if asked for.

    >>> import possnet as pn
    >>> questions = pn.next_questions(pn.load_example("clinic"), "measles", {"fever": "high"})
    >>> [(question.name, round(question.reduction, 4)) for question in questions[:3]]
    [('rash', 0.0511), ('vaccinated', 0.0203), ('cough', 0.0159)]
    """

    target: str
    now: Possibility
    questions: tuple[NextQuestion, ...]
    pair: NextQuestion | None = None

    def __len__(self) -> int:
        return len(self.questions)

    @overload
    def __getitem__(self, rank: int) -> NextQuestion: ...
    @overload
    def __getitem__(self, rank: slice) -> tuple[NextQuestion, ...]: ...
    def __getitem__(self, rank: int | slice) -> NextQuestion | tuple[NextQuestion, ...]:
        return self.questions[rank]

    def to_dict(self) -> dict[str, Any]:
        """All questions, for machines.

        >>> import possnet as pn
        >>> pn.next_questions(pn.load_example("clinic"), "measles").to_dict()["target"]
        'measles'
        """
        return {
            "target": self.target,
            "now": self.now.degrees.tolist(),
            "nonspecificity": self.now.nonspecificity(),
            "questions": [question.to_dict() for question in self.questions],
            "pair": None if self.pair is None else self.pair.to_dict(),
        }

    def __repr__(self) -> str:
        return f"NextQuestions({self.target}: {len(self)} questions, first {', '.join(q.name for q in self[:3])})"

    def __str__(self) -> str:
        lines = [f"{self.now!r}: {self.now.nonspecificity():.4f} bits are open"]
        rows = [("ask", "settles", "cost", "if the answer is")]
        for question in (*self.questions[:10], *([] if self.pair is None else [self.pair])):
            after = [
                f"{'/'.join(key) if isinstance(key, tuple) else key}: {_describe_core(own.target)}"
                for key, own in list(question.answers.items())[:4]
            ]
            rows.append((question.name, f"{question.reduction:.4f}", f"{question.cost:g}", "; ".join(after)))
        return "\n".join([*lines, *text_table(rows)])


def _describe_core(target: Possibility) -> str:
    """The most possible states, and how far they are certain."""
    core = [state for state in target.variables[0].states if target[state] == 1.0]
    certain = target.necessity(core)
    return f"{'|'.join(core)}{f' ({certain:.2f})' if certain > 0 else ''}"


@check_arguments
def next_questions(
    network: Network,
    target: str,
    evidence: Evidence | None = None,
    *,
    weights: Weighing = "pignistic",
    costs: Mapping[str, float] | None = None,
    among: Iterable[str] | None = None,
    pairs: bool = False,
) -> NextQuestions:
    """The unknown variables, ranked by how much of the target's non-specificity asking them would settle.

    Equation
    --------
    U(Π(x | e)) - ∑_q w(q) U(Π(x | e, q)), w the pignistic probabilities of Π(q | e)

    Parameters
    ----------
    weights
        ``pignistic``: the mean over the answers, with the pignistic probabilities of their possibilities; ``worst``: the
        answer that leaves most open.
    costs
        Name -> cost of asking, above 0; 1 where none is given. Questions are ranked by reduction / cost.
    among
        Which variables may be asked; by default all that are unknown.
    pairs
        Whether to look for the best pair of questions too, of all pairs.

    Examples
    --------
    >>> import possnet as pn
    >>> best = next_questions(pn.load_example("clinic"), "measles", {"fever": "high"}, costs={"rash": 10})[0]
    >>> best.name, round(best.reduction, 4)
    ('vaccinated', 0.0203)
    """
    asked = ask_question(network, target, evidence, "next_questions")
    require_known(weights, ("pignistic", "worst"), "next_questions: weights")
    prices = _read_costs(network, costs)
    names = _choose_names(asked, among)
    now = Possibility.unchecked((asked.target,), asked.answer)
    joints = asked.engine.pair_marginals(target, evidence)
    questions = [_weigh_question(asked, (name,), joints[name], weights, prices) for name in names]
    questions.sort(key=lambda question: -question.worth)
    pair = _find_best_pair(asked, names, joints, weights, prices) if pairs and len(names) > 1 else None
    return NextQuestions(target, now, tuple(questions), pair)


def _read_costs(network: Network, costs: Mapping[str, float] | None) -> dict[str, float]:
    prices = {}
    for name, cost in (costs or {}).items():
        find_variable(network, name, "next_questions: costs")
        prices[name] = require_number(cost, f"next_questions: cost of {name!r}", "a number above 0", 1e-12)
    return prices


def _choose_names(asked: AskedQuestion, among: Iterable[str] | None) -> list[str]:
    known = {asked.target.name, *asked.findings}
    if among is None:
        return [v.name for v in asked.network.variables if v.name not in known]
    names = [find_variable(asked.network, name, "next_questions: among").name for name in among]
    observed = [name for name in names if name in known]
    if observed:
        raise InputError(
            f"next_questions: among has {observed[0]!r}, which is the target or observed; expected unknown variables"
        )
    return names


def _weigh_question(
    asked: AskedQuestion, names: tuple[str, ...], joint: Floats, weights: Weighing, prices: Mapping[str, float]
) -> NextQuestion:
    """A question from Π(target, answers, e), the answers to several variables along one axis."""
    possible = joint.max(axis=0)
    kept = np.flatnonzero(possible > 0.0)
    after = _condition_columns(joint[:, kept], asked.network.conjunction.name == PRODUCT.name)
    open_bits = _nonspecificities(after)
    degrees = _condition_columns(possible[:, np.newaxis], asked.network.conjunction.name == PRODUCT.name)[:, 0]
    shares = np.zeros(len(degrees))
    shares[kept] = to_probability(degrees)[kept]
    left = float(shares[kept] @ open_bits) if weights == "pignistic" else float(open_bits.max())
    reduction = float(_nonspecificities(asked.answer[:, np.newaxis])[0]) - left
    variables = [asked.network.variable(name) for name in names]
    answers: dict[Any, PossibleAnswer] = {}
    for column, place in enumerate(kept.tolist()):
        inside = np.unravel_index(place, [len(v) for v in variables])
        key = tuple(v.states[k] for v, k in zip(variables, inside, strict=True))
        revised = Possibility.unchecked((asked.target,), np.ascontiguousarray(after[:, column]))
        own = PossibleAnswer(float(degrees[place]), float(shares[place]), revised, float(open_bits[column]))
        answers[key if len(names) > 1 else key[0]] = own
    cost = sum(prices.get(name, 1.0) for name in names)
    return NextQuestion(names, reduction if abs(reduction) > _NEGLIGIBLE else 0.0, cost, answers)


def _condition_columns(table: Floats, divides: bool) -> Floats:  # noqa: FBT001
    """Every column conditioned on itself by the conjunction: it peaks at 1."""
    tops = table.max(axis=0)
    if not divides:
        return np.where(table == tops, 1.0, table)
    degrees: Floats = table / tops
    degrees[degrees >= 1.0 - 1e-12] = 1.0
    return degrees


def _nonspecificities(table: Floats) -> Floats:
    """U of every column, which peaks at 1.

    >>> _nonspecificities(np.array([[1.0, 1.0], [0.6, 1.0], [0.1, 0.0]])).round(6)
    array([0.658496, 1.      ])
    """
    ascending = np.sort(table, axis=0)
    sizes = np.log2(np.arange(len(table), 0, -1))
    result: Floats = sizes @ np.diff(ascending, axis=0, prepend=0.0)
    return result


def _find_best_pair(
    asked: AskedQuestion, names: list[str], joints: Mapping[str, Floats], weights: Weighing, prices: Mapping[str, float]
) -> NextQuestion:
    """The pair of variables worth most, of all pairs: one batch of calibrations for each answer to the first of them."""
    divides = asked.network.conjunction.name == PRODUCT.name
    best: NextQuestion | None = None
    for place, first in enumerate(names[:-1]):
        variable = asked.network.variable(first)
        scale = joints[first].max(axis=0)
        layers = []  # of Π(target, second, e, first = state) for every second
        for state, degree in zip(variable.states, scale.tolist(), strict=True):
            if degree <= 0.0:
                layers.append({name: np.zeros_like(joints[name]) for name in names[place + 1 :]})
                continue
            evidence: Any = {**asked.evidence, first: {state: 1.0}}
            tables = asked.engine.pair_marginals(asked.target.name, evidence)
            layers.append({name: tables[name] * (degree if divides else 1.0) for name in names[place + 1 :]})
        for second in names[place + 1 :]:
            joint = np.stack([layer[second] for layer in layers], axis=1).reshape(len(asked.target), -1)
            question = _weigh_question(asked, (first, second), joint, weights, prices)
            if best is None or question.worth > best.worth + _NEGLIGIBLE:
                best = question
    assert best is not None  # noqa: S101
    return best
