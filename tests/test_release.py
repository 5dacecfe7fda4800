"""What is released: metadata that lead somewhere, floors that are tried, and one list of checks for every machine."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from types import ModuleType

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


def test_the_page_at_the_registry_has_no_relative_links() -> None:
    hook = load_script("hatch_build.py").CustomMetadataHook(str(ROOT), {})
    metadata = {"urls": PROJECT["urls"]}
    hook.update(metadata)
    text = metadata["readme"]["text"]
    targets = re.findall(r"\]\(([^)\s]+)\)|src(?:set)?=\"([^\"]+)\"", text)
    assert len(targets) > 20
    repository = PROJECT["urls"]["Repository"]
    for link, picture in targets:
        assert (link or picture).startswith("https://"), link or picture
        local = re.sub(rf"^{re.escape(repository)}/(?:blob|raw)/v{re.escape(pn.__version__)}/", "", link or picture)
        assert "://" in local or (ROOT / local).exists(), local
    assert re.sub(r"\]\([^)\s]+\)|src(?:set)?=\"[^\"]+\"", "", text) == re.sub(
        r"\]\([^)\s]+\)|src(?:set)?=\"[^\"]+\"", "", (ROOT / "README.md").read_text(encoding="utf-8")
    )


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
