"""What runs on a worker before any task: the check that it has the versions that the client has."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from possnet.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable

_SAME: Final = ("possnet", "numpy")  # results may differ between versions of these


def list_versions() -> dict[str, str]:
    """Versions of the packages on which results depend.

    >>> sorted(list_versions())
    ['numpy', 'possnet']
    """
    return {name: _read_version(name) for name in _SAME}


@cache
def _read_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def run_checked(expected: dict[str, str], function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The result of a function, on a worker whose versions are those of the client.

    >>> run_checked(list_versions(), abs, (-1,))
    1
    >>> run_checked({**list_versions(), "numpy": "0.1"}, abs, (-1,))
    Traceback (most recent call last):
        ...
    possnet.errors.ClusterError: worker this process has numpy ..., the client 0.1; install the same version on both
    """
    own = list_versions()
    for name, wanted in expected.items():
        if own.get(name) != wanted:
            raise ClusterError(
                f"worker {_worker_address()} has {name} {own.get(name)}, the client {wanted}; "
                "install the same version on both"
            )
    return function(*arguments)


def _worker_address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:  # not on a worker
        return "this process"
