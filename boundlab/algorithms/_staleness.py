"""Staleness functions s(τ) that damp late updates (Xie, Koyejo, Gupta, "Asynchronous federated optimization")."""

from dataclasses import dataclass
from typing import Any, final

from boundlab.algorithms import _option as option
from boundlab.errors import SpecError
from boundlab.options import Options, nearest, parse_spec

FORMS = (
    "constant (1), inverse (1/(tau+1)), polynomial:a=0.5 ((tau+1)^-a) or hinge:a=10,b=4 (1 up to b, then "
    "1/(a(tau-b)+1))"
)

EXAMPLES = ("constant", "inverse", "polynomial", "hinge:a=10,b=1")


@final
@dataclass(frozen=True, slots=True)
class Staleness:
    """s(τ) in (0, 1], with s(0) = 1.

    Parameters
    ----------
    kind
        ``constant``, ``inverse``, ``polynomial`` or ``hinge``.
    a, b
        Exponent of ``polynomial``; slope and knee of ``hinge``.
    """

    kind: str = "constant"
    a: float = 1.0
    b: float = 0.0

    def __call__(self, tau: int) -> float:
        """Return s(τ) for a staleness τ ≥ 0."""
        if self.kind == "constant":
            return 1.0
        if self.kind == "hinge":
            return 1.0 if tau <= self.b else 1.0 / (self.a * (tau - self.b) + 1.0)
        weight: float = (tau + 1.0) ** -self.a
        return weight


def staleness_function(says: str = f"staleness function: {FORMS}; default constant") -> Any:
    """Declare a staleness function."""
    return option.custom(says, read_staleness, Staleness(), {"": EXAMPLES})


def read_staleness(options: Options, key: str) -> Staleness:
    """Read ``constant``, ``inverse``, ``polynomial:a=…`` or ``hinge:a=…,b=…``.

    Raises
    ------
    SpecError
        If the function is unknown or a number is out of range.
    """
    name, raw = parse_spec(str(options.raw(key, "constant")), f"{options.owner}: {key}")
    own = Options(f"{options.owner}: {key} {name}", raw)
    if name in ("constant", "inverse"):
        found = Staleness(name)
    elif name == "polynomial":
        found = Staleness(name, own.number("a", 0.5, minimum=0.0, maximum=100.0))
    elif name == "hinge":
        found = Staleness(name, own.number("a", 10.0, minimum=0.0), own.number("b", 4.0, minimum=0.0))
    else:
        known = ("constant", "inverse", "polynomial", "hinge")
        raise SpecError(f"{options.owner}: {key} must be {FORMS}; got {name!r}; {nearest(name, known)}")
    own.finish()
    return found
