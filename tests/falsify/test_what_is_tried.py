"""What a search looks at: worst instances, edges of conditions, where inequalities are met; and what it keeps."""

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from own_theorem import of_gradient_descent
from wrong_theorems import WRONG

from boundlab.algorithms import Algorithm
from boundlab.errors import BoundlabError, MissingExtraError, SpecError, UndecidedError
from boundlab.falsify import (
    Candidate,
    Falsification,
    _families,
    _judge,
    _result,
    _search,
    falsify,
    minimise,
)
from boundlab.falsify._families import choices, edges, noisy, quiet, readable, settings, unvaried
from boundlab.falsify._judge import Judge
from boundlab.falsify._search import worst_cases
from boundlab.falsify._shrink import _exchanges, _simpler_numbers, _sooner
from boundlab.formulas.symbols import symbol
from boundlab.options import Options
from boundlab.registry import registered
from boundlab.theorems import FormulaBound, Theorem, load_theorem


def judge(name: str) -> Judge:
    return Judge(load_theorem(name), float("inf"))


def gap_after(problem: dict[str, Any], steps: int) -> float:
    """Return f(x_K) of gradient descent with the step 1/L = 1 on a Huber function about 0, from 1."""
    assert (problem["w"], problem["c"], problem["x0"]) == ([1.0], [0.0], 1.0)
    x, delta = problem["x0"], problem["delta"]
    for _ in range(steps):
        x -= max(min(x, delta), -delta)
    return float(x * x / 2 if abs(x) <= delta else delta * (abs(x) - delta / 2))


@pytest.mark.parametrize("steps", [1, 2, 7, 100])
def test_the_worst_function_of_gradient_descent_is_among_them(steps: int) -> None:
    # No convex function with L = R = 1 leaves more than 1/(4K + 2) (Drori and Teboulle).
    theorem = load_theorem("classics.gd.convex")
    tried = [one for _, one in quiet(theorem, 1, [steps]) if one["type"] == "huber" and not isinstance(one["x0"], list)]
    assert max(gap_after(one, steps) for one in tried) == pytest.approx(1 / (4 * steps + 2), rel=1e-12)


@pytest.mark.parametrize("clients", [1, 2, 3])
def test_noise_at_the_minimiser_begins_there(clients: int) -> None:
    for name in ("fedbuff.rf1", "area.theorem8.repaired", "classics.sgd.convex"):  # bounded slopes, and quadratics
        found = list(noisy(load_theorem(name), clients))
        away = {"noise at the minimiser": 0.0, "noise on the way": 1.0}
        assert away.keys() <= {family for family, _ in found}
        for family, one in found:
            assert one["sigma"] > 0.0
            assert len(one["c"]) == len(one["w"]) == clients
            if family in away:
                assert {abs(centre - one["x0"]) for centre in one["c"]} == {away[family]}


@pytest.mark.parametrize("name", ["fedbuff.rf1", "area.theorem8.repaired", "classics.sgd.heterogeneous"])
def test_worst_cases_of_several_clients_say_how_far_these_are_apart(name: str) -> None:
    scorer = judge(name)
    read = {*scorer.theorem.inputs(), *scorer.theorem.settable}
    apart = {one for one in _search._APART if one in read}
    found = list(_search.worst_cases(scorer))
    assert {ask.clients for ask in found} == {1, 2}
    for ask in found:
        assert apart & set(ask.constants) == (apart if ask.clients > 1 else set())


def test_every_worst_case_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = judge("classics.gd.convex")
    found, asked = _search._Best(scorer), list[int]()

    def answer(one: Judge, ask: int) -> None:  # every third has no answer
        asked.append(ask)
        one.tried[_search.WORST] += ask % 3 > 0

    monkeypatch.setattr(_search, "answer", answer)
    asks: Any = iter(range(1, 9))
    answered = 0
    while _search._ask(found, asks):
        answered += 1
    assert asked == list(range(1, 9))
    assert answered == 6


def test_without_a_solver_nothing_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise MissingExtraError("no solver")

    monkeypatch.setattr(_search, "answer", missing)
    found, asks = _search._Best(judge("classics.gd.convex")), iter(range(5))
    assert not _search._ask(found, asks)  # type: ignore[arg-type]
    assert not list(asks)


