"""Click types: how each kind of text that the command line takes is read, refused, and completed by the Tab key.

A text that cannot be read is an `InputError` (exit code 1); a word outside a closed list is a usage error (exit code 2).
A type sees the text alone: whether a network has a variable is checked by the function that takes the value.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

import possnet as pn
from possnet.cli.inputs import find_data, find_source, read_net
from possnet.errors import InputError, PossnetError, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

BINNING_EXAMPLE = "'temp: edges=36,37.5,38.5 error=.2'"
_BINNING_KEYS = ("edges", "bins", "error", "relative", "labels", "ends")


class Text(click.ParamType[Any]):
    """A text that is read into a value, and for which the Tab key proposes words.

    Parameters
    ----------
    name
        What stands for it in the help, in lower case.
    read
        From the text to its value; a ValueError is told with ``expected``, an `InputError` with its own message.
    expected
        What the text should have been.
    words
        What can be typed in this context.
    separator
        What stands between words, so that only the last one is completed; none if there is one word only.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[str], Any] = str,
        expected: str = "",
        words: Callable[[click.Context], Iterable[str]] = lambda _: (),
        separator: str = "",
    ) -> None:
        self.name, self.expected, self.separator = name, expected, separator
        self._read_text, self._list_words = read, words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value; the text as it is while the Tab key is pressed."""
        if not isinstance(value, str) or (ctx is not None and ctx.resilient_parsing):
            return value
        try:
            return self._read_text(value)
        except ValueError as error:
            reason = f": {error}" if isinstance(error, InputError) else f"; expected {self.expected}"
            raise InputError(f"{param.opts[0] if param else self.name} {value!r}{reason}") from None

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The words that begin like what was typed."""
        del param
        before, sign, begun = incomplete.rpartition(self.separator) if self.separator else ("", "", incomplete)
        return [CompletionItem(before + sign + word) for word in self._list_words(ctx) if word.startswith(begun)]


class File(Text):
    """A name of a file, a folder or a pattern, or ``-`` for standard input; errors name the file themselves."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """What the file holds; its name while the Tab key is pressed."""
        del param
        return value if ctx is not None and ctx.resilient_parsing else self._read_text(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Words, and files."""
        return [*super().shell_complete(ctx, param, incomplete), CompletionItem(incomplete, type="file")]


class Choice(Text):
    """One word of a closed list, with the nearest one proposed for any other.

    Parameters
    ----------
    listed
        The words, or where they are listed (see `list_names`).
    """

    def __init__(self, listed: Sequence[str] | str) -> None:
        super().__init__("choice", self._check_word, words=lambda _: list_names(listed))
        self.listed = listed

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """The words between bars."""
        del ctx
        words = "|".join(list_names(self.listed))
        return f"{{{words}}}" if isinstance(param, click.Argument) else f"[{words}]"

    def _check_word(self, text: str) -> str:
        words = list_names(self.listed)
        if text not in words:
            near = did_you_mean(text, words)
            raise click.BadParameter(f"{text!r} is not one of {listing(words, most=len(words))}{near}")
        return text


def list_names(listed: Sequence[str] | str) -> list[str]:
    """Words as they are given, or the names that a module lists, loaded now.

    >>> list_names(["masks", "lists"]), "affinity" in list_names("possnet.metrics:METRICS")
    (['masks', 'lists'], True)
    """
    if not isinstance(listed, str):
        return list(listed)
    module, _, name = listed.partition(":")
    return list(getattr(import_module(module), name))


