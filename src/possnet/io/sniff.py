"""What a file looks like, whatever it is called: for messages that say which command reads it."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Literal, TypeAlias

from possnet.io.examples import example_names
from possnet.io.file_access import DATA_SUFFIXES

FileKind: TypeAlias = Literal["network", "data", "counts", "experiment", "report"]
_FORMATS: dict[str, FileKind] = {
    "possnet-network": "network",
    "possnet-counts": "counts",
    "possnet-experiment": "experiment",
}
_HEAD = 4096


def sniff_kind(name: str) -> FileKind | None:
    """What a name stands for, by its first bytes if it is a file; None if nothing is recognised or nothing is there.

    >>> sniff_kind("asia"), sniff_kind("nothing.xyz")
    ('network', None)
    """
    try:
        path = Path(name)
        if path.is_dir():
            if (path / "experiment.json").is_file():
                return "experiment"
            return "data" if any(p.suffix.lower() in DATA_SUFFIXES for p in path.iterdir()) else None
        if not path.is_file():
            return "network" if name in example_names() else None
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head[:2] == b"\x1f\x8b":
            with gzip.open(path) as packed:
                head = packed.read(_HEAD)
    except (OSError, ValueError, EOFError):
        return None
    return _by_content(head, path.suffix.lower())


def _by_content(head: bytes, suffix: str) -> FileKind | None:
    if head[:4] == b"PAR1":
        return "data"
    text = head.decode("utf-8", errors="replace").lstrip("\ufeff").lstrip()
    if text.startswith("{"):
        found = re.search(r'"format"\s*:\s*"([\w-]+)"', text)
        return _FORMATS.get(found[1]) if found else None
    if re.match(r"(?i)<!doctype html", text):
        return "report"
    if re.match(r"(network\s|variable\s|<\?xml|<BIF|MARKOV|BAYES)", text) or suffix in {".bif", ".uai", ".xmlbif"}:
        return "network"
    lines = text.splitlines()
    if suffix == ".csv" or (len(lines) > 1 and all("," in line for line in lines[:3])):
        return "data"
    return None