@pytest.mark.parametrize("last", [2, 5, 24, 25, 100, 1001])
def test_a_smaller_instance_may_end_one_iteration_earlier_or_at_half(last: int) -> None:
    one = Candidate("test", {}, "deterministic", {"M": "4"}, {}, last)
    found = [other.iterations for other in _exchanges(one) if other.settings == one.settings]
    assert {last - 1, last // 2} <= set(found) - {0}
    assert all(1 <= iterations < last for iterations in found)
    assert {other.settings["M"] for other in _exchanges(one) if other.iterations == last} == {"2", "3"}


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "name", {one.algorithm: name for name, one in registered("theorems").items() if one.step and not one.shape}.values()
)
def test_another_rate_or_option_is_tried_for_fewer_updates_and_goes_with_the_others(name: str) -> None:
    theorem = load_theorem(name)
    algorithm = registered("algorithms")[theorem.algorithm]
    clients = {schedule[1]: schedule for schedule in islice(_families.schedules(theorem, algorithm), 8)}
    for n, (_, _, delays, chosen) in clients.items():
        one = Candidate("test", {"type": "huber", "c": [0.0] * n, "w": [1.0] * n}, delays, chosen, {}, 30)
        for other in _sooner(theorem, one):
            assert other.iterations < 30
            assert readable(theorem, algorithm, other.settings)
            changed = [name for name in other.settings if other.settings[name] != chosen.get(name)]
            assert (other.step != one.step) + (other.delays != one.delays) + len(changed) in (1, 2)


def test_a_server_rate_makes_two_updates_of_noise_enough() -> None:
    problem = {"type": "huber", "c": [0.0], "w": [1.0], "delta": 6.0, "x0": 0.0, "sigma": 100.0, "noise": "sign"}
    one = Candidate("test", problem, "exponential", {"scale": "1"}, {"eta_l": 0.001}, 26)
    found = minimise(load_theorem("fedstaleweight.theorem1"), one)
    assert found.best is not None
    assert found.best.iterations == 2
    assert found.looked_at.endswith("of up to 1 client")


@pytest.mark.nightly
def test_an_option_that_does_nothing_is_left_out_and_one_that_asks_for_another_is_tried() -> None:
    # With known speeds nobody is late, and τ_max = 0 in place of 1.
    problem = {"type": "huber", "c": [0.0, 100.0], "w": [200.0, 200.0], "delta": 51.0, "x0": 50.0, "sigma": 0.0}
    settings = {"Qmin": "1", "Qmax": "3", "prose_max": "yes"}
    one = Candidate("test", problem, "deterministic:rates=[2,1]", settings, {"eta": 4e-8}, 67)
    best = minimise(load_theorem("fedcompass.theorem1"), one).best
    assert best is not None
    assert best.iterations <= 46
    assert "prose_max" not in best.candidate.settings
    assert best.candidate.settings["warmup"] == "speeds"


def test_conditions_are_tried_on_every_kind_of_schedule() -> None:
    scorer = judge("classics.gd.convex")
    kinds = {
        (one[0], one[1]) for one in islice(_families.schedules(scorer.theorem, scorer.algorithm), _search._SCHEDULES)
    }
    assert len(kinds) > len({clients for _, clients in kinds})
    assert {(one.family.rsplit("; ", 1)[1], one.clients) for one in _search._bases(scorer)} == kinds


OPEN_PASSES = [
    name
    for name, one in registered("theorems").items()
    if one.algorithm == "area"
    and "lipschitz" in one.core.assumed
    and one.core.varies("M")
    and one.open_rates
    and not one.refuted_by
    and not one.points  # |x| has no set that all runs stay on
]


@pytest.mark.nightly
@pytest.mark.parametrize("name", OPEN_PASSES)
def test_passes_of_several_steps_end_across_the_kink_early_in_a_search(name: str) -> None:
    # A step α just across 0 and one back: what M local steps add is all that is left, with a factor M in true bounds.
    theorem = load_theorem(name)
    early = [one for batch in islice(_families.on_random_events(theorem), 5) for one in batch]
    some = [one for one in early if one.family == "|x|, to and fro"]
    assert len({one.settings["M"] for one in some}) > 2
    own = dict(theorem.bound.terms)
    lost = replace(theorem, bound=FormulaBound({**own, "subgradient": own["subgradient"] / symbol("M")}))
    false, true = (Judge(one, float("inf")).scores(some) for one in (lost, theorem))
    assert len(true) == len(some)
    assert max(score.ratio for score in true) <= 1.0
    assert sum(score.ratio > 1.05 for score in false) > len(some) / 2


