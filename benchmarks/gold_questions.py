"""Questions on every gold-standard network that pyAgrum answers quickly: rows of evidence, most possible configurations.

Rows of evidence beside pyAgrum's loop (LazyPropagation, one target, evidence changed from row to row) and beside a loop of
`possnet.Inference.query`, and that loop beside pyAgrum's; the target is the variable with the most neighbours. Most possible configurations beside
toulbar2, which proves its optimum as a best-first search over a calibrated tree does.
"""

import json
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from measure import ROUNDS, Peer, Section, Target, Times, better, interleaved, say, table, timed
from networks import load

import possnet as pn
from inference import evidence_rows

NETWORKS = ["asia", "alarm", "insurance", "hailfinder", "win95pts", "hepar2", "pathfinder"]
SHARES = (0.1, 0.5, 0.9)
ROWS, COMPLETED, LOOPED, PEER_ROWS, PEER_COMPLETED = 10_000, 10_000, 20, 40, 10
WITH_EVIDENCE = (0.0, 0.1, 0.3)
LOOPED_NETWORKS = [*NETWORKS, "andes", "pigs", "diabetes", "mildew", "water", "barley", "munin"]
ALL_SHARES = (0.0, 0.1, 0.5, 0.9, 1.0)
FEW_ROWS = {1: 20, 10: 5, 100: 3}  # and how often others of them are asked
SOLVED = [*NETWORKS, "andes", "pigs", "diabetes", "mildew", "water", "munin", "barley", "munin1", "link"]
WISHED = 20
WITHIN = 3
LIMIT = 5.0  # seconds for toulbar2
TEXT = """`query_many` for the variable with the most neighbours, given {rows:,} rows drawn from the network with a share of the
cells known, beside a loop of `query` on the first {looped} rows and pyAgrum's loop on the first {peer} (the better of one and
two threads). A microsecond is one row."""
COMPLETED_TEXT = """`complete` of {rows:,} such rows, which fills in all cells that are not known, beside one `query_many` and beside
pyAgrum's loop that asks for all variables a row does not observe (the first {peer} rows). {within} times the cost of one question is wished
for, and met in {met} of {all} cases. Elsewhere one question leaves out all that has no bearing on its answer, and sends
messages one way, so that it costs a fraction of a pass through the junction tree; completing leaves out nothing, and sends them both
ways. "Questions a cell" is what one completed cell costs, in questions, where a row has one at least. "A row alone" is the same of a data set of
one row, decoded, as someone asks it who has but one."""
EVERY_TEXT = """Few rows, and all shares of known cells ({shares}), each with precise cells and with every second known cell
a set of two states: `query_many` beside a loop of `query` over the same rows, each by an engine of its own that has not seen them, the median
of several turns with other rows; how many times faster it is, the least and the median of the ten cases of each network. Where a loop is
estimated to be fastest `query_many` is one: what is below 1 is that estimate, and that it reads the columns of a data set (decoded before),
while the loop is handed mappings of what is known ready-made."""
SINGLE_TEXT = """`query` for the same variable, {rows} times, each time with other evidence: with an engine that has not seen which variables
are known (random ones, so that hardly two questions leave the same open), with one that has been asked the same questions before, and
pyAgrum's loop, whose object has answered once.{slow}"""
BEST_TEXT = """The most possible configuration, and the ten best, beside toulbar2, with a share of the variables observed in states that
are possible together. possnet has the network and makes a new engine (plans are kept
from earlier questions about the same observed variables); toulbar2 reads the model from its UAI file, since a model
of toulbar2 answers once (`Solve` may not be called again); its solver alone is shown too. Both prove that nothing is better, and
their degrees agree. The ten best of toulbar2: each the best of those that differ from all before;
a dash where it proves nothing in {limit:.0f} s or ends by itself."""


def central_variable(net: pn.Network) -> str:
    """The variable with the most neighbours."""
    return max(net.dag.nodes, key=lambda name: len(net.dag.parents(name)) + len(net.dag.children(name)))


def numbered_rows(net: pn.Network, data: pn.Dataset, rows: int) -> list[list[list[int]]]:
    """Pairs [variable, state] of the known cells of the first rows."""
    place = {v.name: k for k, v in enumerate(net.variables)}
    found = []
    for r in range(rows):
        known = {name: cell for name, cell in data.row(r).items() if not data.missing(name)[r]}
        found.append([[place[n], net.variable(n).index(next(iter(cell)))] for n, cell in known.items()])
    return found


