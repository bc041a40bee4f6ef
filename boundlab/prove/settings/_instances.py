"""Exact instances on which proofs are tested: tight ones, ones at the edges of ranges, and generic ones.

Each is the smallest of its kind: a handful of events, of signs and of pieces. Where runs arrive one after the other,
functions have bounded slopes, and who arrives, or how long a local step takes, decides what is in a buffer, or a
window, and how late it is.
"""

from fractions import Fraction
from typing import Any

from boundlab.prove._functions import Function, Huber, MaxAffine, PiecewiseQuadratic, Point, Quadratic
from boundlab.prove._instance import Instance, Noise

F = Fraction


def _point(*parts: int | Fraction) -> Point:
    return tuple(F(one) for one in parts)


def _kinked(*pieces: tuple[int | Fraction, int | Fraction]) -> MaxAffine:
    return MaxAffine(tuple((_point(slope), F(level)) for slope, level in pieces))


def _bowl(curvature: int | Fraction, centre: int | Fraction = 0) -> Quadratic:
    return Quadratic(_point(curvature), _point(centre))


def _sign(size: int | Fraction) -> Noise:
    return Noise(_point(size))


_ABS = _kinked((1, 0), (-1, 0))
_FLAT = _kinked((0, 0))
_plane: tuple[Function, ...] = (
    MaxAffine(((_point(3, 4), F(0)), (_point(-3, -4), F(0)), (_point(4, -3), F(0)), (_point(-4, 3), F(0)))),
)
_HALF, _THIRDS = (F(1, 2),), (F(1, 3), F(1, 3))

# Convex and Lipschitz; what GD reads of p is nothing.
LIPSCHITZ: tuple[Instance, ...] = (
    # |x| from afar: every step has the same slope.
    Instance((_ABS,), _point(5), F(1), 2, 1, p=_HALF, p_s=F(1, 2)),
    # |x| across the kink, one local step.
    Instance((_ABS,), _point(F(1, 2)), F(1), 1, 2, p=_HALF, p_s=F(1, 2)),
    # A start at the minimiser.
    Instance((_ABS,), _point(0), F(1, 2), 2, 2, p=_HALF, p_s=F(1, 2)),
    # A constant function: B = 0 and sigma = 0.
    Instance((_FLAT,), _point(2), F(1), 2, 2, p=_HALF, p_s=F(1, 2), star=_point(1), leaning=(_point(0),)),
    # Nothing but noise.
    Instance((_FLAT,), _point(1), F(1), 2, 2, (_sign(1),), p=_HALF, p_s=F(1, 2), star=_point(0), leaning=(_point(0),)),
    # Noise that is not symmetric.
    Instance((_ABS,), _point(1), F(1, 2), 2, 1, (Noise(_point(2), F(1, 5)),), (F(1, 4),), F(3, 4)),
    # Two clients with minimisers of their own.
    Instance((_kinked((1, -1), (-1, 1)), _kinked((1, 1), (-1, -1))), _point(2), F(1, 2), 2, 2, p=_THIRDS, p_s=F(1, 3)),
    # Two clients with different slopes, and noise of one of them.
    Instance(
        (_kinked((2, -2), (-1, 0)), _kinked((1, 0), (-3, 0), (0, 1))),
        _point(F(3, 2)),
        F(1, 4),
        2,
        2,
        (_sign(1), _sign(0)),
        (F(1, 2), F(1, 6)),
        F(1, 3),
    ),
    # Three iterations, constants larger than they need be.
    Instance(
        (_kinked((1, 0), (-2, -1)),),
        _point(-2),
        F(1, 2),
        1,
        3,
        (_sign(F(1, 2)),),
        p=_HALF,
        p_s=F(1, 2),
        bounds=(("B", F(3)), ("sigma", F(1))),
    ),
    # Three values of the noise.
    Instance((_ABS,), _point(F(1, 3)), F(1, 3), 1, 2, (Noise(_point(2), F(1, 2), F(3, 4)),), p=_HALF, p_s=F(1, 2)),
    # Two variables, four pieces; the minimiser is the kink of all.
    Instance(
        _plane,
        _point(3, 4),
        F(1, 5),
        2,
        2,
        p=_HALF,
        p_s=F(1, 2),
        star=_point(0, 0),
        leaning=(_point(0, 0),),
    ),
    # Two variables and noise along one of them.
    Instance(
        _plane,
        _point(1, 0),
        F(1, 10),
        2,
        1,
        (Noise(_point(0, 1)),),
        p=_HALF,
        p_s=F(1, 2),
        star=_point(0, 0),
        leaning=(_point(0, 0),),
    ),
    # Three local steps, three clients, one event.
    Instance(
        (_ABS, _kinked((1, -2), (-1, 2)), _FLAT), _point(3), F(1, 2), 3, 1, p=(F(1, 4), F(1, 4), F(1, 8)), p_s=F(3, 8)
    ),
    # Slopes and noise at their bounds, and a rational step where a theorem sets it for the horizon.
    Instance((_ABS,), _point(5), F(1), 1, 3, (_sign(1),), p=_HALF, p_s=F(1, 2)),
    # Long enough for the average to differ from the start.
    Instance((_ABS,), _point(4), F(1), 1, 4, p=_HALF, p_s=F(1, 2)),
    # A start that one of the clients likes better than the minimiser.
    Instance(
        (_kinked((1, -1), (-1, 1)), _kinked((2, 2), (-2, -2))),
        _point(1),
        F(1, 2),
        1,
        2,
        (_sign(1), _sign(0)),
        _THIRDS,
        F(1, 3),
    ),
    # Noise of both clients.
    Instance(
        (_ABS, _kinked((2, 0), (0, -2))),
        _point(1),
        F(1),
        1,
        2,
        (_sign(1), _sign(2)),
        (F(2, 5), F(2, 5)),
        F(1, 5),
    ),
)

