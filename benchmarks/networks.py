"""Reading the gold-standard BIF files, best of three, as markdown."""

import math
import time

import fixtures

NAMES = ["alarm", "hailfinder", "pathfinder", "munin", "link", "diabetes", "mildew"]


def table() -> str:
    """Milliseconds a file."""
    lines = ["| network | degrees | BIF to possibilities, ms |", "|---|---|---|"]
    for name in NAMES:
        best = math.inf
        for _ in range(3):
            begin = time.perf_counter()
            net = fixtures.load(name)
            best = min(best, time.perf_counter() - begin)
        degrees = sum(net.table(v.name).size for v in net.variables)
        lines.append(f"| {name} | {degrees:,} | {best * 1e3:,.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
