"""The cut likelihood: alpha-cut rows of alarm, and of sixty variables, to bounds; beside counting on the same rows."""

from measure import QUICK_ROUNDS, ROUNDS, Section, Target, interleaved, next_limit, say, table, timed
from networks import load

import possnet as pn

ROWS = 1_000_000
WIDE_ROWS = 100_000
WIDE = {"max_parents": 2, "states": (2, 3), "rng": 1}


def measure(*, quick: bool) -> Section:
    """The whole section; data sets are in memory, their columns not decoded."""
    alarm, wide = load("alarm"), pn.random_network(60, **WIDE)
    rows = ROWS // 4 if quick else ROWS
    jobs = {}
    for theta in (1.0, 0.5):
        data = {
            key: pn.sample(alarm, size, imprecision=theta, rng=1) for key, size in (("all", rows), ("half", rows // 2))
        }
        sixty = pn.sample(wide, WIDE_ROWS, imprecision=theta, rng=1)
        jobs |= {
            f"counting, alarm, {theta:g}": timed(lambda d=data["all"]: pn.fit(alarm.dag, d)),
            f"cut, alarm, {theta:g}": timed(lambda d=data["all"], t=theta: pn.fit_cut(alarm.dag, d, imprecision=t)),
            f"cut, alarm, half the rows, {theta:g}": timed(
                lambda d=data["half"], t=theta: pn.fit_cut(alarm.dag, d, imprecision=t)
            ),
            f"cut, 60 variables, {theta:g}": timed(lambda d=sixty, t=theta: pn.fit_cut(wide.dag, d, imprecision=t)),
        }
    found = interleaved(jobs, QUICK_ROUNDS if quick else ROUNDS)
    for key, times in found.items():
        say(f"{key}: {times}")
    targets = []
    for theta in ("1", "0.5"):
        ours, counting = found[f"cut, alarm, {theta}"], found[f"counting, alarm, {theta}"]
        allowed = 3 * counting.best + 1.0
        job = f"cut likelihood, {rows:,} rows of alarm, theta {theta}"
        targets.append(
            Target(
                job, str(ours), f"counting {counting}", ours.best / allowed, 1, "of 3 x counting + 1 s", at_most=True
            )
        )
        half = found[f"cut, alarm, half the rows, {theta}"]
        growth = ours.best / half.best
        targets.append(
            Target(f"{job}, against half of them", str(ours), str(half), growth, 2.2, "times the time", at_most=True)
        )
        sixty_times = found[f"cut, 60 variables, {theta}"]
        job = f"cut likelihood, 60 variables, {WIDE_ROWS:,} rows, theta {theta}"
        targets.append(Target(job, str(sixty_times), "", sixty_times.best, 0.4, "s", at_most=True))
    text = f"{rows:,} rows of alarm and {WIDE_ROWS:,} of 60 variables, in memory, by imprecision.\n\n"
    text += table(" job | time ", [[key, str(times)] for key, times in found.items()])
    if not quick:
        data = pn.sample(alarm, rows, imprecision=0.5, rng=2)
        text += "\n\n" + next_limit("cut likelihood", lambda: pn.fit_cut(alarm.dag, data, imprecision=0.5), 2)
    return Section(text, targets)
