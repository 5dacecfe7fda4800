"""Tables over the wire: uploaded under limits, read, learned from and stepped through, and nothing outlives the server."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import possnet as pn
from possnet.errors import InputError
from possnet.explorer.row_evidence import read_row
from possnet.io import decode_network
from tests.serving import Reply, Server, serving

CLINIC = pn.load_example("clinic")
OCTETS = {"Content_Type": "application/octet-stream"}
PATIENCE = 60.0


@pytest.fixture(scope="module")
def ward() -> Iterator[Server]:
    """An explorer of the clinic whose table these tests replace."""
    with serving("clinic") as server:
        yield server


def upload(server: Server, name: str, content: bytes) -> Reply:
    return server.ask(f"/api/table-upload?name={quote(name)}", content, **OCTETS)


def wait_for_job(server: Server) -> dict[str, Any]:
    """The desk, once its job is over."""
    end = time.monotonic() + PATIENCE
    while (desk := server.ask("/api/table-job").document)["job"]["state"] == "running":
        assert time.monotonic() < end
        time.sleep(0.05)
    assert isinstance(desk, dict)
    return desk


def workers_of(server: Server) -> list[int]:
    """Processes that the server has started."""
    children = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    return [int(number) for listed in children for number in listed.read_text(encoding="utf-8").split()]


def test_rows_become_evidence_and_what_they_leave_open_is_completed(ward: Server) -> None:
    rows = "season,fever,flu,ward,rash\nwinter,mild|high,?,<b>9</b>,spots\nsummer,none,no,8,strange\n"
    reply = upload(ward, "<i>rows</i>.csv", rows.encode())
    assert reply.status == 200
    desk = wait_for_job(ward)
    assert desk["table"]["name"] == "<i>rows</i>.csv"
    page = ward.ask("/api/table-rows", {"start": 0}).document
    assert page["rows"][0]["cells"] == [["winter"], ["high", "mild"], None, ["<b>9</b>"], ["spots"]]
    first = ward.ask("/api/table-row", {"number": 0}).document
    assert first["evidence"] == {"season": ["winter"], "fever": ["mild", "high"], "rash": ["spots"]}
    assert first["left_out"] == ["ward: no variable of the network"]
    known = {name: set(states) for name, states in first["evidence"].items()}
    for name, pi in pn.Inference(CLINIC).marginals(known).items():
        if name in first["completed"]:
            top = [state for state in pi.variables[0].states if pi[state] == 1.0]
            assert first["completed"][name]["states"] == top
            assert first["completed"][name]["certain"] == pytest.approx(
                pi.necessity(set(top[:1])) if len(top) == 1 else 0.0
            )
    assert {"flu", "measles", "fever"} <= first["completed"].keys()
    second = ward.ask("/api/table-row", {"number": 1}).document
    assert second["left_out"][1] == "rash: no state strange in the network"
    for number in (-1, 2):
        reply = ward.ask("/api/table-row", {"number": number})
        assert (reply.status, reply.document["error"]) == (422, f"table: no row {number + 1}; expected 1 to 2")


def test_a_table_of_the_folder_is_opened_as_if_it_were_uploaded(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    data = pn.sample(CLINIC, 30, process="precise", rng=1)
    pn.write_data(data, tmp_path / "deep/rows.csv")
    (tmp_path / "large.csv").write_bytes(b"")
    os.truncate(tmp_path / "large.csv", (64 << 20) + 1)  # a hole: no bytes are written
    with serving("clinic", folder=tmp_path) as server:
        assert server.ask("/api/table-open", {"path": "deep/rows.csv"}).document["table"]["name"] == "rows.csv"
        page = wait_for_job(server)["table"]["page"]
        assert page["rows"] == 30
        assert [column["name"] for column in page["columns"]] == [v.name for v in data.variables]
        reply = server.ask("/api/table-open", {"path": "large.csv"})
        assert (reply.status, reply.document["error"]) == (
            422,
            "large.csv: 67,108,865 bytes; a page opens tables of at most 67,108,864",
        )
        for path in ("../rows.csv", "/etc/passwd", "deep", "deep/none.csv", ""):
            assert server.ask("/api/table-open", {"path": path}).status == 422
        assert wait_for_job(server)["table"]["name"] == "rows.csv"  # what was refused has changed nothing


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can act as another account")
def test_another_account_of_the_machine_sees_neither_the_page_nor_its_files(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("no Python that every account may run")
    script = (
        "import os, sys, urllib.request, urllib.error\n"
        "try: urllib.request.urlopen(sys.argv[1]); print('open')\n"
        "except urllib.error.HTTPError as error: print(error.code)\n"
        "for folder in sys.argv[2:]:\n"
        "    try: os.listdir(folder); print('listed')\n"
        "    except PermissionError: print('refused')\n"
    )
    with serving("clinic", TMPDIR=str(tmp_path)) as server:
        upload(server, "rows.csv", b"flu\nyes\nno\n")
        wait_for_job(server)
        kept = [str(path) for path in tmp_path.glob("possnet-explore-*")]
        words = [python, "-I", "-c", script, f"{server.origin}api/network", *kept]
        done = subprocess.run(words, user=65534, check=True, capture_output=True, text=True, cwd="/", timeout=60)
    assert done.stdout.split() == ["403", "refused"]


def test_an_impossible_row_says_what_contradicts_what() -> None:
    asia = pn.load_example("asia")
    row = read_row(asia, pn.Dataset.from_table({"either": ["no"], "lung": ["yes"], "smoke": ["no"]}), 0)
    assert row["conflicts"] == pn.conflicts(asia, {"either": {"no"}, "lung": {"yes"}, "smoke": {"no"}}).to_dict()
    assert row["completed"] == {}
    with pytest.raises(InputError, match="the network has none of its columns"):
        read_row(asia, pn.Dataset.from_table({"x": ["1"]}), 0)


def test_what_is_learned_becomes_a_step_that_can_be_undone(tmp_path: Path) -> None:
    data = pn.sample(CLINIC, 200, process="precise", rng=1)
    pn.write_data(data, tmp_path / "rows.csv")
    with serving(None, folder=tmp_path) as server:
        assert server.ask("/api/table-learn", {}).status == 422  # nothing has been read
        upload(server, "patients.csv", (tmp_path / "rows.csv").read_bytes())
        wait_for_job(server)
        options = {"method": "mwst", "measure": "mutual-information"}
        assert server.ask("/api/table-learn", {"method": "nonsense"}).status == 200
        assert "nonsense" in wait_for_job(server)["job"]["error"]
        server.ask("/api/table-learn", options)
        job = wait_for_job(server)["job"]
        assert (job["state"], job["error"]) == ("done", "")
        revision = server.ask("/api/network").document["revision"]
        assert server.ask("/api/table-adopt", {"job": job["number"], "revision": revision + 5}).status == 409
        assert server.ask("/api/table-adopt", {"job": job["number"] + 1, "revision": revision}).status == 422
        summary = server.ask("/api/table-adopt", {"job": job["number"], "revision": revision}).document
        assert summary["undo"] == "learn from patients.csv"
        learned = decode_network(server.ask("/api/download").body, "download")
        assert learned == pn.Recipe("mwst", "mutual-information").learn(pn.read_data(tmp_path / "rows.csv"))
        assert learned.name == "patients"
        server.ask("/api/history", {"step": "undo", "revision": summary["revision"]})
        assert server.ask("/api/network").document["variables"] == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("rows.exe", b"MZ", "rows.exe: unknown suffix '.exe'; expected .csv"),
        ("", b"a\n1\n", "unknown suffix"),
        ("network.json", b"{}", "unknown suffix '.json'"),
    ],
)
def test_a_file_that_is_no_table_is_refused_at_once(ward: Server, name: str, content: bytes, words: str) -> None:
    reply = upload(ward, name, content)
    assert reply.status == 422
    assert words in reply.document["error"]


def test_uploads_and_requests_are_bounded(ward: Server) -> None:
    assert ward.ask("/api/table-upload?name=a.csv", b"", Content_Length="100000000", **OCTETS).status == 413
    for path, body in (
        ("table-rows", {"start": 0, "count": 100_000}),
        ("table-learn", {"seconds": 1e9}),
        ("table-check", {"folds": 1000}),
        ("table-read", {"columns": ["a"], "bins": {"a": {"edges": "quantile", "bins": 1e9}}}),
        ("table-adopt", {"job": "last", "revision": 0}),
        ("table-stop", {"now": True}),
    ):
        reply = ward.ask(f"/api/{path}", body)
        assert reply.status == 422, path
        assert reply.document["error"].startswith("request: ")
    assert ward.ask("/api/table-job", b"", method="POST").status == 405


def test_a_running_job_is_stopped_by_a_word_and_ends_with_the_server(tmp_path: Path) -> None:
    slow = b"a,b\n" + b"x|y,u\n" * 2_000_000
    with serving("clinic", TMPDIR=str(tmp_path)) as server:
        upload(server, "slow.csv", slow)
        (worker,) = workers_of(server)
        assert server.ask("/api/table-stop", {}).document["job"]["state"] == "stopped"
        assert not Path(f"/proc/{worker}").exists()
        upload(server, "slow.csv", slow)
        (worker,) = workers_of(server)
        assert list(tmp_path.glob("possnet-explore-*"))
    end = time.monotonic() + PATIENCE
    while Path(f"/proc/{worker}").exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not Path(f"/proc/{worker}").exists()
    assert list(tmp_path.glob("possnet-explore-*")) == []
