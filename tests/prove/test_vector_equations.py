"""An equation between vectors is combined of others, and nothing is left over."""

import pytest

from boundlab.prove import ProofError, combine_vectors, scalar, variable
from boundlab.prove.setting import Setting
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem


@pytest.fixture
def setting() -> Setting:
    return setting_of(load_theorem("area.theorem7.explicit"))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("factor", [scalar(1), scalar(-1), scalar(3), scalar(1) / 2, variable("M"), 1 / variable("M")])
def test_a_multiple_of_an_equation_between_vectors_is_that_multiple_of_both_sides(setting: Setting, factor) -> None:
    one = setting.begin(setting.i, setting.k)
    found = combine_vectors(setting.kernel, one.left * factor, one.right * factor, [(factor, one)])
    assert (found.left - one.left * factor).zero
    assert (found.right - one.right * factor).zero
    with pytest.raises(ProofError, match="left over"):
        combine_vectors(setting.kernel, one.left * factor, one.right * factor, [(2 * factor, one)])


def test_vectors_are_combined_without_a_rest(setting: Setting) -> None:
    with pytest.raises(ProofError, match="left over"):
        combine_vectors(setting.kernel, setting.xs(setting.k), setting.star, [])
