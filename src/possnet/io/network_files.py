"""Reading and writing networks, by the suffix of the file's name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from possnet.io.file_access import read_plain_or_gzipped, require_suffix, write_text
from possnet.io.json_network import decode_network, encode_network

if TYPE_CHECKING:
    from possnet.io.uai import Preamble
    from possnet.network import Network
    from possnet.transforms import Transform

NETWORK_SUFFIXES = (".json", ".uai", ".uai.gz", ".bif", ".bif.gz", ".xmlbif", ".xml")


def read_network(path: str | Path, *, transform: Transform = "optimal") -> Network:
    """Network of a file, by its suffix: ``.json``, ``.uai``, ``.bif``, ``.xmlbif`` (``.bif.gz`` and ``.uai.gz`` too).

    Parameters
    ----------
    transform
        How probabilities become possibilities, for files that hold probabilities (BIF, XMLBIF, UAI with ``BAYES``); see
        `to_possibility`.

    >>> import possnet as pn, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pn.write_network(pn.load_example("pump"), Path(folder) / "pump.json")
    ...     pn.read_network(Path(folder) / "pump.json") == pn.load_example("pump")
    True
    """
    suffix = require_suffix(path, NETWORK_SUFFIXES)
    if suffix.startswith(".uai"):
        from possnet.io.uai import read_uai

        return read_uai(path, transform)
    content, owner, name = read_plain_or_gzipped(path), str(path), Path(path).name.split(".")[0]
    if suffix == ".json":
        return decode_network(content, owner)
    if suffix.startswith(".bif"):
        from possnet.io.bif import decode_bif

        return decode_bif(content, owner, transform, name=name)
    from possnet.io.xmlbif import decode_xmlbif

    return decode_xmlbif(content, owner, transform, name=name)


def write_network(network: Network, path: str | Path, *, preamble: Preamble = "MARKOV") -> None:
    """Write a network to a ``.json`` or ``.uai`` file, whole or not at all.

    A UAI file has no room for names: they go to a side file, ``NAME.uai.names.json``; support is not written at all.

    Parameters
    ----------
    preamble
        First word of a UAI file: ``MARKOV`` (the default: degrees are not probabilities) or ``BAYES``.

    >>> import possnet as pn
    >>> pn.write_network(pn.load_example("pump"), "pump.txt")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: pump.txt: unknown suffix '.txt'; expected .json or .uai
    """
    if require_suffix(path, (".json", ".uai")) == ".json":
        write_text(path, encode_network(network))
    else:
        from possnet.io.uai import write_uai

        write_uai(network, path, preamble)
