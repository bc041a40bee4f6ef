"""What a search looks at: the instances that are known to be worst, or that say what nothing else says, are there."""

from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from wrong_theorems import WRONG

from boundlab.errors import MissingExtraError
from boundlab.falsify import Candidate, _families, _search, falsify, minimise
from boundlab.falsify._families import noisy, quiet, readable
from boundlab.falsify._judge import Judge
from boundlab.falsify._shrink import _exchanges, _sooner
from boundlab.formulas.symbols import symbol
from boundlab.instance.settings import open_rates
from boundlab.registry import registered
from boundlab.theorems import FormulaBound, load_theorem


def judge(name: str) -> Judge:
    return Judge(load_theorem(name), float("inf"))


def gap_after(problem: dict[str, Any], steps: int) -> float:
    """Return f(x_K) of gradient descent with the step 1/L = 1 on a Huber function about 0, from 1."""
    assert (problem["w"], problem["c"], problem["x0"]) == ([1.0], [0.0], 1.0)
    x, delta = problem["x0"], problem["delta"]
    for _ in range(steps):
        x -= max(min(x, delta), -delta)
    return float(x * x / 2 if abs(x) <= delta else delta * (abs(x) - delta / 2))


@pytest.mark.parametrize("steps", [1, 2, 7, 100])
def test_the_worst_function_of_gradient_descent_is_among_them(steps: int) -> None:
    # No convex function with L = R = 1 leaves more than 1/(4K + 2) (Drori and Teboulle).
    theorem = load_theorem("classics.gd.convex")
    tried = [one for _, one in quiet(theorem, 1, [steps]) if one["type"] == "huber" and not isinstance(one["x0"], list)]
    assert max(gap_after(one, steps) for one in tried) == pytest.approx(1 / (4 * steps + 2), rel=1e-12)


@pytest.mark.parametrize("clients", [1, 2, 3])
def test_noise_at_the_minimiser_begins_there(clients: int) -> None:
    for name in ("fedbuff.rf1", "area.theorem8.repaired", "classics.sgd.convex"):  # bounded slopes, and quadratics
        found = list(noisy(load_theorem(name), clients))
        away = {"noise at the minimiser": 0.0, "noise on the way": 1.0}
        assert away.keys() <= {family for family, _ in found}
        for family, one in found:
            assert one["sigma"] > 0.0
            assert len(one["c"]) == len(one["w"]) == clients
            if family in away:
                assert {abs(centre - one["x0"]) for centre in one["c"]} == {away[family]}


@pytest.mark.parametrize("name", ["fedbuff.rf1", "area.theorem8.repaired", "classics.sgd.heterogeneous"])
def test_worst_cases_of_several_clients_say_how_far_these_are_apart(name: str) -> None:
    scorer = judge(name)
    read = {*scorer.theorem.inputs(), *scorer.theorem.settable}
    apart = {one for one in _search._APART if one in read}
    found = list(_search.worst_cases(scorer))
    assert {ask.clients for ask in found} == {1, 2}
    for ask in found:
        assert apart & set(ask.constants) == (apart if ask.clients > 1 else set())


def test_every_worst_case_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = judge("classics.gd.convex")
    found, asked = _search._Best(scorer), list[int]()

    def answer(one: Judge, ask: int) -> None:  # every third has no answer
        asked.append(ask)
        one.tried[_search.WORST] += ask % 3 > 0

    monkeypatch.setattr(_search, "answer", answer)
    asks: Any = iter(range(1, 9))
    answered = 0
    while _search._ask(found, asks):
        answered += 1
    assert asked == list(range(1, 9))
    assert answered == 6


def test_without_a_solver_nothing_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise MissingExtraError("no solver")

    monkeypatch.setattr(_search, "answer", missing)
    found, asks = _search._Best(judge("classics.gd.convex")), iter(range(5))
    assert not _search._ask(found, asks)  # type: ignore[arg-type]
    assert not list(asks)


@pytest.mark.parametrize("last", [2, 5, 24, 25, 100, 1001])
def test_a_smaller_instance_may_end_one_iteration_earlier_or_at_half(last: int) -> None:
    one = Candidate("test", {}, "deterministic", {"M": "4"}, {}, last)
    found = [other.iterations for other in _exchanges(one) if other.settings == one.settings]
    assert {last - 1, last // 2} <= set(found) - {0}
    assert all(1 <= iterations < last for iterations in found)
    assert {other.settings["M"] for other in _exchanges(one) if other.iterations == last} == {"2", "3"}


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "name", {one.algorithm: name for name, one in registered("theorems").items() if one.step and not one.shape}.values()
)
def test_another_rate_or_option_is_tried_for_fewer_updates_and_goes_with_the_others(name: str) -> None:
    theorem = load_theorem(name)
    algorithm = registered("algorithms")[theorem.algorithm]
    clients = {schedule[1]: schedule for schedule in islice(_families.schedules(theorem, algorithm), 8)}
    for n, (_, _, delays, settings) in clients.items():
        one = Candidate("test", {"type": "huber", "c": [0.0] * n, "w": [1.0] * n}, delays, settings, {}, 30)
        for other in _sooner(theorem, one):
            assert other.iterations < 30
            assert readable(theorem, algorithm, other.settings)
            changed = [name for name in other.settings if other.settings[name] != settings.get(name)]
            assert (other.step != one.step) + (other.delays != one.delays) + len(changed) in (1, 2)