TRUE = sorted({theorem.id.removeprefix("wrong.") for theorem in WRONG.values()} - {"fedbuff"})


LONG = "noise of AREA where gradients are bounded"


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    "words", [pytest.param(one, marks=[pytest.mark.nightly] if one == LONG else []) for one in sorted(WRONG)]
)
def test_a_wrong_theorem_is_refuted(words: str) -> None:
    found = falsify(WRONG[words], limit=900)
    if words == "hardly below what is attained":
        # Within a hundredth of the tight bound, from K = 2 on: no |x| comes so near.
        assert found.tried["worst function of the class"] > 0
    assert found.violated
    assert found.best is not None
    assert found.ratio > 1.0 + 1e-6


@pytest.mark.sweep(16)
@pytest.mark.parametrize("name", TRUE)
def test_the_true_theorem_is_not(name: str) -> None:
    found = falsify(load_theorem(name), limit=60)
    assert not found.violated


class TestOptions:
    """What is varied comes from what algorithms declare."""

    @pytest.mark.sweep(2)
    @pytest.mark.parametrize("name", sorted(registered("algorithms")))
    def test_every_declared_option_has_examples_that_it_reads(self, name: str) -> None:
        algorithm: Algorithm[object] = registered("algorithms")[name]
        needed = {rate: "0.5" for rate in algorithm.parameters if rate in ("alpha", "eta", "eta_l", "beta", "p_c")}
        needed |= {"ogm": {"K": "3"}, "ringmaster": {"threshold": "2"}}.get(name, {})
        for clients in (1, 2, 3):
            for option, some in algorithm.examples(clients).items():
                assert option in algorithm.parameters
                assert len(set(some)) == len(some) > 0
                assert any(_reads(algorithm, needed | ({option: one} if one else {})) for one in some)

    def test_every_open_option_is_varied(self) -> None:
        for theorem in registered("theorems").values():
            algorithm = registered("algorithms")[theorem.algorithm]
            for name, some in choices(theorem, algorithm, 2).items():
                # One value is no choice; a number of one value is a limit.
                assert len(some) > 1, (theorem.id, name)

    def test_settings_begin_with_the_simplest_and_go_together(self) -> None:
        theorem = load_theorem("fedcompass.theorem1")
        algorithm = registered("algorithms")["fedcompass"]
        found = list(settings(theorem, algorithm, 2))
        assert {name for one in found for name in one} >= {"Qmin", "Qmax", "speeds", "warmup", "p", "normalise"}
        assert all(int(one.get("Qmin", 20)) <= int(one.get("Qmax", 100)) for one in found)


def _reads(algorithm: Algorithm[object], options: dict[str, str]) -> bool:
    try:
        algorithm.read(Options(algorithm.id, options))
    except SpecError:
        return False
    return True


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", registered("theorems"))
def test_no_setting_that_is_tried_has_an_option_that_is_not_varied(name: str) -> None:
    theorem = load_theorem(name)
    kept = unvaried(theorem)
    tried = islice(settings(theorem, registered("algorithms")[theorem.algorithm], 2), 200)
    assert all(setting.get(option, value) == value for setting in tried for option, value in kept.items())
    assert not {*kept} & {one.id for one in theorem.core.options if one.how == "fixed"}


def test_the_options_are_named_with_their_defaults() -> None:
    found = falsify(load_theorem("classics.gd.convex"), limit=2)
    assert found.not_varied == found.as_dict()["not_varied"] == {"iteration": "pass", "sampled": "none", "K": "none"}
    assert found.kept() == "options not varied, at their defaults: iteration = pass, sampled = none, K = none"


def test_nothing_is_said_where_every_open_option_is_varied() -> None:
    assert unvaried(load_theorem("area.theorem8")) == {}


# Polyak's parameters: true of quadratics, false of f' = 25x, x + 24, 25x − 24 from 3.3 (Lessard, Recht and Packard).
HEAVY = """
id = "polyak"
algorithm = "heavy_ball"
metric = "squared-distance"
assumptions = ["strongly-convex", "smooth", "minimiser", "deterministic"]
conditions = [{conditions}]
[options]
beta = "4/9"
[step]
alpha = "4/(sqrt(L) + sqrt(mu))**2"
[terms]
bound = "100*(2/3)**K*R**2"
"""


