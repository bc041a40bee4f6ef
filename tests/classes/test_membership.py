"""What a page says of a proved theorem's runs."""

from dataclasses import replace
from typing import Any

import pytest

import boundlab as bl
from boundlab.algorithms.gd import Gd
from boundlab.cli import invoke
from boundlab.instance.from_case import proved
from boundlab.registry import registered
from boundlab.tape import Tape


def test_what_is_called_proved_has_a_proof_that_ends_in_it_and_nothing_else_has() -> None:
    ends = {script.proves for script in registered("proofs").values() if script.proves}
    theorems = registered("theorems")
    assert {name for name, one in theorems.items() if proved(one)} == {
        name for name in ends if not theorems[name].of_paper
    }


@pytest.mark.parametrize(
    ("theorem", "problem", "delays", "asked", "says"),
    [
        ("classics.gd.convex", "quadratic", "exponential", {}, "the run (class passes, tau_max = 0)"),
        (
            "fedbuff.rf1", "quadratic:clients=2,dimension=2,sigma=0", "exponential",
            {"settings": {"eta_l": 0.001}, "trials": 7}, "all 7 runs (class passes, tau_max = ",
        ),
        (
            "area.theorem8.repaired.fixed-step", "lad:clients=2", "iid:p_s=0.3",
            {"settings": {"M": 2, "alpha": 0.1}, "exact": True}, "what was averaged",
        ),
    ],
)  # fmt: skip
def test_a_comparison_says_of_which_runs_the_proof_speaks(
    theorem: str, problem: str, delays: str, asked: dict[str, Any], says: str
) -> None:
    found = bl.compare(theorem, problem, delays, iterations=6, **asked)
    assert found.as_dict()["membership"].startswith(f"the proof speaks of {says}")


def test_of_a_theorem_without_a_proof_nothing_is_said() -> None:
    found = bl.compare("classics.gd.decaying", "quadratic", iterations=6)
    assert "membership" not in found.as_dict()


def test_of_a_run_that_is_made_otherwise_the_proof_does_not_speak(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Gd.schedule

    def longer(self: Gd, *args: Any) -> Tape:
        tape = made(self, *args)
        return replace(tape, descend=replace(tape.descend, step_size=tape.descend.step_size * 1.01))

    monkeypatch.setattr(Gd, "schedule", longer)
    invoke(["compare", "classics.gd.convex", "--problem", "quadratic", "--iterations", "6"])
    assert "the proof does not speak of this run (class passes): pass 0 has steps of size" in capsys.readouterr().out
