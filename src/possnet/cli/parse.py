"""Click types: how each kind of text that the command line takes is read, refused, and completed by the Tab key.

A text that cannot be read is an `InputError` (exit code 1); a word outside a closed list is a usage error (exit code 2).
A type sees the text alone: whether a network has a variable is checked by the function that takes the value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from math import inf
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

import possnet as pn
from possnet.cli.inputs import find_data, find_source, read_net
from possnet.errors import InputError, PossnetError, did_you_mean, escape_controls, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_BOUND = re.compile(r"([^=]*?)([<>]=?|[≤≥])([^=]*[^=\s]\s*)")
BINNING_EXAMPLE = "'temp: edges=36,37.5,38.5 error=.2'"


@dataclass(eq=False)
class Text(click.ParamType[Any]):
    """A text that is read into a value, and for which the Tab key proposes words.

    Attributes
    ----------
    name
        What stands for it in the help, in lower case.
    read
        From the text to its value; a ValueError is reported with ``expected``, an `InputError` with its own message.
    expected
        What the text should have been.
    words
        What can be typed in this context.
    separator
        What stands between words, so that only the last one is completed; none if there is one word only.
    """

    name: str
    read: Callable[[str], Any] = str
    expected: str = ""
    words: Callable[[click.Context], Iterable[str]] = lambda _: ()
    separator: str = ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value; the text as it is while the Tab key is pressed."""
        if not isinstance(value, str) or (ctx is not None and ctx.resilient_parsing):
            return value
        try:
            return self.read(value)
        except ValueError as error:
            reason = f": {error}" if isinstance(error, InputError) else f"; expected {self.expected}"
            raise InputError(f"{param.opts[0] if param else self.name} {value!r}{reason}") from None

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The words that begin like what was typed."""
        del param
        before, sign, begun = incomplete.rpartition(self.separator) if self.separator else ("", "", incomplete)
        return [CompletionItem(before + sign + word) for word in self.words(ctx) if _can_be_typed(word, begun)]


class File(Text):
    """A name of a file, a folder or a pattern, or ``-`` for standard input; errors name the file themselves."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """What the file holds; its name while the Tab key is pressed."""
        del param
        return value if ctx is not None and ctx.resilient_parsing else self.read(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Words, and files."""
        return [*super().shell_complete(ctx, param, incomplete), CompletionItem(incomplete, type="file")]


class Choice(Text):
    """One word of a closed list, with the nearest one proposed for any other.

    Parameters
    ----------
    listed
        The words, or the registry that lists them (see `load_entries`).
    """

    def __init__(self, listed: Iterable[str]) -> None:
        super().__init__("choice", self._check_word, words=lambda _: load_entries(listed))
        self.listed = listed

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """The words between bars."""
        del ctx
        if isinstance(self.listed, str):
            return "NAME"
        words = "|".join(self.listed)
        return f"{{{words}}}" if isinstance(param, click.Argument) else f"[{words}]"

    def _check_word(self, text: str) -> str:
        words = list(load_entries(self.listed))
        if text not in words:
            near = did_you_mean(text, words)
            raise click.BadParameter(f"{text!r} is not one of {listing(words, most=len(words))}{near}")
        return text


def name_type(registry: str, *, many: bool = False) -> Text:
    """A name of a registry, or several with commas between them: the function that takes them checks them."""
    read: Callable[[str], Any] = read_names if many else str
    return Text("name", read, words=lambda _: load_entries(registry), separator="," if many else "")


def load_entries(listed: Iterable[str]) -> Iterable[str]:
    """Words as they are given, or a registry such as ``possnet.metrics:METRICS``, loaded now.

    >>> load_entries(("masks", "lists")), "affinity" in load_entries("possnet.metrics:METRICS")
    (('masks', 'lists'), True)
    """
    if not isinstance(listed, str):
        return listed
    module, _, name = listed.partition(":")
    entries: Iterable[str] = getattr(import_module(module), name)
    return entries


