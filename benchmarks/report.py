"""Run every benchmark and write docs/benchmarks.md: ``make bench``."""

import datetime as dt
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import data
import em
import inference
import learning
import networks
import sampling
import start

import fixtures

PAGE = """# Benchmarks

Made by `make bench`, every figure in one run on one machine; peers live in an environment of their own
(`requirements/peers.txt`). Compare ratios, not milliseconds: machines differ. {date}, {cores} cores, Python {python},
numpy {numpy}, pyarrow {pyarrow}; pyAgrum {pyagrum}.

## Exact inference

Max-product marginals of all variables without evidence, planning included and no cache, on the gold-standard structures
(probabilities turned into possibilities with `optimal`), beside pyAgrum's LazyPropagation (sum-product marginals on the
same graph). Each timed possnet run makes its own plan. "Times faster" compares with the better of one and two threads.

{inference}

## Drawing rows

{sampling}

## Counting and learning

{learning}

## EM

{em}

## Reading data

{data}

## Reading networks

{networks}

## Starting

{start}
"""


def peer_version() -> str:
    """Version of pyAgrum in the peers' environment."""
    script = "from importlib.metadata import version; print(version('pyagrum'))"
    return subprocess.run([fixtures.PEERS, "-c", script], check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    """Write the page."""
    page = PAGE.format(
        date=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        cores=os.cpu_count(),
        python=platform.python_version(),
        numpy=version("numpy"),
        pyarrow=version("pyarrow"),
        pyagrum=peer_version(),
        start=start.table(),
        sampling=sampling.table(),
        learning=learning.table(),
        em=em.table(),
        data=data.table(),
        networks=networks.table(),
        inference=inference.table(),
    )
    (Path(__file__).parent.parent / "docs" / "benchmarks.md").write_text(page, encoding="utf-8")
    print(page, file=sys.stdout)


if __name__ == "__main__":
    main()
