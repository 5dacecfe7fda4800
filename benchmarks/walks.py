"""Four walks through possnet, from what a user does to what they see: which functions and files are passed, and how often.

``python walks.py`` walks through this tree and writes the table of docs/architecture.md; ``--tree PATH`` walks through another
checkout (its ``src`` is imported instead) and writes its figures to walks.json as those of before. ``--check`` runs nothing:
it tells whether the page holds the table of walks.json.

Every walk is a process of its own. A profiler sees every call of a function of possnet; what runs when a module is loaded is
left out. The click in the explorer is one request to a server that has answered one before.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
KEPT = Path(__file__).with_suffix(".json")
WALKS = {
    "evaluate": "evaluate to report",
    "complete": "CSV to completed CSV",
    "query": "one query",
    "click": "a click in the explorer to its bars",
}
WATCHED = {
    "networks encoded": r"encode_network",
    "networks decoded": r"decode_network",
    "engines built": r"Inference\.__init__",
    "junction trees planned": r"make_plan",
    "columns decoded": r"decode|decode_cells|decode_states",
    "tables normalised": r"normalised|normalise_rows",
}
QUESTION = {"evidence": {"fever": ["mild", "high"], "rash": ["spots"]}}


class Steps:
    """Calls of functions of possnet, counted by a profiler in every thread."""

    def __init__(self, package: str) -> None:
        self.package, self.calls = package, Counter[CodeType]()

    def watch(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call."""
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(self.package) and not code.co_name.startswith("<"):
            self.calls[code] += 1

    def begin(self) -> None:
        """Forget everything, and count from now on."""
        self.calls.clear()
        threading.setprofile(self.watch)
        sys.setprofile(self.watch)

    def figures(self) -> dict[str, int]:
        """What was passed since `begin`."""
        functions = [code for code in self.calls if "<locals>" not in code.co_qualname and not code.co_flags & 0x20000]
        figures = {
            "calls": sum(self.calls.values()),
            "functions": len(functions),
            "files": len({code.co_filename for code in functions}),
        }
        for label, pattern in WATCHED.items():
            names = [code for code in self.calls if re.fullmatch(pattern, code.co_qualname)]
            figures[label] = sum(self.calls[code] for code in names)
        return figures


def walk_here(name: str, folder: Path) -> None:
    """Walk in this process, and print the figures as JSON."""
    import possnet as pn
    from possnet.cli import main

    words = {
        "evaluate": [
            *("evaluate", "clinic", "pump", "--rows", "100,1000", "--imprecision", ".5,1", "--repeats", "1"),
            *("--workers", "1", "--out", str(folder / "run")),
        ],
        "complete": ["complete", "clinic", str(folder / "rows.csv"), "--out", str(folder / "completed.csv")],
        "query": ["query", "clinic", "measles", "--given", "fever=mild|high", "--given", "rash=spots"],
        "click": ["explore", "clinic", "--port", "0", "--no-browser"],
    }[name]
    if name == "complete":
        pn.write_data(pn.sample(pn.load_example("clinic"), 2000, imprecision=0.5, rng=1), folder / "rows.csv")
    steps = Steps(str(Path(pn.__file__).parent))
    signal.signal(signal.SIGUSR1, lambda *_: steps.calls.clear())
    signal.signal(
        signal.SIGUSR2, lambda *_: (folder / "figures.json").write_text(json.dumps(steps.figures()), encoding="utf-8")
    )
    steps.begin()
    main(words, standalone_mode=False)
    sys.setprofile(None)
    (folder / "figures.json").write_text(json.dumps(steps.figures()), encoding="utf-8")


def ask(address: str) -> None:
    """One request of the page's: marginals given evidence."""
    origin, _, token = address.partition("/?token=")
    cookie = f"possnet-{origin.rpartition(':')[2]}={token}"
    head = {"Content-Type": "application/json", "Origin": origin, "Cookie": cookie}
    request = urllib.request.Request(f"{origin}/api/answer", json.dumps(QUESTION).encode(), head)  # noqa: S310
    with urllib.request.urlopen(request, timeout=60) as reply:  # noqa: S310
        reply.read()


def walk(name: str, tree: Path) -> dict[str, int]:
    """Figures of a walk through a checkout."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        words = [sys.executable, __file__, "--here", name, "--folder", made]
        env = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            if name == "click":
                address = (child.stdout or sys.stdin).readline().strip()
                ask(address)
                child.send_signal(signal.SIGUSR1)
                time.sleep(0.5)
                QUESTION["evidence"]["fever"] = ["high"]
                ask(address)
                child.send_signal(signal.SIGUSR2)
                time.sleep(0.5)
                child.terminate()
            _, errors = child.communicate(timeout=300)
        kept = folder / "figures.json"
        if not kept.exists():
            raise SystemExit(f"{name}: {errors}")
        figures: dict[str, int] = json.loads(kept.read_text(encoding="utf-8"))
        return figures


def table(kept: dict[str, dict[str, dict[str, int]]]) -> str:
    """The walks as they were before and as they are, in Markdown."""
    columns = ["functions", "files", "calls", *WATCHED]
    lines = [f"| walk | | {' | '.join(columns)} |", f"|---|---|{'---:|' * len(columns)}"]
    for name, label in WALKS.items():
        for when in ("before", "now"):
            cells = [f"{kept[when][name][column]:,}" for column in columns]
            lines.append(f"| {label if when == 'before' else ''} | {when} | {' | '.join(cells)} |")
    return "\n".join(lines)


def page_with(text: str) -> str:
    """The page, with the table in its place."""
    page = PAGE.read_text(encoding="utf-8")
    return re.sub(r"(<!-- walks -->\n).*?(\n<!-- end -->)", lambda m: m[1] + text + m[2], page, flags=re.DOTALL)


def run() -> None:
    """Walk, and write what was passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--here", choices=list(WALKS))
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.here:
        walk_here(options.here, options.folder)
        return
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    if options.check:
        sys.exit(
            None if page_with(table(kept)) == PAGE.read_text(encoding="utf-8") else "run: python benchmarks/walks.py"
        )
    kept["before" if options.tree else "now"] = {name: walk(name, options.tree or ROOT) for name in WALKS}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    if "before" in kept and "now" in kept:
        print(table(kept))
        if PAGE.exists():
            PAGE.write_text(page_with(table(kept)), encoding="utf-8")


if __name__ == "__main__":
    run()
