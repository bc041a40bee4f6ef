"""Steps that are false: an exact instance of the theorem's setting shows it, and nothing else does."""

from fractions import Fraction

import pytest

from boundlab.prove import Outcome, Proof, Range, Script, Status, expr, run, scalar, squared, variable
from boundlab.prove._functions import MaxAffine
from boundlab.prove._witness import _cost, _false, _proper, _rank, _simpler, _smaller, refute
from boundlab.prove.models import Model, evaluate
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem

AREA = "area.theorem8.repaired.fixed-step"
GD = "classics.gd.strongly-convex"


def written(theorem: str, write) -> Outcome:  # type: ignore[no-untyped-def]
    return run(Script("test", "a test", "nowhere", write, theorem), witnesses=True)


def lemma_without_its_factor(proof: Proof) -> None:
    """Appendix C, where Lemma 21 enters without its factor 2·alpha."""
    s = proof.setting()
    i, r, m, M, alpha, B, sigma, star = s.i, s.r, s.m, s.M, s.alpha, s.symbol("B"), s.symbol("sigma"), s.star
    proof.step(
        "a pass as printed",
        squared(s.z(i, r, M) - star)
        <= squared(s.z(i, r, 0) - star)
        - (s.part(i, s.z(i, r, 0)) - s.part(i, star)) * (2 * alpha * M)
        + alpha**2 * M * sigma**2
        + alpha**2 * M * (M + 1) * B**2 / 2,
        [s.convex(s.g(i, r, m), star), s.lipschitz(s.g(i, r, m)), s.variance(s.e(i, r, m))],
    )


@pytest.mark.nightly
def test_the_step_in_which_lemma_21_enters_without_its_factor_is_refuted_without_a_hint() -> None:
    outcome = written(AREA, lemma_without_its_factor)
    (step,) = outcome.steps
    assert step.status is Status.REFUTED
    witness = step.witness
    assert witness is not None
    assert step.claim is not None
    # Anybody may check it: the instance is made a model anew.
    setting = setting_of(load_theorem(AREA))
    rows = evaluate(Model(setting, witness.instance), step.claim, setting.kernel)
    assert witness.row in rows
    assert not witness.row.holds
    # As small as it gets: one client, two local steps, no noise.
    assert (witness.instance.n, witness.instance.steps, witness.instance.horizon) == (1, 2, 1)
    assert not any(one.variance() for one in witness.instance.noise)


@pytest.mark.nightly
def test_no_single_change_makes_a_witness_smaller() -> None:
    (step,) = written(AREA, lemma_without_its_factor).steps
    assert step.witness is not None
    assert step.claim is not None
    s = setting_of(load_theorem(AREA))
    for one in filter(_proper, _smaller(s, step.witness.instance)):
        other = _false(s, one, step.claim, s.context)
        assert other is None or _rank(s, other[0]) >= _rank(s, step.witness.instance)


def test_small_whole_numbers_are_simpler_than_fractions_and_than_their_negatives() -> None:
    order = [Fraction(*pair) for pair in ((0, 1), (1, 1), (2, 1), (3, 1), (1, 2), (1, 3), (2, 3), (1, 4), (11, 1))]
    costs = [_cost(one) for one in order]
    assert costs == sorted(costs)
    assert costs[0] == 0
    assert all(_cost(-one) > _cost(one) for one in order[1:])
    assert all(_cost(other) < _cost(one) for one in order for other in _simpler(one))


@pytest.mark.nightly
def test_witnesses_are_the_same_every_time() -> None:
    s = setting_of(load_theorem(AREA))
    claim = squared(s.model(1) - s.star) <= 0
    assert str(refute(s, claim, s.context)) == str(refute(s, claim, s.context))


@pytest.mark.nightly
def test_where_the_theorem_sets_the_step_the_witness_has_one_client_and_no_noise() -> None:
    """The step of the printed Theorem 8 in which Lemma 21 enters."""
    witness = written("area.theorem8", lemma_without_its_factor).steps[0].witness
    assert witness is not None
    constants = witness.instance.constants()
    assert (witness.instance.n, witness.instance.steps) == (1, 2)
    assert (constants["alpha"], constants["sigma"], constants["B"]) == (1, 0, 1)


