"""Drawing a million rows of the alarm network beside pyAgrum's ``drawSamples``.

Every process and several imprecisions; compiling the laws is part of each time.
"""

import tempfile
from pathlib import Path

from measure import QUICK_ROUNDS, ROUNDS, THREADS, Peer, Section, Target, better, interleaved, next_limit, table, timed
from networks import bif, load

import possnet as pn

ROWS = 1_000_000
HOW: dict[str, dict[str, str]] = {
    "alpha-cut": {"process": "alpha-cut"},
    "alpha-cut, parents cut": {"process": "alpha-cut", "parents": "cut"},
    "alpha-cut, law of the text": {"process": "alpha-cut", "law": "text"},
    "traced": {"process": "traced"},
    "precise": {"process": "precise"},
}


def measure(*, quick: bool) -> Section:
    """The whole section."""
    net = load("alarm")
    thetas = (0.0, 0.5) if quick else (0.0, 0.25, 0.5, 1.0)
    with tempfile.TemporaryDirectory() as folder, Peer() as peer:
        file = bif("alarm", Path(folder))
        jobs = peer.with_threads("samples", net=file, rows=ROWS)
        for name, how in HOW.items():
            for theta in thetas if name != "precise" else (1.0,):
                jobs[f"{name}|{theta:g}"] = timed(
                    lambda theta=theta, how=how: pn.sample(net, ROWS, imprecision=theta, rng=1, **how)
                )
        found = interleaved(jobs, QUICK_ROUNDS if quick else ROUNDS)
    theirs = better(found)
    peers = [found.pop(f"peer, {k}") for k in THREADS]
    rows = [[*name.split("|"), str(times), f"{theirs.best / times.best:.0f}"] for name, times in found.items()]
    slowest = max(found, key=lambda name: found[name].best)
    text = (
        f"{ROWS:,} rows of alarm. pyAgrum's `drawSamples`, precise rows: {peers[0]} with one thread, {peers[1]} with two.\n\n"
        + table(" process | theta | possnet | times faster ", rows)
    )
    if not quick:
        limit = next_limit("traced rows, theta .5", lambda: pn.sample(net, ROWS, process="traced", rng=1), 6)
        text = f"{text}\n\n{limit}"
    process, theta = slowest.split("|")
    job = f"sample {ROWS:,} rows, slowest ({process}, theta {theta})"
    ratio = theirs.best / found[slowest].best
    return Section(text, [Target(job, str(found[slowest]), f"pyAgrum {theirs}", ratio, 15)])
