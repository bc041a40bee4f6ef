"""Relations between runs: replication of clients, refinement of time, and the gauge of the two step sizes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import sympy

from boundlab.algorithms import Algorithm, Staleness, StepFactor
from boundlab.checks._check import Check, Decision, View, asked, group
from boundlab.checks.scope import read_parameters, short_run
from boundlab.checks.truths import SMALL
from boundlab.errors import BoundlabError, UndecidedError
from boundlab.formulas.symbols import ZERO_WITHOUT_NOISE, apart, names_of
from boundlab.formulas.written import expand, leading, substitute
from boundlab.registry import lookup
from boundlab.signs import vanishes
from boundlab.theorems import Theorem, over

_M = apart("m", positive=True)
_C = apart("c", positive=True)
_EXTRA = apart("extra", nonnegative=True)

_LATE, _FALLS = (10**6, 10**12), 0.99  # where a damping that tends to 0 is told from one that does not
_WAITED = (50, 100)  # the same in the run of an algorithm that damps by itself
_COPYING = ("afl_dga", "fedbuff", "fedstaleweight", "fedcompass", "gd")


@group("replication", "identical clients, each duplicated: the right side does not fall")
def replication(view: View) -> Iterator[Check]:
    """Duplicate every client; without noise the run stays the same."""
    statement = "each client m times, without noise: the run is the same, and the right side does not fall"
    yield asked("replication", statement, lambda: _replication(view))


def _replication(view: View) -> Decision:
    theorem, reason = view.theorem, ""
    if not view.formula:
        reason = "the bound is iterated, not a formula"
    elif theorem.algorithm not in _COPYING:
        reason = f"copies that arrive together are not the same run for {theorem.algorithm}, which counts arrivals"
    elif any(one.how == "averaged" for one in over(theorem).draws):
        reason = "one client a step is drawn, or copies draw by themselves"
    elif theorem.core.fixed.get("sampling", "all") != "all":
        reason = "one client a step is asked"
    else:
        reason = _unknown({name: view.symbols[name].copies for name in view.inputs}, "copies of clients")
    if reason:
        return Decision("not applicable", reason)
    quiet = {view.symbol(name): sympy.S.Zero for name in sorted(ZERO_WITHOUT_NOISE) if name in view.inputs}
    copied = {
        view.symbol(name): view.symbol(name) * _M ** sympy.Rational(power, 2)
        for name in view.inputs
        if (power := view.symbols[name].copies)
    }
    own = [view.symbol(step) for step in theorem.step if step not in view.free_steps]
    if _reads(view, *own) & copied.keys():
        return Decision("not applicable", "the theorem's step depends on the number of clients")
    if any(_reads(view, one.quantity, one.limit) & copied.keys() for one in view.conditions):
        return Decision("unknown", "a condition reads what copies change")
    before = {name: substitute(view.expand(term), quiet) for name, term in view.terms.items()}
    after = {name: substitute(term, copied) for name, term in before.items()}
    return _compare(view, before, after, _M, "m → ∞")


def _unknown(powers: Mapping[str, int | None], words: str) -> str:
    """Return of which symbols of the theorem's own nobody knows what becomes of them, or ''."""
    unknown = ", ".join(name for name, power in powers.items() if power is None)
    return f"what {words} do to {unknown} is not known" if unknown else ""


