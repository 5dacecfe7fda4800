"""The pictures of a report in README.md, light and dark: the first blocks of `make demo`'s report, none cut, in chromium.

Run it with `make pictures`.
"""

import shutil
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent.parent
PICTURES: dict[Literal["light", "dark"], Path] = {
    "light": ROOT / "docs/figures/report.png",
    "dark": ROOT / "docs/figures/report-dark.png",
}
MOST = 1500  # pixels: blocks that end below are left out
# Where the last block ends that is wholly above a height; a block is a child of the page's main part, or of a section.
LAST_BLOCK = """most => {
    const main = document.querySelector('main') ?? document.body;
    const blocks = [...main.querySelectorAll(':scope > *, :scope > section > *')];
    const ends = blocks.map(block => block.getBoundingClientRect().bottom + window.scrollY);
    return Math.max(...ends.filter(end => end <= most));
}"""


def main(page: Path) -> None:
    """Photograph the first blocks of a report."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme, picture in PICTURES.items():
            window = browser.new_page(viewport={"width": 1080, "height": MOST}, color_scheme=scheme)
            window.goto(page.resolve().as_uri())
            height = window.evaluate(LAST_BLOCK, MOST)
            window.screenshot(path=picture, clip={"x": 0, "y": 0, "width": 1080, "height": height + 16})
            window.close()
            print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size / 1000:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main(ROOT / "build/demo/report.html")
