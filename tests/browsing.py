"""Pages in a browser: watched for what they ask and complain about, and measured for what can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@contextmanager
def watched(browser: Browser, address: str, **options: Any) -> Iterator[tuple[Page, list[str]]]:
    """A page in a window, and the addresses it asked for; it must complain of nothing but errors that were told."""
    page = browser.new_page(**options)
    asked: list[str] = []
    told: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto(address)
    yield page, asked
    assert [text for text in told if not re.search("status of (409|422)", text)] == []
    page.close()


def serious_findings(page: Page, axe: Path, part: str = "html") -> list[str]:
    """What axe-core finds on a page, or a part of it, that is serious or critical: the rule, and the first place."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe.read_text("utf-8"))
    found = page.evaluate("part => axe.run(part, {resultTypes: ['violations']})", part)
    return [
        f"{rule['id']}: {rule['help']} ({len(rule['nodes'])}), {rule['nodes'][0]['html'][:200]}"
        for rule in found["violations"]
        if rule["impact"] in {"serious", "critical"}
    ]


def luminance(colour: str) -> float:
    """Relative luminance of ``rgb(r, g, b)`` (WCAG 2)."""
    parts = [int(c) / 255 for c in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)