# Smooth ones, most of them strongly convex, with a few where mu is not the curvature; GD takes one step at a time.
SMOOTH: tuple[Instance, ...] = (
    # mu = L, one step to the minimiser.
    Instance((_bowl(1),), _point(1), F(1), horizon=2),
    Instance((_bowl(2, 1),), _point(-1), F(1, 4), horizon=3),
    # A start at the minimiser, and none of the two is 0.
    Instance((_bowl(1, 2),), _point(2), F(1, 2), horizon=2),
    # Smaller mu and larger L than need be.
    Instance((_bowl(2),), _point(3), F(1, 4), horizon=2, bounds=(("L", F(3)), ("mu", F(1)))),
    # Two clients that disagree.
    Instance((_bowl(1, 1), _bowl(3, -1)), _point(2), F(1, 3), horizon=3),
    Instance((_bowl(1, 4), _bowl(2, -2)), _point(-3), F(1, 2), horizon=2),
    # Two variables: the two ends of the spectrum.
    Instance((Quadratic(_point(1, 3), _point(0, 0)),), _point(3, 4), F(1, 3), horizon=2),
    Instance((Quadratic(_point(1, 4), _point(0, 0)),), _point(4, 3), F(1, 4), horizon=3),
    Instance(
        (Quadratic(_point(1, 2), _point(1, 1)), Quadratic(_point(2, 1), _point(-2, 1))),
        _point(2, 5),
        F(1, 3),
        horizon=2,
    ),
    # A step near the largest: the other branch of max(L·alpha − 1, 1 − alpha·mu).
    Instance((_bowl(1),), _point(1), F(3, 2), horizon=3),
    Instance((Quadratic(_point(1, 2), _point(0, 0)),), _point(3, 4), F(4, 5), horizon=2),
    Instance((Quadratic(_point(1, 3), _point(0, 0)),), _point(0, 2), F(1, 2), horizon=2),
    Instance((_bowl(1, 1), _bowl(2, -1)), _point(F(2, 3)), F(3, 4), horizon=2),
    # Convex, not strongly: slopes that stay as they are, as in the worst case; and a constant beside.
    Instance((Huber(F(1), F(0), F(1)),), _point(4), F(1), horizon=2),
    Instance((Huber(F(2), F(0), F(1, 5)),), _point(1), F(1, 2), horizon=2),
    Instance((Huber(F(1), F(1), F(1)), _bowl(1, -1)), _point(2), F(1, 2), horizon=2),
    Instance((Huber(F(1), F(0), F(2)), _kinked((0, 1))), _point(-5), F(1), horizon=3),
    # Noise: one sign, of two clients, with three values.
    Instance((_bowl(1),), _point(1), F(1, 2), horizon=3, noise=(_sign(1),)),
    Instance((_bowl(1),), _point(0), F(1), horizon=2, noise=(_sign(2),)),
    Instance((_bowl(1, 1), _bowl(3, -1)), _point(2), F(1, 4), horizon=2, noise=(_sign(1), _sign(F(1, 2)))),
    Instance((_bowl(2, 1), _bowl(2, -1)), _point(1), F(1, 3), horizon=2, noise=(_sign(1), _sign(1))),
    Instance((Quadratic(_point(1, 3), _point(0, 0)),), _point(3, 4), F(1, 3), horizon=2, noise=(Noise(_point(1, 2)),)),
    Instance((Huber(F(1), F(0), F(1)),), _point(3), F(1, 2), horizon=2, noise=(Noise(_point(1), F(1, 2), F(1, 2)),)),
    Instance((_bowl(1),), _point(2), F(1, 4), horizon=2, noise=(Noise(_point(2), F(1, 5)),)),
    # A start so near to x* that the noise is larger than what is left.
    Instance((_bowl(1),), _point(F(1, 4)), F(1, 4), horizon=2, noise=(_sign(2),)),
    Instance((_bowl(2, 1),), _point(F(1, 2)), F(1, 8), horizon=2, noise=(_sign(3),)),
    Instance((_bowl(1, 1), _bowl(1, -1)), _point(F(1, 3)), F(1, 4), horizon=2, noise=(_sign(1), _sign(2))),
)


def _arriving(
    function: Function, start: int | Fraction, alpha: Fraction, events: tuple[int, ...], *noise: Noise, **more: F
) -> Instance:
    """Return clients with one function, as many as arrive, and noise of each of them."""
    many = max(events) + 1
    bounds = tuple(sorted(more.items()))
    return Instance(
        (function,) * many,
        _point(start),
        alpha,
        1,
        len(events),
        noise * many if len(noise) == 1 else noise,
        bounds=bounds,
        events=events,
    )


