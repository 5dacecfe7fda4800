"""A slice of the section ``concurrency``."""

from __future__ import annotations

from tests.hostile.concurrency import MEETINGS, ask_together, meet


def test_threads_that_share_an_engine_get_the_answers_of_one_thread() -> None:
    seed = [meeting for meeting, _ in MEETINGS].index(ask_together)
    assert meet(seed).failures == ()
