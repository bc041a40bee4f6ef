"""Where a search can be blind: wrong theorems are found, the true ones beside them are not; kept options are named."""

from itertools import islice

import pytest
from wrong_theorems import WRONG

from boundlab.algorithms import Algorithm
from boundlab.errors import SpecError
from boundlab.falsify import falsify
from boundlab.falsify._families import choices, settings, unvaried
from boundlab.options import Options
from boundlab.registry import registered
from boundlab.theorems import load_theorem

TRUE = sorted({theorem.id.removeprefix("wrong.") for theorem in WRONG.values()} - {"fedbuff"})


LONG = "noise of AREA where gradients are bounded"


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    "words", [pytest.param(one, marks=[pytest.mark.nightly] if one == LONG else []) for one in sorted(WRONG)]
)
def test_a_wrong_theorem_is_refuted(words: str) -> None:
    found = falsify(WRONG[words], limit=900)
    if words == "hardly below what is attained":
        # Within a hundredth of the tight bound, from K = 2 on: no |x| comes so near.
        assert found.tried["worst function of the class"] > 0
    assert found.violated
    assert found.best is not None
    assert found.ratio > 1.0 + 1e-6


@pytest.mark.sweep(16)
@pytest.mark.parametrize("name", TRUE)
def test_the_true_theorem_is_not(name: str) -> None:
    found = falsify(load_theorem(name), limit=60)
    assert not found.violated


class TestOptions:
    """What is varied comes from what algorithms declare."""

    @pytest.mark.sweep(2)
    @pytest.mark.parametrize("name", sorted(registered("algorithms")))
    def test_every_declared_option_has_examples_that_it_reads(self, name: str) -> None:
        algorithm: Algorithm[object] = registered("algorithms")[name]
        needed = {rate: "0.5" for rate in algorithm.parameters if rate in ("alpha", "eta", "eta_l", "beta", "p_c")}
        needed |= {"ogm": {"K": "3"}, "ringmaster": {"threshold": "2"}}.get(name, {})
        for clients in (1, 2, 3):
            for option, some in algorithm.examples(clients).items():
                assert option in algorithm.parameters
                assert len(set(some)) == len(some) > 0
                assert any(_reads(algorithm, needed | ({option: one} if one else {})) for one in some)

    def test_every_open_option_is_varied(self) -> None:
        for theorem in registered("theorems").values():
            algorithm = registered("algorithms")[theorem.algorithm]
            for name, some in choices(theorem, algorithm, 2).items():
                # One value is no choice; a number of one value is a limit.
                assert len(some) > 1, (theorem.id, name)

    def test_settings_begin_with_the_simplest_and_go_together(self) -> None:
        theorem = load_theorem("fedcompass.theorem1")
        algorithm = registered("algorithms")["fedcompass"]
        found = list(settings(theorem, algorithm, 2))
        assert {name for one in found for name in one} >= {"Qmin", "Qmax", "speeds", "warmup", "p", "normalise"}
        assert all(int(one.get("Qmin", 20)) <= int(one.get("Qmax", 100)) for one in found)


def _reads(algorithm: Algorithm[object], options: dict[str, str]) -> bool:
    try:
        algorithm.read(Options(algorithm.id, options))
    except SpecError:
        return False
    return True


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", registered("theorems"))
def test_no_setting_that_is_tried_has_an_option_that_is_not_varied(name: str) -> None:
    theorem = load_theorem(name)
    kept = unvaried(theorem)
    tried = islice(settings(theorem, registered("algorithms")[theorem.algorithm], 2), 200)
    assert all(setting.get(option, value) == value for setting in tried for option, value in kept.items())
    assert not {*kept} & {one.id for one in theorem.core.options if one.how == "fixed"}


def test_the_options_are_named_with_their_defaults() -> None:
    found = falsify(load_theorem("classics.gd.convex"), limit=2)
    assert found.not_varied == found.as_dict()["not_varied"] == {"iteration": "pass", "sampled": "none", "K": "none"}
    assert found.kept() == "options not varied, at their defaults: iteration = pass, sampled = none, K = none"


def test_nothing_is_said_where_every_open_option_is_varied() -> None:
    assert unvaried(load_theorem("area.theorem8")) == {}
