"""Workers killed at random moments of every verb of scaleout: results equal those of one machine, nothing hangs."""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import possnet as pn
from possnet import scaleout
from tests.hostile.section import Chunk, Section
from tests.scaleout.clusters import Cluster, start_cluster

_KILLS = 10  # of a chunk
_FILES, _ROWS = 16, 4_000
_EM = pn.EmOptions(max_steps=15)
Work = tuple[str, Callable[[], Any], Callable[[Any], bool]]


def write_rows(folder: Path, net: pn.Network) -> pn.Dataset:
    """Files of equal size; all their rows."""
    folder.mkdir()
    for k in range(_FILES):
        part = pn.sample(net, _ROWS, imprecision=0.5, process="traced", rng=1, start=_ROWS * k)
        pn.write_data(part, folder / f"part-{k:02d}.parquet")
    return pn.Dataset.concatenate(pn.scan_data(folder))


def list_work(net: pn.Network, rows: Path, data: pn.Dataset, folder: Path, client: Any) -> list[Work]:
    """Verbs, and whether what they gave is what one machine gives."""
    counts = pn.count(net.dag, data)
    learned = pn.fit_em(net.dag, data, options=_EM)
    tree = pn.learn_structure(data, "mwst", measure="mdl").dag
    completed = pn.complete(net, data).resolved()
    drawn = pn.sample(net, 60_000, imprecision=0.5, rng=5)
    places = iter(folder / f"out-{k}" for k in range(1_000_000))

    def rows_of(files: list[Path]) -> pn.Dataset:
        return pn.Dataset.concatenate(pn.scan_data(files[0].parent))

    return [
        ("count", lambda: scaleout.count(net.dag, rows, client=client), lambda there: there == counts),
        (
            "count with a ledger",
            lambda: scaleout.count(net.dag, rows, client=client, ledger=next(places)),
            lambda there: there == counts,
        ),
        (
            "fit_em",
            lambda: scaleout.fit_em(net.dag, rows, client=client, options=_EM),
            lambda there: there.network.is_close(learned.network, tolerance=1e-9),
        ),
        (
            "learn_structure",
            lambda: scaleout.learn_structure(rows, "mwst", measure="mdl", client=client),
            lambda there: there.dag == tree,
        ),
        (
            "sample",
            lambda: scaleout.sample(net, 60_000, imprecision=0.5, rng=5, part_rows=4_000, out=next(places), client=client),
            lambda there: rows_of(there) == drawn,
        ),
        (
            "complete",
            lambda: scaleout.complete(net, rows, out=next(places), client=client),
            lambda there: rows_of(there) == completed,
        ),
    ]  # fmt: skip


class Killer(threading.Thread):
    """Kills the oldest worker after random pauses, each time after another was started, until it is told to stop."""

    def __init__(self, cluster: Cluster, rng: random.Random, most: int) -> None:
        super().__init__(daemon=True)
        self.killed, self._cluster, self._rng, self._most = 0, cluster, rng, most
        self.done = threading.Event()

    def run(self) -> None:
        """Kill until enough are dead or the work is done."""
        while self.killed < self._most and not self.done.wait(self._rng.uniform(0.02, 0.8)):
            self._cluster.add_worker()
            self._cluster.kill_worker(0)
            self.killed += 1


def kill_workers(seed: int) -> Chunk:
    """Verbs of scaleout in turn while workers are killed, until so many are dead."""
    rng = random.Random(seed)  # noqa: S311 - moments, not secrets
    net = pn.load_example("asia")
    failures: list[str] = []
    killed, slowest = 0, 0.0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data = write_rows(folder / "rows", net)
        (folder / "cluster").mkdir()
        with start_cluster(folder / "cluster") as (cluster, client):
            work = list_work(net, folder / "rows", data, folder, client)
            turn = seed
            while killed < _KILLS and not failures:
                name, run, is_equal = work[turn % len(work)]
                turn += 1
                killer, begun = Killer(cluster, rng, _KILLS - killed), time.monotonic()
                killer.start()
                try:
                    if not is_equal(run()):
                        failures.append(f"{name}: another result than that of one machine")
                except Exception as error:  # noqa: BLE001
                    failures.append(f"{name}: {type(error).__name__}: {error}")
                killer.done.set()
                killer.join()
                killed, slowest = killed + killer.killed, max(slowest, time.monotonic() - begun)
    return Chunk(killed, tuple(failures), {"slowest verb, s": slowest})


KILLS = Section(
    "workers",
    "SIGKILLs of workers at random moments of count, fit_em, learn_structure, sample and complete on a cluster",
    kill_workers,
    wanted=300,
    patience=900.0,
)
