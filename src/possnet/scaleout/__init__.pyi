"""The names of `possnet.scaleout`, each listed once: `possnet.scaleout.__init__` loads them when they are first used."""

from .cluster_executor import ClusterExecutor as ClusterExecutor, Patience as Patience
from .connect import connect_cluster as connect_cluster, dashboard_address as dashboard_address
from .count_parts import (
    count as count,
    fit as fit,
    log_likelihood as log_likelihood,
    random_set_log_likelihood as random_set_log_likelihood,
)
from .em_groups import fit_em as fit_em
from .evaluate_trials import evaluate as evaluate
from .structure_counts import learn_structure as learn_structure
from .written_parts import complete as complete, query_many as query_many, sample as sample
