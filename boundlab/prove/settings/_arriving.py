"""What exact instances of several algorithms are made of: functions with bounded slopes, and lists of who arrives."""

from fractions import Fraction
from typing import Any

from boundlab.prove._functions import Function, Huber
from boundlab.prove._instance import Instance, Noise

F = Fraction


def bowl(width: int | Fraction, centre: int | Fraction = 0, curvature: int | Fraction = 1) -> Huber:
    """Return a function whose slopes are at most curvature·width."""
    return Huber(F(curvature), F(centre), F(width))


def arriving(
    functions: tuple[Function, ...],
    at: int | Fraction,
    eta: Fraction,
    horizon: int,
    events: tuple[int, ...],
    noise: tuple[int | Fraction, ...] = (),
    steps: int = 1,
    bounds: dict[str, Any] | None = None,
    **options: Any,
) -> Instance:
    """Return an instance in which one client after the other arrives, ``events``; options are the algorithm's."""
    signs = tuple(Noise((F(one),)) for one in noise)
    larger = tuple(sorted((name, F(value)) for name, value in (bounds or {}).items()))
    return Instance(
        functions,
        (F(at),),
        eta,
        steps,
        horizon,
        signs,
        bounds=larger,
        events=events,
        options=tuple(sorted(options.items())),
    )
