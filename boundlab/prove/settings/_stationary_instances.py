"""Exact instances of buffers with independent arrivals: client i is the next one with probability p_i."""

from fractions import Fraction
from typing import Any

from boundlab.prove._functions import Function, PiecewiseQuadratic
from boundlab.prove._instance import Instance, Noise
from boundlab.prove.settings._arriving import bowl

F = Fraction


def _run(
    functions: tuple[Function, ...],
    at: int | Fraction,
    eta: Fraction,
    horizon: int,
    p: tuple[Fraction, ...],
    noise: tuple[int | Fraction, ...] = (),
    steps: int = 1,
    bounds: dict[str, Any] | None = None,
    **options: Any,
) -> Instance:
    signs = tuple(Noise((F(one),)) for one in noise)
    larger = tuple(sorted((name, F(value)) for name, value in (bounds or {}).items()))
    return Instance(
        functions, (F(at),), eta, steps, horizon, signs, p, bounds=larger, options=tuple(sorted(options.items()))
    )


_ONE, _TWO, _FAR = (bowl(1),), (bowl(1), bowl(1, 1)), (bowl(1), bowl(1))
# A hill between two valleys; slopes are at most 1.
_VALLEYS = PiecewiseQuadratic((F(-3), F(-1), F(1), F(3)), (F(0), F(1), F(-1), F(1), F(0)), F(-1))
_ALWAYS, _EVEN, _RARE = (F(1),), (F(1, 2), F(1, 2)), (F(3, 4), F(1, 4))

STATIONARY: tuple[Instance, ...] = (
    # One client; a start at the minimiser, where nothing ever moves, and a slope that stays as it is.
    _run(_ONE, 0, F(1, 4), 2, _ALWAYS),
    _run(_ONE, 5, F(1, 4), 2, _ALWAYS),
    _run((_VALLEYS,), F(1, 2), F(1, 8), 2, _ALWAYS, steps=2, count=2),
    _run((bowl(F(3, 4)),), 1, F(1, 4), 2, _ALWAYS, (1,)),
    _run((bowl(F(3, 4)),), 0, F(1, 8), 1, _ALWAYS, (1,), steps=2, count=2, eta_g=2.0),
    # Two clients, one entry: one of them is late in the second update.
    _run(_FAR, 9, F(1, 4), 2, _EVEN),
    _run(_FAR, 9, F(1, 8), 3, _EVEN),
    _run(_TWO, 2, F(1, 4), 2, _RARE),
    _run(_TWO, F(1, 2), F(1, 8), 2, _EVEN, steps=2),
    _run((bowl(1), _VALLEYS), -1, F(1, 8), 3, _RARE, reply="pre"),
    _run((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 4), 2, _EVEN, (1, 0)),
    _run((bowl(F(3, 4)), bowl(F(3, 4), 1)), F(1, 2), F(1, 4), 1, _RARE, (1, 1)),
    _run((bowl(F(4, 3)), bowl(F(4, 3), -1)), 0, F(1, 8), 2, _EVEN, (0, 1), steps=2),
    # Two entries, which one client may have sent both.
    _run(_TWO, 2, F(1, 4), 1, _EVEN, count=2),
    _run(_TWO, 2, F(1, 4), 2, _RARE, count=2, eta_g=0.5),
    _run((bowl(1), _VALLEYS), F(1, 2), F(1, 8), 2, _EVEN, steps=2, count=2),
    _run((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 8), 2, _EVEN, (1, 0), count=2),
    _run((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 4), 1, _RARE, (1, 1), count=2),
    # Three clients; constants that are larger than they need be.
    _run((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 8), 2, (F(1, 2), F(1, 4), F(1, 4))),
    _run(_TWO, 2, F(1, 8), 2, _EVEN, bounds={"L": 2, "tau_max": 2, "B": 2, "chi2": 1, "alpha2": 2, "pi_max": 1}),
)
