"""FedFa's axioms, evaluated in exact models of its setting; and what is wrong about it, which is false in one."""

from collections.abc import Iterator
from fractions import Fraction

import pytest

from boundlab.prove import Claim, Fact, VectorFact, dot, equal, expr, scalar, squared, variable, vector_sum
from boundlab.prove._errors import ProofError
from boundlab.prove.models import evaluate, holds, models_of
from boundlab.prove.setting import Setting
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem

F = Fraction
ENOUGH = 5
REPAIRED = tuple(f"fedfa.{mode}.{form}" for mode in ("delta", "param") for form in ("a", "b", "b.noiseless"))


def setting(theorem: str) -> Setting:
    return setting_of(load_theorem(theorem))


def _axioms(s: Setting) -> Iterator[Fact | VectorFact]:
    a, t, k, i, u, q, r = s.a, s.t, s.k, s.i, s.u, s.q, s.r
    yield s.begin(t, 0)
    yield s.move(a, 0, q)
    yield s.update(t)
    yield s.whole_gradient(t)
    yield s.added("gr", a)
    yield s.bounded_gradient(s.g(a, 0, q))
    yield s.bounded_gradient(s.d(i, t))
    yield s.descent(s.d(i, t), s.w(t + 1))
    yield s.smooth(s.d(s.c(k + u, 0), k), s.g(k + u, 0, q))
    if s.noisy:
        yield s.added("er", a)
        yield s.variance(s.e(a, 0, q))
        yield s.independent(s.e(a, 0, q), "q", 0, s.Q)
        for known in (s.g(a, 0, q), s.z(a, 0, q), s.z(a, 0, 0)):
            yield s.unbiased(s.e(a, 0, q), known)
        for known in (s.w(t), s.v(t), s.fv(t), s.w(s.s(t, 0)), s.er(t - 1)):
            yield s.unbiased(s.e(t, 0, q), known)
    if s.printed:
        yield s.its_own(t, i, s.earliest(t))
        yield s.unbiased(s.e(s.coming(t, i), 0, q), s.w(s.earliest(t)))
        return
    yield s.ahead(t if s.delta else 0)
    yield s.delay(r, 0)
    yield s.start_gap(s.v(t))
    yield s.descent(s.dv(i, k), s.v(k + s.N))
    yield s.smooth(s.d(i, k), s.dv(i, k))
    yield s.smooth(s.dv(s.c(k + u, 0), k), s.g(k + u, 0, q))
    yield s.regrouped(k)
    yield s.balance(k, squared(s.fv(k)))
    yield s.balance(k, expr(1))
    yield s.bias(k)
    yield s.spread(i, t)
    yield s.mean_slope(i, t)
    yield s.bounded_mean(i, t)
    yield s.length(t)
    yield s.lengths()
    if not s.delta:
        yield s.virtual_move(t)
        yield s.response(r)
        yield s.response_error(r)


LIKE_ANOTHER = ("fedfa.delta.b", "fedfa.param.b", "fedfa.param.b.noiseless")
TURNS = [pytest.param(one, marks=[pytest.mark.nightly] if one in LIKE_ANOTHER else []) for one in REPAIRED]


@pytest.mark.parametrize("theorem", [*TURNS, "fedfa.theorem1"])
def test_every_axiom_about_fedfa_holds_in_its_exact_models(theorem: str) -> None:
    s = setting(theorem)
    found = models_of(s)
    assert len(found) >= ENOUGH
    for fact in _axioms(s):
        tests = (s.w(0), s.w(s.t), s.fv(s.t))
        claims = [fact.claim] if isinstance(fact, Fact) else [
            *(equal(dot(fact.left, v), dot(fact.right, v)) for v in tests), equal(squared(fact.left - fact.right), 0)
        ]  # fmt: skip
        for claim in claims:
            known = [holds(model, claim, s.kernel, fact.context) for model in found]
            assert False not in known, f"{claim} is false in a model"
            assert known.count(True) >= ENOUGH, f"{claim} is evaluated in too few models"


