"""What holds in the mean is no comparison of lengths; what holds at every outcome is one."""

import pytest

from boundlab.prove import Context, Kernel, Range, combine_vectors, scalar, squared, variable
from boundlab.prove._errors import ProofError
from boundlab.prove._norms import NORM, cauchy, shorter
from boundlab.prove._roots import power_root
from boundlab.prove._terms import Vec, lin
from boundlab.prove._vectors import Known
from boundlab.prove.setting import Setting
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem


@pytest.fixture
def kernel() -> Kernel:
    found = Kernel(Context())
    found.context.declare("k", Range(low=scalar(0), integer=True))
    found.vectors.declare("u", Known(1))
    found.vectors.declare("v", Known(1))
    found.vectors.declare_function(NORM, 0)
    return found


@pytest.fixture
def setting() -> Setting:
    return setting_of(load_theorem("area.theorem7.explicit"))


k = variable("k")
u, v = (lin(Vec(name, (k.top,))) for name in ("u", "v"))


def test_a_hypothesis_about_mean_squares_compares_no_lengths(kernel: Kernel) -> None:
    supposed = kernel.suppose(squared(u) <= squared(v), "k")
    with pytest.raises(ProofError, match="supposed in the mean"):
        shorter(kernel, supposed, u, v, 1)


def test_a_hypothesis_about_a_mean_square_bounds_no_length(kernel: Kernel) -> None:
    supposed = kernel.suppose(squared(v) <= 1, "k")
    with pytest.raises(ProofError, match="supposed in the mean"):
        cauchy(kernel, supposed, u, v, 1)


def test_a_variance_bounds_no_length_of_the_noise(setting: Setting) -> None:
    e = setting.vec("e", setting.symbol("n") * 0, variable("k"), 0)
    with pytest.raises(ProofError, match="at every outcome"):
        cauchy(setting.kernel, setting.variance(e), setting.star, e, setting.symbol("sigma"))


def test_a_family_of_roots_of_what_an_index_ends_is_no_family() -> None:
    kernel = Kernel(Context())
    index = kernel.context.declare("k", Range(low=scalar(0), integer=True))
    kernel.context.declare("c", Range(low=index))  # c ≥ k: c − k is a number ≥ 0 for those k only
    with pytest.raises(ProofError, match="depends on k"):
        power_root(kernel, "r", variable("c") - index, 2, index="k")


@pytest.mark.parametrize("factor", [scalar(1), scalar(-1), scalar(3), scalar(1) / 2, variable("M"), 1 / variable("M")])
def test_a_multiple_of_an_equation_between_vectors_is_that_multiple_of_both_sides(setting: Setting, factor) -> None:
    one = setting.errors().definition("xe", setting.i, setting.k + 1, setting.k)
    found = combine_vectors(setting.kernel, one.left * factor, one.right * factor, [(factor, one)])
    assert (found.left - one.left * factor).zero
    assert (found.right - one.right * factor).zero
    with pytest.raises(ProofError, match="left over"):
        combine_vectors(setting.kernel, one.left * factor, one.right * factor, [(2 * factor, one)])
