"""Networks written for other programs: round trips, names that a format cannot hold, and tables that were changed since."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.io.network_formats.hugin import decode_hugin, write_hugin
from possnet.io.network_formats.xdsl import decode_xdsl, write_xdsl
from tests.commands import run
from tests.refused import refused
from tests.strategies import networks

KEEPING = ((write_hugin, decode_hugin, "net"), (write_xdsl, decode_xdsl, "xdsl"))
ODD = pn.Variable('fe"v é\\%r', ("<5", 'a;b "q"', "x\ny", "a b"), ordered=True)
AND = pn.Variable("r&x", ("&quot;", "2%"))
STRANGE = pn.Network(
    (ODD, AND),
    pn.Dag({ODD.name: (AND.name,), AND.name: ()}),
    {ODD.name: [[1, 0.5, 0.25, 0], [0.3, 1, 1, 0.1]], AND.name: [1, 1 / 3]},
    conjunction=pn.MIN,
    name="an odd one",
    description="'quoted', \"twice\" & so on",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("written")


@given(network=networks(), transform=st.sampled_from([None, "symmetric", "ratio"]))
def test_a_network_comes_back_exactly_from_files_that_keep_degrees(
    place: Path, network: pn.Network, transform: str | None
) -> None:
    for write, decode, suffix in KEEPING:
        path = place / f"any.{suffix}"
        write(network, path, transform=transform)
        again = decode(path.read_bytes(), path)
        assert again == network
        assert again.variables == network.variables
        assert (again.name or "any", again.description) == (network.name or again.name, network.description)


@pytest.mark.parametrize("suffix", ["net", "xdsl"])
def test_names_that_a_format_does_not_allow_come_back_too(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"strange.{suffix}"
    pn.write_network(STRANGE, path)
    again = pn.read_network(path)
    assert again == STRANGE
    assert (again.name, again.description) == (STRANGE.name, STRANGE.description)
    binned = pn.bin_measurements([1.0, 5.0], edges=[0.0, 2.5], unit="°C", name="n").variable
    numbers = pn.Network([binned], pn.Dag({"n": ()}), {"n": [1, 0.5, 0.25]}).with_transform("ratio")
    pn.write_network(numbers, path)
    assert pn.read_network(path) == numbers
    assert pn.read_network(path).variable("n").bins == binned.bins


@pytest.mark.parametrize("suffix", ["net", "xdsl"])
def test_a_table_that_was_changed_since_is_read_as_probabilities(tmp_path: Path, suffix: str) -> None:
    rash = pn.Variable("rash", ("yes", "no"))
    fever = pn.Variable("fever", ("yes", "no"))
    dag = pn.Dag({"rash": (), "fever": ("rash",)})
    net = pn.Network((rash, fever), dag, {"rash": [0.5, 1], "fever": [[1, 0.125], [0.75, 1]]})
    path = tmp_path / f"changed.{suffix}"
    pn.write_network(net, path)
    text = path.read_text(encoding="utf-8")
    assert text.count("0.25 0.75") == 1  # the pignistic probabilities of .5, 1
    path.write_text(text.replace("0.25 0.75", "0.250000 0.750001"), encoding="utf-8")
    assert pn.read_network(path) == net  # another program rounded
    path.write_text(text.replace("0.25 0.75", "0.2 0.8"), encoding="utf-8")
    with pytest.warns(pn.PossnetWarning, match="the probabilities of rash were changed since possnet wrote the file"):
        again = pn.read_network(path, transform="ratio")
    assert again.table("rash").tolist() == [0.25, 1]
    assert again.table("fever").tolist() == net.table("fever").tolist()


@pytest.mark.parametrize("suffix", ["net", "xdsl"])
def test_notes_that_are_none_are_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"broken.{suffix}"
    pn.write_network(STRANGE, path)
    text = path.read_text(encoding="utf-8")
    quote = "&quot;"
    for old, new, message in (
        (f"{quote}version{quote}: 1", f"{quote}version{quote}: 2", "possnet_network holds another version, or none"),
        (f"{quote}min{quote}", f"{quote}max{quote}", "possnet_network holds unknown words"),
        (f"{{{quote}version", f"{{{{{quote}version", "possnet_network holds no JSON"),
        (f"[{quote}&lt;5" if suffix == "xdsl" else f"[{quote}<5", f"{quote}<5".replace("<", "&lt;"), "possnet_states holds no JSON"),
    ):  # fmt: skip
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        refused(message, pn.read_network, path)


@pytest.mark.parametrize("suffix", ["bif", "xmlbif"])
@pytest.mark.parametrize("method", ["symmetric", "ratio"])
def test_probabilities_that_are_written_come_back_as_the_same_degrees(tmp_path: Path, suffix: str, method: str) -> None:
    path = tmp_path / f"clinic.{suffix}"
    clinic = pn.load_example("clinic")
    pn.write_network(clinic, path, transform=method)
    again = pn.read_network(path, transform=method)  # type: ignore[arg-type]
    assert again.dag == clinic.dag
    for variable in clinic.variables:
        assert again.variable(variable.name).states == variable.states
        np.testing.assert_allclose(again.table(variable.name), clinic.table(variable.name), rtol=0, atol=1e-12)


def test_probabilities_of_a_bif_file_come_back_by_the_transformation_they_were_read_with(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    variables = [pn.Variable(name, ("a", "b b", "<5", "d")) for name in ("x", "y", "z")]
    dag = pn.Dag({"x": (), "y": ("x",), "z": ("y", "x")})
    probabilities = {
        "x": rng.dirichlet([0.4] * 4),
        "y": rng.dirichlet([0.4] * 4, 4),
        "z": rng.dirichlet([0.4] * 4, (4, 4)),
    }
    network = pn.Network(variables, dag, {name: pn.to_possibility(table) for name, table in probabilities.items()})
    for suffix in ("bif", "xmlbif"):
        path = tmp_path / f"net.{suffix}"
        pn.write_network(network, path, transform="optimal")
        for name, table in probabilities.items():
            np.testing.assert_allclose(
                pn.read_network(path, transform="optimal").table(name), network.table(name), atol=1e-12
            )
            by_ratio = pn.read_network(path, transform="ratio").table(name)
            np.testing.assert_allclose(by_ratio, table / table.max(axis=-1, keepdims=True), atol=1e-9)


def test_what_a_file_of_probabilities_cannot_hold_is_refused_and_nothing_written(tmp_path: Path) -> None:
    asia, survey = pn.load_example("asia"), pn.load_example("survey")
    for suffix, label in (("bif", "BIF"), ("xmlbif", "XMLBIF")):
        path = tmp_path / f"net.{suffix}"
        refused(f"a {label} file holds probabilities, and the network holds degrees", pn.write_network, asia, path)
        refused("transform.*'klir'.*expected", pn.write_network, asia, path, transform="klir")
        refused(f"a min-based network cannot be a {label} file", pn.write_network, survey, path, transform="ratio")
        steep = asia.with_table("tub", [[1.0, 0.9], [1.0, 1.0]]).with_table("smoke", [1, 0.9])
        refused(
            "table of 'tub': .*no probability has the degrees 1, 0.9",
            pn.write_network,
            steep,
            path,
            transform="optimal",
        )
        named = pn.Network([pn.Variable('"\n', ("a",))], pn.Dag({'"\n': ()}), {'"\n': [1]})
        refused("rename it", pn.write_network, named, path, transform="ratio")
        halved = pn.Network.subnormal([AND], pn.Dag({AND.name: ()}), {AND.name: [0.5, 0.2]})
        refused("a subnormal network has no probabilities", pn.write_network, halved, path, transform="ratio")
        assert not path.exists()
        told = asia.with_transform("ratio")
        pn.write_network(told, path)  # the network says how its degrees were made
        np.testing.assert_allclose(
            pn.read_network(path, transform="ratio").table("dysp"), asia.table("dysp"), atol=1e-12
        )


def test_the_command_converts_to_every_format_by_a_named_transformation(tmp_path: Path) -> None:
    refusal = run("convert", "clinic", tmp_path / "clinic.bif")
    assert refusal.returncode == 1
    assert "name the transformation" in refusal.stderr
    assert run("convert", "clinic", tmp_path / "clinic.bif", "--transform", "symmetric").returncode == 0
    assert run("convert", tmp_path / "clinic.bif", tmp_path / "clinic.net", "--transform", "symmetric").returncode == 0
    assert run("convert", tmp_path / "clinic.net", tmp_path / "clinic.xdsl").returncode == 0
    clinic, again = pn.load_example("clinic"), pn.read_network(tmp_path / "clinic.xdsl")
    for variable in clinic.variables:
        np.testing.assert_allclose(again.table(variable.name), clinic.table(variable.name), rtol=0, atol=1e-12)
    assert "clinic: a product-based possibilistic network" in run("info", tmp_path / "clinic.xdsl").stdout
    assert run("convert", "survey", tmp_path / "survey.wcnf").returncode == 0
    learned = run("fit", tmp_path / "no.csv", "--structure", "clinic", "--out", tmp_path / "learned.bif")
    assert learned.returncode == 1


def test_a_learned_network_is_not_promised_to_a_file_of_probabilities(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    pn.write_data(pn.sample(pn.load_example("asia"), 20, process="precise", rng=1), rows)
    refusal = run("fit", rows, "--structure", "asia", "--out", tmp_path / "learned.bif")
    assert refusal.returncode == 1
    assert "a BIF file holds probabilities; expected .json, and then: possnet convert NET" in refusal.stderr


def test_hostile_strings_take_linear_time() -> None:
    for content in (b'% x\n"' + b'\\"' * 300_000, b"potential (" + b'"\\"' * 300_000 + b")", b"net{" + b"a=" * 300_000):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            refused("", decode_hugin, content, "long.net")
