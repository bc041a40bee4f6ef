"""Conclusions that are not the theorem, or rest on what it does not assume: the kernel refuses each, and says why."""

import json
from pathlib import Path
from typing import Any

import pytest
from kernel_values import refused
from proof_files import registered

from boundlab.errors import BoundlabError, SpecError
from boundlab.prove import Context, Kernel, Proof, Range, Script, equal, expr, finite_sum, run, scalar, variable
from boundlab.prove.document import Status, conclude, statement
from boundlab.prove.settings import setting_of
from boundlab.theorems import load_theorem

ZERO, ONE = scalar(0), scalar(1)


def _of(theorem: str) -> Any:
    return setting_of(load_theorem(theorem))


def test_an_induction_on_the_horizon_uses_the_average() -> None:
    setting = _of("classics.subgradient.fixed-step")
    kernel, K = setting.kernel, setting.symbol("K")
    hypothesis = kernel.suppose(expr(K) >= 1, "K")
    step = kernel.combine(expr(K + 1) >= 1, [(1, hypothesis), (1, setting.start()), (-1, setting.start())])
    base = kernel.at(kernel.combine(expr(K) >= 1, []), {"K": 1})
    with refused("vectors depend on K"):
        kernel.induction(base, step)


FIXED = "area.theorem8.repaired.fixed-step"


def test_a_proof_adds_an_axiom_a_condition_a_symbol_or_a_vector() -> None:
    setting = setting_of(load_theorem(FIXED))
    Proof(setting.theorem, setting, setting.kernel)
    for hidden in (
        lambda: setting.restriction(expr(1) <= 0, "convex"),
        lambda: setting.condition(expr(1) <= 0, "the step is a positive number"),
        lambda: setting.own_symbol("c", Range(low=ONE, high=ZERO)),
        lambda: setting.kernel.make(expr(1) <= 0, setting.context, "axiom"),
        lambda: setting.kernel.make_vector(setting.xs(0), setting.star, setting.context, "axiom"),
        lambda: setting.kernel.vectors.declare("c", 0),
    ):
        with refused("a proof cannot use it|a proof declares none"):
            hidden()


def test_a_theorem_is_concluded_from_something_else() -> None:
    setting = setting_of(load_theorem(FIXED))
    for fact in (setting.start(), setting.kernel.square(setting.xs(0))):
        with refused("where the theorem says"):
            conclude(setting, [fact])
    with refused("needs a fact"):
        conclude(setting, [])


def _claimed(setting: Any, proof: Proof, context: Context | None = None) -> Any:
    """Return the theorem's own bound, claimed and not shown."""
    case = context or setting.context
    return proof.step(f"claimed {case.why}", statement(setting, case), context=context)


def test_a_claimed_step_makes_a_theorem_proved() -> None:
    setting = setting_of(load_theorem(FIXED))
    proof = Proof(setting.theorem, setting, setting.kernel)
    proof.conclude(_claimed(setting, proof))
    assert proof.conclusion is not None
    assert proof.conclusion.status is Status.FOLLOWS


def test_one_case_of_a_theorem_is_missing() -> None:
    setting = setting_of(load_theorem(FIXED))
    proof = Proof(setting.theorem, setting, setting.kernel)
    one, _ = setting.kernel.split("M", 1)
    with refused("is missing"):
        conclude(setting, [_claimed(setting, proof, one)])


def test_a_theorem_holds_under_a_hypothesis() -> None:
    setting = setting_of(load_theorem(FIXED))
    proof = Proof(setting.theorem, setting, setting.kernel)
    hypothesis = setting.kernel.suppose(expr(setting.k) >= 5, "k")
    with refused("holds only where"):
        conclude(setting, [_claimed(setting, proof, hypothesis.context)])


def test_a_theorem_is_shown_where_contradictory_conditions_hold() -> None:
    setting = setting_of(load_theorem(FIXED))
    proof, kernel, R = Proof(setting.theorem, setting, setting.kernel), setting.kernel, setting.symbol("R")
    setting.context.declare("c", Range(low=R, high=ONE))
    limited = kernel.combine(expr(R) <= 1, [(1, kernel.end("c", "low")), (1, kernel.end("c", "high"))])
    fact = kernel.combine(_claimed(setting, proof).claim, [(1, _again(proof)), (1, limited), (1, _gap(setting))])
    with refused("it is about c|outside its range|range is empty"):
        conclude(setting, [fact])


def _again(proof: Proof) -> Any:
    return proof.steps[-1].fact


def _gap(setting: Any) -> Any:
    """Return R − 1 ≥ 0 where it is supposed to be known: for R ≥ 1 only."""
    kernel, R = setting.kernel, setting.symbol("R")
    setting.context.declare("b", Range(low=ONE, high=R))
    return kernel.combine(expr(R) >= 1, [(1, kernel.end("b", "low")), (1, kernel.end("b", "high"))])


def test_a_family_without_values_is_no_reason_for_a_theorem() -> None:
    setting = setting_of(load_theorem(FIXED))
    kernel = setting.kernel
    setting.context.declare("c", Range(low=ZERO, high=ZERO, above=True, arity=1))
    c = variable("c", 0)
    below = kernel.at(kernel.combine(expr(setting.k - c) >= 0, []), {"k": 0})
    with refused("not shown to differ from 0"):
        kernel.combine(expr(-1) >= 0, [(1 / c, below)])


def test_a_proof_gives_its_own_value_to_a_symbol_of_the_theorem() -> None:
    setting = setting_of(load_theorem("area.theorem8.fixed-step"))
    before = str(statement(setting, setting.context))
    setting.name("A", 10**9)
    assert str(statement(setting, setting.context)) == before


def test_a_name_for_a_root_is_given_to_another_number() -> None:
    setting = setting_of(load_theorem("classics.sgd.convex"))
    setting.root("c", setting.symbol("R"))
    with refused("has no name in the proof"):
        statement(setting, setting.context)


@pytest.mark.parametrize("theorem", ["classics.proximal-gradient.local", "classics.local-gd", "classics.gd.decaying"])
def test_a_theorem_about_another_algorithm_has_the_moves_of_this_one(theorem: str) -> None:
    with pytest.raises(SpecError, match="proofs about gd know"):
        setting_of(load_theorem(theorem))


def test_the_average_divides_by_a_number_of_iterations_that_may_be_0() -> None:
    kernel = Kernel(Context())
    k = kernel.context.declare("k", Range(low=ZERO, integer=True))
    K = kernel.context.declare("K", Range(low=ZERO, integer=True))
    mean = finite_sum("k", 0, K, expr(k)) / K
    with refused("not shown to differ from 0"):
        kernel.combine(equal(mean, mean), [])


# Files of theorems, or registered ones, each with a proof of another theorem; some are controls.
ATTACKED = json.loads((Path(__file__).parent / "attacked_theorems.json").read_text(encoding="utf-8"))


@pytest.mark.sweep(48)
@pytest.mark.parametrize("name", ATTACKED)
def test_the_proof_of_one_theorem_proves_no_other(name: str, tmp_path: Path) -> None:
    want, script, theorem = ATTACKED[name]
    if "\n" in theorem:
        (file := tmp_path / "mine.toml").write_bytes(theorem.encode())
        theorem = str(file)
    try:
        proved = run(Script("mine", "", "", registered()[script].write, theorem)).proved
    except BoundlabError:
        proved = False
    assert proved is (want == "proved")
