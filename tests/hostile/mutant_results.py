"""What came of the sampled mutants: ``mutants.json``, and its part of ``docs/hostile.md``."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Final

from tests.hostile.block_map import ROOMS, SOURCE
from tests.hostile.mutator import Mutant, find_mutants
from tests.paths import ROOT

SEED: Final = 27
SAMPLED: Final = {
    "kernels": 50,
    "counting": 45,
    "inference": 115,
    "em": 90,
    "parameters": 35,
    "sampling": 55,
    "io": 110,
}
RESULTS: Final = ROOT / "tests" / "hostile" / "mutants.json"
SCRATCH: Final = ROOT / "build" / "hostile" / "mutants"


def sample_mutants(room: str) -> list[Mutant]:
    """The sample of a room: the mutants whose names hash lowest, so that a change of one function changes few of them."""
    mutants = []
    for path in sorted((SOURCE / room).rglob("*.py")):
        module = str(path.relative_to(SOURCE).with_suffix(""))
        mutants += find_mutants(module, path.read_text(encoding="utf-8"))
    mutants.sort(key=lambda mutant: hashlib.sha256(f"{SEED}:{mutant.name}".encode()).digest())
    return mutants[: SAMPLED[room]]


def read_results() -> dict[str, list[str]]:
    """Name of a mutant -> digest of its function, outcome, who noticed or why nobody can, the change."""
    results: dict[str, list[str]] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return results


def write_results(results: dict[str, list[str]]) -> None:
    """One line a mutant, sorted, so that a change of one is one line in the history."""
    lines = [f"{json.dumps(name)}: {json.dumps(results[name], ensure_ascii=False)}" for name in sorted(results)]
    part = RESULTS.with_suffix(".part")
    part.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    part.replace(RESULTS)


def list_pending(rooms: Sequence[str], *, survivors: bool = False) -> list[Mutant]:
    """Mutants without a result for the text as it is now; or those that survived."""
    results = read_results()
    sampled = [mutant for room in rooms for mutant in sample_mutants(room)]
    if survivors:
        return [mutant for mutant in sampled if results.get(mutant.name, ["", ""])[1] == "survived"]
    return [mutant for mutant in sampled if results.get(mutant.name, [""])[0] != mutant.digest]


def count_outcomes(results: dict[str, list[str]]) -> dict[str, Counter[str]]:
    """Room -> how many mutants had which outcome."""
    counts: dict[str, Counter[str]] = {room: Counter() for room in ROOMS}
    for name, (_, outcome, _, _) in results.items():
        counts[name.split("/")[0]][outcome] += 1
    return counts


def share_killed(counts: Counter[str]) -> float:
    """Killed mutants, those whose seconds ran out included, among all that could be noticed."""
    noticeable = sum(counts.values()) - counts["equivalent"]
    return (counts["killed"] + counts["timeout"]) / noticeable if noticeable else 1.0


def describe_results() -> str:
    """Counts by room, and every mutant that was not noticed, with the reason."""
    results = read_results()
    counts = count_outcomes(results)
    lines = [
        "## Mutants",
        "",
        f"A sample (seed {SEED}) of single small changes of the code: operators, constants, branches, slices, arguments, forgotten",
        "statements. A change is noticed when a test that runs the changed block fails or never ends. Equivalent changes can be",
        "noticed by nobody, for the reason given; `noticed` is the share of the others.",
        "",
        "| room | mutants | killed | endless | equivalent | survived | noticed |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for room, row in [*counts.items(), ("all", sum(counts.values(), Counter[str]()))]:
        numbers = [sum(row.values()), *(row[word] for word in ("killed", "timeout", "equivalent", "survived"))]
        lines.append(f"| {room} | {' | '.join(map(str, numbers))} | {share_killed(row):.1%} |")
    lines += ["", "Not noticed:", "", "| mutant | change | why |", "|---|---|---|"]
    for name, (_, outcome, why, change) in sorted(results.items()):
        if outcome in ("equivalent", "survived"):
            reason = why if outcome == "equivalent" else f"**no test notices it** ({why})"
            lines.append(f"| {name} | `{change.replace('|', '&#124;')}` | {reason} |")
    return "\n".join(lines)
