"""However near 1 the confidence level is, a missing limit is not blamed on the iterates."""

import numpy as np
from scipy.special import stdtrit

from boundlab.compare.judge import band


def test_limits_stay_finite_as_the_level_nears_one() -> None:
    values = np.random.default_rng(0).random((50, 7))
    before = np.zeros(7)
    for level in (0.99, 1 - 1e-9, 1 - 1e-14, float(np.nextafter(1.0, 0.0))):
        upper = band(values, values, level, "student", 0).upper
        assert np.isfinite(upper).all()
        assert (upper > before).all()
        before = upper


def test_where_one_minus_the_error_is_a_float_the_limit_is_that_of_students_t() -> None:
    values = np.random.default_rng(1).random((20, 1))
    spread = values.std(axis=0, ddof=1) / np.sqrt(20)
    assert np.allclose(
        band(values, values, 0.99, "student", 0).upper, values.mean(axis=0) + stdtrit(19, 0.995) * spread, rtol=1e-12
    )
