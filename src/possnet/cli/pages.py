"""What the commands print, as text."""

from __future__ import annotations

import textwrap
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from possnet.drawing import text_table
from possnet.errors import InputError, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from possnet.counting import Counts
    from possnet.em import EmResult
    from possnet.experiment import Results
    from possnet.io import DataStream
    from possnet.network import Network
    from possnet.possibility import Possibility
    from possnet.variables import Variable

Number = TypeVar("Number", int, float)
Page: TypeAlias = str | dict[str, Any]
"""Text for people, or a document for machines (see `possnet.cli.inputs.show`)."""
_MOST_ROWS = 60
_PREVIEW = 5
_PREVIEW_COLUMNS = 8


def network_page(network: Network, *, as_json: bool = False) -> Page:
    """Readable summary of a network: what it is about, its size, and a line for every variable.

    >>> import possnet as pn
    >>> print(network_page(pn.load_example("pump")))
    pump: a product-based possibilistic network
    <BLANKLINE>
      What ails the pump? An engineer's degrees for a centrifugal pump: ...
    <BLANKLINE>
      variables      7, with 2 to 3 states
      edges          8
      widest family  vibration given bearing, cavitation: 27 degrees
      degrees        83 in all
    <BLANKLINE>
      variable     states                    parents
      bearing      sound < worn < failing
      ...
    """
    degrees = {variable.name: network.table(variable.name).size for variable in network.variables}
    if as_json:
        return {
            "kind": "network",
            "name": network.name,
            "description": network.description,
            "conjunction": network.conjunction.name,
            "normalised": network.is_normalised,
            "learned": network.support is not None,
            "degrees": sum(degrees.values()),
            "variables": {
                v.name: {"states": v.states, "ordered": v.ordered, "parents": network.dag.parents(v.name)}
                for v in network.variables
            },
        }
    widest = max(degrees, key=degrees.__getitem__)
    parents = network.dag.parents(widest)
    family = f"{widest} given {listing(parents)}" if parents else widest
    sizes = [len(variable) for variable in network.variables]
    low, high = min(sizes), max(sizes)
    facts = [
        ("variables", f"{len(sizes)}, with {low if low == high else f'{low} to {high}'} states"),
        ("edges", str(len(network.dag.edges))),
        ("widest family", f"{family}: {degrees[widest]:,} degrees"),
        ("degrees", f"{sum(degrees.values()):,} in all"),
    ]
    if not network.is_normalised:
        facts.append(("normalised", "no: some rows do not peak at 1"))
    if network.support is not None:
        facts.append(("learned", "yes: every row carries the number of observations behind it"))
    rows = [(v.name, _domain(v), listing(network.dag.parents(v.name))) for v in network.variables]
    lines = [f"{network.name or 'unnamed'}: a {network.conjunction.name}-based possibilistic network", ""]
    if network.description:
        lines += [*textwrap.wrap(network.description, 96, initial_indent="  ", subsequent_indent="  "), ""]
    lines += [*text_table(facts), "", *long_table(("variable", "states", "parents"), rows)]
    return "\n".join(lines)


def long_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int | None = None) -> list[str]:
    """Lines of a table (see `possnet.drawing.text_table`), cut short if there are very many rows."""
    lines = text_table([head, *rows[:_MOST_ROWS]], texts=texts)
    return lines if len(rows) <= _MOST_ROWS else [*lines, f"  ... and {len(rows) - _MOST_ROWS} more"]


def _looks_measured(states: Sequence[str]) -> bool:
    """Whether nearly all states are numbers, bounds or intervals."""
    from possnet.measurements import read_texts

    readings = read_texts(list(states))
    return int((readings.issues == 0).sum()) >= 0.8 * len(states)


