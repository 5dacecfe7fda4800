"""Limits: how much memory there is, how large an input may be, and refusing what goes beyond, with a sentence."""

from possnet.limits.address_space import require_address_space, spare_address_space, take_work_space
from possnet.limits.input_limits import LIMITS, InputLimit, current_limit, format_limits, refuse_above
from possnet.limits.memory import free_memory, memory_limit, readable_bytes, refuse_over, require_free
from possnet.limits.shortage import describe_shortage, explain_shortage

__all__ = [
    "LIMITS",
    "InputLimit",
    "current_limit",
    "describe_shortage",
    "explain_shortage",
    "format_limits",
    "free_memory",
    "memory_limit",
    "readable_bytes",
    "refuse_above",
    "refuse_over",
    "require_address_space",
    "require_free",
    "spare_address_space",
    "take_work_space",
]
