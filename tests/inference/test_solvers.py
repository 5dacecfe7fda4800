"""Answers against independent solvers, recorded by `make fixtures`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import possnet as pn
from tests.gold import gold_files
from tests.paths import FIXTURES

SOLVERS = json.loads((FIXTURES / "solvers.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.needs("gold")
@pytest.mark.parametrize("row", range(len(SOLVERS)), ids=lambda k: f"{SOLVERS[k]['network']}-{k % 3}")
def test_answers_agree_with_independent_solvers(row: int) -> None:
    """toulbar2 for the most possible degree, elimination with pyAgrum's tensors for marginals; recorded by `make fixtures`."""
    recorded = SOLVERS[row]
    name, evidence = recorded["network"], recorded["evidence"]
    bundled = {"asia", "clinic", "pump"}
    path = next((p for p in gold_files() if p.name == f"{name}.bif.gz"), None)
    net = pn.load_example(name) if name in bundled else pn.read_network(path or "")
    engine = pn.Inference(net)
    degree = engine.possibility_of(evidence)
    if recorded["toulbar2"] is not None:
        assert degree == pytest.approx(recorded["toulbar2"], rel=1e-8)
    for target, degrees in recorded["marginals"].items():
        assert max(degrees) == pytest.approx(degree, rel=1e-9)
        if degree > 0.0:
            expected = np.array(degrees) / max(degrees)
            assert engine.query(target, evidence).degrees == pytest.approx(expected, rel=1e-9, abs=1e-300)
        else:
            with pytest.raises(pn.ImpossibleEvidence):
                engine.query(target, evidence)


@pytest.mark.slow
@pytest.mark.needs("gold")
@pytest.mark.parametrize("name", ["alarm", "pathfinder", "diabetes", "water", "munin", "link"])
def test_marginals_of_gold_standard_networks_agree_with_the_solvers(name: str) -> None:
    net = pn.read_network(next(p for p in gold_files() if p.name == f"{name}.bif.gz"))
    engine = pn.Inference(net)
    assert all(pi.is_normalised for pi in engine.marginals().values())
    for recorded in (row for row in SOLVERS if row["network"] == name):
        if recorded["toulbar2"] == 0.0:  # pyAgrum's maximum of zeros is the smallest float, so it cannot tell
            with pytest.raises(pn.ImpossibleEvidence):
                engine.marginals(recorded["evidence"])
            continue
        found = engine.marginals(recorded["evidence"])
        for target, degrees in recorded["marginals"].items():
            assert found[target].degrees == pytest.approx(np.array(degrees) / max(degrees), rel=1e-9, abs=1e-300)
