"""Experiments: the grid, the folder, workers that die, and the story that the default run tells."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import possnet as pn
from possnet.errors import PossnetWarning
from possnet.executors import completed, workers
from possnet.experiment import Grid, Trial, read_experiment
from possnet.io import encode_network
from possnet.learners import LEARNERS, Learner
from possnet.sampling import PROCESSES
from possnet.threads import in_order
from tests.commands import COMMAND, run
from tests.work import die_on_three, die_once, fail, slow

SMALL: dict[str, Any] = {"rows": [50, 200], "imprecision": [0.5, 1], "process": "traced", "repeats": 2, "rng": 3}
ONE: dict[str, Any] = {"rows": 50, "imprecision": 1, "process": "traced", "repeats": 1, "rng": 1, "workers": 1}


def test_the_grid_has_every_combination_once() -> None:
    net = pn.load_example("asia")
    grid = Grid.from_options(
        {"asia": net}, ["traced", "precise"], [0.5, 1.0, 0.5], [10, 20], ["em", "likelihood"], 3, 1
    )
    trials = grid.list_trials()
    assert len(trials) == len(set(trials)) == (2 + 1) * 2 * 2 * 3
    assert len({trial.key for trial in trials}) == len(trials)
    assert {c.imprecision for c in trials if c.process == "precise"} == {0.0}


def test_learners_share_their_rows_and_repeats_do_not() -> None:
    one = Trial("asia", "traced", 0.5, 100, "em", 0)
    assert one.derive_seed(1, "net") == Trial("other name", "traced", 0.5, 1000, "likelihood", 0).derive_seed(1, "net")
    others = [Trial("asia", "traced", 0.5, 100, "em", 1), Trial("asia", "traced", 0.4, 100, "em", 0)]
    assert (
        len(
            {
                one.derive_seed(1, "net"),
                one.derive_seed(2, "net"),
                one.derive_seed(1, "ten"),
                *(o.derive_seed(1, "net") for o in others),
            }
        )
        == 5
    )


def test_a_trial_is_sample_learn_compare() -> None:
    net = pn.load_example("clinic")
    how: dict[str, Any] = {"imprecision": 0.5, "process": "alpha-cut-text"}
    found = pn.evaluate({"c": net}, learners="likelihood", **{**ONE, **how})
    (trial,) = found.trials
    data = pn.sample(net, 50, imprecision=0.5, law="text", rng=trial.derive_seed(1, encode_network(net)))
    limit = pn.sampling_limit(net, imprecision=0.5, law="text")
    expected = pn.compare(net, pn.fit(net.dag, data), limit=limit)
    assert found.outcomes[0].metrics == {n: (m.value, m.vacuous, m.limit) for n, m in expected.items()}


@pytest.mark.parametrize("process", PROCESSES)
def test_every_learner_learns_from_every_process(process: str) -> None:
    suited = [name for name, learner in LEARNERS.items() if learner.suits_rows(process, 0.5)]
    found = pn.evaluate(["survey"], learners=suited, **{**ONE, "imprecision": [0.0, 0.5], "process": process})
    assert found.failed == []
    assert {trial.learner for trial in found.trials} == set(suited)
    assert ("cut" in suited) == process.startswith("alpha-cut")


def test_results_do_not_depend_on_workers_or_executors(tmp_path: Path) -> None:
    alone = pn.evaluate(["asia"], **SMALL, workers=1, out=tmp_path / "one")
    with ThreadPoolExecutor(2) as pool:
        threads = pn.evaluate(["asia"], **SMALL, executor=pool, out=tmp_path / "threads")
    processes = pn.evaluate(["asia"], **SMALL, workers=2, out=tmp_path / "two")
    for other in (threads, processes):
        assert [o.metrics for o in other.outcomes] == [o.metrics for o in alone.outcomes]
    for name in ("results.csv", "results.parquet"):
        contents = {(tmp_path / run / name).read_bytes() for run in ("one", "threads", "two")}
        assert len(contents) == 1


def test_results_are_tidy_and_say_nothing_of_time_or_place(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    found = pn.evaluate(["asia"], **SMALL, workers=1, out=tmp_path / "run")
    text = (tmp_path / "run" / "results.csv").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0] == "network,process,imprecision,rows,learner,repeat,metric,value,vacuous,limit,error"
    assert len(lines) == 1 + sum(len(o.metrics) for o in found.outcomes)
    assert str(tmp_path) not in text
    table = pq.read_table(tmp_path / "run" / "results.parquet")
    assert table.num_rows == len(lines) - 1
    assert float(lines[1].split(",")[7]) == table.column("value")[0].as_py()
    timings = json.loads((tmp_path / "run" / "timings.json").read_text(encoding="utf-8"))
    assert set(timings["versions"]) == {"Python", "possnet", "numpy", "pyarrow"}
    assert set(timings["trials"][0]["seconds"]) == {"sample", "learn", "compare"}


def test_a_run_goes_on_where_it_was_and_repeats_nothing(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    pn.evaluate(["asia"], **SMALL, workers=1, out=whole)
    broken = tmp_path / "broken"

    def stop(done: int, _: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pn.evaluate(["asia"], **SMALL, workers=1, out=broken, progress=stop)
    times = {file: file.stat().st_mtime_ns for file in (broken / "trials").iterdir()}
    assert len(times) == 5
    assert not (broken / "results.csv").exists()
    told: list[tuple[int, int]] = []
    pn.evaluate(["asia"], **SMALL, workers=1, out=broken, progress=lambda done, total: told.append((done, total)))
    assert told[0] == (5, 16)
    assert all(file.stat().st_mtime_ns == before for file, before in times.items())
    for name in ("results.csv", "results.parquet", "experiment.json"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes()


def test_a_script_without_a_main_guard_can_use_workers(tmp_path: Path) -> None:
    """Workers must not run the script again, which would start workers that start workers."""
    script = tmp_path / "script.py"
    script.write_text(
        "import possnet as pn\n"
        "found = pn.evaluate(['asia'], rows=[20, 30, 40], imprecision=1, process='traced', repeats=1, rng=1, workers=2)\n"
        "print(found)\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Results(6 trials, 0 failed)\n"


class Doomed:
    """An executor whose workers die as soon as they start."""

    started = 0

    def __init__(self, _: int | None) -> None:
        Doomed.started += 1

    def submit(self, *_: Any) -> Any:
        raise BrokenExecutor("dead")

    def shutdown(self, **_: Any) -> None:
        pass


def test_workers_that_never_start_end_the_run_soon() -> None:
    Doomed.started = 0
    found = list(completed(abs, range(1000), Doomed))  # type: ignore[arg-type]
    assert len(found) == 1000
    assert all(isinstance(error, BrokenExecutor) for _, error in found)
    assert Doomed.started < 10


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children(pid: int) -> set[int]:
    """Processes whose parent is the given one."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                found.add(int(entry.name))
    return found


