"""Signs of scalars: whatever is shown of a number is true at every point of the ranges."""

import random
from collections.abc import Callable
from fractions import Fraction

import pytest
from kernel_values import at, draw

from boundlab.prove import Context, Kernel, Range, Scalar, equal, expr, scalar, variable
from boundlab.prove._scalars import FIRST, ProofError

ZERO = scalar(0)


def test_nothing_is_divided_by_what_has_no_values() -> None:
    """0 < x ≤ 0: that 1/x has a value is shown by nothing."""
    context = Context()
    x = context.declare("x", Range(low=ZERO, high=ZERO, above=True))
    with pytest.raises(ProofError, match="not shown to differ from 0"):
        context.declare("z", Range(low=ZERO, high=1 / x))


def test_an_index_below_an_end_is_below_it_where_there_may_be_none() -> None:
    """0 ≤ j ≤ n − 1 for n ≥ 0: of the last entry of what may be empty that is known, and no more."""
    context = Context()
    n = context.declare("n", Range(low=ZERO, integer=True))
    j = context.declare("j", Range(low=ZERO, high=n - 1, integer=True))
    assert context.nonnegative(n - 1 - j)
    assert context.positive(n - j)
    assert not context.nonnegative(n - 2 - j)
    assert not context.positive(n - 1 - j)


def test_a_factor_that_is_0_has_both_signs() -> None:
    context = Context()
    y = context.declare("y", Range(low=ZERO, high=ZERO, integer=True))
    assert context.nonnegative(-y)
    assert not context.positive(-y)


def _ranges(source: random.Random) -> tuple[Context, list[Scalar]]:
    """Return a chain of ranges whose ends name what stands before them, and quantities that are ≥ 0 there."""
    context, names, sure = Context(), [], []
    for number in range(source.randint(1, 3)):
        low, high = _end(source, names), _end(source, names)
        if low is not None and high is not None and source.random() < 0.6:
            high = low + source.randint(0, 2) + (variable(source.choice(names)) ** 2 if names else ZERO)
        own = Range(low, high, source.random() < 0.4, source.random() < 0.4, source.random() < 0.2)
        x = _declared(context, f"x{number}", own)
        if x is None:
            continue
        names.append(f"x{number}")
        sure += [x - low] if low is not None else []
        sure += [high - x] if high is not None else []
    return context, [*sure, *(variable(name) for name in names)]


def _declared(context: Context, name: str, own: Range) -> Scalar | None:
    try:
        return context.declare(name, own)
    except ProofError:
        return None  # an end divides by what may be 0


def _end(source: random.Random, names: list[str]) -> Scalar | None:
    kind = source.random()
    if kind < 0.25:
        return None
    found = scalar(Fraction(source.randint(-2, 2), source.choice((1, 1, 2))))
    if kind < 0.4:
        return ZERO
    if names and kind < 0.7:
        found = found + variable(source.choice(names)) * source.choice((1, 1, -1, 2))
    if names and kind > 0.9:
        found = found / variable(source.choice(names))
    return found


def _number(source: random.Random, parts: list[Scalar]) -> Scalar:
    """Return a sum of products of such quantities, some with a negative sign, over another one."""
    found = scalar(source.choice((0, 0, 1, -1, Fraction(1, 4))))
    for _ in range(source.randint(1, 3)):
        product = scalar(source.choice((1, 1, 1, 2, -1)))
        for _ in range(source.randint(1, 2)):
            product = product * source.choice(parts)
        found = found + product
    if source.random() < 0.3:
        below = source.choice(parts) + source.choice((0, 1))
        if below:
            found = found / below
    return found


def _shown(question: Callable[[Scalar], bool], number: Scalar) -> bool:
    """Return whether a sign is shown; a refusal is no proof, either."""
    try:
        return question(number)
    except ProofError:
        return False


def _defined(context: Context, number: Scalar) -> bool:
    try:
        Kernel(context).combine(equal(expr(number), number), [])
    except ProofError:
        return False
    return True


