"""The words of the code: functions are verb and object, and a name means one thing in the whole tree."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.paths import ROOT

SOURCE = ROOT / "src" / "possnet"


def parse_modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def test_at_most_two_functions_in_five_have_one_word_for_a_name() -> None:
    words = [
        len([word for word in node.name.split("_") if word])
        for _, module in parse_modules()
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__")
    ]
    assert len(words) > 1000
    assert sum(count == 1 for count in words) / len(words) <= 0.4


def test_no_two_modules_have_one_name() -> None:
    homes = defaultdict(list)
    for path, _ in parse_modules():
        if path.name != "__init__.py":
            homes[path.name].append(path.parent.name)
    assert {name: rooms for name, rooms in homes.items() if len(rooms) > 1} == {}


def test_no_two_types_have_one_name() -> None:
    homes = defaultdict(set)
    for path, module in parse_modules():
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef):
                homes[node.name.strip("_")].add(path.name)
    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_results_are_named_after_what_they_are() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    assert len(re.findall(r"\bfound\b", text)) <= 60
    for term in ("junction tree", "E-step", "M-step", "sufficient statistics", "CPDAG"):
        assert term in text, term
