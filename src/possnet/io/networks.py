"""Reading and writing networks, by the suffix of the file's name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from possnet.errors import InputError
from possnet.io.json_network import read_json, write_json

if TYPE_CHECKING:
    from possnet.network import Network

__all__ = ["read_network", "write_network"]


def read_network(path: str | Path) -> Network:
    """Network of a file, by its suffix: ``.json``.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pn.write_network(pn.load_example("pump"), Path(folder) / "pump.json")
    ...     pn.read_network(Path(folder) / "pump.json") == pn.load_example("pump")
    True
    """
    if Path(path).suffix.lower() != ".json":
        raise InputError(f"{path}: unknown suffix {Path(path).suffix!r}; expected .json")
    return read_json(path)


def write_network(network: Network, path: str | Path) -> None:
    """Write a network to a file, by its suffix: ``.json``; whole or not at all.

    >>> import possnet as pn
    >>> pn.write_network(pn.load_example("pump"), "pump.txt")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: pump.txt: unknown suffix '.txt'; expected .json
    """
    if Path(path).suffix.lower() != ".json":
        raise InputError(f"{path}: unknown suffix {Path(path).suffix!r}; expected .json")
    write_json(network, path)
