"""The ledger of the hostile run, ``docs/hostile.json``: for each section what was tried, what failed and what was mended."""

from __future__ import annotations

import fcntl
import json
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tests.hostile.section import KEPT, Chunk
from tests.paths import ROOT

LEDGER = ROOT / "docs" / "hostile.json"
_PACKAGES = ("numpy", "pyarrow", "possnet")


@dataclass
class Record:
    """A section of the ledger: ``failed`` counts all failures there ever were, ``mended`` those whose chunks pass now."""

    tried: int = 0
    failed: int = 0
    mended: int = 0
    seconds: float = 0.0
    date: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    next_seed: int = 0
    done: bool = False
    failing: dict[str, int] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)

    def add_chunk(self, seed: int, chunk: Chunk, seconds: float) -> None:
        """Count a chunk; one that failed before and passes now counts as mended, and its inputs not again."""
        key, failures = str(seed), len(chunk.failures)
        before = self.failing.pop(key, 0)
        if seed >= self.next_seed:
            self.tried += chunk.tried
            self.next_seed = seed + 1
        self.failed += max(failures - before, 0)
        self.mended += max(before - failures, 0)
        if failures:
            self.failing[key] = failures
        self.seconds = round(self.seconds + seconds, 1)
        for name, value in chunk.figures.items():
            self.figures[name] = max(round(value, 3), self.figures.get(name, 0.0))
        self.date = datetime.now(UTC).date().isoformat()
        self.versions = {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}


def read_ledger(path: Path = LEDGER) -> dict[str, Record]:
    """Section -> its record."""
    if not path.exists():
        return {}
    known = {entry.name for entry in fields(Record)}
    entries = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: Record(**{key: value for key, value in entry.items() if key in known}) for name, entry in entries.items()
    }


def write_ledger(records: dict[str, Record], path: Path = LEDGER) -> None:
    """Write the ledger, sections and fields in order."""
    content = {name: asdict(records[name]) for name in sorted(records)}
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")


@contextmanager
def _lock_ledger(path: Path) -> Iterator[None]:
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / f"{path.name}.lock").open("w", encoding="utf-8") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield


def update_ledger(name: str, change: Callable[[Record], None], path: Path = LEDGER) -> dict[str, Record]:
    """Change the record of one section; several runs may do so at once."""
    with _lock_ledger(path):
        records = read_ledger(path)
        change(records.setdefault(name, Record()))
        write_ledger(records, path)
    return records
