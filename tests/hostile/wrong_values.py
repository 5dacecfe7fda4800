"""Values that nobody should hand to a function, each made anew by its name."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

import possnet as pn


class OwnError(Exception):
    """What a hostile object raises itself: it may pass through possnet as it is."""


def _raise_own(*_: object, **__: object) -> NoReturn:
    raise OwnError


def _hostile(**methods: Callable[..., Any]) -> object:
    """An object whose special methods raise, or lie."""
    return type("Hostile", (), {f"__{name}__": method for name, method in methods.items()})()


class _TextWithoutHash(str):
    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]


class _MappingThatRaises(Mapping[str, Any]):
    def __getitem__(self, name: str) -> NoReturn:
        raise OwnError

    def __iter__(self) -> Iterator[str]:
        return iter(("fever", "rash"))

    def __len__(self) -> int:
        return 5


def _recursive_list() -> list[Any]:
    values: list[Any] = []
    values.append(values)
    return values


def _recursive_dict() -> dict[str, Any]:
    values: dict[str, Any] = {}
    values["fever"] = values
    return values


def _nested_list(depth: int = 2000) -> list[Any]:
    values: list[Any] = []
    for _ in range(depth):
        values = [values]
    return values


def _frame(kind: str) -> Any:
    columns = {"a": [1, 2], "b": ["x", None]}
    if kind == "arrow":
        import pyarrow as pa

        return pa.table(columns)
    import pandas as pd
    import polars as pl

    return pd.DataFrame(columns) if kind == "pandas" else pl.DataFrame(columns)


_SCALARS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "0": lambda: 0,
    "-1": lambda: -1,
    "1": lambda: 1,
    "10**30": lambda: 10**30,
    "10**5000": lambda: 10**5000,
    "-10**5000": lambda: -(10**5000),
    "0.5": lambda: 0.5,
    "-0.5": lambda: -0.5,
    "1e300": lambda: 1e300,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "1j": lambda: 1j,
    "Decimal": lambda: Decimal("sNaN"),
    "numpy bool": lambda: np.bool_(1),
    "numpy integer": lambda: np.uint8(3),
    "numpy number": lambda: np.float32(math.nan),
    "numpy date": lambda: np.datetime64("NaT"),
    "Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
}
_TEXTS: dict[str, Callable[[], Any]] = {
    "text": lambda: "nothing of that name",
    "empty text": lambda: "",
    "blank": lambda: " ",
    "bytes": lambda: b"fever",
    "empty bytes": lambda: b"",
    "memory": lambda: memoryview(b"abc"),
    "surrogate": lambda: "fever\ud800",
    "NUL": lambda: "fever\x00",
    "escapes": lambda: "\x1b[31mred\x07\r\n\u202eodd\x9b",
    "markup": lambda: "[bold]</script><b>&amp;%s{0}",
    "a million characters": lambda: "a" * 10**6,
    "a million brackets": lambda: "[" * 10**6,
    "numpy text": lambda: np.str_("nothing"),
    "text without hash": lambda: _TextWithoutHash("fever"),
    "path": lambda: Path("nothing/of/that/name.json"),
    "path with NUL": lambda: Path("a\x00.json"),
}
_SEVERAL: dict[str, Callable[[], Any]] = {
    "empty list": list,
    "empty tuple": tuple,
    "empty dict": dict,
    "empty set": set,
    "numbers": lambda: [1, 2, 3],
    "Nones": lambda: [None, None],
    "nans": lambda: [math.nan, math.inf],
    "texts": lambda: ["no", "names", "of", "these"],
    "one text twice": lambda: ("fever", "fever"),
    "texts and numbers": lambda: ["fever", 1],
    "vast numbers": lambda: [10**5000],
    "long texts": lambda: ["b" * 10**6],
    "many texts": lambda: [f"name {k}" for k in range(10**5)],
    "pairs": lambda: [("fever", "rash"), ("rash", "fever")],
    "triples": lambda: [("a", "b", "c")],
    "ragged lists": lambda: [[1], [1, 2], "x", None],
    "recursive list": _recursive_list,
    "nested list": _nested_list,
    "recursive dict": _recursive_dict,
    "dict of numbers": lambda: {1: 2},
    "dict of None": lambda: {None: None},
    "fever: None": lambda: {"fever": None},
    "fever: object": lambda: {"fever": object()},
    "fever: no state": lambda: {"fever": "no state"},
    "fever: empty": lambda: {"fever": set()},
    "fever: numbers": lambda: {"fever": [1, math.nan]},
    "fever: dict": lambda: {"fever": {"none": "x", "high": -3}},
    "fever: vast number": lambda: {"fever": 10**5000},
    "unknown name": lambda: {"nothing": "none"},
    "names of escapes": lambda: {"\x1b[31m\n": "\x1b]0;title\x07"},
    "set of numbers": lambda: {1, 2},
    "range": lambda: range(3),
    "slice": lambda: slice("a", None, 0.5),
    "generator": lambda: (k for k in ("a", "b")),
    "generator of nothing": lambda: iter(()),
    "generator that raises": lambda: (_raise_own() for _ in range(1)),
    "items": {"fever": "high"}.items,
}
_ARRAYS: dict[str, Callable[[], Any]] = {
    "whole numbers": lambda: np.arange(3),
    "huge degrees": lambda: np.full(3, 1e308),
    "0-d array": lambda: np.array(1.0),
    "empty array": lambda: np.zeros((0, 3)),
    "array of nan": lambda: np.full((2, 2), math.nan),
    "array of objects": lambda: np.array([None, "x", object()], dtype=object),
    "array of texts": lambda: np.array(["fever", "x"]),
    "array of bytes": lambda: np.array([b"x", b"y"]),
    "array of dates": lambda: np.array(["2020-01-01", "NaT"], dtype="datetime64[s]"),
    "complex array": lambda: np.array([1j]),
    "structured array": lambda: np.zeros(2, dtype=[("a", "i4"), ("b", "f8")]),
    "4-d array": lambda: np.ones((2, 2, 2, 2)),
    "masked array": lambda: np.ma.array([1, 2, 3], mask=[True, True, True]),
    "array of booleans": lambda: np.array([True, False]),
    "array of large indices": lambda: np.array([2**62, -(2**62)]),
    "frame of pandas": lambda: _frame("pandas"),
    "frame of polars": lambda: _frame("polars"),
    "table of Arrow": lambda: _frame("arrow"),
}
_OBJECTS: dict[str, Callable[[], Any]] = {
    "object": object,
    "class": lambda: int,
    "class of possnet": lambda: pn.Dag,
    "function": lambda: len,
    "function that raises": lambda: _raise_own,
    "module": lambda: re,
    "namespace": lambda: SimpleNamespace(name=3, variables=None, rows="x", nodes=7, states=None),
    "len raises": lambda: _hostile(len=_raise_own, iter=lambda _: iter(("a", "b")), getitem=lambda *_: "a"),
    "len lies": lambda: _hostile(len=lambda _: 10**6, iter=lambda _: iter(()), getitem=lambda *_: "a"),
    "negative len": lambda: _hostile(len=lambda _: -1, iter=lambda _: iter(("a",))),
    "iter raises": lambda: _hostile(iter=_raise_own, len=lambda _: 2),
    "iter lies": lambda: _hostile(iter=lambda _: 7, len=lambda _: 2),
    "eq raises": lambda: _hostile(eq=_raise_own, hash=lambda _: 1),
    "eq lies": lambda: _hostile(eq=lambda *_: True, hash=lambda _: hash("fever")),
    "hash raises": lambda: _hostile(hash=_raise_own),
    "repr raises": lambda: _hostile(repr=_raise_own, str=_raise_own, format=_raise_own),
    "repr lies": lambda: _hostile(repr=lambda _: "\x1b[2J" * 10**5, str=lambda _: "\n" * 10**5),
    "bool raises": lambda: _hostile(bool=_raise_own),
    "array raises": lambda: _hostile(array=_raise_own),
    "array lies": lambda: _hostile(array=lambda *_, **__: [1, 2]),
    "attributes raise": lambda: _hostile(getattr=_raise_own),
    "float lies": lambda: _hostile(float=lambda _: 0.5, int=lambda _: 1, index=lambda _: 10**30),
    "fspath lies": lambda: _hostile(fspath=lambda _: b"\xff\x00"),
    "mapping raises": _MappingThatRaises,
    "another network": lambda: pn.load_example("pump"),
    "another dag": lambda: pn.Dag({"x": ()}),
    "another variable": lambda: pn.Variable("x", ("y", "z")),
    "another data set": lambda: pn.Dataset.from_table({"x": ["y", "z"]}),
    "empty data set": lambda: pn.Dataset.from_rows((pn.Variable("fever", ("none", "high")),), []),
    "another possibility": lambda: pn.Possibility(pn.Variable("x", ("y", "z")), [1, 0.5]),
    "generator of numpy": lambda: np.random.default_rng(1),
}

WRONG_VALUES: dict[str, Callable[[], Any]] = _SCALARS | _TEXTS | _SEVERAL | _ARRAYS | _OBJECTS
