"""Bytes to values and back: networks, data and counts in files. Each format is loaded when it is first used."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from possnet.io.data import DataStream, carry_columns, column_names, read_data, scan_data, write_data
    from possnet.io.examples import example_names, load_example
    from possnet.io.json_counts import read_counts, write_counts
    from possnet.io.networks import NETWORK_SUFFIXES, read_network, write_network
    from possnet.io.tidy import write_long
    from possnet.io.uai import names_file, read_evidence, write_evidence

__all__ = [
    "NETWORK_SUFFIXES",
    "DataStream",
    "carry_columns",
    "column_names",
    "example_names",
    "load_example",
    "names_file",
    "read_counts",
    "read_data",
    "read_evidence",
    "read_network",
    "scan_data",
    "write_counts",
    "write_data",
    "write_evidence",
    "write_long",
    "write_network",
]

_ROOMS = {
    "data": ("DataStream", "carry_columns", "column_names", "read_data", "scan_data", "write_data"),
    "examples": ("example_names", "load_example"),
    "json_counts": ("read_counts", "write_counts"),
    "networks": ("NETWORK_SUFFIXES", "read_network", "write_network"),
    "tidy": ("write_long",),
    "uai": ("names_file", "read_evidence", "write_evidence"),
}
_HOME = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _HOME:
        globals()[name] = value = getattr(import_module(f"possnet.io.{_HOME[name]}"), name)
        return value
    raise AttributeError(f"module 'possnet.io' has no attribute {name!r}")