@pytest.mark.nightly
def test_a_third_is_written_as_a_third_and_a_decimal_as_it_is() -> None:
    numbers = {"c": [0.0, 2 / 3], "w": [1.0, 0.1], "delta": 1 / 3, "x0": 0.12345678901234567, "sigma": 0.0}
    one = Candidate("mine", {"type": "huber", **numbers}, "deterministic", {}, {}, 1)
    assert one.problem_spec() == "huber:c=[0,2/3],w=[1,0.1],delta=1/3,x0=0.12345678901234568,sigma=0"
    assert one.build().constants()["B"].value == pytest.approx(1 / 3 * 0.55)


def test_a_server_rate_makes_two_updates_of_noise_enough() -> None:
    problem = {"type": "huber", "c": [0.0], "w": [1.0], "delta": 6.0, "x0": 0.0, "sigma": 100.0, "noise": "sign"}
    one = Candidate("test", problem, "exponential", {"scale": "1"}, {"eta_l": 0.001}, 26)
    assert minimise(load_theorem("fedstaleweight.theorem1"), one).best.iterations == 2  # type: ignore[union-attr]


@pytest.mark.nightly
def test_an_option_that_does_nothing_is_left_out_and_one_that_asks_for_another_is_tried() -> None:
    # With known speeds nobody is late, and τ_max = 0 in place of 1.
    problem = {"type": "huber", "c": [0.0, 100.0], "w": [200.0, 200.0], "delta": 51.0, "x0": 50.0, "sigma": 0.0}
    settings = {"Qmin": "1", "Qmax": "3", "prose_max": "yes"}
    one = Candidate("test", problem, "deterministic:rates=[2,1]", settings, {"eta": 4e-8}, 67)
    best = minimise(load_theorem("fedcompass.theorem1"), one).best
    assert best is not None
    assert best.iterations <= 46
    assert "prose_max" not in best.candidate.settings
    assert best.candidate.settings["warmup"] == "speeds"


def test_conditions_are_tried_on_every_kind_of_schedule() -> None:
    scorer = judge("classics.gd.convex")
    kinds = {
        (one[0], one[1]) for one in islice(_families.schedules(scorer.theorem, scorer.algorithm), _search._SCHEDULES)
    }
    assert len(kinds) > len({clients for _, clients in kinds})
    assert {(one.family.rsplit("; ", 1)[1], one.clients) for one in _search._bases(scorer)} == kinds


OPEN_PASSES = [
    name
    for name, one in registered("theorems").items()
    if one.algorithm == "area"
    and "lipschitz" in one.core.assumed
    and one.core.varies("M")
    and open_rates(one)
    and not one.refuted_by
    and not one.points  # |x| has no set that all runs stay on
]


@pytest.mark.nightly
@pytest.mark.parametrize("name", OPEN_PASSES)
def test_passes_of_several_steps_end_across_the_kink_early_in_a_search(name: str) -> None:
    # A step α just across 0 and one back: what M local steps add is all that is left, with a factor M in true bounds.
    theorem = load_theorem(name)
    early = [one for batch in islice(_families.on_random_events(theorem), 5) for one in batch]
    some = [one for one in early if one.family == "|x|, to and fro"]
    assert len({one.settings["M"] for one in some}) > 2
    own = dict(theorem.bound.expressions())
    lost = replace(theorem, bound=FormulaBound({**own, "subgradient": own["subgradient"] / symbol("M")}))
    false, true = (Judge(one, float("inf")).scores(some) for one in (lost, theorem))
    assert len(true) == len(some)
    assert max(score.ratio for score in true) <= 1.0
    assert sum(score.ratio > 1.05 for score in false) > len(some) / 2


@pytest.mark.nightly  # by day a passing of the kink is found early in a search
def test_a_lost_factor_of_local_steps_is_refuted_exactly() -> None:
    found = falsify(WRONG["what M local steps add is that of one"], limit=60)
    assert found.violated
    assert found.best is not None
    assert found.best.kind == "exact"
    assert int(found.best.candidate.settings["M"]) > 1
