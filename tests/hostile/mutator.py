"""Small wrong changes of a module, one at a time: mutants.

A mutant is a module with one change that a tired programmer could make: ``<`` for ``<=``, ``+`` for ``-``, a constant off by
one, a branch negated, a statement forgotten, two arguments swapped, a slice short by one, ``min`` for ``max``. Tests that
pass with a mutant do not notice that mistake. Not changed: texts, annotations, decorators, messages of errors, imports.

A mutant is named by its module, the function that it is in, the operator and a number within these, so its name stays the
same while other functions change; ``digest`` belongs to the text of the function, and shows when a result is out of date.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

Change: TypeAlias = tuple[str, Callable[[], None]]

BOUNDARY: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
OPPOSITE: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}  # fmt: skip
_PAIRS: Final = (
    ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"), ("floor", "ceil"), ("zeros", "ones"),
    ("zeros_like", "ones_like"), ("cumsum", "cumprod"), ("sum", "max"), ("fmin", "fmax"), ("bitwise_and", "bitwise_or"),
    ("logical_and", "logical_or"), ("multiply", "add"), ("log", "exp"), ("union", "intersection"), ("append", "insert"),
)  # fmt: skip
TWIN: Final = dict(_PAIRS) | {b: a for a, b in _PAIRS if a != "sum"} | {"append": "extend"}
SYMMETRIC: Final = {"min", "max", "minimum", "maximum", "array_equal", "bitwise_and", "bitwise_or", "logical_and", "logical_or",
                    "multiply", "add", "gcd", "commonpath"}  # fmt: skip
SIDES: Final = {"left": "right", "right": "left"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: where it is, what it is, and the text of the function that it belongs to."""

    module: str
    function: str
    operator: str
    number: int
    line: int
    block: int
    at_import: bool
    digest: str

    @property
    def name(self) -> str:
        """``em/squarem:extrapolate:arithmetic:3``."""
        return f"{self.module}:{self.function}:{self.operator}:{self.number}"


def find_mutants(module: str, source: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its text."""
    return [mutant for mutant, _, _, _ in _walk(module, source)]


def mutate_source(module: str, source: str, name: str) -> tuple[ast.Module, str]:
    """The tree of the module with one change, and the change: ``a < b -> a <= b``."""
    for mutant, apply, node, tree in _walk(module, source):
        if mutant.name == name:
            before = _one_line(node)
            apply()
            after = "pass" if mutant.operator == "forgotten" else _one_line(ast.fix_missing_locations(node))
            return ast.fix_missing_locations(tree), f"{before} -> {after}"
    raise LookupError(name)


def _walk(module: str, source: str) -> Iterator[tuple[Mutant, Callable[[], None], ast.AST, ast.Module]]:
    tree = ast.parse(source)
    numbers: Counter[tuple[str, str]] = Counter()
    digests: dict[str, str] = {}
    for function, owner, block, statement, node, (operator, apply) in _visit(tree, "module", tree):
        if function not in digests:
            text = "" if isinstance(owner, ast.Module) else ast.dump(owner)
            digests[function] = hashlib.sha256(text.encode()).hexdigest()[:8]
        digest = digests[function]
        if isinstance(owner, ast.Module):
            digest = hashlib.sha256(ast.dump(statement).encode()).hexdigest()[:8]
        numbers[function, operator] += 1
        functions = ast.FunctionDef | ast.AsyncFunctionDef
        at_import = not isinstance(owner, functions) or isinstance(statement, functions)
        number, line = numbers[function, operator], getattr(node, "lineno", statement.lineno)
        yield Mutant(module, function, operator, number, line, block, at_import, digest), apply, node, tree


def _one_line(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 90 else text[:87] + "..."


Site: TypeAlias = tuple[str, ast.AST, int, ast.stmt, ast.AST, Change]


def _visit(parent: ast.AST, function: str, owner: ast.AST) -> Iterator[Site]:
    """The changes within the blocks of a node, with the function and the block (its first line) that they stand in."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        block: Any = getattr(parent, name, None)
        for place, statement in enumerate(block if isinstance(block, list) else []):
            if isinstance(statement, ast.ExceptHandler | ast.match_case):
                yield from _visit(statement, function, owner)
            elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = statement.name if function == "module" else f"{function}.{statement.name}"
                within = owner if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef) else statement
                for node, change in _default_changes(statement):
                    yield inner, within, block[0].lineno, statement, node, change
                yield from _visit(statement, inner, within)
            elif not _is_declaration(statement):
                for node, change in _changes_of(block, place, statement):
                    yield function, owner, block[0].lineno, statement, node, change
                yield from _visit(statement, function, owner)


def _is_negated_elsewhere(test: ast.expr) -> bool:
    """Whether another change negates the branch already: the opposite of a comparison, ``not`` left out."""
    return (isinstance(test, ast.Compare) and len(test.ops) == 1) or (
        isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    )


def _default_changes(statement: ast.stmt) -> Iterator[tuple[ast.AST, Change]]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        for default in [*statement.args.defaults, *statement.args.kw_defaults]:
            if default is not None:
                yield from _expressions(default)


def _changes_of(block: list[ast.stmt], place: int, statement: ast.stmt) -> Iterator[tuple[ast.AST, Change]]:
    for change in _statement_changes(block, place, statement):
        yield statement, change
    if isinstance(statement, ast.Raise | ast.Assert):
        return
    for child in _own_expressions(statement):
        yield from _expressions(child)
    if isinstance(statement, ast.If | ast.While) and not _is_negated_elsewhere(statement.test):
        yield statement.test, ("negated", _setter(statement, "test", ast.UnaryOp(ast.Not(), statement.test)))


