"""Folders of experiments with one file changed: an input is the name of the file, a line break, and its content."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import possnet as pn
from possnet.experiment import Experiment, read_experiment
from tests.hostile.mutators import mutate_json
from tests.hostile.readers import Reader, workplace


@cache
def _experiment() -> tuple[Path, dict[str, bytes]]:
    """A folder of a small finished experiment, and its files of JSON."""
    folder = workplace() / "experiment"
    shutil.rmtree(folder, ignore_errors=True)
    two = [pn.Variable("a", ("x", "y")), pn.Variable("b", ("u", "v"))]
    network = pn.Network(two, pn.Dag({"a": (), "b": ("a",)}), {"a": [1, 0.5], "b": [[1, 0.2], [0.3, 1]]}, name="n")
    options: dict[str, Any] = {
        "rows": 5,
        "imprecision": 1,
        "process": "alpha-cut",
        "learners": "likelihood",
        "repeats": 1,
        "rng": 1,
    }
    pn.evaluate({"n": network}, out=folder, **options)
    names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.json"))]
    return folder, {name: (folder / name).read_bytes() for name in names}


def seed_files() -> list[bytes]:
    """The files of the experiment."""
    return [name.encode() + b"\n" + content for name, content in _experiment()[1].items()]


def mutate_file(content: bytes, others: Sequence[bytes], words: Sequence[bytes], rng: Random) -> bytes:
    """The content of the file changed; its name stays."""
    name, _, body = content.partition(b"\n")
    return name + b"\n" + mutate_json(body, [other.partition(b"\n")[2] for other in others], words, rng)


def read_folder(content: bytes) -> Experiment:
    """The experiment of the folder with the changed file in place of its own."""
    folder, files = _experiment()
    name, _, body = content.partition(b"\n")
    own = next((known for known in files if known.encode() == name), "experiment.json")
    try:
        (folder / own).write_bytes(body)
        return read_experiment(folder)
    finally:
        (folder / own).write_bytes(files[own])


def check_folder(content: bytes, thorough: bool) -> bool:
    """Read the folder with the changed file; an accepted one has results that can be summed up."""
    experiment = read_folder(content)
    if thorough:
        experiment.results.summary()
    return True


_WORDS = (
    b'"rows"',
    b'"repeats"',
    b'"seed"',
    b'"learners"',
    b'"metrics"',
    b'"error"',
    b'"seconds"',
    b'"contexts"',
    b'"checksum"',
)
EXPERIMENT = Reader("experiment", "folders of experiments", seed_files, _WORDS, check_folder, mutate_file, 2_000)
