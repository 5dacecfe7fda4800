"""The pictures of the explorer in README.md, light and dark: the clinic with two findings and one table open, in chromium.

Run it with `make pictures`.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent.parent
COMMAND = Path(sys.executable).parent / "possnet"
PICTURES: dict[Literal["light", "dark"], Path] = {
    "light": ROOT / "docs/figures/explorer.png",
    "dark": ROOT / "docs/figures/explorer-dark.png",
}


def main() -> None:
    """Start the explorer, photograph its page, and end it."""
    words = [str(COMMAND), "explore", "clinic", "--port", "0", "--no-browser"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603
    try:
        assert server.stdout is not None  # noqa: S101
        address = server.stdout.readline().strip()
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for scheme, picture in PICTURES.items():
                size = {"width": 1240, "height": 748}
                window = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
                window.goto(f"{address}#fever=mild|high&rash=spots")
                window.locator("body[data-settled]").wait_for()
                window.locator(".head[data-name=measles]").click()
                window.locator(".degrees input").first.wait_for()
                window.mouse.move(0, 0)
                window.screenshot(path=picture)
                window.close()
                print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size / 1000:.0f} kB")
            browser.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
