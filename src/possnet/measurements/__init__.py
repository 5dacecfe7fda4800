"""Measurements: numbers with a known error, bounds and intervals, as cells of an ordered variable."""

from possnet.measurements.binned_column import BinnedColumn
from possnet.measurements.binning import Binning, bin_measurements
from possnet.measurements.measured_intervals import Readings, read_numbers, read_texts, readings_of

__all__ = ["BinnedColumn", "Binning", "Readings", "bin_measurements", "read_numbers", "read_texts", "readings_of"]
