"""The least cost of a WCNF file and an assignment that has it, by RC2 of python-sat: ``maxsat.py FILE``."""

import json
import sys

import pysat
from pysat.examples.rc2 import RC2
from pysat.formula import WCNF

formula = WCNF()
for line in open(sys.argv[1], encoding="utf-8"):  # noqa: PTH123, SIM115
    words = line.split()
    if words and words[0] == "h":
        formula.append([int(word) for word in words[1:-1]])
    elif words and words[0] != "c":
        formula.append([int(word) for word in words[1:-1]], weight=int(words[0]))
with RC2(formula) as solver:
    model = solver.compute()
    print(json.dumps({"cost": solver.cost, "true": [k for k in model if k > 0], "version": pysat.__version__}))