_SKEW = Noise(_point(2), F(1, 5))
_RARE = Noise(_point(1), F(1, 2), F(1, 2))
# Two valleys and a hill between them.
_VALLEYS = PiecewiseQuadratic((F(-1), F(1)), (F(1), F(-1), F(1)), F(1))
# A slope that turns back to 0 on one side.
_BAY = PiecewiseQuadratic((F(0), F(1), F(3)), (F(2), F(-1), F(1, 2), F(0)), F(1, 2))

# Smooth, and some of them not convex; gradients of models that are up to three iterations old.
DELAYED: tuple[Instance, ...] = (
    # No delay at all.
    _arriving(_bowl(1), 1, F(1), (0, 0)),
    _arriving(_bowl(2, 1), -1, F(1, 4), (0, 0, 0), _sign(1)),
    _arriving(_VALLEYS, F(1, 2), F(1), (0, 0, 0), _RARE),
    # Two clients in turn.
    _arriving(_bowl(1), 2, F(1, 3), (0, 1, 0, 1)),
    _arriving(_bowl(1), 2, F(1, 3), (0, 1, 0, 1), _sign(1)),
    _arriving(_VALLEYS, 2, F(1, 4), (0, 1, 0), _sign(1), _SKEW),
    # One of them is late.
    _arriving(_bowl(1), -3, F(1, 5), (0, 0, 1, 0), _sign(1), _sign(2)),
    _arriving(_BAY, 2, F(1, 10), (0, 0, 1, 1)),
    _arriving(_VALLEYS, 0, F(1, 8), (0, 0, 0, 1), _sign(F(1, 2))),
    # Three clients.
    _arriving(_BAY, 0, F(1, 12), (0, 1, 2, 0), _sign(1)),
    _arriving(_VALLEYS, -3, F(1, 5), (0, 1, 2, 2)),
    # Constants larger than they need be; a slope that stays as it is.
    _arriving(Huber(F(1), F(0), F(1)), 4, F(1, 10), (0, 1, 1), _RARE, L=F(2), tau_max=F(2), sigma=F(1)),
    # A constant function but for one piece far away, and nothing but noise.
    _arriving(PiecewiseQuadratic((F(9),), (F(0), F(1)), F(0)), 0, F(1, 3), (0, 1, 0), _sign(1)),
)


def _bent(left: int | Fraction, right: int | Fraction, centre: int | Fraction = 0) -> PiecewiseQuadratic:
    """Return a Huber function and a quadratic, or the like: another curvature on either side of the minimiser."""
    return PiecewiseQuadratic((F(centre),), (F(left), F(right)), F(0))


# Smooth and strongly convex, for steps c/(k + d); alpha is the first of them, at most 2/(M·(mu + L)).
DIMINISHING: tuple[Instance, ...] = (
    # One client, no noise: the largest step that the theorem allows, and a smaller one.
    Instance((_bowl(1),), _point(1), F(1), 1, 2, p=_HALF, p_s=F(1, 2)),
    Instance((_bowl(2, 1),), _point(3), F(1, 8), 2, 2, p=_HALF, p_s=F(1, 2)),
    # A start at the minimiser.
    Instance((_bent(1, 2),), _point(0), F(1, 3), 2, 2, p=(F(2, 3),), p_s=F(1, 3)),
    # Noise alone.
    Instance((_bowl(1),), _point(0), F(1, 2), 2, 1, (_sign(1),), p=_HALF, p_s=F(1, 2)),
    Instance((_bent(1, 3),), _point(2), F(1, 4), 2, 2, (_sign(1),), p=(F(1, 4),), p_s=F(3, 4)),
    # Two clients that disagree.
    Instance((_bowl(1, 1), _bowl(1, -1)), _point(2), F(1, 2), 2, 2, p=_THIRDS, p_s=F(1, 3)),
    Instance((_bowl(1, 1), _bowl(3, -1)), _point(2), F(1, 6), 3, 2, p=(F(1, 2), F(1, 4)), p_s=F(1, 4)),
    Instance((_bent(1, 2, 3), _bowl(2)), _point(-1), F(1, 4), 2, 1, (_sign(1), _sign(2)), _THIRDS, F(1, 3)),
    # Bent on one side only, and constants that are larger, or smaller, than they need be.
    Instance(
        (PiecewiseQuadratic((F(-1), F(1)), (F(1), F(2), F(1)), F(-2)), _bowl(1, 2)),
        _point(1),
        F(1, 8),
        3,
        1,
        (_sign(1), _RARE),
        (F(1, 2), F(1, 3)),
        F(1, 6),
        bounds=(("L", F(3)), ("mu", F(1, 2)), ("p_min", F(1, 8)), ("sigma", F(2)), ("zeta", F(4))),
    ),
    # Two variables.
    Instance((Quadratic(_point(1, 3), _point(0, 0)),), _point(3, 4), F(1, 4), 2, 2, p=_HALF, p_s=F(1, 2)),
    Instance(
        (Quadratic(_point(1, 2), _point(3, 4)), Quadratic(_point(1, 2), _point(-3, -4))),
        _point(3, 4),
        F(1, 3),
        2,
        1,
        (Noise(_point(1, 2)), Noise(_point(0, 0))),
        (F(2, 5), F(2, 5)),
        F(1, 5),
    ),
)


# Runs that arrive one after the other.


def bowl(width: int | Fraction, centre: int | Fraction = 0, curvature: int | Fraction = 1) -> Huber:
    """Return a function whose slopes are at most curvature·width."""
    return Huber(F(curvature), F(centre), F(width))


