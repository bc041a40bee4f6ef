"""A case in one sentence, as a referee would say it: functions, clients, steps, start, who acts when, both sides."""

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from boundlab.algorithms import EventLaw
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import RationalProblem
from boundlab.arithmetic.writing import vector
from boundlab.case import Case
from boundlab.instance.plan import Plan
from boundlab.metrics import Quantity

_LOCAL = ("M", "Q", "local_steps")
_SAID = {Quantity.GAP: "the error", Quantity.SLOPE: "the mean of ‖∇f‖²", Quantity.DISTANCE: "the mean of ‖x − x*‖²"}
_COMMON = 100  # the largest denominator that two fractions are given in common
_LONGEST = 12  # letters of a fraction
_DIGITS = 15  # significant digits that a float has


def apart(left: float, right: float) -> tuple[str, str]:
    """Return two numbers with as many digits as tell them apart, four at least and where nothing does.

    Examples
    --------
    >>> apart(1.0, 0.999987714916225)
    ('1', '0.99999')
    """
    for digits in range(4, _DIGITS + 1):
        one, other = f"{left:.{digits}g}", f"{right:.{digits}g}"
        if float(one) != float(other):
            return one, other
    return f"{left:.4g}", f"{right:.4g}"


def counted(plan: Plan) -> str:
    """Return the horizon with what is counted."""
    k = int(plan.ks[-1])
    return f"{k} {'event' if plan.algorithm.server == 'any' else 'server update'}{'s' * (k != 1)}"


def sentence(
    plan: Plan, case: Case, model: RationalProblem, law: EventLaw[Fraction] | None, left: Scalar, right: Scalar
) -> str:
    """Return the case in words: f(x) = |x|, one client, …: after 4 events the error is 31/32, the bound 28/32."""
    functions = ", ".join(one.text for one in model.described()) or f"problem {plan.problem.id}"
    if model.n == 1:
        functions = functions.replace("f_0", "f")
    start = vector([numbers.rational(entry) for entry in model.x0]).text
    parts = [functions, "one client" if model.n == 1 else f"{model.n} clients"]
    if (noise := model.sign_noise()) is not None:
        parts.append(f"noise ±{vector([numbers.rational(entry) for entry in noise]).text}")
    parts += [*_settings(plan, case), f"x0 = {start}", *_who(plan, case, law)]
    what = _SAID.get(plan.metric.quantity, plan.theorem.left.expectation)
    here, bound = _sides(left, right)
    return f"{', '.join(parts)}: after {counted(plan)} {what} is {here}, the bound {bound}"


def _settings(plan: Plan, case: Case) -> Iterator[str]:
    letters, fixed = plan.theorem.spelling(), plan.theorem.core.fixed
    for name, value in {**case.raw.get("parameters", {}), **case.raw.get("settings", {})}.items():
        if name in fixed:
            continue
        text = _number(value)
        yield f"{text} local step{'s' * (text != '1')}" if name in _LOCAL else f"{letters.get(name, name)} = {text}"


def _number(value: Any) -> str:
    try:
        return str(Fraction(str(value)))
    except ValueError:
        return str(value)


def _who(plan: Plan, case: Case, law: EventLaw[Fraction] | None) -> Iterator[str]:
    """Yield who acts when, where that is not plain."""
    program, given = plan.algorithm.program(plan.parameters, plan.problem.n), str(case.raw.get("delays", ""))
    if law is not None and plan.algorithm.server == "any":
        p = ", ".join(map(str, law.p.tolist()))
        one = len(law.p) == 1
        same = one and law.p[0] == law.p_s
        yield f"p = p_s = {p}" if same else f"p = {p if one else f'({p})'}, p_s = {law.p_s}"
    elif program is not None and program.draws:
        yield "the algorithm draws its clients uniformly"
    elif plan.problem.n > 1 and (rates := re.fullmatch(r"deterministic:rates=\[(.*)\]", given)) is not None:
        yield f"arrivals at rates {rates[1].replace(' ', '').replace(',', ' : ')}"
    elif plan.problem.n > 1:
        yield "clients equally fast" if given == "deterministic" else f"delays {given}" if given else "its own events"


def _sides(left: Scalar, right: Scalar) -> tuple[str, str]:
    rational = numbers.flint().fmpq
    if isinstance(left, rational) and isinstance(right, rational):
        both = numbers.fraction(left), numbers.fraction(right)
        common = math.lcm(*(one.denominator for one in both))
        if min(one.denominator for one in both) > 1 and common == max(one.denominator for one in both) <= _COMMON:
            one, other = (f"{one.numerator * (common // one.denominator)}/{common}" for one in both)
            return one, other
        if max(len(str(one)) for one in (left, right)) <= _LONGEST:  # a fraction of Python's has no text of any length
            return str(left), str(right)
    return apart(*(float(numbers.ball(one)) for one in (left, right)))
