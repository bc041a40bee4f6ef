"""Derivations: what a referee would write down, held to the mathematics and to the engine's own left side."""

import functools
import itertools
import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from exact_makers import exact_of, tiny_cases
from hypothesis import given, settings, strategies as st
from statements import statement

from boundlab.arithmetic.numbers import rational
from boundlab.cli import invoke
from boundlab.events import SERVER
from boundlab.exact import Chain, Table
from boundlab.exact._derive import require_same
from boundlab.exact._rows import schedule
from boundlab.expectation._walk import History
from boundlab.files import read_json
from boundlab.theorems import load_theorem

pytest.importorskip("flint")

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
WITNESSES = ROOT / "proofs" / "counterexamples"

ONE_PATH = {
    "algorithm": "area",
    "theorem": "area.theorem8",
    "problem": {"type": "lad"},
    "x0": [1],
    "parameters": {"M": 4, "start": "analysis"},
    "delays": "iid:p_s=0.5",
    "iterations": 4,
}
NOTHING_MOVES = {**ONE_PATH, "parameters": {"M": 50, "start": "analysis"}, "delays": "iid:p=[0.6]", "iterations": 3}
SGD = {
    "algorithm": "fedstaleweight",
    "theorem": "fedstaleweight.theorem1",
    "problem": {"type": "huber", "c": [0], "w": [1], "delta": "1/10", "sigma": 1, "noise": "sign"},
    "x0": [0],
    "parameters": {"M": 1, "count": 1, "reply": "post", "eta_l": "1/500"},
    "delays": "exponential",
    "iterations": 29,
}
TWO_CLIENTS = {
    "algorithm": "area",
    "theorem": "area.theorem8.repaired.fixed-step",
    "problem": {"type": "huber", "c": [0, 1], "w": [1, 2]},
    "x0": [2],
    "parameters": {"M": 2, "alpha": "1/4", "start": "analysis"},
    "delays": "iid:p=[0.3,0.2]",
    "iterations": 4,
}
MANY = {
    **TWO_CLIENTS,
    "problem": {"type": "huber", "c": [0, 1, 3]},
    "delays": "iid:p_s=0.4",
    "iterations": 9,
}
MANY_RECORDS = {
    "algorithm": "fedbuff",
    "theorem": "fedbuff.rf2",
    "problem": {"type": "huber", "c": [0, 1]},
    "x0": [2],
    "parameters": {"count": 2, "M": 2, "eta_l": "1/8"},
    "delays": "exponential",
    "iterations": 5,
}
SIGNS = {
    **ONE_PATH,
    "theorem": "area.theorem8.repaired.fixed-step",
    "problem": {"type": "lad", "noise": "sign", "sigma": "1/2"},
    "parameters": {"M": 1, "alpha": "1/4"},
    "iterations": 5,
}
QUADRATICS = {
    "algorithm": "gd",
    "theorem": "classics.sgd.heterogeneous",
    "problem": {"type": "quadratic", "A": [[[1]], [[3]]], "b": [[0], [4]], "sigma": 1},
    "x0": [1],
    "parameters": {"alpha": "1/10", "sampling": "uniform"},
    "delays": "deterministic",
    "iterations": 6,
}
AVERAGE = {
    "algorithm": "gd",
    "theorem": "classics.gd.ergodic",
    "problem": {"type": "quadratic", "A": [[[1]], [[3]]], "b": [[0], [4]]},
    "x0": [1],
    "parameters": {"alpha": "1/10"},
    "delays": "deterministic",
    "iterations": 3,
}
SCHEDULE = {
    "algorithm": "fedbuff",
    "theorem": "fedbuff.rf1",
    "problem": {"type": "huber", "c": [0, 1], "noise": "sign", "sigma": "1/2"},
    "x0": [2],
    "parameters": {"count": 1, "M": 1, "eta_l": "1/8"},
    "events": [[1, 0], [2, 1], [3, 0]],
}
COMPOSITE = {
    "algorithm": "gd",
    "theorem": "classics.proximal-gradient",
    "problem": {"type": "quadratic", "A": [[[1]]], "b": [[2]], "l1": "1/2"},
    "x0": [1],
    "delays": "deterministic",
    "iterations": 4,
}
PLANE = {
    **TWO_CLIENTS,
    "problem": {"type": "huber", "c": [[0, 1], [2, 1]], "w": [[1, 2], [1, 2]]},
    "x0": [2, 2],
}
IN_TURNS = {
    "algorithm": "fedfa",
    "theorem": "fedfa.theorem1",
    "problem": {"type": "huber", "c": [0, 1]},
    "x0": ["1/2"],
    "parameters": {"K": 1, "Q": 1, "mode": "param", "eta_l": "1/20000"},
    "events": [[t, client] for t in range(1, 12) for client in (0, 1)],
    "iterations": 21,
}
CASES = {
    "one path": ONE_PATH,
    "in turns": IN_TURNS,
    "nothing moves": NOTHING_MOVES,
    "sgd": SGD,
    "two clients": TWO_CLIENTS,
    "many": MANY,
    "many records": MANY_RECORDS,
    "signs": SIGNS,
    "quadratics": QUADRATICS,
    "average": AVERAGE,
    "schedule": SCHEDULE,
    "composite": COMPOSITE,
    "plane": PLANE,
}
FILES = sorted(path.stem for path in WITNESSES.glob("*.json"))