def arriving(
    functions: tuple[Function, ...],
    at: int | Fraction,
    eta: Fraction,
    horizon: int,
    events: tuple[int, ...] | str = (),
    noise: tuple[int | Fraction, ...] = (),
    steps: int = 1,
    p: tuple[Fraction, ...] = (),
    bounds: dict[str, Any] | None = None,
    **options: Any,
) -> Instance:
    """Return an instance.

    Parameters
    ----------
    events
        Which client arrives after which; or rounds, as text. None where arrivals are drawn, or follow from speeds.
    noise
        The size of the sign that is added to each gradient, by client.
    p
        Probabilities of arrivals, or weights of clients.
    bounds
        Constants that are larger than they need be.
    options
        The algorithm's.
    """
    if isinstance(events, str):
        options, events = options | {"rounds": events}, ()
    signs = tuple(Noise((F(one),)) for one in noise)
    larger = tuple(sorted((name, F(value)) for name, value in (bounds or {}).items()))
    own = tuple(sorted(options.items()))
    return Instance(functions, (F(at),), eta, steps, horizon, signs, p, bounds=larger, events=events, options=own)


_ONE, _TWO, _FAR = (bowl(1),), (bowl(1), bowl(1, 1)), (bowl(1), bowl(1))
# A hill between two valleys; slopes are at most 1.
_WIDE_VALLEYS = PiecewiseQuadratic((F(-3), F(-1), F(1), F(3)), (F(0), F(1), F(-1), F(1), F(0)), F(-1))
# Nothing moves.
_NOTHING_MOVES = PiecewiseQuadratic((F(0),), (F(0), F(0)), F(0))


# Full buffers: who arrives decides what is in them.

BUFFERED: tuple[Instance, ...] = (
    # A start at the minimiser: nothing ever moves. A slope that stays as it is: all steps go one way.
    arriving(_ONE, 0, F(1, 4), 2, (0, 0)),
    arriving(_ONE, 5, F(1, 4), 2, (0, 0)),
    arriving(_ONE, 5, F(1, 4), 2, (0, 0), steps=2),
    arriving((_WIDE_VALLEYS,), F(1, 2), F(1, 4), 2, (0, 0, 0, 0), steps=2, count=2),
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
    arriving((bowl(1), _WIDE_VALLEYS), 2, F(1, 8), 3, (0, 0, 0, 1, 1, 1), count=2, steps=2, reply="pre"),
    arriving((bowl(1), _WIDE_VALLEYS), -1, F(1, 8), 2, (0, 1, 1, 0), count=2, reply="wait"),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 2), 2, (0, 1), (1, 1)),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 4), 1, (0, 1), (1, 0), steps=2, count=2),
    arriving((bowl(F(4, 3)), bowl(F(4, 3), -1)), 0, F(1, 8), 2, (0, 0, 0, 1), (0, 1), count=2),
    # Three clients of which two are in a buffer.
    arriving((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 4), 2, (0, 1, 2, 0), count=2),
    # Weights that follow the staleness.
    arriving(_TWO, 2, F(1, 4), 3, (0, 0, 0, 1, 0, 1), count=2, scale=2.0),
    arriving((bowl(1), _WIDE_VALLEYS), 2, F(1, 4), 3, (0, 0, 0, 0, 1, 0), count=2, scale=1.0, include="previous"),
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
    arriving((_WIDE_VALLEYS,), F(1, 2), F(1, 4), 3, (0, 0, 0)),
    arriving(_TWO, 2, F(1, 4), 2, (0, 1, 1, 0), count=2, **_WAIT),
    arriving(_TWO, F(1, 2), F(1, 8), 2, (0, 1, 0, 1), steps=2, count=2, scale=2.0, **_WAIT),
    arriving((bowl(1), _WIDE_VALLEYS), -1, F(1, 4), 2, (0, 1, 1, 0), count=2, scale=2.0, **_WAIT),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 4), 1, (0, 1), (1, 0), count=2, **_WAIT),
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), count=2, bounds={"tau_max": 2, "L": 2}, **_WAIT),
)


# Buffers with independent arrivals: client i is the next one with probability p_i.

_ALWAYS, _EVEN, _UNEVEN = (F(1),), (F(1, 2), F(1, 2)), (F(3, 4), F(1, 4))

