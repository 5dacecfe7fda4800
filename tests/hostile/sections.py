"""The sections of the hostile run, in the order of ``docs/hostile.md``. Register new ones here."""

from __future__ import annotations

from tests.hostile.argument_types import TYPES
from tests.hostile.bit_flips import BITS
from tests.hostile.clean_machine import CLEAN
from tests.hostile.concurrency import CONCURRENCY
from tests.hostile.coverage_fuzz import COVERAGE
from tests.hostile.disk_faults import FAULTS
from tests.hostile.experiment_folders import EXPERIMENT
from tests.hostile.fuzzing import make_section
from tests.hostile.killed_clusters import KILLS
from tests.hostile.memory import MEMORY
from tests.hostile.mutants import MUTANTS
from tests.hostile.parquet_files import PARQUET
from tests.hostile.power_failures import POWER
from tests.hostile.readers import READERS
from tests.hostile.section import Section
from tests.hostile.signals_at_random import SIGNALS
from tests.hostile.web_requests import HTTP

SECTIONS: list[Section] = [
    BITS,
    PARQUET,
    *(make_section(reader) for reader in (*READERS, HTTP, EXPERIMENT)),
    TYPES,
    MEMORY,
    MUTANTS,
    CLEAN,
    FAULTS,
    COVERAGE,
    POWER,
    SIGNALS,
    CONCURRENCY,
    KILLS,
]
