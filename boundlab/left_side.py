"""What the left side of a theorem can be: notation, units, and which counter the bound is a function of."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, final


@final
@dataclass(frozen=True, slots=True)
class LeftSide:
    """A left side.

    Parameters
    ----------
    id
        How theorems, files and the command line name it.
    label
        A noun for tables.
    symbol
        What a single run shows, without the expectation.
    expectation, latex
        The left side as text and as LaTeX.
    units
        Degrees (a, b) under f → c·f and x → s·x.
    counter
        The symbol that counts iterations: ``K`` (events) or ``T`` (server updates).
    average
        Whether the run must record the ergodic average of its iterates.
    every
        Whether every version of the server model enters, the initial one included.
    """

    id: str
    label: str
    symbol: str
    expectation: str
    latex: str
    units: tuple[int, int]
    counter: Literal["K", "T"]
    average: bool = False
    every: bool = False

    @property
    def first(self) -> int:
        """The smallest value of the counter: an average needs one term, a last iterate exists at 0."""
        return 1 if self.average or self.every else 0


_ALL = (
    LeftSide(
        "squared-distance",
        "squared distance of the last iterate",
        "‖x_s,k − x*‖²",
        "E‖x_s,K − x*‖²",
        r"\mathbb{E}\|x_{s,K}-x^\star\|^2",
        (0, 2),
        "K",
    ),
    LeftSide(
        "ergodic-gap",
        "gap of the ergodic average",
        "f(x̄_k) − f*",
        "E f(x̄_K) − f*",
        r"\mathbb{E}\,f(\bar x_K)-f^\star",
        (1, 0),
        "K",
        average=True,
    ),
    LeftSide(
        "gap",
        "gap of the last iterate",
        "f(x_s,k) − f*",
        "E f(x_s,K) − f*",
        r"\mathbb{E}\,f(x_{s,K})-f^\star",
        (1, 0),
        "K",
    ),
    LeftSide(
        "gradient-norm",
        "average squared gradient norm over server updates",
        "(1/T) Σ_{t<T} ‖∇f(w^t)‖²",
        "(1/T) Σ_{t<T} E‖∇f(w^t)‖²",
        r"\frac{1}{T}\sum_{t=0}^{T-1}\mathbb{E}\|\nabla f(w^t)\|^2",
        (2, -2),
        "T",
        every=True,
    ),
    LeftSide(
        "gradient-norm-last",
        "squared gradient norm at the last iterate",
        "‖∇f(x_s,k)‖²",
        "E‖∇f(x_s,K)‖²",
        r"\mathbb{E}\|\nabla f(x_{s,K})\|^2",
        (2, -2),
        "K",
    ),
)
LEFT_SIDES: Mapping[str, LeftSide] = MappingProxyType({side.id: side for side in _ALL})
