"""``possnet classify``: learn a class from one table, predict it in another."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import click

import possnet as pn
from possnet.cli import shared_options as shared
from possnet.cli.inputs import DataFile, infer_variables_of, scan_file
from possnet.cli.outputs import open_output, show_progress
from possnet.cli.parse import COLUMN, DATA, Choice
from possnet.cli.render import Page, show
from possnet.errors import InputError, among, count_noun, listing, warn_user

if TYPE_CHECKING:
    from collections.abc import Sequence

    from possnet.classifier import HeldOutScores

_MISSING: Final = frozenset({"", "?", "NA", "nan", "NaN"})
_FEW: Final = 10  # distinct numbers that may well be states


@click.command(short_help="Learn a class from one table, with ambiguous labels or not, and predict it in another.")
@click.argument("train", type=DATA)
@click.argument("test", type=DATA)
@click.option(
    "--target", type=COLUMN, required=True, help="The column of the class in TRAIN: a state or a set in each cell."
)
@shared.out_option("A table of predictions: a file such as predictions.csv, or - (CSV on standard output).")
@click.option("--alpha", type=float, default=0.1, help="Sets hold the class in 1 - alpha of the rows or more.")
@click.option(
    "--structure",
    type=Choice(("auto", "naive", "tan", "blanket")),
    default="auto",
    help="Around the class: naive, tree-augmented (tan), a learned Markov blanket; auto chooses naive or tan.",
)
@click.option(
    "--truth", type=COLUMN, help="The column of TEST with the true class, to compare; by default that of --target."
)
@click.option("--without", multiple=True, type=COLUMN, help="A column to leave out, such as names; may be repeated.")
@shared.number_option(
    "--folds", "Parts of TRAIN, each predicted by what is learned from the others; 0 for none.", default=5
)
@shared.number_option("--seed", "Same seed, same folds.", default=0)
@shared.cells_options
@shared.json_option("Print the figures as JSON.")
def classify_command(
    train: DataFile,
    test: DataFile,
    target: str,
    out: str,
    alpha: float,
    structure: str,
    truth: str | None,
    without: tuple[str, ...],
    folds: int,
    seed: int,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Predict the class of every row of TEST, and the set of classes that are possible, from the rows of TRAIN.

    Labels of TRAIN may be ambiguous (mild|high), other cells too, or missing. Numbers are binned. FILE gets a line for
    every row of TEST: the predicted class, its necessity, the set of classes of a degree above alpha, and the conflict
    (how badly the row fits any class). Degrees are calibrated on rows of TRAIN. What is printed is measured on held-out
    rows.

    \b
    Examples:
      possnet classify train.csv new.csv --target label --out predictions.csv
      possnet classify answers.parquet new.parquet --target label --alpha .05 --without person --out predictions.csv
      possnet classify train.csv test.csv --target label --truth label_true --out -
    """
    from possnet.classifier import PossibilisticClassifier, score_folds, score_sets

    columns = choose_columns(train, test, target, [*without, *([truth] if truth else [])])
    labels, rows = read_states(train, [target])[target], read_table(train, columns)
    new = read_table(test, columns, like=rows)
    model = PossibilisticClassifier(structure=structure, alpha=alpha, random_state=seed, target=target)
    with open_output(out, "data", ability="write_tables") as file:
        model.fit(stack_columns(rows), labels)
        scores = None
        if folds:
            with show_progress(folds) as advance:
                scores = score_folds(model, stack_columns(rows), labels, folds=folds, seed=seed, progress=advance)
        predictions = stack_columns(new)
        write_predictions(model, predictions, file, target)
    compared = None
    known = truth or (target if target in test.list_columns() else None)
    if known is not None:
        compared = score_truth(model, predictions, read_states(test, [known])[known], score_sets)
    document = {
        "rows": len(predictions),
        "classes": [str(label) for label in model.classes_],
        "model": model.choice_,
        "alpha": alpha,
        "held_out": None if scores is None else asdict(scores),
        "test": None if compared is None else asdict(compared),
    }
    page = classification_page(model, test.name, len(predictions), scores, compared, folds)
    show(document if as_json else page, err=out == "-")


def choose_columns(train: DataFile, test: DataFile, target: str, without: Sequence[str]) -> list[str]:
    """The columns of TRAIN that predict: all but the target and those left out; TEST must have them."""
    names = train.list_columns()
    if target not in names:
        raise InputError(f"--target {target}: no such column in {train.name}{among(target, names)}")
    others = test.list_columns()
    for odd in (name for name in without if name not in {*names, *others}):
        raise InputError(f"--without {odd}: no such column{among(odd, names)}")
    columns = [name for name in names if name != target and name not in without]
    lacking = [name for name in columns if name not in others]
    if lacking and len(lacking) < len(columns):
        warn_user(f"{test.name} lacks columns of {train.name}, which are left out: {listing(lacking)}")
        columns = [name for name in columns if name in others]
    elif lacking or not columns:
        raise InputError(
            f"{test.name}: no column of {train.name} that predicts ({listing(columns)}); expected at least one"
        )
    return columns