def test_a_witness_tells_every_term_of_the_claim_with_its_value() -> None:
    s = setting_of(load_theorem(GD))
    k, star = s.k, s.star
    found = refute(s, squared(s.x(k + 1) - star) + s.part(s.i, star) <= squared(s.x(k) - star) / 9, s.context)
    assert found is not None
    text = str(found)
    for part in ("‖x[1] - x*‖² = ", "‖x[0] - x*‖² = ", "f_0(x*) = ", "left = ", "right = 1/9·‖x[0] - x*‖² = "):
        assert part in text, text


@pytest.mark.nightly
def test_a_false_claim_about_delays_or_smaller_steps_has_a_witness() -> None:
    late = setting_of(load_theorem("classics.delayed-sgd"))
    k = late.k
    found = refute(late, squared(late.g(k) - late.g(late.s(k))) <= 0, late.context)
    assert found is not None
    assert found.instance.constants()["tau_max"] > 0
    area = setting_of(load_theorem("area.theorem7.explicit"))
    smaller = refute(
        area,
        squared(area.z(area.i, area.k, area.M) - area.star) <= squared(area.xs(area.k) - area.star) / 9,
        area.context,
    )
    assert smaller is not None
    assert smaller.instance.n == 1


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (((1, 0), (-1, 0)), "|x|"),
        (((-2, 6), (2, -6)), "2*|x - 3|"),
        (((1, 1), (-1, -1)), "|x + 1|"),
        (((1, 0), (0, 0)), "max(x, 0)"),
        (((1, 0), (-2, 1)), "max(x, -2*x + 1)"),
    ],
)
def test_functions_are_written_as_one_would(pieces: tuple[tuple[int, int], ...], text: str) -> None:
    assert str(MaxAffine(tuple(((Fraction(a),), Fraction(b)) for a, b in pieces))) == text


@pytest.mark.nightly
def test_a_true_claim_is_never_refuted() -> None:
    s = setting_of(load_theorem(GD))
    k = s.k
    assert refute(s, squared(s.x(k)) >= 0, s.context) is None
    smooth = squared(s.g(s.i, k) - s.vec("h", s.i)) <= squared(s.x(k) - s.star) * s.symbol("L") ** 2
    assert refute(s, smooth, s.context) is None


@pytest.mark.nightly
def test_a_false_claim_of_one_case_needs_an_instance_of_that_case() -> None:
    s = setting_of(load_theorem(GD))
    k, L, mu, star = s.k, s.symbol("L"), s.symbol("mu"), s.star
    small, large = s.kernel.split("alpha", 2 / (L + mu))
    shrinks = squared(s.x(k + 1) - star) <= squared(s.x(k) - star) * (1 - s.alpha * mu) ** 2
    # True for small steps, false for large ones.
    assert refute(s, shrinks, small) is None
    found = refute(s, shrinks, large)
    assert found is not None
    assert found.instance.alpha >= Fraction(2) / (found.instance.constants()["L"] + found.instance.constants()["mu"])


def test_a_hypothesis_is_not_refuted() -> None:
    s = setting_of(load_theorem(GD))
    claim = squared(s.x(s.k) - s.star) <= 0
    hypothesis = s.kernel.suppose(claim, "k")
    assert refute(s, claim, s.context) is not None
    assert refute(s, claim, hypothesis.context) is None


def test_a_claim_that_cannot_be_evaluated_is_unproved_not_refuted() -> None:
    def write(proof: Proof) -> None:
        s = proof.setting()
        s.context.declare("epsilon", Range(low=scalar(0), above=True))
        proof.step("of a free number", squared(s.x(s.k)) <= expr(variable("epsilon")), [])

    assert written(GD, write).steps[0].status in (Status.DOES_NOT_FOLLOW, Status.UNPROVED)


@pytest.mark.nightly
@pytest.mark.parametrize("theorem", [AREA, "area.theorem8.repaired", "classics.sgd.convex"])
def test_every_witness_lies_in_the_setting_of_its_theorem(theorem: str) -> None:
    s = setting_of(load_theorem(theorem))
    found = refute(s, squared(s.model(1) - s.star) <= 0, s.context)
    assert found is not None
    model = Model(s, found.instance)
    assert not model.leaves(s.context)
    assert sum(model.runs.chances) == 1


def test_without_the_option_nothing_is_searched_for() -> None:
    (step,) = run(Script("test", "a test", "nowhere", lemma_without_its_factor, AREA)).steps
    assert step.status is Status.UNPROVED
    assert step.witness is None
