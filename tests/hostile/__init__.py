"""The hostile run: inputs, faults and calls meant to break possnet, counted in ``docs/hostile.json``.

    python -m tests.hostile --section parquet --seconds 600        (make hostile SECTION=parquet SECONDS=600)

A section tries things in chunks; a chunk is told a seed and does the same whenever it is given the same one. So a section can
be stopped and resumed: the ledger has the seed that comes next, and the seeds of chunks in which something went wrong, which are
repeated first the next time and count as mended when they pass. ``docs/hostile.md`` is written from the ledger.

A new section is a module here that makes a `Section`, and a line in ``tests/hostile/sections.py``.
"""
