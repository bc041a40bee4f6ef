"""Wrong inductions, cases, expectations and conclusions: the kernel refuses each, and says why."""

from collections.abc import Callable
from typing import Any

import pytest
from kernel_values import refused

from boundlab.prove import (
    Context,
    Kernel,
    Lin,
    Range,
    dot,
    equal,
    expr,
    scalar,
    squared,
    variable,
)
from boundlab.prove._kernel import mixture, orthogonal, uncorrelated
from boundlab.prove._terms import Law, Register, lin
from boundlab.prove.settings import setting_of
from boundlab.recheck._terms import Vec
from boundlab.theorems import load_theorem

ZERO, ONE = scalar(0), scalar(1)
x, a, i, j, k, n = (variable(name) for name in ("x", "a", "i", "j", "k", "n"))


def vec(name: str, *indices: Any) -> Lin:
    return lin(Vec(name, tuple(scalar(one) for one in indices)))


def single(name: str, *indices: Any) -> Vec:
    found = vec(name, *indices).vec
    assert found is not None
    return found


@pytest.fixture
def kernel() -> Kernel:
    """X any number, a ≥ 0, whole j, k ≥ 0 and n ≥ 1, clients i < n; models w[k], noise e[k], registers y[i, k]."""
    found = Kernel(Context())
    declare = found.context.declare
    declare("x", Range())
    declare("a", Range(low=ZERO))
    declare("j", Range(low=ZERO, integer=True))
    declare("k", Range(low=ZERO, integer=True))
    declare("n", Range(low=ONE, integer=True))
    declare("i", Range(low=ZERO, high=n - 1, integer=True))
    vectors = found.vectors
    vectors.declare("w", 1, clock=lambda k: (k,))
    vectors.declare("e", 1, clock=lambda k: (k, ONE), drawn=lambda k: (k,))
    vectors.declare("y", 2, clock=lambda _, k: (k,))
    vectors.declare("u", 2, clock=lambda _, k: (k,))
    return found


def law(owner: Any = "server") -> Law:
    registers = {
        "y": Register("client", lambda i, k: vec("u", i, k)),
        "w": Register(owner, (lambda i, k: vec("u", i, k)) if owner == "any" else (lambda k: vec("u", 0, k))),
    }
    return Law(p=lambda _: 1 / n, p_s=ZERO, clients=n, index="i", registers=registers, axioms=frozenset())


# ---------------------------------------------------------------------- inductions


def test_the_hypothesis_is_generalised_to_another_index(kernel: Kernel) -> None:
    hypothesis = kernel.suppose(squared(vec("w", k)) <= expr(a), "k")
    for values in ({"k": j}, {"k": k + 1}, {"a": 0}):
        with refused("is fixed here"):
            kernel.at(hypothesis, values)


def test_the_base_is_that_of_another_number(kernel: Kernel) -> None:
    hypothesis = kernel.suppose(expr(a * k) >= 0, "k")
    step = kernel.combine(expr(a * (k + 1)) >= 0, [(1, hypothesis)])
    base = kernel.combine(expr(a) >= 0, [])
    with refused("base of the induction"):
        kernel.induction(base, step)


def test_the_step_is_shown_for_the_same_number(kernel: Kernel) -> None:
    hypothesis = kernel.suppose(expr(a * k) >= 0, "k")
    base = kernel.combine(expr(0) >= 0, [])
    with refused("step of the induction"):
        kernel.induction(base, hypothesis)


def test_the_step_is_shown_under_another_hypothesis(kernel: Kernel) -> None:
    kernel.suppose(expr(a * k) >= 0, "k")
    other = kernel.suppose(expr(-a * k) >= 0, "k")
    step = kernel.combine(expr(-a * k) >= 0, [(1, other)])
    base = kernel.combine(expr(0) >= 0, [])
    with refused("step of the induction"):
        kernel.induction(base, step)


