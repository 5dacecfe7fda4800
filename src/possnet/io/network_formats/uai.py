"""Networks as UAI files, the format of probabilistic solvers; evidence files too.

A UAI file knows no names: variables and states are numbers. `write_uai` keeps the names in a side file,
``NAME.uai.names.json``, and `decode_uai` takes them from there if it exists; otherwise variables are called ``v0``,
``v1``, ... and states ``s0``, ``s1``, ... The side file also has a digest of the network that it was written with, so that
names and network of two writings, of which one was cut off in between, are not taken for each other; a side file without
a digest is one that somebody else wrote.

Tables are written with the parents in order and the variable itself last, the last one varying fastest: our own
order. The preamble is ``MARKOV`` by default, because degrees are not probabilities; solvers that maximise a product
then find the most possible configuration. A min-based network has no such file: a solver would multiply where the
network takes a minimum.

Reading gives the network back when every variable is the last one of exactly one factor, without cycles, and every
row peaks at 1. In a ``BAYES`` file whose rows add up to 1, probabilities are turned into possibilities. Any other
factors are potentials: they become a network with the same joint distribution, scaled to a largest value of 1 (see
`possnet.network.network_of_factors`).
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, get_args

import numpy as np

from possnet.doors import check_arguments
from possnet.errors import InputError, TooLarge, require_known
from possnet.graph import Dag
from possnet.io.atomic_files import write_text
from possnet.io.file_access import file_stem, is_gzipped, locate_offset, prefix_errors, read_bytes
from possnet.io.formats import NetworkFormat
from possnet.io.json_files import decode_variables, encode_variables
from possnet.io.probability_tables import convert_bayesian_network, parse_numbers, require_table_fits
from possnet.limits import refuse_above
from possnet.network import Network, network_of_factors
from possnet.possibility import PRODUCT, SNAP
from possnet.variables import Variable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from possnet.aliases import Floats
    from possnet.transforms import Transform

    Factor: TypeAlias = tuple[tuple[int, ...], Floats]

Preamble: TypeAlias = Literal["MARKOV", "BAYES"]
_NAMES = "possnet-uai-names"
_MOST_STATES = (
    100_000  # besides one for every word of the file: a few digits may announce any number, which takes its time
)


def names_file(path: str | Path) -> Path:
    """The side file that holds the names for a UAI file, gzipped or not.

    >>> names_file("asia.uai").name, names_file("asia.uai.gz").name
    ('asia.uai.names.json', 'asia.uai.names.json')
    """
    plain = Path(path).with_suffix("") if is_gzipped(path) else path
    return Path(f"{plain}.names.json")


def write_uai(network: Network, path: str | Path, preamble: Preamble = "MARKOV") -> None:
    """Write a product-based network as a UAI file, and its names in a side file."""
    if network.conjunction.name != PRODUCT.name:
        raise InputError(
            f"{path}: a {network.conjunction.name}-based network cannot be a UAI file, which multiplies; "
            "expected a product-based one"
        )
    require_known(preamble, get_args(Preamble), f"{path}: preamble")
    if not network.is_normalised:
        raise InputError(
            f"{path}: a subnormal network cannot be a UAI file, which is read up to scale; normalise it first"
        )
    place = {variable.name: number for number, variable in enumerate(network.variables)}
    scopes, blocks = [], []
    for variable in network.variables:
        scope = [place[name] for name in (*network.dag.parents(variable.name), variable.name)]
        table = network.table(variable.name)
        scopes.append(" ".join(map(str, (len(scope), *scope))))
        rows = "\n".join(" " + " ".join(map(repr, row)) for row in table.reshape(-1, table.shape[-1]).tolist())
        blocks.append(f"{table.size}\n{rows}\n")
    sizes = " ".join(str(len(variable)) for variable in network.variables)
    head = f"{preamble}\n{len(place)}\n{sizes}\n{len(place)}\n"
    text = head + "\n".join(scopes) + "\n\n" + "\n".join(blocks)
    names = {"name": network.name, "description": network.description, "network": _digest(text.encode())}
    write_text(names_file(path), encode_variables(network.variables, _NAMES, 1, names, indent=1) + "\n")
    write_text(path, text)


def decode_uai(content: bytes, path: str | Path, transform: Transform = "optimal") -> Network:
    """Network of the bytes of a UAI file, with the names of its side file if there is one."""
    owner = str(path)
    preamble, sizes, factors = _parse_factors(content, owner)
    name, description = file_stem(path), ""
    variables = [Variable(f"v{k}", tuple(f"s{j}" for j in range(size))) for k, size in enumerate(sizes)]
    if names_file(path).exists():
        name, description, variables = _read_names(names_file(path), sizes, content)
    families = _group_families(factors, [variable.name for variable in variables])
    if families is None and preamble == "BAYES":
        raise InputError(
            f"{owner}: some variable is not last in exactly one factor; expected a table for every variable"
        )
    with prefix_errors(owner):
        if families is not None:
            parents, tables = families
            dag = _build_dag(parents, cyclic=preamble == "MARKOV")
            if dag and all((np.abs(table.max(axis=-1) - 1.0) <= SNAP).all() for table in tables.values()):
                return Network(variables, dag, tables, name=name, description=description)
            if preamble == "BAYES":
                return convert_bayesian_network(variables, parents, tables, transform, name=name)
        return network_of_factors(variables, factors, name=name, description=description)


def _build_dag(parents: Mapping[str, Sequence[str]], *, cyclic: bool) -> Dag | None:
    """Graph of the last variables of factors; None for a cycle where that is allowed, as it is among potentials."""
    try:
        return Dag(parents)
    except InputError:
        if cyclic:
            return None
        raise


def _group_families(
    factors: Sequence[Factor], names: Sequence[str]
) -> tuple[dict[str, tuple[str, ...]], dict[str, Floats]] | None:
    """Parents and tables of all families, if every variable is the last one of exactly one factor; otherwise None."""
    parents = {names[scope[-1]]: tuple(names[k] for k in scope[:-1]) for scope, _ in factors if scope}
    if len(parents) != len(names) or len(factors) != len(names):
        return None
    return parents, {names[scope[-1]]: table for scope, table in factors}


def _parse_factors(content: bytes, owner: str) -> tuple[Preamble, list[int], list[Factor]]:
    """Preamble, numbers of states, and factors of a UAI file."""
    if not content.strip():
        raise InputError(f"{owner}: the file is empty; expected a UAI file")
    reader = _Tokens(content, owner)
    preamble: Any = reader.tokens[0].decode(errors="replace").upper()
    if preamble not in get_args(Preamble):
        raise InputError(f"{owner}, line 1: {preamble[:40]!r}; expected MARKOV or BAYES")
    reader.position = 1
    count = reader.read_number("the number of variables", 1)
    sizes = [reader.read_number(f"the number of states of variable {k}", 1) for k in reader.require_words(count)]
    if sum(sizes) > _MOST_STATES + len(reader.tokens):
        raise TooLarge(f"{owner}: {sum(sizes):,} states in all; expected no more than the file could speak of")
    refuse_above("variables", count, owner)
    refuse_above("states", sum(sizes), owner)
    scopes = []
    for factor in reader.require_words(reader.read_number("the number of factors", 0)):
        size = reader.read_number(f"the number of variables of factor {factor}", 0)
        scope = tuple(
            reader.read_number(f"a variable of factor {factor}", 0, count - 1) for _ in reader.require_words(size)
        )
        if len(set(scope)) < len(scope):
            reader.fail(f"factor {factor} names a variable twice", "distinct variables")
        scopes.append(scope)
    factors = []
    for number, scope in enumerate(scopes):
        entries = require_table_fits(owner, f"factor {number}", [*(sizes[k] for k in scope), 1])
        n_entries = reader.read_number(f"the number of entries of factor {number}", 0)
        if n_entries != entries:
            reader.fail(f"factor {number} has {n_entries} entries", f"{entries}, the product of its numbers of states")
        factors.append((scope, reader.read_entries(entries, number).reshape([sizes[k] for k in scope])))
    reader.require_end("factor")
    return preamble, sizes, factors


class _Tokens:
    """Reader of a file word by word; an unexpected word is reported with its line and column."""

    def __init__(self, content: bytes, owner: str) -> None:
        self.tokens, self.owner, self.content, self.position = content.split(), owner, content, 0

    def require_words(self, count: int) -> range:
        """Require that at least ``count`` words are left, before anything of that size is made; return ``range(count)``."""
        if count > len(self.tokens) - self.position:
            self.position = len(self.tokens)
            self.fail(f"{count} announced and the file ends before them", "the rest of the file")
        return range(count)

    def read_number(self, what: str, least: int, most: int | None = None) -> int:
        """Read the next word as a whole number from ``least`` to ``most``."""
        if self.position >= len(self.tokens):
            self.fail(f"the file ends before {what}", "the rest of the file")
        token = self.tokens[self.position]
        self.position += 1
        if not token.isdigit() or len(token) > 18 or int(token) < least or (most is not None and int(token) > most):
            limits = f"from {least} to {most}" if most is not None else f">= {least}"
            self.fail(f"{_quote_token(token)} for {what}", f"a whole number {limits}")
        return int(token)

    def read_entries(self, count: int, factor: int) -> Floats:
        """Read the next ``count`` words as the entries of a factor: finite numbers >= 0."""
        self.require_words(count)
        words = self.tokens[self.position : self.position + count]
        values = parse_numbers(words)
        wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0.0)))
        if len(wrong):
            self.position += int(wrong[0]) + 1
            self.fail(f"{_quote_token(words[wrong[0]])} in factor {factor}", "a number >= 0")
        self.position += count
        return values + 0.0

    def require_end(self, what: str) -> None:
        """Require that no word follows."""
        if self.position < len(self.tokens):
            self.position += 1
            self.fail(f"something after the last {what}", "the end of the file")

    def fail(self, finding: str, expected: str) -> NoReturn:
        """Raise an `InputError` at the last word read."""
        offset = 0
        for token in self.tokens[: self.position]:
            offset = self.content.index(token, offset) + len(token)
        last = self.tokens[self.position - 1]
        where = locate_offset(self.content, offset - len(last))
        raise InputError(f"{self.owner}, {where}: {finding}; expected {expected}")


def _quote_token(token: bytes) -> str:
    return repr(token.decode(errors="replace")[:40])


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read_names(path: Path, sizes: list[int], content: bytes) -> tuple[str, str, list[Variable]]:
    try:
        document, variables = decode_variables(read_bytes(path), _NAMES, 1)
        name, description = str(document["name"]), str(document["description"])
    except (InputError, KeyError) as error:
        raise InputError(f"{path}: no names in it ({error}); remove it to read the network without names") from None
    if [len(variable) for variable in variables] != sizes or len({v.name for v in variables}) < len(sizes):
        raise InputError(
            f"{path}: its names do not fit the network beside it; remove it to read the network without names"
        )
    if document.get("network", _digest(content)) != _digest(content):
        raise InputError(
            f"{path}: the network beside it is not the one that was written with these names; take the entry 'network' "
            "out of it if they fit all the same, or remove it to read the network without names"
        )
    return name, description, variables


@check_arguments
def write_evidence(evidence: Mapping[str, str], network: Network, path: str | Path) -> None:
    """Write hard evidence (name -> state) as a UAI evidence file.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pn.write_evidence({"xray": "no"}, pn.load_example("asia"), Path(folder) / "asia.uai.evid")
    ...     pn.read_evidence(Path(folder) / "asia.uai.evid", pn.load_example("asia"))
    {'xray': 'no'}
    """
    place = {variable.name: number for number, variable in enumerate(network.variables)}
    pairs = []
    for name, state in evidence.items():
        number = network.variable(name).index(state)
        pairs.append(f"{place[name]} {number}")
    write_text(path, " ".join([str(len(pairs)), *pairs]) + "\n")


@check_arguments
def read_evidence(path: str | Path, network: Network) -> dict[str, str]:
    """Hard evidence (name -> state) of a UAI evidence file: the number of observations, then pairs of variable and state.

    The older form, with a number of samples (1) in front, is understood too.

    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.evid").write_text("2 0 1 6 0")
    ...     pn.read_evidence(Path(folder) / "a.evid", pn.load_example("asia"))
    {'asia': 'no', 'xray': 'yes'}
    """
    reader = _Tokens(read_bytes(path), str(path))
    if not reader.tokens:
        raise InputError(f"{path}: the file is empty; expected the number of observations, then pairs")
    count = reader.read_number("the number of observations", 0)
    if count == 1 and len(reader.tokens) % 2 == 0:  # pairs and one number in front are odd in number
        count = reader.read_number("the number of observations", 0)
    variables = network.variables
    evidence: dict[str, str] = {}
    for _ in range(count):
        variable = variables[reader.read_number("a variable", 0, len(variables) - 1)]
        if variable.name in evidence:
            reader.fail(f"{variable.name!r} is observed twice", "every variable once")
        evidence[variable.name] = variable.states[
            reader.read_number(f"a state of {variable.name!r}", 0, len(variable) - 1)
        ]
    reader.require_end("observation")
    return evidence


FORMAT = NetworkFormat(
    name="uai",
    label="UAI",
    suffixes=(".uai",),
    sniff=lambda head: head.startswith((b"MARKOV", b"BAYES")),
    options=("preamble",),
    decode=decode_uai,
    write=write_uai,
    names_file=names_file,
)
