"""Sums of inequalities in fractions: multipliers that are found prove, tampered ones do not."""

from fractions import Fraction

from hypothesis import given, strategies as st

from boundlab.arithmetic.combination import combination, proves

NUMBERS = st.fractions(-5, 5, max_denominator=7)
VECTORS = st.lists(NUMBERS, min_size=3, max_size=3)
FACTS = st.lists(VECTORS, min_size=1, max_size=6)


def named(row):
    return dict(zip("abc", row, strict=True))


@given(facts=FACTS, times=st.lists(st.fractions(0, 4, max_denominator=5), min_size=6, max_size=6))
def test_what_is_a_sum_of_facts_is_found_to_be_one(facts, times):
    rows = [named(row) for row in facts]
    goal = {name: sum((t * row[name] for t, row in zip(times, rows, strict=False)), Fraction(0)) for name in "abc"}
    found = combination(goal, rows)
    assert found is not None
    assert proves(goal, rows, found[0])


@given(facts=FACTS, goal=VECTORS, x=VECTORS)
def test_where_a_point_contradicts_there_are_no_multipliers(facts, goal, x):
    """Farkas: if all facts are ≥ 0 at x and the goal is < 0 there, it is no sum of them."""

    def at(row):
        return sum(a * b for a, b in zip(row, x, strict=True))

    if all(at(row) >= 0 for row in facts) and at(goal) < 0:
        assert combination(named(goal), [named(row) for row in facts]) is None


@given(facts=FACTS, times=st.lists(st.fractions(0, 4, max_denominator=5), min_size=6, max_size=6), data=st.data())
def test_tampered_multipliers_prove_nothing(facts, times, data):
    rows = [named(row) for row in facts]
    goal = {name: sum((t * row[name] for t, row in zip(times, rows, strict=False)), Fraction(0)) for name in "abc"}
    found = combination(goal, rows)
    assert found is not None
    place = data.draw(st.integers(0, len(rows) - 1))
    change = data.draw(st.fractions(-3, 3, max_denominator=9))
    tampered = [one + change * (place == at) for at, one in enumerate(found[0])]
    same = not change or not any(rows[place].values())
    assert proves(goal, rows, tampered) == (same and tampered[place] >= 0)


def test_a_negative_multiplier_proves_nothing_even_where_the_sum_is_right():
    assert not proves({"a": Fraction(-1)}, [{"a": Fraction(1)}], [Fraction(-1)])


def test_the_best_number_is_found():
    """From slope ≥ 2·gap: slope − m·2·gap ≥ 0 up to m = 1; and 3·gap + s·1 ≥ 2·gap − 5 with s = 0 at least."""
    facts = [
        {"slope": Fraction(1), "gap": Fraction(-2)},
        {"gap": Fraction(1)},
        {"slope": Fraction(1)},
        {"": Fraction(1)},
    ]
    _, largest = combination({"slope": Fraction(1)}, facts, [{"gap": Fraction(-2)}], [-1])
    assert largest == [1]
    _, least = combination({"gap": Fraction(1), "": Fraction(-5)}, facts, [{"": Fraction(1)}], [1])
    assert least == [5]


def test_what_grows_without_end_has_no_best_number():
    assert combination({"gap": Fraction(1)}, [{"gap": Fraction(1)}], [{"gap": Fraction(1)}], [-1]) is None
