"""Random networks, for tests and experiments."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from possnet.doors import check_arguments
from possnet.errors import InputError, require_whole
from possnet.graph import Dag
from possnet.limits import refuse_over
from possnet.network.network import Network
from possnet.possibility import PRODUCT, Conjunction, check_conjunction
from possnet.seeds import seed_of
from possnet.variables import Variable

if TYPE_CHECKING:
    from possnet.aliases import Floats


@check_arguments
def random_network(
    n: int,
    *,
    max_parents: int = 3,
    states: int | tuple[int, int] = (2, 4),
    zeros: float = 0.0,
    ties: float = 0.0,
    conjunction: Conjunction = PRODUCT,
    rng: np.random.Generator | int | None = None,
) -> Network:
    """Random network; the same ``rng`` gives the same network.

    A variable has up to ``max_parents`` parents among the earlier ones (their number is uniform) and a number of states
    in the range ``states``, ends included. In every row one state has degree 1; any other degree is 0 with probability
    ``zeros``, equal to another degree of its row with probability ``ties``, and otherwise uniform on (0, 1).

    >>> net = random_network(20, max_parents=3, states=(2, 4), rng=1)
    >>> net == random_network(20, max_parents=3, states=(2, 4), rng=1), len(net.variables)
    (True, 20)
    """
    fewest, most = (states, states) if isinstance(states, int) else states
    n = require_whole(n, 1, "random_network: n")
    require_whole(max_parents, 0, "random_network: max_parents")
    require_whole(most, require_whole(fewest, 1, "random_network: states"), "random_network: states up to")
    if zeros < 0 or ties < 0 or zeros + ties > 1:
        raise InputError(f"random_network: zeros={zeros}, ties={ties}; expected shares >= 0 that add up to <= 1")
    check_conjunction(conjunction)
    generator = rng if isinstance(rng, np.random.Generator) else np.random.default_rng(seed_of(rng))
    width = len(str(n))
    names = [f"x{k:0{width}d}" for k in range(1, n + 1)]
    variables = {}
    parents = {}
    tables = {}
    for position, name in enumerate(names):
        size = int(generator.integers(fewest, most + 1))
        variables[name] = Variable(name, tuple(f"s{k}" for k in range(1, size + 1)))
        count = int(generator.integers(0, min(max_parents, position) + 1))
        chosen = np.sort(generator.choice(position, size=count, replace=False)) if count else ()
        parents[name] = tuple(names[k] for k in chosen)
        shape = tuple(len(variables[parent]) for parent in parents[name])
        refuse_over(8 * 4 * size * prod(shape), f"the table of {name!r}", "use fewer parents or states")
        tables[name] = _random_rows((*shape, size), zeros, ties, generator)
    return Network.unchecked(variables.values(), Dag(parents), tables, conjunction=conjunction)


def _random_rows(shape: tuple[int, ...], zeros: float, ties: float, generator: np.random.Generator) -> Floats:
    degrees = 1.0 - generator.random(shape)
    tops = generator.integers(0, shape[-1], shape[:-1])[..., np.newaxis]
    np.put_along_axis(degrees, tops, 1.0, axis=-1)
    fate = generator.random(shape)
    copied = np.take_along_axis(degrees, generator.integers(0, shape[-1], shape), axis=-1)
    degrees = np.where(fate < zeros, 0.0, np.where(fate < zeros + ties, copied, degrees))
    np.put_along_axis(degrees, tops, 1.0, axis=-1)
    return degrees
