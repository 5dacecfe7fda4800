"""The pictures of docs/tutorials: the code of each page is run, and its ``figure`` or ``picture`` is written."""

import contextlib
import doctest
import io
import os
import sys
import tempfile
from pathlib import Path

import possnet as pn

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.pages import write_files  # noqa: E402


def run_page(page: Path) -> dict[str, object]:
    """The names that the examples of a page leave behind."""
    names: dict[str, object] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_files(page, Path(folder))
        for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(example.source, page.name, "single"), names)  # noqa: S102
    return names


def draw_pictures() -> None:
    """Write one picture for each tutorial."""
    os.environ.setdefault("MPLBACKEND", "agg")
    for page in sorted((ROOT / "docs" / "tutorials").glob("*.md")):
        names = run_page(page)
        if "figure" in names or "picture" in names:
            figure = names.get("figure")
            text = str(names["picture"]) if figure is None else pn.plots.svg_text(figure, page.stem.replace("-", " "))
            (ROOT / "docs" / "figures" / f"tutorial-{page.stem}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    draw_pictures()
