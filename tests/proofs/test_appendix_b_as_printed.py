"""AREA's Appendix B as printed: what is shown, what is not, and the rules about norms and roots that it needs."""

import pytest

from boundlab.proofs.area_sums import PROOFS as SUMS
from boundlab.proofs.area_theorem7_printed import PROOFS
from boundlab.prove import (
    ProofError,
    Range,
    Status,
    cauchy,
    combine_vectors,
    expr,
    lengths,
    mean_norm,
    nothing,
    power_root,
    run,
    scalar,
    shorter,
    squared,
    triangle,
)
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem


def _unproved(script):
    return {one.name for one in run(script).steps if one.status is Status.UNPROVED}


def test_seven_relations_of_appendix_b_are_not_shown_and_no_other():
    assert _unproved(PROOFS[0]) == {
        "Lemma 12, δ, the geometric sum",  # (1 − (1 − αγ/2)^m)/(αγ) is half of the sum
        "Lemma 16, times (k + d)^4",  # the factor 2c of σ is lost
        "T_2, Lemma 17, as printed",  # M² for M in T_3
        "(24) and (25) in (23), as printed",  # the factor 1 + p_i is lost
        "the sum of all weights",  # x_s has the weight 1/p_s, not 1
        "1 + 2q̄/β and ψ",
        "γ by κ",  # γ = 2L/(1 + κ)
    }


def test_of_the_sums_only_that_of_the_cubes_is_not_shown():
    assert _unproved(SUMS[0]) == {"(31), the sums of powers", "(31)"}


@pytest.fixture
def setting():
    return setting_of(load_theorem("area.theorem7.explicit"))


def test_a_bound_in_the_mean_is_no_bound_at_every_outcome(setting):
    i, k, m, kernel = setting.i, setting.k, setting.m, setting.kernel
    errors, noise = setting.errors(), setting.e(i, k, m)
    bounded = setting.variance(noise)
    with pytest.raises(ProofError, match="in the mean"):
        cauchy(kernel, bounded, setting.vec("se", k), noise, setting.symbol("sigma"))
    assert str(mean_norm(kernel, bounded, noise, setting.symbol("sigma")).claim) == "E norm(e[i, k, m]) ≤ sigma"
    event = errors.event(squared(setting.vec("se", k + 1)), k)
    with pytest.raises(ProofError, match="in the mean"):
        shorter(kernel, event, setting.vec("se", k + 1), setting.vec("me", k), scalar(1))


def test_a_random_vector_has_no_number_for_its_length(setting):
    with pytest.raises(ProofError, match="random"):
        lengths(setting.kernel, "G", "gbar", "i")


def test_the_triangle_inequality_needs_the_signs_of_its_coefficients(setting):
    i, k, kernel = setting.i, setting.k, setting.kernel
    errors = setting.errors()
    moved = combine_vectors(
        kernel,
        setting.vec("xe", i, k + 1, k),
        setting.vec("xe", i, k, k) - setting.vec("h", i) * ((setting.step(k) - setting.step(k + 1)) * setting.M),
        [(1, errors.definition("xe", i, k + 1, k)), (-1, errors.definition("xe", i, k, k))],
    )
    with pytest.raises(ProofError, match="sign"):
        triangle(kernel, moved)


def test_vectors_are_combined_without_a_rest(setting):
    with pytest.raises(ProofError, match="left over"):
        combine_vectors(setting.kernel, setting.xs(setting.k), setting.star, [])


def test_a_vector_is_nothing_only_where_its_square_is(setting):
    with pytest.raises(ProofError):
        nothing(setting.kernel, setting.variance(setting.e(setting.i, setting.k, setting.m)), setting.star)


def test_a_root_is_of_a_number_that_is_not_negative_and_lies_in_its_range(setting):
    kernel = setting.kernel
    x = kernel.context.declare("size", Range(low=scalar(0), high=scalar(1)))
    with pytest.raises(ProofError, match="negative"):
        power_root(kernel, "bad", x - 1, 3)
    with pytest.raises(ProofError, match="above"):
        power_root(kernel, "large", 1 + x, 3, high=1)
    assert str(power_root(kernel, "cube", 1 + x, 3, low=1).claim) == f"cube³ = {expr(1 + x)}"
