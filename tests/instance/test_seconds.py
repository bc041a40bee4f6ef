"""Statements in seconds: which update is the last within a time, and what is said of the left side until then."""

import math
from pathlib import Path

import numpy as np
import pytest
from core_files import as_toml
from hypothesis import given, settings, strategies as st

import boundlab as bl
from boundlab.algorithms import Algorithm
from boundlab.case import delays_from, problem_from
from boundlab.checks import check
from boundlab.errors import AssumptionError, BoundlabError, SpecError
from boundlab.instance import Plan, make_plan
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial
from boundlab.tape import RecordAt
from boundlab.theorems import Theorem, load_theorem
from boundlab.verdict import Verdict

LITERATURE = Path(__file__).parents[2] / "benchmarks" / "literature" / "theorems"
HEAD = """id = "mine"
algorithm = "{algorithm}"
assumptions = ["convex", "smooth", "minimiser", "fixed-compute-times"{more}]
[left]
quantity = "gap"
index = "seconds"
{left}
[step]
alpha = "alpha"
{options}
"""
EPS = '[symbols.eps]\nmeaning = "accuracy"\ndomain = "positive"\nunits = [1, 0]\nside = "any"\n'
PARABOLAS = "quadratic:A=[[[1]],[[1]]],b=[[0],[0]],x0=2"


def reached(
    tmp_path: Path, time: str, *, algorithm: str = "gd", left: str = "", more: str = "", options: str = ""
) -> Theorem:
    """Return the statement that a gap of eps is reached within a time."""
    head = HEAD.format(algorithm=algorithm, more=more, left=f'reach = "eps"\n{left}', options=options)
    return written(tmp_path, f'{head}[terms]\ntime = "{time}"\n{EPS}')


def until(tmp_path: Path, bound: str, *, algorithm: str = "gd", options: str = "") -> Theorem:
    """Return the statement about the gap at the last update within ``seconds``."""
    head = HEAD.format(algorithm=algorithm, more="", left="", options=options)
    return written(tmp_path, f'{head}[terms]\nbound = "{bound}"\n')


def written(tmp_path: Path, text: str) -> Theorem:
    """Return the theorem of a file."""
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    return load_theorem(str(path))


def planned(theorem: Theorem, problem: str = PARABOLAS, delays: str = "deterministic", **chosen: object) -> Plan:
    """Return the plan of a comparison."""
    built = problem_from(problem)
    model = delays_from(delays, built.n)
    policy = lookup("algorithms", theorem.algorithm).policy(None, model)
    most = int(str(chosen.pop("most", 50_000)))
    words = {name: str(value) for name, value in chosen.items()}
    return make_plan(theorem, built, model, policy, 1, words, most=most)


# Clients that need 1 and 3 seconds: rounds end after 3, 6, 9, … Both f_i = x²/2, so that α = 1/2 halves x, and from
# x0 = 2 the gaps of f = x²/2 are 2, 1/2, 1/8, 1/32: the gap is 1/8 after 6 seconds.
@pytest.mark.parametrize(
    ("time", "last", "verdict"),
    [
        ("2*max_i(compute[i])", 2, Verdict.HOLDS),  # the update ends at that very second, and counts
        ("(2 - 1/1000)*max_i(compute[i])", 1, Verdict.VIOLATED),
        ("6*compute_sorted[1]", 2, Verdict.HOLDS),
        ("7*compute_sorted[1]", 2, Verdict.HOLDS),
        ("8*min_i(compute[i])*alpha/alpha", 2, Verdict.HOLDS),
        ("MinOver((m + 1)/Sum(1/compute_sorted[i], i, 1, m), m, 1, n)", 0, Verdict.VIOLATED),  # min(2, 9/4)
    ],
)
def test_a_gap_is_reached_by_the_last_update_within_the_time(
    tmp_path: Path, time: str, last: int, verdict: Verdict
) -> None:
    theorem = reached(tmp_path, time)
    found = bl.compare(theorem, PARABOLAS, "deterministic:rates=[1,0.3333333333333333]", eps="1/8", alpha=0.5, trials=2)
    assert (found.plan.iterations, found.verdict) == (last, verdict)


