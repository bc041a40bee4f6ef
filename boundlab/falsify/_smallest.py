"""The smallest instance near a violation: shrunk move by move, then what single moves do not reach."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from boundlab.falsify import _catalog as catalog
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._judge import Judge, Score
from boundlab.falsify._optimise import iid, optimise
from boundlab.falsify._options import choices, readable
from boundlab.falsify._shrink import Accept, Keep, near_one, shrink
from boundlab.falsify._size import Sizes
from boundlab.instance.settings import open_rates
from boundlab.theorems import Theorem

_SHORT = 24  # horizons of which every earlier one is tried
_LADDER = (1, 2, 3, 5, 10, 20, 50, 100, 1000)  # integer settings that take the place of iterations
_SHARES = (0.4, 0.5)  # of the server
_FEW = (2, 3, 5, 10)  # updates that another rate may make enough
_SERVER = (10.0, 100.0)  # rates of the server
_RATIOS = (2, 3, 5)  # between two clients
_NEAR = 0.95  # of the bound, from where its numbers are worth an optimisation
_GENERATIONS = 6
_MOST = 3000  # candidates after which it is small enough
CONVINCES = 1.05  # left/right from which nobody asks whether it is rounding


def smallest(
    scores: Sequence[Score],
    judge: Judge,
    over: Callable[[], bool],
    rng: np.random.Generator,
    keep: Keep = lambda _: True,
) -> Score:
    """Return a violation that is as small as this search can make it.

    Single moves come first (:func:`boundlab.falsify._shrink.shrink`), from each violation that is given. Then each
    earlier horizon and each smaller integer is tried with other integers in exchange and with numbers optimised for it,
    and single moves follow again.

    Parameters
    ----------
    keep
        What a smaller instance must still be.
    """
    most = judge.count + _MOST

    def late() -> bool:
        return over() or judge.count >= most

    order = Sizes(judge.theorem)
    best, again = shrink(scores[0], judge, late, order, keep), True
    for score in scores[1:]:
        other = shrink(score, judge, late, order, keep)
        best = other if order.smaller(other.candidate, best.candidate) else best
    while again and not late():
        again = False
        tried = chain(_sooner(judge.theorem, best.candidate), _exchanges(best.candidate))
        for candidate in (one for one in tried if keep(one)):
            found = _broken(candidate, judge, late, rng)
            if found is not None and keep(found.candidate) and order.smaller(found.candidate, best.candidate):
                best, again = shrink(found, judge, late, order, keep), True
                break
            if late():
                break
    return near_one(best, judge, keep)


def convincing(
    scores: Sequence[Score], small: Score, judge: Judge, over: Callable[[], bool], by_hand: Accept
) -> Score | None:
    """Return a small violation that a hand can check and that breaks the bound by a twentieth, as far as there is room.

    None where the smallest one is such a violation, and where no single moves lead to one.

    Parameters
    ----------
    scores, small
        Violations where the moves may begin, and the smallest one.
    by_hand
        Whether a hand can check a violation: the engine that tells is slow, and asked of violations only.
    """
    least = min(CONVINCES, max(score.ratio for score in scores))
    if small.ratio >= least and by_hand(small):
        return None
    for score in scores:
        if score.ratio < least or over():
            continue
        checked = by_hand(score)

        def accept(found: Score) -> bool:
            nonlocal checked
            if found.ratio < least or (checked and not by_hand(found)):
                return False
            checked = checked or by_hand(found)
            return True

        best = shrink(score, judge, over, accept=accept)
        if checked:
            scaled = near_one(best, judge)
            return scaled if scaled is best or (scaled.ratio >= least and by_hand(scaled)) else best
    return None


def _earlier(last: int) -> list[int]:
    """Return earlier horizons: each of a short run, of a long one those from where it is worth beginning again."""
    if last <= _SHORT:
        return list(range(1, last))
    return list(dict.fromkeys((last // 2, 3 * last // 4, 9 * last // 10, 19 * last // 20, last - 1)))


def _exchanges(one: Candidate) -> Iterator[Candidate]:
    """Yield candidates with an earlier horizon and any integers, then with the same horizon and a smaller integer."""
    names = [name for name, value in one.settings.items() if value.isdigit() and name != "N"]
    for iterations in _earlier(one.iterations):
        yield replace(one, iterations=iterations)
        for name in names:
            for value in _LADDER:
                yield replace(one, iterations=iterations, settings={**one.settings, name: str(value)})
    for name in names:
        whole = int(one.settings[name])
        for less in dict.fromkeys((whole // 2, 3 * whole // 4, 9 * whole // 10, whole - 1)):
            if 0 < less < whole:
                yield replace(one, settings={**one.settings, name: str(less)})


def _sooner(theorem: Theorem, one: Candidate) -> Iterator[Candidate]:
    """Yield candidates with an earlier horizon, for which the server or the clients have another rate, or an option."""
    others, last = [*_other_rates(theorem, one), *_other_options(theorem, one)], one.iterations
    few = [iterations for iterations in _FEW if iterations < last]
    for iterations in dict.fromkeys((*few, *_earlier(last))):
        yield from (replace(other, iterations=iterations) for other in others)


def _other_rates(theorem: Theorem, one: Candidate) -> Iterator[Candidate]:
    """Yield candidates with a larger rate that is no step size, and with other ratios between two clients."""
    for name in open_rates(theorem):
        if not theorem.symbols[name].is_step_size and name in (*theorem.settable, *one.step):
            yield from (replace(one, step={**one.step, name: larger}) for larger in _SERVER)
    if one.clients == 2 and one.delays.startswith("deterministic:rates="):
        ratios = (f"deterministic:rates=[{ratio},1]" for ratio in _RATIOS)
        yield from (replace(one, delays=delays) for delays in ratios if delays != one.delays)


def _other_options(theorem: Theorem, one: Candidate) -> Iterator[Candidate]:
    """Yield candidates with another option that is no count, and with the option that it asks for beside it."""
    algorithm = catalog.algorithm(theorem.algorithm)
    found = choices(theorem, algorithm, one.clients).items()
    pairs = [(name, value) for name, some in found for value in some if value and not value.isdigit()]
    pairs = [pair for pair in pairs if one.settings.get(pair[0]) != pair[1]]
    for name, value in pairs:
        settings = {**one.settings, name: value}
        if readable(theorem, algorithm, settings):
            yield replace(one, settings=settings)
            continue
        both = ({**settings, other: beside} for other, beside in pairs if other != name)
        yield from (replace(one, settings=some) for some in both if readable(theorem, algorithm, some))


def _broken(one: Candidate, judge: Judge, over: Callable[[], bool], rng: np.random.Generator) -> Score | None:
    """Return a violation with the same discrete choices and with numbers near these, or None."""
    scores = [score for score in map(judge.score, _starts(one)) if score is not None]
    scores = [score for score in scores if score.candidate.iterations == one.iterations]
    if not scores:
        return None
    best = max(scores, key=lambda score: score.ratio)
    if best.ratio >= _NEAR and not best.violates:
        best = optimise(best, judge, over, rng, _GENERATIONS)
    return best if best.violates else None


def _starts(one: Candidate) -> Iterator[Candidate]:
    yield one
    p = np.array(one.shares())
    for share in _SHARES if len(p) else ():
        yield replace(one, delays=iid((p / p.sum() * (1.0 - share)).round(12).tolist()))
