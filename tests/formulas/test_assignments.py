"""Values: numbers, grids, vectors, and what follows from them."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.errors import BoundlabError, FormulaError, SpecError, SymbolError
from boundlab.formulas.assignments import arrival_statistics, parse_values


def test_a_number_may_be_a_formula_of_numbers() -> None:
    values = parse_values(["L=1/4", "mu=2**-3", "zeta=sqrt(4)", "sigma=Min(1, 2)"])
    assert values.scalars == {"L": 0.25, "mu": 0.125, "zeta": 2.0, "sigma": 1.0}
    assert values.shape == ()


def test_a_logarithmic_grid_of_integers_is_rounded_and_without_repeats() -> None:
    axis = parse_values(["K=1:1e6:log"]).axes["K"]
    assert (axis[0], axis[-1]) == (1, 10**6)
    assert (axis == np.rint(axis)).all()
    assert (np.diff(axis) > 0).all()
    assert len(axis) <= 61


def test_a_grid_has_the_points_that_were_asked_for() -> None:
    assert parse_values(["L=1:100:log:3"]).axes["L"] == pytest.approx([1, 10, 100])
    assert parse_values(["sigma=0:1:lin:5"]).axes["sigma"] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert len(parse_values(["sigma=0:1:lin"]).axes["sigma"]) == 61


def test_grids_span_a_product_in_the_order_given() -> None:
    values = parse_values(["sigma=0,1", "L=3", "K=1,10,100"])
    assert values.shape == (2, 3)
    grid = values.grid()
    assert np.shape(grid["sigma"]) == (2, 1)
    assert np.shape(grid["K"]) == (1, 3)
    assert values.flat()["sigma"].tolist() == [0, 0, 0, 1, 1, 1]
    assert values.flat()["K"].tolist() == [1, 10, 100, 1, 10, 100]
    assert values.given == ("sigma", "L", "K")


def test_p_gives_n_p_s_p_min_and_qbar() -> None:
    scalars = parse_values(["p=0.2,0.3,0.35"]).scalars
    assert scalars["n"] == 3
    assert scalars["p_s"] == pytest.approx(0.15)
    assert scalars["p_min"] == pytest.approx(0.15)
    assert scalars["qbar"] == pytest.approx((5 + 10 / 3 + 20 / 7) / 3)


def test_one_client_is_a_vector_too() -> None:
    values = parse_values(["p=0.5", "p_s=0.5"])
    assert values.vectors["p"].tolist() == [0.5]
    assert values.scalars["qbar"] == 2


def test_rates_and_lambda_s_give_the_probabilities() -> None:
    values = parse_values(["rates=10,10,2.5", "lambda_s=7.5"])
    assert values.vectors["p"] == pytest.approx(np.array([10, 10, 2.5]) / 30)
    assert values.scalars["p_s"] == pytest.approx(0.25)


def test_a_grid_of_lambda_s_moves_the_probabilities_along_with_it() -> None:
    values = parse_values(["K=10,20", "rates=10,10,2.5", "lambda_s=7.5,22.5"])
    grid = values.grid()
    assert np.shape(grid["p_s"]) == (1, 2)
    assert np.ravel(grid["p_s"]) == pytest.approx([0.25, 0.5])
    assert np.ravel(grid["p_min"]) == pytest.approx([2.5 / 30, 2.5 / 45])
    single = parse_values(["rates=10,10,2.5", "lambda_s=22.5"]).scalars
    assert np.ravel(grid["qbar"])[1] == pytest.approx(single["qbar"])


def test_a_vector_comes_from_a_file(tmp_path: pytest.TempPathFactory) -> None:
    path = tmp_path / "p.txt"  # type: ignore[operator]
    path.write_text("0.25 # the first\n0.25\n")
    assert parse_values([f"p=@{path}"]).scalars["p_s"] == 0.5


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (["L"], "'L' is not NAME=VALUE"),
        (["=3"], "'=3' is not NAME=VALUE"),
        (["L="], "'L=' is not NAME=VALUE"),
        (["L=1", "L=2"], "L is set twice"),
        (["sigm=1"], "unknown symbol 'sigm'; did you mean sigma?"),
        (["L=nan"], "L: 'nan' is a name where a number is expected"),
        (["L=__import__('os').system('id')"], 'L: "\'" at column 12 is not allowed'),
        (["L=1e999"], "L: the number is too large"),
        (["L=-1"], "L must be > 0, got -1"),
        (["K=2.5"], "K must be an integer ≥ 1, got 2.5"),
        (["K=1,,3"], "K: the formula is empty"),
        (["K=1:10"], "K: '1:10' is not a range; write start:stop:log"),
        (["K=1:10:cubic"], "is not a range"),
        (["K=1:10:log:1"], "K: a range has an integer number of points between 2"),
        (["K=1:10:log:2.5"], "K: a range has an integer number of points between 2"),
        (["K=1:10:log:1e12"], "K: a range has an integer number of points between 2"),
        (["K=10:1:log"], "must start below its end"),
        (["sigma=0:1:log"], "a logarithmic range starts above 0, got 0"),
        (["K=0.5:9:lin"], "K must be an integer ≥ 1, got 0.5"),
        (["sigma=0:1:lin:10000", "L=1:2:lin:10000"], "the grid has 100000000 points"),
        (["p=0.5,0.6"], "p sums to 1.1, which leaves nothing for the server"),
        (["p=0.5,0.5"], "p sums to 1, which leaves nothing for the server"),
        (["p=0.5,0.25", "p_s=0.3"], "probabilities sum to 1.05, must sum to 1"),
        (["p=0.5,0.25", "p_s=0.1,0.25"], "p_s has several values"),
        (["p=0.5,0"], "p must be in (0, 1], got 0"),
        (["p=0.5", "qbar=2"], "qbar follows from p"),
        (["p=0.5", "n=1"], "n follows from p"),
        (["p=0.25,0.25", "G_star=1"], "G_star has 1 entries, p has 2"),
        (["rates=1,2"], "rates need lambda_s"),
        (["rates=1,2", "lambda_s=1", "p_s=0.1"], "p_s follows from rates"),
        (["rates=1,2", "p=0.1,0.2", "lambda_s=1"], "rates and p both give"),
        (["rates=1,-2", "lambda_s=1"], "rates must be > 0, got -2"),
        (["p=@/no/such/file"], "p: cannot read /no/such/file"),
    ],
)
def test_nonsense_is_answered_in_one_line(assignments: list[str], message: str) -> None:
    with pytest.raises((SymbolError, FormulaError, SpecError)) as error:
        parse_values(assignments)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=30))
def test_arrival_statistics_are_those_of_their_definitions(weights: list[float]) -> None:
    p = np.array(weights) / (sum(weights) + 1.0)
    found = arrival_statistics(p)
    assert found["p_s"] == pytest.approx(1 - p.sum())
    assert found["p_min"] == pytest.approx(min(p.min(), 1 - p.sum()))
    assert found["qbar"] == pytest.approx((1 / p).mean())


@given(st.text(max_size=30))
def test_any_text_gives_values_or_one_line(text: str) -> None:
    message = ""
    try:
        parse_values([text])
    except BoundlabError as error:
        message = str(error)
    assert "\n" not in message
