"""Priors of counted tables: imagined rows by definition, back-off context by context, counts and streams alike."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.parameters.priors import order_parents
from tests import oracles, strategies

_DAG = pn.Dag({"a": (), "b": (), "c": ("a", "b")})
_SCOPE = (pn.Variable("a", ("0", "1")), pn.Variable("b", ("0", "1")), pn.Variable("c", ("x", "y")))


def smooth_by_definition(
    dag: pn.Dag, data: pn.Dataset, name: str, pseudo: Fraction
) -> dict[tuple[str, ...], tuple[Fraction, list[Fraction]] | None]:
    """Context -> rows and counts with marginal rows, of itself or of the next smaller context that has some."""
    counts = oracles.counts(dag, data, name)
    states = data.variable(name).states

    def add_up(kept: dict[int, str]) -> tuple[int, list[int]]:
        agreeing = [pair for context, pair in counts.items() if all(context[p] == x for p, x in kept.items())]
        return sum(rows for rows, _ in agreeing), [sum(n[x] for _, n in agreeing) for x in states]

    def tells(parent: int) -> float:
        table = {x: add_up({parent: x})[1] for x in data.variable(dag.parents(name)[parent]).states}
        total = sum(map(sum, table.values()))
        columns = [sum(column) for column in zip(*table.values(), strict=True)]
        return round(
            sum(
                n * log(n * total / sum(row) / m) / total
                for row in table.values()
                for n, m in zip(row, columns, strict=True)
                if n
            ),
            9,
        )

    order = sorted(range(len(dag.parents(name))), key=lambda parent: -tells(parent))
    every_row, every_count = add_up({})
    smoothed: dict[tuple[str, ...], tuple[Fraction, list[Fraction]] | None] = {}
    for context in oracles.contexts(dag, data, name):
        kept = list(order)
        while kept and not add_up({p: context[p] for p in kept})[0]:
            kept.pop()
        rows, numbers = add_up({p: context[p] for p in kept})
        added = [pseudo * Fraction(n, every_row) for n in every_count] if every_row else []
        smoothed[context] = (
            (rows + pseudo, [n + more for n, more in zip(numbers, added, strict=True)]) if rows else None
        )
    return smoothed


@given(strategies.counted(), st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(2)]))
def test_marginal_rows_and_smaller_contexts_are_those_of_the_definition(
    given_data: tuple[pn.Dag, pn.Dataset], pseudo: Fraction
) -> None:
    dag, data = given_data
    net = pn.fit(dag, data, prior="marginal", pseudo=float(pseudo))
    raw = pn.fit(dag, data, method="histogram", prior="marginal", pseudo=float(pseudo))
    assert net.support is not None
    assert net.backed_off is not None
    for name in dag.nodes:
        states, smoothed = len(data.variable(name)), smooth_by_definition(dag, data, name, pseudo)
        for place, (context, by_hand) in enumerate(smoothed.items()):
            degrees = net.table(name).reshape(-1, states)[place]
            if by_hand is None:
                assert degrees.tolist() == [1.0] * states, context
                continue
            rows, numbers = by_hand
            assert degrees == pytest.approx([float(n / max(numbers)) for n in numbers])
            assert raw.table(name).reshape(-1, states)[place] == pytest.approx([float(n / rows) for n in numbers])
            seen = net.support[name].reshape(-1)[place] > 0
            assert net.backed_off[name].reshape(-1)[place] == (not seen and min(degrees) < 1.0)


def test_a_small_table_by_hand() -> None:
    # c given (a, b): (0, 0) has x 3, y 1; (0, 1) has y 2; (1, .) has nothing. The marginal of c is x 3/6, y 3/6.
    rows = [("0", "0", "x")] * 3 + [("0", "0", "y")] + [("0", "1", "y")] * 2
    data = pn.Dataset.from_rows(_SCOPE, rows)
    net = pn.fit(_DAG, data, prior="marginal", pseudo=2)
    assert net.table("c")[0, 0] == pytest.approx([1.0, 2 / 4])  # x 3 + 1, y 1 + 1
    assert net.table("c")[0, 1] == pytest.approx([1 / 3, 1.0])  # x 0 + 1, y 2 + 1
    assert net.table("c")[1] == pytest.approx(net.table("c")[0])  # a tells nothing here: as all rows with that b
    assert net.table("a") == pytest.approx([1.0, 0.0])  # a state that nobody saw is not imagined either
    half = pn.Dataset.from_rows(_SCOPE, [*rows, ("1", "1", "y")])
    backed = pn.fit(_DAG, half, prior="marginal", pseudo=0)
    assert backed.backed_off is not None
    assert backed.backed_off["c"].tolist() == [[False, False], [True, False]]
    # b tells more of c (0: x 3, y 1; 1: y 3) than a (0: x 3, y 3; 1: y 1), so (1, 0) is as all rows with b = 0
    assert backed.table("c")[1, 0] == pytest.approx([1.0, 1 / 3])
    turned = pn.fit(pn.Dag({"a": (), "b": (), "c": ("b", "a")}), half, prior="marginal", pseudo=0)
    assert turned.table("c")[0, 1] == pytest.approx([1.0, 1 / 3])  # whatever the order of the parents


def test_a_number_alone_is_of_marginal_rows_and_a_kind_alone_is_of_one_row() -> None:
    data = pn.sample(pn.load_example("clinic"), 40, rng=1)
    dag = pn.load_example("clinic").dag
    asked = pn.fit(dag, data, prior="marginal", pseudo=1)
    assert pn.fit(dag, data, pseudo=1) == asked == pn.fit(dag, data, prior="marginal")
    assert pn.fit(dag, data, prior="none") == pn.fit(dag, data) == pn.fit(dag, data, prior=None, pseudo=0)
    assert pn.fit(dag, data, prior="ignorance") != asked


@pytest.mark.parametrize("method", ["likelihood", "capped", "histogram", "transform"])
@pytest.mark.parametrize("prior", ["marginal", "ignorance"])
def test_counts_and_streams_take_a_prior_as_rows_do(method: str, prior: str) -> None:
    clinic = pn.load_example("clinic")
    data = pn.sample(clinic, 200, imprecision=0.5, rng=1)
    how = {"method": method, "prior": prior, "pseudo": 1.5}
    learned = pn.fit(clinic.dag, data, **how)  # type: ignore[arg-type]
    stream = pn.sample_batches(clinic, 200, imprecision=0.5, rng=1, batch=200)
    assert pn.fit(clinic.dag, stream, **how) == learned  # type: ignore[arg-type]
    counts = pn.count(clinic.dag, data[:120], focal=True) + pn.count(clinic.dag, data[120:], focal=True)
    assert pn.fit(clinic.dag, counts, **how) == learned  # type: ignore[arg-type]


def test_marginal_rows_of_shared_rows_are_shared_too() -> None:
    data = pn.Dataset.from_rows(_SCOPE[:1], [("0",), ("0",), (None,)])  # shares 5/2 and 1/2
    net = pn.fit(pn.Dag({"a": ()}), data, method="transform", transform="ratio", prior="marginal", pseudo=3)
    assert net.table("a") == pytest.approx([1.0, 1 / 5])


def test_without_rows_a_prior_says_nothing() -> None:
    net = pn.fit(_DAG, pn.Dataset.from_rows(_SCOPE, []), prior="marginal")
    assert (net.table("c") == 1).all()
    assert net.backed_off is not None
    assert not net.backed_off["c"].any()
    assert pn.load_example("asia").backed_off is None


def test_what_was_backed_off_is_known_after_a_file_too(tmp_path: pytest.TempPathFactory) -> None:
    data = pn.Dataset.from_rows(_SCOPE, [("0", "0", "x"), ("0", "1", "x"), ("1", "1", "y")])
    net = pn.fit(_DAG, data, prior="marginal")
    pn.write_network(net, f"{tmp_path}/net.json")
    flags = pn.read_network(f"{tmp_path}/net.json").backed_off
    assert flags is not None
    assert flags["c"].tolist() == [[False, False], [True, False]]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"prior": "margnal"}, "fit: prior 'margnal'; expected marginal, ignorance, none; did you mean 'marginal'"),
        ({"prior": "none", "pseudo": 1}, "fit: pseudo 1 with prior 'none'; expected one of them alone"),
        ({"prior": "marginal", "pseudo": -1}, "fit: pseudo -1; expected a number >= 0"),
    ],
)
def test_bad_priors_are_refused(how: dict[str, object], message: str) -> None:
    with pytest.raises(pn.InputError, match=message):
        pn.fit(_DAG, pn.Dataset.from_rows(_SCOPE, []), **how)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [1e-6, 0.01, 1.0, 1e6])
def test_the_order_of_parents_does_not_depend_on_the_number_of_rows(scale: float) -> None:
    """The second parent decides the child; counts may be parts of rows."""
    telling = np.array([[[3.0, 1.0], [1.0, 3.0]], [[3.0, 1.0], [0.0, 4.0]]])
    assert order_parents(scale * telling) == [1, 0]
    assert order_parents(scale * telling.swapaxes(0, 1)) == [0, 1]