def _compare(
    view: View,
    before: Mapping[str, sympy.Expr],
    after: Mapping[str, sympy.Expr],
    factor: sympy.Symbol,
    words: str,
) -> Decision:
    changed = [name for name in before if not _same(after[name], before[name])]
    if not changed:
        return Decision("passed", "it does not change")
    prover = view.prover()
    rising = [prover.certain(substitute(after[name], {factor: 1 + _EXTRA}) - before[name]) for name in changed]
    if all(rising):
        return Decision("passed", f"{', '.join(changed)} grow: loose, not wrong")
    falls = {}
    for name in changed:
        try:
            falls[name] = leading(view.generic(substitute(after[name], {factor: 1 / SMALL}))[0], SMALL)
        except UndecidedError:
            continue
    gone = [name for name, (_, power) in falls.items() if power > 0]
    if gone and all(power >= 0 for _, power in falls.values()):
        kept = [name for name in before if name not in gone]
        text = f"{words}: {', '.join(f'{name} falls like {factor}^({-falls[name][1]})' for name in gone)}; the claim "
        text += f"implies itself without {', '.join(gone)}, that is with {' + '.join(kept) or '0'} alone"
        if kept or not view.allows():
            return Decision("suspicious", text, "implies more")
        return Decision("failed", text, "claim false")
    return Decision("unknown", f"no certificate for {', '.join(changed)}")


def _reads(view: View, *sides: sympy.Expr) -> set[sympy.Symbol]:
    return set().union(*(view.expand(side).free_symbols for side in sides))


def _same(one: sympy.Expr, other: sympy.Expr) -> bool:
    """Return whether two expressions are certainly equal."""
    try:
        # Multiplied out inside roots, too: equal roots are one variable only where they read alike.
        return one == other or vanishes(one - other) or vanishes(expand(one) - expand(other))
    except UndecidedError:
        return False


@group("refinement", "half the step and twice the delay: the delay does not drop out of the bound")
def refinement(view: View) -> Iterator[Check]:
    """Halve the step and double the delay: delayed gradient flow remains, whose delay matters."""
    statement = "step/R, delays·R, R → ∞, without noise: the right side keeps the delay"
    yield asked("refinement", statement, lambda: _refinement(view))


def _refinement(view: View) -> Decision:
    fixed = view.at_lowest
    powers = {name: view.symbols[name].delay for name in view.symbols if name in view.inputs and name not in fixed}
    longer = {name: power for name, power in powers.items() if power}
    delays = dict(sorted(longer.items(), key=lambda one: (one[1], one[0])))
    steps = [name for name in view.free_steps if view.symbols[name].is_step_size]
    if not view.formula or not delays or not steps or view.theorem.metric != "gradient-norm":
        return Decision("not applicable", "no delay, or no step that may be chosen, enters the formula")
    values = {view.symbol(name): view.symbol(name) * SMALL**-power for name, power in delays.items()}
    own = [view.symbol(name) for name in view.theorem.step if name not in view.free_steps]
    shorter = [str(one) for one in own if _reads(view, one) & values.keys() and _power(view, one, values) > 0]
    if reason := _damped(view.theorem, shorter) or _unknown(powers, "longer delays"):
        return Decision("not applicable", reason)
    step = view.symbol(steps[0])
    values |= {step: SMALL * step, view.symbol("T"): SMALL**-3}
    values |= {view.symbol(name): sympy.S.Zero for name in sorted(ZERO_WITHOUT_NOISE) if name in view.inputs}
    kept = {view.symbol(name) for name in delays}
    for condition in view.conditions:
        involved = names_of(view.expand(condition.quantity)) | names_of(view.expand(condition.limit))
        if not involved & set(view.free_steps) or not involved & set(delays):
            continue
        if _power(view, condition.quantity, values) <= _power(view, condition.limit, values):
            return Decision("passed", f"{condition.statement} keeps step·delay small")
    total = sympy.Add(*(substitute(view.expand(term), values) for term in view.terms.values()))
    total, back = view.generic(total)
    coefficient, power = leading(total, SMALL)
    coefficient = substitute(coefficient, back)
    if power < 0 or (power == 0 and coefficient.free_symbols & kept):
        return Decision("passed", f"a term with {', '.join(delays)} remains")
    remains = view.text(coefficient) if power == 0 else "0"
    return Decision(
        "suspicious",
        f"as R → ∞ the right side tends to {remains}, without {', '.join(delays)}: the claim implies that for "
        "small steps no delay matters, however long; but w' = −∇f(w(t − θ)) does not settle for L·θ ≥ π/2",
        "implies more",
    )