def _is_declaration(statement: ast.stmt) -> bool:
    """Imports, docstrings, ``__all__``, blocks for type checkers, declared fields."""
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass | ast.Global | ast.Nonlocal):
        return True
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
        return True
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0]) in ("__all__", "__slots__") or "TypeVar" in ast.unparse(
            statement.value
        )
    if isinstance(statement, ast.AnnAssign):
        return statement.value is None or "TypeAlias" in ast.unparse(statement.annotation)
    return False


def _own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement itself, without its body, targets and annotations."""
    for name, value in ast.iter_fields(statement):
        if name in ("body", "orelse", "handlers", "finalbody", "cases", "annotation", "decorator_list"):
            continue
        if name in ("target", "targets") and not isinstance(statement, ast.Delete):
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.expr):
                yield item
            elif isinstance(item, ast.withitem):
                yield item.context_expr


def _expressions(top: ast.expr) -> Iterator[tuple[ast.AST, Change]]:
    waiting: list[ast.AST] = [top]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and _names_an_error(node.func)):
            continue
        for change in _expression_changes(node):
            yield node, change
        waiting.extend(reversed(list(ast.iter_child_nodes(node))))


def _names_an_error(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name.endswith(("Error", "TooLarge", "ImpossibleEvidence", "warn", "cast", "TypeVar"))


def _setter(node: ast.AST, name: str, value: object) -> Callable[[], None]:
    return lambda: setattr(node, name, value)


def _statement_changes(block: list[ast.stmt], place: int, statement: ast.stmt) -> Iterator[Change]:
    def forget() -> None:
        block[place] = ast.copy_location(ast.Pass(), statement)

    stored = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript | ast.Attribute)
    if stored or isinstance(statement, ast.Expr | ast.AugAssign | ast.Raise | ast.Continue | ast.Break):
        yield "forgotten", forget
    if isinstance(statement, ast.Return) and statement.value is not None:
        yield "returns None", _setter(statement, "value", ast.Constant(None))
    if isinstance(statement, ast.AugAssign) and type(statement.op) in ARITHMETIC:
        yield "arithmetic", _setter(statement, "op", ARITHMETIC[type(statement.op)]())


def _expression_changes(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for word, others in (("boundary", BOUNDARY), ("comparison", OPPOSITE)):
                if type(operator) in others:
                    ops = [*node.ops[:place], others[type(operator)](), *node.ops[place + 1 :]]
                    yield word, _setter(node, "ops", ops)
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield "arithmetic", _setter(node, "op", ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield "boolean", _setter(node, "op", ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    elif isinstance(node, ast.UnaryOp):
        sign = isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
        yield "unary", _setter(node, "op", ast.UAdd()) if sign or isinstance(node.op, ast.USub) else _unwrap(node)
    elif isinstance(node, ast.Constant):
        yield from _constant_changes(node)
    elif isinstance(node, ast.Slice):
        yield from _slice_changes(node)
    elif isinstance(node, ast.IfExp) and not _is_negated_elsewhere(node.test):
        yield "negated", _setter(node, "test", ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "filter", _setter(node, "ifs", [])
    elif isinstance(node, ast.Call):
        yield from _call_changes(node)


def _unwrap(node: ast.UnaryOp) -> Callable[[], None]:
    """``not x`` becomes ``bool(x)`` and ``~x`` becomes ``+x``: the operator is gone, the type stays."""
    if isinstance(node.op, ast.Not):
        return _setter(node, "operand", ast.UnaryOp(ast.Not(), node.operand))
    double = ast.UnaryOp(ast.Invert(), node.operand)
    return _setter(node, "operand", double)


def _constant_changes(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield "constant", _setter(node, "value", not value)
    elif isinstance(value, int):
        yield "constant", _setter(node, "value", value + 1)
        yield "constant", _setter(node, "value", value - 1)
    elif isinstance(value, float):
        yield "constant", _setter(node, "value", value + 1)
        yield "constant", _setter(node, "value", value / 2 or -1.0)
    elif isinstance(value, str) and value in SIDES:
        yield "side", _setter(node, "value", SIDES[value])


def _slice_changes(node: ast.Slice) -> Iterator[Change]:
    one = ast.Constant(1)
    lower = one if node.lower is None else ast.BinOp(node.lower, ast.Add(), one)
    upper = ast.Constant(-1) if node.upper is None else ast.BinOp(node.upper, ast.Sub(), one)
    if node.lower is not None or node.upper is not None:  # a[:] alone is a copy, or an axis
        yield "slice", _setter(node, "lower", lower)
        yield "slice", _setter(node, "upper", upper)


def _call_changes(node: ast.Call) -> Iterator[Change]:
    first_two = node.args[:2]
    starred = any(isinstance(argument, ast.Starred) for argument in first_two)
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if (
        len(first_two) == 2
        and not starred
        and name not in SYMMETRIC
        and ast.dump(first_two[0]) != ast.dump(first_two[1])
    ):
        yield "swapped", _setter(node, "args", [first_two[1], first_two[0], *node.args[2:]])
    function = node.func
    if isinstance(function, ast.Name) and function.id in TWIN:
        yield "twin", _setter(function, "id", TWIN[function.id])
    elif isinstance(function, ast.Attribute) and function.attr in TWIN:
        yield "twin", _setter(function, "attr", TWIN[function.attr])
