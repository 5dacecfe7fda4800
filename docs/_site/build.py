"""Build the site, look at its links, and print pages, links, megabytes and seconds. A warning or a broken link fails."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from check_site import check_links
from sphinx.cmd.build import build_main

DOCS = Path(__file__).parent.parent
OUT = DOCS / "_build" / "html"


def build() -> int:
    """Exit code 0, 1 for a warning, 2 for a broken link."""
    started = time.perf_counter()
    shutil.rmtree(DOCS / "_build", ignore_errors=True)
    options = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(DOCS / "_build" / "doctrees")]
    code = build_main([*options, "-c", str(Path(__file__).parent), str(DOCS), str(OUT)])
    if code:
        return 1
    seconds = time.perf_counter() - started
    shutil.rmtree(OUT / "_sources", ignore_errors=True)
    pages, links, broken = check_links(OUT)
    for sentence in broken:
        print(sentence, file=sys.stderr)
    size = sum(path.stat().st_size for path in OUT.rglob("*") if path.is_file())
    print(
        f"{OUT / 'index.html'}: {pages} pages, {links} links inside, {size / 1e6:.1f} MB, {seconds:.0f} s, no warning"
    )
    return 2 if broken else 0


if __name__ == "__main__":
    sys.exit(build())
