"""What does not fit into the memory is refused before it is begun, and as much runs at a time as fits."""

import numpy as np
import pytest
from problem_makers import make
from run_makers import tape_of

from boundlab import files
from boundlab.case import delays_from, problem_from
from boundlab.errors import SpecError
from boundlab.problems import common
from boundlab.simulate import work
from boundlab.simulate.simulation import Backend, simulate
from boundlab.simulate.work import at_a_time, bytes_of, fitting, room
from boundlab.tape import Tape, recycle


def area(clients: int, iterations: int) -> Tape:
    return tape_of("area", {"alpha": "0.01"}, clients, iterations)


def test_bytes_for_people() -> None:
    shown = {0: "0 bytes", 999: "999 bytes", 8_000: "8 kB", 1.25e6: "1.25 MB", 1.6e9: "1.6 GB"}
    assert {one: files.bytes_text(one) for one in shown} == shown


def test_what_is_free_is_the_machine_or_the_container(monkeypatch: pytest.MonkeyPatch) -> None:
    for machine, container, free in ((5, None, 5), (5, 3, 3), (None, 3, 3), (None, None, None)):
        monkeypatch.setattr(files, "_machine", lambda machine=machine: machine)
        monkeypatch.setattr(files, "_container", lambda container=container: container)
        assert files.free_bytes() == free


def test_a_generated_problem_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "free_bytes", lambda: 10**9)
    with pytest.raises(SpecError, match=r"c would have 30000000 entries, about 2.88 GB .* and 1 GB are free"):
        make("lad", clients=3, dimension=10_000_000)
    with pytest.raises(SpecError, match="at most 200000000 are allowed"):
        make("lad", clients=3, dimension=100_000_000)


def test_as_many_trials_as_fit() -> None:
    tape, problem = area(3, 50), problem_from("huber:clients=3,dimension=100")
    each = bytes_of(tape, problem)
    assert each == (tape.registers + 4) * 800
    assert at_a_time(tape, problem, 7, None, "here") == 7
    assert at_a_time(tape, problem, 7, 100 * each, "here") == 7
    assert at_a_time(tape, problem, 7, int(2.6 * each), "here") == 2
    with pytest.raises(
        SpecError, match=r"one trial takes \d\S* kB for 8 registers of dimension 100, and 1 kB are free on here"
    ):
        at_a_time(tape, problem, 7, 1000, "here")


def test_only_wide_registers_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "free_bytes", lambda: 1)
    tape, small = area(3, 50), problem_from("huber:clients=3")
    assert room(lambda: tape, small, 5) == 5
    monkeypatch.setattr(work, "_WIDE", 1)
    with pytest.raises(SpecError, match="take fewer clients or dimensions"):
        room(lambda: tape, small, 5)


def test_large_registers_are_given_on_and_nothing_else_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, delays = problem_from("huber:clients=3,sigma=1"), delays_from("exponential", 3)
    tape = area(3, 50)
    assert fitting(tape, problem) is tape
    before = simulate("fedbuff", problem, delays, None, {"eta_l": "0.1", "M": "2"}, 40, 3, 0, None, Backend())
    monkeypatch.setattr(work, "_LARGE", 0)
    assert fitting(tape, problem).registers == recycle(tape).registers
    after = simulate("fedbuff", problem, delays, None, {"eta_l": "0.1", "M": "2"}, 40, 3, 0, None, Backend())
    for name, values in before.metrics.items():
        np.testing.assert_array_equal(after.metrics[name], values)
    assert [one.as_dict() for one in before.statistics] == [one.as_dict() for one in after.statistics]
