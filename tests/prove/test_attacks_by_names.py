"""Names that a proof declares, conditions that no theorem states or that no run meets: no theorem rests on them."""

from pathlib import Path
from typing import Any

import pytest
from kernel_values import refused

from boundlab.errors import SpecError
from boundlab.formulas.symbols import SYMBOLS
from boundlab.prove import Proof, Range, Script, expr, run, scalar, variable
from boundlab.prove.document import make_sure_there_are_runs
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem

ZERO = scalar(0)
FIXED, EXPLICIT = "area.theorem8.repaired.fixed-step", "area.theorem7.explicit"
WITHOUT_B = """
id = "without-b"
algorithm = "gd"
metric = "ergodic-gap"
assumptions = ["lipschitz", "minimiser"]
[step]
alpha = "alpha"
[terms]
bound = "R**2/(2*alpha*K)"
"""


def begun(theorem: str) -> Any:
    """Return the setting of a theorem whose proof has begun."""
    setting = setting_of(load_theorem(theorem))
    Proof(setting.theorem, setting, setting.kernel)
    return setting


@pytest.mark.sweep(2)
@pytest.mark.parametrize("theorem", ["classics.gd.convex", "classics.sgd.convex", FIXED, "fedbuff.rf1", "afl_dga.r1"])
def test_a_symbol_of_the_proof_is_none_of_the_theorem_whatever_its_name(theorem: str) -> None:
    setting = begun(theorem)
    for name in sorted(set(SYMBOLS) - setting.own_symbols):
        if setting.context.find(name) is None:
            setting.context.declare(name, Range(low=ZERO, high=ZERO))
        with refused(f"{name} is no symbol of"):
            setting.symbol(name)


def test_slopes_are_0_because_the_proof_says_that_b_is(tmp_path: Path) -> None:
    """Without B in its formula the bound is false: x[1] = x[0] − α·slope may be as far from x* as before."""
    file = tmp_path / "theorem.toml"
    file.write_text(WITHOUT_B)
    setting = begun(str(file))
    setting.context.declare("B", Range(low=ZERO, high=ZERO))
    with refused("B is no symbol of without-b"):
        setting.lipschitz(setting.g(setting.i, setting.k))


def test_no_sentence_of_a_setting_names_what_a_proof_has_declared() -> None:
    setting = begun("classics.gd.convex")
    setting.context.declare("mine", Range(low=ZERO))
    with refused("mine is no symbol"):
        setting.reader.claim("dot(x[0], x[0]) <= mine", {})
    with refused("a proof cannot use it"):
        setting.reader.give("mine", ZERO)
    with refused("a proof cannot use it"):
        setting.sentences._fact((setting.x(0), setting.x(1)), ["algorithm"])
    assert setting.move(setting.k + setting.index("late")) is not None  # its arguments may hold any name


def test_what_is_written_in_a_sheet_is_written_for_one_setting_alone() -> None:
    setting = begun("classics.gd.convex")
    setting.sheet["axioms"]["move"]["says"] = "x[k + 1] == x[k]"
    assert "alpha" in begun("classics.gd.convex").move(0).right.names()


def test_a_theorem_whose_first_step_is_not_limited_has_no_setting() -> None:
    with pytest.raises(SpecError, match="one condition, on its first step"):
        setting_of(load_theorem("area.theorem7"))


def never_a_step(proof: Proof) -> None:
    """Show −1 ≥ 0 from a step α with α²·(B − σ)² = −R²/K, and with it a theorem."""
    s, kernel = proof.setting(), proof.kernel
    apart, step = s.step_facts
    alpha, part, B, K = s.alpha, apart.claim.left.number, s.symbol("B"), s.symbol("K")
    size = alpha**2 * part**2 * K
    negative = kernel.combine(expr(-size) >= 0, [(-K, step)])
    absurd = kernel.combine(expr(-1) >= 0, [(1, kernel.scale(negative, kernel.combine(expr(1 / size) >= 0, [])))])
    slopes, way = s.mean_vector(lambda i: s.vec("gbar", i)), s.average() - s.star
    gbar = s.vec("gbar", s.i)
    half = scalar(1) / 2
    parts = [
        (1, s.over_clients(s.convex(gbar, s.star))),
        (half, kernel.square(slopes - way)),
        (half, s.over_clients(kernel.square(gbar - slopes))),
        (half, s.over_clients(s.lipschitz(gbar))),
        (half, kernel.scale(absurd, kernel.square(way))),
        (half, kernel.scale(absurd, kernel.combine(expr(B**2) >= 0, []))),
    ]
    gap = s.objective(s.average()) - s.objective(s.star)
    proof.conclude(proof.step("anything", gap <= 0, multipliers=parts))