def read_names(text: str) -> list[str]:
    """Names with commas between them.

    >>> read_names("fever, rash")
    ['fever', 'rash']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


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
    """What is known of a variable, as ``fever=mild|high``: its name, and a cell as in CSV files; or as ``age>40``.

    >>> FINDING.convert("fever = mild|high", None, None), FINDING.convert("age >= 40", None, None)
    (('fever', 'mild|high'), ('age', '>=40'))
    """

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """``x=`` for every variable, then ``x=state``, then ``x=state|state``."""
        del param
        name, equals, states = incomplete.partition("=")
        words = [f"{variable.name}=" for variable in _list_variables(ctx)]
        if equals:
            typed = f"{name}={''.join(states.rpartition('|')[:2])}"
            words = [typed + state for v in _list_variables(ctx) if v.name == name for state in v.states]
        return [CompletionItem(word) for word in words if _can_be_typed(word, incomplete)]


def _can_be_typed(word: str, begun: str) -> bool:
    """Whether a word goes on from what was typed, and is safe to hand to the shell."""
    return word.startswith(begun) and escape_controls(word) == word


def _read_finding(text: str) -> tuple[str, str]:
    name, equals, cell = (part.strip() for part in text.partition("="))
    bound = _BOUND.fullmatch(text)
    if bound and (not equals or name.endswith(("<", ">"))):
        return bound[1].strip(), bound[2] + bound[3].strip()
    if not equals:
        raise ValueError
    if not cell:
        raise InputError(f"it says nothing of {name!r}; expected a state, or ? if nothing is known")
    return name, cell


def write_finding(name: str, cell: str) -> str:
    """A finding as it is written: a bound has a sign of its own.

    >>> write_finding("fever", "mild"), write_finding("age", ">40")
    ('fever=mild', 'age>40')
    """
    return f"{name}{cell}" if cell[:1] in {"<", ">", "≤", "≥"} else f"{name}={cell}"


def parse_evidence(findings: Mapping[str, str], network: pn.Network) -> dict[str, set[str]]:
    """Evidence of findings (see `Finding`) in the domains of a network.

    >>> sorted(parse_evidence({"rash": "spots", "fever": "!none"}, pn.load_example("clinic"))["fever"])
    ['high', 'mild']
    """
    from possnet.cells import CellSyntax
    from possnet.measurements import bin_texts

    evidence = {}
    for name, cell in findings.items():
        variable = network.variable(name)
        states, problem = CellSyntax().parse(cell).resolve_states(variable)
        if variable.bins is not None:
            (numbers,), problems = bin_texts([cell], variable)
            if problem or not problems:
                states, problem = numbers, problems.get(0, "")
        if problem:
            raise InputError(
                f"--given '{write_finding(name, cell)}': {problem if isinstance(problem, str) else problem()}"
            )
        if states is not None:
            evidence[name] = set(states)
    return evidence


def read_column_option(text: str) -> tuple[str, str]:
    """An option for one column, ``age=range``, or for all of them, which are ``*``.

    >>> read_column_option("age=range"), read_column_option(", "), read_column_option("=")
    (('age', 'range'), ('*', ', '), ('*', '='))
    """
    column, _, value = text.partition("=")
    return (column, value) if column and value else ("*", text)


def read_column_words(text: str) -> list[tuple[str, str]]:
    """Words for columns, ``age=range,job=sets``, or one word for all of them.

    >>> read_column_words("age=range, job=sets"), read_column_words("plain")
    ([('age', 'range'), ('job', 'sets')], [('*', 'plain')])
    """
    return [read_column_option(part.strip()) for part in re.split(r",(?=[^,=]+=)", text)]


def _read_truth(text: str) -> tuple[str, str]:
    """A variable, and the column that holds its truth."""
    name, equals, column = (part.strip() for part in text.partition("="))
    if not (equals and name and column):
        raise ValueError
    return name, column


def read_certainty_option(text: str) -> tuple[str, tuple[str, float]]:
    """A column of cells, the column of their certainties, and the largest certainty.

    >>> read_certainty_option("label=sure/7"), read_certainty_option("label=sure")
    (('label', ('sure', 7.0)), ('label', ('sure', 1.0)))
    """
    name, sign, beside = text.partition("=")
    column, slash, number = beside.rpartition("/")
    if not sign or not name or not beside:
        raise ValueError
    return name, (column, float(number)) if slash else (beside, 1.0)


def _read_cost(text: str) -> tuple[str, float]:
    """Name of a variable and a number."""
    name, sign, number = text.rpartition("=")
    if not sign or not name.strip():
        raise ValueError
    return name.strip(), float(number)


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


def _read_edges(text: str) -> str | list[str] | list[float]:
    if text[:1].isalpha():
        return text
    edges = text.split(",")
    return edges if all(re.match(r"\d{4}-\d\d-\d\d", edge) for edge in edges) else [float(edge) for edge in edges]


def _read_error(text: str) -> str | float:
    """A number, or the column that holds the errors."""
    try:
        return float(text)
    except ValueError:
        return text


def _read_bin_error(text: str) -> dict[str, float]:
    key, read = ("relative", _read_share) if text.endswith("%") else ("error", float)
    if not 0 <= read(text) < inf:
        raise ValueError
    return {key: read(text)}


def _read_share(text: str) -> float:
    return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)


def _read_ends(text: str) -> bool:
    return bool(("closed", "open").index(text))


_BINNING_KEYS: dict[str, tuple[str, Callable[[str], Any], str]] = {
    "edges": ("edges", _read_edges, "numbers or dates, with commas between them"),
    "bins": ("bins", int, "a whole number from 2 on"),
    "error": ("error", _read_error, "a number or a column"),
    "relative": ("relative", _read_share, "a number"),
    "labels": ("labels", lambda text: text.split(","), "labels"),
    "ends": ("open_ended", _read_ends, "open or closed"),
    "unit": ("unit", str, "a unit"),
    "target": ("target", str, "a column"),
}
"""Key -> the option of `possnet.Binning` that it stands for, how it is read, and what is expected."""


def _read_binning(text: str) -> tuple[str, pn.Binning]:
    """A column's name, or several with commas between them, and its binning."""
    name, _, rest = text.partition(":")
    if not name.strip() or "=" in name:
        raise ValueError
    seen: set[str] = set()
    options: dict[str, Any] = {}
    for part in re.sub(r"\s*([=,])\s*", r"\1", rest).split():
        key, equals, value = part.partition("=")
        if not equals or key not in _BINNING_KEYS:
            known = f"{listing(_BINNING_KEYS)}, each with = and a value{did_you_mean(key, _BINNING_KEYS)}"
            raise InputError(f"{part!r}; expected one of {known}")
        option, read, expected = _BINNING_KEYS["relative" if key == "error" and value.endswith("%") else key]
        if key in seen:
            raise InputError(f"{key!r} appears twice; expected once")
        seen.add(key)
        try:  # relative errors of both keys add up
            options[option] = options.get(option, 0.0) + read(value) if option == "relative" else read(value)
        except ValueError:
            raise InputError(f"{part}; expected {expected}") from None
    if "target" in options:
        options.setdefault("edges", "mdl")
    return name.strip(), pn.Binning(**options)


