"""Filling ambiguous cells: what the rest of a row says about them, and where it says nothing."""

from possnet.completion.run import CompletionStream, complete
from possnet.completion.values import CellTally, Completion, CompletionSummary

__all__ = ["CellTally", "Completion", "CompletionStream", "CompletionSummary", "complete"]
