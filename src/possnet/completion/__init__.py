"""Filling ambiguous cells: what the rest of a row says about them, and where it says nothing."""

from possnet.completion.complete_rows import CompletionStream, complete
from possnet.completion.completion import CellTally, Completion, CompletionSummary

__all__ = ["CellTally", "Completion", "CompletionStream", "CompletionSummary", "complete"]
