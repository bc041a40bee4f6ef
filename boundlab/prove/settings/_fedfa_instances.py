"""Exact instances of FedFa: who arrives, one after the other, decides how late runs are."""

from fractions import Fraction
from typing import Any

from boundlab.prove._functions import PiecewiseQuadratic
from boundlab.prove._instance import Instance
from boundlab.prove.settings._arriving import arriving, bowl

F = Fraction


_ONE, _TWO = (bowl(1),), (bowl(1), bowl(1, 1))
# A hill between two valleys; slopes are at most 1.
_VALLEYS = PiecewiseQuadratic((F(-3), F(-1), F(1), F(3)), (F(0), F(1), F(-1), F(1), F(0)), F(-1))
# Nothing moves.
_FLAT = PiecewiseQuadratic((F(0),), (F(0), F(0)), F(0))
_D: dict[str, Any] = {"mode": "delta"}
_P: dict[str, Any] = {"mode": "param"}
_FULL: dict[str, Any] = {"start": "when_full"}

FEDFA: tuple[Instance, ...] = (
    # One client, a window of one: plain steps, with slopes that stay as they are.
    arriving(_ONE, 5, F(1, 4), 2, (0, 0, 0), K=1, **_D),
    arriving(_ONE, 5, F(1, 4), 2, (0, 0), K=1, **_FULL, **_D),
    arriving((_VALLEYS,), F(1, 2), F(1, 4), 2, (0, 0, 0), steps=2, K=1, **_D),
    arriving((bowl(F(3, 4)),), 1, F(1, 4), 2, (0, 0, 0), (1,), K=1, **_D),
    arriving((bowl(F(4, 3)),), 3, F(1, 8), 1, (0, 0, 0), (1,), K=1, N=2, **_D),
    # A window of two, both starts; a server rate.
    arriving(_ONE, 5, F(1, 4), 2, (0, 0, 0, 0), K=2, **_D),
    arriving(_ONE, 9, F(1, 4), 2, (0, 0, 0, 0), steps=2, K=2, N=2, **_FULL, **_D),
    arriving(_ONE, 2, F(1, 8), 3, (0, 0, 0, 0), K=2, eta_g=2.0, **_FULL, **_D),
    arriving((bowl(F(3, 4)),), 1, F(1, 4), 1, (0, 0, 0), (1,), K=2, N=2, **_FULL, **_D),
    # Two clients, one of them late.
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1, 0), K=2, N=2, **_D),
    arriving(_TWO, 2, F(1, 4), 2, (0, 0, 0, 1), K=2, eta_g=0.5, **_FULL, **_D),
    arriving(_TWO, F(1, 2), F(1, 8), 2, (0, 0, 0, 1), K=1, N=2, **_FULL, **_D),
    arriving((bowl(1), _VALLEYS), 2, F(1, 8), 2, (0, 1, 0, 0, 0, 1), steps=2, K=3, N=2, **_FULL, **_D),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 8), 1, (0, 1, 0), (1, 0), K=2, N=2, **_FULL, **_D),
    arriving((bowl(F(4, 3)), bowl(F(4, 3), -1)), 0, F(1, 8), 2, (0, 1, 0, 1), (0, 1), K=2, **_D),
    arriving((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 8), 1, (0, 1, 2), K=1, N=3, **_FULL, **_D),
    # Windows of one, and updates that are one, two and three updates late.
    arriving((bowl(1), bowl(1)), 9, F(1, 4), 3, (0, 1, 0), K=1, **_FULL, **_D),
    arriving((bowl(1), bowl(1)), 9, F(1, 4), 4, (0, 0, 0, 1), K=1, **_FULL, **_D),
    arriving((bowl(1), bowl(1)), 9, F(1, 4), 3, (0, 1, 0, 1), steps=2, K=2, **_FULL, **_D),
    arriving(_TWO, 2, F(1, 8), 3, (0, 1, 0, 1), K=2, **_FULL, **_D),
    arriving(_TWO, F(1, 2), F(1, 4), 3, (0, 0, 1), K=1, **_FULL, **_D),
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 1, 0), steps=2, K=2, eta_g=0.5, **_D),
    arriving((bowl(1), _VALLEYS), 1, F(1, 8), 3, (0, 1, 0, 1, 0), K=3, **_FULL, **_D),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 4, F(1, 8), 2, (0, 1, 0), (1, 1), K=2, **_FULL, **_D),
    arriving((_FLAT, _FLAT), 1, F(1, 8), 3, (0, 1, 0, 1), K=2, bounds={"L": 1}, **_FULL, **_D),
    arriving((_FLAT, _FLAT), 1, F(1, 8), 2, (0, 1, 0, 1), K=2, N=2, bounds={"L": 1}, **_FULL, **_D),
    # Constants that are larger than they need be.
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), K=1, N=2, bounds={"L": 2, "tau_a": 3, "share_bias": 1, "F0": 4}, **_D),
    arriving(_ONE, 2, F(1, 8), 1, (0, 0, 0), K=2, N=2, bounds={"B": 2, "L": 2}, **_FULL, **_D),
    # Averages of models: one client, whose lag is 0; windows of two and three.
    arriving(_ONE, 5, F(1, 4), 2, (0, 0, 0), K=1, **_P),
    arriving(_ONE, 2, F(1, 4), 3, (0, 0, 0), K=1, **_FULL, **_P),
    arriving(_ONE, 9, F(1, 4), 2, (0, 0, 0, 0), K=2, **_P),
    arriving(_ONE, 9, F(1, 8), 2, (0, 0, 0, 0), steps=2, K=2, N=2, **_FULL, **_P),
    arriving((_VALLEYS,), F(1, 2), F(1, 8), 3, (0, 0, 0, 0, 0), steps=2, K=3, **_FULL, **_P),
    arriving((bowl(F(3, 4)),), 1, F(1, 4), 1, (0, 0, 0), (1,), K=2, N=2, **_FULL, **_P),
    arriving((bowl(F(4, 3)),), 3, F(1, 8), 1, (0, 0, 0), (1,), K=1, N=2, **_P),
    arriving((bowl(F(4, 3)),), 0, F(1, 8), 2, (0, 0, 0), (1,), K=2, **_FULL, **_P),
    # Lags that are at least as long as the window of one.
    arriving((bowl(1), bowl(1)), 9, F(1, 4), 3, (0, 1, 0, 1), K=2, **_FULL, **_P),
    arriving((bowl(1), bowl(1)), 9, F(1, 4), 3, (0, 1, 0, 1, 0), steps=2, K=3, **_FULL, **_P),
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), K=2, **_P),
    arriving(_TWO, 2, F(1, 8), 3, (0, 1, 0, 1), steps=2, K=2, **_FULL, **_P),
    arriving((bowl(1), _VALLEYS), 1, F(1, 8), 3, (0, 1, 0, 1, 0), K=3, **_FULL, **_P),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 4, F(1, 8), 2, (0, 1, 0), (1, 1), K=2, **_FULL, **_P),
    arriving((_FLAT, _FLAT), 1, F(1, 8), 3, (0, 1, 0, 1), K=2, bounds={"L": 1}, **_FULL, **_P),
    arriving((_FLAT, _FLAT), 1, F(1, 8), 2, (0, 1, 0, 1), K=2, N=2, bounds={"L": 1}, **_FULL, **_P),
    # A start where one client would stay, and f goes down.
    arriving(_TWO, 0, F(1, 8), 1, (0, 1), K=1, **_FULL, **_P),
    arriving(_TWO, 0, F(1, 8), 2, (0, 1), K=1, **_FULL, **_P),
    # Two clients in turn: a lag of 1.
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1, 0), K=2, N=2, **_P),
    arriving(_TWO, 3, F(1, 4), 3, (0, 1, 0, 1), K=2, **_FULL, **_P),
    arriving((bowl(1), _VALLEYS), 2, F(1, 8), 2, (1, 0, 1, 0, 1), steps=2, K=3, N=2, **_FULL, **_P),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 8), 1, (0, 1, 0), (1, 0), K=2, N=2, **_FULL, **_P),
    arriving((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 8), 2, (0, 1, 2, 0, 1), K=3, N=2, **_FULL, **_P),
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), K=2, N=2, bounds={"L": 2, "C_lag": 1, "share_bias": 1}, **_FULL, **_P),
)