@pytest.mark.nightly
def test_a_theorem_of_which_there_is_no_run_is_not_proved(tmp_path: Path) -> None:
    text = WITHOUT_B.replace('"minimiser"', '"minimiser", "bounded-variance"')
    text = text.replace('alpha = "alpha"', 'alpha = "sqrt(R**2/(K*(B - sigma)*(sigma - B)))"')
    file = tmp_path / "theorem.toml"
    file.write_text(text.replace("R**2/(2*alpha*K)", "0*K"))
    outcome = run(Script("x", "", "", never_a_step, proves=str(file)))
    assert [one.status.value for one in outcome.steps] == ["proved", "unproved"]
    assert "no run of which it speaks" in outcome.steps[-1].how


def test_numbers_that_meet_the_conditions_of_a_theorem_are_found() -> None:
    setting = begun("classics.sgd.convex")  # its step is a root
    assert setting.step_facts
    make_sure_there_are_runs(setting)


def test_a_range_that_ends_at_a_named_number_is_no_empty_one() -> None:
    # d = c is named with the range d ≥ 0 alone, and 5 ≤ e ≤ d has numbers, for c is 6.
    setting = begun("classics.gd.convex")
    c = setting.context.declare("c", Range(low=scalar(6), high=scalar(6)))
    setting.kernel.name("d", c, Range(low=ZERO))
    setting.context.declare("e", Range(low=scalar(5), high=scalar(variable("d"))))
    make_sure_there_are_runs(setting)
    setting.context.declare("none", Range(low=scalar(7), high=c))
    with refused("no numbers were found in all ranges"):
        make_sure_there_are_runs(setting)


@pytest.mark.parametrize(
    "empty", [Range(low=scalar(1), high=ZERO), Range(low=scalar(1) / 3, high=scalar(2) / 3, integer=True)]
)
@pytest.mark.parametrize("theorem", ["", "classics.gd.convex"])
def test_a_step_about_no_numbers_at_all_is_not_proved(theorem: str, empty: Range) -> None:
    def write(proof: Proof) -> None:
        kernel = proof.kernel
        kernel.context.declare("c", empty)
        low, high = kernel.end("c", "low"), kernel.end("c", "high")
        assert empty.low is not None
        assert empty.high is not None
        proof.step("absurd", expr(empty.low) <= expr(empty.high), multipliers=[(1, low), (1, high)])

    (step,) = run(Script("x", "", "", write, proves=theorem)).steps
    assert step.status.value == "unproved"
    assert "no numbers were found" in step.how


def test_a_step_about_few_numbers_is_proved() -> None:
    def write(proof: Proof) -> None:
        c = proof.kernel.context.declare("c", Range(low=scalar(7), high=scalar(7), integer=True))
        proof.step("few", expr(c) <= 7, [proof.kernel.end("c", "high")])

    assert run(Script("x", "", "", write)).proved


def test_a_word_that_a_setting_does_not_know_is_refused_in_words() -> None:
    compass, buffers, stationary = begun("fedcompass.window.b"), begun("fedbuff.rf1"), begun("fedbuff.rf2")
    for unknown in (
        lambda: compass.limit(17),
        lambda: compass.added("w", 0),
        lambda: buffers.added("w", buffers.k, 0),
        lambda: stationary.entry_of("w", stationary.k, 0, stationary.w(0)),
    ):
        with refused("counted from 0|does not say"):
            unknown()
