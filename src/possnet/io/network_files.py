"""Reading and writing networks, in the format that the suffix of the file's name stands for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from possnet.doors import check_arguments
from possnet.io.file_access import read_bytes
from possnet.io.format_registries import NETWORK_FORMATS, choose_format, choose_writer

if TYPE_CHECKING:
    from possnet.network import Network
    from possnet.transforms import Transform


@check_arguments
def read_network(path: str | Path, *, transform: Transform = "optimal") -> Network:
    """Network of a file, by its suffix: ``.json``, ``.xdsl``, ``.net``, ``.bif``, ``.xmlbif``, ``.uai``; gzipped too.

    Other formats can be added to `possnet.io.NETWORK_FORMATS`.

    Parameters
    ----------
    transform
        How probabilities become possibilities, for files that hold probabilities (BIF, XMLBIF, XDSL, Hugin, UAI with
        ``BAYES``); see `to_possibility`. Degrees that possnet kept in an XDSL or Hugin file are read as they are.

    Examples
    --------
    >>> import possnet as pn, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pn.write_network(pn.load_example("pump"), Path(folder) / "pump.json")
    ...     pn.read_network(Path(folder) / "pump.json") == pn.load_example("pump")
    True
    """
    decode: Any = choose_format(path, NETWORK_FORMATS).decode
    network: Network = decode(read_bytes(path, unpack=True), Path(path), transform)
    return network


@check_arguments
def write_network(network: Network, path: str | Path, **options: object) -> None:
    """Write a network to a file, by its suffix, whole or not at all.

    - ``.json`` keeps everything.
    - ``.xdsl`` (GeNIe) and ``.net`` (Hugin) hold probabilities for these programs, and the degrees beside them, so that
      possnet reads the same network back; support, bounds and gates are not written.
    - ``.uai`` has no room for names: they go to a side file, ``NAME.uai.names.json``; support, bounds and gates are not
      written.
    - ``.bif`` and ``.xmlbif`` hold probabilities and nothing else: ``transform`` has to be named.
    - ``.wcnf`` is the question for the most possible configuration, for MaxSAT solvers; it cannot be read.

    Parameters
    ----------
    options
        Options of the format. UAI takes ``preamble``, the first word of the file: ``MARKOV`` (the default: degrees are
        not probabilities) or ``BAYES``. Files with probabilities take ``transform``, the transformation whose inverse
        gives them: ``symmetric``, ``ratio`` or ``optimal`` (see `to_probability`). WCNF takes ``evidence`` (name -> a
        state or several) and ``scale``, by which the logarithms of degrees are multiplied before they are rounded.

    Examples
    --------
    >>> import possnet as pn
    >>> pn.write_network(pn.load_example("pump"), "pump.txt")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: pump.txt: unknown suffix '.txt'; expected .json...
    """
    choose_writer(path, NETWORK_FORMATS, options)(network, Path(path))
