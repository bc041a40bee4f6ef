"""Constants lie on their sides: of a problem of each family, in 60 digits."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from benchmarks import constants
from boundlab.objective import Problem


@pytest.mark.sweep(13)
@pytest.mark.parametrize("seed", range(len(constants.FAMILIES)))
def test_no_constant_is_on_the_wrong_side(seed: int) -> None:
    found = list(constants.compared(seed))
    assert len(found) > 3
    assert [(family, name) for family, name, over in found if over < 0] == []


@pytest.mark.sweep(7)
@pytest.mark.parametrize("name", ["L", "L_max", "mu", "R", "F0", "zeta", "sigma_star"])
def test_one_that_is_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def shifted(problem: Problem) -> dict[str, Any]:
        true = own(problem)
        return {**true, name: replace(true[name], value=true[name].value * (1.001 if name == "mu" else 0.999))}

    problem, _, _ = constants.drawn(96)
    own = type(problem).constants
    monkeypatch.setattr(type(problem), "constants", shifted)
    wrong: Iterator[str] = (one for _, one, over in constants.compared(96) if over < 0)
    assert list(wrong) == [name]