STATIONARY: tuple[Instance, ...] = (
    # One client; a start at the minimiser, where nothing ever moves, and a slope that stays as it is.
    arriving(_ONE, 0, F(1, 4), 2, p=_ALWAYS),
    arriving(_ONE, 5, F(1, 4), 2, p=_ALWAYS),
    arriving((_WIDE_VALLEYS,), F(1, 2), F(1, 8), 2, (), steps=2, count=2, p=_ALWAYS),
    arriving((bowl(F(3, 4)),), 1, F(1, 4), 2, (), (1,), p=_ALWAYS),
    arriving((bowl(F(3, 4)),), 0, F(1, 8), 1, (), (1,), steps=2, count=2, eta_g=2.0, p=_ALWAYS),
    # Two clients, one entry: one of them is late in the second update.
    arriving(_FAR, 9, F(1, 4), 2, p=_EVEN),
    arriving(_FAR, 9, F(1, 8), 3, p=_EVEN),
    arriving(_TWO, 2, F(1, 4), 2, p=_UNEVEN),
    arriving(_TWO, F(1, 2), F(1, 8), 2, (), steps=2, p=_EVEN),
    arriving((bowl(1), _WIDE_VALLEYS), -1, F(1, 8), 3, (), reply="pre", p=_UNEVEN),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 4), 2, (), (1, 0), p=_EVEN),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), F(1, 2), F(1, 4), 1, (), (1, 1), p=_UNEVEN),
    arriving((bowl(F(4, 3)), bowl(F(4, 3), -1)), 0, F(1, 8), 2, (), (0, 1), steps=2, p=_EVEN),
    # Two entries, which one client may have sent both.
    arriving(_TWO, 2, F(1, 4), 1, (), count=2, p=_EVEN),
    arriving(_TWO, 2, F(1, 4), 2, (), count=2, eta_g=0.5, p=_UNEVEN),
    arriving((bowl(1), _WIDE_VALLEYS), F(1, 2), F(1, 8), 2, (), steps=2, count=2, p=_EVEN),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 8), 2, (), (1, 0), count=2, p=_EVEN),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 4), 1, (), (1, 1), count=2, p=_UNEVEN),
    # Three clients; constants that are larger than they need be.
    arriving((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 8), 2, p=(F(1, 2), F(1, 4), F(1, 4))),
    arriving(_TWO, 2, F(1, 8), 2, bounds={"L": 2, "tau_max": 2, "B": 2, "chi2": 1, "alpha2": 2, "pi_max": 1}, p=_EVEN),
)


# FedCompass: who arrives, or how long a local step takes, decides what runs there are.

_GROUP: dict[str, Any] = {"warmup": "speeds"}

_PLAIN: tuple[Instance, ...] = (
    # A start at the minimiser: nothing ever moves.
    arriving(_ONE, 0, F(1, 4), 2, (0, 0)),
    # One client: always a group of its own.
    arriving(_ONE, 3, F(1, 4), 2, (0, 0)),
    arriving(_ONE, 3, F(1, 4), 2, (0, 0, 0), Qmax=2, N=2),
    arriving(_ONE, 2, F(1, 2), 3, (0, 0, 0)),
    arriving((_WIDE_VALLEYS,), F(1, 2), F(1, 4), 2, (0, 0, 0), Qmax=2),
    arriving((bowl(F(3, 4)),), 1, F(1, 4), 2, (0, 0), (1,)),
    arriving((bowl(F(4, 3)),), 0, F(1, 4), 1, (0, 0), (1,), N=2),
    arriving((bowl(F(3, 4)),), 1, F(1, 8), 1, (0, 0), (1,), Qmax=2, N=2),
    # Two clients that arrive one after the other, and are late; windows of one update, and of two.
    arriving(_TWO, 2, F(1, 2), 2, (0, 1)),
    arriving(_TWO, F(1, 2), F(1, 4), 1, (0, 1), N=2),
    arriving(_TWO, 2, F(1, 4), 3, (0, 1, 0, 1), Qmax=3),
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), Qmax=3, N=2),
    arriving(_TWO, -1, F(1, 8), 2, (0, 1, 0, 1, 0, 1), Qmax=3, N=3),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 2), 2, (0, 1), (1, 1)),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 4), 1, (0, 1), (1, 0), N=2),
    arriving((bowl(F(4, 3)), bowl(F(4, 3), -1)), 0, F(1, 8), 2, (0, 1, 0, 1), (0, 1), Qmax=3, N=2),
    arriving((bowl(F(3, 4)), bowl(F(3, 4))), -2, F(1, 8), 3, (0, 0, 0, 1), (0, 1), Qmax=2),
    arriving((bowl(1), _WIDE_VALLEYS), 2, F(1, 4), 4, (0, 0, 0, 1), Qmax=2),
    arriving((bowl(1), _WIDE_VALLEYS), 2, F(1, 8), 2, (0, 0, 1, 0, 1), Qmax=2, N=2),
    # A run that waits in the general buffer, and an update that holds nothing.
    arriving(_TWO, 1, F(1, 4), 3, (0, 1, 1, 0, 0, 1), Qmax=3, latest_time_factor=1),
    arriving(_TWO, 2, F(1, 4), 2, (0, 1, 1, 0, 1), Qmax=2, N=2),
    # Three clients; weights that are not equal, and weights that fall with the staleness.
    arriving((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 2), 2, (0, 1, 2), N=2),
    arriving((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 2), 3, (0, 1, 2)),
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), p=(F(3, 4), F(1, 4)), Qmax=3),
    arriving(_TWO, F(1, 2), F(1, 8), 2, (0, 1, 0, 1), p=(F(1, 4), F(3, 4)), Qmax=3, N=2),
    arriving(_TWO, 2, F(1, 4), 3, (0, 1, 0, 1), Qmax=3, st="inverse"),
    arriving(
        (bowl(F(3, 4)), bowl(F(3, 4), 1)),
        2,
        F(1, 8),
        2,
        (0, 1, 0, 1),
        (0, 1),
        p=(F(3, 4), F(1, 4)),
        Qmax=3,
        normalise=True,
    ),
    # Constants that are larger than they need be.
    arriving(_TWO, 2, F(1, 8), 2, (0, 1), bounds={"L": 2, "tau_max": 2, "A_max": 1, "W_max": 1, "V_max": 1}),
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0), bounds={"L": 2, "B": 2, "W_min": F(1, 2), "F0": 4}, Qmax=2, N=2),
    # One group from the first update on.
    arriving(_TWO, 2, F(1, 4), 2, speeds=(1, 1), **_GROUP),
    arriving(_TWO, -1, F(1, 4), 2, speeds=(1, 1), Qmax=2, **_GROUP),
    arriving(_TWO, 2, F(1, 4), 2, speeds=(1, 2), Qmax=2, **_GROUP),
    arriving((bowl(1), _WIDE_VALLEYS), 1, F(1, 8), 2, speeds=(1, 3), Qmax=3, **_GROUP),
    arriving((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 4), 2, speeds=(1, 2, 2), Qmax=2, **_GROUP),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 4), 1, (), (1, 1), speeds=(1, 2), Qmax=2, **_GROUP),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 0, F(1, 4), 2, (), (1, 0), speeds=(1, 2), Qmax=2, **_GROUP),
    arriving((bowl(F(4, 3)),), 1, F(1, 4), 2, (), (1,), speeds=(1,), Qmax=2, **_GROUP),
    arriving((bowl(F(4, 3)), bowl(F(4, 3))), 1, F(1, 2), 2, (), (1, 1), speeds=(1, 1), **_GROUP),
)

