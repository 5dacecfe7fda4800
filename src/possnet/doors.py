"""Types at every door: what is handed to a public function is checked once, against the function's own annotations.

`check_arguments` stands on public functions, methods and constructors, `check_fields` on public dataclasses. Both read
the annotations, which mypy holds to be true inside possnet, and refuse with an `InputError` whatever does not fit them:
``dag: Dag`` takes a `Dag` and nothing else, ``targets: Sequence[str]`` several texts but no single one. An annotation is
read when the function is first called, and a value that fits costs about a microsecond an argument.

- A class is known by its name and its package, so that a door needs no import of what it checks.
- Whole numbers are below 2**63 (seeds below 2**128), and neither they nor other numbers are True or False.
- A text of a class of its own becomes a plain one, whoever checks it.
- A function that runs out of memory raises `TooLarge`, one sentence.
- What can be iterated only once is read once, here, and handed on as a tuple.
- A mapping's keys and values, and what stands in a sequence, are checked where the annotation says what they are.
- A word of a closed list is a text; which one is checked by the function, and so are arrays, frames and rows.

What a given object raises itself, from its own ``__iter__`` or ``__len__``, passes as it is.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from os import PathLike, fsencode, fspath
from typing import TYPE_CHECKING, Any, Final, NamedTuple, ParamSpec, TypeVar

from possnet.errors import InputError, PossnetError, TooLarge, describe_value
from possnet.limits import describe_shortage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from possnet.aliases import Floats

__all__ = [
    "ArgumentCheck",
    "Fit",
    "check_arguments",
    "check_fields",
    "checks_itself",
    "read_annotation",
    "require_floats",
]

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=type)

Fit = Callable[[Any], Any]
"""From a value to the value that is handed on, or to `MISFIT`."""

MISFIT: Final = object()
_SMALLER: Final = "take fewer rows, columns, states or parents, or allow more memory"
_PACKAGES = ("possnet", "numpy", "matplotlib")
_ALIASES: Final = {
    "Imprecision": "float | Mapping[str, object]",
    "Numbers": "float | Mapping[str, object]",
    "Event": "str | Mapping[str, object] | Iterable[object]",
    "Certainty": "Mapping[str, object]",
    "Progress": "Callable[[int, int], None]",
    "Columns": "int",
    "Learn": "Callable[[object], object]",
}
_WORDS: Final = (
    *(
        "Against",
        "Ambiguous",
        "CellReading",
        "Detail",
        "FitMethod",
        "GateKind",
        "Inverse",
        "Law",
        "Parents",
        "Point",
        "PriorName",
    ),
    *("ProcessName", "Reading", "ScoredBy", "Stopped", "Transform", "Unknown", "Way", "Weighing"),
)
_OTHER_WORDS: Final = {
    "Conjunction": "possnet.PRODUCT or possnet.MIN",
    "Figure": "a Figure of matplotlib",
    "Generator": "a numpy Generator",
}
_NAMES: Final = {"Conjunction": ("_Product", "_Min")}
_OTHER_CHECKS: Final = frozenset(
    (
        *("Any", "object", "ArrayLike", "NDArray", "Unpack"),
        *("CellDegrees", "Cells", "Entry", "Subject", "Total", "date"),
    )
)
_REMEDIES: Final = {
    "Dataset": "read files with read_data(...) or scan_data(...), frames with Dataset.from_table(...)",
    "Network": "read files with read_network(...), bundled ones with load_example(...)",
    "Dag": "a network's is network.dag",
    "Possibility": "make one with Possibility(variable, degrees)",
}


class ArgumentCheck(NamedTuple):
    """How the values of an annotation are checked, and what it is called in a message."""

    fit: Fit
    words: str


def check_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Refuse arguments that do not fit the function's annotations.

    >>> @check_arguments
    ... def repeat_name(name: "str", times: "int" = 1) -> str:
    ...     return name * times
    >>> repeat_name("ab", times=2)
    'abab'
    >>> repeat_name("ab", times="2")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: repeat_name: times '2'; expected a whole number
    """
    signature: list[tuple[list[str], dict[str, ArgumentCheck]]] = []
    owner = function.__qualname__.rpartition("<locals>.")[2].removesuffix(".__init__")

    @functools.wraps(function)
    def door(*args: P.args, **kwargs: P.kwargs) -> T:
        if not signature:
            signature.append(read_signature(function))
        order, readings = signature[0]
        fitting = list(args)
        for k, (name, value) in enumerate(zip(order, args, strict=False)):
            if name in readings:
                fitting[k] = _require_fit(value, readings[name], owner, name)
            elif isinstance(value, str):
                fitting[k] = _fit_text(value)
        for name, value in kwargs.items():
            if name in readings:
                kwargs[name] = _require_fit(value, readings[name], owner, name)
            elif isinstance(value, str):
                kwargs[name] = _fit_text(value)
        try:
            return function(*fitting, **kwargs)  # type: ignore[arg-type]
        except MemoryError as error:
            if isinstance(error, PossnetError):
                raise
            raise TooLarge(f"{owner}: {describe_shortage(error)}; {_SMALLER}") from None

    return door


