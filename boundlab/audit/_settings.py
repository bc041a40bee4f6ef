"""At which problem, delays and settings a theorem is compared, in the words of the command line."""

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from boundlab.assumptions import RELATIVE
from boundlab.case import Case
from boundlab.instance.fitting import CompareOptions
from boundlab.theorems import Theorem

_PROBLEMS = ("lad:x0=3", "huber:c=[0,1],x0=2", "quadratic:clients=2,dimension=2")
_DELAYS = ("iid:p_s=0.5", "exponential", "deterministic:rates=[2,1]")
_HORIZON = 50
_STEPS = 0.05
_CURVE = (1, 2, 4, 8)
_LONGEST = 400  # the horizon of a curve: each of its points is a run of its own


def word(value: Any) -> str:
    """Return a number, text or a list as the command line reads it back to the last digit."""
    match value:
        case bool():
            return str(value).lower()
        case float():
            return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
        case list() | tuple():
            return f"[{','.join(map(word, value))}]"
    return str(value)


def spec(fields: Mapping[str, Any]) -> str:
    """Return ``NAME:key=value,…`` of an object with a type."""
    own = ",".join(f"{key}={word(value)}" for key, value in fields.items() if key != "type")
    return f"{fields['type']}:{own}" if own else str(fields["type"])


def _delays(case: Case) -> str | None:
    given = case.raw.get("delays", case.raw.get("law", {}).get("delays"))
    if given is None:
        return None
    return spec(given) if isinstance(given, dict) else str(given)


def _problem(case: Case) -> str:
    x0 = {"x0": case.raw["x0"]} if "x0" in case.raw else {}
    return spec({**case.raw["problem"], **x0})


def case_words(case: Case) -> str:
    """Return a case in a few words, from what it says and not from its note; dots stand for digits left out."""
    n = case.problem.n
    parts = [f"{n} client{'s' * (n > 1)}", _problem(case)]
    delays = _delays(case)
    parts += [f"delays {delays}"] if delays else []
    given = {**case.raw.get("parameters", {}), **case.raw.get("settings", {})}
    words = ", ".join([*parts, *(f"{name} = {word(value)}" for name, value in given.items())])
    return re.sub(r"(\d\.\d{6})\d+", r"\1…", words)


def around(theorem: Theorem, case: Case, stretch: int) -> CompareOptions | None:
    """Return the setting of a case, at longer horizons; None where the case has no law of delays.

    Parameters
    ----------
    stretch
        How many times as long; where the step is chosen for its horizon, several horizons up to that, and on to twice.
    """
    delays = _delays(case)
    if delays is None or case.iterations is None:
        return None
    server = case.raw.get("server", case.raw.get("law", {}).get("server"))
    given = {**case.raw.get("parameters", {}), **case.raw.get("settings", {})}
    longest = case.iterations * (2 * stretch if stretch > 1 else 1)
    ks: int | list[int] = case.iterations * stretch
    if theorem.horizon == "fixed":
        several = [case.iterations * one for one in _CURVE if case.iterations * one <= min(longest, _LONGEST)]
        ks = several if len(several) > 1 else case.iterations
    settings = {name: word(value) for name, value in given.items()}
    return CompareOptions(theorem, _problem(case), delays, server if isinstance(server, str) else None, ks, settings)


def defaults(theorem: Theorem) -> Iterator[CompareOptions]:
    """Yield small settings, with a small step where the theorem leaves it open."""
    steps = {name: word(_STEPS) for name in theorem.step if name not in theorem.defining()}
    relative = "relative:" * (RELATIVE in theorem.core.errors)
    error = f",error={relative}0.1" if len(theorem.core.errors) == 1 else ""  # no problem with errors is of both kinds
    for problem, delays in itertools.product(_PROBLEMS, _DELAYS):
        yield CompareOptions(theorem, f"{problem}{error}", delays, None, _HORIZON, steps)
