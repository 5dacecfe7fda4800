"""Bytes to values and back: networks, data and counts in files."""

from possnet.io.data import DataStream, column_names, read_data, scan_data, write_data
from possnet.io.examples import example_names, load_example
from possnet.io.networks import NETWORK_SUFFIXES, read_network, write_network
from possnet.io.uai import names_file, read_evidence, write_evidence

__all__ = [
    "NETWORK_SUFFIXES",
    "DataStream",
    "column_names",
    "example_names",
    "load_example",
    "names_file",
    "read_data",
    "read_evidence",
    "read_network",
    "scan_data",
    "write_data",
    "write_evidence",
    "write_network",
]
