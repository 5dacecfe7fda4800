"""Counting rows that contain configurations; `Counts`, a value that adds."""

from possnet.counting.count import count, counts_of, nodes_in
from possnet.counting.counts import Counts, Focal

__all__ = ["Counts", "Focal", "count", "counts_of", "nodes_in"]