def checks_itself(*names: str) -> Callable[[T], T]:
    """Leave parameters of a function, or fields of a dataclass, to its own checks, which have better sentences.

    >>> @check_arguments
    ... @checks_itself("name")
    ... def repeat_name(name: "str", times: "int" = 1) -> str:
    ...     return name * times
    >>> repeat_name([1], times=2)
    [1, 1]
    """

    def mark(checked: T) -> T:
        checked.__own_checks__ = names  # type: ignore[attr-defined]
        return checked

    return mark


def check_fields(cls: C) -> C:
    """Refuse values that do not fit the annotations of a dataclass.

    >>> from dataclasses import dataclass
    >>> @check_fields
    ... @dataclass
    ... class Page:
    ...     number: "int"
    >>> Page("one")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: Page: number 'one'; expected a whole number
    """
    init = cls.__init__  # type: ignore[misc]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__own_checks__ = getattr(cls, "__own_checks__", ())
    cls.__init__ = check_arguments(init)  # type: ignore[misc]
    return cls


def require_floats(values: ArrayLike, owner: str) -> Floats:
    """Numbers as an array of float64, not copied if they are one; an `InputError` for anything else.

    >>> require_floats([[1, 2], [3]], "to_possibility: probabilities")
    Traceback (most recent call last):
        ...
    possnet.errors.InputError: to_possibility: probabilities are not a rectangular array of numbers
    """
    import numpy as np

    try:
        array = np.asarray(values)
        if array.dtype.kind in "iufb" or (array.dtype.kind == "O" and not array.size):
            return np.asarray(array, dtype=np.float64)
        if array.dtype.kind == "O" and all(isinstance(value, Real) for value in array.flat):
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError(f"{owner} are not a rectangular array of numbers") from None


def read_signature(function: Callable[..., object]) -> tuple[list[str], dict[str, ArgumentCheck]]:
    """The names of the positional parameters, and how the value of every parameter is checked.

    >>> def repeat_name(name: "str", *, times: "int" = 1) -> str: ...
    >>> names, readings = read_signature(repeat_name)
    >>> names, readings["times"].words
    (['name'], 'a whole number')
    """
    positional, readings = [], {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD}:
            positional.append(name)
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            continue
        if isinstance(parameter.annotation, str) and name not in getattr(function, "__own_checks__", ()):
            reading = read_annotation(parameter.annotation, largest=2**128 if name == "rng" else 2**63)
            if reading is not None and name == "rng":
                reading = reading._replace(words="a whole number >= 0 or a numpy Generator")
            if reading is not None:
                readings[name] = reading
    return positional, readings


def _require_fit(value: object, reading: ArgumentCheck, owner: str, name: str) -> object:
    fitting = reading.fit(value)
    if fitting is MISFIT:
        shown = describe_value(value)
        tuple_of_it = f", such as ({shown},)" if isinstance(value, str) and reading.words.startswith("several") else ""
        raise InputError(f"{owner}: {name} {shown}; expected {reading.words}{tuple_of_it}")
    return fitting


def read_annotation(annotation: str, largest: int = 2**63) -> ArgumentCheck | None:
    """How the values of an annotation are checked; None if other functions check them.

    >>> read_annotation("str | Iterable[str]").words, read_annotation("ArrayLike")
    ('text or several texts', None)
    """
    return _read_node(ast.parse(annotation, mode="eval").body, largest)


def _read_node(node: ast.expr, largest: int) -> ArgumentCheck | None:
    """The reading of an expression; None if anything fits."""
    if isinstance(node, ast.BinOp):
        return _read_union(_split_union(node), largest)
    if isinstance(node, ast.Constant):
        if node.value is None:
            return ArgumentCheck(lambda value: MISFIT if value is not None else None, "None")
        return _read_node(ast.parse(str(node.value), mode="eval").body, largest)
    if isinstance(node, ast.Subscript):
        arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return _read_generic(_name_node(node.value), arguments, largest)
    name = _name_node(node)
    if name in _ALIASES:
        return _read_node(ast.parse(_ALIASES[name], mode="eval").body, largest)
    return None if name in _OTHER_CHECKS else _read_name("str" if name in _WORDS else name, largest)


