"""Learning the parameters of alarm from a million rows, beside pyAgrum, pgmpy and pandas.

Precise rows are drawn by possnet and handed to every program as the same file.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measure import (
    QUICK_ROUNDS,
    ROUNDS,
    Peer,
    Section,
    Target,
    Times,
    better,
    faster,
    interleaved,
    next_limit,
    say,
    table,
    timed,
)
from networks import bif, families, load

import possnet as pn
from possnet.kernels import bitmaps
from possnet.kernels.graded_cells import grade_cells

ROWS = 1_000_000
EXPLODED = 100_000
GRADED = 0.05  # share of the cells that carry degrees


def _as_text(data: pn.Dataset, file: Path) -> None:
    """Precise rows as columns of plain text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = data.to_arrow()
    columns = [column.cast(pa.string()) for column in table.columns]
    pq.write_table(pa.table(columns, names=table.column_names), file)


def discount_cells(data: pn.Dataset, share: float) -> pn.Dataset:
    """The same rows with a certainty of 1 to 6 out of 7 in some cells: all other states get a degree of 1 - certainty / 7."""
    rng = np.random.default_rng(1)
    words, graded = {}, {}
    for variable in data.variables:
        column, rows = data.column(variable.name), np.flatnonzero(rng.random(len(data)) < share)
        certainties = rng.integers(1, 7, len(rows))
        least = np.tile(1.0 - np.arange(7) / 7.0, len(column))[:, np.newaxis]
        degrees = np.maximum(np.repeat(column.degrees, 7, axis=0), least)
        cells = grade_cells(rows, column.codes[rows].astype(np.int64) * 7 + certainties, degrees)
        inside = bitmaps.unpack(data.bitmaps(variable.name), len(data))
        if cells is not None:
            graded[variable.name] = cells
            inside[:, cells.rows] = (cells.degrees[cells.codes] > 0.0).T
        words[variable.name] = bitmaps.pack(inside)
    return pn.Dataset.unchecked(data.variables, words, len(data), graded=graded)


def write_files(folder: Path, precise: pn.Dataset, imprecise: pn.Dataset, graded: pn.Dataset) -> dict[str, Path]:
    """The same rows in every form."""
    names = {"text": "text.parquet", "masks": "masks.parquet", "csv": "rows.csv", "imprecise csv": "imprecise.csv"}
    names |= {"degrees csv": "degrees.csv"}
    files = {key: folder / name for key, name in names.items()} | {"lists": folder / "lists.parquet"}
    _as_text(precise, files["text"])
    pn.write_data(precise, files["masks"])
    pn.write_data(precise, files["csv"])
    pn.write_data(imprecise, files["imprecise csv"])
    pn.write_data(graded, files["degrees csv"])
    pn.write_data(imprecise[:EXPLODED], files["lists"], layout="lists")
    return files


def jobs_of(net: pn.Network, folder: Path, peer: Peer, *, quick: bool) -> dict[str, Callable[[], float]]:
    """Possnet's jobs and the peers'."""
    precise = pn.sample(net, ROWS, process="precise", rng=1)
    imprecise = pn.sample(net, ROWS, imprecision=0.5, rng=1)
    graded = discount_cells(imprecise, GRADED)
    exploded = imprecise[:EXPLODED]
    files = write_files(folder, precise, imprecise, graded)
    model = bif("alarm", folder)
    jobs = {
        key: timed(lambda key=key: pn.fit(net.dag, pn.scan_data(files[key], variables=net)))
        for key in ("text", "masks", "csv", "imprecise csv", "degrees csv")
    }
    jobs |= {
        "count": timed(lambda: pn.count(net.dag, precise)),
        "count imprecise": timed(lambda: pn.count(net.dag, imprecise)),
        "count degrees": timed(lambda: pn.count(net.dag, graded)),
        "count exploded": timed(lambda: pn.count(net.dag, exploded)),
        "explode": peer.seconds("explode", file=files["lists"], families=families(net)),
        "bare pyarrow, CSV": timed(lambda: _parse_alone(files["csv"], net)),
        "pgmpy": peer.seconds("pgmpy_fit", file=files["text"], families=families(net)),
    }
    jobs |= peer.with_threads("read_and_learn", "csv", file=files["csv"], net=model)
    jobs |= peer.with_threads("learn", "learn", file=files["csv"], net=model)
    if not quick:
        jobs |= peer.with_threads("read_and_learn", "frame", file=files["text"], net=model)
    for key in ("count", "count imprecise", "count degrees", "count exploded", "learn, 1", "learn, 2"):
        jobs[f"{key}, again"] = jobs[key]  # short jobs run twice a round
    return jobs


