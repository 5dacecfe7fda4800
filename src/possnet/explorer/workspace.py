"""The folder of an explorer: what can be opened in it, and where networks are saved. Nothing outside is named or read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from possnet.errors import InputError, among
from possnet.io import (
    DATA_FORMATS,
    NETWORK_FORMATS,
    choose_format,
    has_suffix,
    write_network,
)

if TYPE_CHECKING:
    from possnet.explorer.session import Session

_MOST_FILES: Final = 60
_MOST_LOOKED_AT: Final = 5000
_DEEPEST: Final = 2
_AUTOSAVE: Final = ".autosave.json"


class FolderFile(NamedTuple):
    """A file that the page can open: its path below the folder, what it holds, bytes, and seconds since 1970."""

    path: str
    kind: str
    size: int
    modified: float


class FileThere(InputError):
    """A file of that name is there, and nobody said that it may go."""

    kind = "exists"


def list_files(folder: Path) -> list[FolderFile]:
    """Networks and tables in a folder and the folders in it, the latest first; hidden ones and links out are left out.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "net.json").write_text("{}"), (Path(folder) / "notes.txt").write_text("")
    ...     [(file.path, file.kind) for file in list_files(Path(folder))]
    [('net.json', 'network')]
    """
    listed: list[FolderFile] = []
    looked_at = 0
    top = folder.resolve()
    for place, folders, files in os.walk(top, followlinks=False):
        depth = len(Path(place).parts) - len(top.parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < _DEEPEST else []
        for name in files:
            looked_at += 1
            if looked_at > _MOST_LOOKED_AT:
                break
            kind = _tell_kind(name)
            if kind is None:
                continue
            path = top / place / name
            try:
                resolved = path.resolve(strict=True)
                status = resolved.stat()
            except (OSError, RuntimeError):
                continue
            if resolved.is_file() and resolved.is_relative_to(top):
                below = path.relative_to(top).as_posix()
                listed.append(FolderFile(below, kind, status.st_size, status.st_mtime))
    listed.sort(key=lambda file: (-file.modified, file.path))
    return listed[:_MOST_FILES]


def _tell_kind(name: str) -> str | None:
    if name.startswith("."):
        return None
    return "network" if has_suffix(name, NETWORK_FORMATS) else "data" if has_suffix(name, DATA_FORMATS) else None


def find_below(folder: Path, name: str) -> Path:
    """The file of a name below a folder; an `InputError` for one outside it, by whatever way.

    >>> from pathlib import Path
    >>> find_below(Path("."), "../secret.json")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: ../secret.json: not below the folder of the explorer; expected a file in it
    """
    outside = InputError(f"{name[:200]}: not below the folder of the explorer; expected a file in it")
    if not name or "\0" in name or "\\" in name:
        raise outside
    top = folder.resolve()
    try:
        path = (top / name).resolve()
    except (OSError, RuntimeError, ValueError):
        raise outside from None
    hidden = any(part.startswith(".") for part in path.parts[len(top.parts) :])
    if path == top or not path.is_relative_to(top) or hidden:
        raise outside
    return path


def find_existing(folder: Path, name: str) -> Path:
    """A file below a folder that is there; one that is not comes with the nearest name."""
    path = find_below(folder, name)
    if not os.path.isfile(path):  # noqa: PTH113 - False for impossible names
        raise InputError(f"{name[:200]}: no such file{among(name, [file.path for file in list_files(folder)])}")
    return path


def save_session(session: Session, folder: Path, name: str | None, *, overwrite: bool = False) -> Session:
    """Write the network to a file below the folder, whole or not at all; the session knows it from then on."""
    step = session.step
    if name is None and step.file is None:
        raise InputError("save: the network has no file yet; expected a name for it")
    path = find_below(folder, name.strip()) if name is not None else step.file
    assert path is not None  # noqa: S101
    if name is None:
        find_below(folder, os.path.relpath(path, folder.resolve()))
    if not session.network.variables:
        raise InputError("save: the network has no variables yet; expected at least one")
    if not has_suffix(path, NETWORK_FORMATS, "write"):
        if name is not None and not path.suffix:
            path = path.with_name(f"{path.name}.json")
        choose_format(path, NETWORK_FORMATS, "write")
    choose_format(path, NETWORK_FORMATS)  # what is saved can be opened again
    if os.path.lexists(path) and path != step.file and not overwrite:
        raise FileThere(
            f"save: there is a file {path.name!r} already; expected another name, or say that it is replaced"
        )
    write_network(session.network, path)
    return session.with_file(path)


def write_autosave(session: Session, folder: Path) -> Path | None:
    """Write the network beside its file, or into the folder before it has one; None without anything to write."""
    if not session.network.variables:
        return None
    file = session.step.file
    stem = "network" if file is None else file.name.split(".")[0]
    target = (folder if file is None or not file.is_relative_to(folder) else file.parent) / f"{stem}{_AUTOSAVE}"
    write_network(session.network, target)
    return target


def describe_folder(folder: Path) -> dict[str, Any]:
    """What the start page offers: the name of the folder, and its files."""
    return {"folder": folder.name, "files": [file._asdict() for file in list_files(folder)]}
