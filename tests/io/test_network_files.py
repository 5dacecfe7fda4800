"""Networks in files of any format: gzipped, too large once unpacked, and random bytes."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

from hypothesis import given, strategies as st

import possnet as pn
from possnet.io.network_formats.bif import decode_bif
from tests.io.small_bif import small_bif
from tests.refused import refused


def test_gzipped_files_that_are_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.bif.gz"
    packed = gzip.compress(small_bif())
    path.write_bytes(packed)
    assert pn.read_network(path) == decode_bif(small_bif(), "a")
    for content in (packed[:-9], packed[:12], b"network"):
        path.write_bytes(content)
        refused(r"a.bif.gz: .*; expected a gzipped file, whole", pn.read_network, path)
    refused("no such file", pn.read_network, tmp_path / "none.bif.gz")
    refused(r"unknown suffix '.wcnf'; expected .json, .net, ", pn.read_network, tmp_path / "a.wcnf")


@given(st.binary(max_size=120))
def test_random_bytes_never_escape_as_another_error(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, prefix in [
            ("a.json", b""),
            ("a.bif", b"variable "),
            ("a.uai", b"MARKOV 1 2 "),
            ("a.xml", b"<BIF>"),
            ("a.bif.gz", b"\x1f\x8b\x08"),
        ]:
            path = Path(folder) / name
            path.write_bytes(prefix + content)
            try:
                pn.read_network(path)
            except pn.PossnetError as error:
                assert str(error).startswith(str(path))
