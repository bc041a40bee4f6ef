"""What the kernel refuses."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from boundlab.errors import SpecError
from boundlab.recheck.kernel import REFUSALS


class ProofError(SpecError):
    """A rule refuses what it is given; the message says which condition is not shown."""


# What a rule, or arithmetic, says of numbers that it is not meant for, or of too many of them.
REFUSED = (ProofError, *REFUSALS)


class NoPartError(ProofError, AttributeError):
    """A script asks a setting for what it does not have, as that of another algorithm's theorem does."""


def only_for_rules(what: str) -> None:
    """Refuse the caller of the caller, unless it is a rule or a setting of this package.

    Raises
    ------
    ProofError
        If it is a proof, which would state its own axioms with it.
    """
    caller = sys._getframe(2).f_globals.get("__name__", "")
    if caller != "boundlab.prove" and not caller.startswith("boundlab.prove."):
        raise ProofError(f"{what} is for the rules of the kernel and for settings: a proof cannot use it")


@contextmanager
def refused() -> Iterator[None]:
    """Let what the checker refuses end as what the kernel refuses."""
    try:
        yield
    except REFUSALS as error:
        raise ProofError(str(error)) from None
