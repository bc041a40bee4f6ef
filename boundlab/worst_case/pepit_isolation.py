"""Keep PEPit's process-wide counters apart, so that several analyses can live side by side."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from boundlab.errors import MissingExtraError

# PEPit numbers its objects in class attributes; whoever builds a problem must have them to himself.
_LOCK = threading.RLock()
_LISTS = {
    "BlockPartition": "list_of_partitions",
    "Expression": "list_of_leaf_expressions",
    "Function": "list_of_functions",
    "Point": "list_of_leaf_points",
}


def pepit() -> Any:
    """Return the module PEPit.

    Raises
    ------
    MissingExtraError
        If PEPit, CVXPY or Clarabel is not installed.
    """
    try:
        import clarabel  # noqa: F401
        import cvxpy  # noqa: F401
        import PEPit
    except ImportError:
        raise MissingExtraError(
            'worst cases need PEPit, CVXPY and Clarabel: pip install "boundlab[worst-case]"'
        ) from None
    return PEPit


@contextmanager
def alone() -> Iterator[Any]:
    """Give PEPit with counters and lists of its own.

    PEPit objects may be made and combined inside only; what was there before, be it another analysis or a problem of
    the user's, is put back on leaving.
    """
    module = pepit()
    from PEPit.block_partition import BlockPartition

    kinds = {
        "BlockPartition": BlockPartition,
        "Constraint": module.Constraint,
        "Expression": module.Expression,
        "Function": module.Function,
        "PEP": module.PEP,
        "Point": module.Point,
        "PSDMatrix": module.PSDMatrix,
    }
    own: dict[tuple[str, str], Any] = {(name, kept): [] for name, kept in _LISTS.items()}
    own |= {(name, "counter"): 0 for name in kinds}
    with _LOCK:
        before = {key: getattr(kinds[key[0]], key[1]) for key in own}
        _put(kinds, own)
        try:
            yield module
        finally:
            _put(kinds, before)


def _put(kinds: dict[str, Any], state: dict[tuple[str, str], Any]) -> None:
    for (name, attribute), value in state.items():
        setattr(kinds[name], attribute, value)
