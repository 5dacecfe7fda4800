"""The ledger: a folder with the counts of every part that was counted, so that nothing is counted twice.

The name of an entry is a digest of all that its counts depend on: the file (path, size, time of modification), its row
groups, how cells are read, the variables and the structure. Entries are written beside and renamed, and carry a checksum:
one that is damaged is counted again.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from possnet.errors import InputError
from possnet.io import read_counts, write_counts

if TYPE_CHECKING:
    from possnet.counting import Counts
    from possnet.graph import Dag
    from possnet.io import StreamPart


def part_key(part: StreamPart, *about: object) -> str:
    """Digest of a part and of what is done with it."""
    stream = part.stream
    described = {
        "file": [str(Path(part.path).absolute()), part.size, part.modified, part.blocks],
        "reading": part.reading,
        "variables": [[v.name, v.states, v.ordered, repr(v.bins)] for v in stream.variables],
        "about": [repr(one) for one in about],
    }
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def describe_structure(dag: Dag) -> str:
    """A structure as a text: every node and its parents in order."""
    return json.dumps({node: dag.parents(node) for node in dag.nodes}, sort_keys=True)


class Ledger:
    """Counts of parts in a folder, by their keys; folders of 256 keep large ledgers quick."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find_entry(self, key: str) -> Counts | None:
        """The counts of a part, or None if there are none, or damaged ones."""
        file = self._place(key)
        try:
            return read_counts(file) if file.exists() else None
        except InputError:
            return None

    def add_entry(self, key: str, counts: Counts) -> None:
        """Keep the counts of a part, whole or not at all."""
        file = self._place(key)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_counts(counts, file)

    def _place(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:34]}.json"
