"""Answers of independent solvers, recorded in tests/fixtures/solvers.json: ``make fixtures``.

toulbar2 gives the largest joint degree that agrees with some evidence; elimination with pyAgrum's tensors gives
max-product marginals. Both read the UAI files that possnet writes. Networks are the bundled product-based ones and the
gold-standard ones that ship inside pgmpy.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import missing_data
import numpy as np
from measure import PEERS, ROOT
from networks import BUNDLED, load

import possnet as pn

SMALL_GOLD = "alarm insurance hailfinder win95pts hepar2 child sachs"
LARGE_GOLD = "water mildew pathfinder andes pigs munin munin1 barley link"
GOLD = (*SMALL_GOLD.split(), *LARGE_GOLD.split())


def ask(script: str, *arguments: str) -> dict[str, object]:
    """Run a peer's driver and read its answer."""
    command = [str(PEERS), str(ROOT / "benchmarks" / "peers" / script), *arguments]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    if run.returncode:
        print(f"{script} failed with {run.returncode}: {' '.join(arguments)}", flush=True)
        return {}
    answer: dict[str, object] = json.loads(run.stdout)
    return answer


def questions(net: pn.Network, seed: int) -> list[dict[str, str]]:
    """No evidence; then some leaves, each in a state drawn at random."""
    rng = np.random.default_rng(seed)
    leaves = net.dag.leaves
    asked: list[dict[str, str]] = []
    for count in (1, 2, 4):
        chosen = [leaves[k] for k in np.sort(rng.permutation(len(leaves))[:count])]
        asked.append({name: str(rng.choice(net.variable(name).states)) for name in chosen})
    return asked


def record(name: str, folder: Path) -> list[dict[str, object]]:
    """All answers about one network."""
    net = load(name)
    path = folder / f"{name}.uai"
    pn.write_network(net, path)
    place = {v.name: k for k, v in enumerate(net.variables)}
    rows = []
    for seed, evidence in enumerate(questions(net, len(name))):
        numbers = ",".join(f"{place[n]}={net.variable(n).index(s)}" for n, s in evidence.items())
        best = ask("toulbar2_mpe.py", str(path), numbers, "120")
        targets = [v.name for v in net.variables if v.name not in evidence][seed :: max(len(place) // 2, 1)][:2]
        listed = ",".join(str(place[n]) for n in targets)
        found = ask("pyagrum_maxmarginals.py", str(path), listed, numbers)
        marginals = found.get("marginals", {})
        assert isinstance(marginals, dict)  # noqa: S101
        rows.append(
            {
                "network": name,
                "evidence": evidence,
                "toulbar2": best.get("value") if best.get("optimal") else None,
                "log_error": best.get("log_error", 0.0),
                "marginals": {n: marginals[str(place[n])] for n in targets if marginals},
                "versions": {"toulbar2": best.get("version"), "pyagrum": found.get("version")},
            }
        )
        print(name, evidence, best.get("value"), best.get("optimal"), flush=True)
    return rows


def likelihoods() -> None:
    """Record the maximum log-likelihood of bundled structures on precise rows."""
    cases = []
    version = ""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.csv"
        for name, rows, seed in (("asia", 2000, 1), ("clinic", 3000, 2), ("pump", 500, 3)):
            net = pn.load_example(name)
            pn.write_data(pn.sample(net, rows, process="precise", rng=seed), file)
            structure = {node: net.dag.parents(node) for node in net.dag.nodes}
            found = ask("pyagrum_likelihood.py", str(file), json.dumps(structure))
            version = f"pyAgrum {found.pop('version')}"
            cases.append({"network": name, "rows": rows, "seed": seed, **found})
    target = ROOT / "tests" / "fixtures" / "likelihood.json"
    target.write_text(json.dumps({"peer": version, "cases": cases}, indent=1) + "\n", encoding="utf-8")


def missing() -> None:
    """Record what a plain EM for Bayesian networks makes of rows with missing cells."""
    target = ROOT / "tests" / "fixtures" / "missing.json"
    lines = ",\n".join(json.dumps(case) for case in missing_data.cases())
    target.write_text('{"peer": "benchmarks/missing_data.py", "cases": [\n' + lines + "\n]}\n", encoding="utf-8")


def main() -> None:
    """Ask about every network and write the fixtures."""
    likelihoods()
    missing()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for name in (*BUNDLED, *GOLD) for row in record(name, Path(folder))]
    target = ROOT / "tests" / "fixtures" / "solvers.json"
    target.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