def _wrong() -> Iterator[tuple[Setting, Claim]]:
    s = setting("fedfa.delta.a")
    a, t, k, i, u, q, K = s.a, s.t, s.k, s.i, s.u, s.q, s.K
    yield s, equal(dot(s.e(a, 0, q), s.z(a, 0, q + 1)), 0)
    yield s, equal(dot(s.e(t, 0, q), s.v(t + 1)), 0)
    yield s, equal(squared(s.v(t) - s.w(t)), 0)  # as if K were 1
    yield s, equal(squared(s.v(t + 1) - s.v(t) - s.change(t)), 0)  # without the server rate
    yield s, equal(squared(s.w(t + 1) - s.w(t) - s.change(t) * s.rate), 0)
    yield s, equal(squared(s.v(0) - s.w(0)), 0)  # what filled the window is forgotten
    yield s, expr(s.r - s.s(s.r, 0)) <= expr(s.symbol("tau_a") - 1)
    yield s, squared(s.dv(i, t) - s.fv(t)) <= expr(s.symbol("sigma_g") ** 2 * F(9, 10))
    yield s, squared(s.e(a, 0, q)) <= expr(s.symbol("sigma_l") ** 2 * F(9, 10))
    yield s, equal(vector_dot(s, vector_sum("u", 0, s.N, s.dv(s.c(k + u, 0), k)), s.fv(k) * s.N), 0)  # even shares
    yield s, s.objective(s.w(0)) - s.objective(s.v(t)) <= expr(s.symbol("F0") * F(1, 10))
    yield s, squared(s.held_back(t)) <= expr((s.rate * s.Q * s.step * (K - 1) / 4) ** 2 * s.symbol("G_sq"))
    s = setting("fedfa.param.a")
    yield s, equal(squared(s.w(s.t) - s.v(s.t)), 0)
    yield s, squared(s.w(s.r) - s.v(s.r)) <= expr((s.symbol("C_lag") * s.Q * s.step / 2) ** 2 * s.symbol("G_sq"))
    yield s, expr(s.r - s.s(s.r, 0)) <= expr(s.symbol("lag") - 1)


def vector_dot(s: Setting, one, other):  # type: ignore[no-untyped-def]
    """Return ‖u − v‖²."""
    del s
    return squared(one - other)


@pytest.mark.parametrize(("s", "claim"), list(_wrong()))
def test_what_is_wrong_about_fedfa_is_false_in_a_model(s: Setting, claim: Claim) -> None:
    assert False in [holds(model, claim, s.kernel) for model in models_of(s)]


def test_what_boundlab_reads_off_a_run_of_fedfa_is_what_the_models_have() -> None:
    """Rounded numbers of the algorithm's own reading are compared wherever a model is made; here by hand."""
    s = setting("fedfa.param.a")
    one = next(model for model in models_of(s) if model.values["window"] == 2 and model.values["lag"] == 0)
    assert one.values["kappa_lag"] == F(2, 3)
    # After 0, 1, 2, … updates Δ stands in the model with 1/2 (half), 3/4, 5/8, …
    assert one.values["C_lag"] >= F(1, 6)


def test_a_lag_that_is_not_constant_makes_no_model_of_mode_param() -> None:
    s = setting("fedfa.param.a")
    assert all("lag" in model.values for model in models_of(s))
    with pytest.raises(ProofError):
        setting("fedfa.delta.a").response(scalar(0))


def test_the_virtual_iterate_moves_by_the_whole_change_of_each_arrival() -> None:
    s = setting("fedfa.delta.a")
    claim = equal(squared(s.v(s.t + 1) - s.v(s.t) - s.change(s.t) * s.rate), 0)
    rows = [row for model in models_of(s) for row in evaluate(model, claim, s.kernel)]
    assert len(rows) > 40
    assert all(row.holds for row in rows)
    assert variable("t").names() == {"t"}
