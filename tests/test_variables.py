"""Laws of variables."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, strategies as st

import possnet as pn
from tests.strategies import variables


@given(variables(), st.data())
def test_a_mask_and_its_set_of_states_are_the_same_thing(variable: pn.Variable, data: st.DataObject) -> None:
    chosen = frozenset(data.draw(st.sets(st.sampled_from(variable.states))))
    assert variable.states_in(variable.mask(chosen)) == chosen
    assert variable.mask(chosen).bit_count() == len(chosen)


def test_a_thousand_states_are_no_trouble() -> None:
    big = pn.Variable("big", tuple(f"s{k}" for k in range(1000)))
    assert big.states_in(big.mask({"s0", "s999"})) == {"s0", "s999"}
    assert big.mask(big.states) == 2**1000 - 1
    assert big.index("s517") == 517


def test_a_variable_is_a_value() -> None:
    first, second = pn.Variable("a", ("x", "y")), pn.Variable("a", ["x", "y"])  # type: ignore[arg-type]
    assert first == second
    assert hash(first) == hash(second)
    assert first != pn.Variable("a", ("x", "y"), ordered=True)
    assert pickle.loads(pickle.dumps(first)) == first  # noqa: S301
    with pytest.raises(AttributeError):
        first.name = "b"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "states", "message"),
    [
        ("", ("x",), "variable name is empty; expected at least one character"),
        (7, ("x",), "variable name 7 is of type int; expected text"),
        ("a", "xy", "variable 'a': states are one text 'xy'; expected several, for example ('xy',)"),
        ("a", (), "variable 'a': no states; expected at least one"),
        ("a", ("x", "y", "x"), "variable 'a': state 'x' appears twice; expected distinct states"),
        ("a", ("x", 3), "variable 'a': state 3 is of type int; expected text"),
        (
            "a",
            ("x", "\ud800"),
            "variable 'a': state '\\ud800' cannot be written as UTF-8; remove its lone surrogates",
        ),
    ],
)
def test_a_bad_variable_is_refused_with_a_sentence(name: str, states: tuple[str, ...], message: str) -> None:
    with pytest.raises(pn.InputError) as caught:
        pn.Variable(name, states)
    assert str(caught.value) == message


def test_an_unknown_state_names_the_nearest_one() -> None:
    fever = pn.Variable("fever", ("none", "mild", "high"))
    with pytest.raises(pn.InputError, match="'hihg' is not a state of 'fever' .*did you mean 'high'"):
        fever.mask({"hihg"})
    with pytest.raises(pn.InputError, match="is not a state"):
        fever.index(["none"])  # type: ignore[arg-type]
    with pytest.raises(pn.InputError, match="mask 8 is outside"):
        fever.states_in(8)
