"""The README: the explorer first, then a person's problem, then the two commands; its pictures are there, light and dark."""

from __future__ import annotations

import re
import struct

import pytest

import possnet as pn
from tests.paths import ROOT

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def read_size(path: str) -> tuple[int, int]:
    """Width and height of a PNG, from its header."""
    head = (ROOT / path).read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def test_the_explorer_stands_first_then_the_problem_then_the_two_commands() -> None:
    order = [TEXT.index(part) for part in ("explorer.png", "Is it measles?", "make demo", "make test", "report.png")]
    assert order == sorted(order)
    assert TEXT.index("explorer.png") < 1000


@pytest.mark.parametrize("name", ["explorer", "report"])
def test_a_picture_is_there_for_light_and_for_dark_pages_and_of_one_size(name: str) -> None:
    pair = re.search(
        rf'srcset="(docs/figures/{name}-dark\.png)">\s*<img src="(docs/figures/{name}\.png)"[^>]* alt="[^"]+"', TEXT
    )
    assert pair is not None
    assert read_size(pair[1]) == read_size(pair[2])


def test_the_numbers_of_the_problem_are_those_of_the_network() -> None:
    engine = pn.Inference(pn.load_example("clinic"))
    answer = engine.query("measles", {"fever": {"mild", "high"}, "rash": "spots"})
    problem = TEXT[TEXT.index("Here measles is possible") : TEXT.index("## Two commands")]
    numbers = (answer["yes"], engine.query("measles")["yes"], answer.necessity({"no"}))
    assert re.findall(r"\.\d\d", problem) == [f"{number:.2f}"[1:] for number in numbers]


def test_every_file_that_is_linked_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert "://" in target or (ROOT / target).exists(), target
