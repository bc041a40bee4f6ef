"""Exact values: by hand, by brute force over all sequences, in fractions and balls, and engines against each other."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from exact_makers import brute_force, exact_of, tiny_cases
from hypothesis import given, settings
from run_makers import plan_of, tape_of

from boundlab.algorithms import EventLaw, StepSize
from boundlab.algorithms.area import AreaParameters
from boundlab.arithmetic.numbers import InexactError, fraction, rational
from boundlab.arithmetic.problem import root
from boundlab.arithmetic.rational import Recipe
from boundlab.case import build_delays, build_problem, load_case, own_case, read_case, replay
from boundlab.cli import invoke
from boundlab.compare import compare
from boundlab.delays import frequencies, read_policy
from boundlab.errors import AssumptionError, CaseError, SpecError
from boundlab.exact import evaluate
from boundlab.exact._engine import _frequencies, _number
from boundlab.execute.rationals import run
from boundlab.expectation import _enumeration, applicable, left_side
from boundlab.formulas.enclose import Formulas, KnownNumber
from boundlab.instance import from_case
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import run_once
from boundlab.tape import RecordAt
from boundlab.theorems import load_theorem

pytest.importorskip("flint")

PRINTED = {
    "algorithm": "area",
    "problem": {"type": "lad"},
    "x0": 3,
    "parameters": {"M": 50},
    "delays": "iid:p_s=0.5",
    "iterations": 6,
    "theorem": "area.theorem8",
}


def case_of(tmp_path, **fields):
    file = tmp_path / "case.json"
    file.write_text(json.dumps(fields))
    return load_case(file)


def test_the_published_bound_is_below_an_exact_number():
    # A = (2 + 2·2)·9 = 54, so α = √(54/(25.5·50·6)) = √51/85. A pass takes 3 to 3 − 36α = −0.02…: 36 steps down, then
    # 14 that cancel each other; from there on it moves nothing. Before k = 6, Σ_{j<6}(3 − x_s,j) is 36α times the
    # number of iterations after the events client, client, server; their expected share of 6 is 5/32. So
    # E|x̄_6| = 3 − 36α·5/32 = 3 − 45/8·α = 3 − 9√51/136.
    found = exact_of("area.theorem8", PRINTED)
    assert found.left_text == "3 - 9/136*sqrt(51) = 2.527405472"
    assert found.right_text.startswith("3*sqrt(51)/10 in [2.142428528562854")
    assert (found.kind, found.violated, round(found.ratio, 4)) == ("exact", True, 1.1797)


def test_brute_force_over_64_sequences_gives_the_same_number():
    # For α = 0.084, close to √51/85, all iterates take the same turns.
    alpha = Fraction(21, 250)
    mean = brute_force(
        lambda _i, x: (x > 0) - (x < 0), [Fraction(1, 2)], Fraction(3), lambda _k: alpha, 50, 6, left=abs
    )
    assert mean == 3 - Fraction(45, 8) * alpha


@settings(max_examples=40, deadline=None)
@given(**tiny_cases(4, 4))
def test_random_tiny_cases_equal_brute_force_in_rational_numbers(kind, centres, x0, alpha, M, K, start, odds):
    n = len(centres)
    delta = None if kind == "lad" else Fraction(1)
    p = [Fraction(1, odds + 1) / n] * n

    def gradient(i, x):
        away = x - centres[i]
        return (away > 0) - (away < 0) if delta is None else min(max(away, -delta), delta)

    def value(x):
        sizes = [abs(x - c) for c in centres]
        if delta is not None:
            sizes = [s**2 / 2 if s <= delta else delta * (s - delta / 2) for s in sizes]
        return sum(sizes, Fraction(0)) / n

    middle = sorted(centres)[0]
    best = min(value(middle + (max(centres) - middle) * Fraction(j, 64)) for j in range(65))
    expected = brute_force(gradient, p, x0, lambda _k: alpha, M, K, start=start, left=value) - best
    name = "area.theorem8.repaired.fixed-step" if start == "analysis" else "area.theorem8.algorithm-start"
    found = exact_of(
        name,
        {
            "algorithm": "area",
            "x0": str(x0),
            "iterations": K,
            "problem": {"type": kind, "c": [[str(c)] for c in centres]},
            "parameters": {"M": M, "alpha": str(alpha)},
            "delays": {"type": "iid", "p": [str(one) for one in p]},
        },
    )
    assert found.kind == "exact"
    assert not found.violated
    assert found.left_text.split(" = ")[0] == str(expected)
    # The float engine says the same.
    problem = build_problem(kind, {"c": [[float(c)] for c in centres], "x0": float(x0)})
    delays = build_delays("iid", {"p": [float(one) for one in p]}, n)
    parameters = AreaParameters(StepSize(float(alpha)), M, start=start)
    floats = left_side("ergodic-gap", "area", problem, parameters, delays, read_policy(None, delays), K).value
    assert floats[0] == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("start", ["analysis", "algorithm"])
@pytest.mark.parametrize(("x0", "alpha"), [("3", "1/2"), ("-5/3", "1/4"), ("1/2", "2")])
def test_maxima_of_affine_functions_equal_brute_force_in_rational_numbers(start, x0, alpha):
    # Kinks of one client at 1, of the other at 1/6; the minimum 1/4 lies between, and p and the slopes are unequal.
    pieces = [[(-1, Fraction(0)), (2, Fraction(-3))], [(-2, Fraction(1)), (1, Fraction(1, 2))]]
    p = [Fraction(1, 3), Fraction(1, 4)]

    def gradient(i, x):
        return max(pieces[i], key=lambda piece: piece[0] * x + piece[1])[0]

    def value(x):
        return sum((max(a * x + b for a, b in own) for own in pieces), Fraction(0)) / 2

    x, size = Fraction(x0), Fraction(alpha)
    expected = brute_force(gradient, p, x, lambda _k: size, 2, 4, start=start, left=value) - Fraction(1, 4)
    name = "area.theorem8.repaired.fixed-step" if start == "analysis" else "area.theorem8.algorithm-start"
    found = exact_of(
        name,
        {
            "algorithm": "area",
            "x0": x0,
            "iterations": 4,
            "parameters": {"M": 2, "alpha": alpha},
            "problem": {"type": "max-affine", "a": [[[-1], [2]], [[-2], [1]]], "b": [[0, -3], [1, "1/2"]]},
            "delays": {"type": "iid", "p": ["1/3", "1/4"]},
        },
    )
    assert found.kind == "exact"
    assert found.left_text.split(" = ")[0] == str(expected)


def test_the_second_moment_of_one_answered_client_by_hand():
    # f = x²/2, one client, M = 1, σ = 1, x0 = 1, p = p_s = 1/2, constant α: x_s,3 ≠ 1 only for the events 0, 0, s:
    # then x_s = y = (1 − α) + α·noise, so E x² = (7 + (1 − α)² + α²)/8.
    problem = build_problem("quadratic", {"A": [[[1]]], "b": [[0]], "sigma": 1, "x0": 1})
    delays = build_delays("iid", {"p_s": 0.5}, 1)
    parameters = AreaParameters(StepSize(0.25), start="analysis")
    found = left_side("squared-distance", "area", problem, parameters, delays, read_policy(None, delays), 3).value
    assert found[0] == pytest.approx((7 + 0.75**2 + 0.25**2) / 8, rel=1e-15)


def test_a_schedule_in_place_of_a_law_is_refused_for_theorems_about_means():
    fields = {key: value for key, value in PRINTED.items() if key != "delays"} | {"events": [[1, 0], [2, "s"]]}
    with pytest.raises(AssumptionError, match="assumes iid-events and bounds a mean over random events"):
        exact_of("area.theorem8", fields)


def test_a_step_of_the_case_must_be_that_of_the_theorem():
    same = {**PRINTED, "parameters": {"M": 50, "alpha": "sqrt(51)/85"}}
    assert exact_of("area.theorem8", same).violated
    other = {**PRINTED, "parameters": {"M": 50, "alpha": 0.1}}
    with pytest.raises(AssumptionError, match=r"sets alpha = 0\.084.* itself; the case has alpha = 0\.1"):
        exact_of("area.theorem8", other)


ROUNDS = {"algorithm": "gd", "problem": {"type": "huber", "c": [0]}, "x0": [1], "events": [[1, "s"], [2, "s"]]}


@pytest.mark.parametrize(
    ("theorem", "fields", "gone", "more"),
    [
        ("classics.gd.convex", {**ROUNDS, "parameters": {"c": 1, "d": 2}}, "parameters", {}),
        ("classics.gd.gradient", {**ROUNDS, "parameters": {"d": 2}}, "parameters", {}),
        ("classics.sgd.convex", {**ROUNDS, "events": [[1, 0], [2, 0]]}, "events", {"delays": "exponential"}),
        ("area.theorem8", {**PRINTED, "events": [[1, 0], [2, "s"]]}, "events", {"delays": "iid:p_s=0.5"}),
    ],
)
def test_who_does_what_a_refusal_says_has_a_case_that_is_evaluated(theorem, fields, gone, more):
    fields = {key: value for key, value in fields.items() if not ("events" in fields and key == "delays")}
    with pytest.raises(AssumptionError) as refused:
        exact_of(theorem, fields)
    told = str(refused.value)
    assert "None" not in told
    more = {**more, "iterations": 6} if more else {}
    assert all(f'"{name}"' in told for name in more) if more else "out of the case" in told
    assert exact_of(theorem, {key: value for key, value in fields.items() if key != gone} | more).right > 0.0


def test_noise_on_a_kink_has_no_exact_engine():
    fields = {**PRINTED, "problem": {"type": "lad", "sigma": 1}}
    with pytest.raises(SpecError, match="no exact engine applies: problem lad with noise: moments need a quadratic"):
        exact_of("area.theorem8", fields)
    problem = build_problem("lad", {"sigma": 1})
    delays = build_delays("deterministic", {}, 1)
    policy = read_policy(None, delays)
    parameters = AreaParameters(StepSize(0.1))
    assert "not exponential" in applicable("gap", "area", problem, parameters, delays, policy)
    adaptive = lookup("algorithms", "afl_dga").read(Options("afl_dga", {"eta": 0.1}))
    assert "afl_dga has no one-event program" in applicable("gap", "afl_dga", problem, adaptive, delays, policy)


def test_too_many_states_are_refused_with_their_number():
    problem = build_problem("huber", {"clients": 8, "x0": 1})
    delays = build_delays("iid", {"p_s": 0.2}, 8)
    parameters = AreaParameters(StepSize(1.0, 5.0), start="algorithm")
    with pytest.raises(SpecError, match=r"enumeration reaches \d+ states at event \d+, which is too many"):
        left_side("ergodic-gap", "area", problem, parameters, delays, read_policy(None, delays), 20)


def test_signs_before_the_first_event_are_counted_before_they_are_drawn():
    # A broadcast of 20 local steps to 3 clients draws 60 signs: 2^60 states, none of which is to be written down.
    problem = build_problem("lad", {"c": [-2, 0, 4], "x0": 1, "sigma": 0.5, "noise": "sign"})
    delays = build_delays("iid", {"p_s": 0.3}, 3)
    parameters = AreaParameters(StepSize(0.1), M=20, start="algorithm")
    with pytest.raises(SpecError, match=rf"enumeration reaches {2**60} states at event 0, which is too many"):
        left_side("ergodic-gap", "area", problem, parameters, delays, read_policy(None, delays), 4)


def test_a_case_of_random_events_has_no_trajectory(tmp_path):
    case = case_of(tmp_path, **PRINTED)
    with pytest.raises(CaseError, match="boundlab exact takes it"):
        replay(case)
    with pytest.raises(CaseError, match=r"case\.json: delays iid: .*p_s must be > 0"):
        case_of(tmp_path, **{**PRINTED, "delays": "iid:p_s=0"})
    with pytest.raises(SpecError, match="iterations must be ≥ 1"):
        case_of(tmp_path, **{key: value for key, value in PRINTED.items() if key != "iterations"})


def test_the_command_prints_both_sides_and_exits_by_the_verdict(tmp_path, capsys):
    file = tmp_path / "case.json"
    file.write_text(json.dumps(PRINTED))
    assert invoke(["exact", "area.theorem8", str(file)]) == 1
    shown = capsys.readouterr().out
    assert "left  = 3 - 9/136*sqrt(51) = 2.527405472" in shown
    assert "violated" in shown
    assert invoke(["exact", "area.theorem8.repaired", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["verdict"]) == ("exact", "holds")
    assert invoke(["exact", "area.theorem7", str(file)]) == 2
    assert "the case is about area.theorem8, not area.theorem7" in capsys.readouterr().err
    file.write_text(json.dumps({key: value for key, value in PRINTED.items() if key != "theorem"}))
    assert invoke(["exact", "area.theorem7", str(file)]) == 4
    assert invoke(["exact", "fedbuff.r1", str(file)]) == 2


def test_events_beside_delays_are_a_draw_or_a_contradiction(tmp_path):
    both = {**PRINTED, "events": [[1, 0], [2, "s"]]}
    with pytest.raises(CaseError, match="events and delays both say who arrives when; keep events, or delays"):
        case_of(tmp_path, **both)
    assert case_of(tmp_path, **both, seed=0).events is not None


def test_a_case_may_leave_theorem_and_step_to_the_command(tmp_path, capsys):
    file = tmp_path / "case.json"
    case = {"algorithm": "gd", "problem": {"type": "huber"}, "x0": [1], "events": [[1, "s"], [2, "s"]]}
    file.write_text(json.dumps(case), encoding="utf-8")
    assert invoke(["exact", "classics.gd.convex", str(file)]) == 0
    assert "holds" in capsys.readouterr().out
    assert invoke(["replay", str(file)]) == 2
    assert "alpha" in capsys.readouterr().err


# Where the algorithm draws its clients, moments stand for enumeration as long as no run leaves the quadratics.

READING = Path(__file__).parents[2] / "proofs" / "counterexamples" / "readings" / "fedfa.theorem1.uniform-client.toml"


def of_drawn_clients(delta, rate, T, x0="0"):
    case = {
        "theorem": "fedfa.theorem1.uniform-client",
        "algorithm": "gd",
        "problem": {"type": "huber", "c": [1, -1], "w": [1, 1], "delta": delta},
        "x0": [x0],
        "parameters": {"sampling": "uniform", "alpha": rate},
        "delays": "deterministic",
        "iterations": T,
    }
    return exact_of(load_theorem(READING), case)


def by_hand(delta, rate, T, x0):
    """Return the mean of f'(x_t)² over all sequences of clients."""
    models, left = [x0], Fraction(0)
    for _ in range(T):
        pairs = [[max(-delta, min(delta, x - c)) for c in (1, -1)] for x in models]
        left += sum((sum(pair) / 2) ** 2 for pair in pairs) / len(models) / T
        models = [x - rate * slope for x, pair in zip(models, pairs, strict=True) for slope in pair]
    return left


