"""Run the benchmarks, each in a process of its own, and write docs/benchmarks.md: ``make bench``.

``python report.py em data`` runs only these sections again and keeps the others as they stand; every section says when it
was run.
"""

import datetime as dt
import os
import platform
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import fixtures

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
INFERENCE = """Max-product marginals of all variables without evidence, planning included and no cache, on the gold-standard
structures (probabilities turned into possibilities with `optimal`), beside pyAgrum's LazyPropagation (sum-product marginals
on the same graph). Each timed possnet run makes its own plan. "Times faster" compares with the better of one and two
threads. Peak memory is that of the whole possnet process.

"""
SECTIONS = {
    "inference": ("Exact inference", INFERENCE),
    "sampling": ("Drawing rows", ""),
    "learning": ("Counting and learning", ""),
    "em": ("EM", ""),
    "structure": ("Structures", ""),
    "data": ("Reading data", ""),
    "networks": ("Reading networks", ""),
    "start": ("Starting", ""),
}
HEAD = """# Benchmarks

Made by `make bench`, which runs each section in a process of its own on one machine; the figures of a section are of one
run. Peers live in an environment of their own (`requirements/peers.txt`). Compare ratios, not milliseconds: machines
differ.
"""


def peer_version() -> str:
    """Version of pyAgrum in the peers' environment."""
    script = "from importlib.metadata import version; print(version('pyagrum'))"
    return subprocess.run([fixtures.PEERS, "-c", script], check=True, capture_output=True, text=True).stdout.strip()


def machine() -> str:
    """When and on what a section was run."""
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    python = f"Python {platform.python_version()}, numpy {version('numpy')}, pyarrow {version('pyarrow')}"
    return f"{today}, {os.cpu_count()} cores, {python}; pyAgrum {peer_version()}."


def run(section: str) -> str:
    """Text of a section."""
    command = [sys.executable, "-c", f"import {section}; print({section}.table())"]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parent).stdout.strip()


def known() -> dict[str, str]:
    """Sections of the page as it stands, by their markers."""
    if not PAGE.exists():
        return {}
    return dict(re.findall(r"<!-- (\w+) -->\n(.*?)\n<!-- end -->", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL))


def main() -> None:
    """Run what is asked for, or everything, and write the page after each section."""
    for section in sys.argv[1:] or SECTIONS:
        found = known()
        found[section] = f"{run(section)}\n\n*{machine()}*"
        parts = [HEAD]
        for name, (title, text) in SECTIONS.items():
            if name in found:
                parts.append(f"## {title}\n\n{text}<!-- {name} -->\n{found[name]}\n<!-- end -->\n")
        PAGE.write_text("\n".join(parts), encoding="utf-8")
        print(f"{section}: done", flush=True)


if __name__ == "__main__":
    main()
