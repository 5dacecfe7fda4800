"""One mutant in a process of its own, which imports the mutated module in place of the real one.

python -m tests.hostile.fresh_mutant MODULE NAME CPU_SECONDS < names of tests
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import os
import resource
import signal
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest

from tests.hostile.block_map import OPTIONS, SOURCE
from tests.hostile.mutator import mutate_source


class MutantFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the mutated module where the real one is asked for."""

    def __init__(self, module: str, name: str) -> None:
        self.path = SOURCE / f"{module}.py"
        dotted = "possnet." + module.replace("/", ".")
        self.name = dotted.removesuffix(".__init__")
        self.places = [str(self.path.parent)] if dotted != self.name else None
        self.tree, _ = mutate_source(module, self.path.read_text(encoding="utf-8"), name)

    def find_spec(self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> Any:
        """The specification of the mutated module, of no other."""
        if fullname != self.name:
            return None
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=self, submodule_search_locations=self.places
        )

    def exec_module(self, module: ModuleType) -> None:
        """Run the mutated text."""
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)  # noqa: S102 - the module itself, changed by one node

    def get_source(self, _fullname: str) -> str:
        """The real text, for tracebacks and doctests."""
        return self.path.read_text(encoding="utf-8")


class ChosenTests:
    """A pytest plugin: keeps the chosen tests in the order given, and remembers the first that fails."""

    def __init__(self, names: Sequence[str]) -> None:
        self.places = {name: place for place, name in enumerate(names)}
        self.noticed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Quickest first."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self.places), key=lambda item: self.places[item.nodeid]
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Whoever fails, in its body or its fixtures, has noticed the mutant."""
        if report.failed and not self.noticed:
            self.noticed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A test file that cannot be imported has noticed it too."""
        if report.failed and not self.noticed:
            self.noticed = f"import of {report.nodeid}"


def judge_fresh(module: str, name: str, names: Sequence[str]) -> str:
    """Who noticed the mutant, or nothing."""
    if any(loaded.split(".")[0] == "possnet" for loaded in sys.modules):
        raise RuntimeError("possnet is imported already")
    finder = MutantFinder(module, name)
    sys.meta_path.insert(0, finder)
    try:
        importlib.import_module(finder.name)
    except Exception as error:  # noqa: BLE001 - whatever it is, an import that fails is noticed
        return f"import: {type(error).__name__}"
    chosen = ChosenTests(names)
    files = list(dict.fromkeys(test.split("::")[0] for test in names))
    code = pytest.main([*OPTIONS, "-x", *files], plugins=[chosen])
    return chosen.noticed or ("" if code in (0, 5) else f"pytest ended with {int(code)}")


def main() -> None:
    """The answer is the last line."""
    module, name, seconds = sys.argv[1:]
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    names = sys.stdin.read().splitlines()
    noticed = judge_fresh(module, name, names)
    sys.stdout.write(f"\nnoticed by: {noticed}\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
