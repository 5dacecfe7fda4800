"""Completing rows: the degrees of the states of ambiguous cells given the rest of their row, and where they tie."""

from possnet.completion.complete_rows import CompletionStream, complete
from possnet.completion.completion import CellTally, Completion, CompletionSummary

__all__ = ["CellTally", "Completion", "CompletionStream", "CompletionSummary", "complete"]
