"""A slice of the fuzzing of every reader: the committed inputs, and a few hundred fresh ones; ``make hostile`` has the rest."""

from __future__ import annotations

import warnings
from random import Random

import pytest

import possnet as pn
from tests.hostile import fuzzing
from tests.hostile.experiment_folders import EXPERIMENT
from tests.hostile.mutators import Mutator, mutate_json, mutate_rows, mutate_text
from tests.hostile.parquet_files import damage_files
from tests.hostile.readers import READERS, Reader
from tests.hostile.web_requests import HTTP

ALL = (*READERS, HTTP, EXPERIMENT)


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds of CPU on a machine that others use as well."""
    monkeypatch.setattr(fuzzing, "SLOW", 5.0)


@pytest.mark.parametrize("reader", ALL, ids=lambda reader: reader.name)
def test_seeds_and_the_corpus_are_read_or_refused(reader: Reader) -> None:
    accepted = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for content in (*reader.seeds(), *fuzzing.read_corpus(reader.name)):
            accepted += fuzzing.check_input(reader, content, thorough=True)[0]
    assert accepted


@pytest.mark.parametrize("reader", ALL, ids=lambda reader: reader.name)
def test_fresh_inputs_are_read_or_refused(reader: Reader) -> None:
    chunk = fuzzing.fuzz_reader(reader, seed=20_260_101, size=150 if reader.chunk < 5_000 else 400)
    assert chunk.failures == ()
    assert chunk.figures["accepted of a chunk, %"] > 0


def test_fresh_parquet_files_are_read_or_refused() -> None:
    assert damage_files(seed=20_260_101, count=60).failures == ()


def test_another_exception_a_slow_input_and_a_long_message_are_failures() -> None:
    class LongError(pn.InputError):
        def __str__(self) -> str:  # the messages of possnet's own errors are cut
            return "x" * 30_000

    def check(content: bytes, thorough: bool) -> bool:
        del thorough
        if b"long" in content:
            raise LongError
        if b"type" in content:
            raise TypeError("not ours")
        raise pn.InputError("refused")

    for word, failure in (
        (b"long", "AssertionError: a message of 30000"),
        (b"type", "TypeError: not ours"),
        (b"fine", ""),
    ):
        reader = Reader("none", "nothing", [word].copy, (), check, lambda content, *_: content)
        failures = fuzzing.fuzz_reader(reader, 0, size=3).failures
        assert all(line.startswith(failure) for line in failures)
        assert len(failures) == (3 if failure else 0)


def test_an_endless_input_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "_HANG", 0.2)

    def check(content: bytes, thorough: bool) -> bool:
        while content and thorough is not None:
            pass
        return True

    reader = Reader("none", "nothing", lambda: [b"x"], (), check, lambda content, *_: content)
    assert fuzzing.fuzz_reader(reader, 0, size=1).failures[0].startswith("Hang")


@pytest.mark.parametrize("mutate", [mutate_text, mutate_json, mutate_rows])
def test_mutators_change_inputs_and_repeat_themselves(mutate: Mutator) -> None:
    content, words = b'{"rows": [1, 2], "name": "a,b"}\nx,y\n', (b"name", b"7")

    def draw() -> list[bytes]:
        rng = Random(3)  # noqa: S311
        return [mutate(content, [content, b"other"], words, rng) for _ in range(200)]

    drawn = draw()
    assert draw() == drawn
    assert len(set(drawn)) > 120