def _name_node(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)


def _split_union(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [*_split_union(node.left), *_split_union(node.right)]
    return [node]


def _read_union(nodes: Sequence[ast.expr], largest: int) -> ArgumentCheck | None:
    names = {_name_node(node) for node in nodes}
    if "Path" in names:
        nodes = [node for node in nodes if _name_node(node) != "str"]  # here a text is a path too
    readings = [_read_node(node, largest) for node in nodes]
    known = [reading for reading in readings if reading is not None]
    if len(known) < len(readings):
        return None
    fits = [reading.fit for reading in known]

    def fit(value: object) -> object:
        for one in fits:
            fitting = one(value)
            if fitting is not MISFIT:
                return fitting
        return MISFIT

    words, remedies = [], []
    for reading in known:
        term, _, remedy = reading.words.partition(": ")
        words.append(term)
        remedies += [remedy] if remedy else []
    joined = " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
    return ArgumentCheck(fit, f"{joined}: {remedies[0]}" if remedies else joined)


def _read_generic(name: str, arguments: list[ast.expr], largest: int) -> ArgumentCheck | None:
    if name in {"Mapping", "dict"}:
        key, value = (_read_node(argument, largest) for argument in arguments)
        return ArgumentCheck(_fit_mapping(key, value), _name_mapping(key, value))
    if name == "tuple" and ast.unparse(arguments[-1]) != "...":
        readings = [_read_node(argument, largest) for argument in arguments]
        return ArgumentCheck(_fit_tuple(readings), f"a tuple of {len(readings)}")
    if name in {"Iterable", "Sequence", "Collection", "tuple", "list", "frozenset", "set"}:
        element = _read_node(arguments[0], largest)
        return ArgumentCheck(_fit_several(element), f"several {_name_several(element)}")
    if name == "Callable":
        return ArgumentCheck(lambda value: value if callable(value) else MISFIT, "a function")
    return None


def _name_several(element: ArgumentCheck | None) -> str:
    if element is None:
        return "values"
    plurals = {"text": "texts", "a whole number": "whole numbers", "a number": "numbers", "a tuple of 2": "pairs"}
    words = element.words.partition(": ")[0]
    plain = " or " not in words and not words.startswith("several")
    return plurals.get(words, f"{words.removeprefix('a ')}s" if plain else f"values, each {words}")


def _name_mapping(key: ArgumentCheck | None, value: ArgumentCheck | None) -> str:
    if key is None or key.words != "text":
        return "a mapping"
    return f"a mapping from names to {_name_several(value)}"


def _fit_mapping(key: ArgumentCheck | None, value: ArgumentCheck | None) -> Fit:
    if key is None and value is None:
        return lambda given: given if isinstance(given, Mapping) else MISFIT

    def fit(given: object) -> object:
        if not isinstance(given, Mapping):
            return MISFIT
        fitting = {}
        for name, entry in given.items():
            new_name = name if key is None else key.fit(name)
            new_entry = entry if value is None else value.fit(entry)
            if new_name is MISFIT or new_entry is MISFIT:
                return MISFIT
            fitting[new_name] = new_entry
        return fitting if value is not None and any(fitting[k] is not v for k, v in given.items()) else given

    return fit


def _fit_several(element: ArgumentCheck | None) -> Fit:
    def fit(given: object) -> object:
        if isinstance(given, str | bytes | bytearray | memoryview) or not isinstance(given, Iterable):
            return MISFIT
        try:
            known = isinstance(given, list | tuple | set | frozenset | dict)
            values: Any = given if known else tuple([value for value in given])  # noqa: C416 - asks for no length
        except TypeError:
            return MISFIT
        if element is None:
            return values
        fitting = [element.fit(value) for value in values]
        if any(value is MISFIT for value in fitting):
            return MISFIT
        unchanged = all(new is old for new, old in zip(fitting, values, strict=True))
        return values if unchanged else tuple(fitting)

    return fit


def _fit_tuple(readings: Sequence[ArgumentCheck | None]) -> Fit:
    several = _fit_several(None)

    def fit(given: object) -> object:
        values: Any = several(given)
        if values is MISFIT or isinstance(values, set | frozenset | dict) or len(values) != len(readings):
            return MISFIT
        pairs = zip(readings, values, strict=True)
        fitting = [value if reading is None else reading.fit(value) for reading, value in pairs]
        return MISFIT if any(value is MISFIT for value in fitting) else values

    return fit


def _read_name(name: str, largest: int) -> ArgumentCheck | None:
    if name in {"Mapping", "dict"}:
        return ArgumentCheck(_fit_mapping(None, None), "a mapping")
    if name in {"Iterable", "Sequence", "Collection", "tuple", "list"}:
        return ArgumentCheck(_fit_several(None), "several values")
    if name in _PLAIN:
        return _PLAIN[name]
    if name == "int":
        return ArgumentCheck(functools.partial(_fit_whole, largest), "a whole number")
    if not name[:1].isupper():
        raise TypeError(f"no check for the annotation {name}; add one to possnet.doors")
    remedy = f": {_REMEDIES[name]}" if name in _REMEDIES else ""
    words = _OTHER_WORDS.get(name, f"a possnet.{name}{remedy}")
    return ArgumentCheck(_fit_class(_NAMES.get(name, (name,))), words)


def _fit_class(names: tuple[str, ...]) -> Fit:
    seen: set[type] = set()

    def fit(value: object) -> object:
        kind = type(value)
        if kind in seen:
            return value
        for base in kind.__mro__:
            if base.__name__ in names and base.__module__.partition(".")[0] in _PACKAGES:
                seen.add(kind)
                return value
        return MISFIT

    return fit


def _fit_whole(largest: int, value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, Integral):
        return MISFIT
    number = int(value)
    return number if -largest < number < largest else MISFIT


def _fit_number(value: object) -> object:
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        return MISFIT
    try:
        number = float(value)
    except OverflowError:
        return MISFIT
    return int(value) if isinstance(value, Integral) else number


def _fit_array(kinds: str, value: object) -> object:
    array = _ARRAY.fit(value)
    return value if array is not MISFIT and array.dtype.kind in kinds else MISFIT


def _fit_rows(value: object) -> object:
    """A stream of data sets, as `possnet.dataset.Batches` describes it."""
    known = not isinstance(value, type) and all(hasattr(value, name) for name in ("variables", "rows", "__iter__"))
    return value if known and _VARIABLES.fit(getattr(value, "variables", None)) is not MISFIT else MISFIT


def _fit_text(value: object) -> object:
    """A text; one of a class of its own becomes a plain one."""
    if type(value) is str:
        return value
    return str.__str__(value) if isinstance(value, str) else MISFIT


def _fit_path(value: object) -> object:
    """A path that the system can have: no NUL, nothing that cannot be encoded."""
    try:
        known = isinstance(value, str | PathLike) and isinstance(fspath(value), str) and b"\0" not in fsencode(value)
    except (TypeError, UnicodeError):
        return MISFIT
    return value if known else MISFIT


_PLAIN: Final = {
    "str": ArgumentCheck(_fit_text, "text"),
    "float": ArgumentCheck(_fit_number, "a number"),
    "bool": ArgumentCheck(
        lambda value: value if type(value).__name__ in {"bool", "bool_"} else MISFIT, "True or False"
    ),
    "slice": ArgumentCheck(lambda value: value if isinstance(value, slice) else MISFIT, "a slice"),
    "Path": ArgumentCheck(_fit_path, "a path"),
    "Batches": ArgumentCheck(_fit_rows, "a stream of them"),
    "Callable": ArgumentCheck(lambda value: value if callable(value) else MISFIT, "a function"),
    "Evidence": ArgumentCheck(_fit_mapping(None, None), "a mapping such as dict(fever='high')"),
    "Floats": ArgumentCheck(functools.partial(_fit_array, "fiu"), "an array of numbers"),
    "Weights": ArgumentCheck(functools.partial(_fit_array, "fiu"), "an array of numbers"),
    "Ints": ArgumentCheck(functools.partial(_fit_array, "iu"), "an array of whole numbers"),
    "Words": ArgumentCheck(functools.partial(_fit_array, "u"), "an array of bitmaps"),
    "Bools": ArgumentCheck(functools.partial(_fit_array, "b"), "an array of booleans"),
    "RawColumn": ArgumentCheck(
        lambda value: value if all(hasattr(value, name) for name in ("name", "rows", "to_bitmaps")) else MISFIT,
        "a column of cells",
    ),
    "Executor": ArgumentCheck(
        lambda value: value if callable(getattr(value, "submit", None)) else MISFIT, "an executor"
    ),
}
_ARRAY: Final = ArgumentCheck(_fit_class(("ndarray",)), "an array")
_VARIABLES: Final = ArgumentCheck(
    _fit_several(ArgumentCheck(_fit_class(("Variable",)), "a Variable")), "several Variables"
)
