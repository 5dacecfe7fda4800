"""The explorer: what a click costs the server and the page, opening a large file, and memory after a thousand clicks.

Targets are by the clock: clicks are measured in batches, the median of a batch counts, and of the batches the best one; the
slowest stands behind it. Beside it stands the processor time of the server's process and, in chromium, of the page's own
thread, which a busy machine changes little; and how busy it was.
"""

import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from explorer_insights import measure_insights
from measure import Section, Target, Times, say, table
from networks import load

import possnet as pn

POSSNET = str(Path(sys.executable).parent / "possnet")
TICKS = os.sysconf("SC_CLK_TCK")
LIMITS = {"alarm": 15.0, "andes": 60.0}  # ms of a click on the server
CLICKS = 1000
BATCHES = 5


class Explorer:
    """A server that runs, and questions to it."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process, self.address = process, address
        host, self.token = re.fullmatch(r"http://([^/]*)/\?token=(\w+)", address.strip()).groups()  # type: ignore[union-attr]
        self.line = http.client.HTTPConnection(host, timeout=120)
        self.cookie = f"possnet-{host.rpartition(':')[2]}={self.token}"

    def ask(self, path: str, body: object = None) -> dict[str, object]:
        """One request."""
        head = {"Cookie": self.cookie, "Content-Type": "application/json"}
        self.line.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), head)
        reply = self.line.getresponse()
        document: dict[str, object] = json.loads(reply.read())
        assert reply.status in {200, 422}, document  # noqa: S101
        return document

    def seconds(self) -> float:
        """Processor time of the server so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def megabytes(self) -> float:
        """Largest memory of the server so far."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]


@contextmanager
def exploring(net: pn.Network) -> Iterator[Explorer]:
    """The command itself on a network, ended by its own process id."""
    with tempfile.TemporaryDirectory() as folder:
        pn.write_network(net, Path(folder) / "net.json")
        words = [POSSNET, "explore", "net.json", "--port", "0", "--no-browser"]
        with subprocess.Popen(
            words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            try:
                assert process.stdout is not None  # noqa: S101
                yield Explorer(process, process.stdout.readline())
            finally:
                process.terminate()


def click(explorer: Explorer, net: pn.Network, number: int) -> None:
    """Evidence on one or two variables, other ones every time."""
    variables = net.variables
    known = {variables[(7 * number + k) % len(variables)] for k in range(1 + number % 2)}
    explorer.ask("/api/answer", {"evidence": {v.name: [v.states[number % len(v)]] for v in known}})


def best_of_batches(seconds: list[float]) -> Times:
    """The medians of batches of runs."""
    size = -(-len(seconds) // BATCHES)
    return Times(tuple(statistics.median(seconds[k : k + size]) for k in range(0, len(seconds), size)))


def within(job: str, wall: Times, most: float, unit: str) -> Target:
    """The best batch by the clock against a limit in seconds or milliseconds."""
    return Target(job, str(wall), "a limit", wall.best * (1e3 if unit == "ms" else 1), most, unit, at_most=True)


def clicks(name: str, rounds: int) -> tuple[list[str], Target]:
    """A click on a gold-standard network: the request of the page, and the whole answer."""
    net, waited = load(name), []
    with exploring(net) as explorer:
        for number in range(5):
            click(explorer, net, number)
        begin = explorer.seconds()
        for number in range(rounds):
            start = time.perf_counter()
            click(explorer, net, number)
            waited.append(time.perf_counter() - start)
        spent = 1e3 * (explorer.seconds() - begin) / rounds
    wall = best_of_batches(waited)
    row = [f"a click, `{name}`, {len(net.variables)} variables, on the server", str(wall), f"{spent:.1f} ms"]
    return row, within(f"a click, {name}, on the server", wall, LIMITS[name], "ms")


def first_page(rounds: int) -> tuple[list[str], Target]:
    """From the command to its first page, of a bundled network."""
    waited, spent = [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        with exploring(pn.load_example("clinic")) as explorer:
            explorer.line.request("GET", "/", headers={"Cookie": explorer.cookie})
            reply = explorer.line.getresponse()
            assert reply.status == 200 and b"<html" in reply.read()  # noqa: S101, PT018
            waited.append(time.perf_counter() - begin)
            spent.append(explorer.seconds())
    wall = Times(tuple(waited))
    row = ["from `possnet explore clinic` to its first page", str(wall), f"{min(spent):.2f} s"]
    return row, within("from possnet explore to its first page", wall, 1, "s")


def memory(rounds: int) -> Target:
    """Memory of the server after many clicks and edits."""
    net = load("alarm")
    with exploring(net) as explorer:
        for number in range(rounds):
            click(explorer, net, number)
            if number % 10 == 0:
                variable = net.variables[number % len(net.variables)]
                degrees = [1.0] * len(variable)
                revision = explorer.ask("/api/network")["revision"]
                explorer.ask("/api/edit", {"variable": variable.name, "rows": {"0": degrees}, "revision": revision})
        found = explorer.megabytes()
    return Target(
        f"memory after {rounds:,} clicks and {rounds // 10} edits",
        f"{found:.0f} MB",
        "a limit",
        found,
        300,
        "MB",
        at_most=True,
    )


def page_times(rounds: int) -> tuple[list[list[str]], list[Target]]:
    """Until a file of 1,000 nodes is drawn, and from a click to its bars at 200 nodes, in chromium."""
    from playwright.sync_api import sync_playwright

    opened, waited = [], []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])

        def open_page(explorer: Explorer) -> tuple[Any, Any]:
            page = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
            line = page.context.new_cdp_session(page)
            line.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.goto(explorer.address)
            page.locator("body[data-settled]").wait_for(timeout=120_000)
            return page, line

        def spent(line: Any, explorer: Explorer) -> float:
            metrics = line.send("Performance.getMetrics")["metrics"]
            return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration")) + explorer.seconds()

        for _ in range(rounds):
            with exploring(pn.random_network(1000, max_parents=1, states=(2, 4), rng=1)) as explorer:
                explorer.ask("/api/start")
                before, begin = explorer.seconds(), time.perf_counter()
                page, line = open_page(explorer)
                opened.append(spent(line, explorer) - before)
                waited.append(time.perf_counter() - begin)
                page.close()
        with exploring(pn.random_network(200, max_parents=2, states=(2, 4), rng=1)) as explorer:
            page, line = open_page(explorer)
            page.locator("#closer").click(click_count=5)
            page.locator(".state").first.wait_for(state="attached")
            before = spent(line, explorer)
            shown = page.evaluate(CLICKING, 5 * rounds)
            click_time = 1e3 * (spent(line, explorer) - before) / (10 * rounds)  # each is cleared again
        browser.close()
    times = Times(tuple(waited)), best_of_batches([number / 1e3 for number in shown])
    return [
        ["a file of 1,000 nodes, from address to bars, in chromium", str(times[0]), f"{min(opened):.2f} s"],
        ["a click at 200 nodes, to bars, in chromium", str(times[1]), f"{click_time:.0f} ms"],
    ], [
        within("opening 1,000 nodes in chromium", times[0], 2, "s"),
        within("click to bars, 200 nodes, in chromium", times[1], 100, "ms"),
    ]


CLICKING = """async (times) => {
    const spent = [];
    for (let k = 0; k < times; k += 1) {
        const rows = document.querySelectorAll(".state");
        const before = document.body.dataset.settled;
        const begin = performance.now();
        rows[(7 * k) % rows.length].dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 0 }));
        while (document.body.dataset.settled === before) await new Promise((done) => requestAnimationFrame(done));
        spent.push(performance.now() - begin);
        document.getElementById("clear").click();
        await new Promise((done) => setTimeout(done, 150));
    }
    return spent;
}"""


def measure(*, quick: bool = False) -> Section:
    """The whole section."""
    busy = [os.getloadavg()[0]]
    say("explorer: first page")
    row, target = first_page(3 if quick else 5)
    rows, targets = [row], [target]
    for name in LIMITS:
        say(f"explorer: {name}")
        row, target = clicks(name, 100 if quick else 500)
        rows.append(row)
        targets.append(target)
    for name in LIMITS:
        say(f"explorer: explanations, {name}")
        more, found = measure_insights(name, 3 if quick else 10)
        rows += more
        targets += found
    say("explorer: memory")
    targets.append(memory(CLICKS))
    busy.append(os.getloadavg()[0])
    if shutil.which("chromium"):
        say("explorer: chromium")
        more, found = page_times(2 if quick else 5)
        rows += more
        targets += found
    busy.append(os.getloadavg()[0])
    load = ", ".join(f"{number:.1f}" for number in busy)
    text = table(" job | by the clock | processor time ", rows)
    return Section(f"{text}\n\nLoad of the machine at the start, after the server and after chromium: {load}.", targets)


if __name__ == "__main__":
    section = measure(quick="--quick" in sys.argv)
    print(section.text)
    for target in section.targets:
        print(target.row)