def test_one_that_was_small_enough_before_is_enough(tmp_path: Path) -> None:
    # α = 2 takes x² /2 from 2 to −2 and back; α = 3 makes it ever larger: the start is the best.
    theorem = reached(tmp_path, "5*max_i(compute[i])")
    found = bl.compare(theorem, PARABOLAS, "deterministic", eps=2, alpha=3, trials=2)
    assert (found.plan.iterations, found.verdict, found.band.mean[0]) == (5, Verdict.HOLDS, 2.0)


# Clients that need 1 and 2 seconds; f_i = x²/2 from x0 = 1 with α = 1/2. Arrivals: client 0 at 1 and at 2, client 1
# at 2. Client 0 takes x from 1 to 1/2 to 1/4; client 1 has the gradient 1 of x0, two updates old, and takes it to −1/4.
@pytest.mark.parametrize(("threshold", "last", "gap"), [(3, 3, 1 / 32), (2, 2, 1 / 32), (1, 2, 1 / 32)])
def test_two_asynchronous_clients_by_hand(tmp_path: Path, threshold: int, last: int, gap: float) -> None:
    options = f'[options]\nthreshold = "{threshold}"\n'
    theorem = until(tmp_path, "L*R**2*seconds/seconds", algorithm="ringmaster", options=options)
    problem = "quadratic:A=[[[1]],[[1]]],b=[[0],[0]],x0=1"
    found = bl.compare(theorem, problem, "deterministic:rates=[1,0.5]", seconds=2, alpha=0.5, trials=2)
    assert (found.plan.iterations, found.band.mean[0]) == (last, gap)


@pytest.mark.parametrize(("eps", "verdict"), [(2, Verdict.HOLDS), (1.5, Verdict.VIOLATED)])
def test_before_the_first_update_the_start_alone_counts(tmp_path: Path, eps: float, verdict: Verdict) -> None:
    found = bl.compare(
        reached(tmp_path, "max_i(compute[i])/2"), PARABOLAS, "deterministic", eps=eps, alpha=0.5, trials=2
    )
    assert (found.plan.iterations, found.verdict) == (0, verdict)


def test_a_mean_over_no_model_claims_nothing(tmp_path: Path) -> None:
    with pytest.raises(AssumptionError, match="0 updates end within its time, and the left side begins at T = 1"):
        planned(reached(tmp_path, "max_i(compute[i])/2", left='over = "mean"'), eps=1, alpha=0.5)
    assert planned(reached(tmp_path, "max_i(compute[i])/2", left='over = "mean"\nto = "T"'), eps=1, alpha=1).ks == [0]
    with pytest.raises(AssumptionError, match="negative"):
        planned(reached(tmp_path, "-max_i(compute[i])"), eps=1, alpha=0.5)


@pytest.mark.parametrize(
    ("delays", "reason"),
    [
        ("exponential", "do not always take the same time; deterministic delays would fit"),
        ("uniform:width=0", "do not always take the same time"),
    ],
)
def test_random_clocks_are_refused(tmp_path: Path, delays: str, reason: str) -> None:
    theorem = reached(tmp_path, "max_i(compute[i])")
    with pytest.raises(AssumptionError, match=reason):
        planned(theorem, delays=delays, eps=1, alpha=0.5)
    with pytest.raises(AssumptionError, match=reason):  # without it compute has no value
        bl.compare(theorem, PARABOLAS, delays, eps=1, alpha=0.5, beyond=["fixed-compute-times"])


def test_who_is_drawn_moves_updates(tmp_path: Path) -> None:
    options = '[options]\nsampling = "uniform"'
    theorem = reached(tmp_path, "max_i(compute[i])", options=options, more=', "uniform-sampling"')
    with pytest.raises(AssumptionError, match="gd draws which client each iteration asks"):
        planned(theorem, eps=1, alpha=0.5)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("rates", ["[3,7]", "[0.1,0.3]", "[1,1e-3]", "[49,0.7]"])
def test_rounding_takes_no_update_from_a_theorem_and_gives_it_none(tmp_path: Path, rates: str) -> None:
    # Exactly k rounds of the slowest client: k updates, whatever floats make of 1/7 + 1/7 + …
    for k in (1, 3, 10, 100, 333):
        plan = planned(
            reached(tmp_path, f"{k}*max_i(compute[i])"), delays=f"deterministic:rates={rates}", eps=1, alpha=1
        )
        assert plan.iterations == k


