"""Every page runs in a folder of its own, in which the files that it shows are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.pages import write_files

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def page_folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder with the files of the page."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    if request.path.suffix == ".md":
        write_files(request.path, tmp_path)
