"""Where data meet a model, or other data, names decide: the order of columns and states changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.dataset import align_rows
from tests import strategies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def shuffle_columns(data: pn.Dataset, rng: np.random.Generator) -> pn.Dataset:
    """The same rows, cell by cell, with columns and states in another order."""
    variables = [
        pn.Variable(v.name, tuple(v.states[k] for k in rng.permutation(len(v))))
        for v in (data.variables[k] for k in rng.permutation(len(data.variables)))
    ]
    return rebuild(data, variables)


def rebuild(data: pn.Dataset, variables: list[pn.Variable]) -> pn.Dataset:
    missing = {v.name: data.missing(v.name) for v in variables}
    rows = [tuple(None if missing[v.name][k] else data.row(k)[v.name] for v in variables) for k in range(len(data))]
    return pn.Dataset.from_rows(variables, rows, weights=data.weights)


def named_rows(data: pn.Dataset) -> list[dict[str, Any]]:
    return [
        {name: (cell, bool(data.missing(name)[k])) for name, cell in sorted(data.row(k).items())}
        for k in range(len(data))
    ]


class Stream:
    """Two batches whose columns stand in other orders than the stream says."""

    weighted = False

    def __init__(self, *batches: pn.Dataset) -> None:
        self.batches, self.variables = batches, batches[0].variables
        self.rows = sum(map(len, batches))

    def __iter__(self) -> Iterator[pn.Dataset]:
        return iter(self.batches)


def draw_rows(network: pn.Network, seed: int) -> pn.Dataset:
    """A few rows with sets and unknown cells."""
    data = pn.sample(network, 12, imprecision=0.6, rng=seed)
    rng = np.random.default_rng(seed)
    rows = [[None if rng.random() < 0.2 else cell for cell in data.row(k).values()] for k in range(len(data))]
    return pn.Dataset.from_rows(network.variables, rows, weights=rng.integers(0, 4, len(rows)))


@given(strategies.networks(), strategies.seeds)
def test_no_likelihood_completion_or_query_depends_on_an_order(network: pn.Network, seed: int) -> None:
    data = draw_rows(network, seed)
    shuffled = shuffle_columns(data, np.random.default_rng(seed))
    assert pn.log_likelihood(network, shuffled) == pn.log_likelihood(network, data)
    masses = pn.fit_random_sets(network.dag, data)
    expected = pn.random_set_log_likelihood(masses, data)
    assert pn.random_set_log_likelihood(masses, shuffled) == pytest.approx(expected, abs=1e-9)
    target = network.variables[0].name
    engine = pn.Inference(network)
    np.testing.assert_array_equal(engine.query_many(target, shuffled), engine.query_many(target, data))
    ours, theirs = pn.complete(network, data), pn.complete(network, shuffled)
    assert named_rows(theirs.narrowed(0.5)) == named_rows(ours.narrowed(0.5))
    assert theirs.impossible.tolist() == ours.impossible.tolist()


@given(strategies.networks(), strategies.seeds)
def test_a_column_that_lacks_states_is_read_as_if_it_had_them(network: pn.Network, seed: int) -> None:
    data = draw_rows(network, seed)
    small = []
    for variable in data.variables:
        cells = [data.row(k)[variable.name] for k in np.flatnonzero(~data.missing(variable.name)).tolist()]
        small.append(pn.Variable(variable.name, tuple(sorted(frozenset().union(*cells))) or variable.states[:1]))
    fewer = rebuild(data, small)
    assert fewer.with_domains(network.variables) == data
    assert pn.log_likelihood(network, fewer) == pn.log_likelihood(network, data)
    assert named_rows(pn.complete(network, fewer).resolved()) == named_rows(pn.complete(network, data).resolved())


@given(strategies.datasets(max_rows=12), strategies.seeds)
def test_rows_in_any_order_of_columns_and_states_are_put_together(data: pn.Dataset, seed: int) -> None:
    shuffled = shuffle_columns(data, np.random.default_rng(seed))
    both = pn.Dataset.concatenate([data, shuffled])
    assert [v.name for v in both.variables] == [v.name for v in data.variables]
    assert named_rows(both) == 2 * named_rows(data)
    dag = pn.Dag({v.name: () for v in data.variables})
    if data.weights is None:
        assert pn.count(dag, Stream(data, shuffled)) == pn.count(dag, both)


def test_the_larger_domain_holds_the_smaller_one() -> None:
    small = pn.Dataset.from_table({"fever": ["mild", None]})
    large = pn.Dataset.from_rows([pn.Variable("fever", ("none", "mild", "high"), ordered=True)], [("high",)])
    both = pn.Dataset.concatenate([small, large])
    assert both.variables == large.variables
    assert [sorted(both.row(k)["fever"]) for k in range(3)] == [["mild"], ["high", "mild", "none"], ["high"]]
    assert both.missing("fever").tolist() == [False, True, False]


def test_real_differences_between_data_sets_are_named() -> None:
    first, second = pn.Dataset.from_table({"a": ["x", "y"]}), pn.Dataset.from_table({"a": ["x", "z"]})
    with pytest.raises(pn.InputError, match="different variables: 'a' is z in data set 2 only"):
        pn.Dataset.concatenate([first, second])
    up, down = (
        pn.Dataset.from_rows([pn.Variable("a", states, ordered=True)], [("x",)]) for states in (("x", "y"), ("y", "x"))
    )
    with pytest.raises(pn.InputError, match="'a' is ordered y < x and x < y"):
        pn.Dataset.concatenate([up, down])
    with pytest.raises(pn.InputError, match="score: column 'a' is ordered y < x; expected x < y"):
        align_rows(down, up.variables, "score")


@pytest.mark.parametrize("streamed", [False, True])
def test_a_state_that_the_network_lacks_is_refused_by_row_and_column(streamed: bool) -> None:
    clinic = pn.load_example("clinic")
    data = pn.Dataset.from_table({"fever": ["mild", None, "hihg", "hihg"], "rash": ["spots", "spots", "spot", None]})
    verbs: dict[str, Callable[[], object]] = {
        "complete": lambda: pn.complete(clinic, data),
        "query_many": lambda: pn.Inference(clinic).query_many("flu", data),
    }
    if streamed:
        verbs = {"complete": lambda: list(pn.complete(clinic, Stream(data[:2], data[2:])))}
    for owner, verb in verbs.items():
        with pytest.raises(pn.InputError, match="did you mean 'high'") as refused:
            verb()
        lines = str(refused.value).splitlines()
        assert [line.split(":")[0] for line in lines] == [
            f"{owner}, row 3, column 'fever'", f"{owner}, row 3, column 'rash'"
        ]  # fmt: skip


def test_the_column_that_is_asked_for_is_not_looked_at() -> None:
    clinic = pn.load_example("clinic")
    data = pn.Dataset.from_table({"fever": ["???"], "rash": ["spots"]})
    expected = pn.Inference(clinic).query("fever", {"rash": "spots"}).degrees
    assert pn.Inference(clinic).query_many("fever", data)[0] == pytest.approx(expected)
    with pytest.raises(pn.InputError, match="column 'fevre', and the network has no such variable.*did you mean"):
        pn.Inference(clinic).query_many("rash", pn.Dataset.from_table({"fevre": ["mild"]}))


@given(st.lists(st.sampled_from(["x", "y", None]), min_size=1, max_size=70))
def test_a_state_that_no_cell_names_is_no_difference(cells: list[str | None]) -> None:
    wide, narrow = pn.Variable("a", ("z", "y", "x")), pn.Variable("a", ("x", "y"))
    data = pn.Dataset.from_rows([wide], [(cell,) for cell in cells])
    assert data.with_domains([narrow]) == pn.Dataset.from_rows([narrow], [(cell,) for cell in cells])
