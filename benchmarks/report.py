"""Run the benchmarks, each in a process of its own, and write docs/benchmarks.md: ``make bench``.

``python report.py em files`` runs only these sections again and keeps the others as they stand; every section says when it
was run. ``--quick`` runs a slice of five minutes and leaves the page alone. The table of targets is printed at the end;
the exit code is 1 if one of them is missed. ``--check`` runs nothing: it tells whether the page is what its own sections
say, all of them are there, and every target is met.
"""

import argparse
import datetime as dt
import json
import os
import platform
import re
import subprocess
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from measure import PEERS, ROOT, Peer, Section, Target, say

PAGE = ROOT / "docs" / "benchmarks.md"
QUICK = {
    "learning": "Counting and learning",
    "sampling": "Drawing rows",
    "inference": "Exact inference",
    "explaining": "Explaining answers",
    "em": "EM",
    "classifying": "The classifier",
    "cuts": "The cut likelihood",
    "structure": "Structures",
    "precise_structures": "Structures behind precise rows",
    "files": "Reading files",
    "start": "Starting, and what a call costs",
}
WHOLE = {
    "gold_questions": "Rows and configurations of gold-standard networks",
    "wide_structures": "Structures of many variables",
    "commands": "Every command on a million rows",
    "explorer": "The explorer",
    "growth": "How the work grows",
    "kernels": "The counting kernels and the machine's limits",
    "instructions": "Instructions of the hot kernels",
}
SECTIONS = QUICK | WHOLE
HEAD = """# Benchmarks

Made by `make bench`, which runs each section in a process of its own on one machine: possnet's runs and the peers' take turns,
the best of five counts, and the slowest stands behind it (`best-slowest`). Peers live in an environment of their own
(`requirements/peers.txt`) and get one thread as well as two; the better counts. Compare ratios, not milliseconds: machines
differ. `make bench-quick` is a slice of five minutes.

"""
TARGETS = "| job | possnet | peer | found | asked | met |\n|---|---|---|---|---|---|\n"
KEPT = re.compile(r"<!-- (\w+) (\[[^\n]*\]) -->\n(.*?)\n<!-- end -->", flags=re.DOTALL)


def machine() -> str:
    """When and on what a section was run."""
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    python = f"Python {platform.python_version()}, numpy {version('numpy')}, pyarrow {version('pyarrow')}"
    peers = "without peers"
    if PEERS.exists():
        with Peer() as peer:
            peers = ", ".join(f"{name} {number}" for name, number in peer("versions").items())
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{today}, {os.cpu_count()} cores of {model}, {python}; {peers}."


def run(section: str, *, quick: bool) -> Section:
    """What a section finds."""
    code = f"import {section}; print({section}.measure({f'quick={quick}' if section in QUICK else ''}).json())"
    command = [sys.executable, "-c", code]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent, env=environment
    )
    return Section.from_json(done.stdout.splitlines()[-1])


def known() -> dict[str, Section]:
    """Sections of the page as it stands, with their targets, which the page holds as comments."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    found = {}
    for name, targets, body in KEPT.findall(text):
        found[name] = Section(body, [Target(**target) for target in json.loads(targets)])
    return found


def page(sections: dict[str, Section]) -> str:
    """The whole page."""
    targets = [target for name in SECTIONS if name in sections for target in sections[name].targets]
    met = sum(target.met for target in targets)
    parts = [
        f"{HEAD}## Targets\n\n{met} of {len(targets)} met.\n\n{TARGETS}" + "\n".join(t.row for t in targets) + "\n"
    ]
    for name, title in SECTIONS.items():
        if name in sections:
            kept = json.dumps([asdict(target) for target in sections[name].targets])
            parts.append(f"## {title}\n\n<!-- {name} {kept} -->\n{sections[name].text}\n<!-- end -->\n")
    return "\n".join(parts)


def main() -> str | None:
    """Run what is asked for, or everything; write the page after each section; print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; all unless given")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.check:
        return check()
    targets = []
    for name in given.sections or (QUICK if given.quick else SECTIONS):
        say(f"{name} ...")
        found = run(name, quick=given.quick)
        targets += found.targets
        if not given.quick:
            PAGE.write_text(
                page(known() | {name: Section(f"{found.text}\n\n*{machine()}*", found.targets)}), encoding="utf-8"
            )
    print(TARGETS + "\n".join(target.row for target in targets))
    missed = sum(not target.met for target in targets)
    return f"{missed} of {len(targets)} targets missed" if missed else None


def check() -> str | None:
    """What is wrong with the page as it stands."""
    found = known()
    if missing := [name for name in SECTIONS if name not in found]:
        return f"docs/benchmarks.md lacks {', '.join(missing)}: run make bench"
    if page(found) != PAGE.read_text(encoding="utf-8"):
        return "docs/benchmarks.md was changed by hand: run make bench"
    missed = [target.job for section in found.values() for target in section.targets if not target.met]
    return f"missed: {', '.join(missed)}" if missed else None


if __name__ == "__main__":
    sys.exit(main())
