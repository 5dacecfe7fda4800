"""The registries of file formats, and finding the format of a file by the suffix of its name or by its first bytes."""

from __future__ import annotations

import pkgutil
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from possnet.errors import InputError, require_known
from possnet.io.formats import DataFormat, NetworkFormat
from possnet.registries import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Format = TypeVar("Format", NetworkFormat, DataFormat)
Ability: TypeAlias = Literal["read", "write", "write_tables", "plain_columns"]
_READ_AND_WRITE: tuple[Ability, Ability] = ("read", "write")


class FolderRegistry(Registry[Format]):
    """A registry that is filled, when it is first used, with ``FORMAT`` of every module of a folder beside this one.

    Formats that can be written come first, among them JSON and those that keep degrees.
    """

    def __init__(self, kind: str, folder: str) -> None:
        super().__init__(kind)
        self._folder = folder
        del self._entries

    @cached_property
    def _entries(self) -> dict[str, Format]:  # type: ignore[override]
        package = import_module(f"possnet.io.{self._folder}")
        modules = [import_module(f"{package.__name__}.{info.name}") for info in pkgutil.iter_modules(package.__path__)]
        entries = sorted((module.FORMAT for module in modules), key=_rank_format)
        return {entry.name: entry for entry in entries}


def _rank_format(entry: NetworkFormat | DataFormat) -> tuple[bool, ...]:
    """Formats of a lower rank are offered, and try the first bytes of a file, before others."""
    loses = isinstance(entry, NetworkFormat) and (entry.needs_transform or entry.decode is None)
    return entry.write is None, loses, entry.name not in {"json", "csv"}


NETWORK_FORMATS = FolderRegistry[NetworkFormat]("network format", "network_formats")
DATA_FORMATS = FolderRegistry[DataFormat]("data format", "data_formats")


def known_suffixes(formats: Registry[Format], ability: Ability = "read") -> tuple[str, ...]:
    """Suffixes of all formats, or of those that can be written.

    >>> known_suffixes(DATA_FORMATS)[:2], known_suffixes(NETWORK_FORMATS, "write")[:2]
    (('.csv', '.parquet'), ('.json', '.net'))
    """
    return tuple(s for entry in formats.values() if _is_able(entry, ability) for s in entry.suffixes)


def _is_able(entry: NetworkFormat | DataFormat, ability: Ability) -> bool:
    needed = "decode" if isinstance(entry, NetworkFormat) else "open"
    return getattr(entry, needed if ability == "read" else ability, None) not in {None, False}


def has_suffix(path: str | Path, formats: Registry[Format], ability: Ability = "read") -> bool:
    """Whether the name of a file ends like those of a format.

    >>> has_suffix("alarm.bif.gz", NETWORK_FORMATS), has_suffix("asia.wcnf", NETWORK_FORMATS)
    (True, False)
    """
    return _match_suffix(path, formats, ability) is not None


def choose_format(path: str | Path, formats: Registry[Format], ability: Ability = "read") -> Format:
    """The format that the suffix of a file's name stands for.

    >>> choose_format("alarm.bif.gz", NETWORK_FORMATS).label
    'BIF'
    >>> choose_format("alarm.txt", NETWORK_FORMATS, "write")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: alarm.txt: unknown suffix '.txt'; expected .json...
    """
    matching = _match_suffix(path, formats, ability)
    if matching is None:
        expected = join_suffixes(known_suffixes(formats, ability))
        if ability == "read" and any(entry.gzip for entry in formats.values()):
            expected += " (gzipped too: .gz)"
        raise InputError(f"{path}: unknown suffix {Path(path).suffix!r}; expected {expected}")
    return matching


def _match_suffix(path: str | Path, formats: Registry[Format], ability: Ability) -> Format | None:
    name = Path(path).name.lower()
    for entry in formats.values():
        plain = name.removesuffix(".gz") if entry.gzip and ability == "read" else name
        if plain.endswith(entry.suffixes) and _is_able(entry, ability):
            return entry
    return None


def join_suffixes(suffixes: Iterable[str]) -> str:
    """Suffixes in a sentence.

    >>> join_suffixes([".json", ".bif", ".uai"])
    '.json, .bif or .uai'
    """
    *first, last = suffixes
    return f"{', '.join(first)} or {last}" if first else last


def select_options(
    options: Mapping[str, object], entry: Format, formats: Registry[Format], owner: str
) -> dict[str, object]:
    """Those options that a format takes; one that no format takes is an `InputError`.

    >>> select_options({"layout": "lists"}, DATA_FORMATS["csv"], DATA_FORMATS, "write_data")
    {}
    >>> select_options({"seperator": "/"}, DATA_FORMATS["csv"], DATA_FORMATS, "read_data")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: read_data: option 'seperator'; expected ...; did you mean 'separator'?
    """
    known = [option for other in formats.values() for option in other.options]
    for name in options:
        require_known(name, known, f"{owner}: option")
    return {name: value for name, value in options.items() if name in entry.options}


def choose_writer(
    path: str | Path, formats: Registry[Format], options: Mapping[str, object], ability: Ability = "write"
) -> Callable[..., None]:
    """The writer for the suffix of a file's name, with the options that it takes."""
    entry = choose_format(path, formats, ability)
    write: Any = getattr(entry, ability)
    return partial(write, **select_options(options, entry, formats, str(path)))


def describe_formats() -> str:
    """The suffixes of all formats in two sentences, for the help of the command line.

    >>> print(describe_formats())
    Networks: from .json, .net, .uai,... (gzipped too: .gz) to .json... Data: from .csv... to .csv...
    """
    networks = [join_suffixes(known_suffixes(NETWORK_FORMATS, ability)) for ability in _READ_AND_WRITE]
    data = [join_suffixes(known_suffixes(DATA_FORMATS, ability)) for ability in _READ_AND_WRITE]
    return f"Networks: from {networks[0]} (gzipped too: .gz) to {networks[1]}. Data: from {data[0]} to {data[1]}."


def sniff_format(head: bytes) -> NetworkFormat | DataFormat | None:
    """The format that the first bytes of a file look like, or None.

    >>> entry = sniff_format(b"network alarm { }")
    >>> entry and entry.label
    'BIF'
    """
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    for formats in (NETWORK_FORMATS, DATA_FORMATS):  # data formats take longer to load
        for entry in formats.values():
            if entry.sniff(start):
                return entry
    return None