def read_table(data: DataFile, names: Sequence[str], like: dict[str, list[Any]] | None = None) -> dict[str, list[Any]]:
    """Columns of numbers as numbers, of others as states, sets of states, or None; by the kinds of another table."""
    numbers = read_numbers(data, names)
    if like is None:
        numeric = [name for name, column in numbers.items() if len(set(column)) > _FEW]
    else:
        numeric = [name for name in numbers if any(isinstance(cell, float) for cell in like[name])]
    states = read_states(data, [name for name in names if name not in numeric])
    return {name: numbers[name] if name in numeric else states[name] for name in names}


def read_numbers(data: DataFile, names: Sequence[str]) -> dict[str, list[float | None]]:
    """The columns whose cells are all numbers or missing (None)."""
    from possnet.io import plain_columns

    try:
        tables = plain_columns(data.path, names).take_all()
    except InputError:  # a file of possnet's own, whose columns are sets
        return {}
    numbers = {}
    for name in names:
        values = [value for table in tables for value in table.column(name).to_pylist()]
        try:
            numbers[name] = [None if value is None or str(value) in _MISSING else float(value) for value in values]
        except (ValueError, TypeError):
            continue
    return numbers


def read_states(data: DataFile, names: Sequence[str]) -> dict[str, list[Any]]:
    """The cells of some columns: a state, a set of states, or None where it is unknown."""
    if not names:
        return {}
    table = pn.Dataset.concatenate(scan_file(data, infer_variables_of(data, names), None, {}))
    columns = {}
    for name in names:
        column = table.column(name)
        cells = [None if cell is None else cell[0] if len(cell) == 1 else frozenset(cell) for cell in column.cells]
        columns[name] = [cells[code] for code in column.codes.tolist()]
    return columns


def stack_columns(columns: dict[str, list[Any]]) -> Any:
    """Columns side by side, as an array of objects (rows, columns)."""
    import numpy as np

    stacked = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for number, column in enumerate(columns.values()):
        stacked[:, number] = column
    return stacked


def write_predictions(model: Any, rows: Any, file: str, target: str) -> None:
    """A line for every row: its number, class, necessity, set and conflict."""
    from possnet.io import write_result_table

    labels, sets, necessity = model.predict(rows), model.predict_set(rows), model.predict_necessity(rows).max(axis=1)
    conflict = 1.0 - model.predict_p_values(rows).max(axis=1)
    names = [str(label) for label in model.classes_]
    lines = [
        (
            k + 1,
            str(labels[k]),
            float(necessity[k]),
            "|".join(n for n, held in zip(names, sets[k], strict=True) if held),
            float(conflict[k]),
        )
        for k in range(len(rows))
    ]
    write_result_table({"row": int, target: str, "necessity": float, "set": str, "conflict": float}, lines, file)


def score_truth(model: Any, rows: Any, truth: list[Any], score: Any) -> HeldOutScores | None:
    """The figures on TEST, in the rows whose truth is known and is one of the classes."""
    import numpy as np

    classes = [str(label) for label in model.classes_]
    place = {label: number for number, label in enumerate(classes)}
    candidates = np.zeros((len(truth), len(classes)), dtype=bool)
    for row, cell in enumerate(truth):
        for state in cell if isinstance(cell, frozenset) else () if cell is None else (cell,):
            if state in place:
                candidates[row, place[state]] = True
    known = np.flatnonzero(candidates.any(axis=1))
    if len(known) < len(truth):
        warn_user(f"{count_noun(len(truth) - len(known), 'row')} of TEST have no class of TRAIN, and are not compared")
    return score(model.decision_function(rows[known]), candidates[known], model.alpha) if len(known) else None


def classification_page(
    model: Any, name: str, rows: int, scores: HeldOutScores | None, compared: HeldOutScores | None, folds: int
) -> Page:
    """What was predicted, and how good that is, for people."""
    lines: Page = [
        f"{name}: {count_noun(rows, 'row')} predicted, {len(model.classes_)} classes; model: {model.choice_}",
        "",
    ]
    if scores is not None:
        lines.append(f"  Held out ({folds} folds of TRAIN): {scores.describe()}.")
    if compared is not None:
        lines.append(f"  TEST itself: {compared.describe()}.")
    if scores is None and compared is None:
        lines.append("  Nothing was held out: nobody knows how good this is. --folds 5 says it.")
    return lines
