"""EM on alarm with missing cells beside pyAgrum's."""

import tempfile
from pathlib import Path

import numpy as np
from measure import QUICK_ROUNDS, ROUNDS, Peer, Section, Times, faster, interleaved, next_limit, table, timed
from networks import bif, load

import possnet as pn
from possnet.kernels import bitmaps

ROWS = 10_000
SHARE = 0.1
PLAIN = 10
PLAIN_STEPS = pn.EmOptions(accelerate=False, max_steps=PLAIN)


def with_unknown(data: pn.Dataset, share: float, seed: int) -> pn.Dataset:
    """The same rows with a share of the cells unknown."""
    rng = np.random.default_rng(seed)
    unknown = {v.name: bitmaps.pack(rng.random(len(data)) < share) for v in data.variables}
    words = {v.name: data.bitmaps(v.name) | unknown[v.name] for v in data.variables}
    return pn.Dataset.unchecked(data.variables, words, len(data), unknown=unknown)


def measure(*, quick: bool) -> Section:
    """The whole section; a whole run of the peer takes minutes, so each number of threads has one."""
    net = load("alarm")
    rows = ROWS // 20 if quick else ROWS
    data = with_unknown(pn.sample(net, rows, process="precise", rng=1), SHARE, 3)
    result = pn.fit_em(net.dag, data)
    with tempfile.TemporaryDirectory() as folder, Peer() as peer:
        file = Path(folder) / "rows.csv"
        pn.write_data(data, file)
        model = bif("alarm", Path(folder))
        jobs = {
            "accelerated": timed(lambda: pn.fit_em(net.dag, data)),
            "plain": timed(lambda: pn.fit_em(net.dag, data, tolerance=0.0, options=PLAIN_STEPS)),
        }
        before = interleaved(jobs, 1)
        answers = [peer("em", file=file, net=model, threads=k) for k in ((2,) if quick else (1, 2))]
        after = interleaved(jobs, (QUICK_ROUNDS if quick else ROUNDS) - 1)
    ours = {name: Times((*before[name].seconds, *after[name].seconds)) for name in jobs}
    answer = min(answers, key=lambda found: found["seconds"])
    theirs = Times((answer["seconds"],))
    each = Times(tuple(seconds / PLAIN for seconds in ours["plain"].seconds))
    steps = int(answer["steps"])
    lines = [
        ["pyAgrum", f"{theirs}", f"{steps}", f"{1e3 * theirs.best / steps:,.0f}"],
        [
            "possnet, accelerated",
            f"{ours['accelerated']}",
            f"{result.steps}",
            f"{1e3 * ours['accelerated'].best / result.steps:,.0f}",
        ],
        ["possnet, plain steps", f"{ours['plain']}", f"{PLAIN}", f"{1e3 * each.best:,.0f}"],
    ]
    text = (
        f"{rows:,} precise rows of alarm with {SHARE:.0%} of the cells unknown; pyAgrum, the better of one and two threads, one "
        "run each, stops when a step gains less than .1 nat, possnet when all that is left to gain is less.\n\n"
        + table(" | time | steps | ms a step ", lines)
    )
    if not quick:
        limit = next_limit("plain steps", lambda: pn.fit_em(net.dag, data, tolerance=0.0, options=PLAIN_STEPS), 6)
        text = f"{text}\n\n{limit}"
    job = f"EM, {rows:,} alarm rows, 10 % unknown"
    step = Times((theirs.best / steps,))
    return Section(
        text,
        [
            faster(f"{job}, in all", ours["accelerated"], "pyAgrum", theirs, 10),
            faster(f"{job}, a step", each, "pyAgrum", step, 10),
        ],
    )
