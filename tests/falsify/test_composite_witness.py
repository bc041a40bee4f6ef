"""A witness on f + h with several clients begins with what gd does there, and no other witness does."""

import pytest

from boundlab.falsify._families import on_composite
from boundlab.registry import lookup
from boundlab.theorems import load_theorem

MEAN = "gd takes the mean of the clients' proximal steps, not the proximal step of the mean (sampling=mean does)"
ASKED = [(1, "all", ""), (2, "all", MEAN), (5, "all", MEAN), (2, "uniform", ""), (2, "mean", "")]


@pytest.mark.parametrize(("clients", "sampling", "words"), ASKED)
def test_the_mean_of_proximal_steps_is_told_apart_from_the_proximal_step_of_the_mean(
    clients: int, sampling: str, words: str
) -> None:
    theorem = load_theorem("classics.proximal-gradient")
    assert on_composite(theorem, {"sampling": sampling}, clients) == words


def test_other_algorithms_are_what_books_call_so() -> None:
    area = lookup("algorithms", "area")
    assert area.on_composite(None, 3) == ""
