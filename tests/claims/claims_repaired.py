"""How far repaired bounds lie above the error, term by term, as docs/refutations.md says."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from page_numbers import CLAIMS, Claim, claim

import boundlab as bl

REFUTATIONS = "docs/refutations.md"
_HUBER, _TWO = "huber:c=[100,0],w=[0.5,1],delta=2,x0={x0},sigma=0", "deterministic:rates=[2,1]"
_EDGE = "huber:c=[0,{c}],w=[{w},{w}],delta={delta},x0={x0},sigma=0"
# Theorem → the instance, and the terms that the page names.
LOOSE: Mapping[str, tuple[str, str, int, Mapping[str, Any], Sequence[str]]] = {
    "area.theorem8.repaired": ("lad:c=[0],w=[1],x0=1,sigma=0", "iid:p=[0.5]", 4, {"M": 48}, ()),
    "fedcompass.window.b.noiseless": (
        _HUBER.format(x0=2.01),
        _TWO,
        2000,
        {"Qmin": 1, "Qmax": 2, "eta": 0.005},
        ("initial", "bias and staleness"),
    ),
    "fedfa.delta.b.noiseless": (
        _HUBER.format(x0=2.02),
        _TWO,
        200,
        {"K": 1, "Q": 1, "mode": "delta", "eta_l": 0.02, "eta_g": 1},
        ("initial", "bias and staleness"),
    ),
    "afl_dga.r2n": (
        "huber:c=[0],w=[6],delta=1,x0=2,sigma=0",
        "deterministic",
        36,
        {"local_steps": 2, "eta": "1/36"},
        ("initial", "staleness"),
    ),
    "fedstaleweight.rf2": (
        "huber:c=[0],w=[1],delta=1,sigma=1,noise=sign,x0=0",
        "exponential",
        2,
        {"scale": 1, "eta_l": 0.01, "eta_g": 10},
        ("second order",),
    ),
}
VACUOUS = dict.fromkeys(
    ("area.theorem8.repaired", "fedcompass.window.b.noiseless", "fedfa.delta.b.noiseless"), "#, vacuous"
)


def _measured(name: str, instance: tuple[str, str, int, Mapping[str, Any], Sequence[str]]) -> Any:
    problem, delays, horizon, settings, _ = instance
    return bl.compare(name, problem, delays, iterations=horizon, trials=10, settings=settings)


def _row_of(name: str) -> list[str]:
    found, named = _measured(name, LOOSE[name]), LOOSE[name][-1]
    assert {term for term, values in found.terms.items() if values[-1] > 0} == set(named or found.terms)
    assert (name in VACUOUS) == bool(found.vacuous)
    still = found.trivial_bound.level
    numbers = (found.band.mean[-1], found.bound[-1], still, *(found.terms[term][-1] for term in named))
    return [f"{float(one):.3g}" for one in numbers]


for _name, (*_, _terms) in LOOSE.items():
    _shown = ", ".join(f"{term} #" for term in _terms) or "one term"
    _still = VACUOUS.get(_name, "#, the minimiser" if _name == "fedstaleweight.rf2" else "#")
    CLAIMS.append(Claim(REFUTATIONS, f"| `{_name}` | # | # | {_still} | {_shown} |", partial(_row_of, _name)))


@claim(REFUTATIONS, "slopes that are σ_g apart from their mean, # of it; the rest is staleness", nightly=True)
def bias_of_fedcompass() -> list[str]:
    values = _measured(name := "fedcompass.window.b.noiseless", LOOSE[name]).plan.values
    return [f"{(values['share_bias'] * values['sigma_g']) ** 2:.1g}"]


@claim(REFUTATIONS, "the bias alone is #")
def bias_of_fedfa() -> list[str]:
    values = _measured(name := "fedfa.delta.b.noiseless", LOOSE[name]).plan.values
    return [f"{(values['share_bias'] * values['sigma_g']) ** 2:.2g}"]


@claim(
    REFUTATIONS,
    "FedCompass has # under a bound of #·#, FedFa # under #·#. There the run starts at the minimiser, F0 is almost "
    "0, and steps are so short that the server has hardly moved when the run ends. The bounds must still allow for the "
    "bias (share·σ_g)² and the path η·√G of slopes of # and #.",
)
def looseness_at_the_edge() -> list[str]:
    compass = _measured(
        "fedcompass.window.b",
        (_EDGE.format(c=100, w=200, delta=51, x0=50), _TWO, 67, {"Qmin": 1, "Qmax": 3, "eta": 4e-8}, ()),
    )
    fa = _measured(
        "fedfa.delta.b",
        (
            _EDGE.format(c=1000, w=10, delta=504, x0=500),
            _TWO,
            41,
            {"K": 1, "Q": 1, "mode": "delta", "eta_l": 3e-6, "eta_g": 1},
            (),
        ),
    )
    shown = []
    for one in (compass, fa):
        size = int(f"{one.bound[-1]:e}".partition("e")[2])
        raised = "10" + "⁰¹²³⁴⁵⁶⁷⁸⁹"[size]
        shown += [f"{float(one.band.mean[-1]):.3g}", f"{one.bound[-1] / 10**size:.2g}", raised]
        assert one.plan.values["F0"] < 1e-8
    return [*shown, *(f"{one.plan.values['sigma_g']:,.0f}" for one in (compass, fa))]
