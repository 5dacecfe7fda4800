"""Labels that may be ambiguous: precise ones, sets of candidates, and multi-hot matrices.

Rows of candidates are a boolean matrix inside possnet, one column for each class. scikit-learn splits, slices and hands
such a matrix on untouched; lists, `None` and mixtures of sets and labels it does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from possnet.doors import check_arguments
from possnet.errors import InputError, among, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from possnet.aliases import Bools

    Labels = NDArray[Any]

_OWNER = "PossibilisticClassifier"
_REMEDY = "for cross-validation pass candidates_to_multihot(y, classes) with classes= set"


def read_labels(y: Any, classes: Sequence[Any] | None = None) -> tuple[Labels, Bools]:
    """Classes, and the candidates of every row as a boolean matrix (rows, classes).

    ``y`` is an array of labels, a boolean (or 0/1) matrix whose columns follow ``classes``, or a sequence of labels, sets,
    lists and `None` (any class).

    >>> classes, candidates = read_labels(["a", {"a", "b"}, None])
    >>> classes.tolist(), candidates.astype(int).tolist()
    (['a', 'b'], [[1, 0], [1, 1], [1, 1]])
    """
    if y is None:
        raise InputError(f"{_OWNER}: requires y to be passed, but the target y is None; expected labels or candidates")
    matrix = np.asarray(y) if _is_plain(y) else None
    if matrix is not None and matrix.ndim == 2 and matrix.shape[1] != 1:
        return _read_matrix(matrix, classes)
    if matrix is not None and matrix.dtype != object:
        return _read_precise(column_or_1d(matrix, warn=True), classes)
    cells = _list_cells(y)
    if not any(_is_set(cell) or _is_missing(cell) for cell in cells):
        return _read_precise(column_or_1d(np.asarray(y), warn=True), classes)
    return _read_sets(cells, classes)


@check_arguments
def candidates_to_multihot(y: Iterable[Any], classes: Sequence[Any] | None = None) -> Bools:
    """Sets of candidates as a boolean matrix (rows, classes), which scikit-learn can split.

    Pass the same ``classes`` to the classifier; by default they are all that occur, sorted. A cell is a label, a set,
    list or tuple of labels, a text such as ``a|b`` whose parts are classes, or `None` for any class.

    >>> candidates_to_multihot(["a", {"b", "c"}, "a|c", None]).astype(int).tolist()
    [[1, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]]
    """
    cells = [_split_text(cell, classes) for cell in y]
    return _read_sets(cells, classes)[1]


def _split_text(cell: Any, classes: Sequence[Any] | None) -> Any:
    if isinstance(cell, str) and "|" in cell and (classes is None or cell not in list(classes)):
        return {part.strip() for part in cell.split("|")}
    return cell


def _is_plain(y: Any) -> bool:
    """Whether it is an array, a frame or a column, or a sequence of equal kinds."""
    if any(hasattr(y, name) for name in ("dtype", "columns", "to_numpy", "__array__")):
        return True
    if isinstance(y, (list, tuple)):
        return not any(_is_set(cell) or cell is None for cell in y) or _is_rectangle(y)
    return False


def _is_rectangle(y: Sequence[Any]) -> bool:
    """Whether it is rows of equal length of booleans or of 0 and 1."""
    if not y or not all(isinstance(row, (list, tuple)) for row in y) or len({len(row) for row in y}) != 1:
        return False
    return len(y[0]) > 1 and {value for row in y for value in row} <= {0, 1}


def _is_set(cell: Any) -> bool:
    return isinstance(cell, (set, frozenset, list, tuple)) or (isinstance(cell, np.ndarray) and cell.ndim == 1)


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and bool(np.isnan(cell)))


def _list_cells(y: Any) -> list[Any]:
    if hasattr(y, "to_list"):
        return list(y.to_list())
    if isinstance(y, np.ndarray):
        return list(y.reshape(-1)) if y.ndim == 1 or y.shape[1:] == (1,) else list(y)
    return list(y)


def _read_precise(labels: Labels, classes: Sequence[Any] | None) -> tuple[Labels, Bools]:
    if not len(labels):
        raise InputError(f"{_OWNER}: y has no rows (0 sample(s)); expected at least one")
    check_classification_targets(labels)
    known, codes = np.unique(labels, return_inverse=True)
    _refuse_joined_texts(known)
    order = known if classes is None else read_classes(classes)
    if classes is not None:
        place = {label: number for number, label in enumerate(order.tolist())}
        for label in known.tolist():
            if label not in place:
                raise InputError(
                    f"{_OWNER}: y has the class {label!r}, which classes= lacks{among(label, map(str, place))}"
                )
        codes = np.array([place[label] for label in known.tolist()])[codes]
    _require_classes(order)
    candidates = np.zeros((len(labels), len(order)), dtype=np.bool_)
    candidates[np.arange(len(labels)), codes.reshape(-1)] = True
    return order, candidates


def _read_matrix(matrix: Labels, classes: Sequence[Any] | None) -> tuple[Labels, Bools]:
    if matrix.ndim != 2 or not np.isin(matrix, (0, 1)).all():
        raise InputError(
            f"{_OWNER}: y of shape {matrix.shape}; expected labels, or a boolean matrix (rows, classes) of candidates"
        )
    order = np.arange(matrix.shape[1]) if classes is None else read_classes(classes)
    if len(order) != matrix.shape[1]:
        raise InputError(f"{_OWNER}: y has {matrix.shape[1]} columns for {len(order)} classes; expected one for each")
    candidates = matrix.astype(np.bool_)
    _refuse_empty(candidates)
    _require_classes(order)
    return order, candidates


def _read_sets(cells: Sequence[Any], classes: Sequence[Any] | None) -> tuple[Labels, Bools]:
    if not cells:
        raise InputError(f"{_OWNER}: y has no rows (0 sample(s)); expected at least one")
    listed = [tuple(cell) if _is_set(cell) else None if _is_missing(cell) else (cell,) for cell in cells]
    labels = dict.fromkeys(label for cell in listed for label in cell or ())
    _refuse_joined_texts(np.array(list(labels), dtype=object))
    if classes is None:
        try:
            order = np.array(sorted(labels))
        except TypeError:
            raise InputError(
                f"{_OWNER}: y mixes kinds of labels ({listing(labels)}); expected all texts or all numbers"
            ) from None
    else:
        order = read_classes(classes)
    place = {label: number for number, label in enumerate(order.tolist())}
    candidates = np.zeros((len(cells), len(order)), dtype=np.bool_)
    for row, cell in enumerate(listed):
        if cell is None:
            candidates[row] = True
            continue
        for label in cell:
            if label not in place:
                raise InputError(
                    f"{_OWNER}: row {row + 1} of y has the class {label!r}, which classes= lacks"
                    f"{among(label, map(str, place))}"
                )
            candidates[row, place[label]] = True
    _refuse_empty(candidates)
    _require_classes(order)
    return order, candidates


def read_classes(classes: Sequence[Any]) -> Labels:
    """The classes as an array, each once."""
    listed = list(classes)
    if len(set(listed)) < len(listed):
        raise InputError(f"{_OWNER}: classes {listing(listed)}; expected each once")
    return np.array(listed)


def _refuse_empty(candidates: Bools) -> None:
    empty = np.flatnonzero(~candidates.any(axis=1))
    if len(empty):
        raise InputError(
            f"{_OWNER}: row {empty[0] + 1} of y has no candidate; expected one or more, or None for any class"
        )


def _require_classes(classes: Labels) -> None:
    if len(classes) < 2:
        raise InputError(f"{_OWNER}: y has one class only ({listing(classes)}); expected two classes or more")


def _refuse_joined_texts(labels: Labels) -> None:
    """Refuse texts such as ``a|b`` whose parts are classes: they are no classes of their own."""
    texts = {label for label in labels.tolist() if isinstance(label, str)}
    for text in sorted(texts):
        parts = {part.strip() for part in text.split("|")}
        if len(parts) > 1 and parts & texts:
            shown = ", ".join(repr(part) for part in sorted(parts))
            raise InputError(
                f"{_OWNER}: y has the label {text!r}, which looks like several; expected a set {{{shown}}}, "
                "or candidates_to_multihot(y)"
            )
