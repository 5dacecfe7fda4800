"""The command line, as a person runs it and as a test can afford to run it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from possnet.cli import main
from tests.paths import ROOT

COMMAND = Path(sys.executable).parent / "possnet"


def run_real(*arguments: str | Path, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """The installed command."""
    return subprocess.run([COMMAND, *arguments], input=given, capture_output=True, text=True, check=False, timeout=120)


def run(*arguments: object, given: bytes = b"") -> subprocess.CompletedProcess[str]:
    """The same command without the second it takes to start."""
    words = [str(argument) for argument in arguments]
    result = CliRunner().invoke(main, words, input=given, prog_name="possnet")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return subprocess.CompletedProcess(words, result.exit_code, result.stdout, result.stderr)


def everything(master: int) -> bytes:
    """What was written to a pseudo-terminal whose other side is closed; it comes in pieces."""
    drawn = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the end, on Linux
            piece = b""
        if not piece:
            os.close(master)
            return drawn
        drawn += piece


def readme_commands() -> list[list[str]]:
    """Every ``possnet`` line of README.md, without its comment."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines, fence = [], None
    for line in text.splitlines():
        if line.startswith("```"):
            fence = line if fence is None else None
        elif fence == "```":
            lines.append(line)
    return [shlex.split(line, comments=True) for line in lines if line.startswith("possnet ")]