def rows_of_evidence(folder: Path, names: list[str], rounds: int, peer: Peer) -> tuple[str, list[Target]]:
    """Rows of evidence, network by network and share by share."""
    lines, beside_loop, beside_peer = [], {}, {}
    for name in names:
        net = load(name)
        target = central_variable(net)
        place = [v.name for v in net.variables].index(target)
        pn.write_network(net, folder / f"{name}.uai", preamble="BAYES")
        for share in SHARES:
            data = evidence_rows(net, target, ROWS, share)
            given = numbered_rows(net, data, PEER_ROWS)
            (folder / "rows.json").write_text(json.dumps(given), encoding="utf-8")
            asked = [{net.variables[v].name: net.variables[v].states[s] for v, s in row} for row in given[:LOOPED]]
            engine = pn.Inference(net)
            jobs: dict[str, Callable[[], float]] = {
                "rows": lambda net=net, target=target, data=data: (
                    timed(lambda: pn.Inference(net).query_many(target, data))() / ROWS
                ),
                "loop": lambda engine=engine, target=target, asked=asked: (
                    timed(lambda: [engine.query(target, e) for e in asked])() / LOOPED
                ),
            }
            jobs |= peer.with_threads("rows", file=folder / f"{name}.uai", rows=folder / "rows.json", target=place)
            found = interleaved(jobs, rounds)
            where, theirs = f"{name}, {share:.0%} known", better(found)
            beside_loop[where] = found["loop"].best / found["rows"].best
            beside_peer[where] = theirs.best / found["rows"].best
            ratios = [f"{beside_loop[where]:.1f}", f"{beside_peer[where]:.1f}"]
            lines.append([name, f"{share:.0%}", *map(str, (found["rows"], found["loop"], theirs)), *ratios])
            say(" ".join(lines[-1]))
    head = " network | known | `query_many` | loop of `query` | pyAgrum's loop | times the loop | times pyAgrum "
    slowest, closest = (min(ratios, key=ratios.__getitem__) for ratios in (beside_loop, beside_peer))
    text = TEXT.format(rows=ROWS, looped=LOOPED, peer=PEER_ROWS)
    far = [f"{where} ({ratio:.1f})" for where, ratio in beside_peer.items() if ratio < WISHED]
    wish = f"{len(beside_peer) - len(far)} of {len(beside_peer)} are {WISHED} times as fast as pyAgrum's loop, as is wished for; "
    wish += f"not so: {', '.join(far)}. There large tables are combined for every row." if far else "none is not."
    return f"{text}\n\n{table(head, lines)}\n\n{wish}", [
        Target("rows of evidence, gold networks, beside a loop", slowest, "possnet, a loop", beside_loop[slowest], 1),
        Target(
            "rows of evidence, gold networks, beside pyAgrum's loop", closest, "pyAgrum", beside_peer[closest], WISHED
        ),
    ]


def known_cells(data: pn.Dataset, row: int) -> dict[str, set[str]]:
    """What a row says, as evidence."""
    return {name: set(cell) for name, cell in data.row(row).items() if not data.missing(name)[row]}


def ask_rows(engine: pn.Inference, target: str, asked: list[dict[str, set[str]]]) -> None:
    """One query a row; what is impossible has no answer."""
    for evidence in asked:
        with suppress(pn.ImpossibleEvidence):
            engine.query(target, evidence)


