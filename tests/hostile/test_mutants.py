"""Mutants: every change is one, names are stable, and what was judged is enough."""

from __future__ import annotations

import ast
from collections import Counter

from tests.hostile.ledger import Record
from tests.hostile.mutant_results import SAMPLED, count_outcomes, read_results, share_killed
from tests.hostile.mutants import count_results, keep_sampled
from tests.hostile.mutator import find_mutants, mutate_source

SOURCE = '''
"""A docstring of 3 words."""
LIMIT = 10

def clip(values, low=0.0):
    """Values within bounds."""
    kept = [min(value, LIMIT) for value in values if value >= low]
    if not kept:
        raise ValueError(f"no value in {values[1:3]}")
    total = 0
    for value in kept[1:]:
        total += value * 2
    return total - low
'''


def run_clip(tree: ast.Module, *arguments: object) -> object:
    names: dict[str, object] = {}
    exec(compile(tree, "clip", "exec"), names)  # noqa: S102 - the text above
    clip = names["clip"]
    assert callable(clip)
    return clip(*arguments)


def test_every_mutant_is_another_program_that_compiles_and_no_two_have_one_name() -> None:
    mutants = find_mutants("toy", SOURCE)
    assert len({mutant.name for mutant in mutants}) == len(mutants) > 15
    trees = {ast.dump(mutate_source("toy", SOURCE, mutant.name)[0]) for mutant in mutants}
    assert len(trees) == len(mutants)
    assert ast.dump(ast.parse(SOURCE)) not in trees
    for mutant in mutants:
        compile(mutate_source("toy", SOURCE, mutant.name)[0], "toy", "exec")


def test_texts_and_messages_are_left_alone_and_other_kinds_of_mistakes_are_made() -> None:
    operators = Counter(mutant.operator for mutant in find_mutants("toy", SOURCE))
    assert set(operators) == {
        "arithmetic", "boundary", "comparison", "constant", "filter", "forgotten", "returns None", "slice",
        "twin", "unary",
    }  # fmt: skip
    assert operators["slice"] == 2  # that of the message is none


def test_most_mutants_of_a_small_function_change_what_it_returns() -> None:
    """By running them: of all changes only those at a bound or of an error go unnoticed by two calls."""
    calls = ([0, 1, 5, 20], 1), ([-1, 0, 3],)
    right = [run_clip(ast.parse(SOURCE), *call) for call in calls]
    unnoticed = []
    for mutant in find_mutants("toy", SOURCE):
        tree, _ = mutate_source("toy", SOURCE, mutant.name)
        try:
            if [run_clip(tree, *call) for call in calls] == right:
                unnoticed.append(mutant.operator)
        except (TypeError, ValueError):
            continue
    assert unnoticed == ["forgotten"]  # the error that neither call raises


def test_a_mutant_keeps_its_name_and_digest_while_other_functions_change() -> None:
    before = {mutant.name: mutant.digest for mutant in find_mutants("toy", SOURCE)}
    longer = SOURCE.replace("LIMIT = 10", "LIMIT = 10\n\ndef other(x):\n    return x + 1\n")
    after = {mutant.name: mutant.digest for mutant in find_mutants("toy", longer)}
    assert before.items() <= after.items()
    changed = {mutant.name: mutant.digest for mutant in find_mutants("toy", SOURCE.replace("* 2", "* 3"))}
    assert before["toy:clip:returns None:1"] != changed["toy:clip:returns None:1"]


def test_every_judged_mutant_has_an_outcome_and_a_witness_or_a_reason() -> None:
    assert sum(SAMPLED.values()) == 500
    for name, (_, outcome, by, change) in read_results().items():
        assert outcome in {"killed", "timeout", "equivalent", "survived"}, name
        assert by, name
        assert change, name


def test_of_every_room_nine_mutants_in_ten_are_noticed() -> None:
    for room, counts in count_outcomes(read_results()).items():
        assert share_killed(counts) >= 0.9, room
        assert counts["equivalent"] <= 0.3 * counts.total(), room  # reasons are rarer than tests


def test_the_share_of_noticed_mutants_leaves_out_those_that_nobody_can_notice() -> None:
    results = {
        f"em/squarem:f:constant:{k}": ["", outcome, "why", "0 -> 1"]
        for k, outcome in enumerate(("killed", "timeout", "equivalent", "survived"))
    }
    assert share_killed(count_outcomes(results)["em"]) == 2 / 3
    assert count_outcomes(results)["io"] == Counter()


def test_the_ledger_has_every_judged_mutant_once_and_the_survivors_as_failures() -> None:
    """Whoever judged them; a survivor that is noticed later is mended, and one whose function changed is to be judged again."""
    mutants = find_mutants("toy", SOURCE)[:6]
    batches, record = [mutants[:3], mutants[3:]], Record()
    results = {m.name: [m.digest, "killed", "test", "0 -> 1"] for m in mutants[:5]}
    results[mutants[0].name][1] = results[mutants[4].name][1] = "survived"
    count_results(batches, results, record)
    assert (record.tried, record.failed, record.mended, record.done) == (5, 2, 0, False)
    results[mutants[4].name][1] = "equivalent"
    results[mutants[5].name] = [mutants[5].digest, "timeout", "test", "0 -> 1"]
    count_results(batches, results, record)
    assert (record.tried, record.failed, record.mended, record.done) == (6, 2, 1, True)
    results[mutants[1].name][0] = "changed"
    count_results(batches, results, record)
    assert (record.tried, record.failed, record.mended, record.done) == (5, 2, 1, False)
    assert keep_sampled(batches, {**results, "gone": ["", "killed", "test", "0 -> 1"]}) == results
