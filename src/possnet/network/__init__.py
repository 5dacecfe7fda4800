"""Possibilistic networks as values: a DAG, a conditional table for every variable, and a conjunction."""

from possnet.network.factors import network_of_factors
from possnet.network.network import Network, normalise_tables
from possnet.network.random_networks import random_network

__all__ = ["Network", "network_of_factors", "normalise_tables", "random_network"]