@functools.cache
def found(name):
    """Return the result of a case, by its name, each computed once."""
    case = CASES[name] if name in CASES else read_json(WITNESSES / f"{name}.json")
    return exact_of(case["theorem"], case, derive=True)


def own(folder, algorithm, metric, rate, bound):
    return statement(
        folder,
        algorithm=algorithm,
        metric=metric,
        assumptions="strongly-convex smooth",
        options={"*": "any"},
        step={rate: rate},
        terms={"bound": bound},
    )


def section(result, title):
    return next(one for one in result.derivation.sections if one.title == title)


def said(result, title):
    """Return the sentences and chains of a section as text."""
    out = []
    for item in section(result, title).items:
        if isinstance(item, Chain):
            out.append(f"{item.first.text} {' '.join(f'{sign} {piece.text}' for sign, _, piece in item.links)}")
        elif not isinstance(item, Table):
            out.append(item.text)
    return out


def table(result):
    return next(result.derivation.tables())


def rows(result):
    return [[entry.text for entry in row] for row in table(result).rows]


def test_one_path_of_probability_one_eighth_moves_before_the_end():
    # f = |x|, α = √(6/(4·4·5/2)) = √15/10. Client, client, aggregation: the first pass took 1 to 1 − 2α, down three
    # steps and back one, so x̄_4 = (3 + 1 − 2α)/4 = 1 − √15/20. Whatever else comes first, x_0 = … = x_3 = 1.
    result = found("one path")
    assert [column.text for column in table(result).columns] == [
        "events",
        "probability",
        "x_0, …, x_3",
        "x̄_4",
        "f(x̄_4) − f*",
    ]
    assert rows(result) == [
        ["all others: nothing moves", "7/8", "1 (×4)", "1", "1"],
        ["00S", "1/8", "1 (×3), 1 − √15/5", "1 − √15/20", "1 − √15/20"],
    ]
    assert "local steps of client 0: 1 → 1 − √15/10 → 1 − √15/5 → 1 − 3√15/10 → 1 − √15/5" in said(
        result, "What happens"
    )
    assert said(result, "The left side") == ["left = E f(x̄_K) − f* = 7/8·1 + 1/8·(1 − √15/20) = 1 − √15/160 ≈ 0.975794"]
    assert said(result, "The right side") == [
        "B = 1, K = 4, M = 4, σ = 0, R = 1, pₛ = 1/2, q̄ = 2",
        "A = (1/pₛ + 2·q̄)·R² = (1/(1/2) + 2·2)·1² = 6",
        "right = √(A·(σ² + (M + 1)·B²/2)/(M·K)) = √(6·(0² + (4 + 1)·1²/2)/(4·4)) = √15/4 ≈ 0.968246",
    ]
    assert said(result, "The inequality") == [
        "left > right ⟺ 1 − √15/160 > √15/4 ⟺ 160 > 41√15 ⟺ 25600 > 25215",
        "violated: the left side is above the bound on this case (exact)",
    ]
    instance = said(result, "The instance")
    assert "f_0(x) = |x|" in instance
    assert "start x_0 = 1" in instance
    assert "minimum f* = 0 at x* = 0" in instance
    assert "α = √(A/(M·(σ² + (M + 1)·B²/2)·K)) = √15/10 ≈ 0.387298" in instance
    assert result.derivation.by_hand