@pytest.mark.sweep(8)
@pytest.mark.parametrize("seed", range(8))
def test_what_is_shown_of_a_number_is_so_at_every_point(seed: int) -> None:
    source = random.Random(f"signs {seed}")  # noqa: S311  (a test, no secret)
    shown = 0
    for _ in range(20):
        context, parts = _ranges(source)
        if not parts:
            continue
        points = [point for point in (draw(context, source) for _ in range(40)) if point is not None]
        for _ in range(6):
            number = _number(source, parts)
            if not _defined(context, number):
                continue
            weak, strict = _shown(context.nonnegative, number), _shown(context.positive, number)
            shown += weak + strict
            for point in points:
                value = at(number, point)
                assert value >= 0 or not weak, (number, point)
                assert value > 0 or not strict, (number, point)
            assert _shown(context.nonnegative, number) >= weak
    assert shown > 10


@pytest.mark.sweep(4)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_shown_to_be_defined_divides_by_0_nowhere(seed: int) -> None:
    source = random.Random(f"denominators {seed}")  # noqa: S311  (a test, no secret)
    defined = 0
    for _ in range(150):
        context, parts = _ranges(source)
        if not parts:
            continue
        below = _number(source, parts)
        if not below:
            continue
        number = 1 / below
        if not _defined(context, number):
            continue
        defined += 1
        for _ in range(60):
            point = draw(context, source)
            if point is not None:
                at(number, point)
    assert defined > 5


def test_a_strict_sign_at_a_closed_end_is_not_shown_by_the_inside() -> None:
    context = Context()
    x = context.declare("x", Range(low=ZERO, high=scalar(1)))
    assert context.nonnegative(1 - x)
    assert not context.positive(1 - x)
    y = context.declare("y", Range(low=ZERO, high=scalar(1), below=True))
    assert context.positive(1 - y)


def test_an_empty_range_is_no_reason_for_a_sign_of_what_is_outside_of_it() -> None:
    context = Context()
    a = context.declare("a", Range(low=ZERO))
    context.declare("b", Range(low=a, high=scalar(1)))
    assert not context.nonnegative(1 - a)


def test_members_of_a_family_are_independent_of_one_another() -> None:
    context = Context()
    context.declare("i", Range(low=ZERO, integer=True))
    context.declare("j", Range(low=ZERO, integer=True))
    context.declare("p", Range(low=ZERO, high=scalar(1), above=True, arity=1))
    p, other = variable("p", variable("i")), variable("p", variable("j"))
    assert context.positive(p)
    assert context.nonnegative(1 - p * other)
    assert not context.nonnegative(p - other)


def test_the_range_of_a_family_moves_with_its_first_index_where_that_is_at_least_0() -> None:
    """0 ≤ s[t, j] ≤ t says nothing of t < 0, and nothing that depends on j."""
    context = Context()
    t, j = (context.declare(name, Range(low=low, integer=True)) for name, low in (("t", ZERO), ("j", ZERO)))
    early = context.declare("early", Range(low=scalar(-1), integer=True))
    context.declare("s", Range(low=ZERO, high=FIRST, integer=True, arity=2))
    assert context.nonnegative(t - variable("s", t, j))
    assert context.nonnegative(t + 1 - variable("s", t + 1, j - 3))
    for unknown in (
        early - variable("s", early, j),
        j - variable("s", t, j),
        t - variable("s", t + 1, j),
        t - variable("s", j, t),
        t - 1 - variable("s", t, j),
    ):
        assert not context.nonnegative(unknown), unknown
    assert not _defined(context, variable("s", t))


@pytest.mark.parametrize("base", [Range(), Range(low=scalar(-1)), Range(low=ZERO), Range(low=ZERO, above=True)])
def test_a_symbolic_power_has_the_sign_of_its_base(base: Range) -> None:
    context = Context()
    k = context.declare("k", Range(low=ZERO, integer=True))
    q = context.declare("q", base)
    known = base.low is not None and base.low.constant == 0
    assert context.nonnegative(q**k) == known
    assert context.positive(q**k) == (known and base.above)
    assert context.nonnegative(q ** (2 * k))
    assert not context.nonnegative(1 - q**k)


def test_a_power_of_what_is_at_most_1_is_at_most_1() -> None:
    context = Context()
    k = context.declare("k", Range(low=ZERO, integer=True))
    q = context.declare("q", Range(low=ZERO, high=scalar(1)))
    assert context.nonnegative(1 - q**k)
    assert not context.nonnegative(1 - q**k - q)
