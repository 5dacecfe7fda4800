"""Sufficient statistics: how many rows contain each configuration of a family (`count`), as values that add (`Counts`)."""

from possnet.counting.count import count, counts_of, nodes_in
from possnet.counting.counts import Counts
from possnet.counting.focal_counts import Focal
from possnet.counting.row_blocks import RowBlock, split_blocks

__all__ = ["Counts", "Focal", "RowBlock", "count", "counts_of", "nodes_in", "split_blocks"]
