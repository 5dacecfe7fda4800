"""Every system call that a command makes to read and write files, made to fail: one after the other, until none is left.

Each must end in one sentence and exit code 1 (or work without that call), with every file old or new, whole; and the next run,
in which nothing fails, must end with the same files as if nothing had happened, and nothing else.
"""

from __future__ import annotations

import errno
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import possnet as pn
from tests.hostile.forked_commands import KINDS, Ending, Fault, run_forked
from tests.hostile.section import Chunk, Section

CODES = {
    "write": (errno.ENOSPC, errno.EIO),
    "fsync": (errno.EIO, errno.ENOSPC),
    "rename": (errno.EACCES, errno.EIO),
    "open": (errno.EACCES, errno.EMFILE),
    "mkdir": (errno.ENOSPC,),
    "unlink": (errno.EACCES, errno.EIO),  # after a write that failed
    "kill": (0,),
}
_GRID = ("--rows", "15", "--imprecision", "1", "--process", "alpha-cut", "--learner", "likelihood", "--repeats", "2")


@dataclass(frozen=True)
class Writer:
    """A command that writes: what it is given, what it writes, and what it should not do in a test (such as many figures)."""

    name: str
    arguments: tuple[str, ...]
    given: str = ""
    targets: tuple[str, ...] = ()
    prepare: Callable[[], None] | None = None
    finished_run: bool = False


def draw_no_figures() -> None:
    """Write reports without figures."""
    from possnet.report import report_files

    setattr(report_files, "order_pictures", lambda *_: [])  # noqa: B010 - not exported


def draw_one_figure() -> None:
    """Write reports with one figure, in its four forms."""
    from possnet.plots import svg_and_pdf
    from possnet.report import report_files

    every = getattr(report_files, "order_pictures")  # noqa: B009 - not exported
    setattr(report_files, "order_pictures", lambda *given: list(every(*given))[:1])  # noqa: B010
    setattr(svg_and_pdf, "_slim_fonts", lambda: ())  # noqa: B010


WRITERS = (
    Writer("sample CSV", ("sample", "asia", "--seed", "3", "--rows", "30", "--out", "out/s.csv"), targets=("s.csv",)),
    Writer("sample Parquet", ("sample", "asia", "--seed", "3", "--rows", "30", "--out", "out/s.parquet"), targets=("s.parquet",)),
    Writer("sample to standard output", ("sample", "asia", "--seed", "3", "--rows", "30", "--out", "-")),
    Writer("fit", ("fit", "in/d.csv", "--structure", "asia", "--out", "out/f.json"), targets=("f.json",)),
    Writer("learn", ("learn", "in/d.csv", "--method", "mwst", "--measure", "chi2", "--out", "out/l.json"), targets=("l.json",)),
    Writer("complete CSV", ("complete", "asia", "in/d.csv", "--out", "out/c.csv"), targets=("c.csv",)),
    Writer("complete long", ("complete", "asia", "in/d.csv", "--as", "long", "--out", "out/c.parquet"), targets=("c.parquet",)),
    Writer("complete long CSV", ("complete", "asia", "in/d.csv", "--as", "long", "--out", "out/c.csv"), targets=("c.csv",)),
    Writer("check", ("check", "asia", "in/d.csv", "--target", "dysp", "--out", "out/c.html"), targets=("c.html",)),
    Writer("classify", ("classify", "in/d.csv", "in/d.csv", "--target", "dysp", "--out", "out/k.csv"), targets=("k.csv",)),
    Writer("convert network", ("convert", "asia", "out/a.json"), targets=("a.json",)),
    Writer("convert to UAI", ("convert", "asia", "out/a.uai"), targets=("a.uai", "a.uai.names.json")),
    Writer("convert data", ("convert", "in/d.csv", "out/d.parquet"), targets=("d.parquet",)),
    Writer("convert standard input", ("convert", "-", "out/d.parquet"), given="in/d.csv", targets=("d.parquet",)),
    Writer("score", ("score", "asia", "in/d.csv")),
    Writer("info Parquet", ("info", "in/d.parquet")),
    Writer("evaluate", ("evaluate", "in/small.json", *_GRID, "--workers", "1", "--out", "out/run"), prepare=draw_no_figures),
    Writer("report", ("report", "out/run"), prepare=draw_one_figure, finished_run=True),
)  # fmt: skip