def data_page(batches: DataStream, name: str, *, as_json: bool = False) -> Page:
    """Readable summary of data: rows, cells, a line for every variable, and the first rows.

    >>> import possnet as pn, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     pn.write_data(pn.Dataset.from_table({"rash": ["yes", {"yes", "no"}], "fever": ["mild", None]}), path)
    ...     print(data_page(pn.scan_data(path), "patients.csv"))
    patients.csv: 2 rows of 2 variables
    <BLANKLINE>
      imprecise cells  25.0 %
      unknown cells    25.0 %
      states a cell    1.25
    <BLANKLINE>
      variable  states   imprecise  unknown  states a cell
      rash      no, yes     50.0 %    0.0 %           1.50
      fever     mild         0.0 %   50.0 %           1.00
    <BLANKLINE>
      the first rows
      rash    fever
      yes     mild
      no|yes  ?
    """
    from possnet.io import CellSyntax

    syntax = CellSyntax()
    variables = batches.variables
    rows = total = 0
    sums = {v.name: [0.0, 0.0, 0.0] for v in variables}
    preview: list[tuple[str, ...]] = []
    for batch in batches:
        rows += len(batch)
        total += batch.total
        for v in variables:
            shares = (batch.imprecise_share(v.name), batch.unknown_share(v.name), batch.mean_cell_size(v.name))
            sums[v.name] = [s + x * batch.total for s, x in zip(sums[v.name], shares, strict=True)]
        if len(preview) < _PREVIEW:
            columns = [batch[: _PREVIEW - len(preview)].column(v.name) for v in variables[:_PREVIEW_COLUMNS]]
            texts = [[syntax.write(c.cells[code], c.variable.states) for code in c.codes.tolist()] for c in columns]
            preview += zip(*texts, strict=True)
    means = {name: [s / max(total, 1) for s in found] for name, found in sums.items()}
    if as_json:
        names = ("imprecise_share", "unknown_share", "mean_cell_size")
        return {
            "kind": "data",
            "rows": rows,
            "total_weight": total,
            "variables": {
                v.name: {"states": v.states, "ordered": v.ordered, **dict(zip(names, means[v.name], strict=True))}
                for v in variables
            },
        }
    overall = [sum(found[k] for found in means.values()) / len(means) for k in range(3)]
    weighted = "" if rows == total else f", {total:,} with their weights"
    size = f"{rows:,} row{'s' * (rows != 1)} of {len(variables)} variable{'s' * (len(variables) != 1)}"
    lines = [f"{name}: {size}{weighted}", ""]
    labels = ("imprecise cells", "unknown cells", "states a cell")
    lines += [*text_table(list(zip(labels, _shown(overall), strict=True))), ""]
    head = ("variable", "states", "imprecise", "unknown", "states a cell")
    lines += long_table(head, [(v.name, _domain(v), *_shown(means[v.name])) for v in variables], texts=2)
    numeric = [v.name for v in variables if len(v) > 2 and not v.ordered and _looks_measured(v.states)]
    if numeric:
        lines += ["", f"  {listing(numeric)}: measurements? Bin them: --bin '{numeric[0]}: edges=... error=...'"]
    if preview:
        more = ("...",) if len(variables) > _PREVIEW_COLUMNS else ()
        columns_shown = [v.name for v in variables[:_PREVIEW_COLUMNS]]
        shown = [(*map(_short, row), *more) for row in preview]
        lines += ["", "  the first rows", *text_table([(*columns_shown, *more), *shown])]
    return "\n".join(lines)


def read_given(given: Sequence[str], network: Network) -> dict[str, set[str]]:
    """Evidence of texts such as ``fever=mild|high``; cells are written as in CSV files.

    >>> import possnet as pn
    >>> sorted(read_given(["rash=spots", "fever=!none"], pn.load_example("clinic"))["fever"])
    ['high', 'mild']
    """
    from possnet.io import CellSyntax

    evidence = {}
    for text in given:
        name, equals, cell = text.partition("=")
        name = name.strip()
        if not equals:
            raise InputError(f"--given {text!r}; expected VARIABLE=STATE, for example --given 'fever=mild|high'")
        states, finding = CellSyntax().parse(cell).resolve_states(network.variable(name))
        if finding:
            raise InputError(f"--given {text!r}: {finding if isinstance(finding, str) else finding()}")
        if name in evidence:
            raise InputError(f"--given {text!r}: {name!r} is given twice; expected once, with all its states")
        if not cell.strip():
            raise InputError(f"--given {text!r} says nothing of {name!r}; expected a state, or ? if nothing is known")
        if states is not None:
            evidence[name] = set(states)
    return evidence


