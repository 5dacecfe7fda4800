"""Arrays kept in a ledger: written whole or not at all, with a checksum; damaged ones are as good as none."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.io import replace_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


def write_arrays(file: Path, arrays: Sequence[NDArray[Any]]) -> None:
    """Write arrays, and before them the checksum of their bytes."""
    content = io.BytesIO()
    named: dict[str, Any] = {f"a{k}": array for k, array in enumerate(arrays)}
    np.savez(content, **named)
    data = content.getvalue()
    with replace_file(file) as out:
        out.write(hashlib.sha256(data).digest() + data)


def read_arrays(file: Path) -> list[NDArray[Any]] | None:
    """The arrays of a file, or None if there is none or it is damaged.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "kept.npz"
    ...     write_arrays(place, [np.arange(3)])
    ...     read_arrays(place), read_arrays(Path(folder) / "other.npz")
    ([array([0, 1, 2])], None)
    """
    try:
        content = file.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(content[32:]).digest() != content[:32]:
        return None
    with np.load(io.BytesIO(content[32:]), allow_pickle=False) as arrays:
        return [np.asarray(arrays[f"a{k}"]) for k in range(len(arrays.files))]