def heavy_ball(folder: Path, *conditions: str) -> Theorem:
    path = folder / "polyak.toml"
    path.write_text(HEAVY.format(conditions=", ".join(f'"{one}"' for one in conditions)))
    return load_theorem(str(path))


@pytest.mark.parametrize(
    ("condition", "end"),
    [("L <= 25*mu", 0.04), ("L < 25*mu", 0.04), ("3*L <= 20*mu", 0.15), ("L <= 7*mu", 1 / 7), ("mu <= L/2", 0.5)],
)
def test_the_edge_of_a_condition_is_where_it_just_holds(tmp_path: Path, condition: str, end: float) -> None:
    theorem = heavy_ball(tmp_path, condition)
    (found,) = edges(theorem, "mu", {"L": 1.0})
    assert found == pytest.approx(end, rel=1e-8)
    (one,) = theorem.conditions
    theorem.evaluate({"mu": found, "L": 1.0, "R": 1.0, "K": 1}, exactly=not one.strict)


def test_what_a_condition_reads_beside_known_numbers_has_no_edge(tmp_path: Path) -> None:
    assert edges(heavy_ball(tmp_path, "L <= K*mu", "R <= 2"), "mu", {"L": 1.0}) == []
    assert edges(heavy_ball(tmp_path), "mu", {"L": 1.0}) == []


def test_worst_cases_are_asked_at_the_edge_first(tmp_path: Path) -> None:
    first = next(worst_cases(Judge(heavy_ball(tmp_path, "L <= 25*mu"), float("inf"))))
    assert first.constants == {"mu": "0.04"}


@pytest.mark.nightly
def test_a_search_finds_that_polyak_s_heavy_ball_cycles(tmp_path: Path) -> None:
    found = falsify(heavy_ball(tmp_path, "L <= 25*mu"), limit=400)
    assert found.violated
    assert found.best is not None
    assert found.best.candidate.problem["type"] == "smoothed-max-affine"
    assert found.best.iterations <= 10


@pytest.mark.nightly
def test_a_mean_that_its_runs_do_not_have_is_no_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    theorem = load_theorem("area.theorem8")
    assert falsify(theorem, limit=20).violated

    def differ(*_: object) -> None:
        raise UndecidedError("the search and the mean of its runs differ on the left side")

    monkeypatch.setattr(_result, "_require_runs_agree", differ)
    found = falsify(theorem, limit=20)
    assert not found.violated
    assert any("the mean of its runs differ" in why for why in found.refused)


GD = """id = "far"
algorithm = "gd"
metric = "squared-distance"
assumptions = ["strongly-convex", "smooth"]
conditions = CONDITIONS
[step]
alpha = "1/L"
[terms]
main = "TERM"
"""
BUFFERED = """id = "far"
algorithm = "fedbuff"
metric = "gradient-norm"
assumptions = ["smooth", "bounded-variance"]
conditions = CONDITIONS
[step]
eta_l = "eta_l"
eta_g = "1"
[terms]
main = "TERM"
"""
AREA = """id = "far"
algorithm = "area"
metric = "ergodic-gap"
assumptions = ["lipschitz", "bounded-variance", "iid-events"]
conditions = CONDITIONS
[options]
start = "analysis"
[step]
alpha = "alpha"
[definitions]
A = "(1/p_s + 2*qbar)*R**2"
[terms]
main = "TERM"
"""
HALF, RATE = "R**2/2", "(1 - mu/L)**(2*K)*R**2"
TRUE_AREA = "A/(2*alpha*M*K) + alpha*(sigma**2 + M*B**2)/2"
FALSE = "badly conditioned"
MET = {
    FALSE: (GD, '["10**5*mu <= L"]', HALF),
    "within a factor": (GD, '["300*mu <= L", "L <= 310*mu"]', HALF),
    "far away": (GD, '["10**5*mu <= L", "10**6 <= R"]', HALF),
    "a late horizon and a small L": (GD, '["500 <= K", "L <= 1/10**6"]', RATE),
    "much noise, small steps, stale": (
        BUFFERED,
        '["50*L <= sigma_l", "eta_l*L <= 1/1000", "40 <= tau_max"]',
        "F0/(eta_l*T)",
    ),
    "long rounds and few aggregations": (AREA, '["200 <= M", "R <= 1/1000", "p_s <= 1/50"]', TRUE_AREA),
}


