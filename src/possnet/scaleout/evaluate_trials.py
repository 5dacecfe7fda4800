"""An evaluation whose trials run on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from possnet.experiment import evaluate as evaluate_here
from possnet.scaleout.cluster_executor import ClusterExecutor, Patience

if TYPE_CHECKING:
    from possnet.experiment import Results


def evaluate(
    networks: Any = ("clinic", "pump"), *, client: Any, patience: Patience | None = None, **options: Any
) -> Results:
    """The results of `possnet.evaluate`, with the same options, its trials run by the workers of a cluster.

    With ``out`` every finished trial is kept there, as on one machine; the results are the same.
    """
    executor = ClusterExecutor(client, patience)
    try:
        return evaluate_here(networks, executor=executor, **options)
    finally:
        executor.shutdown(cancel_futures=True)