def few_rows(names: list[str]) -> tuple[str, list[Target]]:
    """Rows of evidence beside a loop on every network, for any share of known cells, precise ones and sets."""
    lines, all_ratios = [], {}
    for name in names:
        net = load(name)
        target, ratios = central_variable(net), {rows: [] for rows in FEW_ROWS}
        engines = [pn.Inference(fresh(net)) for _ in range(2)]  # what one has answered the other does not know
        for engine in engines:
            engine.query(target)
        for sets in (False, True):
            for share in ALL_SHARES:
                for rows, turns in FEW_ROWS.items():
                    drawn = evidence_rows(net, target, rows * (turns + 1), share, sets=sets)
                    asked = [known_cells(drawn, row) for row in range(len(drawn))]
                    found: dict[str, list[float]] = {"loop": [], "rows": []}
                    for turn in range(turns + 1):
                        part = slice(turn * rows, (turn + 1) * rows)
                        data, given = decoded(drawn[part]), asked[part]
                        found["loop"].append(timed(partial(ask_rows, engines[0], target, given))())
                        found["rows"].append(timed(partial(engines[1].query_many, target, data))())
                    loop, many = (float(np.median(seconds[1:])) for seconds in found.values())
                    ratios[rows].append(loop / many)
                    kind = "precise and pairs" if sets else "precise"
                    all_ratios[rows, f"{name}, {share:.0%} known, {kind}"] = ratios[rows][-1]
        cells = [f"{text:.2f}" for rows in FEW_ROWS for text in (min(ratios[rows]), float(np.median(ratios[rows])))]
        lines.append([name, *cells])
        say(" ".join(lines[-1]))
    of_many = {where: ratio for (rows, where), ratio in all_ratios.items() if rows == max(FEW_ROWS)}
    worst = min(of_many, key=of_many.__getitem__)
    median = float(np.median([ratio for (rows, _), ratio in all_ratios.items() if rows == min(FEW_ROWS) * 10]))
    head = (
        " network | " + " | ".join(f"{rows} rows, least | median" for rows in FEW_ROWS).replace("1 rows", "1 row") + " "
    )
    text = EVERY_TEXT.format(shares=", ".join(f"{share:.0%}" for share in ALL_SHARES))
    return f"{text}\n\n{table(head, lines)}", [
        Target(f"{max(FEW_ROWS)} rows of evidence, {len(of_many)} cases, beside a loop", worst, "possnet, a loop", of_many[worst], 0.5),
        Target("10 rows of evidence, the same cases, the median", f"{len(of_many)} cases", "possnet, a loop", median, 0.8),
    ]  # fmt: skip


def decoded(data: pn.Dataset) -> pn.Dataset:
    """The same rows, their columns decoded."""
    for variable in data.variables:
        data.column(variable.name)
    return data


def fresh(net: pn.Network) -> pn.Network:
    """A copy of a network for which nothing is kept."""
    return pickle.loads(pickle.dumps(net))  # noqa: S301 - pickled here


def single_questions(folder: Path, names: list[str], rounds: int, peer: Peer) -> tuple[str, list[Target]]:
    """One question after the other, each with other evidence, beside pyAgrum's loop."""
    lines, beside = [], {"new": {}, "known": {}}
    for name in names:
        net = load(name)
        target = central_variable(net)
        place = [v.name for v in net.variables].index(target)
        pn.write_network(net, folder / f"{name}.uai", preamble="BAYES")
        for share in SHARES:
            given = numbered_rows(net, evidence_rows(net, target, PEER_ROWS, share), PEER_ROWS)
            (folder / "rows.json").write_text(json.dumps(given), encoding="utf-8")
            asked = [{net.variables[v].name: net.variables[v].states[s] for v, s in row} for row in given]
            known = pn.Inference(net)

            def ask(engine: pn.Inference, target: str = target, asked: list[dict[str, str]] = asked) -> float:
                return timed(lambda: [engine.query(target, evidence) for evidence in asked])() / PEER_ROWS

            def ask_anew(net: pn.Network = net, target: str = target) -> float:
                engine = pn.Inference(fresh(net))
                engine.query(target)  # as the peer's object has answered once
                return ask(engine)

            ask(known)
            jobs: dict[str, Callable[[], float]] = {"new": ask_anew, "known": lambda e=known, ask=ask: ask(e)}
            jobs |= peer.with_threads("rows", file=folder / f"{name}.uai", rows=folder / "rows.json", target=place)
            found = interleaved(jobs, rounds)
            theirs, where = better(found), f"{name}, {share:.0%} known"
            for kind, ratios in beside.items():
                ratios[where] = theirs.best / found[kind].best
            times = [f"{ratios[where]:.2f}" for ratios in beside.values()]
            lines.append([name, f"{share:.0%}", str(found["new"]), str(found["known"]), str(theirs), *times])
            say(" ".join(lines[-1]))
    head = " network | known | another pattern each | a pattern that was asked before | pyAgrum's loop | times pyAgrum | the same, asked before "
    least = {kind: min(ratios, key=ratios.__getitem__) for kind, ratios in beside.items()}
    mean = float(np.exp(np.mean(np.log([*beside["new"].values()]))))
    slow = [f"{where} ({ratio:.2f})" for where, ratio in beside["new"].items() if ratio < 1]
    text = SINGLE_TEXT.format(rows=PEER_ROWS, slow=f" Slower: {', '.join(slow)}." if slow else "")
    return f"{text}\n\n{table(head, lines)}", [
        Target("a single question, gold networks, geometric mean", f"{len(beside['new'])} cases", "pyAgrum", mean, 1.5),
        Target("a single question, gold networks, the least", least["new"], "pyAgrum", beside["new"][least["new"]], 0.8),
        Target("the same, of a pattern asked before, the least", least["known"], "pyAgrum", beside["known"][least["known"]], 1),
    ]  # fmt: skip