# By what is wrong: what the refusal says, and who does it.
ATTACKS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "a fact without a hypothesis ends an induction": (
        "from its hypothesis",
        lambda kernel: kernel.induction(kernel.combine(expr(a) >= 0, []), kernel.combine(expr(a) >= 0, [])),
    ),
    # (2k − 1)(2k − 3) ≥ 0 holds at 1/2, follows for k + 1, and is false at 1.
    "an induction begins at one half": (
        "not shown to be whole",
        lambda kernel: (
            kernel.context.declare("c", Range(low=scalar(1) / 2, integer=True)),
            kernel.suppose(expr((2 * variable("c") - 1) * (2 * variable("c") - 3)) >= 0, "c"),
        ),
    ),
    "a nested induction runs over the fixed index": (
        "one value here",
        lambda kernel: kernel.suppose(expr(k) >= 0, "k", kernel.suppose(expr(a * k) >= 0, "k").context),
    ),
    "a proof makes the range of a hypothesis smaller": (
        "declared twice",
        lambda kernel: kernel.suppose(expr(a * k) >= 0, "k").context.declare("k", Range(low=scalar(100), integer=True)),
    ),
    "a model is taken for noise": ("is no noise", lambda kernel: orthogonal(kernel, single("w", k), single("w", 0))),
    "an event changes what meets a vector of the new time": (
        "may depend on who acts",
        lambda kernel: mixture(kernel, law(), dot(vec("y", i, k + 1), vec("u", 0, k + 1)), k),
    ),
    "two clients act at once": (
        "different events",
        lambda kernel: mixture(kernel, law(), dot(vec("y", i, k + 1), vec("y", 0, k + 1)), k),
    ),
    "a client and the server act at once": (
        "different events",
        lambda kernel: mixture(kernel, law("server"), dot(vec("y", i, k + 1), vec("w", k + 1)), k),
    ),
    "the name of who acts is captured": (
        "stands for who acts",
        lambda kernel: mixture(kernel, law("any"), dot(vec("w", k + 1), vec("u", i, k)), k),
    ),
    "an event happens before the first": (
        "may be negative",
        lambda kernel: mixture(kernel, law(), squared(vec("y", i, k)), k - 1),
    ),
    "a square root is taken of numbers that may be negative": (
        "may be negative",
        lambda kernel: kernel.by_squares(kernel.combine(equal(expr(x * x), x * x), []), -x, x),
    ),
    "an inequality is multiplied by an inequality between vectors": (
        "only a fact about a number",
        lambda kernel: kernel.scale(kernel.square(vec("w", k)), kernel.square(vec("w", j))),
    ),
    "an inequality multiplies any expression": (
        "only an equation",
        lambda kernel: kernel.times(kernel.combine(expr(a) >= 0, []), squared(vec("w", k)) * -1),
    ),
}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_wrong_proof_is_refused(kernel: Kernel, attack: str) -> None:
    words, wrong = ATTACKS[attack]
    with refused(words):
        wrong(kernel)


def test_a_hypothesis_is_used_where_it_is_not_supposed(kernel: Kernel) -> None:
    one = kernel.suppose(expr(x) >= 0, "k")
    other = kernel.suppose(expr(-x) >= 0, "k")
    with refused("different cases"):
        kernel.combine(expr(0) >= 0, [(1, one), (1, other)])
    with refused("different cases"):
        kernel.scale(one, other)


def test_an_induction_is_on_a_number_that_is_not_whole(kernel: Kernel) -> None:
    with refused("whole symbol with a lower end"):
        kernel.suppose(expr(a) >= 0, "a")
    with refused("whole symbol with a lower end"):
        kernel.suppose(expr(x) >= 0, "x")


def test_the_step_needs_an_index_that_small_numbers_do_not_have(kernel: Kernel) -> None:
    """K² − 9k ≥ 0 holds at 0 and is kept from k ≥ 4 on, where 4 ≤ c ≤ k exists."""
    kernel.context.declare("c", Range(low=scalar(4), high=k, integer=True))
    hypothesis = kernel.suppose(expr(k * k - 9 * k) >= 0, "k")
    here = hypothesis.context
    parts = [(1, hypothesis), (2, kernel.end("c", "low", here)), (2, kernel.end("c", "high", here))]
    step = kernel.combine(expr((k + 1) * (k + 1) - 9 * (k + 1)) >= 0, parts, here)
    base = kernel.combine(expr(0) >= 0, [])
    with refused("c depends on k"):
        kernel.induction(base, step)