def searched(folder: Path, statement: tuple[str, str, str], limit: int = 20) -> Falsification:
    text, conditions, term = statement
    path = folder / "far.toml"
    path.write_text(text.replace("CONDITIONS", conditions).replace("TERM", term), encoding="utf-8")
    return falsify(load_theorem(str(path)), limit=limit)


@pytest.mark.nightly
@pytest.mark.parametrize("words", sorted(MET))
def test_instances_meet_the_conditions(words: str, tmp_path: Path) -> None:
    found = searched(tmp_path, MET[words])
    assert sum(found.tried.values()) >= 3
    assert found.best is not None
    assert not found.unmet
    if words == FALSE:
        assert found.violated
        assert found.best.constants["L"].value >= 1e5 * found.best.constants["mu"].value


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("conditions", "unmet"),
    [
        ('["L <= mu/2"]', "L ≤ mu/2"),
        ('["10*mu <= L", "R <= 0*L"]', "R ≤ 0*L"),
    ],
)
def test_what_nothing_meets_is_named(conditions: str, unmet: str, tmp_path: Path) -> None:
    found = searched(tmp_path, (GD, conditions, HALF))
    assert (found.best, found.tried) == (None, {})
    assert unmet in found.unmet
    assert unmet in found.as_dict()["unmet"]


EVERY = sorted(registered("theorems"))
_SOME = 6


def some(theorem: Theorem) -> list[Candidate]:
    """Return different problems on different schedules."""
    return list(islice(_search._bases(Judge(theorem, float("inf"))), _SOME))


def said(make: Any, *given: Any) -> Any:
    """Return what is made, or what is said against it."""
    try:
        return make(*given)
    except BoundlabError as error:
        return type(error), str(error)


def test_a_candidate_is_known_by_all_its_numbers() -> None:
    [base, *_] = some(load_theorem("classics.gd.convex"))
    assert replace(base) == base
    assert hash(replace(base)) == hash(base)
    others = [base.with_problem(x0=0.25), replace(base, iterations=7), replace(base, step={"alpha": 0.3})]
    assert len({base, *others}) == 4


@pytest.mark.sweep(72)
@pytest.mark.parametrize("name", EVERY)
def test_candidates_are_told_apart_as_their_words_are(name: str) -> None:
    looked_at = [one for each in some(load_theorem(name)) for one in (each, *islice(_simpler_numbers(each), 20))]
    keys = [one.key for one in looked_at]
    words = [(one.problem_spec(), one.delays, *sorted(one.all_settings().items()), one.iterations) for one in looked_at]
    assert len({*words}) == len({*keys}) == len({*zip(words, keys, strict=True)})


@pytest.mark.sweep(72)
@pytest.mark.parametrize("name", EVERY)
def test_delays_that_change_nothing_of_a_run_are_told_from_others(name: str) -> None:
    # The fingerprint is that of the runs themselves, whichever delays were looked at before.
    scorer = Judge(load_theorem(name), float("inf"))
    if scorer.expectation:
        return
    for schedule in islice(_families.schedules(scorer.theorem, scorer.algorithm), 30):
        for one in _families.problems(scorer.theorem, schedule, 6, 0)[:1]:
            runs = said(scorer.shared, one)
            own = runs if isinstance(runs, tuple) else runs.fingerprint
            assert said(scorer.fingerprint, one) == own, one.key


def test_no_run_is_made_of_clients_that_the_conditions_exclude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, made, make = tmp_path / "mine.toml", list[int](), _judge.make_shared_run
    path.write_text(of_gradient_descent("(2*K)").replace("[step]", 'conditions = ["n <= 1", "0 < L"]\n[step]'))

    def recorded(theorem: Theorem, one: Candidate, ks: Any = None) -> Any:
        made.append(one.clients)
        return make(theorem, one, ks)

    monkeypatch.setattr(_judge, "make_shared_run", recorded)
    found = falsify(load_theorem(str(path)), limit=60)
    assert set(made) == {1} == {found.clients}
    assert (
        max(one[1] for one in islice(_families.schedules(found.theorem, judge("classics.gd.convex").algorithm), 9)) > 1
    )
    assert sum(found.refused.values()) > 0


def test_worst_cases_count_their_clients() -> None:
    scorer = judge("classics.gd.convex")
    ask = next(one for one in worst_cases(scorer) if one.clients == 2)
    assert _search.answer(scorer, ask) is None  # a true theorem
    assert (scorer.clients, scorer.tried[_search.WORST]) == (2, 1)