def _name_variables(ctx: click.Context) -> list[str]:
    return [variable.name for variable in _list_variables(ctx)]


NET_NAME = File("net", words=_list_examples)
NET = File("net", read_net, words=_list_examples)
OUTPUT = File("file")
DATA = File("data", find_data)
SOURCE = File("net|data", find_source, words=_list_examples)
VARIABLE = Text("variable", words=_name_variables)
VARIABLES = Text("a,b,...", read_names, words=_name_variables, separator=",")
COLUMN = Text("column", words=_list_columns)
COLUMNS = Text("a,b,...", read_names, words=_list_columns, separator=",")
EDGE = Text("a->b", _read_edge, "parent->child, such as 'fever->rash'", _list_columns, "->")
FINDING = Finding("x=a|b", _read_finding, "VARIABLE=STATE, for example 'fever=mild|high', or 'age>40'")
TRUTH = Text(
    "x=column",
    _read_truth,
    "VARIABLE=COLUMN, such as 'label=label_true' or '*=*_true'",
    lambda ctx: [f"{column}=" for column in _list_columns(ctx)],
)
COST = Text(
    "x=number",
    _read_cost,
    "VARIABLE=NUMBER, for example rash=2",
    lambda ctx: [f"{name}=" for name in _name_variables(ctx)],
)
NUMBERS = numbers_type(float, "numbers with commas between them, such as .5,.1")
IMPRECISION = Text(
    "number",
    _read_imprecision,
    "a number from 0 to 1, or VARIABLE=NUMBER, for example fever=0.2",
    lambda ctx: [f"{name}=" for name in _name_variables(ctx)],
)
SEPARATOR = Text("text", read_column_option, words=lambda ctx: [f"{column}=" for column in _list_columns(ctx)])
READING = Text(
    "word",
    read_column_words,
    words=lambda ctx: [
        f"{column}={word}" for column in _list_columns(ctx) for word in ("range", "sets", "plain", "degrees")
    ],
)
CERTAINTY = Text(
    "column=column/n",
    read_certainty_option,
    "COLUMN=COLUMN, or COLUMN=COLUMN/NUMBER, for example label=sure/7",
    lambda ctx: [f"{column}=" for column in _list_columns(ctx)],
)
TOTAL = Text("s", lambda text: text if text == "data" else float(text), "a number, or data", lambda _: ("data",))
BINNING = Text(
    "spec",
    _read_binning,
    f"COLUMN, COLUMN,COLUMN or *, alone or with : edges=..., for example {BINNING_EXAMPLE}",
    lambda ctx: ["*", *_list_columns(ctx)],
)
BIN_ERROR = Text("error", _read_bin_error, "a number from 0 on, or a share such as 5%")
