"""Files of the explorer: only below its folder or by upload, bounded, saved whole or not at all."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import possnet as pn
from possnet.explorer.session import Session
from possnet.explorer.workspace import find_below, list_files, save_session, write_autosave
from tests.serving import Server, serving

ASIA = pn.load_example("asia")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with networks and tables, a hidden one, links out of it, and secrets beside it."""
    top: Path = tmp_path_factory.mktemp("top")
    inside = top / "inside"
    (inside / "deep" / "deeper" / "deepest").mkdir(parents=True)
    pn.write_network(ASIA, inside / "asia.json")
    pn.write_network(ASIA, inside / "deep" / "other.json")
    pn.write_network(ASIA, inside / "deep" / "deeper" / "deepest" / "far.json")
    pn.write_network(ASIA, top / "secret.json")
    pn.write_network(ASIA, inside / ".hidden.json")
    (inside / "rows.csv").write_text("a,b\nx,y\n", encoding="utf-8")
    (inside / "notes.txt").write_text("nothing", encoding="utf-8")
    (inside / "broken.json").write_text("{", encoding="utf-8")
    (inside / "link.json").symlink_to(top / "secret.json")
    (inside / "alias.json").symlink_to(inside / "asia.json")
    (inside / "loop.json").symlink_to(inside / "loop.json")
    (inside / "out").symlink_to(top)
    os.mkfifo(inside / "pipe.json")
    return inside


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving(None, folder=folder) as running:
        yield running


def upload(server: Server, name: str, content: bytes, revision: int | None = None) -> tuple[int, str]:
    number = server.ask("/api/network").document["revision"] if revision is None else revision
    reply = server.ask(
        f"/api/upload?name={name}&revision={number}", content, **{"Content-Type": "application/octet-stream"}
    )
    return reply.status, reply.document.get("error", "")


def test_only_what_lies_below_the_folder_is_listed(server: Server, folder: Path) -> None:
    offer = server.ask("/api/start").document
    assert offer["folder"] == "inside"
    assert {file["path"]: file["kind"] for file in offer["files"]} == {
        "asia.json": "network",
        "alias.json": "network",
        "broken.json": "network",
        "deep/other.json": "network",
        "rows.csv": "data",
    }
    assert str(folder) not in json.dumps(offer)
    assert [example["name"] for example in offer["examples"]] == ["asia", "clinic", "pump", "survey"]


@pytest.mark.parametrize(
    "name",
    [
        "../secret.json",
        "link.json",
        "out/secret.json",
        "/etc/passwd",
        "deep/../../secret.json",
        ".hidden.json",
        "",
        ".",
        "..",
        "~/x.json",
        "asia.json\0.json",
        "..\\secret.json",
        "loop.json",
        "pipe.json",
        "deep",
        "nowhere.json",
        "x" * 900,
    ],
)
def test_nothing_else_is_opened_or_saved(server: Server, folder: Path, name: str) -> None:
    before = sorted(path.name for path in folder.parent.rglob("*"))
    revision = server.ask("/api/network").document["revision"]
    reply = server.ask("/api/open", {"kind": "file", "name": name, "revision": revision})
    assert reply.status == 422
    assert "secret" not in reply.document["error"].replace(name, "")
    assert str(folder.parent) not in reply.document["error"]
    if name not in {"nowhere.json", "~/x.json", "pipe.json", "deep", "x" * 900}:
        with pytest.raises(pn.InputError, match="not below the folder"):
            find_below(folder, name)
    assert sorted(path.name for path in folder.parent.rglob("*")) == before
    for path in ("asia.json", "../secret.csv", name):  # no table, and none below the folder
        reply = server.ask("/api/table-open", {"path": path})
        assert reply.status == 422
        assert str(folder.parent) not in reply.document["error"]


def test_files_are_opened_edited_and_saved_whole(server: Server, folder: Path) -> None:
    def change(path: str, **body: object) -> dict[str, object]:
        body["revision"] = server.ask("/api/network").document["revision"]
        reply = server.ask(f"/api/{path}", body)
        assert reply.status == 200, reply.body
        return dict(reply.document)

    assert change("open", kind="file", name="deep/other.json")["file"] == "other.json"
    edited = change("edit", variable="smoke", rows={"0": [1, 0.25]})
    assert edited["saved"] is False
    assert pn.read_network(folder / "deep" / "other.json") == ASIA  # not before it is asked for
    autosave = server.ask("/api/autosave", {"on": True}).document
    assert autosave == {"autosave": True, "autosaved": "other.autosave.json", "trouble": None}
    beside = folder / "deep" / "other.autosave.json"
    assert pn.read_network(beside).table("smoke").tolist() == [1, 0.25]
    change("edit", variable="smoke", rows={"0": [1, 0.5]})
    assert pn.read_network(beside).table("smoke").tolist() == [1, 0.5]
    assert pn.read_network(folder / "deep" / "other.json") == ASIA
    assert change("save")["saved"] is True
    assert pn.read_network(folder / "deep" / "other.json").table("smoke").tolist() == [1, 0.5]
    revision = server.ask("/api/network").document["revision"]
    there = server.ask("/api/save", {"name": "asia.json", "revision": revision})
    assert (there.status, there.document["kind"]) == (422, "exists")
    assert pn.read_network(folder / "asia.json") == ASIA
    assert change("save", name="new name")["file"] == "new name.json"
    assert server.ask("/api/autosave", {"on": False}).document["autosave"] is False
    assert change("history", step="undo")["saved"] is False
    assert not [path for path in folder.rglob("*") if path.name.endswith(".part")]
    for name in ("new name.json", "deep/other.autosave.json"):
        (folder / name).unlink()
    pn.write_network(ASIA, folder / "deep" / "other.json")