def test_where_nothing_can_move_there_is_one_row():
    # A = 2·5/3 + 5/2 = 35/6, and the bound is √(35/6 · 51/2 / 150) = √3570/60 < 1 = f(x_0).
    result = found("nothing moves")
    assert rows(result) == [["all: nothing moves", "1", "1 (×3)", "1", "1"]]
    assert said(result, "The left side") == ["left = E f(x̄_K) − f* = 1"]
    assert said(result, "The inequality")[0] == "left > right ⟺ 1 > √3570/60 ⟺ 60 > √3570 ⟺ 3600 > 3570"
    assert said(result, "The right side")[-1].endswith("= √3570/60 ≈ 0.995825")


def test_two_clients_have_a_row_each():
    # A pass of client 0 goes from 2 to 7/4, 3/2; of client 1 to 3/2, 5/4. Half of it reaches x_3.
    result = found("two clients")
    assert rows(result) == [
        ["all others: nothing moves", "187/200", "2 (×4)", "2", "13/12"],
        ["00S", "9/200", "2 (×3), 7/4", "31/16", "1523/1536"],
        ["11S", "1/50", "2 (×3), 13/8", "61/32", "5819/6144"],
    ]


def test_signs_of_the_noise_stand_behind_the_events_that_draw_them():
    # From 1 a step is down by (1 ± 1/2)/4, and the second pass is not seen.
    result = found("signs")
    assert {row[0]: row[1] for row in rows(result)}["0+0±S*"] == "1/16"
    assert {row[0]: row[2] for row in rows(result)}["0−0±S*"] == "1 (×3), 7/8 (×2)"


def test_signs_of_one_schedule_are_a_row_each():
    # Both slopes are 1 at 2 and beyond 3/2: every update is −(1 ± 1/2)/8, and f' = (1 + w − 1)/2 below 2.
    result = found("schedule")
    assert table(result).columns[0].text == "signs of the noise"
    assert [row[:3] for row in rows(result)] == [
        ["++", "1/4", "2, 29/16, 13/8"],
        ["+−", "1/4", "2, 29/16, 7/4"],
        ["−+", "1/4", "2, 31/16, 7/4"],
        ["−−", "1/4", "2, 31/16, 15/8"],
    ]
    assert rows(result)[0][3] == str((1 + Fraction(29, 32) ** 2 + Fraction(13, 16) ** 2) / 3)


def test_moments_of_stochastic_gradients_follow_from_the_row_before():
    # x ← x − η(x ± 1) from 0: E x_{k+1}² = (1 − η)² E x_k² + η², here with η = 1/500, which sums to the left side.
    result = found("sgd")
    q, c, v = Fraction(499, 500) ** 2, Fraction(1, 500) ** 2, [Fraction(0)]
    while len(v) < 29:
        v.append(q * v[-1] + c)
    exact = [[entry.exact for entry in row] for row in table(result).rows]
    assert exact == [[str(k), "0", str(one), str(one)] for k, one in enumerate(v)]
    assert result.ratio == pytest.approx(float(sum(v) / 29 / Fraction(303, 6250000)))
    assert round(result.ratio, 3) == 1.115


def test_moments_of_quadratics_over_drawn_clients():
    # E x − 3 shrinks by 1 − (1 + 3)/2/10 = 4/5; the table is that of the recursion by hand.
    result = found("quadratics")
    m, s = Fraction(1), Fraction(4)
    for row in rows(result):
        assert row[1:] == [str(m), str(s)]
        # E(x' − 3)² = ½[(0.9z − 0.3)² + (0.7z + 0.3)²] + 0.01 with z = x − 3.
        z = m - 3
        m = Fraction(4, 5) * z + 3
        s = Fraction(13, 20) * s - Fraction(6, 100) * z + Fraction(9, 100) + Fraction(1, 100)


def test_moments_of_an_average_follow_from_their_columns():
    # z_k = −2(4/5)^k, S_3 = −2(1 + 4/5 + 16/25) = −122/25, f(x̄) − f* = (122/75)².
    result = found("average")
    last = [Fraction(entry) for entry in rows(result)[-1][2:]]
    assert last[0] + 2 * last[1] + last[2] == Fraction(122, 25) ** 2
    assert said(result, "The left side") == ["left = E f(x̄_K) − f* = E f(x̄_3) − f* = 14884/5625 ≈ 2.64604"]
    assert said(result, "What happens")[-1].startswith("how a row follows from the one before is not written out")
    assert not result.derivation.by_hand


