"""Registries: names are kept in order, taken once, and unknown ones are answered with the known."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from possnet.errors import InputError
from possnet.registries import Registry


@dataclass(frozen=True)
class Tool:
    name: str
    label: str


def make_registry() -> Registry[Tool]:
    tools = Registry[Tool]("tool")
    for name in ("saw", "axe"):
        tools.register(Tool(name, name.upper()))
    return tools


def test_entries_keep_the_order_in_which_they_were_registered() -> None:
    tools = make_registry()
    assert (list(tools), len(tools), repr(tools)) == (["saw", "axe"], 2, "Registry(tool: saw, axe)")
    assert tools["axe"] is tools.require("axe", "shed")


def test_a_name_is_taken_once_and_free_again_when_unregistered() -> None:
    tools = make_registry()
    with pytest.raises(InputError, match="tool 'saw' is registered already"):
        tools.register(Tool("saw", "another"))
    tools.unregister("saw")
    assert tools.register(Tool("saw", "another")) is tools["saw"]


@pytest.mark.parametrize("name", ["sew", 3, None])
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(InputError, match="shed: tool .*; expected saw, axe"):
        make_registry().require(name, "shed")