# A larger gap F0 makes the root in the bound for any step rational.
_GAPS = (
    arriving(_ONE, 3, F(1, 4), 2, (0, 0), bounds={"F0": F(1337, 512)}),
    arriving(_ONE, 3, F(1, 4), 2, (0, 0, 0), bounds={"F0": F(1925, 768)}, Qmax=2, N=2),
    arriving(_ONE, 2, F(1, 2), 3, (0, 0, 0), bounds={"F0": F(195, 128)}),
    arriving(_TWO, F(1, 2), F(1, 4), 1, (0, 1), bounds={"F0": F(1, 256)}, N=2),
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), bounds={"F0": F(7431, 8192)}, Qmax=3, N=2),
    arriving(_TWO, 2, F(1, 2), 2, (0, 1), bounds={"F0": F(461, 512)}),
    arriving(_TWO, 2, F(1, 4), 3, (0, 1, 0, 1), bounds={"F0": F(483, 512)}, Qmax=3),
    arriving((bowl(1), _WIDE_VALLEYS), 2, F(1, 4), 4, (0, 0, 0, 1), bounds={"F0": F(3, 8)}, Qmax=2),
    arriving((bowl(1), _WIDE_VALLEYS), 2, F(1, 8), 2, (0, 0, 1, 0, 1), bounds={"F0": F(4277, 16384)}, Qmax=2, N=2),
    arriving(_TWO, 1, F(1, 4), 3, (0, 1, 1, 0, 0, 1), bounds={"F0": F(507, 2048)}, Qmax=3, latest_time_factor=1),
    arriving(_TWO, 2, F(1, 4), 3, (0, 1, 0, 1), bounds={"F0": F(14913, 16384)}, Qmax=3, st="inverse"),
    # So it is with the constants along the run of schedules that are late.
    arriving(_TWO, 2, F(1, 2), 2, (0, 1), bounds={"F0": F(61, 64)}),
    arriving(_TWO, 2, F(1, 4), 3, (0, 1, 0, 1), bounds={"F0": F(21, 16)}, Qmax=3),
    arriving((bowl(1), _WIDE_VALLEYS), 2, F(1, 4), 4, (0, 0, 0, 1), bounds={"F0": F(21, 64)}, Qmax=2),
    arriving((bowl(1), _WIDE_VALLEYS), 2, F(1, 8), 2, (0, 0, 1, 0, 1), bounds={"F0": F(17, 64)}, Qmax=2, N=2),
    arriving(_TWO, 1, F(1, 4), 3, (0, 1, 1, 0, 0, 1), bounds={"F0": F(15, 8)}, Qmax=3, latest_time_factor=1),
)
FEDCOMPASS = _PLAIN + _GAPS


# FedFa: who arrives decides how late runs are.

_D: dict[str, Any] = {"mode": "delta"}
_P: dict[str, Any] = {"mode": "param"}
_FULL: dict[str, Any] = {"start": "when_full"}

