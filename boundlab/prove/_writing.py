"""Writes lines to the checker, takes them back, and looks for points at which a sign that it does not show is false.

No proof rests on this: a proof that is written is checked again as a file, and a point only says why it is refused.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import Any

from boundlab.recheck import Finding, kernel as core
from boundlab.recheck.kernel import REFUSALS, Context, Number, Range, Replay, Symbol, Unshown, WrongError


def empty() -> Replay:
    """Return the checker of a proof in which nothing is declared yet."""
    core.begin()
    nothing: dict[str, Any] = {
        "problem": None,
        "symbols": [],
        "parameters": [],
        "vectors": {},
        "functions": {},
        "slopes": {},
    }
    return core.opened({**nothing, "laws": [], "contexts": [{"kind": "root"}], "facts": []})


def add(replay: Replay, line: dict[str, Any]) -> core.Fact:
    """Check a line that is written now, and keep it; here a sign that is not shown is refused, not left to others.

    Raises
    ------
    WrongError
        If the line is wrong; then nothing of it stays.
    """
    with trial(replay, keep=True), _all_shown(replay):
        replay.lines.append(line)
        fact = replay.read(len(replay.lines) - 1)
        replay.keep(fact)
    return fact


def declare(replay: Replay, raw: dict[str, Any], context: Context) -> None:
    """Declare a symbol of a proof that is written now; raises as :func:`add`."""
    with trial(replay, keep=True), _all_shown(replay):
        core.symbols_of(replay, [raw], context)


def case(replay: Replay, number: int) -> None:
    """Open a case now; raises as :func:`add`."""
    with _all_shown(replay):
        replay.context(number)


def open_case(replay: Replay, raw: dict[str, Any]) -> int:
    """Note how a case came about, and return its number; it is looked at when a line stands in it."""
    replay.raw["contexts"].append(raw)
    return len(replay.raw["contexts"]) - 1


@contextmanager
def trial(replay: Replay, *, keep: bool = False, also: Iterable[Any] = ()) -> Iterator[None]:
    """Declare and check what is forgotten afterwards, or, with ``keep``, where one of it is wrong.

    Parameters
    ----------
    also
        Books of who writes the proof, which only grow.
    """
    growing: list[Any] = [*also, replay.raw["contexts"], replay.lines, replay.facts, replay.contexts, replay.defined]
    growing += [replay.values, replay.families, replay.exponents]
    for one in replay.contexts.values():
        growing += [one.own, one.order, one.meaning, one.left, one.fixed_here, one.known]
    counted: tuple[Any, ...] = replay.trusted, replay.setting, replay.unchecked
    sizes, before = [len(own) for own in growing], [own.copy() for own in counted]
    try:
        yield
    except BaseException:
        keep = False
        raise
    finally:
        if not keep:
            for own, size in zip(growing, sizes, strict=True):
                while len(own) > size:
                    own.pop() if isinstance(own, list) else own.popitem()
            for own, old in zip(counted, before, strict=True):
                own.clear()
                own.update(old)


# Signs that the checker does not show: where one of a few points is against it, it is false.

_POINTS = 8
_STEPS = tuple(map(Fraction, ("1", "1/3", "5", "2", "1/7", "3", "11", "1/2")))


@contextmanager
def _all_shown(replay: Replay) -> Iterator[None]:
    """Refuse signs that are not shown, with a point where one is false."""
    left = replay.root.left
    try:
        yield
    except WrongError as error:
        raise WrongError(_false(left) or str(error)) from None
    if left:
        raise WrongError(_false(left) or "; ".join(f"{one.what}: {sign} is not shown" for sign, one in left.items()))


def _false(left: Mapping[str, Unshown]) -> str:
    """Return why the first sign is false that is; empty where none is."""
    return next((told for sign in left.values() if (told := refuted(sign))), "")


def refuted(sign: Unshown) -> str:
    """Return, in words, why a sign is not shown because it is false; empty where no point says so."""
    here, value = sign.context, sign.value
    if sign.relation == "≠":
        both = _against(here, value, strict=True) and _against(here, -value, strict=True)
        return f"{value.key}, which something is divided by, is not shown to differ from 0" if both else ""
    point = _against(here, value, strict=sign.relation == ">")
    return f"{sign.what}: {sign.text} is false at {point}" if point else ""


def with_points(raw: dict[str, Any], found: Finding) -> Finding:
    """Return a finding about a proof file, rejected where a sign that the checker leaves to others is false."""
    if not found.proof or found.accepted or (found.right and not found.left):
        return found
    left: Mapping[str, Unshown] = {}
    place = -1
    with suppress(*REFUSALS, RecursionError, StopIteration):
        core.begin()
        replay = core.opened(raw)
        left, checked = replay.root.left, replay.run()
        while not _false(left):
            place += 1
            next(checked)
    told = _false(left)
    where = f"fact {place} ({raw['facts'][place].get('rule')}): " if place >= 0 and told else ""
    return Finding(False, f"{where}{told}", proof=True) if told else found


def _against(here: Context, value: Number, *, strict: bool) -> str:
    """Return a point of the ranges where a number is not ≥ 0 (> 0), in words; empty if none of a few is one."""
    for turn in range(_POINTS):
        point: dict[Symbol, Fraction] = {}
        found = _at(here, value, point, turn)
        if found is not None and (found < 0 or (strict and found == 0)):
            chosen = sorted(point.items(), key=lambda pair: pair[0].key)
            return ", ".join(f"{symbol.key} = {own}" for symbol, own in chosen) or "every point"
    return ""


def _at(here: Context, value: Number, point: dict[Symbol, Fraction], turn: int) -> Fraction | None:
    parts = []
    for part in (value.upper, value.bottom):
        found = Fraction(0)
        for powers, coefficient in part.terms():
            term = coefficient
            for symbol, count in powers.items():
                own = _chosen(here, symbol, point, turn)
                if own is None:
                    return None
                term *= own**count
            found += term
        parts.append(found)
    return parts[0] / parts[1] if parts[1] else None


def _chosen(here: Context, symbol: Symbol, point: dict[Symbol, Fraction], turn: int) -> Fraction | None:
    if symbol in point:
        return point[symbol]
    if symbol.exponent is not None:
        base, count = _chosen(here, symbol.base, point, turn), _at(here, symbol.exponent, point, turn)
        if base is None or count is None or count.denominator != 1 or not 0 <= count <= 1000:
            return None
        point[symbol] = base ** int(count)
        return point[symbol]
    if symbol.name.startswith("_"):
        return None
    own = here.find(symbol.name)
    if own.moving:
        index = symbol.indices[0]
        there = _at(here, index, point, turn)
        if there is None or there < 0:
            return None
        own = own.of(index)
    ends = [None if end is None else _at(here, end, point, turn) for end in (own.low, own.high)]
    if (own.low is not None and ends[0] is None) or (own.high is not None and ends[1] is None):
        return None
    step = _STEPS[(turn + here.order.get(symbol.name, 0) * turn) % len(_STEPS)]
    found = _inside(ends[0], ends[1], step, own, turn)
    if found is not None:
        point[symbol] = found
    return found


def _inside(low: Fraction | None, high: Fraction | None, step: Fraction, own: Range, turn: int) -> Fraction | None:
    """Return a number between two ends; in the last turns an end itself, where it may be one."""
    if turn == _POINTS - 1 and high is not None and not own.below:
        return high if low is None or low <= high else None
    if turn >= _POINTS - 2 and low is not None and not own.above:
        return low if high is None or low <= high else None
    if own.integer:
        step = Fraction(int(step) + 1)
    if low is None and high is None:
        return step if turn % 2 == 0 else -step
    if high is None:
        return low + step  # type: ignore[operator]
    if low is None:
        return high - step
    found = (low + high * step) / (1 + step) if not own.integer else min(low + step - 1, high)
    if found < low or (own.above and found == low) or found > high or (own.below and found == high):
        return None
    return found
