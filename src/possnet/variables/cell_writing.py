"""How the cells of a column were written when its variable was made: knowledge that readers of further tables use."""

from __future__ import annotations

from dataclasses import dataclass

from possnet.errors import InputError, describe_value


@dataclass(frozen=True, slots=True)
class CellWriting:
    r"""How the cells of a column are written, where that is not what readers take for granted.

    Attributes
    ----------
    reading
        ``auto``, ``plain``, ``sets``, ``range`` or ``degrees``; see `possnet.cells.CellReading`.
    separator
        What stands between states; None for ``|`` and ``;``.
    unknown_words
        Texts that mean unknown.
    escape
        What takes the special meaning from the next character.

    Examples
    --------
    >>> CellWriting("range", ",")
    CellWriting(reading='range', separator=',')
    """

    reading: str = "auto"
    separator: str | None = None
    unknown_words: tuple[str, ...] = ()
    escape: str = "\\"

    def __post_init__(self) -> None:
        texts = (self.reading, self.escape, *((self.separator,) if self.separator is not None else ()))
        if not all(isinstance(text, str) for text in (*texts, *self.unknown_words)):
            raise InputError(f"cells {describe_value(self)}; expected texts")

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in self.to_fields().items()]
        return f"CellWriting({', '.join(given)})"

    def to_fields(self) -> dict[str, object]:
        """The attributes that are not what readers take for granted.

        >>> CellWriting(unknown_words=("NA",)).to_fields()
        {'unknown_words': ['NA']}
        """
        usual = CellWriting.__dataclass_fields__
        named = {name: getattr(self, name) for name in usual}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in named.items()
            if value != usual[name].default
        }
