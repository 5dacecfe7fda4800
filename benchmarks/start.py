"""Start-up times, best of seven, interleaved: bare Python, `import numpy`, all of possnet, `possnet --help`."""

import subprocess
import sys
import time
from pathlib import Path

JOBS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import numpy": [sys.executable, "-c", "import numpy"],
    "import possnet": [sys.executable, "-c", "import possnet"],
    "import possnet, touch every name": [
        sys.executable,
        "-c",
        "import possnet as pn\nfor name in pn.__all__: getattr(pn, name)",
    ],
    "possnet --help": [str(Path(sys.executable).parent / "possnet"), "--help"],
    "possnet info asia": [str(Path(sys.executable).parent / "possnet"), "info", "asia"],
}


def table() -> str:
    """Milliseconds a job."""
    best = dict.fromkeys(JOBS, float("inf"))
    for _ in range(7):
        for job, command in JOBS.items():
            begin = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            best[job] = min(best[job], time.perf_counter() - begin)
    rows = [f"| `{job}` | {seconds * 1000:.0f} |" for job, seconds in best.items()]
    return "\n".join(["| job | ms |", "|---|---|", *rows])


if __name__ == "__main__":
    print(table())
