"""The shipped counterexamples: each is found again by the search that is said to find it, and replays exactly."""

import json
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from benchmark_scripts import load

from boundlab.case import load_case
from boundlab.exact import ExactResult, evaluate
from boundlab.registry import registered
from boundlab.theorems import load_theorem

CASES = Path(__file__).parents[2] / "proofs" / "counterexamples"
FILES = sorted(path.stem for path in CASES.glob("*.json"))
search = load("counterexamples")
SEARCHES = {file: look for file, _, look in search.searches("")}
LONG = {  # more than five seconds each
    "afl_dga.theorem1",
    "area.theorem8",
    "area.theorem8.fixed-step",
    "area.theorem8.printed-start",
    "area.theorem8.printed-start.fixed-step",
    "fedcompass.corollary1.explicit",
    "fedcompass.theorem1",
    "fedfa.theorem1",
    "fedfa.theorem1.squared-smoothness",
    "fedfa.theorem1.window",
}


def raw(file: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / f"{file}.json").read_text(encoding="utf-8"))
    return found


def replayed(file: str) -> ExactResult:
    return evaluate(load_theorem(raw(file)["theorem"]), load_case(CASES / f"{file}.json"))


def test_every_printed_theorem_that_says_a_number_has_one() -> None:
    printed = {name for name, one in registered("theorems").items() if one.status == "as printed" and not one.shape}
    assert printed <= set(FILES) == set(SEARCHES)


@pytest.mark.parametrize("file", FILES)
def test_it_replays_in_exact_numbers(file: str) -> None:
    found, claim = replayed(file), raw(file)["claim"]
    assert found.violated
    assert found.kind == "exact"
    assert found.left == pytest.approx(claim["left"], rel=1e-9)
    assert found.right == pytest.approx(claim["bound"], rel=1e-9)


@pytest.mark.parametrize("file", sorted(search.WITNESSES))
def test_it_is_followed_by_hand_and_is_above_the_bound_by_a_twentieth_or_more(file: str) -> None:
    found = evaluate(load_theorem(file), load_case(CASES / f"{file}.json"), derive=True)
    assert found.derivation is not None
    assert found.derivation.by_hand
    assert found.ratio >= 1.05
    assert f"{file}.smallest" in FILES


@pytest.mark.parametrize(
    "file", [pytest.param(file, marks=pytest.mark.nightly if file in LONG else ()) for file in FILES]
)
def test_the_search_finds_it_again(file: str) -> None:
    assert search.instance(SEARCHES[file]().case) == search.instance(raw(file))


class TestByHand:
    """What a referee finds with pencil and paper."""

    def test_theorem8_is_below_the_start_before_anything_can_move(self) -> None:
        # y takes what x brought at the client's second event, and x_s takes y at the aggregation after it: with K = 3
        # no x_s,k is looked at that has moved, so that E f(x̄_3) = R = 1. The bound is √((1/p_s + 2/p)(M + 1)/(2MK)).
        case = raw("area.theorem8")
        p, M, K = Fraction("0.586"), case["parameters"]["M"], case["iterations"]
        square = (1 / (1 - p) + 2 / p) * (M + 1) / (2 * M * K)
        assert K == 3
        assert square < 1
        assert replayed("area.theorem8").left == 1.0
        assert replayed("area.theorem8").right == pytest.approx(sqrt(square), rel=1e-12)

    def test_one_path_moves_the_server(self) -> None:
        # α = √(6/(5/2·16)) = √15/10: steps lead from 1 to 1 − 3α < 0 and back to 1 − 2α. After client, client, server,
        # of probability 1/8, x̄_4 = (3 + 1 − 2α)/4; after all else x̄_4 = 1. The fourth event is not seen.
        found = replayed("area.theorem8.one-path")
        alpha = sqrt(15) / 10
        assert 1 - 3 * alpha < 0 < 1 - 2 * alpha
        assert found.left == pytest.approx(7 / 8 + (1 - alpha / 2) / 8, rel=1e-12)
        assert found.left == pytest.approx(1 - sqrt(15) / 160, rel=1e-12)
        assert found.right == pytest.approx(sqrt(15) / 4, rel=1e-12)

    def test_with_the_printed_start_a_long_step_leads_to_and_fro(self) -> None:
        # α > R = 1: two steps lead from 1 to 1 − α < 0 and back to 1. Nothing ever moves.
        case = raw("area.theorem8.printed-start.fixed-step")
        alpha, p, K = Fraction("1.01"), Fraction("0.6"), case["iterations"]
        assert (case["parameters"]["M"], case["parameters"]["alpha"]) == (2, 1.01)
        bound = (1 / (1 - p) + 2 / p) / (4 * alpha * K) + alpha * 3 / 4
        assert bound < 1 == replayed("area.theorem8.printed-start.fixed-step").left

    def test_a_server_rate_makes_two_updates_of_noise_enough(self) -> None:
        # x_1 = ±η_ℓ·η_g = ±1/10, where |x| ≤ 1 is quadratic: the mean of 0 and 1/100 against 12·η_ℓ²·(1 + 1).
        found = replayed("fedstaleweight.theorem1")
        assert (found.left_text, found.right_text) == ("1/200 = 0.005", "3/1250 = 0.0024")

    def test_noise_adds_up_at_the_minimiser(self) -> None:
        # One step from noise to noise: E x_t² = η²σ²·Σ_{s<t} (1 − η)^{2s}, where no run leaves |x| ≤ 6.
        case = raw("fedstaleweight.theorem1.smallest")
        eta, sigma, T = Fraction("0.001"), case["problem"]["sigma"], case["iterations"]
        assert T * eta * sigma <= case["problem"]["delta"]
        left = sum(eta**2 * sigma**2 * (1 - (1 - eta) ** (2 * t)) / (1 - (1 - eta) ** 2) for t in range(T)) / T
        assert replayed("fedstaleweight.theorem1.smallest").left == pytest.approx(float(left), rel=1e-12)
        bound = 12 * eta**2 * (sigma**2 + case["problem"]["delta"] ** 2)
        assert replayed("fedstaleweight.theorem1.smallest").right == pytest.approx(float(bound), rel=1e-9)
        assert left > bound
