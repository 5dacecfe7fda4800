"""Comparing networks: tables, joints, orders and structures."""

from possnet.metrics.compared_network import ComparedNetwork
from possnet.metrics.comparison import Comparison, Measured, compare
from possnet.metrics.degree_bounds import DegreeBounds, bounds_of
from possnet.metrics.distributions import information_affinity, rank_agreement, top_agreement
from possnet.metrics.metric import METRICS, SUBJECTS, Metric, group_metrics
from possnet.metrics.network_differences import NetworkDifferences, PairedTables, TableDifference, compare_tables
from possnet.metrics.structures import structure_metrics

__all__ = [
    "METRICS",
    "SUBJECTS",
    "ComparedNetwork",
    "Comparison",
    "DegreeBounds",
    "Measured",
    "Metric",
    "NetworkDifferences",
    "PairedTables",
    "TableDifference",
    "bounds_of",
    "compare",
    "compare_tables",
    "group_metrics",
    "information_affinity",
    "rank_agreement",
    "structure_metrics",
    "top_agreement",
]
