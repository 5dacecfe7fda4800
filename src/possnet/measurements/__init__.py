"""Measurements: numbers with a known error, bounds and intervals, as cells of an ordered variable."""

from possnet.measurements.bins import BinnedColumn
from possnet.measurements.measure import Measure, bin_measurements
from possnet.measurements.readings import Readings, read_numbers, read_texts, readings_of

__all__ = ["BinnedColumn", "Measure", "Readings", "bin_measurements", "read_numbers", "read_texts", "readings_of"]