def _power(view: View, of: sympy.Expr, values: Mapping[sympy.Symbol, sympy.Expr]) -> Any:
    """Return with which power of 1/R something falls."""
    return leading(view.generic(substitute(view.expand(of), values))[0], SMALL)[1]


def _damped(theorem: Theorem, shorter: Sequence[str]) -> str:
    """Return why longer delays make steps smaller whatever is chosen, so that step·delay stays small; or ''."""
    if theorem.core.value("mode") == "param":
        return "averaging models divides the step by the delay"
    if shorter:
        return f"the theorem's own {', '.join(shorter)} falls as the delay grows"
    algorithm: Algorithm[Any] = lookup("algorithms", theorem.algorithm)
    try:
        parameters = read_parameters(theorem, algorithm, theorem.core.fixed)
        for one in fields(parameters):
            late, later = (_factor(getattr(parameters, one.name), staleness) for staleness in _LATE)
            if later < _FALLS * late:
                return f"{one.name} = {theorem.core.fixed[one.name]} damps what is late"
        late, later = (_weight(algorithm, parameters, staleness) for staleness in _WAITED)
    except BoundlabError:  # the algorithm needs more than the theorem says, or has no such run
        return ""
    return f"in a run of {algorithm.id} what is late weighs less, {later:.2g} after {_WAITED[1]} updates" * (
        later < _FALLS * late
    )


def _weight(algorithm: Algorithm[Any], parameters: Any, staleness: int) -> float:
    """Return the weight that a run gives to the latest result, of a client so many times slower than another."""
    tape = short_run(algorithm, parameters, 2, f"deterministic:rates=[1,{1 / staleness}]", 3 * staleness)
    late = tape.uses.version - tape.descend.version[tape.uses.update]
    return float(tape.uses.weight[late.argmax()]) if len(late) else 0.0


def _factor(found: Any, staleness: int) -> float:
    """Return what an option multiplies an update by at a staleness; 1 where it is no such function."""
    if isinstance(found, StepFactor) and found.reads("tau"):
        return found.times(1.0, tau=staleness, n=1)
    return found(staleness) if isinstance(found, Staleness) else 1.0


@group("gauge", "with one local step only eta_l·eta_g matters")
def gauge(view: View) -> Iterator[Check]:
    """Move a factor between the local and the server step; with one local step the run stays the same."""
    statement = "η_ℓ → c·η_ℓ, η_g → η_g/c with one local step: the run is the same, and so is the right side"
    yield asked("gauge", statement, lambda: _gauge(view))


def _gauge(view: View) -> Decision:
    if not view.formula or not {"eta_l", "eta_g"} <= set(view.free_steps) or "Q" not in view.inputs:
        return Decision("not applicable", "the theorem has not both step sizes")
    once = {view.symbol("Q"): sympy.S.One}
    moved = {view.symbol("eta_l"): _C * view.symbol("eta_l"), view.symbol("eta_g"): view.symbol("eta_g") / _C}
    before = {name: substitute(view.expand(term), once) for name, term in view.terms.items()}
    after = {name: substitute(term, moved) for name, term in before.items()}
    changed = [name for name in before if not _same(after[name], before[name])]
    if not changed:
        return Decision("passed", "it does not change")
    lost = {}
    for name in changed:
        total, back = view.generic(substitute(after[name], {_C: SMALL}))
        coefficient, power = leading(total, SMALL)
        lost[name] = substitute(coefficient, back), power
    if any(power < 0 for _, power in lost.values()):
        return Decision("unknown", f"{', '.join(changed)} change")
    shown = "; ".join(
        f"{name} → {view.text(coefficient) if power == 0 else 0}" for name, (coefficient, power) in lost.items()
    )
    text = f"{', '.join(changed)} change. c → 0: {shown}. For Q = 1 the claim implies itself with these values"
    return Decision("suspicious", text, "implies more")