FEDFA: tuple[Instance, ...] = (
    # One client, a window of one: plain steps, with slopes that stay as they are.
    arriving(_ONE, 5, F(1, 4), 2, (0, 0, 0), K=1, **_D),
    arriving(_ONE, 5, F(1, 4), 2, (0, 0), K=1, **_FULL, **_D),
    arriving((_WIDE_VALLEYS,), F(1, 2), F(1, 4), 2, (0, 0, 0), steps=2, K=1, **_D),
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
    arriving((bowl(1), _WIDE_VALLEYS), 2, F(1, 8), 2, (0, 1, 0, 0, 0, 1), steps=2, K=3, N=2, **_FULL, **_D),
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
    arriving((bowl(1), _WIDE_VALLEYS), 1, F(1, 8), 3, (0, 1, 0, 1, 0), K=3, **_FULL, **_D),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 4, F(1, 8), 2, (0, 1, 0), (1, 1), K=2, **_FULL, **_D),
    arriving((_NOTHING_MOVES, _NOTHING_MOVES), 1, F(1, 8), 3, (0, 1, 0, 1), K=2, bounds={"L": 1}, **_FULL, **_D),
    arriving((_NOTHING_MOVES, _NOTHING_MOVES), 1, F(1, 8), 2, (0, 1, 0, 1), K=2, N=2, bounds={"L": 1}, **_FULL, **_D),
    # Constants that are larger than they need be.
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), K=1, N=2, bounds={"L": 2, "tau_a": 3, "share_bias": 1, "F0": 4}, **_D),
    arriving(_ONE, 2, F(1, 8), 1, (0, 0, 0), K=2, N=2, bounds={"B": 2, "L": 2}, **_FULL, **_D),
    # Averages of models: one client, whose lag is 0; windows of two and three.
    arriving(_ONE, 5, F(1, 4), 2, (0, 0, 0), K=1, **_P),
    arriving(_ONE, 2, F(1, 4), 3, (0, 0, 0), K=1, **_FULL, **_P),
    arriving(_ONE, 9, F(1, 4), 2, (0, 0, 0, 0), K=2, **_P),
    arriving(_ONE, 9, F(1, 8), 2, (0, 0, 0, 0), steps=2, K=2, N=2, **_FULL, **_P),
    arriving((_WIDE_VALLEYS,), F(1, 2), F(1, 8), 3, (0, 0, 0, 0, 0), steps=2, K=3, **_FULL, **_P),
    arriving((bowl(F(3, 4)),), 1, F(1, 4), 1, (0, 0, 0), (1,), K=2, N=2, **_FULL, **_P),
    arriving((bowl(F(4, 3)),), 3, F(1, 8), 1, (0, 0, 0), (1,), K=1, N=2, **_P),
    arriving((bowl(F(4, 3)),), 0, F(1, 8), 2, (0, 0, 0), (1,), K=2, **_FULL, **_P),
    # Lags that are at least as long as the window of one.
    arriving((bowl(1), bowl(1)), 9, F(1, 4), 3, (0, 1, 0, 1), K=2, **_FULL, **_P),
    arriving((bowl(1), bowl(1)), 9, F(1, 4), 3, (0, 1, 0, 1, 0), steps=2, K=3, **_FULL, **_P),
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), K=2, **_P),
    arriving(_TWO, 2, F(1, 8), 3, (0, 1, 0, 1), steps=2, K=2, **_FULL, **_P),
    arriving((bowl(1), _WIDE_VALLEYS), 1, F(1, 8), 3, (0, 1, 0, 1, 0), K=3, **_FULL, **_P),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 4, F(1, 8), 2, (0, 1, 0), (1, 1), K=2, **_FULL, **_P),
    arriving((_NOTHING_MOVES, _NOTHING_MOVES), 1, F(1, 8), 3, (0, 1, 0, 1), K=2, bounds={"L": 1}, **_FULL, **_P),
    arriving((_NOTHING_MOVES, _NOTHING_MOVES), 1, F(1, 8), 2, (0, 1, 0, 1), K=2, N=2, bounds={"L": 1}, **_FULL, **_P),
    # A start where one client would stay, and f goes down.
    arriving(_TWO, 0, F(1, 8), 1, (0, 1), K=1, **_FULL, **_P),
    arriving(_TWO, 0, F(1, 8), 2, (0, 1), K=1, **_FULL, **_P),
    # Two clients in turn: a lag of 1.
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1, 0), K=2, N=2, **_P),
    arriving(_TWO, 3, F(1, 4), 3, (0, 1, 0, 1), K=2, **_FULL, **_P),
    arriving((bowl(1), _WIDE_VALLEYS), 2, F(1, 8), 2, (1, 0, 1, 0, 1), steps=2, K=3, N=2, **_FULL, **_P),
    arriving((bowl(F(3, 4)), bowl(F(3, 4), 1)), 2, F(1, 8), 1, (0, 1, 0), (1, 0), K=2, N=2, **_FULL, **_P),
    arriving((bowl(1), bowl(1, 1), bowl(1, -1)), 2, F(1, 8), 2, (0, 1, 2, 0, 1), K=3, N=2, **_FULL, **_P),
    arriving(_TWO, 2, F(1, 8), 2, (0, 1, 0, 1), K=2, N=2, bounds={"L": 2, "C_lag": 1, "share_bias": 1}, **_FULL, **_P),
)


# AFL-DGA: who steps, sends and receives when, as text.
#
# +i/r is a local step of client i in round r, !i/r that it sends round r, =r that the server aggregates round r, and
# <i/r that client i receives that average.


def _everybody(n: int, rounds: int, steps: int = 1) -> str:
    """Return rounds in which everybody steps, sends and receives."""
    found = []
    for r in range(rounds):
        for i in range(n):
            found += [f"+{i}/{r}"] * steps + [f"!{i}/{r}"]
        found += [f"={r}", *(f"<{i}/{r}" for i in range(n))]
    return " ".join(found)


def _once(n: int, rounds: int, steps: int = 1) -> str:
    """Return a round of everybody, and rounds in which nobody sends."""
    sent = [part for i in range(n) for part in [f"+{i}/0"] * steps + [f"!{i}/0"]]
    return " ".join([*sent, *(f"={r}" for r in range(rounds))])


