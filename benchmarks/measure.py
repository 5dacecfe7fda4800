"""How the benchmarks measure: runs interleaved, the best counts, the worst is shown; peers in a process of their own.

A section is a module whose ``measure`` gives a `Section`: text for the page, and rows of the table of targets.
"""

import cProfile
import json
import os
import pstats
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parent.parent
PEERS = ROOT / ".venv-peers" / "bin" / "python"
ROUNDS = 5
QUICK_ROUNDS = 3
THREADS = (1, 2)
PEAK = 'int(__import__("re").search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024'


@dataclass(frozen=True)
class Times:
    """Seconds of some runs of one job."""

    seconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The run that the machine disturbed least."""
        return min(self.seconds)

    @property
    def worst(self) -> float:
        """The slowest run: the spread."""
        return max(self.seconds)

    def __str__(self) -> str:
        unit, scale = ("s", 1.0) if self.best >= 1 else ("ms", 1e3) if self.best >= 1e-3 else ("µs", 1e6)
        best, worst = self.best * scale, self.worst * scale
        digits = 0 if best >= 100 else 1 if best >= 10 else 2
        return f"{best:.{digits}f}-{worst:.{digits}f} {unit}" if len(self.seconds) > 1 else f"{best:.{digits}f} {unit}"


@dataclass(frozen=True)
class Target:
    """One row of the table: what was found beside what is asked; ``at_most`` where less is better."""

    job: str
    possnet: str
    peer: str
    found: float
    asked: float
    unit: str = "times faster"
    at_most: bool = False

    @property
    def met(self) -> bool:
        """Whether it is good enough."""
        return self.found <= self.asked if self.at_most else self.found >= self.asked

    @property
    def row(self) -> str:
        """Line of the markdown table."""
        most = "at most " if self.at_most else ""
        met = "yes" if self.met else "**no**"
        return (
            f"| {self.job} | {self.possnet} | {self.peer} | {_number(self.found)} {self.unit} | {most}{self.asked:g} "
            f"| {met} |"
        )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def better(found: Mapping[str, Times], job: str = "peer") -> Times:
    """The better of a peer's times with one thread and with two."""
    return min((found[f"{job}, {k}"] for k in THREADS), key=lambda times: times.best)


def faster(job: str, ours: Times, peer: str, theirs: Times, asked: float) -> Target:
    """How many times faster the best run is than the peer's best."""
    return Target(job, str(ours), f"{peer} {theirs}", theirs.best / ours.best, asked)


@dataclass(frozen=True)
class Section:
    """What one module found."""

    text: str
    targets: list[Target] = field(default_factory=list)

    def json(self) -> str:
        """The section as it passes between processes."""
        return json.dumps({"text": self.text, "targets": [asdict(target) for target in self.targets]})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The section that another process printed."""
        found = json.loads(text)
        return cls(found["text"], [Target(**target) for target in found["targets"]])


def say(line: str) -> None:
    """Progress, on standard error."""
    print(line, file=sys.stderr, flush=True)


def timed(work: Callable[[], object], times: int = 1) -> Callable[[], float]:
    """The job that tells how many seconds some work takes; short work is done several times, and the best counts."""

    def once() -> float:
        begin = time.perf_counter()
        kept = work()
        seconds = time.perf_counter() - begin
        del kept
        return seconds

    return lambda: min(once() for _ in range(times))


def interleaved(jobs: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, Times]:
    """Times of all jobs, one run of each after the other, round after round."""
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            found[name].append(job())
    return {name: Times(tuple(seconds)) for name, seconds in found.items()}


def next_limit(job: str, work: Callable[[], object], most: int = 4) -> str:
    """A sentence on where the time of some work goes, by its profile; the second run is profiled."""
    work()
    profile = cProfile.Profile()
    profile.runcall(work)
    own = {place: numbers[2] for place, numbers in pstats.Stats(profile).stats.items()}  # type: ignore[attr-defined]
    hottest = sorted(own, key=lambda place: -own[place])[:most]
    summary = ", ".join(
        f"`{_short(file, name)}` {own[file, line, name] / sum(own.values()):.0%}" for file, line, name in hottest
    )
    return f"Where the time goes, {job}: {summary}."


def _short(file: str, name: str) -> str:
    built_in = re.search(r"method '?([\w.]+)'? ?(?:of '([\w.]+)')?", name)
    if built_in is None:
        return f"{Path(file).stem}.{name}"
    waiting = built_in[1] == "acquire"
    return "waiting for the thread that reads" if waiting else ".".join(filter(None, (built_in[2], built_in[1])))


def table(head: str, rows: list[list[str]]) -> str:
    """Markdown; the head is one line of titles between bars."""
    titles = head.split("|")
    return "\n".join([f"|{head}|", "|---" * len(titles) + "|", *(f"| {' | '.join(row)} |" for row in rows)])


def in_own_process(code: str, *arguments: str) -> Any:
    """What some Python code prints as JSON; ``PEAK`` in it stands for the peak megabytes of its process."""
    run = subprocess.run(
        [sys.executable, "-c", code.replace("PEAK", PEAK), *arguments], check=True, capture_output=True, text=True
    )
    return json.loads(run.stdout.splitlines()[-1])


class Peer:
    """The peers' process: ``peer("samples", bif=..., rows=..., threads=1)`` runs one job of ``peers/serve.py``."""

    def __init__(self, *, most_gigabytes: float = 0.0, script: str = "serve.py") -> None:
        command = [str(PEERS), str(ROOT / "benchmarks" / "peers" / script), str(most_gigabytes)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()

    def __call__(self, job: str, *, patience: float = 3600.0, **arguments: object) -> dict[str, Any]:
        """Answer to one job; ``{"failed": why}`` if the peer cannot do it, or not in time."""
        stream, answers = self._process.stdin, self._process.stdout
        assert stream is not None and answers is not None  # noqa: S101, PT018
        stream.write(json.dumps({"job": job, **arguments}, default=os.fspath) + "\n")
        stream.flush()
        if not select.select([answers], [], [], patience)[0]:
            return {"failed": f"given up after {patience:.0f} s"}
        line = answers.readline()
        return json.loads(line) if line else {"failed": f"ended with {self._process.wait()}"}

    def with_threads(self, job: str, name: str = "peer", **arguments: object) -> dict[str, Callable[[], float]]:
        """The job with one thread and with two, as ``name, 1`` and ``name, 2``."""
        return {f"{name}, {k}": self.seconds(job, threads=k, **arguments) for k in THREADS}

    def seconds(self, job: str, **arguments: object) -> Callable[[], float]:
        """The job that tells the seconds of the peer's answer."""

        def run() -> float:
            found = self(job, **arguments)
            if "failed" in found:
                raise SystemExit(f"{job} {arguments}: {found['failed']}")
            return float(found["seconds"])

        return run
