"""Text files are read and written as UTF-8 whatever the locale is: every call says so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.paths import ROOT

_OTHERS = {"os", "gzip", "tarfile", "webbrowser", "io", "zipfile", "Image", "zip", "archive", "super()"}


def list_calls(text: str) -> Iterator[ast.Call]:
    """Calls of ``read_text``, ``write_text`` and ``open`` on paths, in text mode, that leave the encoding to the locale."""
    for call in ast.walk(ast.parse(text)):
        if not isinstance(call, ast.Call) or any(word.arg in {"encoding", None} for word in call.keywords):
            continue
        function = call.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        owner = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
        is_path = bool(owner) and owner not in _OTHERS
        given = call.args[1:2] if name == "open" and isinstance(function, ast.Name) else call.args[:1]
        mode = next(iter([*(word.value for word in call.keywords if word.arg == "mode"), *given]), None)
        binary = isinstance(mode, ast.Constant) and "b" in str(mode.value)
        if (
            (is_path and name == "read_text" and not call.args)
            or (is_path and name == "write_text" and len(call.args) == 1)
            or (name == "open" and (is_path or isinstance(function, ast.Name)) and not binary and _is_mode(mode))
        ):
            yield call


def _is_mode(mode: ast.expr | None) -> bool:
    return mode is None or (
        isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set(mode.value) <= set("rwax+")
    )


def test_every_text_file_is_read_and_written_with_an_encoding() -> None:
    lacking = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for folder in ("src", "tests", "benchmarks")
        for path in sorted(Path(ROOT, folder).rglob("*.py"))
        for call in list_calls(path.read_text(encoding="utf-8"))
    ]
    assert lacking == []