_STEEP, _SHALLOW = bowl(F(4, 3)), bowl(F(3, 4))
# Client 1 takes part in the first round only; its average is used twice more.
_TWICE = "+0/0 +1/0 !0/0 !1/0 =0 <0/0 <1/0 +0/1 !0/1 =1 <0/1 +0/2 !0/2 =2"
# Averages come late: the next local step is taken before them.
_LATE = "+0/0 !0/0 +0/1 =0 !0/1 +0/2 =1 <0/0 !0/2 =2"
# The second average overtakes the first one.
_OVERTAKEN = "+0/0 !0/0 =0 =1 <0/1 +0/2 !0/2 =2 <0/0"
# Two and one local steps, an average that client 1 never receives, and one that it gets a round later.
_MIXED = "+0/0 +0/0 +1/0 !0/0 !1/0 =0 <0/0 +1/1 !1/1 +0/1 =1 <1/1 !0/1 +1/2 +1/2 !1/2 =2"
# A gradient that is replaced before it is used stays in the client's model.
_REPLACED = "+0/0 !0/0 +0/1 !0/1 =0 +0/2 !0/2 =1 <0/0 =2"
# Own steps that are not undone, with several local steps.
_OWN = "+0/0 +0/0 !0/0 =0 +0/1 +0/1 !0/1 =1 <0/0 <0/1 +0/2 !0/2 =2"

AFL_DGA: tuple[Instance, ...] = (
    # Everybody in every round.
    arriving(_ONE, 5, F(1), 2, _everybody(1, 2)),
    arriving(_ONE, 5, F(1, 4), 3, _everybody(1, 3)),
    arriving(_TWO, 2, F(1, 2), 2, _everybody(2, 2)),
    arriving((_WIDE_VALLEYS,), F(1, 2), F(1, 4), 2, _everybody(1, 2)),
    arriving((bowl(1), _WIDE_VALLEYS), 2, F(1, 8), 2, _everybody(2, 2)),
    arriving((_STEEP,), 3, F(1, 4), 2, _everybody(1, 2), (1,)),
    arriving((_STEEP,), 3, F(1, 2), 1, _everybody(1, 1), (1,)),
    arriving((_SHALLOW, _SHALLOW), 1, F(1, 4), 2, _everybody(2, 2), (1, 1)),
    arriving((_STEEP,) * 4, 0, F(1, 4), 1, _everybody(4, 1), (1, 1, 1, 1)),
    arriving((_STEEP, bowl(F(4, 3), 1)), 2, F(1), 2, _everybody(2, 2), (1, 0)),
    # Several local steps.
    arriving(_ONE, 5, F(1, 4), 2, _everybody(1, 2, 2)),
    arriving(_TWO, 2, F(1, 8), 2, _everybody(2, 2, 3)),
    arriving((_WIDE_VALLEYS,), F(1, 2), F(1, 4), 2, _everybody(1, 2, 2)),
    arriving((_STEEP,), 3, F(1, 8), 2, _everybody(1, 2, 2), (1,)),
    # Stored gradients that are used again.
    arriving(_ONE, 5, F(1, 4), 3, _once(1, 3)),
    arriving(_ONE, 2, F(1, 3), 3, _once(1, 3)),
    arriving(_TWO, 2, F(1, 8), 3, _TWICE),
    arriving((_WIDE_VALLEYS, bowl(1)), 1, F(1, 8), 3, _TWICE),
    arriving((_STEEP,), 3, F(1, 8), 2, _once(1, 2), (1,)),
    arriving((_STEEP,), 1, F(1, 16), 3, _once(1, 3, 2), (1,)),
    arriving((_STEEP,), 0, F(1, 8), 2, _once(1, 2), (1,)),
    arriving((bowl(F(12), 0, F(1, 9)),), 1, F(1), 2, _once(1, 2), (1,)),
    arriving((_STEEP, bowl(F(4, 3), 1)), 2, F(1, 8), 3, _TWICE, (1, 1)),
    arriving((_SHALLOW, bowl(F(3, 4), 1)), 0, F(1, 16), 3, _TWICE, (0, 1)),
    arriving((_SHALLOW,) * 4, 2, F(1, 8), 2, _once(4, 2), (1, 1, 1, 1)),
    # Averages that come late, out of order, or never.
    arriving(_ONE, 5, F(1, 4), 3, _LATE),
    arriving((_WIDE_VALLEYS,), 2, F(1, 8), 3, _LATE),
    arriving((_STEEP,), 3, F(1, 8), 3, _LATE, (1,)),
    arriving(_ONE, 5, F(1, 4), 3, _OVERTAKEN),
    arriving((_STEEP,), 3, F(1, 12), 3, _OVERTAKEN, (1,)),
    arriving(_TWO, 2, F(1, 8), 3, _MIXED),
    arriving((bowl(1), _WIDE_VALLEYS), 1, F(1, 16), 3, _MIXED),
    arriving((_STEEP, _SHALLOW), 1, F(1, 16), 3, _MIXED, (1, F(1, 2))),
    arriving(_ONE, 5, F(1, 8), 3, _REPLACED),
    arriving((_STEEP,), 1, F(1, 16), 3, _REPLACED, (1,)),
    arriving(_ONE, 9, F(1, 8), 3, _OWN),
    arriving((_STEEP,), 9, F(1, 16), 3, _OWN, (1,)),
    # Constants that are larger than they need be.
    arriving(_TWO, 2, F(1, 16), 3, _TWICE, bounds={"G": 2, "L": 2}),
    arriving((_STEEP,), 3, F(1, 16), 2, _once(1, 2), (1,), bounds={"G": 2, "L": F(3, 2), "sigma": 2}),
)