def read_imprecision(given: Sequence[str], network: Network) -> dict[str, float]:
    """Imprecision of every variable from texts such as ``0.5`` (for all) and ``fever=0.2`` (for one).

    >>> import possnet as pn
    >>> found = read_imprecision(["fever=0.2", "0.5"], pn.load_example("clinic"))
    >>> found["fever"], found["rash"]
    (0.2, 0.5)
    """
    found = dict.fromkeys((variable.name for variable in network.variables), 1.0)
    seen: set[str] = set()
    for text in sorted(given, key=lambda text: "=" in text):
        name, equals, number = text.rpartition("=")
        if name.strip() in seen:
            raise InputError(
                f"--imprecision {text!r}: given twice for {name.strip() or 'all variables'}; expected once"
            )
        seen.add(name.strip())
        try:
            theta = float(number)
        except ValueError:
            raise InputError(
                f"--imprecision {text!r}; expected a number from 0 to 1, or VARIABLE=NUMBER, for example fever=0.2"
            ) from None
        if equals:
            found[network.variable(name.strip()).name] = theta
        else:
            found = dict.fromkeys(found, theta)
    return found


def read_total(text: str | None) -> float | Literal["data"] | None:
    """S of a text: a number, ``data``, or nothing.

    >>> read_total("2.5"), read_total("data"), read_total(None)
    (2.5, 'data', None)
    """
    if text is None or text == "data":
        return "data" if text else None
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--total {text!r}; expected a number, or data") from None


def em_page(found: EmResult) -> str:
    """How a climb went: steps, likelihood, and what the data could not tell.

    >>> import possnet as pn
    >>> data = pn.Dataset.from_table({"a": ["x", "x", "y"], "b": ["u", "u", "v"]})
    >>> print(em_page(pn.fit_em(pn.Dag({"a": (), "b": ("a",)}), data)))
    3 steps, converged; log-likelihood -1.910
    """
    text = f"{found.steps} steps, {found.stopped.replace('_', ' ')}; log-likelihood {found.log_likelihood[-1]:.3f}"
    for flags, what in ((found.unvisited, "never seen"), (found.confounded, "not told apart from others")):
        counts = {name: int(flag.sum()) for name, flag in flags.items() if flag.any()}
        if counts:
            told = listing(f"{name} ({number})" for name, number in counts.items())
            text += f"\ncontexts {what}, left ignorant: {told}"
    return text


