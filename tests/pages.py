"""The pages of docs/ as programs: the files that they show, and the commands that they run.

A block with ``:caption: patients.csv`` is a file of that name, which the page's other blocks read. A ``console`` block has commands
after ``$``, and below each of them what it prints (as in doctests, ``...`` stands for anything; nothing means that the output is
not looked at).
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FENCE: Final = re.compile(r"^(`{3,})([^\n]*)\n(.*?)^\1 *$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: what stands after its fence, and its text."""

    info: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a console block, and what the page says that it prints."""

    words: list[str]
    output: str


def list_blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page that do not stand in another."""
    return [Block(match[2].strip(), match[3]) for match in FENCE.finditer(page.read_text(encoding="utf-8"))]


def write_files(page: Path, folder: Path) -> None:
    """Write the files that the page shows."""
    for block in list_blocks(page):
        shown = re.match(r":caption: `?([\w./-]+\.\w+)`?\n(?::.*\n)*\n?", block.text)
        if block.info.startswith("{code-block}") and shown:
            (folder / shown[1]).write_text(block.text[shown.end() :], encoding="utf-8")


def list_commands(page: Path) -> list[Command]:
    """The commands of the console blocks, in order; a command goes on in lines that begin with ``>``."""
    commands: list[Command] = []
    for block in list_blocks(page):
        if block.info != "console":
            continue
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            length = next((k for k, line in enumerate(lines) if k and not lines[k - 1].endswith("\\")), len(lines))
            text = " ".join(line.rstrip("\\").strip() for line in lines[:length])
            commands.append(Command(shlex.split(text, comments=True), "\n".join(lines[length:])))
    return commands
