"""What strategies draw: problems with certificates, events that compile, options that go together, cases that fit."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings, strategies as st

from boundlab.case import problem_from
from boundlab.delays import DelayModel
from boundlab.errors import AssumptionError, SpecError
from boundlab.instance import make_plan
from boundlab.objective import Problem
from boundlab.options import Options
from boundlab.registry import lookup, registered
from boundlab.tape import RecordAt
from boundlab.testing import CompareOptions, assert_bound_holds, conform, fitting, strategies as draws
from boundlab.theorems import load_theorem

SOME = settings(max_examples=12)
# Clients work in one group: warmup=speeds, with speeds that fit each other.
NOT_SO_EASY = {"fedcompass.group", "fedcompass.group.along-run"}


@settings(max_examples=4)
@given(problem=draws.problems())
def test_drawn_problems_keep_what_is_promised_of_problems(problem: Problem) -> None:
    conform.problem(problem)


@SOME
@given(st.data())
def test_what_is_asked_of_a_problem_it_is(data: st.DataObject) -> None:
    clients = data.draw(st.integers(1, 3))
    problem = data.draw(draws.problems(("huber", "logistic"), clients, noise=False))
    assert problem.n == clients
    assert problem.noiseless
    curved = data.draw(draws.problems(("quadratic", "logistic"), clients, noise=False, curved=True))
    assert curved.why_not("strongly-convex") == ""


@SOME
@given(st.data())
def test_delays_are_for_so_many_clients_and_independent_where_that_is_asked(data: st.DataObject) -> None:
    clients = data.draw(st.integers(1, 3))
    model: DelayModel = data.draw(draws.delays(clients, memoryless=True))
    assert model.n == clients
    assert model.id in ("exponential", "iid")
    assert data.draw(draws.delays(clients)).rates().shape == (clients,)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", sorted(registered("algorithms")))
@settings(max_examples=8)
@given(data=st.data())
def test_options_are_read_and_events_compile_for_every_algorithm(name: str, data: st.DataObject) -> None:
    algorithm: Any = lookup("algorithms", name)
    clients = 1 if name == "proximal_point" else data.draw(st.integers(1, 3))
    options = data.draw(draws.parameters(name, clients))
    algorithm.read(Options(name, options))
    rows = data.draw(draws.schedules(name, clients))
    parameters = algorithm.read(Options(name, data.draw(st.just(simplest(name, clients)))))
    events = algorithm.read_events(rows, clients, "here")
    tape = algorithm.schedule(parameters, events, clients, RecordAt(), len(rows))
    assert len(tape.events) >= 0
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)


def simplest(name: str, clients: int) -> dict[str, str]:
    from boundlab.algorithms.example_options import surroundings

    return surroundings(name, lookup("algorithms", name), clients, 0)[0]


SETTLED = sorted(set(registered("theorems")) - NOT_SO_EASY)


@pytest.mark.parametrize(
    "names", [SETTLED[::9], pytest.param(SETTLED, marks=pytest.mark.nightly)], ids=["every ninth", "all"]
)
def test_every_built_in_theorem_has_a_setting_that_it_is_about(names: list[str]) -> None:
    missing = []
    for name in names:
        try:
            assert fitting(load_theorem(name))[0].fits
        except AssumptionError:
            missing.append(name)
    assert missing == []


def test_settings_that_are_given_stand_and_what_is_missing_is_said() -> None:
    with pytest.raises(AssumptionError, match=r"M must be between 1 and 1000000, got 0.*give a problem"):
        fitting(load_theorem("area.theorem8"), settings={"M": "0"})
    group = load_theorem("fedcompass.group")
    one = fitting(group, settings={"warmup": "speeds", "speeds": "[1,1,2]", "Qmin": "2", "Qmax": "8"})[0]
    assert one.settings["speeds"] == "[1,1,2]"


LATER = [pytest.param(name, marks=pytest.mark.nightly) for name in ("fedbuff.rf1", "classics.gd.strongly-convex")]


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["area.theorem8.repaired", *LATER])
def test_cases_fit_their_theorem_and_most_are_new(name: str) -> None:
    known = [one.problem for one in fitting(load_theorem(name), 3)]
    seen: Counter[bool] = Counter()

    @settings(max_examples=30)
    @given(draws.cases(name))
    def look(case: CompareOptions) -> None:
        assert case.fits
        seen[case.problem in known] += 1

    look()
    assert seen[False] >= 10


@settings(max_examples=5)
@given(draws.cases("area.theorem8.repaired").map(lambda one: one.with_settings({"M": "2"})))
def test_they_compose_as_any_strategies_and_go_into_assertions(case: CompareOptions) -> None:
    assert_bound_holds(case, candidates=0, trials=4)


@pytest.mark.nightly
def test_hypothesis_finds_the_violation_of_a_false_theorem_and_shows_the_command(tmp_path: Path) -> None:
    @settings(max_examples=100, print_blob=False, phases=[Phase.explicit, Phase.generate])
    @given(
        draws.cases("area.theorem8", around=[CompareOptions(load_theorem("area.theorem8"), "lad:x0=3", "iid:p_s=0.5")])
    )
    def bound_holds(case: CompareOptions) -> None:
        assert_bound_holds(case, candidates=0, trials=4, M=50, folder=tmp_path)

    with pytest.raises(AssertionError) as found:
        bound_holds()
    notes = "\n".join(found.value.__notes__)
    assert "boundlab compare area.theorem8 --problem" in notes


def test_nothing_to_begin_from_is_refused() -> None:
    with pytest.raises(SpecError, match="cases need a setting to begin from"):
        draws.cases("area.theorem8", around=[])


def test_a_setting_is_the_plan_of_its_own_words() -> None:
    one = CompareOptions(load_theorem("area.theorem8"), "lad:x0=3", "iid:p_s=0.5", None, 6, {"M": "50"})
    plan = one.plan()
    problem = problem_from(one.problem)
    again = make_plan(one.theorem, problem, plan.delays, plan.policy, 6, {"M": "50"})
    assert plan.bound.tolist() == again.bound.tolist()
    assert "boundlab compare area.theorem8 --problem lad:x0=3" in one.command()
    assert repr(one) == f"<{one.command()}>"
