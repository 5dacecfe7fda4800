"""Power failures: the recorded changes of files of a command, replayed up to every step, in every order that a disk may keep.

A disk keeps what was forced to it. Bytes that were written after the last force of a file may be there, in part or not at all;
of the names in a folder that changed after its last force, any may be as before. So a state after a failure is a prefix of the
steps, with any selection of the pending changes of names (all of them, none, each alone, all but one, and prefixes). In every
such state a file that is replaced must be old or new, whole; and the experiment must go on to the same results.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import possnet as pn
from tests.hostile.disk_faults import WRITERS, Writer, contents, execute, lay_out
from tests.hostile.forked_commands import Step
from tests.hostile.section import Chunk, Section

_FEW = 3  # pending changes of which every selection is tried
POWERED = tuple(w for w in WRITERS if w.targets or w.name == "evaluate")


@dataclass
class _Inode:
    """A file on a disk: its bytes, and how many of them are kept for certain."""

    content: bytes = b""
    kept: int = 0


@dataclass
class _Disk:
    """What a disk holds for certain, and the changes of names that are pending, by folder."""

    names: dict[str, _Inode | None]  # None is a folder
    live: dict[str, _Inode | None]
    pending: list[tuple[str, str, str | None, _Inode | None]] = field(default_factory=list)

    def apply(self, step: Step) -> None:
        """Do one step."""
        kind, path, other = step
        if kind in {"create", "mkdir"}:
            self.live[path] = _Inode() if kind == "create" else None
            self.pending.append((kind, path, None, self.live[path]))
        elif kind == "write":
            inode = self.live[path]
            assert inode is not None
            inode.content += other
        elif kind == "sync":
            inode = self.live[path]
            assert inode is not None
            inode.kept = len(inode.content)
        elif kind == "rename":
            self.live[other] = self.live.pop(path)
            self.pending.append((kind, path, other, self.live[other]))
        elif kind == "unlink":
            self.pending.append((kind, path, None, self.live.pop(path)))
        else:
            settled = [change for change in self.pending if str(Path(change[1]).parent) == path]
            self.pending = [change for change in self.pending if change not in settled]
            for change in settled:
                _change_names(self.names, change)

    def failures(self) -> Iterator[dict[str, bytes | None]]:
        """What may be on the disk after a failure now: files with their bytes, folders with None."""
        for chosen in _selections(len(self.pending)):
            names = dict(self.names)
            for number in chosen:
                _change_names(names, self.pending[number])
            reachable = {p: i for p, i in names.items() if all(str(a) in names or a == Path("/") for a in _above(p))}
            for share in (0.0, 0.5, 1.0):
                torn = {p: _tear(inode, share) for p, inode in reachable.items()}
                yield torn
                if all(inode is None or inode.kept == len(inode.content) for inode in reachable.values()):
                    break


def _above(path: str) -> Iterator[Path]:
    """Folders of the run above a path, without those above the run."""
    parent = Path(path).parent
    while parent.name not in {"out", ""}:
        yield parent
        parent = parent.parent


def _tear(inode: _Inode | None, share: float) -> bytes | None:
    if inode is None:
        return None
    return inode.content[: inode.kept + int(share * (len(inode.content) - inode.kept))]


def _change_names(names: dict[str, _Inode | None], change: tuple[str, str, str | None, _Inode | None]) -> None:
    kind, path, other, inode = change
    if kind in {"create", "mkdir"}:
        names[path] = inode
    else:
        names.pop(path, None)
        if other is not None:
            names[other] = inode


def _selections(count: int) -> Iterator[tuple[int, ...]]:
    """Selections of pending changes: every one of few; of many, prefixes, single ones and all but one."""
    if count <= _FEW:
        for size in range(count + 1):
            yield from combinations(range(count), size)
        return
    everything = tuple(range(count))
    for number in range(count + 1):
        yield everything[:number]
    for number in range(count):
        yield (number,)
        yield everything[:number] + everything[number + 1 :]


def list_states(steps: Sequence[Step], before: dict[str, bytes], root: str) -> Iterator[dict[str, bytes | None]]:
    """Every distinct state of the files below a folder after a power failure during the steps."""
    names: dict[str, _Inode | None] = {
        str(Path(root) / name): _Inode(content, len(content)) for name, content in before.items()
    }
    for place in [str(parent) for name in list(names) for parent in _above(name)]:
        names[place] = None
    disk, seen = _Disk(dict(names), dict(names)), set()
    for step in [None, *(s for s in steps if s.path.startswith(root) and not s.path.endswith(".possnet.lock"))]:
        if step is not None and not (step.kind == "sync folder" and not step.path.startswith(root)):
            disk.apply(step)
        for state in disk.failures():
            key = hashlib.sha256(repr(sorted(state.items(), key=lambda item: item[0])).encode()).digest()
            if key not in seen:
                seen.add(key)
                yield state


def fail_power(seed: int) -> Chunk | None:
    """Every state after a power failure during one command."""
    return fail_command(POWERED[seed]) if seed < len(POWERED) else None


def fail_command(writer: Writer, *, every: int = 1) -> Chunk:
    """Every state (or each ``every``-th) after a power failure while a command writes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        lay_out(writer, folder, old=True)
        before = contents(folder / "out")
        ended = execute(writer, folder, record=True)
        new = contents(folder / "out")
        root = str(folder / "out")
        states = list(list_states(ended.steps, before, root))[::every]
        failures = [] if ended.code == 0 else [f"{writer.name}: {ended.words[-300:]}"]
        last = {k: v for k, v in _relative(states[-1], root).items() if v is not None} if every == 1 else new
        if last != new:
            failures.append(f"{writer.name}: the recorded steps do not make the files that are there")
        for number, state in enumerate(states):
            finding = _judge_state(writer, _relative(state, root), before, new)
            if finding:
                failures.append(f"{writer.name}, state {number}: {finding}")
    return Chunk(len(states), tuple(failures[:20]), {"steps of a command": float(len(ended.steps))})


