"""What other programs read from the files that possnet writes, recorded in tests/fixtures: ``make fixtures``.

pyAgrum, and pgmpy where it has a reader for the format, read networks; RC2 of python-sat solves WCNF files. Tests write the
same files again (their SHA-256 is recorded) and compare what was read with the network.
"""

import hashlib
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from measure import PEERS, ROOT

import possnet as pn

FIXTURES = ROOT / "tests" / "fixtures"
TRANSFORM = "symmetric"
QUESTIONS: dict[str, list[dict[str, list[str]]]] = {
    "asia": [{}, {"xray": ["yes"]}, {"dysp": ["yes"], "smoke": ["no"]}],
    "clinic": [{}, {"fever": ["mild", "high"], "rash": ["spots"]}, {"measles": ["yes"]}],
    "pump": [{}, {"flow": ["reduced", "none"]}],
    "survey": [{"leaning": ["left"], "answer": ["right"]}, {"age": ["old"], "turnout": ["no"], "answer": ["left"]}],
    "random 3 product": [{}, {"x19": ["s1"], "x20": ["s2"]}],
    "random 4 min": [{"x18": ["s1"], "x19": ["s2"], "x20": ["s1"]}],
}


def load_network(name: str) -> pn.Network:
    """A bundled network, or ``random SEED CONJUNCTION``: twenty variables, with zeros."""
    if not name.startswith("random"):
        return pn.load_example(name)
    _, seed, conjunction = name.split()
    chosen = {"product": pn.PRODUCT, "min": pn.MIN}[conjunction]
    return pn.random_network(20, max_parents=3, states=(2, 4), zeros=0.1, conjunction=chosen, rng=int(seed))


def make_networks() -> dict[str, pn.Network]:
    """The networks that are written: a bundled one, and one whose names are no identifiers."""
    states = pn.Variable("age group", ("<5", "5-11", "12+"), ordered=True)
    visits = pn.Variable("visits/year", ("none", "one or two", "more"))
    cared = pn.Variable("cared", ("yes", "no"))
    rng = np.random.default_rng(7)
    dag = pn.Dag({"age group": (), "visits/year": ("age group",), "cared": ("visits/year", "age group")})
    tables = {}
    for name, shape in (("age group", (3,)), ("visits/year", (3, 3)), ("cared", (3, 3, 2))):
        raw = rng.integers(1, 20, shape) / 20
        tables[name] = raw / raw.max(axis=-1, keepdims=True)
    return {
        "clinic": pn.load_example("clinic"),
        "named": pn.Network((states, visits, cared), dag, tables, name="named"),
    }


def write_files(folder: Path) -> list[Path]:
    """Write every network in every format that other programs read."""
    paths = []
    for name, network in make_networks().items():
        for suffix in ("net", "xdsl", "bif", "bifxml"):
            path = folder / f"{name}.{suffix}"
            written = folder / f"{name}.xmlbif" if suffix == "bifxml" else path
            pn.write_network(network, written, transform=TRANSFORM)
            written.rename(path)
            paths.append(path)
    return paths


def ask(script: str, *arguments: str) -> dict[str, object]:
    """Run a peer's driver and read its answer."""
    command = [str(PEERS), str(ROOT / "benchmarks" / "peers" / script), *arguments]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, object] = json.loads(run.stdout.splitlines()[-1])
    return answer


def record_readers(folder: Path) -> None:
    """Record what pyAgrum and pgmpy read."""
    paths = write_files(folder)
    answer = ask("read_networks.py", *map(str, paths))
    answer["transform"] = TRANSFORM
    answer["sha256"] = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    (FIXTURES / "written_networks.json").write_text(json.dumps(answer) + "\n", encoding="utf-8")


def record_solver(folder: Path) -> None:
    """Record the least costs, and configurations that have them, by a solver of weighted MaxSAT."""
    cases, version = [], None
    for name, questions in QUESTIONS.items():
        network = load_network(name)
        states = [(v.name, state) for v in network.variables for state in v.states]
        for evidence in questions:
            path = folder / "question.wcnf"
            pn.write_network(network, path, evidence=evidence)
            answer = ask("maxsat.py", str(path))
            true = answer["true"]
            assert isinstance(true, list)  # noqa: S101
            configuration = dict(states[k - 1] for k in true if k <= len(states))
            clauses = sum(not line.startswith("c") for line in path.read_text(encoding="utf-8").splitlines())
            version = answer["version"]
            case = {"network": name, "evidence": evidence, "clauses": clauses, "cost": answer["cost"]}
            cases.append({**case, "configuration": configuration})
    lines = ",\n".join(json.dumps(case) for case in cases)
    text = f'{{"solver": "RC2 of python-sat {version}", "cases": [\n{lines}\n]}}\n'
    (FIXTURES / "maxsat.json").write_text(text, encoding="utf-8")


def main() -> None:
    """Write both fixtures."""
    with tempfile.TemporaryDirectory() as folder:
        record_readers(Path(folder))
        record_solver(Path(folder))


if __name__ == "__main__":
    main()
