"""The ways in which rows of evidence are answered, each of which tests can ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from possnet.inference import batched, row_loop, row_queries, slice_passes

if TYPE_CHECKING:
    import pytest

ROW_WAYS = ["tree", "slices", "slices in threads", "components", "loop", "calibrations", "cheapest"]


def force(way: str, patch: pytest.MonkeyPatch) -> None:
    """Have rows answered in one way, whatever is estimated: calibrations where all variables are asked for, else a loop."""
    if way == "cheapest":
        return
    if way in {"loop", "calibrations"}:
        patch.setattr(row_queries, "_LOOPED", np.inf)
        patch.setattr(row_queries, "_SECONDS_BOTH_WAYS", np.inf)
        other = "seconds_by_trees" if way == "loop" else "seconds"
        patch.setattr(row_loop.CellLoop, other, np.inf)
        return
    patch.setattr(row_queries, "_SECONDS_A_ROW", np.inf)
    patch.setattr(row_queries, "_LOOPED", -1)
    patch.setattr(row_loop, "_SECONDS_A_QUERY", np.inf)
    if way == "components":
        patch.setattr(row_queries, "_MANY_VARIABLES", 0)
        patch.setattr(row_queries, "_PLANNING_SECONDS", np.inf)
        patch.setattr(row_queries.RowQueries, "_trees_for_rows", lambda *_: None)
    else:
        patch.setattr(row_queries, "_QUICK_SECONDS", np.inf if way == "tree" else -1.0)
        patch.setattr(row_queries, "_WORTH_A_TRY", -1.0)
        patch.setattr(batched, "_SECONDS_A_CLIQUE", 1e9)  # slices are faster
    if way == "slices in threads":
        patch.setattr(slice_passes, "_WORTH_THREADS", 0)
        patch.setattr(slice_passes, "_SMALL", 0)
        patch.setattr(slice_passes, "cores", lambda: 2)
        patch.setattr(slice_passes, "rows_at_a_time", lambda _: 3)
