"""Exact instances of AFL-DGA: who steps, sends and receives when, as text.

+i/r is a local step of client i in round r, !i/r that it sends round r, =r that the server aggregates round r, and
<i/r that client i receives that average.
"""

from fractions import Fraction

from boundlab.prove._functions import Function, PiecewiseQuadratic
from boundlab.prove._instance import Instance, Noise
from boundlab.prove.settings._arriving import bowl

F = Fraction


def _run(
    functions: tuple[Function, ...],
    at: int | Fraction,
    eta: Fraction,
    horizon: int,
    rounds: str,
    noise: tuple[int | Fraction, ...] = (),
    bounds: tuple[tuple[str, Fraction], ...] = (),
) -> Instance:
    signs = tuple(Noise((F(one),)) for one in noise)
    return Instance(
        functions,
        (F(at),),
        eta,
        1,
        horizon,
        signs,
        bounds=bounds,
        options=(("rounds", rounds),),
    )


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


_ONE, _TWO = (bowl(1),), (bowl(1), bowl(1, 1))
# A hill between two valleys; slopes are at most 1.
_VALLEYS = PiecewiseQuadratic((F(-3), F(-1), F(1), F(3)), (F(0), F(1), F(-1), F(1), F(0)), F(-1))
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
    _run(_ONE, 5, F(1), 2, _everybody(1, 2)),
    _run(_ONE, 5, F(1, 4), 3, _everybody(1, 3)),
    _run(_TWO, 2, F(1, 2), 2, _everybody(2, 2)),
    _run((_VALLEYS,), F(1, 2), F(1, 4), 2, _everybody(1, 2)),
    _run((bowl(1), _VALLEYS), 2, F(1, 8), 2, _everybody(2, 2)),
    _run((_STEEP,), 3, F(1, 4), 2, _everybody(1, 2), (1,)),
    _run((_STEEP,), 3, F(1, 2), 1, _everybody(1, 1), (1,)),
    _run((_SHALLOW, _SHALLOW), 1, F(1, 4), 2, _everybody(2, 2), (1, 1)),
    _run((_STEEP,) * 4, 0, F(1, 4), 1, _everybody(4, 1), (1, 1, 1, 1)),
    _run((_STEEP, bowl(F(4, 3), 1)), 2, F(1), 2, _everybody(2, 2), (1, 0)),
    # Several local steps.
    _run(_ONE, 5, F(1, 4), 2, _everybody(1, 2, 2)),
    _run(_TWO, 2, F(1, 8), 2, _everybody(2, 2, 3)),
    _run((_VALLEYS,), F(1, 2), F(1, 4), 2, _everybody(1, 2, 2)),
    _run((_STEEP,), 3, F(1, 8), 2, _everybody(1, 2, 2), (1,)),
    # Stored gradients that are used again.
    _run(_ONE, 5, F(1, 4), 3, _once(1, 3)),
    _run(_ONE, 2, F(1, 3), 3, _once(1, 3)),
    _run(_TWO, 2, F(1, 8), 3, _TWICE),
    _run((_VALLEYS, bowl(1)), 1, F(1, 8), 3, _TWICE),
    _run((_STEEP,), 3, F(1, 8), 2, _once(1, 2), (1,)),
    _run((_STEEP,), 1, F(1, 16), 3, _once(1, 3, 2), (1,)),
    _run((_STEEP,), 0, F(1, 8), 2, _once(1, 2), (1,)),
    _run((bowl(F(12), 0, F(1, 9)),), 1, F(1), 2, _once(1, 2), (1,)),
    _run((_STEEP, bowl(F(4, 3), 1)), 2, F(1, 8), 3, _TWICE, (1, 1)),
    _run((_SHALLOW, bowl(F(3, 4), 1)), 0, F(1, 16), 3, _TWICE, (0, 1)),
    _run((_SHALLOW,) * 4, 2, F(1, 8), 2, _once(4, 2), (1, 1, 1, 1)),
    # Averages that come late, out of order, or never.
    _run(_ONE, 5, F(1, 4), 3, _LATE),
    _run((_VALLEYS,), 2, F(1, 8), 3, _LATE),
    _run((_STEEP,), 3, F(1, 8), 3, _LATE, (1,)),
    _run(_ONE, 5, F(1, 4), 3, _OVERTAKEN),
    _run((_STEEP,), 3, F(1, 12), 3, _OVERTAKEN, (1,)),
    _run(_TWO, 2, F(1, 8), 3, _MIXED),
    _run((bowl(1), _VALLEYS), 1, F(1, 16), 3, _MIXED),
    _run((_STEEP, _SHALLOW), 1, F(1, 16), 3, _MIXED, (1, F(1, 2))),
    _run(_ONE, 5, F(1, 8), 3, _REPLACED),
    _run((_STEEP,), 1, F(1, 16), 3, _REPLACED, (1,)),
    _run(_ONE, 9, F(1, 8), 3, _OWN),
    _run((_STEEP,), 9, F(1, 16), 3, _OWN, (1,)),
    # Constants that are larger than they need be.
    _run(_TWO, 2, F(1, 16), 3, _TWICE, bounds=(("G", F(2)), ("L", F(2)))),
    _run((_STEEP,), 3, F(1, 16), 2, _once(1, 2), (1,), bounds=(("G", F(2)), ("L", F(3, 2)), ("sigma", F(2)))),
)
