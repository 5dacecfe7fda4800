"""The pictures of a large network in docs/explorer.md: 300 variables from afar, and the neighbourhood of one, in chromium.

Run it with `make pictures`.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import possnet as pn

ROOT = Path(__file__).parent.parent.parent
FIGURES = ROOT / "docs/figures"
COMMAND = Path(sys.executable).parent / "possnet"
SEEN, NEAR = "x010", "x120"


def main() -> None:
    """Make a network, explore it with one finding, and photograph it from afar and from near."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        net = pn.random_network(300, max_parents=2, states=(2, 4), rng=3)
        pn.write_network(net, Path(folder) / "large.json")
        words = [str(COMMAND), "explore", "large.json", "--port", "0", "--no-browser"]
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        server = subprocess.Popen(words, cwd=folder, stdout=pipe, stderr=null, text=True)  # noqa: S603
        try:
            assert server.stdout is not None  # noqa: S101
            address = server.stdout.readline().strip()
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1240, "height": 748}, reduced_motion="reduce")

            def take(name: str) -> None:
                path = FIGURES / f"explorer-large-{name}.png"
                page.mouse.move(0, 0)
                page.wait_for_timeout(400)
                page.screenshot(path=path)
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")

            page.goto(f"{address}#{SEEN}={net.variable(SEEN).states[0]}")
            page.locator("body[data-settled]").wait_for()
            page.locator("#tab-overview").click()
            page.get_by_label("dim it").check()
            take("afar")
            page.get_by_label("dim it").uncheck()
            page.get_by_label("Find a variable").fill(NEAR)
            page.keyboard.press("Enter")
            page.locator("#tab-overview").click()
            page.get_by_label("Neighbourhood").select_option("2")
            take("near")
            browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
