"""The picture of a report in README.md: the top of `make demo`'s report, in Debian's chromium.

Run it with `make pictures`.
"""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent.parent


def main(page: Path, picture: Path) -> None:
    """Photograph the first sections of a report."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        window = browser.new_page(viewport={"width": 880, "height": 1300}, color_scheme="light")
        window.goto(page.resolve().as_uri())
        window.screenshot(path=picture, clip={"x": 0, "y": 0, "width": 880, "height": 1290})
        browser.close()
    print(f"{picture}: {picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(ROOT / "build/demo/report.html", ROOT / "docs/figures/report.png")
