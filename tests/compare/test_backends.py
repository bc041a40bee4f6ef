"""Wherever trials run, they are the same trials; what does not fit into the memory is refused before it begins."""

import sys
from typing import Any

import numpy as np
import pytest
from problem_makers import make
from run_makers import tape_of

from boundlab import files
from boundlab.case import delays_from, problem_from
from boundlab.errors import MissingExtraError, SpecError
from boundlab.problems import common
from boundlab.simulate import Backend, in_order, pick, processes, simulate, work
from boundlab.simulate.work import at_a_time, bytes_of, fitting, room
from boundlab.tape import Tape, recycle

NUMPY, TWO, TORCH = Backend(), Backend("numpy", "cpu", 2), Backend("torch", "cpu")
SOFTMAX = "softmax:data=digits,clients=4,batch=8,nu=0.1"


def run(backend: Backend, trials: int = 5, algorithm: str = "area", problem: str = SOFTMAX, **settings: str) -> Any:
    built = problem_from(problem)
    chosen = settings or {"alpha": "0.5"}
    return simulate(algorithm, built, delays_from("exponential", built.n), None, chosen, 60, trials, 3, None, backend)


@pytest.mark.nightly
def test_more_processes_change_no_bit() -> None:
    one, two = run(NUMPY), run(TWO)
    for name, values in one.metrics.items():
        assert np.array_equal(values, two.metrics[name])
    assert one.as_dict() == two.as_dict()


def test_in_order_is_in_order_and_passes_errors_on() -> None:
    def work(item: int) -> int:
        if item == 13:
            raise SpecError("thirteen")
        return item * item

    assert list(in_order(work, 10, 3)) == [item * item for item in range(10)]
    with pytest.raises(SpecError, match="thirteen"):
        list(in_order(work, 20, 2))


def test_tiles_beyond_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from boundlab.simulate import tensors

    monkeypatch.setattr(tensors, "LEAST", 2)
    one = run(NUMPY, 10, problem="huber:clients=3,sigma=1")
    for most in (4, 6, 1024):  # three tiles of four, two of six, and one
        monkeypatch.setattr(tensors, "_MOST", most)
        other = run(TORCH, 10, problem="huber:clients=3,sigma=1")
        for name, values in one.metrics.items():
            np.testing.assert_allclose(other.metrics[name], values, rtol=1e-9)


def test_what_does_not_fit_is_chunked_or_refused_with_the_number_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from boundlab.arithmetic.tensors import Device

    plain = run(TORCH, 5, problem="huber:clients=3,sigma=1")
    # Registers of AREA with 3 clients: 8 of one number; two more in every place.
    monkeypatch.setattr(Device, "free_bytes", lambda _: 1000)
    chunked = run(TORCH, 5, problem="huber:clients=3,sigma=1")
    for name, values in plain.metrics.items():
        np.testing.assert_allclose(chunked.metrics[name], values, rtol=1e-9)
    monkeypatch.setattr(Device, "free_bytes", lambda _: 50)
    with pytest.raises(SpecError, match=r"takes 96 bytes for 8 registers .* 50 bytes are free"):
        run(TORCH, 5, problem="huber:clients=3,sigma=1")


# ------------------------------------------------------------------------------------------------------ which and why


def test_auto_says_what_it_picked(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    small, wide = problem_from("huber:clients=3"), problem_from("huber:clients=2,dimension=5000")
    other = problem_from("smoothed-max-affine:clients=2")
    few, many = Backend("numpy", "cpu", 2, "fewer than 50000 iterations in all"), 50_000
    assert pick("auto", None, 2, small, 4, 10) == few
    assert pick("auto", "cpu", 1, small, 4, many) == Backend("compiled", "cpu", 1, "200000 iterations of short steps")
    for long in (wide, other):
        assert pick("auto", "cpu", 1, long, 4, many).why == f"the steps of {long.id} are long, or nobody compiles them"
    assert pick("compiled", None, 1, other, 4) == Backend("numpy", "cpu", 1, f"{other.id} has no steps to compile")
    assert pick("numpy", None, 3, small, 2).jobs == 2
    assert [pick("auto", None, None, one, 4, 100).jobs == 1 for one in (small, wide)] == [True, processes(None) == 1]
    monkeypatch.setattr("boundlab.simulate.installed", lambda: False)
    assert pick("auto", "cpu", 1, small, 4, many) == Backend("numpy", "cpu", 1, "Numba is not installed")
    with pytest.raises(MissingExtraError, match=r"pip install 'boundlab\[fast\]'"):
        pick("compiled", None, 1, small, 4)


@pytest.mark.parametrize(
    ("backend", "device", "words"),
    [
        ("jax", None, "unknown backend 'jax'"),
        ("numpy", "cuda", "needs backend torch"),
        ("compiled", "cuda", "needs backend torch; compiled runs on the CPU"),
        ("torch", "tpu", "use cpu, cuda, or cuda:1"),
        ("torch", "cpu:0", "use cpu, cuda"),
        ("torch", "cuda:99", "use device cpu"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(backend: str, device: str | None, words: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(SpecError, match=words.replace("(", r"\(")):
        pick(backend, device, None, problem_from("huber"), 4)


def test_without_torch_there_is_a_line_that_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'boundlab\[torch\]'"):
        pick("torch", None, None, problem_from("huber"), 4)
    assert pick("auto", None, 1, problem_from("huber"), 40).id == "numpy"


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
