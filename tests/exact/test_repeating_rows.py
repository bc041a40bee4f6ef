"""Derivations that are followed by hand without all rows: what a reader makes of the rows shown is the left side."""

import re
from fractions import Fraction

import numpy as np
import pytest
from exact_makers import exact_of

from boundlab.exact._rows import Table

PERIODS = ([0, 0, 1], [0, 1, 0], [1, 0, 0, 0], [0, 1], [0, 0, 1, 1])
SHIFT = re.compile(r"from row (\d+) on, row t \+ (\d+) has what row t has, with w_\{k\+\d+\} in place of w_k")


def case(order, x0, eta, T, slow=Fraction(2)):
    """Return FedFa with a queue of one: client 0 slopes by −1 up to 98, client 1 by ``slow`` from its edge on."""
    return {
        "algorithm": "fedfa",
        "theorem": "fedfa.theorem1",
        "problem": {"type": "huber", "c": [100, 0], "w": [str(Fraction(1, 2)), str(slow / 2)], "delta": 2},
        "x0": [str(x0)],
        "parameters": {"K": 1, "Q": 1, "mode": "delta", "eta_l": str(eta)},
        "events": [[t, client] for t, client in enumerate(order, 1)],
        "iterations": T,
    }


def slope(client, x, slow):
    u, w = (x - 100, Fraction(1, 2)) if client == 0 else (x, slow / 2)
    return w * max(min(u, Fraction(2)), Fraction(-2))


def happens(result):
    section = next(one for one in result.derivation.sections if one.title == "What happens")
    table = next(one for one in section.items if isinstance(one, Table))
    return table, [one.text for one in section.items if hasattr(one, "latex") and hasattr(one, "exact")]


def of_a_reader(result, eta, T, slow):
    """Return the left side that the rows shown and the sentence on those left out make, in pencil."""
    table, said = happens(result)
    entered = {}
    for t, enters, *_ in table.rows[1:]:
        if t.text == "…":
            break
        client, version = re.fullmatch(r"client (\d) from w_(\d+)", enters.text).groups()
        entered[int(t.text)] = int(client), int(version)
    told = next((SHIFT.fullmatch(one) for one in said if SHIFT.fullmatch(one)), None)
    first, turns = map(int, told.groups())
    w = [Fraction(table.rows[0][2].exact)]
    for t in range(1, T):
        turn = 0 if t < first + turns else (t - first) // turns
        client, version = entered[t - turn * turns]
        w.append(w[-1] - eta * slope(client, w[version + turn * turns], slow))
    return sum(((slope(0, x, slow) + slope(1, x, slow)) / 2) ** 2 for x in w) / T


def some(seed):
    rng = np.random.default_rng(seed)
    pick = lambda *some: some[int(rng.integers(len(some)))]  # noqa: E731
    eta, slow, T = Fraction(1, pick(10, 50)), Fraction(pick(1, 2, 3)), pick(70, 90)
    order = rng.integers(2, size=pick(0, 0, 2)).tolist() + pick(*PERIODS) * T
    if rng.random() < 0.3:
        place = int(rng.integers(60))
        order[place] = 1 - order[place]
    return case(order[: T + 4], 2 + pick(0, 1, 2, 4) * eta, eta, T, slow), eta, T, slow


@pytest.mark.nightly
def test_what_a_reader_makes_of_some_rows_is_the_left_side():
    told = 0
    for seed in range(33):
        instance, eta, T, slow = some(seed)
        result = exact_of("fedfa.theorem1", instance, derive=True)
        table, _ = happens(result)
        assert any(row[0].text == "…" for row in table.rows)
        if result.derivation.by_hand:
            told += 1
            assert of_a_reader(result, eta, T, slow) == Fraction(result.left_text.split(" = ")[0])
    assert told >= 6


@pytest.mark.sweep(3)
@pytest.mark.parametrize("place", [0, 30, 57, 198])
def test_one_arrival_out_of_turn_is_told_or_ends_the_derivation_by_hand(place):
    order, eta = [0, 1, 0] * 70, Fraction(1, 50)
    whole = exact_of("fedfa.theorem1", case(order, Fraction(106, 50), eta, 200), derive=True)
    assert whole.derivation.by_hand
    assert whole.left == 0.25
    order[place] = 1 - order[place]
    result = exact_of("fedfa.theorem1", case(order, Fraction(106, 50), eta, 200), derive=True)
    assert result.derivation.by_hand == (place == 0)


def test_rows_that_drift_are_not_called_checkable():
    # Both slopes bend: nothing adds up the squares of the models in few letters.
    instance = case([0, 1, 0] * 70, Fraction(3, 2), Fraction(1, 50), 90)
    assert not exact_of("fedfa.theorem1", instance, derive=True).derivation.by_hand


def test_where_a_slope_stays_the_same_it_is_told_how_far_steps_lead():
    # A slope of −1 and one of 2, and one that bends.
    flat = exact_of("fedfa.theorem1", case([0, 1, 0] * 30, Fraction(106, 50), Fraction(1, 50), 60), derive=True)
    bent = exact_of("fedfa.theorem1", case([0, 1, 0] * 30, Fraction(3, 2), Fraction(1, 50), 60), derive=True)
    one = "all local steps of client 0 lead from y to y + 1/50"
    assert [line for line in happens(flat)[1] if line.startswith("all local")] == [
        one,
        "all local steps of client 1 lead from y to y − 1/25",
    ]
    assert [line for line in happens(bent)[1] if line.startswith("all local")] == [one]


def test_where_rows_are_too_few_for_a_recursion_all_signs_of_the_noise_are_listed():
    # x ← x − 1/8·(x ± 1) from 0, seen before each of three updates: E x_1² = 1/64, E x_2² = (49/64 + 1)/64.
    instance = {
        "algorithm": "fedstaleweight",
        "theorem": "fedstaleweight.theorem1",
        "problem": {"type": "huber", "c": [0], "delta": 1, "sigma": 1, "noise": "sign"},
        "x0": [0],
        "parameters": {"eta_l": "1/8"},
        "settings": {"scale": 1},
        "delays": "exponential",
        "iterations": 3,
    }
    result = exact_of("fedstaleweight.theorem1", instance, derive=True)
    table, _ = happens(result)
    assert [row[0].text for row in table.rows] == ["+0+0", "+0−0", "−0+0", "−0−0"]
    assert sum(Fraction(row[1].exact) * Fraction(row[3].exact) for row in table.rows) == (1 + Fraction(113, 64)) / 192
    assert result.derivation.by_hand
    assert next(iter(result.derivation.sections[1].items)).text == (
        "found by enumeration of all event sequences, equal states merged"
    )
