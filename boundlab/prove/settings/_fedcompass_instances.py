"""Exact instances of FedCompass: who arrives, or how long a local step takes, decides what runs there are."""

from fractions import Fraction
from typing import Any

from boundlab.prove._functions import Function, PiecewiseQuadratic
from boundlab.prove._instance import Instance, Noise
from boundlab.prove.settings._arriving import bowl

F = Fraction


def _run(
    functions: tuple[Function, ...],
    start: int | Fraction,
    eta: Fraction,
    horizon: int,
    events: tuple[int, ...] = (),
    noise: tuple[int | Fraction, ...] = (),
    p: tuple[Fraction, ...] = (),
    bounds: dict[str, Any] | None = None,
    **options: Any,
) -> Instance:
    signs = tuple(Noise((F(one),)) for one in noise)
    larger = tuple(sorted((name, F(value)) for name, value in (bounds or {}).items()))
    return Instance(
        functions,
        (F(start),),
        eta,
        1,
        horizon,
        signs,
        p,
        bounds=larger,
        events=events,
        options=tuple(sorted(options.items())),
    )


_ONE, _TWO = (bowl(1),), (bowl(1), bowl(1, 1))
# A hill between two valleys; slopes are at most 1.
_VALLEYS = PiecewiseQuadratic((F(-3), F(-1), F(1), F(3)), (F(0), F(1), F(-1), F(1), F(0)), F(-1))
_GROUP: dict[str, Any] = {"warmup": "speeds"}

_PLAIN: tuple[Instance, ...] = (
    # A start at the minimiser: nothing ever moves.
    _run(_ONE, 0, F(1, 4), 2, (0, 0)),
    # One client: always a group of its own.
    _run(_ONE, 3, F(1, 4), 2, (0, 0)),
    _run(_ONE, 3, F(1, 4), 2, (0, 0, 0), Qmax=2, N=2),
    _run(_ONE, 2, F(1, 2), 3, (0, 0, 0)),
    _run((_VALLEYS,), F(1, 2), F(1, 4), 2, (0, 0, 0), Qmax=2),
    _run((bowl(F(3, 4)),), 1, F(1, 4), 2, (0, 0), (1,)),
    _run((bowl(F(4, 3)),), 0, F(1, 4), 1, (0, 0), (1,), N=2),
    _run((bowl(F(3, 4)),), 1, F(1, 8), 1, (0, 0), (1,), Qmax=2, N=2),
    # Two clients that arrive one after the other, and are late; windows of one update, and of two.
    _run(_TWO, 2, F(1, 2), 2, (0, 1)),
    _run(_TWO, F(1, 2), F(1, 4), 1, (0, 1), N=2),
    _run(_TWO, 2, F(1, 4), 3, (0, 1, 0, 1), Qmax=3),
    _run(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), Qmax=3, N=2),
    _run(_TWO, -1, F(1, 8), 2, (0, 1, 0, 1, 0, 1), Qmax=3, N=3),
    _run((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 2), 2, (0, 1), (1, 1)),
    _run((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 4), 1, (0, 1), (1, 0), N=2),
    _run((bowl(F(4, 3)), bowl(F(4, 3), -1)), 0, F(1, 8), 2, (0, 1, 0, 1), (0, 1), Qmax=3, N=2),
    _run((bowl(F(3, 4)), bowl(F(3, 4))), -2, F(1, 8), 3, (0, 0, 0, 1), (0, 1), Qmax=2),
    _run((bowl(1), _VALLEYS), 2, F(1, 4), 4, (0, 0, 0, 1), Qmax=2),
    _run((bowl(1), _VALLEYS), 2, F(1, 8), 2, (0, 0, 1, 0, 1), Qmax=2, N=2),
    # A run that waits in the general buffer, and an update that holds nothing.
    _run(_TWO, 1, F(1, 4), 3, (0, 1, 1, 0, 0, 1), Qmax=3, latest_time_factor=1),
    _run(_TWO, 2, F(1, 4), 2, (0, 1, 1, 0, 1), Qmax=2, N=2),
    # Three clients; weights that are not equal, and weights that fall with the staleness.
    _run((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 2), 2, (0, 1, 2), N=2),
    _run((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 2), 3, (0, 1, 2)),
    _run(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), p=(F(3, 4), F(1, 4)), Qmax=3),
    _run(_TWO, F(1, 2), F(1, 8), 2, (0, 1, 0, 1), p=(F(1, 4), F(3, 4)), Qmax=3, N=2),
    _run(_TWO, 2, F(1, 4), 3, (0, 1, 0, 1), Qmax=3, st="inverse"),
    _run(
        (bowl(F(3, 4)), bowl(F(3, 4), 1)),
        2,
        F(1, 8),
        2,
        (0, 1, 0, 1),
        (0, 1),
        (F(3, 4), F(1, 4)),
        Qmax=3,
        normalise=True,
    ),
    # Constants that are larger than they need be.
    _run(_TWO, 2, F(1, 8), 2, (0, 1), bounds={"L": 2, "tau_max": 2, "A_max": 1, "W_max": 1, "V_max": 1}),
    _run(_TWO, 2, F(1, 8), 2, (0, 1, 0), bounds={"L": 2, "B": 2, "W_min": F(1, 2), "F0": 4}, Qmax=2, N=2),
    # One group from the first update on.
    _run(_TWO, 2, F(1, 4), 2, speeds=(1, 1), **_GROUP),
    _run(_TWO, -1, F(1, 4), 2, speeds=(1, 1), Qmax=2, **_GROUP),
    _run(_TWO, 2, F(1, 4), 2, speeds=(1, 2), Qmax=2, **_GROUP),
    _run((bowl(1), _VALLEYS), 1, F(1, 8), 2, speeds=(1, 3), Qmax=3, **_GROUP),
    _run((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 4), 2, speeds=(1, 2, 2), Qmax=2, **_GROUP),
    _run((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 4), 1, (), (1, 1), speeds=(1, 2), Qmax=2, **_GROUP),
    _run((bowl(F(3, 4)), bowl(F(3, 4), 1)), 0, F(1, 4), 2, (), (1, 0), speeds=(1, 2), Qmax=2, **_GROUP),
    _run((bowl(F(4, 3)),), 1, F(1, 4), 2, (), (1,), speeds=(1,), Qmax=2, **_GROUP),
    _run((bowl(F(4, 3)), bowl(F(4, 3))), 1, F(1, 2), 2, (), (1, 1), speeds=(1, 1), **_GROUP),
)

