"""What is wrong with a file."""

from collections.abc import Iterable
from typing import Any


class WrongError(Exception):
    """A line of a certificate, or of a proof, that is wrong, and why."""


def only(own: dict[str, Any], keys: Iterable[str], where: str) -> dict[str, Any]:
    """Return an object that has no other keys; raises if it has one: it may say what nobody looks at."""
    if more := sorted(own.keys() - set(keys)):
        raise WrongError(f"{where}: {', '.join(more)[:80]!r} is no key that is known here")
    return own
