"""Exact instances of full buffers: who arrives, one after the other, decides what is in them."""

from fractions import Fraction
from typing import Any

from boundlab.prove._functions import Function, Huber, PiecewiseQuadratic
from boundlab.prove._instance import Instance, Noise

F = Fraction


def _bowl(width: int | Fraction, centre: int | Fraction = 0, curvature: int | Fraction = 1) -> Huber:
    """Return a function whose slopes are at most curvature·width."""
    return Huber(F(curvature), F(centre), F(width))


def _run(
    functions: tuple[Function, ...], at: int | Fraction, eta: Fraction, horizon: int, events: tuple[int, ...],
    noise: tuple[int | Fraction, ...] = (), steps: int = 1, bounds: dict[str, Any] | None = None, **options: Any,
) -> Instance:  # fmt: skip
    signs = tuple(Noise((F(one),)) for one in noise)
    larger = tuple(sorted((name, F(value)) for name, value in (bounds or {}).items()))
    return Instance(
        functions, (F(at),), eta, steps, horizon, signs, bounds=larger, events=events,
        options=tuple(sorted(options.items())),
    )  # fmt: skip


_ONE, _TWO = (_bowl(1),), (_bowl(1), _bowl(1, 1))
# A hill between two valleys; slopes are at most 1.
_VALLEYS = PiecewiseQuadratic((F(-3), F(-1), F(1), F(3)), (F(0), F(1), F(-1), F(1), F(0)), F(-1))

BUFFERED: tuple[Instance, ...] = (
    # A start at the minimiser: nothing ever moves. A slope that stays as it is: all steps go one way.
    _run(_ONE, 0, F(1, 4), 2, (0, 0)),
    _run(_ONE, 5, F(1, 4), 2, (0, 0)),
    _run(_ONE, 5, F(1, 4), 2, (0, 0), steps=2),
    _run((_VALLEYS,), F(1, 2), F(1, 4), 2, (0, 0, 0, 0), steps=2, count=2),
    # One client with noise; it stands in a buffer twice.
    _run((_bowl(F(3, 4)),), 1, F(1, 4), 2, (0, 0), (1,)),
    _run((_bowl(F(3, 4)),), 1, F(1, 4), 2, (0, 0, 0, 0), (1,), count=2),
    _run((_bowl(F(3, 4)),), 1, F(1, 8), 1, (0, 0), (1,), steps=2, count=2, eta_g=2.0),
    # Two clients, one after the other; one is late.
    _run(_TWO, 2, F(1, 2), 2, (0, 1)),
    _run(_TWO, 9, F(1, 4), 3, (0, 0, 1)),
    _run((_bowl(1), _bowl(1)), 9, F(1, 4), 3, (0, 0, 1), steps=2),
    _run(_TWO, F(1, 2), F(1, 4), 2, (0, 1, 0, 1), steps=2, count=2),
    _run(_TWO, 2, F(1, 4), 2, (0, 0, 0, 1), count=2, eta_g=0.5),
    _run((_bowl(1), _VALLEYS), 2, F(1, 8), 3, (0, 0, 0, 1, 1, 1), count=2, steps=2, reply="pre"),
    _run((_bowl(1), _VALLEYS), -1, F(1, 8), 2, (0, 1, 1, 0), count=2, reply="wait"),
    _run((_bowl(F(3, 4)), _bowl(F(3, 4), 1)), 2, F(1, 2), 2, (0, 1), (1, 1)),
    _run((_bowl(F(3, 4)), _bowl(F(3, 4), 1)), 2, F(1, 4), 1, (0, 1), (1, 0), steps=2, count=2),
    _run((_bowl(F(4, 3)), _bowl(F(4, 3), -1)), 0, F(1, 8), 2, (0, 0, 0, 1), (0, 1), count=2),
    # Three clients of which two are in a buffer.
    _run((_bowl(1), _bowl(1, 1), _bowl(1, -1)), 2, F(1, 4), 2, (0, 1, 2, 0), count=2),
    # Weights that follow the staleness.
    _run(_TWO, 2, F(1, 4), 3, (0, 0, 0, 1, 0, 1), count=2, scale=2.0),
    _run((_bowl(1), _VALLEYS), 2, F(1, 4), 3, (0, 0, 0, 0, 1, 0), count=2, scale=1.0, include="previous"),
    _run((_bowl(F(3, 4)), _bowl(F(3, 4))), 1, F(1, 8), 2, (0, 0, 0, 1), (1, 0), count=2, scale=2.0, window=1),
    # Constants that are larger than they need be.
    _run(_TWO, 2, F(1, 8), 2, (0, 1), bounds={"L": 2, "tau_max": 2, "B": 2, "chi2_path": 3}),
    _run((_bowl(F(3, 4)),), 0, F(1, 4), 1, (0,), (1,), bounds={"sigma": 2}),
)  # fmt: skip

_WAIT: dict[str, Any] = {"reply": "wait"}

# Every buffer holds all clients: a uniform subset of them.
PRINTED: tuple[Instance, ...] = (
    _run(_ONE, 0, F(1, 4), 2, (0, 0)),
    _run(_ONE, 5, F(1, 4), 2, (0, 0), steps=2),
    # A start at the minimiser, and a server that takes long steps.
    _run((_bowl(F(1, 10)),), 0, F(1, 100), 2, (0, 0), (1,), eta_g=10.0),
    _run((_bowl(F(3, 4)),), 1, F(1, 4), 2, (0, 0), (1,)),
    _run((_VALLEYS,), F(1, 2), F(1, 4), 3, (0, 0, 0)),
    _run(_TWO, 2, F(1, 4), 2, (0, 1, 1, 0), count=2, **_WAIT),
    _run(_TWO, F(1, 2), F(1, 8), 2, (0, 1, 0, 1), steps=2, count=2, scale=2.0, **_WAIT),
    _run((_bowl(1), _VALLEYS), -1, F(1, 4), 2, (0, 1, 1, 0), count=2, scale=2.0, **_WAIT),
    _run((_bowl(F(3, 4)), _bowl(F(3, 4), 1)), 2, F(1, 4), 1, (0, 1), (1, 0), count=2, **_WAIT),
    _run(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), count=2, bounds={"tau_max": 2, "L": 2}, **_WAIT),
)  # fmt: skip
