"""What is declared of random vectors: how many indices, when they are known, what they are gradients of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

from boundlab.prove._errors import ProofError
from boundlab.prove._scalars import Scalar, check_name
from boundlab.prove._terms import Lin, Vec

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


@final
@dataclass(frozen=True, eq=False)
class Register:
    """What an event may change.

    Parameters
    ----------
    owner
        ``client``: v[i, k], changed where client i acts. ``server``: v[k], changed by an aggregation. ``any``: v[k],
        changed by whichever client acts.
    branch
        What it becomes, by its own indices with k in the last place (``any``: of the client and k). Its vectors are
        those before the event, or drawn without regard to who acts.
    """

    owner: Literal["client", "server", "any"]
    branch: Callable[..., Lin]


@final
@dataclass(frozen=True, eq=False)
class Law:
    """Who acts in iteration k, drawn independently of everything before: client i with p(i), the server with p_s.

    Parameters
    ----------
    p, p_s
        Probabilities.
    clients
        Their number n.
    index
        The name of a client's index.
    registers
        By name.
    axioms
        What that rests on.
    """

    p: Callable[[Scalar], Scalar]
    p_s: Scalar
    clients: Scalar
    index: str
    registers: Mapping[str, Register]
    axioms: frozenset[str]


class Vectors:
    """Declarations, each made once; the checker is told of each.

    Parameters
    ----------
    tell
        Tells the checker of vectors, a function or a gradient: which of these, a name, and what is said of it.
    """

    def __init__(self, tell: Callable[[str, str, Any], None]) -> None:
        self._tell = tell
        self.known: dict[str, Known] = {}
        self.functions: dict[str, int] = {}
        self.slopes: dict[str, Slope] = {}
        self.sealed = False  # whether they are those of a theorem, to which a proof adds none

    def _new(self, name: str) -> None:
        if self.sealed:
            raise ProofError("the vectors of a theorem are those of its setting: a proof declares none")
        check_name(name)
        if name in self.known or name in self.functions:
            raise ProofError(f"{name} is declared twice")

    def declare(self, name: str, own: Known) -> None:
        """Declare a family of vectors; raises if the name is taken."""
        self._new(name)
        self.known[name] = own
        self._tell("vectors", name, own)

    def declare_function(self, name: str, arity: int) -> None:
        """Declare a function, or a family of them."""
        self._new(name)
        self.functions[name] = arity
        self._tell("functions", name, arity)

    def declare_slope(self, name: str, slope: Slope) -> None:
        """Say what a declared vector is a gradient of, once."""
        if self.sealed or name not in self.known or name in self.slopes:
            raise ProofError(f"{name} is no vector of the setting, or is a gradient already")
        if slope.function not in self.functions:
            raise ProofError(f"{slope.function} is not declared")
        self.slopes[name] = slope
        self._tell("slopes", name, slope)

    def slope(self, vector: Vec) -> tuple[str, tuple[Scalar, ...], Vec]:
        """Return function, its indices and the vector of which this is a gradient."""
        own = self.slopes.get(vector.name)
        if own is None:
            raise ProofError(f"{vector.name} is not declared as a gradient")
        values: Mapping[str, Scalar] = dict(zip(own.symbols, vector.indices, strict=True))
        return own.function, tuple(one.put(values) for one in own.which), own.at.put(values)
