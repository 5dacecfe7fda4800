"""Constraints and options: what is kept, and what is refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import possnet as pn
from possnet.dependence import CONTOUR_MEASURES
from possnet.structure import (
    MEASURES,
    METHODS,
)


@pytest.mark.parametrize(("method", "name"), [*product(("greedy", "k2"), ("random-set-bic", "traced-bic")), ("hybrid-dag", None)])  # fmt: skip
def test_constraints_are_kept(method: Any, name: Any) -> None:
    net = pn.load_example("asia")
    data = pn.sample(net, 1000, process="traced", imprecision=0.3, rng=1)
    learned = pn.learn_structure(
        data,
        method,
        measure=name,
        constraints=pn.Constraints(
            required=[("xray", "asia")],
            forbidden=[("bronc", "dysp"), ("dysp", "bronc")],
            tiers=[["either", "smoke"], ["lung", "bronc", "tub"]],
            max_parents=2,
        ),
        search=pn.Search(tabu=3, restarts=1, orders=3),
    )
    edges = set(learned.dag.edges)
    assert ("xray", "asia") in edges
    assert not edges & {("bronc", "dysp"), ("dysp", "bronc")}
    assert not any(p in {"lung", "bronc", "tub"} and c in {"either", "smoke"} for p, c in edges)
    assert max(len(learned.dag.parents(n)) for n in learned.dag.nodes) <= 2


def test_what_cannot_be_learned_is_refused() -> None:
    data = pn.sample(pn.load_example("clinic"), 50, imprecision=1.0, rng=1)
    names = [v.name for v in data.variables]
    refused: list[tuple[dict[str, Any], str]] = [
        ({"method": "gredy"}, "method 'gredy'; expected auto, greedy.*did you mean 'greedy'"),
        ({"measure": "bick"}, "measure 'bick'.*did you mean 'bic'"),
        ({"measure": ""}, "measure ''; expected auto, random-set-bic"),
        ({"measure": 0}, "measure 0; expected auto, random-set-bic"),
        ({"measure": "bic"}, "not single states.*random-set-bic"),
        ({"method": "greedy", "measure": "chi2"}, "no price that would keep it from adding edges"),
        ({"method": "hybrid-tree", "measure": "chi2"}, "expected measure specificity-gain"),
        ({"required": [("fevr", "rash")]}, "names 'fevr', which the data lacks.*did you mean 'fever'"),
        ({"required": [("fever", "fever")]}, "to itself"),
        ({"required": ["fever"]}, "expected a pair"),
        ({"required": "fever"}, "expected pairs"),
        ({"required": [("fever", "rash"), ("rash", "fever")]}, "required.*cycle"),
        ({"required": [("fever", "rash")], "forbidden": [("fever", "rash")]}, "is required, and forbidden"),
        ({"required": [("fever", "rash")], "tiers": [["rash"], ["fever"]]}, "against the tiers"),
        ({"required": [("fever", "rash")], "max_parents": 0}, "more required parents"),
        ({"tiers": [["fever"], ["fever"]]}, "two tiers"),
        ({"tiers": ["fever"]}, "expected a list of names"),
        ({"tiers": 3}, "expected lists of names"),
        ({"tiers": [[["fever"]]]}, "expected a list of names"),
        ({"tiers": [["fevr"]]}, "tier names 'fevr', which the data lacks.*did you mean 'fever'"),
        ({"max_parents": -1}, "max_parents -1"),
        ({"threshold": 10**400}, "threshold an int of 1329 bits; expected a number"),
        ({"method": "k2", "order": names[:2]}, "expected every variable once"),
        (
            {"method": "k2", "order": names, "required": [(names[2], names[0])]},
            f"order has '{names[0]}' before '{names[2]}', but '{names[2]}' -> '{names[0]}' is required",
        ),
        ({"method": "k2", "order": "abc"}, "expected the names of all variables"),
        ({"orders": 0}, "orders 0"),
        ({"tabu": -1}, "tabu -1"),
        ({"restarts": 1.5}, "restarts 1.5"),
        ({"bootstrap": -1}, "bootstrap -1"),
        ({"max_steps": True}, "max_steps True"),
        ({"threshold": "high"}, "threshold 'high'"),
        ({"errors": float("nan")}, "errors nan"),
        ({"errors": None}, "errors None"),
        ({"errors": -1}, "errors -1; expected standard errors from 0 on"),
        ({"conjunction": "min"}, "expected possnet.PRODUCT or possnet.MIN"),
        ({"rng": -1}, "rng -1"),
    ]
    limits, searches = {"required", "forbidden", "tiers", "max_parents"}, set(pn.Search.__dataclass_fields__)
    for options, message in refused:
        with pytest.raises(pn.InputError, match=message):
            pn.learn_structure(
                data,
                constraints=pn.Constraints(**{k: v for k, v in options.items() if k in limits}),
                search=pn.Search(**{k: v for k, v in options.items() if k in searches}),
                **{k: v for k, v in options.items() if k not in limits | searches},
            )
    for wrong in ({"constraints": {"max_parents": 2}}, {"search": 5}):
        with pytest.raises(pn.InputError, match=r"expected possnet\.(Constraints|Search)\(\.\.\.\)"):
            pn.learn_structure(data, **wrong)
    with pytest.raises(pn.InputError, match="read files with read_data"):
        pn.learn_structure("rows.csv")  # type: ignore[arg-type]


def test_constraints_and_options_are_values() -> None:
    one = pn.Constraints(required=[("a", "b")], tiers=[["a"], ["b"]])
    assert one == pn.Constraints(required=(("a", "b"),), tiers=(name for name in (("a",), ("b",))))
    assert hash(one) == hash(pn.Constraints(required=(("a", "b"),), tiers=(("a",), ("b",))))
    assert pn.Search(order=["a", "b"]) == pn.Search(order=("a", "b")) != pn.Search()


def test_every_measure_is_a_name_of_the_contract() -> None:
    assert set(METHODS) == {"auto", "mwst", "k2", "greedy", "boss", "hidden-tree", "hybrid-tree", "hybrid-dag"}
    scores = {"auto", "bic", "random-set-bic", "traced-bic", "coarsened-bic", "cut-bic", "mdl", "bdeu"}
    assert set(MEASURES) == {*CONTOUR_MEASURES, *scores, "hidden-mutual-information"}
