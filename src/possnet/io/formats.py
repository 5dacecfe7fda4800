"""What possnet knows of a file format: an entry of the registry of network formats, or of that of data formats.

A format is a module in ``network_formats`` or ``data_formats`` that defines ``FORMAT``. Programs outside possnet add
theirs with ``possnet.io.NETWORK_FORMATS.register(NetworkFormat(...))``, and likewise for data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from possnet.io.data_source import DataSource
    from possnet.network import Network
    from possnet.transforms import Transform


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """What network formats and data formats have in common.

    Parameters
    ----------
    name, label
        The name in registries, and the name for people.
    suffixes
        Endings of the names of files, in lower case, the usual one first.
    sniff
        Whether a file is of this format, by its first few thousand bytes (without a byte order mark and leading blanks);
        for files whose name does not say so.
    options
        Keywords that the writer (of data: the reader too) takes besides the common ones.
    """

    name: str
    label: str
    suffixes: tuple[str, ...]
    sniff: Callable[[bytes], bool]
    options: tuple[str, ...] = ()
    gzip: ClassVar[bool] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFormat(FileFormat):
    """A file format of networks. Files whose name ends in ``.gz`` are unpacked before they are decoded.

    Parameters
    ----------
    decode
        Network of the content of a file, its path (for errors, names, and files beside it), and the transformation for
        tables of probabilities; None if the format can only be written.
    write
        Write a network to a path, with ``options`` as keywords; None if the format can only be read.
    names_file
        The file beside a written one that holds the names which the format has no room for, if there is one.
    needs_transform
        Whether a written file holds probabilities alone, so that the writer has to be given ``transform``: the
        transformation whose inverse makes them of degrees.
    """

    decode: Callable[[bytes, Path, Transform], Network] | None
    write: Callable[..., None] | None = None
    names_file: Callable[[Path], Path] | None = None
    needs_transform: bool = False
    gzip: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFormat(FileFormat):
    """A file format of data.

    Parameters
    ----------
    open
        `DataSource` of a path and the name of the weight column (or None), with ``options`` as keywords.
    write
        Write batches of rows (an iterator of data sets) to a path, given the variables and the name of the weight column
        (or None), with ``options`` as keywords; None if the format can only be read.
    declares_domains
        Whether written files keep the variables' states and their order.
    write_tables
        Write Arrow tables of plain values, given their schema and a path; None if the format holds nothing but cells.
    plain_columns
        Whether the writer takes ``plain``: columns of other files to carry along (see `possnet.io.PlainColumns`).
    texts
        Whether cells are written as texts, so that numbers can stand as they were beside states: those of ``plain``.
    """

    open: Callable[..., DataSource]
    write: Callable[..., None] | None = None
    write_tables: Callable[..., None] | None = None
    declares_domains: bool = False
    plain_columns: bool = False
    texts: bool = False
