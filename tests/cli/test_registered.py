"""What is registered while the program runs is offered, described and taken by the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from possnet.io import NETWORK_FORMATS
from possnet.learners import LEARNERS
from possnet.metrics import METRICS
from possnet.registries import Registry
from possnet.sampling import PROCESSES
from possnet.structure import MEASURES, METHODS
from tests.commands import run


@pytest.fixture
def register() -> Iterator[Any]:
    """Registers an entry until the test ends: a copy of another one, under a name of its own."""
    registered: list[tuple[Registry[Any], str]] = []

    def copy_entry(registry: Registry[Any], old: str, **changes: Any) -> None:
        entry = registry.register(replace(registry[old], name="mine", label="my own", **changes))
        registered.append((registry, entry.name))

    yield copy_entry
    for registry, name in registered:
        registry.unregister(name)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    file = tmp_path / "rows.parquet"
    pn.write_data(pn.sample(pn.load_example("asia"), 300, rng=1), file)
    return file


@pytest.mark.parametrize(
    ("registry", "old", "command", "option"),
    [
        (LEARNERS, "likelihood", "fit", "--learner"),
        (LEARNERS, "likelihood", "evaluate", "--learner"),
        (PROCESSES, "traced", "sample", "--process"),
        (PROCESSES, "traced", "evaluate", "--process"),
        (METRICS, "affinity", "evaluate", "--metric"),
        (METHODS, "mwst", "learn", "--method"),
        (MEASURES, "bic", "learn", "--measure"),
    ],
)
def test_a_registered_name_is_in_the_help(
    registry: Registry[Any], old: str, command: str, option: str, register: Any
) -> None:
    register(registry, old)
    help_of_option = " ".join(run(command, "--help").stdout.partition(f"{option} ")[2].split())
    assert "mine (my own)" in help_of_option


def test_a_registered_learner_fits(register: Any, rows: Path, tmp_path: Path) -> None:
    register(LEARNERS, "likelihood")
    how = ["--structure", "asia", "--method", "mine", "--out", tmp_path / "mine.json"]
    shown = run("fit", rows, *how)
    assert shown.returncode == 0, shown.stderr
    assert pn.read_network(tmp_path / "mine.json") == pn.fit(pn.load_example("asia").dag, pn.read_data(rows))


def test_a_learner_that_takes_no_streams_is_given_all_rows_at_once(register: Any, rows: Path, tmp_path: Path) -> None:
    def fit_at_once(dag: pn.Dag, data: object, **options: Any) -> pn.Network:
        assert isinstance(data, pn.Dataset)
        return pn.fit(dag, data, **options)

    register(LEARNERS, "likelihood", fit=fit_at_once, takes_streams=False)
    shown = run("fit", rows, "--structure", "asia", "--method", "mine", "--out", tmp_path / "mine.json")
    assert shown.returncode == 0, shown.stderr


def test_a_registered_process_draws(register: Any, tmp_path: Path) -> None:
    register(PROCESSES, "precise")
    shown = run("sample", "asia", "--process", "mine", "--rows", "20", "--seed", "1", "--out", tmp_path / "mine.csv")
    assert shown.returncode == 0, shown.stderr
    assert pn.read_data(tmp_path / "mine.csv").imprecise_share() == 0.0


def test_a_registered_metric_is_compared(register: Any) -> None:
    register(METRICS, "affinity")
    assert json.loads(run("compare", "asia", "asia", "--json").stdout)["mine"]["value"] == 1.0
    assert "my own" in run("compare", "asia", "asia").stdout


def test_a_registered_method_searches(register: Any, rows: Path) -> None:
    register(METHODS, "mwst")
    register(MEASURES, "random-set-bic", methods=("mine",))
    document = json.loads(run("learn", rows, "--method", "mine", "--measure", "mine", "--json").stdout)
    assert (document["method"], document["measure"]) == ("mine", "mine")


def test_a_registered_format_is_written_and_listed(register: Any, tmp_path: Path) -> None:
    register(NETWORK_FORMATS, "json", suffixes=(".mine",))
    assert ".mine" in run("convert", "--help").stdout
    shown = run("convert", "asia", tmp_path / "asia.mine")
    assert shown.returncode == 0, shown.stderr
    assert pn.read_network(tmp_path / "asia.mine") == pn.load_example("asia")
