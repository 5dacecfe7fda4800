"""Which tests run which blocks: recorded once, so that a mutant meets only tests that can notice it.

Every block of the rooms under test (the body of a function, of a branch, of a loop) gets a first statement that notes that it
was run, which costs next to nothing beside coverage, whose contexts triple the time of the tests. Tests of whole programs
(commands, pages, pictures, examples) are not asked: they are slow, and a mistake of the mathematics has to be noticed by the
tests of the mathematics.
"""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from tests.hostile.mutator import Mutant
from tests.paths import ROOT

ROOMS: Final = ("kernels", "counting", "inference", "em", "parameters", "sampling", "io")
SOURCE: Final = ROOT / "src" / "possnet"
ASKED: Final = (
    *(f"tests/{room}" for room in ROOMS),
    *(f"src/possnet/{room}" for room in ROOMS),
    *(
        f"tests/{name}"
        for name in ("cells", "dataset", "learners", "completion", "measurements", "test_likelihood.py", "cuts")
    ),
    "tests/test_portability.py",
)
OPTIONS: Final = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "-m", "not slow", "-W", "ignore")
MAPS: Final = ROOT / "build" / "hostile" / "mutants" / "maps"
_BLOCKS: Final = ("body", "orelse", "finalbody")


def list_blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """The bodies of functions, and those of branches, loops and handlers within functions."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if node is function or not isinstance(
                    node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.IfExp
                ):
                    for name in _BLOCKS:
                        block = getattr(node, name, None)
                        if isinstance(block, list) and block:
                            yield block


class BlockFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives modules of the rooms under test whose blocks note that they were run: ``_hits[module, line] = 1``."""

    def __init__(self) -> None:
        self.hits: dict[tuple[str, int], int] = {}
        vars(builtins)["_hits"] = self.hits

    def find_spec(self, fullname: str, path: Sequence[str] | None, _target: ModuleType | None = None) -> Any:
        """The specification of a module of these rooms."""
        words = fullname.split(".")
        if words[0] != "possnet" or len(words) < 2 or words[1] not in ROOMS or path is None:
            return None
        file = SOURCE.joinpath(*words[1:]).with_suffix(".py")
        if file.exists():
            return importlib.util.spec_from_file_location(fullname, file, loader=self)
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run the text with notes in it."""
        file = Path(str(module.__file__))
        tree = ast.parse(file.read_text(encoding="utf-8"))
        name = str(file.relative_to(SOURCE).with_suffix(""))
        seen: set[int] = set()
        for block in list(list_blocks(tree)):
            if id(block) not in seen:
                seen.add(id(block))
                note = ast.parse(f"_hits[{name!r}, {block[0].lineno}] = 1").body[0]
                block.insert(1 if _is_docstring(block[0]) else 0, note)
        exec(compile(tree, str(file), "exec"), module.__dict__)  # noqa: S102 - the module itself, with notes

    def get_source(self, fullname: str) -> str:
        """The real text, for tracebacks and doctests."""
        return SOURCE.joinpath(*fullname.split(".")[1:]).with_suffix(".py").read_text(encoding="utf-8")


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class Recorder:
    """A pytest plugin: the blocks and the CPU seconds of each test."""

    def __init__(self, hits: dict[tuple[str, int], int]) -> None:
        self.hits = hits
        self.blocks: dict[str, list[tuple[str, int]]] = {}
        self.seconds: dict[str, float] = {}
        self.useless: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        self.hits.clear()
        start = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - start
            self.blocks[item.nodeid] = sorted(self.hits)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails or is skipped notices nothing."""
        if report.outcome != "passed":
            self.useless.add(report.nodeid)


@dataclass(frozen=True, slots=True)
class BlockMap:
    """Tests with their CPU seconds, and the tests that run each block of each module."""

    tests: list[tuple[str, float]]
    blocks: dict[str, dict[str, list[int]]]

    def choose(self, mutant: Mutant) -> list[tuple[str, float]]:
        """The tests that run the block; for what runs at import, every test of the module. The quickest first."""
        module = self.blocks.get(mutant.module, {})
        chosen = set(module.get(str(mutant.block), ()))
        if mutant.at_import:
            chosen = {test for tests in module.values() for test in tests}
        return sorted((self.tests[test] for test in chosen), key=lambda test: test[1])


def read_block_map() -> BlockMap:
    """The maps of all parts in one."""
    whole = BlockMap([], {})
    for path in sorted(MAPS.glob("*.json")):
        page, before = json.loads(path.read_text(encoding="utf-8")), len(whole.tests)
        whole.tests.extend((name, seconds) for name, seconds in page["tests"])
        for module, blocks in page["blocks"].items():
            for line, tests in blocks.items():
                whole.blocks.setdefault(module, {}).setdefault(line, []).extend(before + test for test in tests)
    return whole


def record_block_map(part: str) -> None:
    """Run the tests of a part once and write which of them run which blocks, with the CPU seconds of each test."""
    for name in [name for name in sys.modules if name.split(".")[0] == "possnet"]:
        del sys.modules[name]
    finder = BlockFinder()
    sys.meta_path.insert(0, finder)
    recorder = Recorder(finder.hits)
    pytest.main([*OPTIONS, part], plugins=[recorder])
    tests = sorted(set(recorder.seconds) - recorder.useless)
    blocks: dict[str, dict[int, list[int]]] = {}
    for number, name in enumerate(tests):
        for module, line in recorder.blocks[name]:
            blocks.setdefault(module, {}).setdefault(line, []).append(number)
    MAPS.mkdir(parents=True, exist_ok=True)
    page = {"tests": [[name, round(recorder.seconds[name], 3)] for name in tests], "blocks": blocks}
    (MAPS / f"{part.replace('/', '.')}.json").write_text(json.dumps(page), encoding="utf-8")


def record_missing_maps() -> None:
    """Record the parts that have no map yet, each in a process of its own."""
    for part in ASKED:
        if not (MAPS / f"{part.replace('/', '.')}.json").exists():
            subprocess.run(
                [sys.executable, "-m", "tests.hostile.block_map", part], cwd=ROOT, check=True, capture_output=True
            )


if __name__ == "__main__":
    record_block_map(sys.argv[1])