def test_a_schedule_has_a_row_an_update():
    # Two clients in turns, each working on the model before the other's: w_{t+2} = (1 − η)w_t + η·c_i.
    result = found("in turns")
    assert rows(result)[3] == ["3", "client 1 from w_{t−2}", "400039999/800000000", "≈ 2.49988·10⁻⁹"]
    assert len(rows(result)) == 21
    happened = said(result, "What happens")
    assert "client 1: y goes to 19999/20000·y + 1/20000 if 0 ≤ y ≤ 1" in happened
    values = [Fraction(row[3].exact) for row in table(result).rows]
    assert str(sum(values) / 21) in [piece.exact for _, _, piece in section(result, "The left side").items[0].links]
    assert said(result, "The inequality")[0] == "left > right since left ≥ 2.29088·10⁻⁸ > 1.87501·10⁻⁸ ≥ right"
    assert not result.derivation.by_hand


def test_a_slope_that_saturates_gives_whole_numbers():
    result = found("afl_dga.theorem1")
    assert [row[3] for row in rows(result)] == ["36"] * 36
    # The client is at 2 − 2·6/36; the server takes half of the sum of its two steps.
    assert rows(result)[1][1:3] == ["1/2 of client 0 from w_{t−1}; 1/2 of client 0 from 11/6", "11/6"]
    # The client goes on from its own model, not from the server's.
    assert rows(result)[3][1:3] == ["1/2 of client 0 from 4/3; 1/2 of client 0 from 7/6", "3/2"]
    assert said(result, "The inequality")[0] == "left > right ⟺ 36 > 29"
    assert "≈" in rows(result)[-1][2]
    assert result.derivation.by_hand  # what is added up has all its digits


def with_slopes(order, x0, eta, T, slow=2):
    """FedFa with a queue of one: client 0 slopes by −1 up to 98, client 1 by ``slow`` from its edge on."""
    case = {
        "algorithm": "fedfa",
        "problem": {"type": "huber", "c": [100, 0], "w": ["1/2", str(Fraction(slow, 2))], "delta": 2},
        "x0": [str(x0)],
        "parameters": {"K": 1, "Q": 1, "mode": "delta", "eta_l": str(eta)},
        "events": [[t, client] for t, client in enumerate(order, 1)],
        "iterations": T,
    }
    return exact_of("fedfa.theorem1", case, derive=True)


@pytest.mark.parametrize("head", [[], [1], [1, 0]])
@pytest.mark.parametrize("period", [[0, 0, 1], [0, 1, 0], [0, 0, 1, 0, 1, 0]])
def test_what_a_reader_makes_of_rows_that_repeat_is_the_left_side(head, period):
    T = 90
    result = with_slopes((head + period * T)[: T + 4], Fraction(11, 5), Fraction(1, 50), T)
    told = said(result, "What happens")
    first, turns = map(int, re.search(r"from row (\d+) on, row t \+ (\d+) equals row t", "\n".join(told)).groups())
    values = [Fraction(row[3]) for row in rows(result)[: first + turns]]
    assert rows(result)[first + turns][0] == "…"
    while len(values) < T:
        values.append(values[-turns])
    assert sum(values) / T == Fraction(result.left_text.split(" = ")[0])
    assert result.derivation.by_hand


@pytest.mark.parametrize("order", [[0, 1, 0] * 9 + [1, 0, 0] * 61, [0, 1, 1] * 70])
def test_rows_that_drift_or_end_otherwise_are_not_called_checkable(order):
    result = with_slopes(order, Fraction(3, 2), Fraction(1, 50), 90)
    assert not result.derivation.by_hand
    assert "So this sum cannot be checked by hand." in "".join(said(result, "What happens"))


