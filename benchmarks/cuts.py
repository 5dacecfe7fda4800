"""The cut likelihood: files of alpha-cut rows to bounds, beside counting on the same files in the same run."""

import tempfile
from collections.abc import Callable
from math import log2
from pathlib import Path

from measure import QUICK_ROUNDS, ROUNDS, Section, Target, Times, interleaved, next_limit, say, table, timed
from networks import load

import possnet as pn

ROWS = 1_000_000
WIDE_ROWS = 100_000
WIDE = {"max_parents": 2, "states": (2, 3), "rng": 1}
THETAS = (1.0, 0.5)
FORMS = {"Parquet": "parquet", "CSV": "csv"}


def fit_file(net: pn.Network, file: Path, theta: float | None) -> Callable[[], float]:
    """The job of learning the tables from a file: by counting, or with an imprecision by the cut likelihood."""

    def learn() -> object:
        rows = pn.scan_data(file, variables=net)
        return pn.fit(net.dag, rows) if theta is None else pn.fit_cut(net.dag, rows, imprecision=theta)

    return timed(learn)


def jobs_of(alarm: pn.Network, wide: pn.Network, rows: int, folder: Path) -> dict[str, Callable[[], float]]:
    """Counting and cut likelihood on all files."""
    jobs = {}
    for theta in THETAS:
        data = pn.sample(alarm, rows, imprecision=theta, rng=1)
        sixty = pn.sample(wide, WIDE_ROWS, imprecision=theta, rng=1)
        for form, suffix in FORMS.items():
            for key, net, part in (
                ("alarm", alarm, data),
                ("alarm, a quarter of the rows", alarm, data[: rows // 4]),
                ("60 variables", wide, sixty),
            ):
                file = folder / f"{key} {theta:g}.{suffix}"
                pn.write_data(part, file)
                jobs[f"counting, {key}, {form}, {theta:g}"] = fit_file(net, file, None)
                jobs[f"cut, {key}, {form}, {theta:g}"] = fit_file(net, file, theta)
    return jobs


def targets_of(found: dict[str, Times], rows: int) -> list[Target]:
    """What is asked: within three times counting and a second; linear; sixty variables within .4 s."""
    targets = []
    for theta in THETAS:
        for form in FORMS:
            place = f"{form}, {theta:g}"
            cut, counting = found[f"cut, alarm, {place}"], found[f"counting, alarm, {place}"]
            job = f"cut likelihood, {rows:,} rows of alarm, {form} to bounds, theta {theta:g}"
            allowed = 3.0 * counting.best + 1.0
            targets.append(_limit(job, cut, f"counting {counting}", cut.best / allowed, 1, "of 3 x counting + 1 s"))
            if form == "Parquet":  # a CSV file is mostly read, which `files` measures
                part = found[f"cut, alarm, a quarter of the rows, {place}"]
                growth = log2(cut.best / part.best) / 2.0
                targets.append(
                    _limit(f"growth of it with rows, theta {theta:g}", cut, f"a quarter {part}", growth, 1.1, "")
                )
        sixty, counting = (found[f"{learner}, 60 variables, Parquet, {theta:g}"] for learner in ("cut", "counting"))
        job = f"cut likelihood, 60 variables, {WIDE_ROWS:,} rows, Parquet to bounds, theta {theta:g}"
        targets.append(_limit(job, sixty, "a limit", sixty.best, 0.4, "s"))
        ratio = sixty.best / counting.best
        targets.append(_limit(f"{job}, against counting", sixty, f"counting {counting}", ratio, 6, "times the time"))
    return targets


def _limit(job: str, ours: Times, peer: str, found: float, asked: float, unit: str) -> Target:
    return Target(job, str(ours), peer, found, asked, unit, at_most=True)


def measure(*, quick: bool) -> Section:
    """The whole section; every time begins with a file and ends with a network or its bounds."""
    alarm, wide = load("alarm"), pn.random_network(60, **WIDE)
    rows = ROWS // 4 if quick else ROWS
    with tempfile.TemporaryDirectory() as folder:
        found = interleaved(jobs_of(alarm, wide, rows, Path(folder)), QUICK_ROUNDS if quick else ROUNDS)
        limits = "" if quick else _limits(alarm, wide, Path(folder))
    for key, times in found.items():
        say(f"{key}: {times}")
    lines = []
    for key in [key for key in found if key.startswith("cut")]:
        what, form, theta = key.removeprefix("cut, ").rsplit(", ", 2)
        times, counting = found[key], found[key.replace("cut", "counting", 1)]
        lines.append([what, form, theta, str(counting), str(times), f"{times.best / counting.best:.2f}"])
    text = (
        f"{rows:,} alpha-cut rows of alarm and {WIDE_ROWS:,} of a random network of 60 variables with two or three states and up "
        "to two parents; from the file to the network (counting), or to the network with its bounds (cut likelihood).\n\n"
        + table(" rows | file | theta | counting | cut likelihood | times the time ", lines)
    )
    return Section(text if quick else f"{text}\n\n{limits}", targets_of(found, rows))


def _limits(alarm: pn.Network, wide: pn.Network, folder: Path) -> str:
    """What bounds the work next."""
    cases = (("alarm", alarm), ("60 variables", wide))
    return "\n".join(
        next_limit(
            f"cut likelihood, {key}, Parquet, theta .5",
            lambda key=key, net=net: pn.fit_cut(
                net.dag, pn.scan_data(folder / f"{key} 0.5.parquet", variables=net), imprecision=0.5
            ),
        )
        for key, net in cases
    )