def read_names(text: str) -> list[str]:
    """Names of a text such as ``a, b``.

    >>> read_names("likelihood, em")
    ['likelihood', 'em']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def read_numbers(text: str, kind: Callable[[str], Number], option: str, expected: str) -> list[Number]:
    """Numbers of a text such as ``100,1000`` or ``0,.5,1``.

    >>> read_numbers("100, 1000", int, "--rows", "whole numbers"), read_numbers("0,.5", float, "--imprecision", "numbers")
    ([100, 1000], [0.0, 0.5])
    """
    try:
        return [kind(part) for part in text.replace("_", "").split(",")]
    except ValueError:
        raise InputError(f"{option} {text!r}; expected {expected}") from None


def evaluation_page(found: Results, metric: str, out: str | None, *, as_json: bool = False) -> Page:
    """What an experiment found: the table of one metric, sentences to read aloud, and what failed.

    >>> import possnet as pn
    >>> found = pn.evaluate(["asia"], rows=50, imprecision=1, process="traced", learners="em", repeats=1, rng=1)
    >>> print(evaluation_page(found, "child_affinity", None).splitlines()[0])
    child_affinity: information affinity of the tables of variables with parents (mean ± 95 % interval)
    """
    from possnet.metrics import METRICS

    if as_json:
        failed = [{"learner": cell.learner, "network": cell.network, "error": text} for cell, text in found.failed]
        return {"metric": metric, "summary": [s._asdict() for s in found.summary(metric)], "failed": failed}
    parts = [f"{metric}: {METRICS[metric].description} (mean ± 95 % interval)", "", found.table(metric), ""]
    parts += found.sentences(metric)
    if found.failed:
        parts += ["", f"{len(found.failed)} of {len(found.trials)} runs failed:"]
        parts += [f"  {cell.network}, {cell.process}, {cell.learner}: {error}" for cell, error in found.failed[:5]]
    if out is None:
        parts += ["", "With --out DIR every result is kept there, with a report to show to others."]
    return "\n".join(parts)


def score_page(network: Network, counts: Counts, *, as_json: bool) -> Page:
    """Both likelihoods, by variable and in all.

    >>> import possnet as pn
    >>> rash = pn.Variable("rash", ("yes", "no"))
    >>> net = pn.Network((rash,), pn.Dag({"rash": ()}), {"rash": [1, 0.5]})
    >>> data = pn.Dataset.from_rows((rash,), [("yes",), ("no",), ({"yes", "no"},)])
    >>> print(score_page(net, pn.count(net.dag, data, focal=True), as_json=False))
      variable        piLL     mLL
      rash          -1.386  -3.296
      all           -1.386  -3.296
      a row (of 3)  -0.462  -1.099
    """
    from possnet.likelihood import log_likelihood_by_family, random_set_log_likelihood_by_family

    degrees = log_likelihood_by_family(network, counts)
    masses = random_set_log_likelihood_by_family(network.dag, counts)
    total = sum(degrees.values()), sum(masses.values())
    if as_json:
        finite = {name: None if value == -inf else value for name, value in degrees.items()}
        return {
            "rows": counts.rows,
            "possibilistic_log_likelihood": None if total[0] == -inf else total[0],
            "random_set_log_likelihood": total[1],
            "by_variable": {name: {"possibilistic": finite[name], "random_set": masses[name]} for name in degrees},
        }
    scores = [*((name, degrees[name], masses[name]) for name in degrees), ("all", *total)]
    if counts.rows:
        scores.append((f"a row (of {counts.rows:,})", total[0] / counts.rows, total[1] / counts.rows))
    rows = [(name, f"{first:.3f}", f"{second:.3f}") for name, first, second in scores]
    return "\n".join(text_table([("variable", "piLL", "mLL"), *rows], texts=1))


def answer_page(answer: Possibility, degree: float, given: Sequence[str], *, as_json: bool) -> Page:
    """The answer to a question about one variable: bars for people, JSON for machines.

    The bar's length is Π, its filled part N.

    >>> import possnet as pn
    >>> engine = pn.Inference(pn.load_example("asia"))
    >>> print(answer_page(engine.query("bronc", {"dysp": "yes"}), 1.0, ["dysp=yes"], as_json=False))
    bronc, given dysp=yes
    <BLANKLINE>
      yes  ████████████████████████████▒▒▒  Π 1.000  N 0.900
      no   ▒▒▒                              Π 0.100  N 0.000
    <BLANKLINE>
      Π of what is given: 1
    """
    from shutil import get_terminal_size

    variable = answer.variables[0]
    normal = answer.is_normalised
    rows = [(s, answer[s], answer.necessity({s}) if normal else 0.0) for s in variable.states]
    if as_json:
        states = {s: {"possibility": pi, "necessity": n if normal else None} for s, pi, n in rows}
        return {"target": variable.name, "given": list(given), "possibility_of_given": degree, "states": states}
    width = max(len(state) for state in variable.states)
    bars = max(4, min(31, get_terminal_size((100, 24)).columns - width - 26))
    lines = [f"{variable.name}{', given ' + ', '.join(given) if given else ''}", ""]
    for state, pi, n in rows:
        full, half = round(n * bars), round(pi * bars)
        bar = ("█" * full + "▒" * (half - full)).ljust(bars)
        lines.append(f"  {state.ljust(width)}  {bar}  Π {pi:.3f}" + (f"  N {n:.3f}" if normal else ""))
    if given:
        lines += ["", f"  Π of what is given: {degree:.6g}"]
    return "\n".join(lines)


def _shown(numbers: Sequence[float]) -> tuple[str, str, str]:
    imprecise, unknown, size = numbers
    return f"{100 * imprecise:.1f} %", f"{100 * unknown:.1f} %", f"{size:.2f}"


def _short(text: str) -> str:
    return text if len(text) <= 24 else f"{text[:21]}..."


def _domain(variable: Variable) -> str:
    """The states of a variable, the first five if there are more than six."""
    states = variable.states
    shown = states if len(states) <= 6 else (*states[:5], f"... {len(states)} states")
    return (" < " if variable.ordered else ", ").join(shown)
