"""Tables from few numbers: uncertain OR, AND, MAX and MIN gates."""

from possnet.gates.gate import Gate, GateKind
from possnet.gates.gate_makers import gate_and, gate_max, gate_min, gate_or, restore_gate
from possnet.gates.gate_search import GateFit, find_nearest_gate

__all__ = [
    "Gate",
    "GateFit",
    "GateKind",
    "find_nearest_gate",
    "gate_and",
    "gate_max",
    "gate_min",
    "gate_or",
    "restore_gate",
]
