"""The pages as they are written: links, anchors and pictures lead somewhere, every page is listed, every public name has a place."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
TEXTS = [*PAGES, *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"))]


def strip_code(text: str) -> str:
    """The text without blocks and spans of code."""
    text = re.sub(r"^( *)(`{3,}|~{3,}).*?^\1\2`*$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(`+)[^`\n]+?\1", "", text)


def list_anchors(path: Path) -> set[str]:
    """Anchors of the headings, as GitHub and MyST make them, and explicit ones."""
    text = re.sub(r"^( *)(`{3,}).*?^\1\2`*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    anchors = set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))
    for heading in re.findall(r"^#{1,6} +(.+?)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        anchors.add(re.sub(r"[^\w\- ]", "", plain.lower().strip()).replace(" ", "-"))
    return anchors


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_and_pictures_lead_somewhere(path: Path) -> None:
    text = strip_code(path.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
    for target in targets:
        file, _, anchor = unquote(target).partition("#")
        if re.match(r"[a-z]+:", file):
            continue
        place = (path.parent / file).resolve() if file else path
        assert place.exists(), f"{target} is not there"
        assert not anchor or place.suffix != ".md" or anchor in list_anchors(place), f"{target}: no such heading"


def test_every_page_is_listed_once() -> None:
    listed: list[Path] = []
    for path in PAGES:
        for block in re.findall(
            r"^`{3,}\{toctree\}\n(.*?)^`{3,}$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            entries = [line for line in block.splitlines() if line and not line.startswith(":")]
            names = [re.sub(r"^.*<(.+)>$", r"\1", entry) for entry in entries]
            listed += [(path.parent / f"{name}.md").resolve() for name in names]
    assert sorted(listed) == [path for path in PAGES if path != DOCS / "index.md"]


def test_figures_of_when_not_to_use_possnet_stand_on_the_pages_of_their_scripts() -> None:
    text = (DOCS / "explanation/when-not.md").read_text(encoding="utf-8")
    measured = [(DOCS / name).read_text(encoding="utf-8") for name in ("real-tables.md", "classifier-quality.md")]
    rows = [line for line in text.splitlines() if re.match(r"\| (msrcv2|dog7|adult|breast|digits)", line)]
    assert len(rows) == 8
    for row in rows:
        table = re.split(r"[ ,|]+", row)[1]
        for figure in re.findall(r"\.\d{3}", row):
            assert any(f"0{figure}" in page and table in page for page in measured), (row, figure)


def test_every_public_name_has_a_place_in_the_reference() -> None:
    stub = (ROOT / "src/possnet/__init__.pyi").read_text(encoding="utf-8")
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((DOCS / "reference").glob("*.md")))
    rooms = sorted(set(re.findall(r"^from \.(\w+) import", stub, re.MULTILINE)))
    assert sorted(re.findall(r"^<!-- names of (\w+) -->$", text, re.MULTILINE)) == rooms
