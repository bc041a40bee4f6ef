"""No two engines contradict each other, whatever the statement and the instance are: see ``differential``."""

from collections import Counter
from pathlib import Path

import pytest
from differential import BATTERY, Answers, ask, asked
from hypothesis import HealthCheck, Phase, given, note, seed, settings, strategies as st
from statements import statement_file

import boundlab as bl
from boundlab.verdict import Verdict

DRAWN = next(path for path in BATTERY if path.stem == "drawn-strong-quarter")
STATEMENTS = 10  # about 2 seconds of one core; EACH_NIGHT at night
EACH_NIGHT = 5000


def agree(found: Answers) -> None:
    """Assert that no engine contradicts another one, or what is known to be true."""
    note(repr(found.asked))
    note(repr({name: getattr(one, "reason", one) for name, one in found.given.items()}))
    assert list(found.contradictions()) == []


def run(number: int, number_of_all: int, folder: Path, start: int) -> Counter[str]:
    """Ask about so many statements, and all engines about some of them; return how many engines gave what verdict."""
    counts: Counter[str] = Counter()

    @seed(start)
    @settings(
        max_examples=number,
        derandomize=False,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(one=asked(), heavy=st.integers(1, number // max(number_of_all, 1)) if number_of_all else st.just(0))
    def each(one, heavy):  # type: ignore[no-untyped-def]
        found = ask(one, folder, all_engines=heavy == 1)
        counts.update(f"{name} {verdict.value}" for name, verdict in found.verdicts.items())
        counts.update({"asked": 1, "decided": bool(found.verdicts), "all engines": "falsify" in found.given})
        agree(found)

    each()
    return counts


@pytest.mark.slow  # every engine on every statement
def test_no_two_engines_contradict_each_other(tmp_path: Path) -> None:
    counts = run(STATEMENTS, 0, tmp_path, 3)
    assert counts["decided"] > counts["asked"] / 3, counts
    assert min(counts["compare holds"], counts["compare violated"], counts["exact holds"]) > 0, counts


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(100, 110))
def test_no_two_engines_contradict_each_other_of_statements_of_a_night(start: int, tmp_path: Path) -> None:
    counts = run(EACH_NIGHT // 10, EACH_NIGHT // 100, tmp_path, start)
    assert counts["asked"] >= EACH_NIGHT // 10
    assert counts["decided"] > counts["asked"] / 3, counts


# ------------------------------------------------------------------------------------ contradictions once found


TINY = {
    "id": "tiny",
    "algorithm": "gd",
    "metric": "squared-distance",
    "step": {"alpha": "mu/L**2"},
    "assumptions": ["strongly-convex", "smooth", "minimiser"],
    "terms": {"bound": "e * (1 - mu**2/L**2)**K*R**2"},
}


@pytest.mark.parametrize("name", ["e", "m", "extra", "slack_", "slack", "level", "epsilon", "root"])
def test_no_check_takes_a_symbol_for_one_of_its_own(name: str, tmp_path: Path) -> None:
    own = {name: {"meaning": "its own", "domain": "above-one", "units": [0, 0]}}
    terms = {"bound": TINY["terms"]["bound"].replace("e * ", f"{name} * ")}
    assert bl.check(statement_file(tmp_path, **{**TINY, "terms": terms}, symbols=own)).failed == ()


def test_a_bound_of_0_is_0_whatever_its_digits(tmp_path: Path) -> None:
    # (1 - 1/sqrt(kappa))**K at kappa = 1: a ball around 0 to a whole power.
    own = {"definitions": {"kappa": "L/mu"}, "terms": {"bound": "(1 - 1/sqrt(kappa))**K*R**2"}}
    path = statement_file(tmp_path, **{**TINY, **own})
    found = bl.compare(path, "quadratic:A=[[[0.1]]],b=[[0.5]],x0=0", "deterministic", iterations=3, trials=2)
    assert (found.verdict, found.bound.tolist()) == (Verdict.HOLDS, [0.0] * 3)


def test_the_case_of_a_mean_over_draws_alone_is_one_that_exact_takes() -> None:
    # Nobody but the algorithm draws: there is no law of server events to name.
    found = bl.compare(
        DRAWN,
        "quadratic:A=[[[3]],[[1]]],b=[[0],[-2]],x0=1",
        "exponential:spread=5",
        iterations=2,
        trials=2,
    )
    assert found.exact == "expectation"
    exact = bl.exact(found.theorem, dict(found.case))
    assert exact.left == pytest.approx(found.band.mean[found.plan.ks.tolist().index(exact.k)])
