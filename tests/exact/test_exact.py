"""Exact expectations: hand-computed numbers, brute force over all sequences, and engines against each other."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from exact_makers import brute_force, exact_of, over_tapes, tiny_cases
from hypothesis import given, settings, strategies as st

from boundlab.algorithms import StepSize
from boundlab.algorithms.area import AreaParameters
from boundlab.case import build_delays, build_problem, load_case, replay
from boundlab.cli import invoke
from boundlab.delays import ServerPolicy, read_policy
from boundlab.errors import AssumptionError, CaseError, SpecError
from boundlab.expectation import _enumeration, applicable, left_side
from boundlab.options import Options
from boundlab.registry import lookup
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
PROBLEMS = {
    "lad": ("lad", {"x0": 3}),
    "three huber": ("huber", {"c": [0, 1, 3], "w": [1, 2, 1], "x0": 2}),
    "two dimensions": ("huber", {"c": [[0, 1], [2, 1]], "w": [[1, 2], [1, 2]], "x0": 2}),
    "twins": ("huber", {"c": [0, 0, 1], "w": [1, 1, 2], "delta": 0.5, "x0": 2}),
    "quadratics that mix": ("quadratic", {"clients": 2, "dimension": 2, "x0": 1}),
    "quadratics on a line": ("quadratic", {"A": [[[1]], [[3]]], "b": [[0], [4]], "x0": 1}),
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


@pytest.mark.sweep(32)
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("start", ["analysis", "algorithm"])
@pytest.mark.parametrize(
    ("step", "clock"),
    [(StepSize(0.1), "algorithm"), (StepSize(1.0, 5.0), "algorithm"), (StepSize(1.0, 5.0), "analysis")],
)
def test_enumeration_and_moments_agree_with_the_tape_sequence_by_sequence(name, start, step, clock):
    kind, options = PROBLEMS[name]
    problem = build_problem(kind, options)
    n = problem.n
    K = 5 if n == 1 else 4
    p = np.array([0.35, 0.2, 0.15])[:n]
    delays = build_delays("iid", {"p": p.tolist()}, n)
    exponential = build_delays("exponential", {"rates": p.tolist()}, n)
    for side in ("ergodic-gap", "squared-distance"):
        parameters = AreaParameters(step, 2, None, "pre", start, clock)
        found = left_side(side, "area", problem, parameters, delays, read_policy(None, delays), K).value
        expected = over_tapes(problem, parameters, p, 1.0 - p.sum(), side, K)
        assert found[0] == pytest.approx(expected, rel=1e-11, abs=1e-13)
        for reply in ("pre", "post"):
            counted = AreaParameters(step, 2, 1, reply, start, clock)
            found = left_side(side, "area", problem, counted, exponential, ServerPolicy("count", 1.0), 7).value
            expected = over_tapes(problem, counted, p, 0.0, side, 7)
            assert found[0] == pytest.approx(expected, rel=1e-11, abs=1e-13)


def test_all_iterations_of_one_pass_are_those_of_single_runs():
    problem = build_problem("huber", {"c": [0, 1], "x0": 2})
    delays = build_delays("iid", {"p_s": 0.3}, 2)
    parameters, policy = AreaParameters(StepSize(0.3), 2, start="analysis"), read_policy(None, delays)
    together = left_side("ergodic-gap", "area", problem, parameters, delays, policy, 6, [1, 3, 6]).value
    single = [left_side("ergodic-gap", "area", problem, parameters, delays, policy, k).value[0] for k in (1, 3, 6)]
    assert np.allclose(together, single, rtol=1e-14)


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


fractions = st.fractions(min_value=-4, max_value=4, max_denominator=4)


@settings(max_examples=20, deadline=None)
@given(
    b=st.lists(fractions, min_size=1, max_size=2),
    x0=fractions,
    M=st.integers(1, 3),
    K=st.integers(0, 5),
    sigma=st.sampled_from([0, 1, 2]),
    D=st.sampled_from(["1/40", "1/60"]),
)
def test_rational_moments_are_those_in_floating_point(b, x0, M, K, sigma, D):
    n = len(b)
    found = exact_of(
        "area.theorem7.explicit",
        {
            "algorithm": "area",
            "x0": str(x0),
            "iterations": max(K, 1),
            "parameters": {"M": M},
            "settings": {"D": D},
            "problem": {
                "type": "quadratic",
                "A": [[[2 + i]] for i in range(n)],
                "b": [[str(c)] for c in b],
                "sigma": sigma,
            },
            "delays": "iid:p_s=0.4",
        },
    )
    # c and d are rational for rational D.
    assert found.kind == "exact"
    assert all(isinstance(value, str) and Fraction(value) == Fraction(value) for value in found.values.values())
    problem = build_problem(
        "quadratic", {"A": [[[2 + i]] for i in range(n)], "b": [[float(c)] for c in b], "sigma": sigma, "x0": float(x0)}
    )
    delays = build_delays("iid", {"p_s": 0.4}, n)
    step = StepSize(float(Fraction(found.values["c"])), float(Fraction(found.values["d"])))
    parameters = AreaParameters(step, M, start="analysis", clock="analysis")
    floats = left_side(
        "squared-distance", "area", problem, parameters, delays, read_policy(None, delays), max(K, 1)
    ).value
    assert found.left == pytest.approx(floats[0], rel=1e-10, abs=1e-12)


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


@pytest.mark.parametrize(("sampling", "said"), [("all", False), ("uniform", True)])
def test_a_case_says_what_its_algorithm_draws_and_nothing_of_what_it_does_not(sampling, said):
    two = {"type": "quadratic", "A": [[[1]], [[1]]], "b": [[0], [1]], "x0": 2}
    fields = {"algorithm": "gd", "problem": two, "delays": "deterministic", "iterations": 2}
    fields["parameters"] = {"sampling": sampling, "alpha": "1/4"}
    name = "classics.sgd.heterogeneous" if said else "classics.gd.convex"
    sentence = exact_of(name, fields).sentence
    assert ("the algorithm draws which client each iteration asks" in sentence) is said
    assert ("draws" in sentence) is said
