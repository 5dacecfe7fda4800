"""What is released: metadata that lead somewhere, floors that are tried, and one list of checks for every machine."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hatchling.builders.sdist import SdistBuilder

import possnet as pn
from tests.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def load_script(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.replace("/", "_").removesuffix(".py"), ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_metadata(folder: Path, repository: str) -> dict[str, Any]:
    """The dynamic metadata of a copy of the project in which the setting of the repository is another one."""
    for name in ("README.md", "pyproject.toml", "src/possnet/__init__.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / name).read_text(encoding="utf-8")
        changed = re.sub(r'^repository = ".*"$', f'repository = "{repository}"', text, flags=re.MULTILINE)
        (folder / name).write_text(changed, encoding="utf-8")
    metadata: dict[str, Any] = {}
    load_script("hatch_build.py").CustomMetadataHook(str(folder), {}).update(metadata)
    return metadata


def test_with_one_setting_the_page_at_the_registry_has_no_relative_links(tmp_path: Path) -> None:
    repository = "https://code.test/somebody/possnet"
    metadata = make_metadata(tmp_path, repository + "/")
    text = metadata["readme"]["text"]
    targets = re.findall(r"\]\(([^)\s]+)\)|src(?:set)?=\"([^\"]+)\"", text)
    assert len(targets) > 20
    for link, picture in targets:
        assert (link or picture).startswith("https://"), link or picture
        local = re.sub(rf"^{re.escape(repository)}/(?:blob|raw)/v{re.escape(pn.__version__)}/", "", link or picture)
        assert "://" in local or (ROOT / local).exists(), local
    pictures = [picture for _, picture in targets if picture]
    assert len(pictures) == 4
    assert all(picture.startswith(f"{repository}/raw/v{pn.__version__}/docs/figures/") for picture in pictures)
    assert re.sub(r"\]\([^)\s]+\)|src(?:set)?=\"[^\"]+\"", "", text) == re.sub(
        r"\]\([^)\s]+\)|src(?:set)?=\"[^\"]+\"", "", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    assert set(metadata["urls"]) == {"Repository", "Documentation", "Changelog", "Issues"}
    assert all(address.startswith(repository) for address in metadata["urls"].values())
    for address in metadata["urls"].values():
        file = address.removeprefix(f"{repository}/blob/main/")
        assert file in {repository, f"{repository}/issues"} or (ROOT / file).exists()


def test_without_an_address_nothing_at_the_registry_leads_nowhere(tmp_path: Path) -> None:
    metadata = make_metadata(tmp_path, "")
    text = metadata["readme"]["text"]
    assert metadata["urls"] == {}
    assert "<img" not in text
    assert "<picture" not in text
    assert [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith("https://")] == []
    assert "docs/structure.md" in text
    assert len(text) > 7000
    refused_setting = "tool.possnet.repository is 'ftp://x'; expected https://"
    with pytest.raises(ValueError, match=refused_setting):
        make_metadata(tmp_path, "ftp://x")


def test_the_source_package_holds_all_that_its_own_checks_read() -> None:
    packed = {file.relative_path for file in SdistBuilder(str(ROOT)).recurse_included_files()}
    assert not [name for name in packed if name.startswith(("docs/_build", "build", "dist", ".venv"))]
    for folder in ("docs", "tests", "src", "benchmarks", "examples", ".ci", ".github", "requirements"):
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and not re.search(r"/(_build|__pycache__|\.\w+_cache|\.hypothesis)/|\.pyc$", name):
                assert name in packed, name
    assert {"Makefile", "hatch_build.py", "README.md", "CITATION.cff", ".pre-commit-config.yaml"} <= packed


def test_the_version_heads_the_changelog() -> None:
    heading = re.search(r"^## (\S+) \(([^)]+)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heading is not None
    assert heading[1] == pn.__version__
    assert heading[2] == "unreleased" or re.fullmatch(r"\d{4}-\d\d-\d\d", heading[2])


def test_the_lowest_versions_that_are_tried_are_the_floors_that_are_promised() -> None:
    pins = dict(
        re.findall(
            r"^([\w-]+)==([\w.]+)", (ROOT / "requirements" / "lowest.txt").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    extras = [entry for name, listed in PROJECT["optional-dependencies"].items() if name != "all" for entry in listed]
    for entry in (*PROJECT["dependencies"], *extras):
        name, floor = re.split(r">=", entry)
        assert pins[name.replace("_", "-")].startswith(floor), entry
    everything = PROJECT["optional-dependencies"]["all"][0]
    assert set(re.findall(r"\w+", everything)) - {"possnet"} == set(PROJECT["optional-dependencies"]) - {"all"}


def test_the_workflow_calls_targets_of_the_makefile_and_nothing_else() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    steps = re.findall(r"- run: (.+)", workflow)
    assert len(steps) >= 5
    for step in steps:
        words = step.split()
        assert words == [".ci/run"] or (words[0] == "make" and re.search(rf"^{words[1]}:", makefile, re.MULTILINE)), (
            step
        )
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} <= set(re.findall(r"[a-z]+-latest", workflow))
    lowest = PROJECT["requires-python"].removeprefix(">=")
    assert f'"{lowest}"' in workflow
    assert f"Programming Language :: Python :: {lowest}" in PROJECT["classifiers"]


def test_the_commands_of_the_readme_are_those_that_are_tried() -> None:
    commands = load_script(".ci/try_wheel.py").list_commands((ROOT / "README.md").read_text(encoding="utf-8"))
    names = [command[1] for command in commands]
    assert len(commands) == len(
        re.findall(r"^possnet (?!explore)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert {"evaluate", "sample", "info", "learn", "complete", "check", "fit", "classify", "convert"} <= set(names)
    assert not any("#" in word for command in commands for word in command)
