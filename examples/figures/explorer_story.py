"""A story of two minutes in the explorer, and its pictures: build, load rows, learn, ask why, compare, save.

The pictures stand in docs/explorer.md; run it with `make pictures`. The tests tell the same story, without pictures.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import possnet as pn

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

ROOT = Path(__file__).parent.parent.parent
FIGURES = ROOT / "docs/figures"
COMMAND = Path(sys.executable).parent / "possnet"
CLINIC = pn.load_example("clinic")
PLACES = {
    "contact": (60, 90),
    "vaccinated": (330, 90),
    "season": (600, 90),
    "measles": (190, 270),
    "flu": (480, 270),
    "rash": (40, 440),
    "fever": (345, 440),
    "cough": (600, 440),
}
LONG = 90_000


def write_rows(folder: Path) -> Path:
    """Rows of the clinic in a file, a third of what could be ambiguous is."""
    path = folder / "patients.csv"
    pn.write_data(pn.sample(CLINIC, 600, imprecision=0.3, process="traced", rng=1), path)
    return path


def tell_story(page: "Page", rows: Path, picture: Callable[[str], object]) -> None:
    """Tell the whole story on the start page of an explorer, with the file of the rows."""
    page.get_by_role("button", name="Empty canvas").click()
    page.locator("#start").wait_for(state="hidden")
    build_clinic(page)
    page.locator("#fit").click()
    picture("build")
    page.locator("#tab-data").click()
    page.get_by_label("A table with rows").set_input_files(rows)
    page.locator(".columns tbody tr").first.wait_for(timeout=LONG)
    picture("rows")
    page.get_by_label("What to learn").select_option("keep")
    page.get_by_role("button", name="Learn", exact=True).click()
    page.locator("#notice").get_by_text("The learned network is on the page").wait_for(timeout=LONG)
    page.locator("#tidy").click()
    picture("learned")
    for name, state in (("fever", "high"), ("rash", "spots")):
        find_state(page, name, state).click()
        page.locator("#chips li").get_by_text(f"{name} = {state}").wait_for()
    find_state(page, "measles", "yes").locator(".ask-why").click()
    page.locator(".story.rival").wait_for()
    picture("why")
    page.locator("#tab-compare").click()
    page.get_by_label("Compare with").select_option("example")
    page.locator(".tornado .line").first.wait_for()
    page.locator(".tornado .line").first.click()
    page.locator(".paired").first.wait_for()
    picture("compare")
    page.keyboard.press("Control+s")
    page.get_by_label("Name of the file").fill("my-clinic.json")
    page.keyboard.press("Enter")
    page.locator("#naming").wait_for(state="hidden")


def build_clinic(page: "Page") -> None:
    """Draw every variable by a double-click and typing, and every edge by dragging from rim to card."""
    box = page.locator("#stage").bounding_box()
    assert box is not None  # noqa: S101
    for count, (name, (x, y)) in enumerate(PLACES.items(), 1):
        page.mouse.dblclick(box["x"] + x, box["y"] + y)
        field = page.locator("#panel .form input").first
        page.locator(f"#graph .card:nth-of-type({count + 1})").wait_for(state="attached")
        page.wait_for_timeout(50)
        field.fill(name)
        field.press("Enter")
        page.locator(f'.head[data-name="{name}"]').wait_for()
        states = page.get_by_label("States, with commas")
        states.fill(", ".join(CLINIC.variable(name).states))
        states.press("Tab")
        find_state(page, name, CLINIC.variable(name).states[-1]).wait_for()
    page.keyboard.press("Escape")
    for count, (parent, child) in enumerate(CLINIC.dag.edges):
        port = (
            page.locator(".card")
            .filter(has=page.locator(f'.head[data-name="{parent}"]'))
            .locator(".port")
            .bounding_box()
        )
        card = page.locator(f'.head[data-name="{child}"]').bounding_box()
        assert port is not None  # noqa: S101
        assert card is not None  # noqa: S101
        page.mouse.move(port["x"] + port["width"] / 2, port["y"] + port["height"] / 2)
        page.mouse.down()
        page.mouse.move(card["x"] + card["width"] / 2, card["y"] + card["height"] / 2, steps=4)
        page.mouse.up()
        page.locator(".edges .edge").nth(count).wait_for(state="attached")


def find_state(page: "Page", name: str, state: str) -> "Locator":
    """The row of a state on a card."""
    card = page.locator(".card").filter(has=page.locator(f'.head[data-name="{name}"]'))
    return card.locator(f'.state[data-state="{state}"]')


def main() -> None:
    """Tell the story in a folder of its own, and photograph it."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        rows = write_rows(Path(folder))
        words = [str(COMMAND), "explore", "--port", "0", "--no-browser"]
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        server = subprocess.Popen(words, cwd=folder, stdout=pipe, stderr=null, text=True)  # noqa: S603
        try:
            assert server.stdout is not None  # noqa: S101
            address = server.stdout.readline().strip()
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1240, "height": 748}, reduced_motion="reduce")
            page.goto(address)

            def take(name: str) -> None:
                path = FIGURES / f"explorer-story-{name}.png"
                page.mouse.move(0, 0)
                page.wait_for_timeout(400)
                page.screenshot(path=path)
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")

            tell_story(page, rows, take)
            browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
