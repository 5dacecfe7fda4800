"""Counting rows that contain configurations; `Counts`, a value that adds."""

from possnet.counting.count import count, counts_of, nodes_in
from possnet.counting.counts import Counts, Focal
from possnet.counting.row_blocks import Block, blocks_of

__all__ = ["Block", "Counts", "Focal", "blocks_of", "count", "counts_of", "nodes_in"]
