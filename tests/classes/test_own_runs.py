"""No proof begins from what an algorithm does not do: its own runs are asked first."""

from dataclasses import replace
from typing import Any

import pytest

from boundlab.algorithms.gd import Gd
from boundlab.classes import CLASSES, class_of, of_tape, outside
from boundlab.cli import invoke
from boundlab.prove._instance import Instance
from boundlab.prove.settings._instances import AFL_DGA
from boundlab.prove.settings.tapes import work_of
from boundlab.registry import lookup
from boundlab.tape import Tape


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_an_algorithm_does_what_proofs_about_it_begin_from(name: str) -> None:
    assert outside(name) == ""


def test_of_an_algorithm_that_does_something_else_nothing_is_proved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Gd.schedule

    def twice(self: Gd, *args: Any) -> Tape:
        tape = made(self, *args)
        return replace(tape, affine=replace(tape.affine, coef=2 * tape.affine.coef))

    monkeypatch.setattr(Gd, "schedule", twice)
    assert "it leaves the class passes: update 0" in outside("gd")
    assert invoke(["prove", "classics.gd.convex"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("boundlab: proofs about gd say of its runs what is not so: with alpha=0.02 and 1 clients")
    assert said.count("\n") == 1


@pytest.mark.sweep(4)
@pytest.mark.parametrize("one", AFL_DGA)
def test_averages_that_are_used_again_late_or_never_are_those_of_the_class(one: Instance) -> None:
    """With one client x[2] = x[1] + (x[1] − x[0]) is of the passes that x[1] is of."""
    work = work_of(one)
    own = class_of(lookup("algorithms", "afl_dga"), work.parameters, one.n)
    assert list(own.why_not(of_tape(work.tape))) == []