def test_an_induction_is_on_a_named_number(kernel: Kernel) -> None:
    kernel.name("c", k, Range(low=ZERO, integer=True))
    with refused("one value here"):
        kernel.suppose(expr(variable("c")) >= 0, "c")


# ---------------------------------------------------------------------- cases


def test_one_case_is_used_twice(kernel: Kernel) -> None:
    low, _ = kernel.split("k", 5)
    fact = kernel.combine(expr(5 - k) >= 0, [], low)
    with refused("two cases of one split"):
        kernel.join(fact, fact)


def test_cases_of_two_splits_are_joined(kernel: Kernel) -> None:
    low, _ = kernel.split("k", 5)
    _, high = kernel.split("k", 8)
    facts = [kernel.combine(expr(1) >= 0, [], case) for case in (low, high)]
    with refused("two cases of one split"):
        kernel.join(*facts)


def test_two_cases_say_different_things(kernel: Kernel) -> None:
    low, high = kernel.split("k", 5)
    with refused("differs by"):
        kernel.join(kernel.combine(expr(5 - k) >= 0, [], low), kernel.combine(expr(k - 6) >= 0, [], high))


def test_a_fact_of_one_case_is_used_outside(kernel: Kernel) -> None:
    low, high = kernel.split("k", 5)
    fact = kernel.combine(expr(5 - k) >= 0, [], low)
    with refused("different cases"):
        kernel.combine(expr(5 - k) >= 0, [(1, fact)], high)
    with refused("is fixed here"):
        kernel.at(fact, {"k": 9})


def test_a_split_lies_outside_of_the_range(kernel: Kernel) -> None:
    with refused("outside of the range"):
        kernel.split("k", -3)
    with refused("not declared before it"):
        kernel.split("k", n + 2)


def test_the_lowest_number_is_another_one(kernel: Kernel) -> None:
    _, high = kernel.split("k", 3)
    rest = kernel.combine(expr(k - 4) >= 0, [], high)
    with refused("not at the lowest whole number"):
        kernel.lowest(kernel.combine(expr(0) >= 0, []), rest)


# ---------------------------------------------------------------------- expectations


def test_noise_that_is_used_again_is_unbiased(kernel: Kernel) -> None:
    for later in (single("w", k + 1), single("e", k), single("w", j)):
        with refused("may depend on e"):
            orthogonal(kernel, single("e", k), later)
    assert orthogonal(kernel, single("e", k), single("w", k))


@pytest.mark.parametrize(
    "theorem",
    [
        "afl_dga.theorem1",
        "area.theorem7.explicit",
        "area.theorem8.repaired.fixed-step",
        "classics.sgd.convex",
        "classics.delayed-sgd",
        "fedbuff.rf1",
        "fedbuff.rf2",
        "fedcompass.window.a",
        "fedfa.delta.a",
        "fedstaleweight.theorem1",
    ],
)
def test_no_noise_is_known_before_it_is_drawn(theorem: str) -> None:
    kernel = setting_of(load_theorem(theorem)).kernel
    noises = {name: own["arity"] for name, own in kernel.vectors.known.items() if own["drawn"] is not None}
    assert noises
    places = [kernel.context.declare(f"place{one}", Range(low=scalar(0), integer=True)) for one in range(3)]
    for name, arity in noises.items():
        one = single(name, *places[:arity])
        with refused(f"may depend on {name}"):
            orthogonal(kernel, one, one)


def test_one_noise_is_summed_many_times_as_if_it_were_many(kernel: Kernel) -> None:
    for index in (0, 2 * k, k * k, j):
        with refused("one index"):
            uncorrelated(kernel, single("e", index), "k", 0, n)


# ---------------------------------------------------------------------- norms, roots and products


def test_a_norm_is_bounded_by_a_negative_number(kernel: Kernel) -> None:
    zero = Lin({})
    fact = kernel.combine(squared(zero) <= expr((a + 1) ** 2), [])
    with refused("may be negative"):
        kernel.norms(fact, fact, zero, zero, -a - 1, -a - 1)
