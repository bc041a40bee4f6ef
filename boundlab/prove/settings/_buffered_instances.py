"""Exact instances of full buffers: who arrives, one after the other, decides what is in them."""

from fractions import Fraction
from typing import Any

from boundlab.prove._functions import PiecewiseQuadratic
from boundlab.prove._instance import Instance
from boundlab.prove.settings._arriving import arriving, bowl

F = Fraction


_ONE, _TWO = (bowl(1),), (bowl(1), bowl(1, 1))
# A hill between two valleys; slopes are at most 1.
_VALLEYS = PiecewiseQuadratic((F(-3), F(-1), F(1), F(3)), (F(0), F(1), F(-1), F(1), F(0)), F(-1))

BUFFERED: tuple[Instance, ...] = (
    # A start at the minimiser: nothing ever moves. A slope that stays as it is: all steps go one way.
    arriving(_ONE, 0, F(1, 4), 2, (0, 0)),
    arriving(_ONE, 5, F(1, 4), 2, (0, 0)),
    arriving(_ONE, 5, F(1, 4), 2, (0, 0), steps=2),
    arriving((_VALLEYS,), F(1, 2), F(1, 4), 2, (0, 0, 0, 0), steps=2, count=2),
    # One client with noise; it stands in a buffer twice.
    arriving((bowl(F(3, 4)),), 1, F(1, 4), 2, (0, 0), (1,)),
    arriving((bowl(F(3, 4)),), 1, F(1, 4), 2, (0, 0, 0, 0), (1,), count=2),
    arriving((bowl(F(3, 4)),), 1, F(1, 8), 1, (0, 0), (1,), steps=2, count=2, eta_g=2.0),
    # Two clients, one after the other; one is late.
    arriving(_TWO, 2, F(1, 2), 2, (0, 1)),
    arriving(_TWO, 9, F(1, 4), 3, (0, 0, 1)),
    arriving((bowl(1), bowl(1)), 9, F(1, 4), 3, (0, 0, 1), steps=2),
    arriving(_TWO, F(1, 2), F(1, 4), 2, (0, 1, 0, 1), steps=2, count=2),
    arriving(_TWO, 2, F(1, 4), 2, (0, 0, 0, 1), count=2, eta_g=0.5),
    arriving((bowl(1), _VALLEYS), 2, F(1, 8), 3, (0, 0, 0, 1, 1, 1), count=2, steps=2, reply="pre"),
    arriving((bowl(1), _VALLEYS), -1, F(1, 8), 2, (0, 1, 1, 0), count=2, reply="wait"),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 2), 2, (0, 1), (1, 1)),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 4), 1, (0, 1), (1, 0), steps=2, count=2),
    arriving((bowl(F(4, 3)), bowl(F(4, 3), -1)), 0, F(1, 8), 2, (0, 0, 0, 1), (0, 1), count=2),
    # Three clients of which two are in a buffer.
    arriving((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 4), 2, (0, 1, 2, 0), count=2),
    # Weights that follow the staleness.
    arriving(_TWO, 2, F(1, 4), 3, (0, 0, 0, 1, 0, 1), count=2, scale=2.0),
    arriving((bowl(1), _VALLEYS), 2, F(1, 4), 3, (0, 0, 0, 0, 1, 0), count=2, scale=1.0, include="previous"),
    arriving((bowl(F(3, 4)), bowl(F(3, 4))), 1, F(1, 8), 2, (0, 0, 0, 1), (1, 0), count=2, scale=2.0, window=1),
    # Constants that are larger than they need be.
    arriving(_TWO, 2, F(1, 8), 2, (0, 1), bounds={"L": 2, "tau_max": 2, "B": 2, "chi2_path": 3}),
    arriving((bowl(F(3, 4)),), 0, F(1, 4), 1, (0,), (1,), bounds={"sigma": 2}),
)

_WAIT: dict[str, Any] = {"reply": "wait"}

# Every buffer holds all clients: a uniform subset of them.
PRINTED: tuple[Instance, ...] = (
    arriving(_ONE, 0, F(1, 4), 2, (0, 0)),
    arriving(_ONE, 5, F(1, 4), 2, (0, 0), steps=2),
    # A start at the minimiser, and a server that takes long steps.
    arriving((bowl(F(1, 10)),), 0, F(1, 100), 2, (0, 0), (1,), eta_g=10.0),
    arriving((bowl(F(3, 4)),), 1, F(1, 4), 2, (0, 0), (1,)),
    arriving((_VALLEYS,), F(1, 2), F(1, 4), 3, (0, 0, 0)),
    arriving(_TWO, 2, F(1, 4), 2, (0, 1, 1, 0), count=2, **_WAIT),
    arriving(_TWO, F(1, 2), F(1, 8), 2, (0, 1, 0, 1), steps=2, count=2, scale=2.0, **_WAIT),
    arriving((bowl(1), _VALLEYS), -1, F(1, 4), 2, (0, 1, 1, 0), count=2, scale=2.0, **_WAIT),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 4), 1, (0, 1), (1, 0), count=2, **_WAIT),
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), count=2, bounds={"tau_max": 2, "L": 2}, **_WAIT),
)
