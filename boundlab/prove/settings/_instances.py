"""Exact instances on which proofs are tested: tight ones, ones at the edges of ranges, and generic ones.

Each is the smallest of its kind: a handful of events, of signs and of pieces.
"""

from fractions import Fraction

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
