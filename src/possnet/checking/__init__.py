"""The hold-out check: hide cells that are known, complete them, and compare what the network says with what was hidden."""

from possnet.checking.cell_check import CellCheck
from possnet.checking.check_results import Check
from possnet.checking.hold_out import check
from possnet.checking.recipes import Recipe

__all__ = ["CellCheck", "Check", "Recipe", "check"]