def test_too_many_updates_are_refused(tmp_path: Path) -> None:
    theorem = reached(tmp_path, "max_i(compute[i])*L*R**2/eps")
    assert planned(theorem, eps=0.0625, alpha=0.5, most=64).iterations == 64
    with pytest.raises(SpecError, match="within its time there are more than 63 updates"):
        planned(theorem, eps=0.0625, alpha=0.5, most=63)
    with pytest.raises(SpecError, match="which floats round too much"):
        planned(theorem, eps=1, alpha=0.5, delays="deterministic:rates=[7e12,1e-3]")


@given(st.integers(0, 400), st.sampled_from([0.25, 0.5, 1.0]))
@settings(max_examples=8, deadline=None)
def test_with_delays_of_one_second_seconds_are_updates(quarters: int, alpha: float) -> None:
    theorem, seconds = load_theorem(str(LITERATURE / "drori-2014.3.1.until.toml")), quarters / 4
    problem = "huber:c=[0,0],w=[1,1],delta=0.5,x0=2"
    k = math.floor(seconds)
    one = planned(theorem, problem, seconds=seconds)
    assert one.iterations == k
    assert one.bound == pytest.approx(4 / (4 * k + 2))
    if k:
        theirs = bl.compare("classics.gd.convex", problem, "deterministic", iterations=[k], trials=2)
        ours = bl.compare(theorem, problem, "deterministic", seconds=seconds, trials=2)
        assert (theirs.verdict, theirs.comparisons[0].band.mean[0]) == (ours.verdict, ours.band.mean[0])


# ------------------------------------------------------------------------------------------ the lemmas of the papers
def update_times(name: str, rates: list[float], updates: int, **options: object) -> np.ndarray:
    """Return when the updates of a run end, the start first."""
    algorithm: Algorithm[object] = lookup("algorithms", name)
    delays = delays_from(f"deterministic:rates={rates}", len(rates))
    parameters = algorithm.read(Options(name, {"alpha": 0.1, **options}))
    tape = compile_trial(
        algorithm, parameters, len(rates), delays, algorithm.policy(None, delays), updates,
        RecordAt(np.arange(updates + 1)), Streams(0, 0),
    )  # fmt: skip
    return tape.record.time


def fastest(rates: list[float], numerator: int, each: int) -> float:
    """Return the smallest (numerator + each·m)/Σ_{i≤m} rate_i over the m fastest clients."""
    sums = np.cumsum(sorted(rates, reverse=True))
    return float(min((numerator + each * m) / total for m, total in enumerate(sums, 1)))


RATES = st.lists(st.floats(0.05, 20.0), min_size=1, max_size=5)


@given(RATES, st.integers(1, 6), st.sampled_from(["yes", "no"]))
@settings(max_examples=60, deadline=None)
def test_so_many_updates_of_ringmaster_as_its_threshold_take_the_time_of_the_lemma(
    rates: list[float], threshold: int, stops: str
) -> None:
    times = update_times("ringmaster", rates, 60, threshold=threshold, stops=stops)
    longest = float((times[threshold:] - times[:-threshold]).max())
    assert longest <= fastest(rates, threshold, 2) * (1 + 1e-12)
    assert fastest(rates, threshold, 2) <= 2 * fastest(rates, threshold, 1)  # the paper's t(R)


@given(RATES, st.integers(1, 6), st.sampled_from([("yes", "post", 1), ("no", "post", 2), ("no", "pre", 2)]))
@settings(max_examples=60, deadline=None)
def test_a_batch_of_rennala_takes_the_time_of_the_lemma(
    rates: list[float], count: int, option: tuple[str, str, int]
) -> None:
    stops, reply, each = option
    times = update_times("rennala", rates, 40, count=count, stops=stops, reply=reply)
    assert float(np.diff(times).max()) <= fastest(rates, count, each) * (1 + 1e-12)


def test_clients_who_are_answered_before_the_update_need_more_than_those_who_are_stopped() -> None:
    # Who fills a batch goes on from the old model: of three clients of 1/12 s each one is always at work in vain.
    times = update_times("rennala", [1, 12, 12, 12], 40, count=1, stops="no", reply="pre")
    assert float(np.diff(times).max()) > 1.4 * fastest([1, 12, 12, 12], 1, 1)


