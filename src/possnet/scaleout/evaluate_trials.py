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

    >>> import possnet as pn
    >>> from distributed import Client
    >>> options = dict(rows=[50], imprecision=[1], process=["traced"], learners=["likelihood"], repeats=2, rng=1)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     results = evaluate(["survey"], client=client, **options)
    >>> results.summary("affinity")[0].mean == pn.evaluate(["survey"], workers=1, **options).summary("affinity")[0].mean
    True
    """
    executor = ClusterExecutor(client, patience)
    try:
        return evaluate_here(networks, executor=executor, **options)
    finally:
        executor.shutdown(cancel_futures=True)
