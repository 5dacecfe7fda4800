"""What pyAgrum and pgmpy read from network files: ``read_networks.py FILE ...``; tables with the parents first, by name."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pgmpy
import pyagrum as gum
from pgmpy.readwrite import NETReader, XDSLReader

warnings.simplefilter("ignore")


def order_axes(names: list[str], array: np.ndarray) -> dict[str, object]:
    """A table with sorted parents, then the child; its names come with the child first."""
    child, *parents = names
    axes = [names.index(name) for name in (*sorted(parents), child)]
    return {"parents": sorted(parents), "table": np.round(array.transpose(axes), 12).tolist()}


def read_by_pyagrum(path: str) -> dict[str, object]:
    """Names, states and tables as pyAgrum has them."""
    network = gum.loadBN(path)
    variables = {}
    for node in sorted(network.nodes()):
        variable, cpt = network.variable(node), network.cpt(node)
        page = order_axes(list(cpt.names), np.array(cpt.toarray()).transpose())
        variables[variable.name()] = {"states": list(variable.labels()), **page}
    return variables


def read_by_pgmpy(path: str) -> dict[str, object]:
    """Names, states and tables as pgmpy has them."""
    reader = XDSLReader if path.endswith(".xdsl") else NETReader
    model = reader(path).get_model()
    variables = {}
    for cpd in model.get_cpds():
        states = cpd.state_names[cpd.variable]
        variables[cpd.variable] = {"states": list(states), **order_axes(list(cpd.variables), np.array(cpd.values))}
    return variables


def main() -> None:
    """Read every file by pyAgrum, and by pgmpy where it has a reader for these; null for a file that it cannot read."""
    files: dict[str, dict[str, object]] = {}
    for path in sys.argv[1:]:
        files[Path(path).name] = answers = {}
        for name, read in (("pyagrum", read_by_pyagrum), ("pgmpy", read_by_pgmpy)):
            if name == "pgmpy" and not path.endswith((".net", ".xdsl")):
                continue
            try:
                answers[name] = read(path)
            except Exception:  # noqa: BLE001 - each library has its own kinds
                answers[name] = None
    print(json.dumps({"versions": {"pyagrum": gum.__version__, "pgmpy": pgmpy.__version__}, "files": files}))


if __name__ == "__main__":
    main()
