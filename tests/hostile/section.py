"""What a section of the hostile run is, and what its chunks report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.paths import ROOT

KEPT = ROOT / "build" / "hostile"


@dataclass(frozen=True)
class Chunk:
    """What came of one chunk: how much was tried, a sentence for each failure, and figures whose largest value is kept."""

    tried: int
    failures: tuple[str, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """Things to try, in chunks.

    ``run_chunk`` tries the chunk of a seed (0, 1, ...), the same things each time; None where a finite list has come to its
    end. It runs in a process of its own, so that an abort counts as a failure of the chunk, and so does a chunk that takes
    longer than ``patience`` seconds. ``wanted`` is the number of things to try in all, 0 where the chunks come to an end.
    ``notes`` writes further lines of ``docs/hostile.md``. ``lacks`` says in a sentence what has to be installed first, or
    nothing: a section that lacks something is not run, and nothing is counted.
    """

    name: str
    tries: str
    run_chunk: Callable[[int], Chunk | None]
    wanted: int = 0
    patience: float = 240.0
    notes: Callable[[], str] | None = None
    lacks: Callable[[], str] = lambda: ""


def keep_input(section: str, name: str, content: bytes) -> str:
    """Keep what something went wrong with in ``build/hostile``, to be looked at; its path."""
    folder = KEPT / section
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return str((folder / name).relative_to(ROOT))
