"""Bytes to values and back: networks, data and counts in files."""

from possnet.io.examples import example_names, load_example
from possnet.io.networks import read_network, write_network

__all__ = ["example_names", "load_example", "read_network", "write_network"]