def read_names(text: str) -> list[str]:
    """Names with commas between them.

    >>> read_names("fever, rash")
    ['fever', 'rash']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def name_type(listed: str) -> Text:
    """One name of an open list: the function that takes it checks it."""
    return Text("name", words=lambda _: list_names(listed))


def names_type(listed: str) -> Text:
    """Names of an open list, with commas between them: the function that takes them checks them."""
    return Text("name,name,...", read_names, words=lambda _: list_names(listed), separator=",")


def numbers_type(kind: Callable[[str], float], expected: str) -> Text:
    """Numbers with commas between them.

    >>> numbers_type(int, "whole numbers").convert("100, 1_000", None, None)
    [100, 1000]
    """
    return Text("n,n,...", lambda text: [kind(part) for part in text.replace("_", "").split(",")], expected)


def _find_argument(ctx: click.Context, *names: str) -> str | None:
    """An argument of the command line that is being typed; not parsed yet while an option lacks its value."""
    arguments = [param.name for param in ctx.command.params if isinstance(param, click.Argument)]
    typed = dict(zip(arguments, ctx.args, strict=False)) | {k: v for k, v in ctx.params.items() if v}
    return next((typed[name] for name in names if isinstance(typed.get(name), str) and typed[name] != "-"), None)


def _list_examples(_: click.Context) -> Iterable[str]:
    from possnet.io import example_names

    return example_names()


def _list_variables(ctx: click.Context) -> Sequence[pn.Variable]:
    net = _find_argument(ctx, "net")
    try:
        return () if net is None else read_net(net).variables
    except PossnetError:
        return ()


def _list_columns(ctx: click.Context) -> Sequence[str]:
    data = _find_argument(ctx, "data", "source")
    try:
        return () if data is None else find_data(data).list_columns()
    except PossnetError:
        return ()


class Finding(Text):
    """What is known of a variable, as ``fever=mild|high``: its name, and a cell as in CSV files.

    >>> FINDING.convert("fever = mild|high", None, None)
    ('fever', 'mild|high')
    """

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """``x=`` for every variable, then ``x=state``, then ``x=state|state``."""
        del param
        name, equals, states = incomplete.partition("=")
        words = [f"{variable.name}=" for variable in _list_variables(ctx)]
        if equals:
            typed = f"{name}={''.join(states.rpartition('|')[:2])}"
            words = [typed + state for v in _list_variables(ctx) if v.name == name for state in v.states]
        return [CompletionItem(word) for word in words if word.startswith(incomplete)]


def _read_finding(text: str) -> tuple[str, str]:
    name, equals, cell = (part.strip() for part in text.partition("="))
    if not equals:
        raise ValueError
    if not cell:
        raise InputError(f"it says nothing of {name!r}; expected a state, or ? if nothing is known")
    return name, cell


def parse_evidence(findings: Mapping[str, str], network: pn.Network) -> dict[str, set[str]]:
    """Evidence of findings (see `Finding`) in the domains of a network.

    >>> sorted(parse_evidence({"rash": "spots", "fever": "!none"}, pn.load_example("clinic"))["fever"])
    ['high', 'mild']
    """
    from possnet.io import CellSyntax

    evidence = {}
    for name, cell in findings.items():
        states, problem = CellSyntax().parse(cell).resolve_states(network.variable(name))
        if problem:
            raise InputError(f"--given '{name}={cell}': {problem if isinstance(problem, str) else problem()}")
        if states is not None:
            evidence[name] = set(states)
    return evidence


def _read_imprecision(text: str) -> tuple[str, float]:
    """Name and number; the name of all variables is empty."""
    name, _, number = text.rpartition("=")
    return name.strip(), float(number)


def _read_edge(text: str) -> list[tuple[str, str]]:
    """Every way to read an edge, as names may hold an arrow themselves."""
    parts = text.split("->")
    if len(parts) == 1:
        raise ValueError
    return [("->".join(parts[:k]).strip(), "->".join(parts[k:]).strip()) for k in range(1, len(parts))]


def _read_binning(text: str) -> tuple[str, pn.Binning]:
    """A column's name, and its binning."""
    name, colon, rest = text.partition(":")
    if not colon or not name.strip() or "=" in name:
        raise ValueError
    given = _read_keys(rest)
    edges, error, ends = given.get("edges"), given.get("error", "0"), given.get("ends", "open")
    if edges is None:
        raise InputError("no edges=; expected numbers, or quantile or width with bins=")
    if ends not in {"open", "closed"}:
        raise InputError(f"ends={ends}; expected open or closed")
    options: dict[str, Any] = {"relative": _read_share(given.get("relative", "0"), "relative")}
    if error.endswith("%"):
        options["relative"] += _read_share(error, "error")
    else:
        options["error"] = float(error) if _is_number(error) else error
    if "bins" in given:
        if not given["bins"].isdecimal():
            raise InputError(f"bins={given['bins']}; expected a whole number from 2 on")
        options["bins"] = int(given["bins"])
    if "labels" in given:
        options["labels"] = given["labels"].split(",")
    options["edges"] = edges if edges[:1].isalpha() else [_read_number(edge, "edges") for edge in edges.split(",")]
    return name.strip(), pn.Binning(**options, open_ended=ends == "open")


def _read_keys(text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for part in re.sub(r"\s*([=,])\s*", r"\1", text).split():
        key, equals, value = part.partition("=")
        if not equals or key not in _BINNING_KEYS:
            known = f"{listing(_BINNING_KEYS)}, each with = and a value{did_you_mean(key, _BINNING_KEYS)}"
            raise InputError(f"{part!r}; expected one of {known}")
        if key in given:
            raise InputError(f"{key!r} appears twice; expected once")
        given[key] = value
    return given


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_number(text: str, key: str) -> float:
    if not _is_number(text):
        raise InputError(f"{key}: {text!r} is not a number; expected numbers, with commas between them")
    return float(text)


def _read_share(text: str, key: str) -> float:
    return _read_number(text.removesuffix("%"), key) / (100 if text.endswith("%") else 1)


def _name_variables(ctx: click.Context) -> list[str]:
    return [variable.name for variable in _list_variables(ctx)]


NET_NAME = File("net", words=_list_examples)
NET = File("net", read_net, words=_list_examples)
OUTPUT = File("file")
DATA = File("data", find_data)
SOURCE = File("net|data", find_source, words=_list_examples)
VARIABLE = Text("variable", words=_name_variables)
COLUMN = Text("column", words=_list_columns)
COLUMNS = Text("a,b,...", read_names, words=_list_columns, separator=",")
EDGE = Text("a->b", _read_edge, "parent->child, such as 'fever->rash'", _list_columns, "->")
FINDING = Finding("x=a|b", _read_finding, "VARIABLE=STATE, for example 'fever=mild|high'")
IMPRECISION = Text(
    "theta",
    _read_imprecision,
    "a number from 0 to 1, or VARIABLE=NUMBER, for example fever=0.2",
    lambda ctx: [f"{name}=" for name in _name_variables(ctx)],
)
TOTAL = Text("s", lambda text: text if text == "data" else float(text), "a number, or data", lambda _: ("data",))
BINNING = Text(
    "spec",
    _read_binning,
    f"COLUMN: edges=..., for example {BINNING_EXAMPLE}",
    lambda ctx: [f"{column}: edges=" for column in _list_columns(ctx)],
)
