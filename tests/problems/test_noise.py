"""Additive noise: of either sign along a direction, or Gaussian, on NumPy, on tensors and in rational numbers."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from problem_makers import EXPLICIT, generated, make

from boundlab.errors import SpecError
from boundlab.objective import QuadraticForm, along
from boundlab.randomness import Streams
from boundlab.testing import conform

KINDS = (*EXPLICIT, "smoothed-max-affine")
WIDE = {"clients": 2, "dimension": 2, "sigma": 5.0, "noise": "sign"}
UPDATES = np.zeros(2, dtype=np.int64), np.arange(2)


@pytest.mark.parametrize("kind", KINDS)
def test_noise_of_either_sign_is_sigma_times_the_unit_vector(kind: str) -> None:
    problem = make(kind, **WIDE, direction=[3, 4])
    assert problem.sign_noise.tolist() == [3.0, 4.0]
    assert problem.constants()["sigma"].value == 5.0


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_direction_it_is_the_first_coordinate(kind: str) -> None:
    assert make(kind, **WIDE).sign_noise.tolist() == [5.0, 0.0]


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_no_vector_without_noise_or_for_gaussian_noise(kind: str) -> None:
    assert make(kind, **{**WIDE, "sigma": 0.0}).sign_noise is None
    assert make(kind, **{**WIDE, "sigma": 0.0}).noiseless
    assert make(kind, **{**WIDE, "noise": "gaussian"}).sign_noise is None


def test_signs_do_not_depend_on_how_many_are_drawn() -> None:
    oracle = make("lad", **WIDE).oracle(Streams(11))
    few, many = oracle.draws(*UPDATES, 3), oracle.draws(*UPDATES, 8)
    assert np.array_equal(few, many[:, :3])
    assert set(np.unique(many)) == {-1.0, 1.0}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", [[1, -2], [0, 1e90], 1])
def test_problems_with_noise_of_either_sign_conform(kind: str, direction: Any) -> None:
    pytest.importorskip("flint")
    conform.problem(make(kind, **WIDE, direction=direction))


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"direction": [0, 0]}, "direction must not be 0"),
        ({"direction": [1, 2, 3]}, "direction has 3 entries, the problem has dimension 2"),
        ({"noise": "gaussian", "direction": [1, 0]}, "direction belongs to noise=sign"),
        ({"noise": "signs"}, "noise must be one of gaussian, sign"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_wrong_options_are_refused_in_one_line(kind: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make(kind, **{**WIDE, **more})


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=4).filter(any), st.floats(1e-3, 1e3))
def test_a_vector_along_a_direction_has_its_length(direction: list[float], length: float) -> None:
    found = along(np.array(direction), length)
    assert np.linalg.norm(found) == pytest.approx(length, rel=1e-14)
    assert (np.sign(found) * np.sign(direction) >= 0).all()


def test_covariances_by_hand() -> None:
    form = QuadraticForm(np.eye(2)[None], np.zeros((1, 2)), 5.0)
    assert form.covariance().tolist() == [[12.5, 0.0], [0.0, 12.5]]
    tilted = QuadraticForm(np.eye(2)[None], np.zeros((1, 2)), 5.0, np.array([30.0, 40.0]))
    assert tilted.covariance().tolist() == [[9.0, 12.0], [12.0, 16.0]]


def test_in_rational_numbers_the_vector_is_exact_or_not_given() -> None:
    pytest.importorskip("flint")
    for kind, arrays in (
        ("quadratic", {"A": [[[1, 0], [0, 1]]], "b": [[0, 1]]}),
        ("lad", {"c": [[0, 1]]}),
        ("max-affine", {"a": [[[1, 0], [-1, 0]]], "b": [[0, 0]]}),
    ):
        base = {"sigma": "1/3", "noise": "sign", **arrays}
        for direction, expected in (
            (["3/7", "4/7"], [Fraction(1, 5), Fraction(4, 15)]),
            ([1, 1], None),
            ([0, -9], [Fraction(0), Fraction(-1, 3)]),
        ):
            options = {**base, "direction": direction}
            assert make(kind, **options).rational(options).sign_noise() == expected
        assert make(kind, **base).rational(base).sign_noise() == [Fraction(1, 3), 0]
        gaussian = {**base, "noise": "gaussian"}
        assert make(kind, **gaussian).rational(gaussian).sign_noise() is None


@pytest.mark.parametrize("kind", EXPLICIT)
def test_scaling_the_functions_leaves_the_noise(kind: str) -> None:
    problem = generated(kind, 1, noise="sign")
    scaled = problem.scaled([Fraction(2)] * problem.n)
    if scaled is not None:
        assert np.array_equal(scaled.sign_noise, problem.sign_noise)
