"""Structures behind precise rows of gold-standard networks are no further from the truth than the peers'.

The peers' answers were recorded by benchmarks/precise_structures.py, which has the same rows.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet.metrics.structures import structure_metrics
from tests.gold import gold_files
from tests.paths import ROOT

RECORDED: dict[str, Any] = json.loads((ROOT / "tests/fixtures/precise_structures.json").read_text(encoding="utf-8"))
ROWS = 1000
SEEDS = (1, 2, 3)


def load_gold(name: str) -> pn.Network:
    return pn.load_example(name) if name == "asia" else pn.read_network(*(f for f in gold_files() if f.name == f"{name}.bif.gz"))  # fmt: skip


def draw_rows(net: pn.Network, seed: int) -> pn.Dataset:
    data = pn.sample(net, ROWS, process="precise", rng=seed)
    order = np.random.default_rng(seed).permutation(len(data.variables))
    return data.select([data.variables[k].name for k in order])


def peer_distances(name: str, score: str) -> dict[str, float]:
    """Mean distance of every peer that ended with all seeds."""
    means = {}
    for answer in RECORDED["answers"]:
        known = {seed: distance for seed, distance, *_ in answer["runs"] if seed in SEEDS}
        if (answer["network"], answer["rows"], answer["score"], len(known)) == (name, ROWS, score, len(SEEDS)):
            means[answer["search"]] = float(np.mean(list(known.values())))
    return means


@pytest.mark.parametrize("name", ["asia", pytest.param("alarm", marks=pytest.mark.needs("gold"))])
@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_orders_come_as_close_to_the_truth_as_any_peer(name: str, score: str) -> None:
    net = load_gold(name)
    peers = peer_distances(name, score)
    assert {"pyagrum_greedy", "pyagrum_tabu"} <= set(peers)
    assert score == "bdeu" or {"causal_learn_ges", "causal_learn_boss"} <= set(peers)
    values = [
        structure_metrics(net.dag, pn.learn_structure(draw_rows(net, seed), "boss", measure=score).dag)
        for seed in SEEDS
    ]
    assert np.mean([value["essential_hamming"] for value in values]) <= min(peers.values())
