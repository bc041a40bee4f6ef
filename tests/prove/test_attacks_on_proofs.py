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
from boundlab.prove._scalars import combination, number, of_symbol
from boundlab.prove._terms import Law, lin
from boundlab.prove.settings import setting_of
from boundlab.recheck._terms import Symbol, Vec
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
    here, now = (of_symbol(Symbol(f"@{name}")) for name in "ik")
    became = combination(vec("u", 0 if owner == "server" else here, now).terms)
    registers = {
        "y": {"owner": "client", "branch": combination(vec("u", here, now).terms)},
        "w": {"owner": owner, "branch": became},
    }
    shares = {"p": number(1 / n), "p_s": number(ZERO), "clients": number(n)}
    return Law({**shares, "index": "i", "registers": registers}, frozenset())


# ---------------------------------------------------------------------- inductions


def supposed(kernel: Kernel, body: Any) -> Any:
    """Return body ≥ 0 as the hypothesis of an induction on k."""
    return kernel.suppose(expr(body) >= 0, "k")


def at_0(kernel: Kernel) -> Any:
    return kernel.combine(expr(0) >= 0, [])


def in_case(kernel: Kernel, which: int, body: Any = 5 - k, at: int = 5) -> Any:
    """Return body ≥ 0 where k is at most a number, or above it."""
    return kernel.combine(expr(body) >= 0, [], kernel.split("k", at)[which])


def in_both_cases(kernel: Kernel, *bodies: Any) -> Any:
    return [kernel.combine(expr(body) >= 0, [], case) for body, case in zip(bodies, kernel.split("k", 5), strict=True)]


# By what is wrong: what the refusal says, and who does it.
ATTACKS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    **{
        f"the hypothesis is generalised: {name} = {value}": (
            "is fixed here",
            lambda kernel, name=name, value=value: kernel.at(
                kernel.suppose(squared(vec("w", k)) <= expr(a), "k"), {name: value}
            ),
        )
        for name, value in (("k", j), ("k", k + 1), ("a", 0))
    },
    "the base is that of another number": (
        "base of the induction",
        lambda kernel: kernel.induction(
            kernel.combine(expr(a) >= 0, []),
            kernel.combine(expr(a * (k + 1)) >= 0, [(1, supposed(kernel, a * k))]),
        ),
    ),
    "the step is shown for the same number": (
        "step of the induction",
        lambda kernel: kernel.induction(at_0(kernel), supposed(kernel, a * k)),
    ),
    "the step is shown under another hypothesis": (
        "step of the induction",
        lambda kernel: (
            supposed(kernel, a * k),
            kernel.induction(at_0(kernel), kernel.combine(expr(-a * k) >= 0, [(1, supposed(kernel, -a * k))])),
        ),
    ),
    "two hypotheses are combined": (
        "different cases",
        lambda kernel: kernel.combine(expr(0) >= 0, [(1, supposed(kernel, one)) for one in (x, -x)]),
    ),
    "two hypotheses are multiplied": (
        "different cases",
        lambda kernel: kernel.scale(supposed(kernel, x), supposed(kernel, -x)),
    ),
    **{
        f"an induction is on {name}, which is not whole": (
            "whole symbol with a lower end",
            lambda kernel, name=name: kernel.suppose(expr(variable(name)) >= 0, name),
        )
        for name in "ax"
    },
    "an induction is on a named number": (
        "one value here",
        lambda kernel: (
            kernel.name("c", k, Range(low=ZERO, integer=True)),
            kernel.suppose(expr(variable("c")) >= 0, "c"),
        ),
    ),
    "one case is used twice": (
        "two cases of one split",
        lambda kernel: kernel.join(*[in_case(kernel, 0)] * 2),
    ),
    "cases of two splits are joined": (
        "two cases of one split",
        lambda kernel: kernel.join(in_case(kernel, 0, 1), in_case(kernel, 1, 1, at=8)),
    ),
    "two cases say different things": (
        "differs by",
        lambda kernel: kernel.join(*in_both_cases(kernel, 5 - k, k - 6)),
    ),
    "a fact of one case is used in the other": (
        "different cases",
        lambda kernel: kernel.combine(expr(5 - k) >= 0, [(1, in_case(kernel, 0))], in_case(kernel, 1, 1).context),
    ),
    "a fact of one case is used outside": ("is fixed here", lambda kernel: kernel.at(in_case(kernel, 0), {"k": 9})),
    "a split lies outside of the range": ("outside of the range", lambda kernel: kernel.split("k", -3)),
    "a split is at a number that is declared later": (
        "not declared before it",
        lambda kernel: kernel.split("k", n + 2),
    ),
    "the lowest number is another one": (
        "not at the lowest whole number",
        lambda kernel: kernel.lowest(at_0(kernel), in_case(kernel, 1, k - 4, at=3)),
    ),
    **{
        f"one noise, e[{index}], is summed as if it were many": (
            "one index",
            lambda kernel, index=index: uncorrelated(kernel, single("e", index), "k", 0, n),
        )
        for index in (0, 2 * k, k * k, j)
    },
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


# ---------------------------------------------------------------------- norms, roots and products


def test_a_norm_is_bounded_by_a_negative_number(kernel: Kernel) -> None:
    zero = Lin({})
    fact = kernel.combine(squared(zero) <= expr((a + 1) ** 2), [])
    with refused("may be negative"):
        kernel.norms(fact, fact, zero, zero, -a - 1, -a - 1)
