"""Counting, learning, completing, drawing and evaluating on a Dask cluster, exact when workers die.

`distributed` has its only door here (``pip install 'possnet[dask]'``). Every verb takes a ``client`` and does what the verb
of the same name in `possnet` does, on files that all workers can read:

- rows are split into *parts* (row groups of Parquet files, whole CSV files) of a size that fits a worker;
- `Counts` add, rows are drawn in blocks of their own seed, trials are independent: what a worker that dies had done is done
  again elsewhere, and the result does not depend on who did what, nor in which order;
- every wait has a bound (`Patience`): without workers, without a scheduler, or with a part on which workers die again and
  again, a `possnet.errors.ClusterError` says so in one sentence, and what was done is kept in the ledger.

Workers exchange pickled objects with the client, as Dask does: use clusters that you trust.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
