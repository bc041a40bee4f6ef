"""Minimisers of one-dimensional sums are what their definition says, in rational numbers."""

from fractions import Fraction

from hypothesis import given, strategies as st

from boundlab.problems.solvers import nearest_zero

NUMBERS = st.one_of(
    st.integers(-4, 4).map(float), st.floats(-1e3, 1e3), st.floats(allow_nan=False, allow_infinity=False)
)
WEIGHTS = st.one_of(st.integers(0, 3).map(float), st.floats(0.0, 1e3), st.floats(0.0, 1e300))


@given(
    st.lists(st.tuples(NUMBERS, WEIGHTS), min_size=1, max_size=7),
    st.one_of(st.none(), st.floats(1e-3, 1e3), st.just(0.5)),
    NUMBERS,
)
def test_the_nearest_minimiser_is_found(pairs: list[tuple[float, float]], delta: float | None, start: float) -> None:
    def slopes(x: Fraction) -> tuple[Fraction, Fraction]:
        """Return the derivatives to the left and to the right, without rounding."""
        left, right = Fraction(0), Fraction(0)
        for c, w in pairs:
            away, weight = x - Fraction(c), Fraction(w)
            if delta is None:
                left, right = left + weight * (1 if away > 0 else -1), right + weight * (1 if away >= 0 else -1)
            else:
                slope = weight * max(min(away, Fraction(delta)), -Fraction(delta))
                left, right = left + slope, right + slope
        return left, right

    centres, weights = zip(*pairs, strict=True)
    x, begin = nearest_zero(centres, weights, delta, start), Fraction(start)
    assert slopes(x)[0] <= 0 <= slopes(x)[1]
    left, right = slopes(begin)
    if left <= 0 <= right:
        assert x == begin
    tiny = Fraction(1, 2**1100)
    if right < 0:  # all are above the start, and none is below the one that is found
        assert slopes(x - tiny)[1] < 0
    if left > 0:
        assert slopes(x + tiny)[0] > 0
