"""What the mean of a statement is over: the algorithm's own draws, arrivals, noise."""

import tomllib
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from core_files import as_toml
from statements import statement_file

import boundlab as bl
from boundlab.errors import AssumptionError, SpecError
from boundlab.theorems import core, load_theorem, over

# Clients x²/2 and 3(x − 4)²/2 from x0 = 2: the minimiser is 3, and their steps do not commute.
CLIENTS = "quadratic:A=[[[1]],[[3]]],b=[[0],[4]],x0=[2]"
DRAWING = {"incremental": {"order": "shuffled"}, "sfedavg": {"sampled": 1}, "gd": {"sampling": "uniform"}}


def write(
    folder: Path, algorithm: str, bound: str, options: dict[str, str] | None = None, step: str = "1/10", **more: Any
) -> Path:
    rate = {"afl_dga": "eta", "fedbuff": "eta_l", "fedcompass": "eta"}.get(algorithm, "alpha")
    return statement_file(
        folder,
        **{
            "id": f"mine.{algorithm}",
            "algorithm": algorithm,
            "metric": "squared-distance",
            "step": {rate: step},
            "assumptions": "convex smooth minimiser",
            "options": options or {},
            "terms": {"bound": bound},
            **more,
        },
    )


def pass_of(x: Fraction, order: tuple[int, ...]) -> Fraction:
    for client in order:
        x -= Fraction(1, 10) * (x if client == 0 else 3 * (x - 4))
    return x


def expected(algorithm: str, outcomes: int) -> Fraction:
    """Return E (x − 3)² after so many iterations, by hand."""
    orders = [(0, 1), (1, 0)] if algorithm == "incremental" else [(0,), (1,)]
    ends = []
    for sequence in product(orders, repeat=outcomes):
        x = Fraction(2)
        for order in sequence:
            x = pass_of(x, order)
        ends.append((x - 3) ** 2)
    return sum(ends, start=Fraction(0)) / len(ends)


def test_what_is_drawn_by_an_option_that_nobody_has_set_is_averaged_over(tmp_path: Path) -> None:
    # p_c has no default, so that whoever runs the algorithm chooses it; who is asked is drawn whatever the options are.
    draws = {}
    for number, options in enumerate(({}, {"p_c": "any"}, {"p_c": "1/2"}, {"p_c": "1"})):
        (folder := tmp_path / str(number)).mkdir()
        found = over(load_theorem(str(write(folder, "lsvrg", "1", options))))
        draws[options.get("p_c")] = found["asked"], found["coins"]
    assert draws == {
        None: ("averaged",) * 2,
        "any": ("averaged",) * 2,
        "1/2": ("averaged",) * 2,
        "1": ("averaged", "absent"),
    }


def test_what_decides_a_draw_is_no_step(tmp_path: Path) -> None:
    # Steps are 1 where nobody knows them yet: coins that always show heads would make each schedule a case of its own.
    path = statement_file(tmp_path, algorithm="scaffnew", step={"alpha": "1/10", "p_c": "p_c"}, terms={"bound": "R**2"})
    with pytest.raises(SpecError, match=r"p_c decides in which iterations the clients communicate, and is no step; "):
        load_theorem(str(path))


def test_two_orders_of_a_pass_have_the_mean_of_the_issue() -> None:
    ends = [(pass_of(Fraction(2), order) - 3) ** 2 for order in ((0, 1), (1, 0))]
    assert ends == [Fraction(729, 2500), Fraction(1089, 2500)]
    assert float(expected("incremental", 1)) == pytest.approx(0.3636)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("algorithm", DRAWING)
@pytest.mark.parametrize("iterations", [1, 3])
def test_an_expectation_is_over_what_the_algorithm_draws(tmp_path: Path, algorithm: str, iterations: int) -> None:
    options = DRAWING[algorithm]
    mean = expected(algorithm, iterations)
    for factor, verdict in ((1.05, "holds"), (0.95, "violated")):
        theorem = load_theorem(str(write(tmp_path, algorithm, repr(factor * float(mean)), options)))
        case = {
            "algorithm": algorithm,
            "problem": {"type": "quadratic", "A": [[[1]], [[3]]], "b": [[0], [4]]},
            "x0": [2],
            "delays": "deterministic",
            "iterations": iterations,
            "parameters": options,
        }
        exact = bl.exact(theorem, case)
        assert (Fraction(exact.left_text.split()[0]), exact.verdict) == (mean, verdict)
        if iterations == 1:
            assert bl.compare(theorem, CLIENTS, "deterministic", iterations=1).verdict == verdict


def between(algorithm: str) -> str:
    """Return a bound above the mean after one iteration and below the larger outcome."""
    orders = [(0, 1), (1, 0)] if algorithm == "incremental" else [(0,), (1,)]
    largest = max((pass_of(Fraction(2), order) - 3) ** 2 for order in orders)
    return repr(float((expected(algorithm, 1) + largest) / 2))


@pytest.mark.nightly
@pytest.mark.parametrize("algorithm", DRAWING)
def test_a_statement_about_each_outcome_is_judged_outcome_by_outcome(tmp_path: Path, algorithm: str) -> None:
    for about, verdict in (("each schedule", "violated"), ("the mean", "holds"), (None, "holds")):
        more = {"about": about} if about else {}
        theorem = load_theorem(str(write(tmp_path, algorithm, between(algorithm), DRAWING[algorithm], **more)))
        assert bl.compare(theorem, CLIENTS, "deterministic", iterations=1, trials=30).verdict == verdict


