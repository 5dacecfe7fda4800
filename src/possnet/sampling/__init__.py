"""Drawing imprecise rows from a network, and the exact law of what is drawn.

A row is a set of states for every variable. It is drawn by a process (`PROCESSES`); one function runs them all: `sample`.
The law of a variable's cell depends on the *signals* of its parents alone (their cells, or their hidden states: the trace),
so that the rows are drawn from a Bayesian network over set-valued variables, and the limit of counting such rows can be
computed exactly: `sampling_law`, `sampling_limit`.

References
----------
[HLB] M. Haddad, P. Leray, N. Ben Amor: Possibilistic networks: parameters learning from imprecise data and evaluation
strategy, section 3.1 and Algorithm 1.
D. Guyonnet, B. Bourgine, D. Dubois, H. Fargier, B. Come, J.-P. Chiles: Hybrid approach for addressing uncertainty in risk
assessments, 2003.
S. Chanas, M. Nowakowski: Single value simulation of fuzzy variable, 1988.
"""

from possnet.sampling.cell_laws import thinning_weights
from possnet.sampling.exact_limits import sampling_law, sampling_limit
from possnet.sampling.family_laws import FamilyLaw, family_laws
from possnet.sampling.processes import PROCESSES, Law, Parents, Process, is_imprecise, label_process
from possnet.sampling.sample_rows import SampleStream, chanas, guyonnet, sample, sample_batches
from possnet.sampling.sampling_spec import Imprecision, SamplingOptions
from possnet.sampling.simulated_limits import SimulatedLimit, simulated_limit

__all__ = [
    "PROCESSES",
    "FamilyLaw",
    "Imprecision",
    "Law",
    "Parents",
    "Process",
    "SampleStream",
    "SamplingOptions",
    "SimulatedLimit",
    "chanas",
    "family_laws",
    "guyonnet",
    "is_imprecise",
    "label_process",
    "sample",
    "sample_batches",
    "sampling_law",
    "sampling_limit",
    "simulated_limit",
    "thinning_weights",
]
