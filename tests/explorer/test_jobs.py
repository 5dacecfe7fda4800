"""Jobs do what the library does, in a process of their own that ends when it should, whatever it was given."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import possnet as pn
from possnet.errors import InputError
from possnet.explorer.background_job import Job, JobLimits
from possnet.explorer.job_tasks import check_network, describe_column, learn_network, read_table
from possnet.explorer.uploaded_table import DataDesk
from possnet.io import encode_network, read_network

CLINIC = pn.load_example("clinic")
PATIENCE = 60.0


def report(stage: str, done: int = 0, total: int = 0) -> None:
    """Progress that nobody looks at."""


def is_alive(process: int) -> bool:
    return (
        Path(f"/proc/{process}").exists()
        and "Z" not in Path(f"/proc/{process}/stat").read_text(encoding="utf-8").split(")")[1][:3]
    )


def wait_for_end(process: int) -> bool:
    """Whether a process ends, before long."""
    end = time.monotonic() + PATIENCE
    while is_alive(process) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_alive(process)


@pytest.fixture
def desk() -> Iterator[DataDesk]:
    opened = DataDesk()
    yield opened
    opened.close()


def upload(desk: DataDesk, name: str, content: str) -> Job:
    path = desk.prepare_upload(name)
    path.write_text(content, encoding="utf-8")
    return desk.open_upload(name, path)


def learn(**options: Any) -> dict[str, Any]:
    return {"keep": False, "method": "mwst", "measure": "mutual-information", "learner": None, "name": "n"} | options


def test_a_table_is_read_learned_from_and_forgotten_as_the_library_would(desk: DataDesk, tmp_path: Path) -> None:
    data = pn.sample(CLINIC, 300, process="precise", rng=1)
    pn.write_data(data, tmp_path / "rows.csv")
    job = upload(desk, "patients.csv", (tmp_path / "rows.csv").read_text(encoding="utf-8"))
    job.wait(PATIENCE)
    assert (job.state, job.error) == ("done", "")
    expected = pn.read_data(tmp_path / "rows.csv")
    assert desk.data == expected
    page = desk.describe()["table"]["page"]
    assert page["rows"] == 300
    assert page["columns"] == [describe_column(expected, v, chosen=True, number=False) for v in expected.variables]
    started = desk.start_on_rows("learn", learn(frame=encode_network(CLINIC)), 60.0)
    started.wait(PATIENCE)
    assert (started.state, started.error) == ("done", "")
    network = desk.take_network(started.number)
    recipe = pn.Recipe("mwst", "mutual-information")
    assert network == recipe.learn(data.with_domains(CLINIC.variables))
    assert network.variable("fever") == CLINIC.variable("fever")  # its states in the order that the page has
    assert network.name == "n"
    folder = desk.folder
    desk.close_table()
    assert desk.describe()["table"] is None
    with pytest.raises(InputError, match="no rows have been read"):
        _ = desk.data
    desk.close()
    assert not folder.exists()


def test_a_stopped_job_is_gone_with_its_files_and_a_new_one_stops_the_last(desk: DataDesk) -> None:
    slow = "a,b\n" + "x|y,u\n" * 200_000
    first = upload(desk, "slow.csv", slow)
    process, folder = first.process_id, first.folder
    assert is_alive(process)
    second = upload(desk, "slow.csv", slow)
    assert first.state == "stopped"
    assert not is_alive(process)
    assert not folder.exists()
    desk.stop_job()
    assert second.state == "stopped"
    assert not is_alive(second.process_id)
    assert desk.describe()["job"]["state"] == "stopped"


def test_a_job_ends_at_its_limits_of_time_and_of_memory(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n" + "x,y\n" * 2_000_000, encoding="utf-8")
    late = Job("read", {"file": "a.csv"}, tmp_path, JobLimits(seconds=0.2))
    late.wait(PATIENCE)
    assert late.state == "failed"
    assert late.error.startswith("read: not done after 0.2 seconds, and stopped; use fewer rows")
    assert not is_alive(late.process_id)
    small = Job("read", {"file": "a.csv"}, tmp_path, JobLimits(memory=1 << 20))
    small.wait(PATIENCE)
    assert small.state == "failed"
    assert small.error
    assert not (tmp_path / "result.json").exists()
    assert not is_alive(small.process_id)


def test_a_job_ends_with_the_server_even_if_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n" + "x,y\n" * 2_000_000, encoding="utf-8")
    script = (
        "import sys; from pathlib import Path; from possnet.explorer.background_job import Job\n"
        "print(Job('read', {'file': 'a.csv'}, Path(sys.argv[1])).process_id, flush=True); sys.stdin.read()"
    )
    words = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        worker = int(server.stdout.readline())
        assert is_alive(worker)
        server.kill()
    assert wait_for_end(worker)


BAD = {
    "noise.csv": (os.urandom(300) + b"\x00\xff", "noise.csv: "),
    "noise.parquet": (b"PAR1" + bytes(range(200)), "noise.parquet: "),
    "empty.csv": (b"", "empty.csv"),
    "head.csv": (b"a,b\n", "head.csv"),
    "unknown.csv": (b"a,b\n?,?\n", "unknown.csv: column 'a' holds no state at all; expected some"),
    "twice.csv": (b"a,a\n1,2\n", "twice.csv"),
    "wide.csv": (
        (",".join(f"c{k}" for k in range(1001)) + "\n").encode(),
        "table: 1,001 columns; expected at most 1,000",
    ),
    "ragged.csv": (b"a,b\n1,2\n1\n1,2,3\n", "ragged.csv"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_is_refused_in_one_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, start = BAD[name]
    (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        read_table({"file": name}, tmp_path, report)
    assert str(caught.value).startswith(start)
    assert not (tmp_path / "rows.parquet").exists()


def test_a_column_that_cannot_be_used_is_left_out_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(
        "note,flu,rash,visit\n" + "".join(f"?,{'yn'[k % 2]},NA,v{k}\n" for k in range(10_001)), encoding="utf-8"
    )
    page = read_table({"file": "rows.csv", "unknown_words": ["NA"]}, tmp_path, report)
    told = {column["name"]: (column["unusable"], column["chosen"], column["count"]) for column in page["columns"]}
    assert told == {
        "note": ("holds no state at all", False, 0),
        "flu": (None, True, 2),
        "rash": ("holds no state at all", False, 0),
        "visit": ("has 10,001 distinct states, which looks like an identifier", False, 0),
    }
    assert [variable.name for variable in pn.read_data("rows.parquet").variables] == ["flu"]


def test_a_worker_says_in_one_sentence_what_is_wrong_with_a_table(desk: DataDesk) -> None:
    job = upload(desk, "../<b>bad</b>.csv", "fever,rash\nmild\n")
    job.wait(PATIENCE)
    assert job.state == "failed"
    assert job.error.startswith("b_.csv, row 1")  # the name of the file, not where it lies
    assert desk.describe()["table"] == {"name": "../<b>bad</b>.csv", "page": None}


def test_columns_and_bins_are_those_that_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{36 + k / 10},{'yes' if k > 15 else 'no'},x" for k in range(30))
    Path("t.csv").write_text(f"temp,rash,ward\n{rows}\nND,?,x\n", encoding="utf-8")
    usual = read_table({"file": "t.csv", "unknown_words": ["ND"]}, tmp_path, report)
    assert [column["number"] for column in usual["columns"]] == [True, False, False]
    assert usual["columns"][0]["edges"]
    bins = {"temp": {"edges": [37.5, 38.5], "error": 0.2}}
    asked = {"file": "t.csv", "columns": ["temp", "rash"], "bins": bins, "unknown_words": ["ND"]}
    page = read_table(asked, tmp_path, report)
    assert page["columns"][0]["states"] == ["<37.5", "37.5..38.5", ">=38.5"]
    assert [column["chosen"] for column in page["columns"]] == [True, True, False]
    assert page["columns"][0]["unknown"] == pytest.approx(1 / 31)
    assert page["columns"][0]["sets"] > 0  # readings near an edge
    assert [v.name for v in pn.read_data(tmp_path / "rows.parquet").variables] == ["temp", "rash"]
    for wrong, words in (
        ({"columns": ["tmp"]}, "table: no column 'tmp' (temp, rash, ward); did you mean 'temp'"),
        ({"columns": []}, "table: no column is chosen"),
        ({"bins": {"age": {"edges": "quantile"}}}, "table: bins of 'age', which is no column"),
        ({"bins": {"temp": {"edges": [5, 4]}}}, "bins of 'temp': "),
    ):
        with pytest.raises(InputError) as caught:
            read_table({**asked, **wrong}, tmp_path, report)
        assert str(caught.value).startswith(words)


def test_tables_of_a_kept_structure_are_learned_and_what_lacks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = pn.sample(CLINIC, 200, imprecision=0.3, rng=2)
    pn.write_data(data, tmp_path / "rows.parquet")
    options = learn(rows="rows.parquet", frame=encode_network(CLINIC), keep=True, measure=None)
    page = learn_network(options, tmp_path, report)
    assert read_network("network.json") == pn.fit(CLINIC.dag, data)
    assert page["count"] == len(CLINIC.dag.edges)
    pn.write_data(data.select(["fever"]), tmp_path / "few.parquet")
    with pytest.raises(InputError, match="no column 'contact', which the network has"):
        learn_network(options | {"rows": "few.parquet"}, tmp_path, report)


def test_the_check_is_that_of_the_library_with_its_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = pn.sample(CLINIC, 120, process="precise", rng=3)
    pn.write_data(data, tmp_path / "rows.parquet")
    options = learn(rows="rows.parquet", frame=encode_network(CLINIC), folds=0)
    page = check_network(options, tmp_path, report)
    levels = tuple(round(1 - promised, 9) for promised, _ in page["points"])
    expected = pn.check(CLINIC, data, levels=levels)
    assert page["points"] == sorted([round(1 - level, 9), share] for level, share in expected.coverage.items())
    assert page["picture"].startswith("<svg")
    assert page["sentence"] == expected.sentence
    folded = check_network(options | {"folds": 2, "keep": True}, tmp_path, report)
    assert "2 folds" in folded["method"][0]
    with pytest.raises(InputError, match="check: no network on the page"):
        check_network(options | {"frame": None}, tmp_path, report)
