"""Connecting to a cluster by its address, or starting one of this machine's own."""

from __future__ import annotations

import multiprocessing
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from possnet.errors import ClusterError, InputError, require_whole
from possnet.threads import cores

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONNECT: Final = 10.0  # seconds to reach a scheduler
_GUARD: Final = """in a script, put what starts them under: if __name__ == "__main__":"""
_KEEP_MEMORY: Final = {"MALLOC_TRIM_THRESHOLD_": 1 << 30, "MALLOC_MMAP_THRESHOLD_": 32 << 20}
"""For workers: Dask has them give every freed array back to the system, which makes every E-step ask for it again."""


@contextmanager
def connect_cluster(address: str = "local", *, workers: int | None = None) -> Iterator[Any]:
    """A ``distributed.Client`` of a scheduler's address, or of worker processes on this machine (``local``).

    Parameters
    ----------
    workers
        For ``local``: how many processes, by default one for each core. They listen on the loopback address alone and end
        with this process.

    Examples
    --------
    >>> import possnet as pn
    >>> with connect_cluster("local", workers=1) as client:  # doctest: +SKIP
    ...     pn.scaleout.count(dag, "rows/*.parquet", client=client)
    """
    given: object = address
    if not isinstance(given, str) or not given:
        raise InputError(
            f"cluster {address!r}; expected the address of a scheduler, such as tcp://host:8786, or 'local'"
        )
    if find_spec("distributed") is None:
        raise InputError("a cluster needs the package distributed; install it: pip install 'possnet[dask]'")
    import dask
    import distributed as untyped

    distributed: Any = untyped

    quiet = {"distributed.scheduler.allowed-failures": 0, "logging.distributed": "critical"}
    quiet |= {f"distributed.nanny.pre-spawn-environ.{name}": value for name, value in _KEEP_MEMORY.items()}
    if address == "local":
        count = cores() if workers is None else require_whole(workers, 1, "cluster: workers")
        with (
            dask.config.set(quiet),
            _start_workers(distributed, count) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client
        return
    try:
        client = distributed.Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ClusterError(f"{address}: no scheduler answers ({reason[:200]}); expected the address of one") from None
    try:
        yield client
    finally:
        client.close(timeout=_CONNECT)


def _start_workers(distributed: Any, count: int) -> Any:
    """A cluster of processes of this machine, in whose way a script without a guard is told apart from other failures."""
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise ClusterError(f"cluster: a worker that imports this script would start workers itself; {_GUARD}")
    try:
        return distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=":0" if find_spec("bokeh") else None,
            silence_logs=50,
        )
    except RuntimeError as error:
        raise ClusterError(f"cluster: its workers did not start ({str(error)[:200]}); {_GUARD}") from None


def dashboard_address(client: Any) -> str:
    """Where the cluster shows what it does, or an empty text if it does not.

    >>> from distributed import Client
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     dashboard_address(client)
    ''
    """
    link = str(getattr(client, "dashboard_link", "") or "")
    return link if find_spec("bokeh") else ""