def test_one_outcome_is_no_case_of_a_mean_over_draws(tmp_path: Path) -> None:
    theorem = load_theorem(str(write(tmp_path, "incremental", "0.42", DRAWING["incremental"])))
    case = {
        "algorithm": "incremental",
        "problem": {"type": "quadratic", "A": [[[1]], [[3]]], "b": [[0], [4]]},
        "x0": [2],
        "parameters": {"order": "shuffled"},
        "events": [[2, [1, 0]]],
    }
    with pytest.raises(AssumptionError, match="the mean over the order of the clients in each pass; this case has one"):
        bl.exact(theorem, case)


DRAWN_AND_READ = {
    "afl_dga": ({"participation": "any"}, "S"),
    "async_sgd": ({"sampling": "uniform"}, "tau_max"),
    "incremental": ({"order": "any"}, "tau_max"),
    "sfedavg": ({"sampled": "any"}, "chi2_path"),
    "gd": ({"*": "any"}, "concurrency"),
}


@pytest.mark.parametrize("algorithm", DRAWN_AND_READ)
def test_a_file_with_two_readings_is_refused_with_both(tmp_path: Path, algorithm: str) -> None:
    options, symbol = DRAWN_AND_READ[algorithm]
    bound = f"R**2*(1+{symbol})"
    with pytest.raises(SpecError, match=r"'each schedule' if .* 'the mean' if") as refused:
        load_theorem(str(write(tmp_path, algorithm, bound, options)))
    assert symbol in str(refused.value)
    for about, how in (("each schedule", "given"), ("the mean", "averaged")):
        found = over(load_theorem(str(write(tmp_path, algorithm, bound, options, about=about))))
        assert {one.how for one in found.draws} <= {how, "absent"}
        assert any(one.how == how for one in found.draws)


@pytest.mark.parametrize(
    ("bound", "more", "how"),
    [
        ("R**2", {}, "averaged"),
        ("R**2*(1+tau_max)", {}, "given"),
        ("R**2", {"about": "each schedule"}, "given"),
        ("R**2*(1+tau_max)", {"about": "the mean"}, "averaged"),
    ],
)
def test_arrivals_are_averaged_unless_the_statement_reads_their_schedule_or_says_otherwise(
    tmp_path: Path, bound: str, more: dict[str, str], how: str
) -> None:
    theorem = load_theorem(str(write(tmp_path, "async_sgd", bound, {"sampling": "arrival"}, **more)))
    assert over(theorem)["events"] == how


@pytest.mark.parametrize(
    ("algorithm", "assumption"),
    [("area", "iid-events"), ("fedbuff", "stationary-participation"), ("gd", "uniform-sampling")],
)
def test_what_assumes_a_law_of_events_is_not_about_each_schedule(
    tmp_path: Path, algorithm: str, assumption: str
) -> None:
    path = write(tmp_path, algorithm, "R**2", about="each schedule", assumptions=f"convex smooth {assumption}")
    with pytest.raises(SpecError, match=f"contradicts {assumption}"):
        load_theorem(str(path))


def test_means_over_events_are_all_that_area_has(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="not possible for area"):
        load_theorem(str(write(tmp_path, "area", "R**2", about="each schedule")))


def test_only_two_words_say_what_a_statement_is_about(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="about must be one of each schedule, the mean, got 'any'"):
        load_theorem(str(write(tmp_path, "gd", "R**2", about="any")))


# True of one client's gradient a step, drawn uniformly: what classics.sgd.heterogeneous says of gd.
ONE_AT_RANDOM = {"gd": {"sampling": "uniform"}, "sfedavg": {"sampled": "1"}}


@pytest.mark.nightly
@pytest.mark.parametrize("algorithm", ONE_AT_RANDOM)
def test_a_search_averages_over_what_the_algorithm_draws(tmp_path: Path, algorithm: str) -> None:
    known = tomllib.loads(as_toml(core(load_theorem("classics.sgd.heterogeneous")), "mine.one"))
    assumed = [one for one in known["assumptions"] if one != "uniform-sampling"]
    own = {"algorithm": algorithm, "assumptions": assumed, "options": ONE_AT_RANDOM[algorithm]}
    found = bl.falsify(statement_file(tmp_path, **{**known, **own}), 20.0, candidates=30)
    assert found.verdict != "violated"
    assert found.tried


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        *((name, {"*": "any"}) for name in ("afl_dga", "async_sgd", "fedbuff", "fedcompass", "sfedavg", "gd")),
        ("async_sgd", {"sampling": "uniform"}),
        ("incremental", {"order": "any"}),
    ],
)
def test_a_search_of_an_algorithm_with_coins_of_its_own_ends_in_words(
    tmp_path: Path, algorithm: str, options: dict[str, str]
) -> None:
    path = write(tmp_path, algorithm, "10**9*(R+zeta)**2+10**9*R**2", options, step="1/(100*L)")
    found = bl.falsify(path, 20.0, candidates=40)
    assert found.verdict != "violated"
