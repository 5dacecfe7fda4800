"""Makers of gates: few numbers in, a conditional table out; and the same from what a file keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from possnet.doors import check_arguments, checks_itself
from possnet.errors import InputError, among, describe_value, require_known, require_number
from possnet.gates.gate import Gate, combine_effects
from possnet.possibility import PRODUCT, Conjunction, as_degrees, check_conjunction
from possnet.variables import Variable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from possnet.aliases import Bools, Floats
    from possnet.gates.gate import GateKind

_ACTIVE = ("yes", "true", "on", "present", "positive", "1")
Numbers = float | Mapping[str, float]


@check_arguments
@checks_itself("parents")
def gate_or(
    child: Variable,
    parents: Sequence[Variable],
    *,
    inhibition: Numbers = 0.0,
    leak: float = 0.0,
    thresholds: Mapping[str, str] | None = None,
    active: str | None = None,
    conjunction: Conjunction = PRODUCT,
) -> Gate:
    """Uncertain OR: the child is active if some parent acts.

    π(inactive | parents) is the conjunction of the inhibitions of the active parents, and π(active) is 1 if any is active,
    else the leak.

    Equation
    --------
    π(y | x_1, ..., x_n) = max_{z : or(z) = y} π(z_L) ⊗ π(z_1 | x_1) ⊗ ... ⊗ π(z_n | x_n)

    Parameters
    ----------
    child
        A variable with two states.
    inhibition
        How possible it is that an active parent has no effect, below 1; one number, or one for each parent.
    leak
        How possible it is that the child is active though no parent is.
    thresholds
        Parent -> the state from which on it is active. By default the upper of two states (``yes``, ``true``, ``on``,
        ``present``, ``positive`` or ``1``, else the last one); of more ordered states all but the lowest.
    active
        The active state of the child, by the same default.
    conjunction
        That of the network it is for.

    Examples
    --------
    >>> import possnet as pn
    >>> flu, measles, cough = (pn.Variable(name, ("no", "yes")) for name in ("flu", "measles", "cough"))
    >>> gate_or(cough, [flu, measles], inhibition=0.4, conjunction=pn.MIN).table.tolist()
    [[[1.0, 0.0], [0.4, 1.0]], [[0.4, 1.0], [0.4, 1.0]]]
    """
    parameters = {"inhibition": inhibition, "leak": leak, "thresholds": thresholds, "active": active}
    return _make_switch("or", child, parents, parameters, conjunction)


@check_arguments
@checks_itself("parents")
def gate_and(
    child: Variable,
    parents: Sequence[Variable],
    *,
    inhibition: Numbers = 0.0,
    substitution: Numbers = 0.0,
    leak: float = 0.0,
    thresholds: Mapping[str, str] | None = None,
    active: str | None = None,
    conjunction: Conjunction = PRODUCT,
) -> Gate:
    """Uncertain AND: the child is active if all parents act.

    Equation
    --------
    π(y | x_1, ..., x_n) = max_{z : and(z) = y} π(z_L) ⊗ π(z_1 | x_1) ⊗ ... ⊗ π(z_n | x_n)

    Parameters
    ----------
    inhibition
        How possible it is that an active parent does not do its part; one number, or one for each parent.
    substitution
        How possible it is that the part of an inactive parent is done all the same.
    leak
        How possible it is that the child stays inactive for another reason, though all parts are done.
    child, thresholds, active, conjunction
        As in `gate_or`.

    Examples
    --------
    >>> import possnet as pn
    >>> key, fuel, starts = (pn.Variable(name, ("no", "yes")) for name in ("key", "fuel", "starts"))
    >>> gate_and(starts, [key, fuel], substitution={"key": 0.1}, leak=0.3).table.tolist()
    [[[1.0, 0.0], [1.0, 0.1]], [[1.0, 0.0], [0.3, 1.0]]]
    """
    parameters = {
        "inhibition": inhibition,
        "substitution": substitution,
        "leak": leak,
        "thresholds": thresholds,
        "active": active,
    }
    return _make_switch("and", child, parents, parameters, conjunction)


@check_arguments
@checks_itself("parents")
def gate_max(
    child: Variable,
    parents: Sequence[Variable],
    *,
    effects: Numbers | Mapping[str, ArrayLike],
    leak: float | Sequence[float] = 0.0,
    thresholds: Mapping[str, str] | None = None,
    conjunction: Conjunction = PRODUCT,
) -> Gate:
    """Uncertain MAX: the child is as high as the highest effect of a parent.

    Equation
    --------
    π(y | x_1, ..., x_n) = max_{z : max(z) = y} π(z_L) ⊗ π(z_1 | x_1) ⊗ ... ⊗ π(z_n | x_n)

    Parameters
    ----------
    child
        A variable with ordered states, the lowest first, or with two states.
    effects
        For each parent π(effect | state), an array (its states, the child's states) whose rows peak at 1; or a number, if
        the parent has as many states as the child: a state has the effect of its own rank, and weaker effects are as
        possible as the number says. One number is meant for all parents.
    leak
        π of the effect of all that is not listed, which peaks at the lowest state; a number is the degree of all others.
    thresholds
        Parent -> the state from which on it has an effect; below, it has none.
    conjunction
        That of the network it is for.

    Examples
    --------
    >>> import possnet as pn
    >>> states = ("none", "mild", "high")
    >>> cold, flu, fever = (pn.Variable(name, states, ordered=True) for name in ("cold", "flu", "fever"))
    >>> gate_max(fever, [cold, flu], effects={"cold": 0.5, "flu": 0.2}).table[1, 2].tolist()
    [0.1, 0.2, 1.0]
    """
    parameters = {"effects": effects, "leak": leak, "thresholds": thresholds}
    return _make_ladder("max", child, parents, parameters, conjunction)


@check_arguments
@checks_itself("parents")
def gate_min(
    child: Variable,
    parents: Sequence[Variable],
    *,
    effects: Numbers | Mapping[str, ArrayLike],
    leak: float | Sequence[float] = 0.0,
    thresholds: Mapping[str, str] | None = None,
    conjunction: Conjunction = PRODUCT,
) -> Gate:
    """Uncertain MIN: the child is as low as the lowest effect of a parent.

    Equation
    --------
    π(y | x_1, ..., x_n) = max_{z : min(z) = y} π(z_L) ⊗ π(z_1 | x_1) ⊗ ... ⊗ π(z_n | x_n)

    Parameters
    ----------
    effects
        As in `gate_max`; a number is how possible it is that a parent limits the child less than its own rank does.
    leak
        π of the limit by all that is not listed, which peaks at the highest state; a number is the degree of all others.
    thresholds
        Parent -> the state from which on it limits nothing; below, its effect holds.
    child, conjunction
        As in `gate_max`.

    Examples
    --------
    >>> import possnet as pn
    >>> states = ("low", "middle", "high")
    >>> skill, time, quality = (pn.Variable(name, states, ordered=True) for name in ("skill", "time", "quality"))
    >>> gate_min(quality, [skill, time], effects=0.3).table[2, 0].tolist()
    [1.0, 0.3, 0.3]
    """
    parameters = {"effects": effects, "leak": leak, "thresholds": thresholds}
    return _make_ladder("min", child, parents, parameters, conjunction)


def restore_gate(
    kind: str, child: Variable, parents: Sequence[Variable], parameters: Mapping[str, Any], conjunction: Conjunction
) -> Gate:
    """The gate of a kind with the parameters that a file keeps.

    >>> import possnet as pn
    >>> a, b = pn.Variable("a", ("no", "yes")), pn.Variable("b", ("no", "yes"))
    >>> gate = pn.gate_or(b, [a], inhibition=0.3)
    >>> restore_gate("or", b, [a], gate.parameters, pn.PRODUCT) == gate
    True
    """
    makers: dict[str, Any] = {"or": gate_or, "and": gate_and, "max": gate_max, "min": gate_min}
    require_known(kind, makers, f"gate of {child.name!r}: kind")
    allowed = {
        "or": ("inhibition", "leak", "thresholds", "active"),
        "and": ("inhibition", "substitution", "leak", "thresholds", "active"),
        "max": ("effects", "leak", "thresholds"),
        "min": ("effects", "leak", "thresholds"),
    }[kind]
    for key in parameters:
        if key not in allowed:
            raise InputError(f"gate of {child.name!r}: {kind.upper()} has no parameter {key!r}{among(key, allowed)}")
    if kind in {"max", "min"} and "effects" not in parameters:
        raise InputError(f"gate of {child.name!r}: no effects; expected one for each parent")
    gate: Gate = makers[kind](child, parents, **parameters, conjunction=conjunction)
    return gate


def _make_switch(
    kind: GateKind, child: Variable, parents: Sequence[Variable], given: Mapping[str, Any], conjunction: Conjunction
) -> Gate:
    """An OR or an AND: two levels, inactive and active."""
    owner = _check_family(kind, child, parents, conjunction)
    if len(child) != 2:
        raise InputError(f"{owner}: the child has {len(child)} states; expected two. See gate_max and gate_min")
    active = _active_state(child) if given["active"] is None else child.states[child.index(given["active"])]
    marks = {p.name: _active_states(p, given["thresholds"], owner) for p in parents}
    _check_names(given["thresholds"], parents, f"{owner}: thresholds")
    inhibition = _spread_numbers(given["inhibition"], parents, f"{owner}: inhibition")
    substitution = _spread_numbers(given.get("substitution", 0.0), parents, f"{owner}: substitution")
    leak = require_number(given["leak"], f"{owner}: leak", "a number from 0 to 1", 0.0, 1.0)
    effects = [
        np.where(marks[p.name][:, np.newaxis], [inhibition[p.name], 1.0], [1.0, substitution[p.name]]) for p in parents
    ]
    neutral = np.array([1.0, leak] if kind == "or" else [leak, 1.0])
    levels = combine_effects(effects, neutral, conjunction, largest=kind == "or")
    order = [1, 0] if child.index(active) == 0 else [0, 1]
    kept: dict[str, Any] = {}
    if kind == "or" or any(inhibition.values()):
        kept["inhibition"] = inhibition
    if kind == "and":
        kept["substitution"] = substitution
    kept["leak"] = leak
    if given["thresholds"]:
        kept["thresholds"] = dict(given["thresholds"])
    if active != _active_state(child):
        kept["active"] = active
    return _finish_gate(kind, child, parents, kept, conjunction, levels[..., order])


def _make_ladder(
    kind: GateKind, child: Variable, parents: Sequence[Variable], given: Mapping[str, Any], conjunction: Conjunction
) -> Gate:
    """A MAX or a MIN: as many levels as the child has states."""
    owner = _check_family(kind, child, parents, conjunction)
    if not child.ordered and len(child) > 2:
        raise InputError(
            f"{owner}: the states of the child are not ordered; expected Variable({child.name!r}, ..., ordered=True)"
        )
    rank = _rank_states(child)
    _check_names(given["thresholds"], parents, f"{owner}: thresholds")
    raw = given["effects"]
    _check_names(raw if isinstance(raw, Mapping) else None, parents, f"{owner}: effects")
    effects, kept_effects = [], {}
    for p in parents:
        if isinstance(raw, Mapping) and p.name not in raw:
            raise InputError(f"{owner}: no effect of {p.name!r}; expected one for each parent")
        value = raw[p.name] if isinstance(raw, Mapping) else raw
        table = _read_effect(kind, p, child, value, f"{owner}: effect of {p.name!r}")
        kept_effects[p.name] = table.tolist() if _has_parts(value) else float(value)
        state = (given["thresholds"] or {}).get(p.name)
        if state is not None:
            acts = _active_states(p, given["thresholds"], owner)
            idle = ~acts if kind == "max" else acts
            table = np.where(idle[:, np.newaxis], np.eye(len(child))[rank[0 if kind == "max" else -1]], table)
        effects.append(table[:, rank])
    leak, kept_leak = _read_leak(kind, child, given["leak"], rank, owner)
    levels = combine_effects(effects, leak[rank], conjunction, largest=kind == "max")
    table = np.empty_like(levels)
    table[..., rank] = levels
    kept: dict[str, Any] = {"effects": kept_effects, "leak": kept_leak}
    if given["thresholds"]:
        kept["thresholds"] = dict(given["thresholds"])
    return _finish_gate(kind, child, parents, kept, conjunction, table)


def _finish_gate(
    kind: GateKind,
    child: Variable,
    parents: Sequence[Variable],
    parameters: dict[str, Any],
    conjunction: Conjunction,
    table: Floats,
) -> Gate:
    table = np.ascontiguousarray(table)
    table.flags.writeable = False
    return Gate(kind, child, tuple(parents), parameters, conjunction, table)


def _check_family(kind: str, child: object, parents: object, conjunction: object) -> str:
    """The name of the gate in messages; an `InputError` unless it has a child and distinct parents."""
    owner = f"gate_{kind}"
    if not isinstance(child, Variable):
        raise InputError(f"{owner}: child {child!r}; expected a Variable")
    owner = f"{owner} of {child.name!r}"
    if isinstance(parents, Variable) or not isinstance(parents, Sequence) or not parents:
        raise InputError(f"{owner}: parents {describe_value(parents)}; expected one or more variables in a list")
    for parent in parents:
        if not isinstance(parent, Variable):
            raise InputError(f"{owner}: parent {describe_value(parent)}; expected a Variable")
    names = [child.name, *(parent.name for parent in parents)]
    if len(set(names)) < len(names):
        raise InputError(f"{owner}: a variable appears twice; expected distinct variables")
    check_conjunction(conjunction)
    return owner


def _check_names(given: object, parents: Sequence[Variable], owner: str) -> None:
    """Raise an `InputError` for a name that is no parent."""
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"{owner} {given!r}; expected a mapping from parents")
    names = [parent.name for parent in parents]
    for name in given or ():
        if name not in names:
            raise InputError(f"{owner}: {name!r} is no parent{among(name, names)}")


def _spread_numbers(given: Any, parents: Sequence[Variable], owner: str) -> dict[str, float]:
    """A number for each parent: the same for all, or those of a mapping and 0 for others."""
    if isinstance(given, Mapping):
        _check_names(given, parents, owner)
        spread = {parent.name: given.get(parent.name, 0.0) for parent in parents}
    else:
        spread = {parent.name: given for parent in parents}
    return {
        name: require_number(number, f"{owner} of {name!r}", "a number from 0 to 1", 0.0, 1.0)
        for name, number in spread.items()
    }


def _active_state(variable: Variable) -> str:
    """The upper one of two states: the one with a name that says so, else the last."""
    if not variable.ordered:
        for state in variable.states:
            if state.lower() in _ACTIVE:
                return state
    return variable.states[-1]


def _rank_states(variable: Variable) -> list[int]:
    """Positions of the states, the lowest first: in their order; of two unordered ones the active one is higher."""
    if variable.ordered or len(variable) != 2:
        return list(range(len(variable)))
    return [1, 0] if variable.index(_active_state(variable)) == 0 else [0, 1]


def _active_states(parent: Variable, thresholds: Mapping[str, str] | None, owner: str) -> Bools:
    """Which states of a parent are active: from its threshold on."""
    rank = _rank_states(parent)
    given = (thresholds or {}).get(parent.name)
    if len(parent) > 2 and not parent.ordered:
        raise InputError(
            f"{owner}: the states of {parent.name!r} are not ordered; expected two states, or "
            f"Variable({parent.name!r}, ..., ordered=True)"
        )
    if given is None:
        first = 1
    else:
        place = parent.index(given)
        if len(parent) == 2 and not parent.ordered and rank.index(place) == 0:
            rank = rank[::-1]  # of two unordered states either may be the active one
        first = rank.index(place)
    active = np.zeros(len(parent), dtype=np.bool_)
    active[rank[first:]] = True
    return active


def _has_parts(value: object) -> bool:
    """Whether a value is meant as an array; whether it is a rectangular one is checked where it is read."""
    return hasattr(value, "__len__") and not isinstance(value, str)


def _read_effect(kind: GateKind, parent: Variable, child: Variable, value: Any, owner: str) -> Floats:
    """π(effect | state of the parent), (its states, the child's states)."""
    shape = (len(parent), len(child))
    if _has_parts(value):
        table = as_degrees(value, shape, owner)
        low = np.flatnonzero(table.max(axis=1) != 1.0)
        if len(low):
            raise InputError(
                f"{owner} given {parent.states[low[0]]!r} peaks at {table[low[0]].max():.6g}; expected 1 for every state"
            )
        return table
    number = require_number(value, owner, "a number from 0 to 1, or an array", 0.0, 1.0)
    if len(parent) != len(child) or (len(parent) > 2 and not parent.ordered):
        raise InputError(
            f"{owner}: a number, and {parent.name!r} has {len(parent)} states for {len(child)} of the child; expected as "
            f"many, ordered, or an array of shape {shape}"
        )
    levels = np.arange(len(child))
    gap = levels - levels[:, np.newaxis]  # effect minus state, as ranks
    ranked = np.where(gap == 0, 1.0, np.where((gap < 0) == (kind == "max"), number, 0.0))
    table = np.empty(shape)
    table[np.ix_(_rank_states(parent), _rank_states(child))] = ranked
    return table


def _read_leak(kind: GateKind, child: Variable, value: Any, rank: list[int], owner: str) -> tuple[Floats, Any]:
    """π of the leak over the child's states, and as it is kept."""
    neutral = rank[0 if kind == "max" else -1]
    if _has_parts(value):
        leak = as_degrees(value, (len(child),), f"{owner}: leak")
        if leak[neutral] != 1.0:
            raise InputError(
                f"{owner}: leak has {leak[neutral]:.6g} for {child.states[neutral]!r}; expected 1, because without other "
                f"causes the {'maximum' if kind == 'max' else 'minimum'} is decided by the parents"
            )
        return leak, leak.tolist()
    number = require_number(value, f"{owner}: leak", "a number from 0 to 1, or one for each state", 0.0, 1.0)
    leak = np.full(len(child), number)
    leak[neutral] = 1.0
    return leak, number
