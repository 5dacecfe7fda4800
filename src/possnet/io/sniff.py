"""Recognising files by their first bytes: for messages that say which command reads a file, and for standard input."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from possnet.io.examples import example_names
from possnet.io.format_registries import DATA_FORMATS, NETWORK_FORMATS, has_suffix, sniff_format
from possnet.io.formats import NetworkFormat

if TYPE_CHECKING:
    from possnet.io.formats import DataFormat
    from possnet.registries import Registry

FileKind: TypeAlias = Literal["network", "data", "counts", "calibration", "experiment", "report"]
_OTHERS: dict[bytes, FileKind] = {
    rb'\s*\{\s*"format"\s*:\s*"possnet-calibration"': "calibration",
    rb'\s*\{.*"format"\s*:\s*"possnet-counts"': "counts",
    rb'\s*\{.*"format"\s*:\s*"possnet-experiment"': "experiment",
    rb"(?i)\s*<!doctype html": "report",
}
_HEAD = 4096  # bytes; the formats that are told apart say what they are in their first lines


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
            return "data" if any(has_suffix(file, DATA_FORMATS) for file in path.iterdir()) else None
        if not path.is_file():
            return "network" if name in example_names() else None
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head[:2] == b"\x1f\x8b":
            import gzip

            with gzip.open(path) as packed:
                head = packed.read(_HEAD)
    except (OSError, ValueError, EOFError):
        return None
    return _sniff_content(head, path)


def _sniff_content(head: bytes, path: Path) -> FileKind | None:
    for pattern, kind in _OTHERS.items():
        if re.match(pattern, head, re.DOTALL):
            return kind
    entry = sniff_format(head)
    if isinstance(entry, NetworkFormat) or (entry is None and has_suffix(path, NETWORK_FORMATS)):
        return "network"
    return "data" if entry is not None or has_suffix(path, DATA_FORMATS) else None


def guess_suffix(head: bytes, fallback: Registry[NetworkFormat] | Registry[DataFormat]) -> str:
    """Suffix for a file without a name, by its first bytes; that of the first format of ``fallback`` if they say nothing.

    >>> guess_suffix(b"PAR1...", NETWORK_FORMATS), guess_suffix(b"{", NETWORK_FORMATS), guess_suffix(b"a", DATA_FORMATS)
    ('.parquet', '.json', '.csv')
    """
    entry = sniff_format(head) or next(iter(fallback.values()))
    return entry.suffixes[0]
