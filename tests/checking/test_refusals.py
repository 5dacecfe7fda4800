"""What the hold-out check refuses, each in a sentence; recipes and folds; and how a check prints itself."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import possnet as pn
from possnet.checking.fold_rows import split_folds

ASIA = pn.load_example("asia")
ROWS = pn.sample(ASIA, 30, process="precise", rng=1)
RECIPE = pn.Recipe(dag=ASIA.dag)


@pytest.mark.parametrize(
    ("subject", "options", "message"),
    [
        (
            ASIA,
            {"targets": ("lugn",)},
            "target 'lugn' is no column of the data that the network has .*did you mean 'lung'",
        ),
        (RECIPE, {"targets": ("lugn",)}, "target 'lugn' is no column of the data .*did you mean 'lung'"),
        (ASIA, {"targets": "lung"}, r"targets 'lung'; expected several texts.*, such as \('lung',\)"),
        (RECIPE, {"folds": 31}, "30 rows for 31 folds; expected at least as many, or fewer folds"),
        (RECIPE, {"folds": 1}, "check: folds 1; expected a whole number from 2 on"),
        (RECIPE, {"groups": "ward"}, "no variable 'ward'"),
        (RECIPE, {"groups": np.arange(7)}, r"groups of shape \(7,\) for 30 rows; expected one label for each row"),
        (RECIPE, {"groups": np.arange(30) // 10, "folds": 4}, "3 groups for 4 folds"),
        (ASIA, {"groups": np.arange(30)}, "groups= are for folds, and a network that is given has none"),
        (ASIA, {"truth": {"lung": "lung_true"}}, "truth of 'lung' in 'lung_true': no such column"),
        (ASIA, {"truth": {"lnug": "tub"}}, "target 'lnug' is no column of the data"),
        (ASIA, {"levels": (0.0,)}, "check: levels 0.0; expected degrees above 0, up to 1"),
        (ASIA, {"levels": ()}, "check: no levels; expected degrees above 0, up to 1"),
        (ASIA, {"claims": (1.5,)}, "check: claims 1.5; expected degrees above 0, up to 1"),
        (ASIA, {"rng": -1}, "rng -1; expected a whole number"),
        (lambda _: 3, {}, "the recipe gave a int; expected a Network, or a result that has one as .network"),
        (lambda _: pn.load_example("pump"), {"targets": ("lung",)}, "the recipe's network lacks the target 'lung'"),
    ],
)
def test_what_cannot_be_checked_is_refused_in_a_sentence(subject: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(pn.InputError, match=message):
        pn.check(subject, ROWS, **options)


def test_a_target_of_which_nothing_is_known_is_refused_if_named_and_told_if_not() -> None:
    data = pn.Dataset.from_rows(ASIA.variables[:2], [("yes", None), ("no", None)])
    with pytest.raises(
        pn.InputError, match="no cell of 'tub' is known, so that there is nothing to hide; .*truth={'tub'"
    ):
        pn.check(ASIA, data, ("tub",))
    found = pn.check(ASIA, data)
    assert (found.skipped, set(found)) == (("tub",), {"asia"})
    assert "Not checked, for no cell of them is known: tub." in str(found)
    with pytest.raises(pn.InputError, match="nothing to hide"):
        pn.check(ASIA, data.select(["tub"]))
    with pytest.raises(pn.InputError, match="'tub' was not checked"):
        found["tub"]


def test_rows_without_a_group_and_other_states_are_refused() -> None:
    odd = pn.Dataset.from_table({"asia": ["yes", "maybe"]})
    with pytest.raises(pn.InputError, match="column 'asia' has states maybe, yes and the network yes, no"):
        pn.check(ASIA, odd)
    with pytest.raises(pn.InputError, match=r"no column of the data \(colour\) can be hidden and completed"):
        pn.check(ASIA, pn.Dataset.from_table({"colour": ["red"]}))
    who = pn.Dataset.from_table({"who": ["a", None, *["b"] * 28]}).column("who")
    with pytest.raises(pn.InputError, match="row 2 has no group; expected a label for each row"):
        pn.check(RECIPE, ROWS, groups=["a", None, *["b"] * 28])
    with pytest.raises(pn.InputError, match="row 2 has no group, its cell of 'who' is unknown"):
        pn.check(RECIPE, ROWS.with_columns([who]), groups="who")
    with pytest.raises(pn.InputError, match="check: 'rows.csv' holds no rows"):
        pn.check(ASIA, "rows.csv")  # type: ignore[arg-type]


def test_a_column_of_groups_is_neither_learned_from_nor_hidden() -> None:
    who = pn.Dataset.from_table({"who": [f"p{k // 3}" for k in range(30)]}).column("who")
    seen: list[set[str]] = []

    def learn(rows: pn.Dataset) -> pn.EmResult:
        seen.append({v.name for v in rows.variables})
        return pn.fit_em(ASIA.dag, rows)

    found = pn.check(learn, ROWS.with_columns([who]), groups="who", folds=3)
    assert seen == [{v.name for v in ASIA.variables}] * 3
    assert ("who" in found, found.groups, found.subject) == (False, "who", "learn")
    assert found.seen == "rows left out of learning, fold by fold (3 folds, rows of one who together)"


@given(st.lists(st.integers(0, 9), min_size=3, max_size=60), st.integers(0, 99))
def test_folds_part_the_rows_and_no_group_and_are_as_even_as_largest_groups_allow(labels: list[int], seed: int) -> None:
    groups = np.unique(labels, return_inverse=True)[1]
    if groups.max() < 2:
        with pytest.raises(pn.InputError, match="groups? for 3 folds|rows? for 3 folds"):
            split_folds(groups, 3, seed)
        return
    folds = split_folds(groups, 3, seed)
    assert sorted(np.concatenate(folds).tolist()) == list(range(len(labels)))
    parts = [set(groups[fold].tolist()) for fold in folds]
    assert sum(map(len, parts)) == len(set().union(*parts))
    sizes = [len(fold) for fold in folds]
    assert min(sizes) > 0
    assert max(sizes) - min(sizes) <= np.bincount(groups).max()


def test_recipes_learn_what_the_functions_they_name_learn() -> None:
    data = pn.sample(ASIA, 300, imprecision=0.5, process="traced", rng=2)
    by_em = pn.Recipe(learner="em", dag=ASIA.dag, options={"pseudo": 1.0}).learn(data)
    assert by_em.table("dysp") == pytest.approx(pn.fit_em(ASIA.dag, data, pseudo=1.0).network.table("dysp"))
    tree = pn.learn_structure(data, "mwst", measure="mutual-information")
    assert pn.Recipe("mwst", "mutual-information").learn(data).dag == tree.dag
    traced = pn.Recipe("greedy", "traced-bic").learn(data)
    climbed = pn.learn_structure(data, "greedy", measure="traced-bic")
    assert traced.table("dysp") == pytest.approx(pn.fit_em(climbed.dag, data).network.table("dysp"))
    assert pn.Recipe(learner="em").describe() == "structure by auto, tables by EM"
    assert RECIPE.describe() == "tables by counting on a given structure"
    with pytest.raises(
        pn.InputError, match="recipe: option 'rate' is not for learner 'em'; expected one of .*progress"
    ):
        pn.Recipe(learner="em", dag=ASIA.dag, options={"rate": 1}).learn(data)
    with pytest.raises(pn.InputError, match="recipe: learner 'emm'; expected .*did you mean 'em'"):
        pn.Recipe(learner="emm")


def test_a_check_prints_a_verdict_first_and_goes_to_json() -> None:
    data = pn.sample(ASIA, 200, imprecision=0.6, process="traced", rng=1)
    found = pn.check(RECIPE, data)
    text = str(found)
    assert text.splitlines()[0] == f"{found.verdict[0].upper()}{found.verdict[1:]}."
    assert f"right in {found.accuracy:.3f} of " in found.verdict
    assert repr(found) == f"Check({found.verdict})"
    for name in found:
        assert f"\n  {name} " in text
    assert "fold by fold (5 folds); 200 rows" in text
    html = found._repr_html_()
    assert found.verdict[1:] in html
    assert html.count("<table") == 3
    document = json.loads(json.dumps(asdict(found), allow_nan=False))
    assert document["variables"]["lung"]["coverage"]["0.5"] == found["lung"].coverage[0.5]
    assert document["variables"]["lung"]["cut_curve"][0] == {
        "level": 0.05,
        "coverage": found["lung"].coverage[0.05],
        "size": found["lung"].size[0.05],
    }


def test_the_verdict_says_better_worse_and_what_the_cuts_keep() -> None:
    found = pn.check(ASIA, ROWS, ("lung",))
    cells = found.overall
    for accuracy, words in ((0.9, "better than"), (0.5, "no better than"), (0.1, "worse than")):
        changed = replace(found, overall=replace(cells, accuracy=accuracy, baseline=0.5, margin=0.05))
        assert f"of 30 hidden cells, {words} the most frequent state (0.500" in changed.verdict
    low = replace(found, overall=replace(cells, coverage={0.1: 0.85}, size={0.1: 2.0}))
    assert "the cut at 0.1 holds the truth in 0.850, less than promised (0.9) with 2.0 states" in low.verdict
    lost = replace(found, overall=replace(cells, impossible=4))
    assert "4 cells in rows that it calls impossible" in lost.verdict


def test_cells_of_which_only_sets_are_known_are_met_or_not() -> None:
    variable = pn.Variable("a", ("x", "y", "z"))
    net = pn.Network((variable,), pn.Dag({"a": ()}), {"a": [1, 0.3, 0.01]})
    data = pn.Dataset.from_rows((variable,), [({"x", "y"},), ({"y", "z"},), (None,)])
    found = pn.check(net, data)
    assert (found["a"].rows, found["a"].sets, found.accuracy) == (0, 2, None)
    assert found.coverage == {0.5: 0.5, 0.2: 1.0, 0.1: 1.0, 0.05: 1.0}
    assert found.verdict.startswith("no hidden cell is precise, so that accuracy is not known; the cut at 0.1 meets")
    assert "sets: cells of which only a set is known" in str(found)