ADDING = {  # algorithm → options, events; and whether its models follow from moves of single runs
    "gd": ({"alpha": "1/10"}, [[t, "s"] for t in range(1, 5)], True),
    "async_sgd": ({"alpha": "1/10"}, [[1, 0], [2, 1], [3, 0], [4, 0]], True),
    "fedbuff": ({"eta_l": "1/10", "count": 2}, [[t, t % 2] for t in range(1, 9)], True),
    "rennala": ({"alpha": "1/10", "count": 2}, [[t, t % 2] for t in range(1, 13)], True),
    "ringmaster": ({"alpha": "1/10", "threshold": 1}, [[1, 0], [2, 1], [3, 0], [4, 0], [5, 1], [6, 0]], True),
    "fedfa": ({"eta_l": "1/10", "mode": "delta"}, [[t, t % 2] for t in range(1, 7)], True),
    "fedasync": ({"eta_l": "1/10", "beta": "1/2"}, [[1, 0], [2, 1], [3, 0], [4, 0]], False),
    "asfedavg": ({"alpha": "1/10", "count": 2}, [[t, t % 2] for t in range(1, 9)], False),
    "heavy_ball": ({"alpha": "1/10", "beta": "1/2"}, [[t, "s"] for t in range(1, 5)], False),
}


@pytest.mark.parametrize("name", ADDING)
def test_what_enters_is_told_only_where_the_models_follow_from_it(name, tmp_path):
    options, events, adds = ADDING[name]
    clients = 1 if events[0][1] == "s" else 2
    problem = {"type": "quadratic", "A": [[[1]], [[2]]][:clients], "b": [[0], [3]][:clients]}
    case = {"algorithm": name, "problem": problem, "x0": [1], "parameters": options, "events": events}
    result = exact_of(own(tmp_path, name, "gap", next(iter(options)), "L*R**2"), case, derive=True)
    happened = said(result, "What happens")
    told = "= x_{t−1} − α·f'(x_{t−1})" if name == "gd" else "Σ weight·(y − y_0)"
    assert any(told in one for one in happened) == adds
    assert any("is the algorithm's, and not written out here" in one for one in happened) != adds
    assert result.derivation.by_hand <= adds
    # Who acts when is told where anybody but the server does.
    assert any(one.startswith("who acts when") for one in said(result, "The instance")) == (clients > 1)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["many", "many records"])
def test_of_more_than_64_outcomes_there_is_no_table(name):
    result = found(name)
    assert not [*result.derivation.tables()]
    assert said(result, "What happens")[1].startswith("more than 64 outcomes: ")
    assert not result.derivation.by_hand


def test_a_long_schedule_shows_its_first_and_last_rows():
    events = [[t, client] for t in range(1, 40) for client in (0, 1)]
    result = exact_of(IN_TURNS["theorem"], {**IN_TURNS, "events": events, "iterations": 67}, derive=True)
    assert [row[0] for row in rows(result)] == [*map(str, range(12)), "…", "65", "66"]
    happened = said(result, "What happens")
    assert any(one.startswith("67 rows: the first 12 and the last 2 are shown, and all of them") for one in happened)
    assert not result.derivation.by_hand


def test_a_sum_over_sequences_that_are_not_all_listed_is_not_checked_by_hand():
    assert found("two clients").derivation.by_hand
    result = exact_of(TWO_CLIENTS["theorem"], {**TWO_CLIENTS, "iterations": 7}, derive=True)
    every = [entry.text for row in table(result).rows for entry in row]
    assert any("(40 sequences in all)" in text for text in every)
    assert not any("≈" in text for text in every)
    assert not result.derivation.by_hand


def probability(pattern, p):
    """Return the probability of a pattern, by the law of single events."""
    out = Fraction(1)
    for word in re.findall(r"\{[^}]*\}|.", pattern):
        names = list(p) if word == "*" else word.strip("{}").split(",")
        out *= sum(p[name] for name in names)
    return out


