"""Possibilistic networks as values: a DAG, a conditional table for every variable, and a conjunction."""

from possnet.network.aligned_networks import align_network, permute_axes
from possnet.network.factors import network_of_factors
from possnet.network.gated_tables import nearest_gate
from possnet.network.network import Network, normalise_tables
from possnet.network.network_bounds import NetworkBounds
from possnet.network.random_networks import random_network
from possnet.network.structure_edits import (
    add_edge,
    add_variable,
    change_states,
    remove_edge,
    remove_variables,
    rename_network,
    rename_variable,
)

__all__ = [
    "Network",
    "NetworkBounds",
    "add_edge",
    "add_variable",
    "align_network",
    "change_states",
    "nearest_gate",
    "network_of_factors",
    "normalise_tables",
    "permute_axes",
    "random_network",
    "remove_edge",
    "remove_variables",
    "rename_network",
    "rename_variable",
]