# ------------------------------------------------------------------------------------------------------------- noise
RENNALA = {"count": 2, "eps": 0.5}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("problem", "verdict"),
    [
        ("quadratic:A=[[[1]],[[1]]],b=[[0],[0]],sigma=0.5,x0=2", Verdict.HOLDS),  # the expectation is computed
        ("huber:c=[0,0],sigma=0.5,x0=2", Verdict.CONSISTENT),  # and here sampled
    ],
)
def test_with_noise_some_expectation_is_small_in_time(problem: str, verdict: Verdict) -> None:
    theorem = load_theorem(str(LITERATURE / "tyurin-2023.rennala.seconds.toml"))
    found = bl.compare(theorem, problem, "deterministic:rates=[3,1]", settings=RENNALA)
    assert found.verdict is verdict
    assert (found.exact, len(found.plan.ks)) == ("given schedules" if verdict is Verdict.HOLDS else "", 1)


@pytest.mark.nightly
def test_a_false_time_of_a_noisy_run_is_refuted_by_samples(tmp_path: Path) -> None:
    # From x0 = 5 the slope of Huber's function is 1 until x is below 1: a few updates of length 1 are too few.
    text = (LITERATURE / "tyurin-2023.rennala.seconds.toml").read_text("utf-8")
    theorem = written(tmp_path, text.replace("ceil(24*L*F0/eps)", "ceil(L*F0/(16*eps))"))
    found = bl.compare(
        theorem, "huber:c=[0,0],delta=1,sigma=0.5,x0=5", "deterministic:rates=[3,1]", settings=RENNALA, level=0.999
    )
    assert found.verdict is Verdict.VIOLATED
    assert "of the smallest expectation" in found.band.method


# ------------------------------------------------------------------------------------------------------- statements
def test_seconds_are_a_third_degree_of_units(tmp_path: Path) -> None:
    def failed(theorem: Theorem) -> list[str]:
        return [one.id for one in check(theorem) if one.verdict == "failed"]

    assert failed(reached(tmp_path, "2*max_i(compute[i])")) == []
    assert failed(reached(tmp_path, "ceil(L*R**2/eps)")) == ["units.terms"]
    assert failed(reached(tmp_path, "max_i(compute[i])/min_i(compute[i])")) == ["units.terms"]
    assert failed(reached(tmp_path, "max_i(compute[i])*eps")) == ["units.terms"]
    assert failed(until(tmp_path, "L*R**2/seconds*max_i(compute[i])")) == []
    assert failed(until(tmp_path, "L*R**2/seconds")) == ["units.terms"]
    own = EPS + '[symbols.tau]\nmeaning = "a time"\ndomain = "positive"\nunits = [0, 0, 1]\nside = "any"\n'
    head = HEAD.format(algorithm="gd", more="", left='reach = "eps"', options="")
    assert failed(written(tmp_path, f'{head}[terms]\ntime = "3*tau"\n{own}')) == []
    with pytest.raises(SpecError, match=r"two integers \[a, b\].*, or \[a, b, c\] with seconds to the power c"):
        written(tmp_path, f'{head}[terms]\ntime = "3*tau"\n{own}'.replace("[0, 0, 1]", "[0, 0, 1, 0]"))


@pytest.mark.parametrize(
    "left", ["", 'over = "mean"', 'over = "mean"\nto = "T"', 'over = "best"', 'over = "best-expected"']
)
def test_a_core_in_seconds_is_written_and_read_again(tmp_path: Path, left: str) -> None:
    for theorem in (reached(tmp_path, "2*max_i(compute[i]) + compute_sorted[1]", left=left), until(tmp_path, "L*R**2")):
        again = written(tmp_path, as_toml(theorem.core, "mine"))
        assert again.core.sha256 == theorem.core.sha256
        assert again.core.fields["in_seconds"]
        assert theorem.core.fields["in_seconds"]
    other = reached(tmp_path, "3*max_i(compute[i]) + compute_sorted[1]", left=left)
    assert other.core.sha256 != reached(tmp_path, "2*max_i(compute[i]) + compute_sorted[1]", left=left).core.sha256
    assert "in_seconds" not in load_theorem("classics.gd.convex").core.fields


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('reach = "eps"\nover = "average"|', "for a left side over last, mean, best"),
        ('reach = "R"|', "must name a positive symbol"),
        ('reach = "eps"\nover = "last"\nto = "T"|', "it has no from, to or weights"),
        ('reach = "eps"\nover = "mean"\nfrom = "floor(T/2)"|', "have one from"),
    ],
)
def test_left_sides_that_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    left, _, index = text.partition("|")
    head = HEAD.format(algorithm="gd", more="", left=left, options="").replace(
        'index = "seconds"', index or 'index = "seconds"'
    )
    with pytest.raises(SpecError, match=reason):
        written(tmp_path, f'{head}[terms]\ntime = "max_i(compute[i])"\n{EPS}')


