"""Bytes to values and back: networks, data and counts in files."""

from possnet.io.data import DataStream, column_names, read_data, scan_data, write_data
from possnet.io.examples import example_names, load_example
from possnet.io.networks import read_network, write_network

__all__ = [
    "DataStream",
    "column_names",
    "example_names",
    "load_example",
    "read_data",
    "read_network",
    "scan_data",
    "write_data",
    "write_network",
]
