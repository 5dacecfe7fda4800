"""The public surface: names, docstrings, light imports, and the ledger of the paper."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys

import pytest

import possnet as pn
from tests.paths import ROOT
from tests.test_examples import STORIES  # these are run there

CONSTANTS = {"MIN", "PRODUCT"}
ROOMS = {"plots"}


def test_all_is_sorted_and_every_name_loads() -> None:
    assert pn.__all__ == sorted(pn.__all__)
    for name in pn.__all__:
        assert getattr(pn, name) is not None
        assert name in dir(pn)
    with pytest.raises(AttributeError, match="No possnet attribute nothing"):
        getattr(pn, "nothing")  # noqa: B009


def undocumented() -> list[str]:
    """Public functions, and public methods of public classes, without a doctest of their own."""
    lacking = []
    for name in sorted(set(pn.__all__) - CONSTANTS - ROOMS):
        value = getattr(pn, name)
        if ">>>" not in (value.__doc__ or ""):
            lacking.append(name)
        if inspect.isclass(value) and not getattr(value, "_is_protocol", False):
            for member, raw in vars(value).items():
                function = raw.__func__ if isinstance(raw, classmethod) else raw
                if (
                    not member.startswith("_")
                    and inspect.isfunction(function)
                    and ">>>" not in (function.__doc__ or "")
                ):
                    lacking.append(f"{name}.{member}")
    return lacking


def test_every_public_function_and_method_has_a_doctest() -> None:
    assert undocumented() == []


def test_importing_possnet_loads_nothing_heavy() -> None:
    script = (
        "import sys, possnet as pn; [getattr(pn, n) for n in pn.__all__];"
        "heavy = {'pyarrow', 'pandas', 'polars', 'matplotlib', 'msgspec', 'click', 'rich', 'scipy'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_command_starts_without_numpy() -> None:
    script = "import sys, possnet.cli; print('numpy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize(
    "script", sorted({p.name for p in (ROOT / "examples").glob("*.py")} - {f"{story}.py" for story in STORIES})
)
def test_every_example_runs(script: str) -> None:
    run = subprocess.run([sys.executable, ROOT / "examples" / script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout


def ledger() -> list[tuple[str, str, str]]:
    """Rows (equation or item, function, test) of docs/paper.md."""
    rows = []
    for line in (ROOT / "docs" / "paper.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 5 and not set(cells[0]) <= set("- :") and cells[0] != "paper":
            rows.append((cells[0], cells[2], cells[3]))
    return rows


def marked_tests() -> set[tuple[str, str]]:
    """Pairs (equation number, test name) of the `equation` marker anywhere in the tests."""
    found = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.equation":
                        found.add((ast.unparse(decorator.args[0]), node.name))
    return found


def test_the_ledger_and_the_tests_name_each_other() -> None:
    listed = {
        (number, test)
        for item, _, tests in ledger()
        for number in re.findall(r"^\((\d+)\)", item)
        for test in re.findall(r"`(test_\w+)`", tests)
    }
    assert listed == marked_tests()


def test_every_function_and_test_in_the_ledger_exists() -> None:
    rows = ledger()
    assert rows
    all_tests = {
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    for item, functions, tests in rows:
        named = re.findall(r"`([\w.]+)`", functions)
        assert named, item
        for name in named:
            module, *attributes = name.split(".")
            value: object = importlib.import_module(f"possnet.{module}")
            for attribute in attributes:
                value = getattr(value, attribute)
        assert re.findall(r"`(test_\w+)`", tests), item
        assert set(re.findall(r"`(test_\w+)`", tests)) <= all_tests, item


def test_the_lock_files_name_no_host_and_hash_everything() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        assert "://" not in text, path
        assert text.count("==") <= text.count("--hash=sha256:"), path
