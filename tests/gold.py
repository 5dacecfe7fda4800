"""The gold standard networks of the literature, in BIF files that ship with pgmpy."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def gold_files() -> list[Path]:
    """Paths of the 24 files, sorted; none if pgmpy is not installed."""
    spec = importlib.util.find_spec("pgmpy")
    if spec is None or spec.origin is None:
        return []
    return sorted((Path(spec.origin).parent / "utils" / "example_models").glob("*.bif.gz"))
