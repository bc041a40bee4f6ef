"""A search names the options of the algorithm that it leaves at their defaults: these and no others."""

from itertools import islice

import pytest

from boundlab.falsify import falsify
from boundlab.falsify._families import settings, unvaried
from boundlab.registry import lookup, registered


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", registered("theorems"))
def test_no_setting_that_is_tried_has_an_option_that_is_not_varied(name: str) -> None:
    theorem = registered("theorems")[name]
    kept = unvaried(theorem)
    tried = islice(settings(theorem, lookup("algorithms", theorem.algorithm), 2), 200)
    assert all(setting.get(option, value) == value for setting in tried for option, value in kept.items())
    assert not {*kept} & {one.id for one in theorem.core.options if one.how == "fixed"}


def test_the_options_are_named_with_their_defaults() -> None:
    found = falsify(registered("theorems")["classics.gd.convex"], limit=2)
    assert found.not_varied == found.as_dict()["not_varied"] == {"iteration": "pass", "sampled": "none", "K": "none"}
    assert found.kept() == "options not varied, at their defaults: iteration = pass, sampled = none, K = none"


def test_nothing_is_said_where_every_open_option_is_varied() -> None:
    assert unvaried(registered("theorems")["area.theorem8"]) == {}
