"""What the example's own tests are: every object of it conforms, each check on a line of pytest's; its bound stands."""

from pathlib import Path

import pytest
from example import BOUNDLAB

from boundlab.testing import assert_bound_holds, conform
from boundlab.theorems import load_theorem

THEOREM = load_theorem(str(Path(__file__).with_name("best.toml")))
OBJECTS = (BOUNDLAB["algorithms"], BOUNDLAB["metrics"], BOUNDLAB["delays"], THEOREM)


@pytest.mark.parametrize("check", [check for one in OBJECTS for check in conform.checks(one)])
def test_it_conforms(check):
    check()


def test_its_bound_is_not_violated():
    assert_bound_holds(THEOREM, candidates=50)
