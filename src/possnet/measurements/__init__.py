"""Measurements: numbers with a known error, bounds and intervals, as cells of an ordered variable."""

from possnet.measurements.binned_column import BinnedColumn
from possnet.measurements.binning import Binning, bin_measurements
from possnet.measurements.measured_columns import measured_cells, measured_column, read_measurements, refuse_values
from possnet.measurements.measured_intervals import MeasuredIntervals, parse_measurements, read_numbers, read_texts
from possnet.measurements.number_cells import bin_texts, states_of_value
from possnet.measurements.supervised_edges import find_mdl_edges, share_states

__all__ = [
    "BinnedColumn",
    "Binning",
    "MeasuredIntervals",
    "bin_measurements",
    "bin_texts",
    "find_mdl_edges",
    "measured_cells",
    "measured_column",
    "parse_measurements",
    "read_measurements",
    "read_numbers",
    "read_texts",
    "refuse_values",
    "share_states",
    "states_of_value",
]