@pytest.mark.nightly
@settings(max_examples=25, deadline=None)
@given(**tiny_cases(3, 5))
def test_rows_of_random_cases_sum_to_the_left_side_and_their_events_have_their_probabilities(
    kind, centres, x0, alpha, M, K, start, odds
):
    n = len(centres)
    p = {**{str(i): Fraction(1, odds + 1) / n for i in range(n)}, "S": 1 - Fraction(1, odds + 1)}
    name = "area.theorem8.repaired.fixed-step" if start == "analysis" else "area.theorem8.algorithm-start"
    case = {
        "algorithm": "area",
        "iterations": K,
        "x0": [str(x0)],
        "parameters": {"M": M, "alpha": str(alpha)},
        "problem": {"type": kind, "c": [[str(c)] for c in centres]},
        "delays": {"type": "iid", "p": [str(p[str(i)]) for i in range(n)]},
    }
    result = exact_of(name, case, derive=True)
    exact = [[entry.exact.replace("−", "-") for entry in row] for row in table(result).rows]
    left = sum(Fraction(row[1]) * Fraction(row[-1]) for row in exact)
    assert left == Fraction(result.left_text.split(" = ")[0])
    assert sum(Fraction(row[1]) for row in exact) == 1
    for row in exact:
        if "nothing moves" not in row[0]:
            assert sum(probability(pattern, p) for pattern in row[0].split(", ")) == Fraction(row[1])


def test_what_the_engine_did_not_find_is_not_printed():
    require_same(rational(Fraction(1, 3)), rational(Fraction(1, 3)))
    with pytest.raises(ArithmeticError, match="the engine found 1/2"):
        require_same(rational(Fraction(1, 3)), rational(Fraction(1, 2)))


@given(st.sets(st.text("01S", max_size=4), min_size=1))
def test_patterns_are_the_sequences_each_once(sequences):
    history, events = History(), {"0": (0,), "1": (1,), "S": (SERVER,)}
    ways = [
        functools.reduce(lambda past, one: history.after(past, [events[one]]), word, history.start())
        for word in sequences
    ]
    (found,) = history.outcomes(np.concatenate(ways), np.ones(len(ways), int), len(ways), [])
    alone = {"*": "".join({*"".join(sequences)})}
    sets = [[alone.get(one, one.strip("{,}")) for one in re.findall("{.*?}|.", text)] for text in found.patterns]
    again = ["".join(one) for pattern in sets for one in itertools.product(*pattern) if "," not in one]
    assert sorted(again) == sorted(sequences)
    assert found.sequences == len(sequences)


def test_of_many_events_the_first_ones_are_said():
    assert schedule([[0.123456789, 0], [0.5, 1, "step", 3], [0.5, "s"]]) == (
        "at 0.123457 client 0; at 0.5 client 1 step 3, the server"
    )
    long = schedule([[k, k % 3] for k in range(3000)])
    assert long.endswith("at 11 client 2; … 3000 events in all, as the case file has them")


def test_few_updates_in_a_box_list_all_signs_of_the_noise():
    # x ← x − 1/8·(x ± 1) from 0, seen before each of three updates: E x_1² = 1/64, E x_2² = (49/64 + 1)/64.
    case = {**SGD, "parameters": {"eta_l": "1/8"}, "settings": {"scale": 1}, "iterations": 3}
    case["problem"] = {**SGD["problem"], "delta": 1}
    result = exact_of(SGD["theorem"], case, derive=True)
    assert [row[0] for row in rows(result)] == ["+0+0", "+0−0", "−0+0", "−0−0"]
    assert sum(Fraction(row[1]) * Fraction(row[3]) for row in rows(result)) == (1 + Fraction(113, 64)) / 192
    assert result.derivation.by_hand
    assert said(result, "What happens")[0] == "found by enumeration of all event sequences, equal states merged"


def on_a_parabola(tmp_path, metric, bound, events, **more):
    """Gradient descent on x²/2 from 1 under a theorem of one's own."""
    case = {
        "algorithm": "gd",
        "problem": {"type": "quadratic", "A": [[[1]]], "b": [[0]], **more.pop("problem", {})},
        "x0": [1],
        "events": [[t, "s"] for t in range(1, events + 1)],
        **more,
    }
    return exact_of(own(tmp_path, "gd", metric, "alpha", bound), case, derive=True)


def test_to_and_fro_goes_nowhere(tmp_path):
    # α = 2/L: x_{k+1} = −x_k.
    result = on_a_parabola(tmp_path, "gradient-norm", "2*L**2*R**2", 6, parameters={"alpha": 2})
    assert result.left == 1.0
    assert [row[2] for row in rows(result)] == ["1", "−1"] * 3


def test_irrational_steps_have_moments_too(tmp_path):
    # One step of √2 with unit noise: E x_1² = (1 − √2)² + 2.
    result = on_a_parabola(
        tmp_path,
        "squared-distance",
        "9*R**2 + 9*alpha**2*sigma**2",
        1,
        parameters={"alpha": "sqrt(2)"},
        problem={"sigma": 1},
    )
    assert result.kind in ("exact", "enclosure")
    assert result.left == pytest.approx((1 - 2**0.5) ** 2 + 2, rel=1e-12)


