"""Objects and lists as they stand in a file: of the kind, the size and with the keys that are known."""

from collections.abc import Iterable
from typing import Any

from boundlab.recheck._errors import WrongError

_MOST = 1 << 16


def only(own: dict[str, Any], keys: Iterable[str], where: str) -> dict[str, Any]:
    """Return an object that has no other keys; raises if it has one: it may say what nobody looks at."""
    if more := sorted(own.keys() - set(keys)):
        raise WrongError(f"{where}: {', '.join(more)[:80]!r} is no key that is known here")
    return own


def as_list(raw: Any, where: str, size: int | None = None, most: int = _MOST) -> list[Any]:
    """Return a list, of that size if one is given; raises if it is none, or longer than ``most``."""
    if not isinstance(raw, list) or len(raw) > most or (size is not None and len(raw) != size):
        raise WrongError(f"{where} must be a list{'' if size is None else f' of {size}'}")
    return raw


def as_dict(raw: Any, where: str) -> dict[str, Any]:
    """Return an object; raises if it is none."""
    if not isinstance(raw, dict):
        raise WrongError(f"{where} must be an object")
    return raw