def completions(folder: Path, names: list[str], rounds: int, peer: Peer) -> tuple[str, list[Target]]:
    """All unknown cells of rows filled in, beside one question about each row and all of pyAgrum's posteriors."""
    lines, ratios, n_cells, a_cell, beside_peer = [], {}, {}, {}, {}
    for name in names:
        net = load(name)
        target = central_variable(net)
        pn.write_network(net, folder / f"{name}.uai", preamble="BAYES")
        for share in SHARES:
            data = evidence_rows(net, target, COMPLETED, share)
            unknown = sum(int(data.missing(v.name).sum()) for v in data.variables) / COMPLETED
            rows = numbered_rows(net, data, PEER_COMPLETED)
            (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")

            def ask(net: pn.Network = net, target: str = target, data: pn.Dataset = data) -> float:
                return timed(lambda: pn.Inference(net).query_many(target, data))() / COMPLETED

            def fill(net: pn.Network = net, data: pn.Dataset = data) -> float:
                return timed(lambda: pn.complete(net, data))() / COMPLETED

            single = iter([decoded(data[row : row + 1]) for row in range(3 * rounds + 1)])
            pn.complete(net, next(single))

            def fill_one(net: pn.Network = net, single: Iterator[pn.Dataset] = single) -> float:
                return sorted(timed(partial(pn.complete, net, next(single)))() for _ in range(3))[1]

            jobs = {"asked": ask, "completed": fill, "one": fill_one}
            jobs |= peer.with_threads("rows", file=folder / f"{name}.uai", rows=folder / "rows.json", target=-1)
            found = interleaved(jobs, rounds)
            where, theirs = f"{name}, {share:.0%} known", better(found)
            ratios[where] = found["completed"].best / found["asked"].best
            n_cells[where], a_cell[where] = unknown, ratios[where] / unknown
            beside_peer[where] = theirs.best / found["completed"].best
            cells = [name, f"{share:.0%}", *map(str, (found["asked"], found["completed"], found["one"], theirs))]
            cells += [f"{ratios[where]:.1f}", f"{unknown:.1f}", f"{a_cell[where]:.2f}"]
            lines.append([*cells, f"{beside_peer[where]:.0f}"])
            say(" ".join(lines[-1]))
    far = [f"{where} ({ratio:.1f})" for where, ratio in ratios.items() if ratio > WITHIN]
    text = COMPLETED_TEXT.format(
        rows=COMPLETED, peer=PEER_COMPLETED, within=WITHIN, met=len(ratios) - len(far), all=len(ratios)
    )
    text += f" Not so: {', '.join(far)}." if far else ""
    head = " network | known | `query_many` | `complete` | a row alone | pyAgrum's loop | times `query_many` | cells a row | questions a cell "
    head += "| times faster than pyAgrum "
    dearest = max((where for where in a_cell if n_cells[where] >= 1), key=a_cell.__getitem__)
    closest = min(beside_peer, key=beside_peer.__getitem__)
    return f"{text}\n\n{table(head, lines)}", [
        Target("completed rows, gold networks, beside pyAgrum's loop", closest, "pyAgrum", beside_peer[closest], 15),
        Target(
            "a completed cell, gold networks",
            dearest,
            "possnet, a question",
            a_cell[dearest],
            2,
            "questions",
            at_most=True,
        ),
    ]


def possible_evidence(net: pn.Network, share: float) -> dict[str, str]:
    """States of some variables, from a configuration that is possible."""
    rng = np.random.default_rng(3)
    data = evidence_rows(net, "", 1, 1.0)
    row = {name: next(iter(cell)) for name, cell in data.row(0).items()}
    chosen = rng.permutation(len(net.variables))[: round(share * len(net.variables))]
    return {net.variables[k].name: row[net.variables[k].name] for k in chosen}


def check_answer(net: pn.Network, evidence: dict[str, str], states: list[int], expected: float) -> None:
    """Both programs prove their optimum: the degree of toulbar2's last configuration is possnet's."""
    found = {v.name: v.states[state] for v, state in zip(net.variables, states, strict=True)}
    disagrees = any(found[name] != state for name, state in evidence.items())
    if disagrees or not np.isclose(net.joint(found), expected, rtol=1e-5, atol=0.0):
        raise SystemExit(f"{net.joint(found)} by toulbar2, {expected} by possnet: {found}")


def compare_best(net: pn.Network, file: Path, evidence: dict[str, str], k: int, rounds: int) -> dict[str, Times]:
    """Times of the k best by possnet, and by toulbar2 in all and its solver alone, if it proves them in time."""
    numbers = {v.name: n for n, v in enumerate(net.variables)}
    given = {str(numbers[name]): net.variable(name).index(state) for name, state in evidence.items()}
    ask = timed(lambda: pn.Inference(net).most_possible_k(k, evidence), 3)
    with Peer(script="toulbar2_questions.py") as peer:
        solver: list[float] = []

        def ask_peer() -> dict[str, Any]:
            return peer("most_possible", file=file, evidence=given, k=k, limit=LIMIT, patience=10 * LIMIT)

        def time_peer() -> float:
            answer = ask_peer()
            solver.append(answer["solver"])
            return float(answer["seconds"])

        answer = ask_peer()
        if not answer.get("proved"):
            say(f"{file.stem}, k = {k}: {answer.get('failed', 'not proved')}")
            return interleaved({"possnet": ask}, 2)
        check_answer(net, evidence, answer["states"], pn.Inference(net).most_possible_k(k, evidence)[-1].possibility)
        found = interleaved({"possnet": ask, "toulbar2": time_peer}, rounds if answer["seconds"] < 1 else 2)
    return found | {"solver": Times(tuple(solver))}


def most_possible(folder: Path, names: list[str], rounds: int) -> tuple[str, list[Target]]:
    """The most possible configurations beside toulbar2."""
    lines: list[list[str]] = []
    ratios: dict[str, float] = {}
    for name in names:
        net = load(name)
        file = folder / f"{name}.uai"
        pn.write_network(net, file)
        for share in WITH_EVIDENCE:
            evidence = possible_evidence(net, share)
            cells = [name, f"{share:.0%}"]
            for k in (1, 10):
                found = compare_best(net, file, evidence, k, rounds)
                if "toulbar2" in found:
                    ratios[f"{name}, {share:.0%} known, k = {k}"] = found["toulbar2"].best / found["possnet"].best
                    cells += [*map(str, found.values()), f"{[*ratios.values()][-1]:.1f}"]
                else:
                    cells += [str(found["possnet"]), "-", "-", "-"]
            lines.append(cells)
            say(" ".join(lines[-1]))
    worst = min(ratios, key=ratios.__getitem__)
    head = " network | known | the best | toulbar2 | its solver | times | ten best | toulbar2 | its solver | times "
    return f"{BEST_TEXT.format(limit=LIMIT)}\n\n{table(head, lines)}", [
        Target("most possible configurations, never slower", worst, "toulbar2", ratios[worst], 1)
    ]


def measure() -> Section:
    """The whole section."""
    with tempfile.TemporaryDirectory() as name, Peer() as peer:
        rows, of_rows = rows_of_evidence(Path(name), NETWORKS, ROUNDS, peer)
        single, of_single = single_questions(Path(name), LOOPED_NETWORKS, 3, peer)
        filled, of_filled = completions(Path(name), NETWORKS, 3, peer)
    with tempfile.TemporaryDirectory() as name:
        best, of_best = most_possible(Path(name), SOLVED, 3)
    few, of_few = few_rows(LOOPED_NETWORKS)
    return Section(
        f"{rows}\n\n{single}\n\n{few}\n\n{filled}\n\n{best}",
        [*of_rows, *of_single, *of_few, *of_filled, *of_best],
    )
