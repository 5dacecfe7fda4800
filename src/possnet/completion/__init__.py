"""Completing rows: the degrees of the states of ambiguous cells given the rest of their row, and where they tie."""

from possnet.completion.complete_rows import CompletionStream, complete
from possnet.completion.completion import SURE_NECESSITY, CellTally, Completion, CompletionSummary

__all__ = ["SURE_NECESSITY", "CellTally", "Completion", "CompletionStream", "CompletionSummary", "complete"]
