"""The options of FedCompass."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import _option as option
from boundlab.algorithms._option import Parameters
from boundlab.algorithms._staleness import FORMS, Staleness, read_staleness
from boundlab.algorithms.fedcompass._scheduler import Compass, CompassRules
from boundlab.arithmetic.rational import shortest_decimal
from boundlab.errors import SpecError
from boundlab.options import Options, number, numbers

Floats = NDArray[np.float64]


def _read_st(options: Options, _: str) -> Staleness:
    """Read ``st``, whose numbers may also stand in options a and b of their own."""
    text = str(options.raw("st", "constant")).strip()
    text = "inverse" if text.replace(" ", "") == "1/(tau+1)" else text
    for key in ("a", "b"):
        if options.has(key):
            text += f"{',' if ':' in text else ':'}{key}={options.raw(key)}"
    return read_staleness(Options(options.owner, {"st": text}), "st")


def _positive(values: Sequence[float], what: str) -> tuple[float, ...]:
    if min(values) <= 0.0:
        raise SpecError(f"{what} must be > 0, got {min(values):g}")
    return tuple(values)


def _read_speeds(options: Options, _: str) -> tuple[tuple[Fraction, ...], ...] | None:
    """Read [0.1, 0.2], or a list of rounds for each client: [[0.1], [0.25, 0.2]]."""
    if not options.has("speeds"):
        return None
    raw, what = options.raw("speeds"), f"{options.owner}: speeds"
    rows = raw if isinstance(raw, (list, tuple)) and raw else numbers(raw, what)
    speeds = []
    for row in rows:
        rounds = numbers(row, what) if isinstance(row, (list, tuple)) else [number(row, what)]
        speeds.append(tuple(shortest_decimal(speed) for speed in _positive(rounds, what)))
    return tuple(speeds)


def _read_p(options: Options, name: str) -> tuple[float, ...] | None:
    return _positive(options.numbers(name), f"{options.owner}: {name}") if options.has(name) else None


def _read_largest(options: Options, name: str) -> int:
    low = options.integer("Qmin", 20)
    high = options.integer(name, max(100, low), minimum=1, maximum=10**6)
    if high < low:
        raise SpecError(f"{options.owner}: {name} must be at least Qmin = {low}, got {high}")
    return high


def _read_factor(options: Options, name: str) -> Fraction:
    return shortest_decimal(options.number(name, 1.2, minimum=1.0, maximum=1e6))


def _example_weights(clients: int) -> tuple[str, ...]:
    """Return equal weights, and one that is larger than the others together."""
    rest = round(0.25 / max(clients - 1, 1), 6)
    return "", f"[{','.join([repr(round(1.0 - rest * (clients - 1), 6)), *[repr(rest)] * (clients - 1)])}]"


def _example_speeds(clients: int) -> tuple[str, ...]:
    """Return equal speeds, and a client that takes twice the time of the others."""
    return "", *(f"[{','.join(['1'] * (clients - 1) + [last])}]" for last in ("1", "2"))


@final
@dataclass(frozen=True, slots=True)
class FedCompassParameters(Parameters):
    """The parameters of FedCompass: eta has unit (−1, 2).

    ``p`` None stands for 1/n each. ``speeds`` are, for each client, the times of one local step in its rounds, the last
    of which repeats. ``normalise`` makes shares independent of speeds. With ``warmup=qmin``, as printed, everybody
    begins with Qmin steps and no group; with ``speeds`` the server forms groups at time 0.
    """

    eta: float = option.number("local step size", above=0.0)
    Qmin: int = option.integer(
        "smallest number of local steps, and that of the warm-up (default 20)", 20, minimum=1, maximum=10**6
    )
    Qmax: int = option.custom(
        "largest number of local steps (default 100)", _read_largest, 100, {"": ("1", "2", "5", "6", "20")}
    )
    latest_time_factor: Fraction = option.custom(
        "lambda >= 1: a group waits lambda times as long as expected (default 1.2)",
        _read_factor,
        Fraction(6, 5),
        {"": ("1.2", "1", "3")},
    )
    p: tuple[float, ...] | None = option.custom(
        "weights p_i of the clients (default 1/n each)", _read_p, None, {"": _example_weights}
    )
    st: Staleness = option.custom(
        {
            "st": f"staleness function: {FORMS}; default constant",
            "a": "exponent of st=polynomial, or slope of st=hinge",
            "b": "knee of st=hinge",
        },
        _read_st,
        Staleness(),
        {"st": ("constant", "inverse", "polynomial", "hinge")},
    )
    alpha: float = option.number("factor of the staleness function (default 1; Appendix E.2 has 0.9)", 1.0, above=0.0)
    normalise: bool = option.flag("yes: weight an update of Q local steps with Qmax/Q (default no)")
    prose_max: bool = option.flag(
        "yes: a new group takes the largest candidate inside [Qmin, Qmax] (default: largest, clipped)"
    )
    speeds: tuple[tuple[Fraction, ...], ...] | None = option.custom(
        "time of one local step, one a client: arrivals follow it and not the delay model",
        _read_speeds,
        None,
        {"": _example_speeds},
    )
    warmup: Literal["qmin", "speeds"] = option.choice(
        "qmin (default: Qmin steps without a group first) or speeds (the server knows them beforehand)",
        ("qmin", "speeds"),
    )

    def check(self, owner: str) -> None:
        """Refuse groups at time 0 without speeds."""
        if self.warmup == "speeds" and self.speeds is None:
            raise SpecError(f"{owner}: warmup=speeds needs the option speeds")

    @property
    def rules(self) -> CompassRules:
        """Rules given to the scheduler."""
        return CompassRules(self.Qmin, self.Qmax, self.latest_time_factor, self.prose_max)

    def weights(self, clients: int) -> Floats:
        """Return p, shape (n,)."""
        return np.full(clients, 1.0 / clients) if self.p is None else np.array(self.p)

    @property
    def own_weights(self) -> tuple[Fraction, ...]:
        """The numbers of p as they are written; empty where it is not given."""
        return tuple(shortest_decimal(one) for one in self.p or ())

    def objective(self, clients: int) -> tuple[Fraction, ...]:
        """Return the shares p_i/Σp_k of the clients in the objective, one a client.

        Raises
        ------
        SpecError
            If p is not one a client.
        """
        self._one_each("p", self.p, clients)
        p = self.own_weights or (Fraction(1),) * clients
        total = sum(p, Fraction(0))
        return tuple(one / total for one in p)

    def compass(self, clients: int) -> Compass:
        """Return a scheduler at time 0.

        Raises
        ------
        SpecError
            If p or speeds are not one a client.
        """
        self._one_each("p", self.p, clients)
        self._one_each("speeds", self.speeds, clients)
        known = [float(rounds[0]) for rounds in self.speeds] if self.speeds and self.warmup == "speeds" else None
        return Compass(self.rules, clients, known)

    def _one_each(self, name: str, given: Sequence[object] | None, clients: int) -> None:
        if given is not None and len(given) != clients:
            raise SpecError(f"fedcompass: {name} has {len(given)} entries for {clients} clients; give one a client")