def test_a_file_that_cannot_be_written_leaves_the_change_and_says_so(tmp_path: Path) -> None:
    session = Session.from_network(ASIA, tmp_path / "gone" / "asia.json")
    with pytest.raises(pn.InputError, match="gone"):
        write_autosave(session, tmp_path)
    with pytest.raises(pn.InputError, match="no variables yet"):
        save_session(Session.without_network(), tmp_path, "empty.json")
    assert write_autosave(Session.without_network(), tmp_path) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".json", ".uai", ".bif", ".bif.gz", ".xmlbif", ".net", ".xdsl.gz"])
def test_every_format_with_a_reader_can_be_dropped(server: Server, tmp_path: Path, suffix: str) -> None:
    bif = b"network n { }\nvariable a { type discrete [ 2 ] { yes, no }; }\nprobability ( a ) { table 0.25, 0.75; }\n"
    xml = (
        b"<?xml version='1.0'?><BIF VERSION='0.3'><NETWORK><NAME>n</NAME><VARIABLE TYPE='nature'><NAME>a</NAME>"
        b"<OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE><DEFINITION><FOR>a</FOR><TABLE>0.25 0.75</TABLE>"
        b"</DEFINITION></NETWORK></BIF>"
    )
    pn.write_network(ASIA, tmp_path / "n.json")
    contents = {
        ".json": (tmp_path / "n.json").read_bytes(),
        ".uai": b"BAYES\n1\n2\n1\n1 0\n\n2\n0.25 0.75\n",
        ".bif": bif,
        ".bif.gz": gzip.compress(bif),
        ".xmlbif": xml,
        ".net": b"net {} node a { states = (yes no); } potential (a) { data = (0.25 0.75); }",
        ".xdsl.gz": gzip.compress(
            b"<smile><nodes><cpt id='a'><state id='yes'/><state id='no'/><probabilities>0.25 0.75</probabilities></cpt>"
            b"</nodes></smile>"
        ),
    }
    assert upload(server, f"n{suffix}", contents[suffix]) == (200, "")
    net = server.ask("/api/network").document
    assert len(net["variables"]) == (8 if suffix == ".json" else 1)
    assert net["file"] is None


@pytest.mark.parametrize(
    ("name", "content", "finding"),
    [
        ("n.json", b"{", "n.json"),
        ("n.json", b"\xff\xfe\x00garbage", "n.json"),
        ("n.json", b"[" * 100_000, "n.json"),
        ("n.bif", b"garbage", "n.bif"),
        ("n.bif.gz", b"\x1f\x8bgarbage", "n.bif.gz"),
        ("n.bif.gz", gzip.compress(b"network n { }" + b" " * 50_000_000)[:40_000], "n.bif.gz"),
        ("n.xmlbif", b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><BIF>&b;</BIF>", "n.xmlbif"),
        ("n.exe", b"MZ", "unknown suffix"),
        ("../../n.json", b"{", "n.json"),
        ("", b"{", "unknown suffix"),
    ],
)
def test_garbage_is_refused_with_its_name_and_nothing_changes(
    server: Server, name: str, content: bytes, finding: str
) -> None:
    revision = server.ask("/api/network").document["revision"]
    status, error = upload(server, name, content)
    assert status == 422
    assert finding in error
    assert "possnet-" not in error  # nor the folder that it was kept in
    assert "root:" not in error
    assert server.ask("/api/network").document["revision"] == revision


def test_large_uploads_are_refused_before_they_are_read(server: Server) -> None:
    head = f"POST /api/upload?name=n.json&revision=0 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nCookie: {server.cookie}\r\n"
    kind = "Content-Type: application/octet-stream\r\n"
    for length in (100 << 20, (32 << 20) + 1):
        reply = server.raw(f"{head}{kind}Content-Length: {length}\r\n\r\n".encode())
        assert reply.startswith(b"HTTP/1.1 413 ")
    assert server.raw(f"{head}Content-Type: text/plain\r\nContent-Length: 1\r\n\r\n{{".encode()).startswith(
        b"HTTP/1.1 415"
    )
    assert upload(server, "n.json", b"{}", revision=10**9)[0] in {409, 422}
    assert (
        server.ask("/api/upload?name=n.json&revision=x", b"{}", **{"Content-Type": "application/octet-stream"}).status
        == 400
    )
    for path in ("/api/upload?name=n.json&revision=0", "/api/open", "/api/save", "/api/autosave", "/api/table-open"):
        assert server.ask(path, b"{}", Cookie="").status in {403, 405}
        assert server.ask(path, b"{}", Origin="http://evil.example").status == 403


def test_a_folder_with_many_files_is_listed_briefly(tmp_path: Path) -> None:
    for number in range(80):
        (tmp_path / f"n{number}.json").write_text("{}", encoding="utf-8")
        os.utime(tmp_path / f"n{number}.json", (number, number))
    listed = list_files(tmp_path)
    assert [file.path for file in listed] == [f"n{number}.json" for number in range(79, 19, -1)]
