"""How the cells of a table are written: one way for all columns, or one for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from possnet.cells.cell_syntax import CellSyntax, check_words
from possnet.errors import InputError, among, listing
from possnet.variables import CellWriting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from possnet.cells.cell_syntax import CellReading
    from possnet.variables import Variable
_OTHERS = "*"
_USUAL = CellSyntax()


@dataclass(frozen=True, slots=True)
class CellOptions:
    r"""How the cells of a table are read.

    Attributes
    ----------
    separator
        What stands between the states of a cell: a text, or a mapping from columns to texts; ``|`` and ``;`` by default.
    cells
        How texts are read: ``auto``, ``plain``, ``sets``, ``range`` or ``degrees``, or a mapping from columns to these. In
        both mappings
        ``*`` stands for all columns that are not named.
    unknown_words
        Words that mean unknown, such as ``NA``.
    escape
        What takes the special meaning from the next character.

    Examples
    --------
    >>> options = CellOptions(separator={"job": ", "}, cells={"age": "range"}, unknown_words=("NA",))
    >>> options.column_syntax("job").separator, options.column_syntax("age").reading
    (', ', 'range')
    >>> options.require_columns(["job", "agee"], "t.csv")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: t.csv: cells for 'age', which is no column (job, agee); did you mean 'agee'?
    """

    separator: str | Mapping[str, str] | None = None
    cells: CellReading | Mapping[str, CellReading] = "auto"
    unknown_words: Sequence[str] = ()
    escape: str = "\\"
    _syntaxes: dict[str, CellSyntax] = field(default_factory=dict, init=False, repr=False, compare=False)
    _is_same_for_all: bool = field(default=False, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "unknown_words", check_words(self.unknown_words))
        is_same = not isinstance(self.separator, Mapping) and not isinstance(self.cells, Mapping)
        object.__setattr__(self, "_is_same_for_all", is_same)
        signs: tuple[object, object] = (self.escape, self.cells)  # of any type, also of one that does not compare
        is_text = all(isinstance(sign, str) for sign in signs)
        if self.separator is None and not self.unknown_words and is_text and signs == (_USUAL.escape, _USUAL.reading):
            self._syntaxes[""] = _USUAL
            return
        for name in ("", *_mapped_columns(self.separator), *_mapped_columns(self.cells)):
            self.column_syntax(name)

    def column_syntax(self, name: str) -> CellSyntax:
        """How the cells of a column are written."""
        if self._is_same_for_all:
            name = ""
        if name not in self._syntaxes:
            try:
                self._syntaxes[name] = CellSyntax(
                    cast("str | None", _of_column(self.separator, name, None)),
                    self.escape,
                    cast("CellReading", _of_column(self.cells, name, "auto")),
                    tuple(self.unknown_words),
                )
            except InputError as error:
                place = f"column {name!r}: " if name else ""
                raise InputError(f"{place}{error}") from None
        return self._syntaxes[name]

    def describe_columns(self, names: Sequence[str]) -> str:
        """How columns are read, where that was asked for, in words; empty if nothing was.

        >>> CellOptions(",", {"age": "range"}, ("NA",)).describe_columns(["age", "job", "sex"])
        "age: range at ','; job, sex: at ','; unknown: NA"
        """
        return describe_syntaxes({name: self.column_syntax(name) for name in names}, self.unknown_words)

    def recall_syntax(self, variable: Variable) -> CellSyntax | None:
        """How a variable remembers that its cells are written, as far as no option says otherwise; None if that is nothing.

        >>> from possnet.variables import Variable
        >>> age = Variable("age", ("17", "18"), ordered=True, cells=CellWriting("range", ","))
        >>> CellOptions().recall_syntax(age).reading, CellOptions(cells={"age": "plain"}).recall_syntax(age).reading
        ('range', 'plain')
        >>> CellOptions(",", "range").recall_syntax(age)
        """
        written = variable.cells
        if written is None:
            return None
        asked = self.column_syntax(variable.name)
        named = isinstance(self.cells, Mapping) and bool({variable.name, _OTHERS} & set(self.cells))
        recalled = CellSyntax(
            asked.separator if asked.separator is not None else written.separator,
            asked.escape if asked.escape != CellWriting().escape else written.escape,
            asked.reading if named or asked.reading != "auto" else cast("CellReading", written.reading),
            tuple(dict.fromkeys((*asked.unknown_words, *written.unknown_words))),
        )
        return None if recalled == asked else recalled

    def remember_writing(self, variable: Variable) -> Variable:
        """The variable, which remembers how its cells are written where that is not what readers take for granted."""
        syntax = self.recall_syntax(variable) or self.column_syntax(variable.name)
        if syntax == _USUAL:
            return variable if variable.cells is None else replace(variable, cells=None)
        return replace(
            variable, cells=CellWriting(syntax.reading, syntax.separator, syntax.unknown_words, syntax.escape)
        )

    def require_columns(self, names: Iterable[str], owner: str) -> None:
        """Raise an `InputError` if an option is for a column that is not there."""
        known = list(names)
        for option in ("separator", "cells"):
            for name in _mapped_columns(getattr(self, option)):
                if name not in {*known, _OTHERS}:
                    raise InputError(f"{owner}: {option} for {name!r}, which is no column{among(name, known)}")


def _mapped_columns(option: object) -> list[str]:
    return list(option) if isinstance(option, Mapping) else []


def _of_column(option: object, name: str, default: Any) -> object:
    return option.get(name, option.get(_OTHERS, default)) if isinstance(option, Mapping) else option


def describe_syntaxes(syntaxes: Mapping[str, CellSyntax], unknown_words: Sequence[str]) -> str:
    """How columns are read, those that are read alike together, and which words mean unknown; empty if that is nothing."""
    ways: dict[str, list[str]] = {}
    for name, syntax in syntaxes.items():
        reading = "" if syntax.reading == "auto" else syntax.reading
        separator = "" if syntax.separator is None or reading == "plain" else f"at {syntax.separator!r}"
        ways.setdefault(f"{reading} {separator}".strip(), []).append(name)
    told = [f"{listing(columns)}: {way}" for way, columns in ways.items() if way]
    told += [f"unknown: {listing(unknown_words)}"] if unknown_words else []
    return "; ".join(told)
