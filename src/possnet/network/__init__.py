"""Possibilistic networks as values: a DAG, a conditional table for every variable, and a conjunction."""

from possnet.network.factors import network_of_factors
from possnet.network.random import random_network
from possnet.network.values import Network, normalise_tables

__all__ = ["Network", "network_of_factors", "normalise_tables", "random_network"]
