"""What is declared of random vectors: how many indices, when they are known, what they are gradients of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from boundlab.prove._context import Context
from boundlab.prove._errors import ProofError
from boundlab.prove._scalars import Scalar, check_name, same, scalar
from boundlab.prove._terms import Value, Vec

Time: TypeAlias = tuple[Scalar, ...]


@final
@dataclass(frozen=True, eq=False)
class Known:
    """A family of random vectors.

    Parameters
    ----------
    arity
        How many indices it has.
    clock
        From which time on it is known, by its indices: (iteration, local step, …), compared one after the other. None
        where it is no random vector.
    drawn
        Of noise: the time at which it is drawn, independently of all that is known then.
    """

    arity: int
    clock: Callable[..., Time] | None = None
    drawn: Callable[..., Time] | None = None


@final
@dataclass(frozen=True, eq=False)
class Slope:
    """g[indices] is a gradient, or subgradient, of a function at a vector; written with pattern symbols.

    Parameters
    ----------
    symbols
        The names that stand for the indices.
    function, which
        f and the indices of f_i.
    at
        The vector.
    """

    symbols: tuple[str, ...]
    function: str
    which: tuple[Scalar, ...]
    at: Vec


class Vectors:
    """Declarations, each made once.

    Parameters
    ----------
    context
        Where symbols are looked up.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.known: dict[str, Known] = {}
        self.functions: dict[str, int] = {}
        self.slopes: dict[str, Slope] = {}
        self.sealed = False  # whether they are those of a theorem, to which a proof adds none

    def _open(self) -> None:
        if self.sealed:
            raise ProofError("the vectors of a theorem are those of its setting: a proof declares none")

    def declare(self, name: str, own: Known) -> None:
        """Declare a family of vectors; raises if the name is taken."""
        self._open()
        check_name(name)
        if name in self.known or name in self.functions:
            raise ProofError(f"{name} is declared twice")
        self.known[name] = own

    def declare_function(self, name: str, arity: int) -> None:
        """Declare a function, or a family of them."""
        self._open()
        check_name(name)
        if name in self.known or name in self.functions:
            raise ProofError(f"{name} is declared twice")
        self.functions[name] = arity

    def declare_slope(self, name: str, slope: Slope) -> None:
        """Say what a declared vector is a gradient of, once."""
        self._open()
        if name not in self.known or name in self.slopes:
            raise ProofError(f"{name} is no vector, or is a gradient already")
        if slope.function not in self.functions:
            raise ProofError(f"{slope.function} is not declared")
        self.slopes[name] = slope

    def check(self, vector: Vec, context: Context, bound: frozenset[str] = frozenset()) -> Known:
        """Return what is known of a vector; raises if it is not declared so."""
        own = self.known.get(vector.name)
        if own is None:
            raise ProofError(f"{vector.name} is no vector of this setting")
        if own.arity != len(vector.indices):
            raise ProofError(f"{vector.name} has {own.arity} indices, got {len(vector.indices)}")
        for index in vector.indices:
            if not context.integer(Scalar(index), bound):
                raise ProofError(f"the index {index} of {vector.name} is not shown to be whole")
        return own

    def check_function(self, value: Value, context: Context, bound: frozenset[str] = frozenset()) -> None:
        """Make sure that a function value is one of a declared function."""
        if value.function not in self.functions:
            raise ProofError(f"{value.function} is no function of this setting")
        if self.functions[value.function] != len(value.indices):
            raise ProofError(f"{value.function} has {self.functions[value.function]} indices, got {len(value.indices)}")
        for index in value.indices:
            if not context.integer(Scalar(index), bound):
                raise ProofError(f"the index {index} of {value.function} is not shown to be whole")

    def slope(self, vector: Vec) -> tuple[str, tuple[Scalar, ...], Vec]:
        """Return function, its indices and the vector of which this is a gradient."""
        own = self.slopes.get(vector.name)
        if own is None:
            raise ProofError(f"{vector.name} is not declared as a gradient")
        values: Mapping[str, Scalar] = {
            name: Scalar(index) for name, index in zip(own.symbols, vector.indices, strict=True)
        }
        return own.function, tuple(one.put(values) for one in own.which), own.at.put(values)

    def known_by(self, vector: Vec, time: Time, context: Context) -> bool:
        """Return whether a vector is certainly known at a time."""
        own = self.check(vector, context)
        if own.clock is None:
            return True
        return not_after(own.clock(*map(Scalar, vector.indices)), time, context)


def not_after(one: Time, other: Time, context: Context) -> bool:
    """Return whether a time is certainly not after another: lexicographic, whole numbers, 0 where one is shorter."""
    size = max(len(one), len(other))
    zero = scalar(0)
    for a, b in zip((*one, *[zero] * (size - len(one))), (*other, *[zero] * (size - len(other))), strict=True):
        if same(a, b):
            continue
        if context.nonnegative(b - a - 1):
            return True
        if not context.nonnegative(b - a):
            return False
    return True