def test_a_number_near_one_is_not_one(tmp_path):
    result = on_a_parabola(tmp_path, "gap", "R**2*L", 2, parameters={"alpha": "1/10000000000000"})
    happened = said(result, "What happens")
    assert "client 0: y goes to y" not in happened
    assert "client 0: y goes to 0.9999999999999·y" in happened


def test_huge_numbers_are_compared_in_few_letters(tmp_path):
    result = on_a_parabola(tmp_path, "gap", "R**2*L", 3, parameters={"alpha": "10**60"})
    assert result.violated
    assert max(map(len, said(result, "The inequality"))) < 100


@pytest.mark.sweep(16)
@pytest.mark.parametrize("name", [*CASES, *FILES])
def test_json_has_all_digits(name):
    fields = found(name).as_dict()["derivation"]
    tables = [
        item for part in fields["sections"] for item in part["items"] if isinstance(item, dict) and "rows" in item
    ]
    assert tables or name in ("many", "many records")
    assert "≈" not in json.dumps([one["rows"] for one in tables], ensure_ascii=False)
    titles = [part["title"] for part in fields["sections"]]
    assert titles[:5] == ["The instance", "What happens", "The left side", "The right side", "The inequality"]
    assert titles[5:] in ([], ["What it stands on"])


@pytest.mark.sweep(16)
@pytest.mark.parametrize("name", [*CASES, *FILES])
def test_a_derivation_ends_with_each_condition_and_what_was_read_off_the_run_in_numbers(name):
    result = found(name)
    theorem, last = load_theorem(result.derivation.theorem), result.derivation.sections[-1]
    shown = [item.text for item in last.items if last.title == "What it stands on"]
    conditions = [one for one in shown if not one.startswith("read off the run: ")]
    assert len(conditions) == len(theorem.conditions)
    for text in conditions:
        left, right = text.rpartition("since ")[2].split(" ≤ ")
        assert re.search(r"\d", left + right)
    scheduled = {"tau_max", "tau_a", "tau_sum", "K_m"} & set(theorem.inputs())
    assert not scheduled or shown[-1].startswith("read off the run: ")


def test_the_command_prints_it_as_text_latex_and_json(tmp_path, capsys):
    file = tmp_path / "case.json"
    file.write_text(json.dumps(ONE_PATH))
    assert invoke(["exact", "area.theorem8", str(file), "--derivation"]) == 1
    shown = capsys.readouterr().out
    assert "  left > right ⟺ 1 − √15/160 > √15/4\n" in re.sub(" +\n", "\n", shown)
    assert max(map(len, shown.split("\n"))) <= 120
    page = (ROOT / "docs" / "exact.md").read_text(encoding="utf-8")
    for block in shown.split("\n\n"):  # the page of the documentation shows it as it is
        assert "\n".join(line.rstrip() for line in block.strip("\n").split("\n")) in page
    assert invoke(["exact", "area.theorem8", str(file), "--latex"]) == 1
    assert (
        r"\text{left} > \text{right} &\iff 1 - \frac{\sqrt{15}}{160} > \frac{\sqrt{15}}{4}" in capsys.readouterr().out
    )
    assert invoke(["exact", "area.theorem8", str(file), "--derivation", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["derivation"]["by_hand"] is True
    assert invoke(["exact", "area.theorem8", str(file), "--json"]) == 1
    assert "derivation" not in json.loads(capsys.readouterr().out)


def test_floats_have_no_derivation(tmp_path, capsys):
    file = tmp_path / "case.json"
    file.write_text(
        json.dumps(
            {
                **ONE_PATH,
                "theorem": "area.theorem7.onepass",
                "parameters": {"M": 1, "start": "analysis"},
                "problem": {"type": "quadratic", "A": [[[1]], [[3]]], "b": [[0], [4]]},
                "delays": "iid:p=[0.3,0.3]",
            }
        )
    )
    assert invoke(["exact", "area.theorem7.onepass", str(file), "--derivation"]) == 2
    assert "there is no derivation of numbers in floating point" in capsys.readouterr().err
