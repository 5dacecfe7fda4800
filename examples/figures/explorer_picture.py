"""The picture of the explorer in README.md: the clinic with two findings and one table open, in Debian's chromium.

Run it with `make pictures`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent.parent
COMMAND = Path(sys.executable).parent / "possnet"


def main(picture: Path) -> None:
    """Start the explorer, photograph its page, and end it."""
    words = [str(COMMAND), "explore", "clinic", "--port", "0", "--no-browser"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603
    try:
        assert server.stdout is not None  # noqa: S101
        address = server.stdout.readline().strip()
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            window = browser.new_page(
                viewport={"width": 1240, "height": 720}, color_scheme="light", reduced_motion="reduce"
            )
            window.goto(f"{address}#fever=mild|high&rash=spots")
            window.locator("body[data-settled]").wait_for()
            window.locator(".head[data-name=measles]").click()
            window.locator(".degrees input").first.wait_for()
            window.mouse.move(0, 0)
            window.screenshot(path=picture)
            browser.close()
    finally:
        server.terminate()
        server.wait()
    print(f"{picture}: {picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(ROOT / "docs/figures/explorer.png")
