"""Run the Python of pages with the libraries that they speak of: ``run_pages.py PAGE.md ...``; one line of JSON.

What ``make test`` leaves out for want of a library (``# doctest: +SKIP``) is run here. Modules of possnet may be named instead
of pages; a failure ends with what was expected and what came.
"""

import contextlib
import doctest
import importlib
import inspect
import io
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

from tests.pages import write_files

warnings.simplefilter("ignore")
SKIPPED = "  # doctest: +SKIP"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def run_text(text: str, name: str, known: dict[str, object]) -> int:
    """Run the examples of a text, skipped ones too; how many there are."""
    test = doctest.DocTestParser().get_doctest(text.replace(SKIPPED, ""), known, name, name, 0)
    shown = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    with contextlib.redirect_stderr(io.StringIO()):
        runner.run(test, out=shown.write)
    if runner.failures:
        sys.exit(shown.getvalue())
    return len(test.examples)


def run_page(path: Path) -> int:
    """Run a page in a folder with the files that it shows."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        write_files(path, Path(folder))
        os.chdir(folder)
        try:
            return run_text(path.read_text(encoding="utf-8"), path.name, {})
        finally:
            os.chdir(before)


def run_module(name: str) -> int:
    """Run the docstrings of the functions of a module."""
    module = importlib.import_module(name)
    functions = [value for value in vars(module).values() if getattr(value, "__module__", None) == name]
    return run_text("\n\n".join(inspect.getdoc(value) or "" for value in functions), name, dict(vars(module)))


def main() -> None:
    """Run what is named."""
    given = sys.argv[1:]
    print(
        json.dumps({Path(g).name: run_page(Path(g).resolve()) if g.endswith(".md") else run_module(g) for g in given})
    )


if __name__ == "__main__":
    main()
