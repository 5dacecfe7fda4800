"""Calibrations as JSON: the scores of the calibration rows, and the networks that gave them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.calibration import AMBIGUOUS, Calibration, ScoreRanks
from possnet.doors import check_arguments
from possnet.errors import InputError, require_known, require_number
from possnet.inference import SCORED_BY
from possnet.io.atomic_files import write_text
from possnet.io.file_access import prefix_errors, read_bytes
from possnet.io.json_files import (
    convert_document,
    describe_bins,
    parse_object,
    require_format,
    restore_variables,
    seal_json,
)
from possnet.io.network_formats.json_network import decode_network, encode_network

if TYPE_CHECKING:
    from pathlib import Path

    from possnet.io.json_schema import CalibrationJson, ScoresJson
    from possnet.network import Network

_NAME = "possnet-calibration"
_VERSION = 1


@check_arguments
def write_calibration(calibration: Calibration, path: str | Path) -> None:
    """Write a calibration as JSON, whole or not at all.

    >>> import possnet as pn, tempfile, pathlib
    >>> clinic = pn.load_example("clinic")
    >>> calibration = pn.calibrate(clinic, pn.sample(clinic, 100, process="precise", rng=1), target="flu")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_calibration(calibration, pathlib.Path(folder) / "flu.json")
    ...     read_calibration(pathlib.Path(folder) / "flu.json")
    Calibration(flu: 100 rows that the network was not learned from, scores by possibility)
    """
    target = calibration.target
    document = {
        "format": _NAME,
        "version": _VERSION,
        "target": {"name": target.name, "states": target.states, "ordered": target.ordered, **describe_bins(target)},
        "by": calibration.by,
        "ambiguous": calibration.ambiguous,
        "seen": calibration.seen,
        "alpha": calibration.alpha,
        "folds": [_describe_ranks(ranks) for ranks in calibration.ranks],
        "scorers": [json.loads(encode_network(network)) for network in calibration.scorers],
        "network": None if calibration.network is None else json.loads(encode_network(calibration.network)),
    }
    if len(calibration.scorers) == 1 and calibration.network is calibration.scorers[0]:
        document["network"] = None  # it is the one that gives the scores
    write_text(path, seal_json(json.dumps(document, ensure_ascii=False)))


@check_arguments
def read_calibration(path: str | Path) -> Calibration:
    """The calibration in a JSON file that `write_calibration` wrote.

    >>> read_calibration("nowhere.json")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: nowhere.json: no such file; check the name
    """
    owner = str(path)
    document = parse_object(read_bytes(path), owner, "a calibration as JSON")
    require_format(document, owner, _NAME, _VERSION)
    from possnet.io.json_schema import CalibrationJson

    page = convert_document(document, CalibrationJson, owner, "expected what write_calibration writes")
    with prefix_errors(owner):
        return _restore_calibration(page, owner)


def _restore_calibration(page: CalibrationJson, owner: str) -> Calibration:
    require_known(page.by, SCORED_BY, "by")
    require_known(page.ambiguous, AMBIGUOUS, "ambiguous")
    if page.alpha is not None:
        require_number(page.alpha, "alpha", "a number between 0 and 1", 1e-300, 1.0)
    (target,) = restore_variables([page.target])
    scorers = tuple(_restore_network(document, owner) for document in page.scorers)
    network = None if page.network is None else _restore_network(page.network, owner)
    if not page.folds or (scorers and len(scorers) != len(page.folds)):
        raise InputError(f"{len(scorers)} networks for {len(page.folds)} folds; expected one for each")
    for own in (*scorers, *([network] if network is not None else [])):
        if own.variable(target.name).states != target.states:
            raise InputError(f"a network whose {target.name!r} has other states; expected those of the calibration")
    ranks = tuple(_restore_ranks(fold, len(target)) for fold in page.folds)
    if len({own.states is None for own in ranks}) > 1:
        raise InputError("some folds tell states apart and some do not; the file is damaged")
    own_network = network if network is not None or len(scorers) != 1 else scorers[0]
    by: Any = page.by
    ambiguous: Any = page.ambiguous
    return Calibration(target, ranks, scorers, own_network, by, ambiguous, page.seen, page.alpha)


def _describe_ranks(ranks: ScoreRanks) -> dict[str, Any]:
    states = None if ranks.states is None else ranks.states.tolist()
    return {"scores": ranks.scores.tolist(), "weights": ranks.weights.tolist(), "states": states}


def _restore_network(document: dict[str, Any], owner: str) -> Network:
    return decode_network(json.dumps(document).encode(), f"{owner}, network")


def _restore_ranks(entry: ScoresJson, n_states: int) -> ScoreRanks:
    scores, weights = np.array(entry.scores, dtype=np.float64), np.array(entry.weights, dtype=np.float64)
    states = None if entry.states is None else np.array(entry.states, dtype=np.int64)
    sound = len(scores) == len(weights) and bool(np.isfinite(scores).all() and (weights > 0.0).all())
    sound = sound and bool((np.diff(scores) >= 0.0).all())
    if states is not None:
        sound = sound and len(states) == len(scores) and bool(((states >= 0) & (states < n_states)).all())
    if not sound:
        raise InputError("scores that are not ascending numbers with a weight and a state each; the file is damaged")
    return ScoreRanks.from_scores(scores, weights, states)