def _parse_alone(file: Path, net: pn.Network) -> None:
    """What pyarrow's own parser takes for the distinct texts of every column, and no one does anything with them."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    texts = dict.fromkeys((v.name for v in net.variables), pa.dictionary(pa.int32(), pa.string()))
    arrow_csv.read_csv(file, convert_options=arrow_csv.ConvertOptions(column_types=texts, strings_can_be_null=False))


def measure(*, quick: bool) -> Section:
    """The whole section."""
    net = load("alarm")
    with tempfile.TemporaryDirectory() as folder, Peer() as peer:
        found = interleaved(jobs_of(net, Path(folder), peer, quick=quick), QUICK_ROUNDS if quick else ROUNDS)
        limits = "" if quick else _limits(net, Path(folder))
    for key in [key for key in found if key.endswith(", again")]:
        once = key.removesuffix(", again")
        found[once] = Times((*found[once].seconds, *found.pop(key).seconds))
    for key, times in found.items():
        say(f"{key}: {times}")

    targets = [
        faster("CSV to network", found["csv"], "pyAgrum, CSV + learn", better(found, "csv"), 3),
        faster("Parquet of text to network", found["text"], "pgmpy, fit alone", found["pgmpy"], 1),
        faster("counting alone", found["count"], "pyAgrum, learn alone", better(found, "learn"), 25),
        _slower("counting, theta .5, against precise rows", found["count imprecise"], found["count"]),
        _slower("CSV to network, theta .5, against precise rows", found["imprecise csv"], found["csv"]),
        _slower(
            "CSV to network, 5 % of the cells with degrees, against sets", found["degrees csv"], found["imprecise csv"]
        ),
        faster(
            f"counting, theta .5, {EXPLODED:,} rows", found["count exploded"], "pandas explode", found["explode"], 50
        ),
    ]
    if not quick:
        targets[:0] = [
            faster(f"Parquet of {key} to network", found[key], "pyAgrum, frame + learn", better(found, "frame"), 8)
            for key in ("text", "masks")
        ]
    rows = [[key, str(times)] for key, times in found.items()]
    text = (
        f"{ROWS:,} rows of alarm, precise but for those called imprecise (theta .5); peers with the number of threads.\n\n"
        + table(" job | time ", rows)
        + f"\n\nCounting alone, cells with degrees cost {found['count degrees'].best / found['count imprecise'].best:.1f} times "
        "what sets cost: bitmaps count a set in half a nanosecond, while each of the four million cells with degrees in some family is "
        "looked up and grouped, which takes about twenty. From file to network that is a small part. "
        f"Of CSV, pyarrow's parser alone, whose texts no one looks at, takes {found['bare pyarrow, CSV'].best / found['csv'].best:.1f} "
        "times as long as possnet from file to network: what is left to gain is in the parser."
    )
    return Section(text if quick else f"{text}\n\n{limits}", targets)


def _limits(net: pn.Network, folder: Path) -> str:
    """What bounds the work next."""
    data = pn.read_data(folder / "masks.parquet")
    summary = [
        next_limit(
            f"{name} to network", lambda name=name: pn.fit(net.dag, pn.scan_data(folder / name, variables=net)), 2
        )
        for name in ("text.parquet", "masks.parquet", "rows.csv")
    ]
    return "\n".join([*summary, next_limit("counting alone", lambda: pn.count(net.dag, data))])


def _slower(job: str, ours: Times, plain: Times) -> Target:
    rows = "sets" if "degrees" in job else "precise rows"
    return Target(job, str(ours), f"{rows} {plain}", ours.best / plain.best, 3, "times the time", at_most=True)
