"""Install a wheel and one list of locked versions into an empty environment, and run the README's commands there.

    python .ci/try_wheel.py dist/possnet-0.2.0-py3-none-any.whl requirements/lowest.txt build/lowest --python python3.11

The README's Python is run as a doctest, its commands one after the other, in a folder of their own; then everything behind
an extra is used once: figures, the explorer, the classifier, and a cluster of two workers.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = "Scripts" if os.name == "nt" else "bin"
UV = ROOT / ".venv" / SCRIPTS / "uv"
_OWN = ("PYTHON", "VIRTUAL_ENV", "UV_COMPILE_BYTECODE")  # settings of the environment that starts this
EXTRAS = """
import pyarrow as pa
import possnet as pn
from possnet import scaleout
from possnet.classifier import PossibilisticClassifier
from distributed import Client

if __name__ == "__main__":
    model = PossibilisticClassifier().fit([["a", "x"], ["b", "y"], ["a", "y"], ["b", "x"]] * 5, ["p", "q", "p", "q"] * 5)
    assert list(model.predict([["a", "x"], ["b", "x"]])) == ["p", "q"]
    views = pa.table({"a": pa.array(["x", "y|x"], type=pa.string_view())})  # texts as polars has them
    assert pn.Dataset.from_table(views).row(1)["a"] == {"x", "y"}
    data = pn.read_data("patients.csv", variables=pn.load_example("clinic").variables)
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as client:
        counts = scaleout.count(pn.load_example("clinic").dag, "patients.csv", client=client, variables=data.variables)
    assert counts == pn.count(pn.load_example("clinic").dag, data)
    print("classifier and cluster: fine")
"""


def run(command: list[str], place: Path, environment: dict[str, str]) -> None:
    """Run a command and show it; end with what it printed if it fails."""
    start = time.monotonic()
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    print(f"{time.monotonic() - start:6.1f} s  {shlex.join(command)[:150]}", flush=True)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}: exit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


def list_commands(text: str) -> list[list[str]]:
    """The commands of the README's blocks, without comments and without the one that serves until it is stopped."""
    blocks = re.split(r"^```.*$", text, flags=re.MULTILINE)[1::2]
    lines = [line for block in blocks for line in block.splitlines()]
    commands = [shlex.split(line, comments=True) for line in lines if line.startswith("possnet ")]
    return [command for command in commands if command[1] != "explore"]


def try_explorer(program: str, place: Path, environment: dict[str, str]) -> None:
    """Serve the page, ask for it, and stop."""
    command = [program, "explore", "clinic", "--no-browser"]
    with subprocess.Popen(  # noqa: S603
        command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            assert server.stdout is not None  # noqa: S101
            for line in server.stdout:
                address = re.search(r"http://\S+", line)
                if address:
                    page = urlopen(address[0], timeout=60).read()  # noqa: S310 - of this machine
                    assert b"<html" in page.lower(), page[:200]  # noqa: S101
                    print(f"          {shlex.join(command)}: {len(page)} bytes", flush=True)
                    return
            sys.exit("possnet explore: ended without an address")
        finally:
            server.terminate()


def main() -> None:
    """Make the environment and run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("requirements", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args()
    folder = given.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    place = folder / "work"
    place.mkdir(parents=True)
    python = str(folder / "env" / SCRIPTS / "python")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
    environment |= {"PATH": str(folder / "env" / SCRIPTS) + os.pathsep + os.environ["PATH"], "PYTHONUTF8": "1"}
    run([str(UV), "venv", "-q", "--python", given.python, str(folder / "env")], ROOT, environment)
    install = [str(UV), "pip", "install", "-q", "--python", python]
    run([*install, "--require-hashes", "-r", str(given.requirements.resolve())], ROOT, environment)
    run([*install, "--no-deps", str(given.wheel.resolve())], ROOT, environment)
    shutil.copy(ROOT / "README.md", place)
    options = ["-o", "NORMALIZE_WHITESPACE", "-o", "ELLIPSIS"]
    run([python, "-W", "error::DeprecationWarning:possnet", "-m", "doctest", *options, "README.md"], place, environment)
    program = str(folder / "env" / SCRIPTS / "possnet")
    for command in list_commands((ROOT / "README.md").read_text(encoding="utf-8")):
        run([program, *command[1:]], place, environment)
    try_explorer(program, place, environment)
    (place / "extras.py").write_text(EXTRAS, encoding="utf-8")
    run([python, "extras.py"], place, environment)


if __name__ == "__main__":
    main()
