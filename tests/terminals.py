"""Commands run on a terminal of their own."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from tests.commands import COMMAND, everything


def in_terminal(arguments: list[str], columns: int, extra: dict[str, str] | None = None) -> tuple[int, str]:
    """Run with both outputs on a terminal of some width; exit code and all that was drawn."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in {"COLUMNS", "LINES", "NO_COLOR"}}
    environment |= {"TERM": "xterm-256color", **(extra or {})}
    process = subprocess.Popen([COMMAND, *arguments], stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    drawn = everything(master)
    return process.wait(60), drawn.decode(errors="replace")


def plain_text(drawn: str) -> str:
    """What was drawn without its colours and moves of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn)