# A larger gap F0 makes the root in the bound for any step rational.
_GAPS = (
    _run(_ONE, 3, F(1, 4), 2, (0, 0), bounds={"F0": F(1337, 512)}),
    _run(_ONE, 3, F(1, 4), 2, (0, 0, 0), bounds={"F0": F(1925, 768)}, Qmax=2, N=2),
    _run(_ONE, 2, F(1, 2), 3, (0, 0, 0), bounds={"F0": F(195, 128)}),
    _run(_TWO, F(1, 2), F(1, 4), 1, (0, 1), bounds={"F0": F(1, 256)}, N=2),
    _run(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), bounds={"F0": F(7431, 8192)}, Qmax=3, N=2),
    _run(_TWO, 2, F(1, 2), 2, (0, 1), bounds={"F0": F(461, 512)}),
    _run(_TWO, 2, F(1, 4), 3, (0, 1, 0, 1), bounds={"F0": F(483, 512)}, Qmax=3),
    _run((bowl(1), _VALLEYS), 2, F(1, 4), 4, (0, 0, 0, 1), bounds={"F0": F(3, 8)}, Qmax=2),
    _run((bowl(1), _VALLEYS), 2, F(1, 8), 2, (0, 0, 1, 0, 1), bounds={"F0": F(4277, 16384)}, Qmax=2, N=2),
    _run(_TWO, 1, F(1, 4), 3, (0, 1, 1, 0, 0, 1), bounds={"F0": F(507, 2048)}, Qmax=3, latest_time_factor=1),
    _run(_TWO, 2, F(1, 4), 3, (0, 1, 0, 1), bounds={"F0": F(14913, 16384)}, Qmax=3, st="inverse"),
)
FEDCOMPASS = _PLAIN + _GAPS
