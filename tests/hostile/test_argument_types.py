"""Wrong arguments at every public door: a slice of the section ``types``, and what the section rests on."""

from __future__ import annotations

import inspect
import pickle

import pytest

import possnet as pn
from possnet.doors import read_signature
from possnet.errors import LONGEST, describe_value, escape_controls
from tests.hostile.argument_types import list_tries, run_tries
from tests.hostile.public_calls import UNTESTED, list_callables, list_calls, list_lacking, list_public
from tests.hostile.wrong_values import WRONG_VALUES

_STEP = 97  # a prime, so that every callable meets other wrong values than its neighbours do
_SLOW = ("plots.", "write_report", "write_check", "evaluate", "fit_auto", "detect_process", "classifier.")


def test_every_public_callable_has_good_arguments() -> None:
    assert list_lacking() == []


def test_names_left_out_are_public_names() -> None:
    assert set(UNTESTED) <= {name for name, _ in list_public()}


def test_every_annotation_of_a_public_callable_can_be_checked() -> None:
    for name, value in list_callables():
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        try:
            inspect.signature(function)
        except ValueError:
            continue
        read_signature(function)
        assert name


def test_a_slice_of_wrong_arguments_ends_in_values_or_errors_of_possnet() -> None:
    tries = [one for one in list_tries()[::_STEP] if not one[0].name.startswith(_SLOW)]
    assert len(tries) > 800
    chunk = run_tries(tries)
    assert chunk.failures == ()


@pytest.mark.parametrize(
    "wrong", ["None", "10**5000", "repr lies", "a million characters", "recursive list", "iter lies"]
)
def test_values_at_the_door_of_the_first_verbs(wrong: str) -> None:
    doors = {("Dag", "parents"), ("Inference", "network"), ("read_data", "path"), ("fit", "dag"), ("fit", "data")}
    tries = [(c, p, wrong) for c in list_calls() for p in c.parameters if (c.name, p) in doors]
    assert len(tries) == len(doors)
    assert run_tries(tries).failures == ()


def test_parameters_that_functions_check_themselves_are_no_weaker_doors() -> None:
    own = set()
    for name, value in list_callables():
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        inner = inspect.unwrap(getattr(function, "__init__", function) if inspect.isclass(function) else function)
        own |= {(name, parameter) for parameter in getattr(inner, "__own_checks__", ())}
    assert len(own) > 30
    odd = ("10**5000", "vast numbers", "nested list", "0-d array", "4-d array", "text without hash", "iter lies")
    tries = [(c, p, wrong) for c in list_calls() for p in c.parameters if (c.name, p) in own for wrong in odd]
    assert run_tries(tries).failures == ()


def test_a_value_is_described_below_a_hundred_characters_whatever_it_is() -> None:
    for make in WRONG_VALUES.values():
        shown = describe_value(make())
        assert len(shown) <= 80
        assert escape_controls(shown) == shown


def test_a_message_is_short_and_keeps_its_remedy() -> None:
    error = pn.InputError(
        f"network {'n' * 10**6!r}: table {list(range(10**5))} of \x1b[31m'x'\n; expected 1. Normalise it"
    )
    assert len(str(error)) <= LONGEST
    assert str(error).startswith("network 'nnn")
    assert str(error).endswith("; expected 1. Normalise it")
    assert "\x1b" not in str(error)
    assert "\n" not in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - our own


def test_names_and_states_of_any_length_give_short_messages() -> None:
    long = pn.Variable("v" * 10**6, tuple("s" * 10**5 + str(k) for k in range(30)))
    with pytest.raises(pn.InputError) as refusal:
        pn.Possibility(long, [2] * 30)
    assert len(str(refusal.value)) < 500
    with pytest.raises(pn.InputError) as refusal:
        long.index("t" * 10**6)
    assert len(str(refusal.value)) < 500
    assert str(refusal.value).startswith("'tttt")
