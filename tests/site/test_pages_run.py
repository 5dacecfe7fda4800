"""Blocks of pages are run: Python as doctests (pytest finds them), commands here; and there are no blocks of other kinds."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.commands import run
from tests.pages import list_blocks, list_commands, write_files
from tests.paths import ROOT

PAGES = [
    path
    for room in ("start", "tutorials", "howto", "explanation")
    for path in sorted((ROOT / "docs" / room).glob("*.md"))
]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
BY_HAND = r"(pip|git|make|cd|python -m|possnet explore|.*\bmake\b)"


def name_page(page: Path) -> str:
    return page.relative_to(ROOT / "docs").as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if list_commands(page)], ids=name_page)
def test_the_commands_of_a_page_print_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    write_files(page, tmp_path)
    for command in list_commands(page):
        assert command.words[0] == "possnet", command.words
        result = run(*command.words[1:])
        assert result.returncode == 0, f"{command.words}: {result.stderr}"
        if command.output.strip():
            assert doctest.OutputChecker().check_output(command.output, result.stdout, FLAGS), result.stdout


@pytest.mark.parametrize("page", PAGES, ids=name_page)
def test_every_block_of_code_is_one_that_is_run(page: Path) -> None:
    for block in list_blocks(page):
        if block.info == "python":
            assert block.text.lstrip().startswith(">>>"), block.text
        elif block.info == "sh":
            for line in block.text.strip().splitlines():
                assert re.match(rf"{BY_HAND}|#|$", line), line
        else:
            assert block.info == "console" or block.info.startswith("{"), block.info