@pytest.mark.parametrize(
    ("delta", "rate", "x0", "stays"),
    [
        ("2", "1/4", "0", True),
        ("2", "1", "0", True),  # to ±1, where |x ∓ 1| is 2
        ("2", "1/4", "1/4", True),
        ("3/2", "1/2", "0", False),  # from ±1/2, where it is 3/2, to ±3/4
        ("2", "1/4", "5/4", False),
    ],
)
def test_moments_are_the_mean_over_all_sequences_and_are_taken_only_where_no_run_leaves_the_box(
    delta, rate, x0, stays, monkeypatch
):
    monkeypatch.setattr(_enumeration, "_MANY", 2)
    result = of_drawn_clients(delta, rate, 4, x0)
    assert ("no run leaves the box" in result.method) is stays
    assert result.kind == "exact"
    assert result.left == float(by_hand(*map(Fraction, (delta, rate)), 4, Fraction(x0)))


def test_few_sequences_are_enumerated():
    result = of_drawn_clients("2", "1/4", 4)
    assert "enumeration" in result.method
    assert result.left == float(by_hand(Fraction(2), Fraction(1, 4), 4, Fraction(0)))


HUBER = {"type": "huber", "c": [0, 1, "7/2"], "w": [1, 2, 1], "sigma": 0}
AREA = {"algorithm": "area", "problem": HUBER, "x0": "13/3", "parameters": {"M": 2, "alpha": "1/7"}, "iterations": 4}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "iid, p": ("area.theorem8.repaired.fixed-step", {**AREA, "delays": {"type": "iid", "p": ["1/2", "1/5", "1/10"]}}),
    "iid, p_s": ("area.theorem8.repaired.fixed-step", {**AREA, "delays": "iid:p_s=0.3"}),
    "iid": ("area.theorem8.algorithm-start", {**AREA, "delays": "iid"}),
    "own step": ("area.theorem8", {**AREA, "parameters": {"M": 2}, "delays": "iid:p_s=0.3"}),
    "rates": (
        "area.theorem8.repaired.fixed-step",
        {**AREA, "delays": {"type": "exponential", "rates": [2, 1, 0.5]}, "server": "poisson:rate=1.5"},
    ),
    "moments": (
        "area.theorem7.explicit",
        {
            "algorithm": "area",
            "x0": [4, -1],
            "iterations": 3,
            "delays": "iid:p_s=0.4",
            "problem": {
                "type": "quadratic",
                "A": [[[1, 0], [0, 2]], [[2, 0], [0, 1]]],
                "b": [[0, 1], [3, 1]],
                "sigma": "1/2",
            },
            "parameters": {"M": 1, "D": "1/3"},
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_exact_symbols_and_the_exact_bound_are_those_of_floats(name: str) -> None:
    theorem_id, fields = CASES[name]
    theorem, case = load_theorem(theorem_id), read_case(fields, has_theorem=True)
    found, plan = evaluate(theorem, case), from_case.plan_of(theorem, case)
    known = {**plan.values, **plan.parameter_values}
    if "p" in known:
        p, p_s = np.asarray(known["p"]), float(known["p_s"])
        known |= {"p_min": min(*p, p_s), "qbar": float((1 / p).mean())}
    for symbol, value in found.values.items():
        if symbol in known and symbol != theorem.horizon_symbol:
            exact = float(Fraction(value)) if isinstance(value, str) and "sqrt" not in value else None
            assert exact is None or exact == pytest.approx(float(known[symbol]), rel=1e-12), symbol
    assert {"n", "p_s", "qbar"} <= set(found.values) or name == "moments"
    assert found.right == pytest.approx(float(plan.bound[-1]), rel=1e-12)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_under_a_count_frequencies_are_long_run_fractions_of_all_iterations(count: int) -> None:
    rates = [Fraction(2), Fraction(1), Fraction(1, 2)]
    law = EventLaw(np.array([rate / sum(rates) for rate in rates], dtype=object), Fraction(0))
    found = {name: float(value.exact) for name, value in _frequencies(law, count).items()}
    delays = build_delays("exponential", {"rates": [float(rate) for rate in rates]}, 3)
    p, p_s = frequencies(delays, read_policy(f"count:every={count}", delays))
    assert found == pytest.approx({"n": 3, "p_s": p_s, "p_min": min(*p, p_s), "qbar": (1 / p).mean()}, rel=1e-14)


@pytest.mark.parametrize(
    ("x", "sign"),
    [
        (KnownNumber.of(0), 0.0),
        (KnownNumber(sympy.sqrt(2)), 1.0),
        (KnownNumber(-sympy.sqrt(2)), -1.0),
        (KnownNumber(None, 1.0, 0.5), 1.0),
        (KnownNumber(None, -1.0, 0.5), -1.0),
        (KnownNumber(None, 1.0, 2.0), None),
        (KnownNumber(None, 0.0, 1e-16), None),
    ],
)
def test_a_number_that_is_known_up_to_rounding_has_a_sign_only_where_that_is_told(
    x: KnownNumber, sign: float | None
) -> None:
    formulas = Formulas({"x": x}, {})
    if sign is None:
        with pytest.raises(InexactError, match="whether x is 0 is not decided"):
            _number(sympy.Symbol("x"), formulas)
    else:
        assert _number(sympy.Symbol("x"), formulas) == sign


# SymPy factors what stands under a root, and asks for the logarithm of a square that is left: these have none, for they
# are larger than any float.
SQUARE = Fraction((2**521 - 1) * (2**607 - 1)) ** 2
LONG = {"a": (2**2203 - 1) / (6 * SQUARE), "b": 20 * SQUARE / (3 * (2**2203 - 1))}


@pytest.mark.parametrize("square", [*LONG.values(), Fraction(8, 3), Fraction(0)])
def test_the_square_of_a_root_is_the_number_however_long(square: Fraction) -> None:
    assert root(square) ** 2 == sympy.Rational(square.numerator, square.denominator)
    assert float((KnownNumber(root(square)).ball() ** 2).mid()) == pytest.approx(float(square), rel=1e-12)


@pytest.mark.parametrize("text", ["a**2", "a**2*b**2", "a*b", "a + b", "2*a/b", "a**2 + 1", "(a + 1)*(b - 1)"])
def test_a_formula_of_roots_of_long_numbers_has_a_value(text: str) -> None:
    formula = sympy.sympify(text)
    formulas = Formulas({name: KnownNumber(root(square)) for name, square in LONG.items()}, {})
    value = eval(text, {name: math.sqrt(square) for name, square in LONG.items()})  # noqa: S307  (ours)
    exact = formulas.exact(formula)
    assert float(formulas.ball(formula).mid()) == pytest.approx(value, rel=1e-12)
    assert exact is None or float(exact.evalf(30)) == pytest.approx(value, rel=1e-12)
    assert exact is not None or "**2" not in text


def test_a_step_size_of_one_third_stays_one_third():
    problem = build_problem("quadratic", {"A": [[[1]]], "b": [[0]], "x0": 1})
    seen: list[Fraction] = []
    rates = {"eta_l": Recipe(1 / 3, ("rate", 0)), "eta_g": Recipe(1.0, ("rate", 1))}
    run(
        tape_of("fedbuff", {"count": 1, **rates}, 1, 4, "deterministic", exact=True),
        problem.rational({}),
        [rational(Fraction(1, 3)), rational(1)],
        lambda _m, x: seen.append(fraction(x[0])),
        balls=False,
    )
    # One client that is answered at once: each update halves nothing and takes x to 2x/3.
    assert seen == [Fraction(2, 3) ** 4]


def test_averaging_the_noise_given_each_schedule_leaves_less_spread():
    problem = build_problem("quadratic", {"clients": 2, "dimension": 1, "mu": 1, "L": 2, "x0": 1, "sigma": 1})
    plan = plan_of("area.theorem7.recursion", problem, "gamma", 40, beyond=("iid-events",), M=2, alpha=0.1)
    averaged, sampled = compare(plan, 60, 3, exact=True), compare(plan, 60, 3, exact=False)
    assert averaged.exact == "given schedules"
    assert averaged.as_dict()["kind"] == "sampled"
    width = [(one.band.upper - one.band.lower)[-1] for one in (averaged, sampled)]
    assert width[0] < 0.7 * width[1]


def test_an_exact_comparison_says_why_there_is_none():
    problem = build_problem("huber", {"clients": 2, "x0": 1, "sigma": 1})
    plan = plan_of("area.theorem8.repaired", problem, "exponential", 10)
    with pytest.raises(SpecError, match=r"no exact engine applies: problem huber.*needs a quadratic, not huber"):
        compare(plan, 2, 0, exact=True)


ON_A_TAPE = {
    "fedbuff.rf1": {"M": 3, "count": 2, "eta_l": "1/8", "eta_g": "3/4"},
    "fedfa.delta.a": {"K": 2, "Q": 2, "eta_l": "1/16"},
    "fedcompass.window.a": {"Qmin": 1, "Qmax": 4, "eta": "1/16"},
    "afl_dga.r2": {"eta": "1/16"},
}


@pytest.mark.parametrize("theorem_id", ON_A_TAPE)
def test_the_left_side_of_a_schedule_is_that_of_the_run_with_all_its_parameters(theorem_id):
    theorem, parameters = load_theorem(theorem_id), ON_A_TAPE[theorem_id]
    compiler, T = lookup("algorithms", theorem.algorithm), 5
    stated = {name: value for name, value in theorem.options.items() if name in ("mode", "server", "scaling")}
    read = compiler.read(Options(theorem.algorithm, {**stated, **parameters}))
    delays = build_delays("exponential", {"spread": 3}, 3)
    events = compiler.sample(read, delays, compiler.policy(None, delays), Streams(7), 3, 120)
    fields = {
        "algorithm": theorem.algorithm,
        "theorem": theorem_id,
        "iterations": T,
        "x0": 4.3,
        "parameters": parameters,
        "problem": {"type": "huber", "c": [0, 1, 3], "w": [1, 2, 1]},
        "events": compiler.events_as_json(events),
    }
    found, problem = exact_of(theorem, fields), read_case(fields, has_theorem=True).problem
    tape = compiler.schedule(read, events, 3, RecordAt(np.arange(T)), T)
    slopes: list[float] = []
    full = problem.full_gradient
    run_once(tape, problem, Streams(0), lambda _m, x: slopes.append(float((full(x) ** 2).sum())))
    assert found.kind in ("exact", "enclosure")
    assert found.left == pytest.approx(np.mean(slopes[:T]), rel=1e-12)


# ---- noise of either sign ---------------------------------------------------------------------------------------

SIGNS = {
    "algorithm": "fedstaleweight",
    "x0": [0],
    "delays": "exponential",
    "iterations": 29,
    "problem": {"type": "huber", "c": [0], "w": [1], "delta": "1/10", "sigma": 1, "noise": "sign"},
    "parameters": {"M": 1, "count": 1, "reply": "post", "eta_l": "1/500"},
}


def mean_of_squares(rate: Fraction, T: int) -> Fraction:
    """Return (1/T)·Σ_{t<T} E x_t² for x ← (1 − η)x ± η from 0: E x_t² is η²·Σ_{s<t} (1 − η)^{2s}."""
    squares = [rate**2 * sum(((1 - rate) ** (2 * s) for s in range(t)), Fraction(0)) for t in range(T)]
    return sum(squares, Fraction(0)) / T


def test_noise_that_no_run_leaves_the_quadratic_by_refutes_fedstaleweight_exactly():
    result = exact_of("fedstaleweight.theorem1", SIGNS)
    rate = Fraction(1, 500)
    assert result.violated
    assert result.kind == "exact"
    # Nobody is late and every buffer holds one update: only the drift 12·L²·Q·η²·(G² + σ²) is not 0.
    assert result.right == pytest.approx(float(12 * rate**2 * (1 + Fraction(1, 100))), rel=1e-15)
    assert result.left == pytest.approx(float(mean_of_squares(rate, 29)), rel=1e-15)
    assert "no run leaves the box" in result.method


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("sigma", "rate"), [("1", "1/2"), ("2", "1/4"), ("1/2", "1"), ("1/4", "1/2")])
@pytest.mark.parametrize("delta", ["1/10", "1/4", "3/8", "1"])
def test_whether_noise_leaves_the_quadratic_depends_on_rate_times_noise(sigma: str, rate: str, delta: str) -> None:
    # From 0 runs come as far as rate·sigma·(1 + (1 − rate) + …); the last pass begins after three updates.
    problem = {**SIGNS["problem"], "sigma": sigma, "delta": delta}
    case = {**SIGNS, "problem": problem, "iterations": 3, "parameters": {**SIGNS["parameters"], "eta_l": rate}}
    result = exact_of("fedstaleweight.theorem1", case)
    width, eta, size = Fraction(delta), Fraction(rate), Fraction(rate) * Fraction(sigma)
    slope = min(size, width)
    squares = [min(abs(size - eta * slope + sign * size), width) ** 2 for sign in (1, -1)]
    assert result.left == pytest.approx(float((slope**2 + sum(squares) / 2) / 3), rel=1e-15)
    furthest = size * sum((1 - eta) ** j for j in range(3))
    assert ("no run leaves the box" in result.method) is (furthest <= width)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("rate", ["sqrt(2)/3", "1/sqrt(5)"])
@pytest.mark.parametrize("x0", [1, 2])
@pytest.mark.parametrize("delta", ["1/2", "1", "5"])
def test_signs_are_followed_with_steps_that_are_roots_and_from_the_very_point_where_a_slope_turns(
    rate: str, x0: int, delta: str
) -> None:
    # huber(x − 1)/2 with ±½, five steps: many runs come back to x0, which may be 1 + delta, where it turns linear.
    case = {
        "algorithm": "gd",
        "problem": {"type": "huber", "c": [1], "w": ["1/2"], "delta": delta, "sigma": "1/2", "noise": "sign"},
        "x0": [x0],
        "parameters": {"alpha": rate},
        "events": [[k, "s"] for k in range(1, 6)],
    }
    found = exact_of("classics.sgd.nonconvex", case)
    size, width = float(sympy.sympify(rate)), float(Fraction(delta))
    points, squares = np.array([float(x0)]), []
    for _ in range(5):
        slopes = np.clip(points - 1.0, -width, width) / 2.0
        squares.append(float((slopes**2).mean()))
        points = np.concatenate([points - size * (slopes + noise) for noise in (0.5, -0.5)])
    assert found.kind in ("exact", "enclosure")
    assert found.left == pytest.approx(np.mean(squares), rel=1e-13)


ON_KINKS = """id = "mine"
title = "stochastic subgradients of all clients"
paper = "mine"
algorithm = "gd"
metric = "ergodic-gap"
assumptions = ["lipschitz", "minimiser", "bounded-variance"]
options = { M = 1, sampling = "all", decay = "none" }
[step]
alpha = "alpha"
[terms]
distance = "R**2/(2*alpha*K)"
noise = "alpha*(B**2+sigma**2)/2"
"""


def test_signs_that_lead_back_to_a_kink_are_followed_with_steps_that_are_roots(tmp_path: Path) -> None:
    # |x| with ±1 from 0, where the subgradient is 0: a step back lands on the kink again, for every √2/3.
    (tmp_path / "mine.toml").write_text(ON_KINKS)
    problem = {"type": "lad", "noise": "sign", "sigma": 1}
    case = {"algorithm": "gd", "problem": problem, "x0": [0], "parameters": {"alpha": "sqrt(2)/3"}}
    found = exact_of(load_theorem(str(tmp_path / "mine.toml")), {**case, "events": [[k, "s"] for k in range(1, 6)]})
    each = [(Fraction(0),)]  # in units of the step
    for _ in range(4):
        slopes = [(run[-1] > 0) - (run[-1] < 0) for run in each]
        each = [(*run, run[-1] - slope - sign) for run, slope in zip(each, slopes, strict=True) for sign in (1, -1)]
    mean = sum(abs(sum(run)) / 5 for run in each) / len(each)
    assert found.kind == "exact"
    assert "with a root" in found.method
    assert found.left == pytest.approx(float(mean) * 2**0.5 / 3, rel=1e-14)


@pytest.mark.parametrize("mu", ["1/8", "1/4", "1/2", "2/3", "1"])
def test_a_rate_that_makes_another_program_where_it_is_doubled_is_understood(mu: str) -> None:
    # x²/2 and mu·y²/2; for mu = 1/2 the doubled q is 1, where the momentum is 0 and its term is gone.
    case = {
        "algorithm": "nesterov",
        "problem": {"type": "quadratic", "A": [[[1, 0], [0, mu]]], "b": [[0, 0]]},
        "x0": [1, 1],
        "events": [[k, "s"] for k in range(1, 5)],
    }
    found = exact_of("classics.nesterov.strongly-convex", case)
    curvature = float(Fraction(mu))
    beta = (1.0 - curvature**0.5) / (1.0 + curvature**0.5)
    x = y = np.ones(2)
    for _ in range(4):
        old, x = x, y - y * (1.0, curvature)
        y = x + beta * (x - old)
    assert found.kind in ("exact", "enclosure")
    assert found.left == pytest.approx(float(x**2 @ (1.0, curvature)) / 2.0, rel=1e-12)


def test_a_theorem_about_each_schedule_asks_for_one():
    fields = {"algorithm": "fedbuff", "delays": "exponential", "iterations": 5, "x0": [1]}
    case = {**fields, "problem": {"type": "huber", "c": [0, 1]}, "parameters": {"eta_l": 0.1}}
    with pytest.raises(SpecError, match=r'fedbuff\.rf1 is about each schedule by itself: give "events" in place'):
        exact_of("fedbuff.rf1", case)


def test_a_claim_says_nothing_of_the_windows_of_another_theorem():
    # A repair is asked on the stored counterexample, as far as its windows go; its own claim is taken at its word.
    case = load_case(own_case(load_theorem("fedfa.theorem1")), has_theorem=True)
    repaired = evaluate(load_theorem("fedfa.delta.b.noiseless"), case)
    assert (repaired.k, repaired.values["N"], repaired.headline) == (197, "4", "holds, but vacuous here")
    own = replace(case, raw={**case.raw, "theorem": "fedfa.delta.a"})
    short = "N = 4: at T = 200 it needs 203 server updates, and this run has 200: T = 197 is the last that fits"
    with pytest.raises(SpecError, match=short):
        evaluate(load_theorem("fedfa.delta.a"), own)


def test_mini_batches_along_a_schedule_are_those_over_its_certain_events():
    rows = {"type": "least-squares", "features": [[1], [2]], "targets": [1, -2], "owners": [0, 0], "bias": "no"}
    fields = {"algorithm": "gd", "problem": {**rows, "nu": "1/3", "batch": 1}, "parameters": {"alpha": "1/9"}}
    ways = {"events": [[1, "s"], [2, "s"], [3, "s"]]}, {"delays": "deterministic", "iterations": 3}
    found = [exact_of("classics.sgd.sampled", {**fields, "x0": ["1/7"], **way}) for way in ways]
    assert found[0].left == found[1].left
    assert [one.kind for one in found] == ["exact", "exact"]


@pytest.mark.parametrize(("sampling", "said"), [("all", False), ("uniform", True)])
def test_a_case_says_what_its_algorithm_draws_and_nothing_of_what_it_does_not(sampling, said):
    two = {"type": "quadratic", "A": [[[1]], [[1]]], "b": [[0], [1]], "x0": 2}
    fields = {"algorithm": "gd", "problem": two, "delays": "deterministic", "iterations": 2}
    fields["parameters"] = {"sampling": sampling, "alpha": "1/4"}
    name = "classics.sgd.heterogeneous" if said else "classics.gd.convex"
    sentence = exact_of(name, fields).sentence
    assert ("the algorithm draws which client each iteration asks" in sentence) is said
    assert ("draws" in sentence) is said
