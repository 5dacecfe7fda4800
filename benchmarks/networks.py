"""Networks of the benchmarks: bundled ones, and the gold-standard ones that ship inside pgmpy."""

import gzip
import importlib.util
from pathlib import Path

import possnet as pn

BUNDLED = ("asia", "clinic", "pump")


def gold(name: str) -> Path:
    """File of a gold-standard network."""
    spec = importlib.util.find_spec("pgmpy")
    if spec is None or spec.origin is None:
        raise SystemExit("the gold-standard networks are missing: run `make gold`")
    return Path(spec.origin).parent / "utils" / "example_models" / f"{name}.bif.gz"


def bif(name: str, folder: Path) -> Path:
    """A gold-standard network unpacked into a folder, for peers that read no gzip."""
    file = folder / f"{name}.bif"
    file.write_bytes(gzip.decompress(gold(name).read_bytes()))
    return file


def load(name: str) -> pn.Network:
    """A bundled or gold-standard network."""
    return pn.load_example(name) if name in BUNDLED else pn.read_network(gold(name))


def families(net: pn.Network) -> dict[str, list[str]]:
    """Child -> its parents."""
    return {name: list(net.dag.parents(name)) for name in net.dag.nodes}