def trials_in(out: Path) -> set[str]:
    """Files of finished trials."""
    return {file.name for file in (out / "trials").glob("*.json")}


def wait_for(condition: Any, seconds: float = 120.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


GRID: dict[str, Any] = {"rows": [100, 4000], "imprecision": 0.5, "repeats": 4, "rng": 1}
ARGUMENTS = ["evaluate", "asia", "--rows", "100,4000", "--imprecision", "0.5", "--repeats", "4", "--workers", "2"]


@pytest.mark.slow
def test_a_run_killed_at_any_moment_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    """SIGKILL to the command: its workers end with it, and the same command finishes with the same bytes."""
    out = tmp_path / "killed"
    command = [str(COMMAND), *ARGUMENTS, "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert wait_for(lambda: len(trials_in(out)) >= 4)
    below = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert below
    assert wait_for(lambda: not any(alive(pid) for pid in below))
    done = trials_in(out)
    assert not (out / "results.csv").exists()
    again = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert f"Wrote {out / 'results.csv'}: every metric" in again.stderr
    assert done <= trials_in(out)
    pn.evaluate(["asia"], **GRID, workers=1, out=tmp_path / "unbroken")
    for name in ("results.csv", "results.parquet"):
        assert (out / name).read_bytes() == (tmp_path / "unbroken" / name).read_bytes()


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    out = tmp_path / "run"
    script = f"import possnet as pn; print(pn.evaluate(['asia'], **{GRID}, workers=2, out={str(out)!r}))"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert wait_for(lambda: trials_in(out))
    victims = [
        pid
        for pid in children(process.pid)
        if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").replace("\0", " ")
    ]
    os.kill(victims[0], signal.SIGKILL)
    stdout, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert b", 0 failed)" in stdout


@pytest.mark.slow
def test_an_interrupt_says_how_to_go_on(tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = subprocess.Popen(
        [COMMAND, *ARGUMENTS, "--out", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert wait_for(lambda: trials_in(out))
    below = children(process.pid)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.strip() == f"Stopped. Run the same command again to go on: {out} keeps what is done."
    assert wait_for(lambda: not any(alive(pid) for pid in below))


def test_lost_work_is_done_again(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    flag.touch()
    assert sorted(completed(die_once, [str(flag), str(flag)], workers)) == [(0, 7), (1, 7)]


def test_work_that_kills_its_worker_is_given_up_and_the_rest_is_done() -> None:
    found = dict(completed(die_on_three, list(range(8)), lambda alone: workers(alone or 2)))
    assert {k: v for k, v in found.items() if k != 3} == {k: k for k in range(8) if k != 3}
    assert isinstance(found[3], BrokenExecutor)


def test_a_broken_executor_of_the_caller_is_told_for_every_item() -> None:
    with ProcessPoolExecutor(1) as pool:
        found = dict(completed(die_on_three, [1, 3, 5, 6, 7], lambda _: pool, keep=True))
    assert found[0] == 1
    assert all(isinstance(found[k], BrokenExecutor) for k in (1, 3, 4))


def test_trials_that_a_broken_executor_never_tried_are_tried_by_the_next_run(tmp_path: Path) -> None:
    grid: dict[str, Any] = {"rows": [20], "imprecision": 1, "process": "traced", "repeats": 2, "rng": 1}
    lost = pn.evaluate(["asia"], **grid, out=tmp_path / "run", executor=Doomed(None))  # type: ignore[arg-type]
    assert len(lost.failed) == len(lost.trials)
    assert not pn.evaluate(["asia"], **grid, out=tmp_path / "run", workers=1).failed


def test_work_is_stopped_when_the_caller_stops() -> None:
    running = completed(slow, list(range(50)), lambda _: workers(2))
    assert next(running) == (0, 0)
    begin = time.monotonic()
    running.close()
    assert time.monotonic() - begin < 20  # the rest would take minutes


def test_threads_answer_in_order_and_run_little_ahead() -> None:
    started: list[int] = []

    def work(number: int) -> float:
        started.append(number)
        return 6 / (3 - number)

    found = in_order(work, range(100), 2)
    assert next(found) == 2.0
    assert max(started) <= 2
    assert [next(found), next(found)] == [3.0, 6.0]
    with pytest.raises(ZeroDivisionError):
        next(found)
    assert max(started) <= 5


def test_an_error_is_a_result() -> None:
    found = dict(completed(fail, [1, 2, 3], lambda _: ThreadPoolExecutor(2)))
    assert (found[0], found[2]) == (1, 3)
    assert isinstance(found[1], ValueError)


def test_one_failing_trial_does_not_sink_the_rest(tmp_path: Path) -> None:
    def broken(*_: object, **__: object) -> pn.Network:
        raise RuntimeError("this learner needs 3 TiB")

    LEARNERS.register(Learner("broken", "a broken learner", broken))
    try:
        found = pn.evaluate(["asia"], learners=["likelihood", "broken"], out=tmp_path / "run", **ONE)
    finally:
        LEARNERS.unregister("broken")
    assert {trial.learner for trial, _ in found.failed} == {"broken"}
    assert found.failed[0][1] == "RuntimeError: this learner needs 3 TiB"
    assert "this learner needs 3 TiB" in (tmp_path / "run" / "results.csv").read_text(encoding="utf-8")
    assert "failed" in found.table()


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    pn.evaluate(["asia"], **SMALL, workers=1, out=run)
    before = (run / "results.csv").read_bytes()
    with pytest.raises(pn.InputError, match="holds another experiment"):
        pn.evaluate(["asia"], **{**SMALL, "rng": 4}, out=run)
    with pytest.raises(pn.InputError, match="holds another experiment"):
        pn.evaluate({"asia": pn.load_example("asia").with_table("smoke", [1, 0.3])}, **SMALL, out=run)
    assert (run / "results.csv").read_bytes() == before
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    for path in (tmp_path / "full", tmp_path / "full" / "thesis.tex"):
        with pytest.raises(
            pn.InputError, match="not empty and holds no experiment|no experiment|Not a directory|not a folder"
        ):
            pn.evaluate(["asia"], **SMALL, out=path)
    (run / "trials" / "0.json").write_text("{}", encoding="utf-8")
    (run / "trials" / ".x.json.abc.part").touch()
    file = next(file for file in (run / "trials").iterdir() if file.name not in {"0.json", ".x.json.abc.part"})
    file.write_text("{damaged", encoding="utf-8")
    with pytest.warns(PossnetWarning, match="damaged"):
        pn.evaluate(["asia"], **SMALL, workers=1, out=run)
    assert (run / "results.csv").read_bytes() == before
    assert not list(run.rglob(".*.part"))
    begun = tmp_path / "begun"
    begun.mkdir()
    (begun / ".experiment.json.abc.part").touch()  # killed in the first instant
    assert pn.evaluate(["asia"], **SMALL, workers=1, out=begun).failed == []


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"networks": []}, "no networks"),
        ({"networks": ["asai"]}, "asai"),
        ({"networks": [3]}, "is not a network"),
        ({"networks": ["asia", "asia"]}, "two networks are called 'asia'"),
        ({"rows": 0}, "rows 0; expected a whole number"),
        ({"rows": []}, "no rows"),
        ({"imprecision": 2}, "imprecision 2"),
        ({"process": "trace"}, "did you mean 'traced'"),
        ({"learners": "emm"}, "did you mean 'em'"),
        ({"repeats": 0}, "repeats 0"),
        ({"workers": 0}, "workers 0"),
        ({"workers": "2"}, "workers '2'"),
        ({"networks": None}, "networks None; expected"),
        ({"networks": {"a": 3}}, "called 'a', is not a network"),
        ({"networks": {1: pn.load_example("asia")}}, "a network is called 1; expected a name"),
        ({"executor": 3}, "executor 3; expected one of concurrent.futures"),
        ({"process": ["traced", ["a"]]}, "expected alpha-cut"),
        ({"out": 3}, "out 3; expected a path"),
        ({"rng": -1}, "rng -1"),
    ],
)
def test_wrong_options_are_told(how: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(pn.InputError, match=message):
        pn.evaluate(**{"networks": ["asia"], "rows": 10, "repeats": 1, "out": tmp_path / "run", **how})
    assert not (tmp_path / "run").exists()  # told before anything is written


def test_a_metric_that_a_learner_does_not_have_is_not_a_failure() -> None:
    """EM has no known limit, so no noise around it."""
    found = pn.evaluate(["asia"], learners=["em", "likelihood"], **ONE)
    em, likelihood = found.table_rows("child_noise")[1][4:6]
    assert (em, bool(likelihood)) == ("", True)
    assert "em" not in found.sentences("child_noise")[0]
    assert pn.evaluate(["asia"], learners="em", **ONE).sentences("child_noise")[0].endswith("50 rows: not defined")
    for told in (found.summary, found.table, found.sentences):
        with pytest.raises(pn.InputError, match="metric 'afinity'; expected .*did you mean 'affinity'"):
            told("afinity")


def test_intervals_are_those_of_student() -> None:
    found = pn.evaluate(["asia"], learners="likelihood", **{**ONE, "repeats": 4})
    values = [o.metrics["affinity"][0] for o in found.outcomes]
    (summary,) = found.summary("affinity")
    assert summary.mean == pytest.approx(np.mean(values))
    assert summary.interval == pytest.approx(3.182 * np.std(values, ddof=1) / 2)
    assert summary.repeats == 4
    assert len(found.summary()) == len(found.outcomes[0].metrics)


@pytest.mark.slow
def test_the_default_run_tells_the_story() -> None:
    """Counting on alpha-cut rows ends at its limit, below ignorance; the cut likelihood above; EM on traced rows at the truth."""
    found = pn.evaluate(rows=10_000, repeats=2)
    by = {(s.network, s.process, s.imprecision, s.learner): s for s in found.summary("child_affinity")}
    for network in ("clinic", "pump"):
        for theta in (0.5, 1.0):
            counted = by[network, "alpha-cut", theta, "likelihood"]
            assert counted.limit is not None
            assert abs(counted.mean - counted.limit) < 0.02
            assert counted.mean < counted.vacuous + 0.02
            assert by[network, "alpha-cut", theta, "cut"].mean > counted.vacuous + 0.05
        counted, em = (by[network, "traced", 1.0, learner] for learner in ("likelihood", "em"))
        assert em.mean > 0.95
        assert em.mean > counted.mean + 0.05
        assert counted.limit is not None
        assert abs(counted.mean - counted.limit) < 0.02


@pytest.mark.usefixtures("no_report")
def test_a_file_is_called_by_its_name_without_its_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    tables: list[str] = []
    for file in (tmp_path / "deep" / "my.json", tmp_path / "my.json"):
        pn.write_network(pn.load_example("survey"), file)
        out = tmp_path / f"run{len(tables)}"
        how = ["--rows", "50", "--repeats", "1", "--imprecision", "1"]
        assert run("evaluate", file, *how, "--out", out).returncode == 0
        tables.append((out / "results.csv").read_text(encoding="utf-8"))
    assert tables[0] == tables[1]
    assert tables[0].splitlines()[1].startswith("my,")


@pytest.mark.usefixtures("no_report")
def test_the_command_prints_a_table_to_read_aloud(tmp_path: Path) -> None:
    few = ["--rows", "100", "--imprecision", "1", "--repeats", "1"]
    shown = run("evaluate", "survey", *few, "--out", tmp_path / "o")
    assert shown.returncode == 0
    assert [line.split()[0] for line in shown.stderr.splitlines()] == [
        "Wrote"
    ] * 2  # no figures, as the report is left out
    assert "survey, imprecision 1, 100 rows\n" in shown.stdout
    assert re.search(r"^  process +counting +EM", shown.stdout, re.MULTILINE)
    assert re.search(r"^  traced rows +0\.", shown.stdout, re.MULTILINE)
    assert "ignorance" in shown.stdout
    assert (tmp_path / "o" / "results.parquet").exists()
    for arguments, message in [
        (["--rows", "many"], "--rows 'many'; expected whole numbers"),
        (["--metric", "afinity"], "did you mean 'affinity'"),
        (["--learner", "emm"], "did you mean 'em'"),
        (["asai"], "did you mean 'asia'"),
        (["--out", str(tmp_path / "o"), "--seed", "2"], "holds another experiment"),
    ]:
        wrong = run("evaluate", *arguments)
        assert wrong.returncode == 1
        assert message in wrong.stderr
    assert "random 4, imprecision 1, 100 rows" in run("evaluate", "--random", "4", *few).stdout


def test_compare_shows_every_measure(tmp_path: Path) -> None:
    clinic = pn.load_example("clinic")
    pn.write_network(pn.fit(clinic.dag, pn.sample(clinic, 500, rng=1)), tmp_path / "learned.json")
    shown = run("compare", "clinic", tmp_path / "learned.json").stdout
    assert all(part in shown for part in ("information affinity", "ignorance"))
    found = json.loads(run("compare", "clinic", tmp_path / "learned.json", "--json").stdout)
    assert 0 < found["affinity"]["value"] < 1


def test_results_know_the_experiment_that_a_folder_keeps(tmp_path: Path) -> None:
    results = pn.evaluate(["asia"], **ONE, out=tmp_path / "run")
    read = read_experiment(tmp_path / "run")
    assert results.experiment.grid == read.grid
    assert (results.experiment.versions, results.experiment.folder) == (read.versions, read.folder)
    assert [o._replace(seconds={}) for o in read.results.outcomes] == [o._replace(seconds={}) for o in results.outcomes]
    again = pn.evaluate(["asia"], **ONE, out=tmp_path / "run")
    assert again.experiment.versions == read.versions
    with pytest.raises(pn.InputError, match="kept in no folder; expected results of possnet.evaluate"):
        _ = pn.evaluate(["asia"], **ONE).experiment
