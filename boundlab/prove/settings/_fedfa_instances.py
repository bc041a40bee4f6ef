"""Exact instances of FedFa: who arrives, one after the other, decides how late runs are."""

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
# Nothing moves.
_FLAT = PiecewiseQuadratic((F(0),), (F(0), F(0)), F(0))
_D: dict[str, Any] = {"mode": "delta"}
_P: dict[str, Any] = {"mode": "param"}
_FULL: dict[str, Any] = {"start": "when_full"}

FEDFA: tuple[Instance, ...] = (
    # One client, a window of one: plain steps, with slopes that stay as they are.
    _run(_ONE, 5, F(1, 4), 2, (0, 0, 0), K=1, **_D),
    _run(_ONE, 5, F(1, 4), 2, (0, 0), K=1, **_FULL, **_D),
    _run((_VALLEYS,), F(1, 2), F(1, 4), 2, (0, 0, 0), steps=2, K=1, **_D),
    _run((_bowl(F(3, 4)),), 1, F(1, 4), 2, (0, 0, 0), (1,), K=1, **_D),
    _run((_bowl(F(4, 3)),), 3, F(1, 8), 1, (0, 0, 0), (1,), K=1, N=2, **_D),
    # A window of two, both starts; a server rate.
    _run(_ONE, 5, F(1, 4), 2, (0, 0, 0, 0), K=2, **_D),
    _run(_ONE, 9, F(1, 4), 2, (0, 0, 0, 0), steps=2, K=2, N=2, **_FULL, **_D),
    _run(_ONE, 2, F(1, 8), 3, (0, 0, 0, 0), K=2, eta_g=2.0, **_FULL, **_D),
    _run((_bowl(F(3, 4)),), 1, F(1, 4), 1, (0, 0, 0), (1,), K=2, N=2, **_FULL, **_D),
    # Two clients, one of them late.
    _run(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1, 0), K=2, N=2, **_D),
    _run(_TWO, 2, F(1, 4), 2, (0, 0, 0, 1), K=2, eta_g=0.5, **_FULL, **_D),
    _run(_TWO, F(1, 2), F(1, 8), 2, (0, 0, 0, 1), K=1, N=2, **_FULL, **_D),
    _run((_bowl(1), _VALLEYS), 2, F(1, 8), 2, (0, 1, 0, 0, 0, 1), steps=2, K=3, N=2, **_FULL, **_D),
    _run((_bowl(F(3, 4)), _bowl(F(3, 4), 1)), 2, F(1, 8), 1, (0, 1, 0), (1, 0), K=2, N=2, **_FULL, **_D),
    _run((_bowl(F(4, 3)), _bowl(F(4, 3), -1)), 0, F(1, 8), 2, (0, 1, 0, 1), (0, 1), K=2, **_D),
    _run((_bowl(1), _bowl(1, 1), _bowl(1, -1)), 2, F(1, 8), 1, (0, 1, 2), K=1, N=3, **_FULL, **_D),
    # Windows of one, and updates that are one, two and three updates late.
    _run((_bowl(1), _bowl(1)), 9, F(1, 4), 3, (0, 1, 0), K=1, **_FULL, **_D),
    _run((_bowl(1), _bowl(1)), 9, F(1, 4), 4, (0, 0, 0, 1), K=1, **_FULL, **_D),
    _run((_bowl(1), _bowl(1)), 9, F(1, 4), 3, (0, 1, 0, 1), steps=2, K=2, **_FULL, **_D),
    _run(_TWO, 2, F(1, 8), 3, (0, 1, 0, 1), K=2, **_FULL, **_D),
    _run(_TWO, F(1, 2), F(1, 4), 3, (0, 0, 1), K=1, **_FULL, **_D),
    _run(_TWO, 2, F(1, 8), 2, (0, 1, 1, 0), steps=2, K=2, eta_g=0.5, **_D),
    _run((_bowl(1), _VALLEYS), 1, F(1, 8), 3, (0, 1, 0, 1, 0), K=3, **_FULL, **_D),
    _run((_bowl(F(3, 4)), _bowl(F(3, 4), 1)), 4, F(1, 8), 2, (0, 1, 0), (1, 1), K=2, **_FULL, **_D),
    _run((_FLAT, _FLAT), 1, F(1, 8), 3, (0, 1, 0, 1), K=2, bounds={"L": 1}, **_FULL, **_D),
    _run((_FLAT, _FLAT), 1, F(1, 8), 2, (0, 1, 0, 1), K=2, N=2, bounds={"L": 1}, **_FULL, **_D),
    # Constants that are larger than they need be.
    _run(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), K=1, N=2, bounds={"L": 2, "tau_a": 3, "share_bias": 1, "F0": 4}, **_D),
    _run(_ONE, 2, F(1, 8), 1, (0, 0, 0), K=2, N=2, bounds={"B": 2, "L": 2}, **_FULL, **_D),
    # Averages of models: one client, whose lag is 0; windows of two and three.
    _run(_ONE, 5, F(1, 4), 2, (0, 0, 0), K=1, **_P),
    _run(_ONE, 2, F(1, 4), 3, (0, 0, 0), K=1, **_FULL, **_P),
    _run(_ONE, 9, F(1, 4), 2, (0, 0, 0, 0), K=2, **_P),
    _run(_ONE, 9, F(1, 8), 2, (0, 0, 0, 0), steps=2, K=2, N=2, **_FULL, **_P),
    _run((_VALLEYS,), F(1, 2), F(1, 8), 3, (0, 0, 0, 0, 0), steps=2, K=3, **_FULL, **_P),
    _run((_bowl(F(3, 4)),), 1, F(1, 4), 1, (0, 0, 0), (1,), K=2, N=2, **_FULL, **_P),
    _run((_bowl(F(4, 3)),), 3, F(1, 8), 1, (0, 0, 0), (1,), K=1, N=2, **_P),
    _run((_bowl(F(4, 3)),), 0, F(1, 8), 2, (0, 0, 0), (1,), K=2, **_FULL, **_P),
    # Lags that are at least as long as the window of one.
    _run((_bowl(1), _bowl(1)), 9, F(1, 4), 3, (0, 1, 0, 1), K=2, **_FULL, **_P),
    _run((_bowl(1), _bowl(1)), 9, F(1, 4), 3, (0, 1, 0, 1, 0), steps=2, K=3, **_FULL, **_P),
    _run(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), K=2, **_P),
    _run(_TWO, 2, F(1, 8), 3, (0, 1, 0, 1), steps=2, K=2, **_FULL, **_P),
    _run((_bowl(1), _VALLEYS), 1, F(1, 8), 3, (0, 1, 0, 1, 0), K=3, **_FULL, **_P),
    _run((_bowl(F(3, 4)), _bowl(F(3, 4), 1)), 4, F(1, 8), 2, (0, 1, 0), (1, 1), K=2, **_FULL, **_P),
    _run((_FLAT, _FLAT), 1, F(1, 8), 3, (0, 1, 0, 1), K=2, bounds={"L": 1}, **_FULL, **_P),
    _run((_FLAT, _FLAT), 1, F(1, 8), 2, (0, 1, 0, 1), K=2, N=2, bounds={"L": 1}, **_FULL, **_P),
    # A start where one client would stay, and f goes down.
    _run(_TWO, 0, F(1, 8), 1, (0, 1), K=1, **_FULL, **_P),
    _run(_TWO, 0, F(1, 8), 2, (0, 1), K=1, **_FULL, **_P),
    # Two clients in turn: a lag of 1.
    _run(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1, 0), K=2, N=2, **_P),
    _run(_TWO, 3, F(1, 4), 3, (0, 1, 0, 1), K=2, **_FULL, **_P),
    _run((_bowl(1), _VALLEYS), 2, F(1, 8), 2, (1, 0, 1, 0, 1), steps=2, K=3, N=2, **_FULL, **_P),
    _run((_bowl(F(3, 4)), _bowl(F(3, 4), 1)), 2, F(1, 8), 1, (0, 1, 0), (1, 0), K=2, N=2, **_FULL, **_P),
    _run((_bowl(1), _bowl(1, 1), _bowl(1, -1)), 2, F(1, 8), 2, (0, 1, 2, 0, 1), K=3, N=2, **_FULL, **_P),
    _run(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), K=2, N=2, bounds={"L": 2, "C_lag": 1, "share_bias": 1}, **_FULL, **_P),
)  # fmt: skip