def test_the_number_of_updates_is_read_off_the_run(tmp_path: Path) -> None:
    for time, alpha in (("T*max_i(compute[i])", "alpha"), ("max_i(compute[i])", "1/(L*T)")):
        text = f'{HEAD.format(algorithm="gd", more="", left=chr(10), options="")}[terms]\nbound = "{time}"\n'
        with pytest.raises(SpecError, match="T is read off the run"):
            written(tmp_path, text.replace('alpha = "alpha"', f'alpha = "{alpha}"'))
    with pytest.raises(SpecError, match="generous and growth are for bounds of updates"):
        written(tmp_path, as_toml(until(tmp_path, "L*R**2").core).replace("[generous]", "[generous]\ntau_max = 1"))
    bare = HEAD.format(algorithm="gd", more="", left="", options="").replace(', "fixed-compute-times"', "")
    with pytest.raises(SpecError, match="a statement in seconds assumes fixed-compute-times"):
        written(tmp_path, f'{bare}[terms]\nbound = "L*R**2"\n')


def test_tools_say_what_they_do_not_know(tmp_path: Path) -> None:
    theorem = reached(tmp_path, "2*max_i(compute[i])")
    with pytest.raises(SpecError, match="worst-case takes so many iterations"):
        bl.worst_case(theorem, 3)
    with pytest.raises(SpecError, match="says itself that a run ends at T = 2"):
        bl.compare(theorem, PARABOLAS, "deterministic", eps=1, alpha=0.5, iterations=7)
    case = {
        "algorithm": "gd", "problem": {"type": "quadratic", "A": [[[1]]], "b": [[0]]}, "x0": [1],
        "parameters": {"alpha": "1/2"}, "settings": {"eps": "1/8"},
    }  # fmt: skip
    with pytest.raises(SpecError, match="events do not say"):
        bl.exact(theorem, {**case, "events": [[1, "s"], [2, "s"]]})
    found = bl.exact(theorem, {**case, "delays": "deterministic", "iterations": 9})
    assert (found.verdict, found.k, found.left) == (Verdict.HOLDS, 2, 1 / 32)


def test_numbers_that_floats_round_decide_no_last_update_in_a_case(tmp_path: Path) -> None:
    # L·R²/eps is 10 with eps = 1/10, and less with the float 0.1, which is more.
    theorem = reached(tmp_path, "L*R**2/eps*max_i(compute[i])")
    case = {
        "algorithm": "gd", "problem": {"type": "quadratic", "A": [[[1]]], "b": [[0]]}, "x0": [1],
        "parameters": {"alpha": "1/2"}, "settings": {"eps": 0.1}, "delays": "deterministic", "iterations": 9,
    }  # fmt: skip
    with pytest.raises(BoundlabError, match="another update than 9 may be the last"):
        bl.exact(theorem, case)


@pytest.mark.nightly
def test_a_search_refutes_a_false_time_and_no_true_one(tmp_path: Path) -> None:
    true = load_theorem(str(LITERATURE / "drori-2014.3.1.seconds.toml"))
    assert not bl.falsify(true, candidates=40, jobs=1).violated
    false = reached(tmp_path, "L*R**2/(20*eps)*max_i(compute[i])").core
    text = as_toml(false, "false").replace('"alpha" = "alpha"', '"alpha" = "1/L"')
    found = bl.falsify(written(tmp_path, text), candidates=40, jobs=1)
    assert found.violated
    assert bl.exact(written(tmp_path, text), found.case).verdict is Verdict.VIOLATED
