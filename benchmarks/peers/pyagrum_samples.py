"""Rows drawn by pyAgrum: ``python pyagrum_samples.py FILE.bif ROWS REPEAT``. Timed is ``drawSamples`` alone."""

import json
import sys
import time

import pyagrum as gum


def main() -> None:
    """Print the best time as JSON."""
    net = gum.loadBN(sys.argv[1])
    seconds = []
    for _ in range(int(sys.argv[3])):
        generator = gum.BNDatabaseGenerator(net)
        begin = time.perf_counter()
        generator.drawSamples(int(sys.argv[2]))
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"best": min(seconds), "all": seconds}))


if __name__ == "__main__":
    main()
