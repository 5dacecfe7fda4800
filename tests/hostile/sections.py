"""The sections of the hostile run, in the order of ``docs/hostile.md``. Register new ones here."""

from __future__ import annotations

from tests.hostile.bit_flips import BITS
from tests.hostile.parquet_files import PARQUET
from tests.hostile.section import Section

SECTIONS: list[Section] = [
    BITS,
    PARQUET,
]