@cache
def sources() -> dict[str, bytes]:
    """Files that commands read."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = pn.sample(pn.load_example("asia"), 40, imprecision=0.3, process="traced", rng=2)
        pn.write_data(data, folder / "d.csv")
        pn.write_data(data, folder / "d.parquet")
        pn.write_network(pn.random_network(3, max_parents=1, states=(2, 2), rng=1), folder / "small.json")
        return {file.name: file.read_bytes() for file in folder.iterdir()}


@cache
def finished_run() -> dict[str, bytes]:
    """The folder of a finished experiment."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "small.json").write_bytes(sources()["small.json"])
        network = {"small": pn.read_network(folder / "small.json")}
        how = {"rows": 15, "imprecision": 1, "process": "alpha-cut", "learners": "likelihood", "repeats": 2, "rng": 1}
        pn.evaluate(network, **how, workers=1, out=folder / "run")  # type: ignore[arg-type]
        return contents(folder / "run")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its name there."""
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def lay_out(writer: Writer, folder: Path, *, old: bool) -> None:
    """The folder in which a command runs: its input, and files that it will replace."""
    for name in ("in", "out", "tmp"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    for name, content in sources().items():
        (folder / "in" / name).write_bytes(content)
    if old:
        for name in writer.targets:
            (folder / "out" / name).write_bytes(b"old\n")
    if writer.finished_run:
        for name, content in finished_run().items():
            target = folder / "out" / "run" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def execute(writer: Writer, folder: Path, fault: Fault | None = None, *, record: bool = False) -> Ending:
    """Run a command in its folder."""
    given = sources()[Path(writer.given).name] if writer.given else b""
    return run_forked(writer.arguments, folder, given=given, fault=fault, record=record, prepare=writer.prepare)


def comparable(written: dict[str, bytes]) -> dict[str, bytes]:
    """Files without those that are made of seconds; the seconds in a page are left out."""
    kept = {name: content for name, content in written.items() if "timings" not in name and "trials/" not in name}
    return {name: drop_seconds(content) if name.endswith(".html") else content for name, content in kept.items()}


def drop_seconds(text: bytes) -> bytes:
    """A text without the seconds that something took."""
    return re.sub(rb"\d+(\.\d+)?( |\xc2\xa0|\xe2\x80\xaf)(m?s|minutes?)\b", b"- s", text)


def try_fault(writer: Writer, fault: Fault, new: dict[str, bytes], output: bytes, folder: Path) -> str | None:
    """What is wrong after a call failed, and after the next run; None if nothing is."""
    lay_out(writer, folder, old=True)
    before = contents(folder / "out")
    ended = execute(writer, folder, fault)
    finding = _judge_ending(ended)
    if finding is None:
        finding = _judge_files(contents(folder / "out"), before, new, done=ended.code == 0)
    if finding is not None:
        return finding
    again = execute(writer, folder)
    if again.code != 0:
        return f"the next run ends with {again.code}: {again.words[-300:]}"
    if comparable(contents(folder / "out")) != comparable(new) or drop_seconds(again.output) != drop_seconds(output):
        return "the next run writes other files"
    strays = [str(path.relative_to(folder)) for path in (folder / "tmp").iterdir()]
    return f"after the next run: {strays}" if strays else None


def _judge_ending(ended: Ending) -> str | None:
    words = ended.words.splitlines()
    if "Traceback" in ended.words or "Exception ignored" in ended.words:
        return f"a traceback: {ended.words[-400:]}"
    if ended.code == -signal.SIGKILL:
        return None
    if ended.code not in {0, 1}:
        return f"exit code {ended.code}: {ended.words[-300:]}"
    errors = [line for line in words if line.startswith("Error: ")]
    if ended.code == 1 and (len(errors) != 1 or words[-1] != errors[0]):
        return f"not one sentence: {ended.words[-300:]}"
    return None


def _judge_files(now: dict[str, bytes], before: dict[str, bytes], new: dict[str, bytes], *, done: bool) -> str | None:
    if done and comparable({k: v for k, v in now.items() if not _is_stray(k)}) != comparable(new):
        return "exit code 0, and not the files of a run in which nothing fails"
    before, new = comparable(before), comparable(new)
    for name, content in comparable(now).items():
        if not _is_stray(name) and content not in {before.get(name), new.get(name)}:
            return f"{name} is neither old nor new"
    lost = [name for name in before if name not in now and name in new]
    return f"lost: {lost}" if lost else None


def _is_stray(name: str) -> bool:
    return name.endswith((".possnet.part", ".possnet.lock"))


def list_faults(calls: dict[str, int], kind: str, *, codes: int = 2) -> Iterator[Fault]:
    """Every call of a kind, made to fail in every way."""
    total = {"unlink": calls.get("write", 0), "kill": sum(calls.values())}.get(kind, calls.get(kind, 0))
    for number in range(1, total + 1):
        for code in CODES[kind][:codes]:
            yield Fault(kind, number, code)


def fail_calls(seed: int) -> Chunk | None:
    """Make every call of one kind fail in one command."""
    if seed >= len(WRITERS) * len(KINDS):
        return None
    writer, kind = WRITERS[seed // len(KINDS)], KINDS[seed % len(KINDS)]
    return fail_each(writer, kind)


def fail_each(writer: Writer, kind: str, *, every: int = 1, codes: int = 2) -> Chunk:
    """Make every call of a kind (or each ``every``-th) fail in a command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(writer, folder, old=False)
        clean = execute(writer, folder)
        if clean.code != 0:
            return Chunk(1, (f"{writer.name}: ends with {clean.code}: {clean.words[-500:]}",))
        new = contents(folder / "out")
        faults = list(list_faults(clean.calls, kind, codes=codes))[::every]
        findings = ((fault, try_fault(writer, fault, new, clean.output, folder)) for fault in faults)
        failures = [
            f"{writer.name}, {fault.kind} {fault.number} fails with {errno.errorcode.get(fault.code, 'an end')}: {finding}"
            for fault, finding in findings
            if finding is not None
        ]
    return Chunk(len(faults), tuple(failures), {"calls of a command": float(sum(clean.calls.values()))})


FAULTS = Section(
    "faults",
    "every write, fsync, rename, open, mkdir and unlink of every command that writes, made to fail, and the next run",
    fail_calls,
    patience=1800.0,
)
