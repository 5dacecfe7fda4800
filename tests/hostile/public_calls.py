"""Every public callable with arguments that it takes: found from ``__all__``, so that none can be forgotten.

The arguments of a call are looked up by the callable's name and the parameter's, then by the parameter's alone; an
instance for a method, and the fields of a record, come from a call that makes such a value. What has no entry here, and
needs one, is listed by `list_lacking`, and a test fails.
"""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import possnet as pn
import possnet.classifier
import possnet.explorer
from possnet.registries import Registry
from tests.hostile.good_arguments import ARGUMENTS, INSTANCES, make_value

UNTESTED: Mapping[str, str] = {
    "Conjunction": "a protocol",
    "to_networkx": "needs networkx, which nothing else does",
    "classifier.SetPipeline": "scikit-learn's own constructor",
    "classifier.pipeline": "takes steps, which scikit-learn checks",
    "plots.Columns": "a name for two words",
    "PossnetWarning": "made by warn_user",
    "PossnetError": "takes the words of the message",
    "InputError": "takes the words of the message",
    "ImpossibleEvidence": "takes the words of the message",
    "TooLarge": "takes the words of the message",
    "plots.NothingToShow": "takes the words of the message",
}
"""Public names that are not called with wrong arguments, and why."""

MADE_WITHIN = {"PossibilityBounds"}
"""Results whose constructor takes arrays known to be right: `Inference.bounds` makes them."""

TRUSTED = {"unchecked"}
"""Constructors for values known to be right, which say that they check nothing."""

_SPECIAL = {"__getitem__", "__add__", "__contains__", "__eq__"}


@dataclass(frozen=True)
class PublicCall:
    """A callable, the parameters that it has, and good values for those that it needs."""

    name: str
    parameters: tuple[str, ...]
    prepare: Callable[[], tuple[Callable[..., Any], dict[str, Any]]]


def list_public() -> Iterator[tuple[str, Any]]:
    """Every public name and its value: possnet, its plots, the classifier, the explorer and the registries."""
    for name in pn.__all__:
        yield name, getattr(pn, name)
    for name in sorted(set(vars(pn.plots)["__all__"]) - set(pn.__all__)):
        yield f"plots.{name}", getattr(pn.plots, name)
    for name in possnet.classifier.__all__:
        yield f"classifier.{name}", getattr(possnet.classifier, name)
    yield "explorer.explore", possnet.explorer.explore
    yield "registries.Registry", Registry


def list_callables() -> Iterator[tuple[str, Any]]:
    """Every public function, constructor and method by its name."""
    for name, value in list_public():
        if name in UNTESTED or not callable(value):
            continue
        if name not in MADE_WITHIN:
            yield name, value
        if inspect.isclass(value):
            for member in dir(value):
                raw = inspect.getattr_static(value, member)
                own = getattr(raw, "__module__", None) or getattr(getattr(raw, "__func__", None), "__module__", "")
                public = not member.startswith("_") or member in _SPECIAL
                public = public and member not in TRUSTED and (own or "").startswith("possnet")
                method = callable(raw) or isinstance(raw, classmethod | staticmethod)
                if public and method and not inspect.isclass(raw):
                    yield f"{name}.{member}", raw


def _parameters(name: str, value: Any) -> list[inspect.Parameter]:
    function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    if inspect.isclass(function) and "__init__" not in dir(function):
        return []
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        return []
    if isinstance(value, classmethod) or (
        "." in name and not inspect.isclass(value) and name.split(".")[-2][0].isupper()
    ):
        parameters = parameters[1:]
    return [parameter for parameter in parameters if parameter.name not in {"args", "kwargs"}]


@cache
def list_calls() -> tuple[PublicCall, ...]:
    """Every public call that has at least one argument."""
    calls = []
    for name, value in list_callables():
        given = _parameters(name, value)
        names = [p.name for p in given if p.kind is not p.VAR_KEYWORD]
        if any(p.kind is p.VAR_KEYWORD for p in given):
            names += sorted(set(ARGUMENTS.get(name, {})) - set(names))
        if names:
            needed = [p.name for p in given if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
            calls.append(PublicCall(name, tuple(names), _preparation(name, value, needed)))
    return tuple(calls)


def _preparation(name: str, value: Any, needed: list[str]) -> Callable[[], tuple[Callable[..., Any], dict[str, Any]]]:
    def prepare() -> tuple[Callable[..., Any], dict[str, Any]]:
        owner, _, member = name.rpartition(".")
        method = (owner and owner[0].isupper()) or owner.partition(".")[2]
        if inspect.isclass(value):
            return value, _constructor_arguments(name, value, needed)
        if isinstance(value, classmethod | staticmethod):
            cls = getattr(pn, owner)
            return getattr(cls, member), {p: make_value(name, p) for p in needed}
        if method:
            return getattr(INSTANCES[owner](), member), {p: make_value(name, p) for p in needed}
        return value, {p: make_value(name, p) for p in needed}

    return prepare


def _constructor_arguments(name: str, cls: Any, needed: list[str]) -> dict[str, Any]:
    fields = {f.name for f in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    if name not in ARGUMENTS and name in INSTANCES and fields.issuperset(needed):
        instance = INSTANCES[name]()
        return {field: getattr(instance, field) for field in needed}
    return {p: make_value(name, p) for p in needed}


def list_lacking() -> list[str]:
    """The public calls for which there are no good arguments."""
    lacking = []
    for call in list_calls():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", pn.PossnetWarning)
                call.prepare()
        except KeyError as error:
            lacking.append(f"{call.name}: {error}")
    return lacking