def _relative(state: dict[str, bytes | None], root: str) -> dict[str, bytes | None]:
    return {str(Path(path).relative_to(root)): content for path, content in state.items()}


def _judge_state(
    writer: Writer, state: dict[str, bytes | None], before: dict[str, bytes], new: dict[str, bytes]
) -> str | None:
    for name, content in state.items():
        if (
            content is not None
            and not name.endswith(".possnet.part")
            and content not in {before.get(name), new.get(name)}
        ):
            return f"{name} is neither old nor new"
    lost = [name for name in before if name in new and name not in state]
    if lost or writer.name != "evaluate":
        return f"lost: {lost}" if lost else None
    return _resume_experiment(state, new)


def _resume_experiment(state: dict[str, bytes | None], new: dict[str, bytes]) -> str | None:
    """Run the experiment again from a state; what is wrong with its results."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, content in state.items():
            if content is None:
                (folder / path).mkdir(parents=True, exist_ok=True)
            else:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
        network = pn.read_network(_network_file(folder))
        how = {"rows": 15, "imprecision": 1, "process": "alpha-cut", "learners": "likelihood", "repeats": 2, "rng": 1}
        try:
            pn.evaluate({"small": network}, **how, workers=1, out=folder / "run")  # type: ignore[arg-type]
        except pn.PossnetError as error:
            return f"cannot be resumed: {error}"
        written = contents(folder / "run")
        strays = [p for p in written if p.endswith((".part", ".lock")) and not p.startswith(("networks/", "figures/"))]
        other = [
            p
            for p in ("results.csv", "results.parquet", "experiment.json", "networks.json")
            if written[p] != new[f"run/{p}"]
        ]
    return f"strays {strays}, other results {other}" if strays or other else None


def _network_file(folder: Path) -> Path:
    from tests.hostile.disk_faults import sources

    file = folder / "small.json"
    file.write_bytes(sources()["small.json"])
    return file


POWER = Section(
    "power",
    "states of the disk after a power failure at every step of every writer, with pending names and bytes kept or not; resumed",
    fail_power,
    patience=1800.0,
)
