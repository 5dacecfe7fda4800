"""Links, anchors, images, styles and scripts of the built pages lead to something that is there, and to nothing outside."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from pathlib import Path

LOADED: Final = {("img", "src"), ("script", "src"), ("source", "srcset"), ("link", "href"), ("iframe", "src")}


class Page(HTMLParser):
    """The names of a page, and what it points to: (address, whether a browser loads it by itself)."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = {""}
        self.targets: list[tuple[str, bool]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep names and targets."""
        for name, value in attrs:
            if name == "id" and value:
                self.names.add(value)
            elif value and ((tag, name) in LOADED or (tag, name) == ("a", "href")):
                self.targets.append((value, tag != "a"))


def check_links(site: Path) -> tuple[int, int, list[str]]:
    """Number of pages, number of links inside, and a sentence for everything that is broken or comes from outside."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    broken, links = [], 0
    for path, page in pages.items():
        for address, is_loaded in page.targets:
            parts = urlsplit(address)
            where = path.relative_to(site.resolve())
            if parts.scheme or parts.netloc:
                if is_loaded and parts.scheme != "data":
                    broken.append(f"{where}: loads {address} from outside; expected a file of the site")
                continue
            links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                broken.append(f"{where}: {address} is not there")
            elif target in pages and unquote(parts.fragment) not in pages[target].names:
                broken.append(f"{where}: {address}: the page has no such anchor")
    return len(pages), links, broken
