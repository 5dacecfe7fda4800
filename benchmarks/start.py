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


def main() -> None:
    """Print the table."""
    best = dict.fromkeys(JOBS, float("inf"))
    for _ in range(7):
        for job, command in JOBS.items():
            begin = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            best[job] = min(best[job], time.perf_counter() - begin)
    for job, seconds in best.items():
        print(f"{job:<36}{seconds * 1000:8.0f} ms")


if __name__ == "__main__":
    main()
