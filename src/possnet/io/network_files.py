"""Reading and writing networks, in the format that the suffix of the file's name stands for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from possnet.doors import check_arguments
from possnet.io.file_access import read_bytes
from possnet.io.format_registries import NETWORK_FORMATS, choose_format, choose_writer

if TYPE_CHECKING:
    from possnet.network import Network
    from possnet.transforms import Transform


@check_arguments
def read_network(path: str | Path, *, transform: Transform = "optimal") -> Network:
    """Network of a file, by its suffix: ``.json``, ``.uai``, ``.bif``, ``.xmlbif``, gzipped (``.bif.gz``) too.

    Other formats can be added to `possnet.io.NETWORK_FORMATS`.

    Parameters
    ----------
    transform
        How probabilities become possibilities, for files that hold probabilities (BIF, XMLBIF, UAI with ``BAYES``); see
        `to_possibility`.

    Examples
    --------
    >>> import possnet as pn, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pn.write_network(pn.load_example("pump"), Path(folder) / "pump.json")
    ...     pn.read_network(Path(folder) / "pump.json") == pn.load_example("pump")
    True
    """
    decode = choose_format(path, NETWORK_FORMATS).decode
    return decode(read_bytes(path, unpack=True), Path(path), transform)


@check_arguments
def write_network(network: Network, path: str | Path, **options: object) -> None:
    """Write a network to a ``.json`` or ``.uai`` file, whole or not at all.

    A UAI file has no room for names: they go to a side file, ``NAME.uai.names.json``; support and bounds are not written at
    all.

    Parameters
    ----------
    options
        Options of the format. UAI takes ``preamble``, the first word of the file: ``MARKOV`` (the default: degrees are
        not probabilities) or ``BAYES``.

    Examples
    --------
    >>> import possnet as pn
    >>> pn.write_network(pn.load_example("pump"), "pump.txt")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: pump.txt: unknown suffix '.txt'; expected .json...
    """
    choose_writer(path, NETWORK_FORMATS, options)(network, Path(path))
