"""Whose is a setting, and how many local steps a run takes: one answer for every reader."""

import numpy as np
import pytest

from boundlab.algorithms import Algorithm
from boundlab.errors import AssumptionError, SpecError
from boundlab.events import Events
from boundlab.instance.fitting import fitting
from boundlab.instance.from_case import FixedEvents
from boundlab.instance.schedules import options_of, own_parameters, rates, split
from boundlab.options import Options
from boundlab.registry import lookup, registered
from boundlab.theorems import at_lowest, load_theorem

THEOREMS = registered("theorems")


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_a_name_is_an_option_or_a_symbol_and_never_both(name):
    theorem = THEOREMS[name]
    algorithm = lookup("algorithms", theorem.algorithm)
    given = {**dict.fromkeys(algorithm.parameters, "1"), **dict.fromkeys(theorem.inputs(), "1"), "nonsense": "1"}
    options, symbols = split(theorem, algorithm, given)
    assert set(options) | set(symbols) == set(given) | set(theorem.core.fixed)
    assert not set(symbols) & options_of(theorem, algorithm)
    assert set(theorem.step) <= set(symbols) | (set(theorem.step) - set(given))
    assert "nonsense" in symbols  # whoever reads the symbols says that it is unknown


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_the_options_of_the_proof_stand_unless_they_may_be_overridden(name):
    theorem = THEOREMS[name]
    algorithm = lookup("algorithms", theorem.algorithm)
    assert split(theorem, algorithm, {})[0] == dict(theorem.core.fixed)
    for option, value in theorem.core.fixed.items():
        if option in options_of(theorem, algorithm):
            assert split(theorem, algorithm, {option: value}, override=False)[0] == dict(theorem.core.fixed)
            assert split(theorem, algorithm, {option: "other"})[0][option] == "other"
            with pytest.raises(AssumptionError, match=f"the proof takes {option}={value}, not {option}=other"):
                split(theorem, algorithm, {option: "other"}, override=False)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_what_a_formula_reads_of_the_parameters_is_1_unless_it_is_set_or_measured(name):
    theorem = THEOREMS[name]
    algorithm = lookup("algorithms", theorem.algorithm)
    found = own_parameters(theorem, algorithm, {}, {})
    assert {parameter: symbol for parameter, (symbol, _) in found.items()} == {
        parameter: symbol for parameter, symbol in theorem.parameters.items() if parameter in algorithm.parameters
    }
    assert {value for _, value in found.values()} <= {1}
    assert not own_parameters(theorem, algorithm, {}, dict.fromkeys(theorem.parameters.values(), 3))
    for parameter in found:
        assert own_parameters(theorem, algorithm, {parameter: "3"}, {})[parameter][1] == 3
        with pytest.raises(SpecError, match=f"{parameter} must be ≥ 1"):
            own_parameters(theorem, algorithm, {parameter: "0"}, {})


@pytest.mark.parametrize(
    ("theorem", "names"),
    [
        ("area.theorem8", {"alpha", "c", "d"}),
        ("fedbuff.rf1", {"eta_l", "eta_g"}),
        ("fedcompass.window.a", {"eta"}),  # alpha is a factor of its weights
    ],
)
def test_rates_are_the_algorithms_step_sizes_and_what_the_theorem_sets(theorem: str, names: set[str]):
    statement = load_theorem(theorem)
    assert rates(statement, lookup("algorithms", statement.algorithm)) == names


def test_an_algorithm_with_the_events_of_a_case_answers_as_the_algorithm_itself():
    inner = lookup("algorithms", "fedcompass")
    fixed = FixedEvents(inner, Events(np.empty(0), np.empty(0, dtype=np.int32)))
    assert (fixed.arrivals, fixed.draws) == (False, ())  # nothing is left to chance
    assert fixed.program(fixed.read(Options("fedcompass", {"eta": 1})), 2) is None
    public = {name for name in (*vars(Algorithm), *Algorithm.__annotations__) if not name.startswith("_")}
    for name in public - FixedEvents.OWN:
        assert getattr(fixed, name) == getattr(inner, name)


def test_an_instance_that_fits_has_delays_that_were_asked_for() -> None:
    (found,) = fitting(load_theorem("classics.gd.convex"), delays=("exponential:spread=2",))
    assert found.delays == "exponential:spread=2"


@pytest.mark.parametrize(
    ("name", "fixed"), [("afl_dga.r1", {"sigma"}), ("fedcompass.group", {"tau_max"}), ("afl_dga.r2", set())]
)
def test_conditions_hold_symbols_at_the_lower_end_of_their_domain(name: str, fixed: set[str]) -> None:
    theorem = load_theorem(name)
    assert at_lowest(theorem.conditions, theorem.symbols) == fixed
