"""Whether two answers are the same, by numbers and sides."""

import math
from collections.abc import Iterator
from typing import Any

RELATIVE = 1e-9
ABOUT = 1e-4  # of what a solver found
TINY = 1e-12


def differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Yield where an answer differs from the recorded one, one line each."""
    if isinstance(old, dict) and isinstance(new, dict):
        if "in" in old and "in" in new:
            yield from _apart(old["in"], new["in"], path)
        elif "about" in old and "about" in new:
            if new.get("unique", True):
                yield from _unequal(old["about"], new["about"], ABOUT, path)
        else:
            for key in sorted({*old, *new} - {"seen"}):
                if key in old and key in new:
                    yield from differences(old[key], new[key], f"{path}.{key}")
                else:
                    yield f"{path}.{key}: {'is new' if key in new else 'is gone'}"
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{path}[{place}]")
    else:
        yield from _unequal(old, new, RELATIVE, path)


def _unequal(old: Any, new: Any, room: float, path: str) -> Iterator[str]:
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in (old, new))
    same = math.isclose(old, new, rel_tol=room, abs_tol=TINY) or (old != old and new != new) if numbers else old == new
    if not same:
        yield f"{path}: {old!r} is now {new!r}"


def _apart(old: list[Any], new: list[Any], path: str) -> Iterator[str]:
    low, high = max(_low(old), _low(new)), min(_high(old), _high(new))
    if low > high + TINY + RELATIVE * max(abs(low), abs(high)):
        yield f"{path}: {old} and {new} have no number in common"


def _low(ends: list[Any]) -> float:
    return -math.inf if ends[0] is None else float(ends[0])


def _high(ends: list[Any]) -> float:
    return math.inf if ends[1] is None else float(ends[1])
