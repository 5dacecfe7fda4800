"""Calls that possnet refuses, and the sentence it refuses them with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import possnet as pn


def refused(pattern: str, call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """The sentence that a call is refused with, in which the pattern is found."""
    with pytest.raises(pn.InputError, match=pattern) as caught:
        call(*arguments, **options)
    return str(caught.value)
