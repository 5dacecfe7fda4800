"""``docs/hostile.md``, written from the ledger, the sections and the defects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.hostile.defects import DEFECTS, Defect
from tests.hostile.ledger import Record
from tests.hostile.section import Section
from tests.paths import ROOT

PAGE = ROOT / "docs" / "hostile.md"
_HEAD = """# The hostile run

Written by `make hostile` from `docs/hostile.json`; change neither by hand. Each section tries things meant to break possnet, in
processes of its own, and can be run alone and resumed: `make hostile SECTION=parquet SECONDS=600`. What may come of an input is a
usable value or a possnet error of one sentence; anything else (another exception, an abort, a hang, a wrong value) is a failure.
`failed` counts all failures that there ever were, `mended` those whose chunk of inputs passes now.
"""


def format_page(sections: Sequence[Section], records: Mapping[str, Record], defects: Sequence[Defect] = DEFECTS) -> str:
    """The page as Markdown."""
    lines = [_HEAD, "## Sections", ""]
    lines += [
        "| section | tries | wanted | tried | failed | mended | seconds | date |",
        "|---|---|--:|--:|--:|--:|--:|---|",
    ]
    for section in sections:
        record = records.get(section.name, Record())
        wanted = f"{section.wanted:,}" if section.wanted else "all"
        numbers = [
            wanted,
            f"{record.tried:,}{' (all)' if record.done else ''}",
            f"{record.failed:,}",
            f"{record.mended:,}",
        ]
        cells = [f"`{section.name}`", section.tries, *numbers, f"{record.seconds:,.0f}", record.date or "not yet"]
        lines.append(f"| {' | '.join(cells)} |")
    figures = [(s.name, records[s.name].figures) for s in sections if s.name in records and records[s.name].figures]
    if figures:
        lines += ["", "Largest figures of a section:", ""]
        lines += [f"- `{name}`: " + ", ".join(f"{k} {v:,.6g}" for k, v in sorted(f.items())) for name, f in figures]
    versions = sorted({", ".join(f"{k} {v}" for k, v in r.versions.items()) for r in records.values() if r.versions})
    lines += ["", *[f"Versions: {text}." for text in versions]]
    lines += ["", "## Defects", "", "| | what was wrong | held by |", "|---|---|---|"]
    for defect in defects:
        held = "<br>".join(f"`tests/{test}`" for test in defect.tests) or "not mended yet"
        lines.append(f"| {defect.label} | {defect.finding} | {held} |")
    for section in sections:
        if section.notes is not None:
            lines += ["", section.notes().strip()]
    return "\n".join(lines) + "\n"


def write_page(sections: Sequence[Section], records: Mapping[str, Record], path: Path = PAGE) -> None:
    """Write the page."""
    path.write_text(format_page(sections, records), encoding="utf-8")
