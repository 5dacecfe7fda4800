"""Profiles, loud skips, and the marker that ties laws to the paper."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import hypothesis
import pytest

import possnet as pn
from tests.serving import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from possnet.experiment import Experiment

for profile, examples in (("few", 8), ("quick", 25), ("possnet", 60), ("thorough", 200)):
    hypothesis.settings.register_profile(
        profile,
        derandomize=True,
        deadline=None,
        max_examples=examples,
        suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
    )
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "possnet"))

SITE: Final = Path(__file__).parent.parent / "docs/_build/html/index.html"
AXE: Final = Path(__file__).parent.parent / ".venv/axe/node_modules/axe-core/axe.min.js"
REQUIREMENTS: Final[dict[str, tuple[Callable[[], bool], str]]] = {
    "gold": (lambda: importlib.util.find_spec("pgmpy") is not None, "run `make gold`"),
    "axe": (AXE.exists, "run `make axe`, which needs npm"),
    "site": (SITE.exists, "run `make docs`"),
    "browser": (lambda: shutil.which("chromium") is not None, "install Debian's chromium"),
}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here, loudly; fail instead where POSSNET_REQUIRE says that it must run."""
    for marker in item.iter_markers("needs"):
        (what,) = marker.args
        present, remedy = REQUIREMENTS[what]
        if not present():
            message = f"{what} is missing: {remedy}"
            if what in os.environ.get("POSSNET_REQUIRE", "").split(","):
                pytest.fail(f"{message} (POSSNET_REQUIRE names it)", pytrace=False)
            pytest.skip(message)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def clinic() -> Iterator[Server]:
    """The explorer of the bundled clinic, which nobody edits."""
    with serving("clinic") as server:
        yield server


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """``possnet evaluate --out`` without its pictures, which take most of its time; tests/report has them."""

    def name_it(experiment: Experiment, **_: object) -> Path:
        return experiment.folder / "report.html"

    monkeypatch.setattr(pn, "write_report", name_it)
