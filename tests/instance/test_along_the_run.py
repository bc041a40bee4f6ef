"""Constants along the run bound gradients where the proof asks for it; and sets that runs stay in, or leave."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from core_files import as_toml
from page_makers import page_of, texts
from problem_makers import tiny
from run_makers import Watched, plan_of, tape_of
from tape_makers import interpret

import boundlab as bl
from boundlab.case import delays_from, problem_from
from boundlab.compare import compare
from boundlab.errors import AssumptionError, SpecError
from boundlab.execute import iterates
from boundlab.execute.floats import run
from boundlab.falsify import falsify
from boundlab.instance import Plan, make_plan
from boundlab.instance.fitting import CompareOptions
from boundlab.objective import Problem, QuadraticForm
from boundlab.registry import lookup, registered, using
from boundlab.tape import RecordAt, Tape
from boundlab.theorems import Theorem, load_theorem
from boundlab.verdict import Verdict

FORMS = {name: one for name, one in registered("theorems").items() if one.read_off_runs}
# The conditions of these ask for runs of their own.
OPTIONS: dict[str, dict[str, Any]] = {
    "fedcompass.group.along-run": {"warmup": "speeds", "speeds": "[1, 1, 1]", "Qmin": 2, "Qmax": 2},
    "afl_dga.r0.along-run": {"local_steps": 1},
    "fedfa.param.a.along-run": {"N": 2, "K": 3},
    "fedfa.param.b.along-run": {"K": 2},
}
EQUAL = ("fedcompass.group.along-run", "afl_dga.r0.along-run", "fedfa.param")
T = 12


def quadratic(seed: int, n: int = 3, d: int = 2) -> Problem:
    """Return clients with curvatures and minimisers of their own, whose gradients nothing bounds."""
    draw = np.random.default_rng(seed)
    factors = draw.integers(-2, 3, (n, d, d))
    A = (np.einsum("nij,nkj->nik", factors, factors) + np.eye(d)) / 4
    spec = f"quadratic:A={A.tolist()},b={draw.integers(-3, 4, (n, d)).tolist()},x0={draw.integers(-2, 3, d).tolist()}"
    return problem_from(spec.replace(" ", ""))


def planned(name: str, problem: Problem | str, iterations: int = T, trials: int = 1, **more: Any) -> Plan:
    delays = "deterministic" if name.startswith(EQUAL) else "exponential:rates=[4,2,1]"
    if name.startswith("afl_dga") and not name.startswith(EQUAL):
        more = {"participation": 0.7, "local_steps": "1..3", "correction_delay": "0..2", **more}
    return plan_of(name, problem, delays, iterations, trials=trials, **{**OPTIONS.get(name, {}), **more})


def recorded(plan: Plan) -> Tape:
    assert plan.schedules is not None
    return plan.schedules.tape(0, RecordAt(np.arange(plan.iterations + 1)))


class Twin:
    """The points of a run, as the definitions list them, from the second interpreter of tapes."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.tape = plan, recorded(plan)
        self.problem, self.N = plan.problem, int(plan.values.get("N", 1))
        self.run = interpret(self.tape, self.problem)
        self.w = self.run.models(self.tape)
        self.mean = getattr(self.problem, "weights", (Fraction(1, self.problem.n),) * self.problem.n)

    def arrivals(self) -> list[int]:
        """Return the rows of FedFa's arrivals, −K + 1 the first."""
        rows = [int(row) for row in np.argsort(self.tape.descend.arrival, kind="stable")]
        rows = [row for row in rows if self.tape.descend.arrival[row] >= 0]
        return rows[len(rows) - self.tape.iterations - self.plan.parameters.K + 1 :]

    def path(self) -> list[Any]:
        """Return w[t]; of FedFa v[t], from w[t] by (V11), or from w[0] by (V17)."""
        if self.plan.algorithm.id != "fedfa":
            return self.w
        K, rows = self.plan.parameters.K, self.arrivals()
        moves = [self.run.ends[row] - self.run.starts[row] for row in rows]
        if self.plan.parameters.mode == "param":
            kappa, first = self.plan.values["kappa_lag"], K - 1
            total = [sum(kappa * min(j + 1, K) / K * moves[j] for j in range(first + t)) for t in range(len(self.w))]
            return [self.w[0] + one for one in total]
        rate = self.plan.parameters.eta_g / K
        return [w + rate * sum((K - j) * moves[t - j + K - 1] for j in range(1, K)) for t, w in enumerate(self.w)]

    def rows(self, until: int) -> set[int]:
        """Return the runs that enter the first updates; of AFL-DGA with all that their clients did before."""
        last = until + self.N - 1
        if self.plan.algorithm.id == "fedfa":
            return set(self.arrivals()[: last + self.plan.parameters.K - 1])
        uses = self.tape.uses
        used = {int(row) for row, t in zip(uses.update, uses.version, strict=True) if t < last}
        if self.plan.algorithm.id != "afl_dga":
            return used
        client = self.tape.descend.client.tolist()
        return {row for row in range(len(client)) if any(client[one] == client[row] and row <= one for one in used)}

    def local(self, until: int) -> float:
        found = 0.0
        for row in self.rows(until):
            y, client = np.array(self.run.starts[row]), int(self.tape.descend.client[row])
            for _ in range(int(self.tape.descend.steps[row])):
                g = self.problem.gradient(client, y)
                found, y = max(found, float(np.linalg.norm(g))), y - self.tape.descend.step_size[row] * g
        return found

    def apart(self, until: int) -> tuple[float, float]:
        """Return the largest ‖∇f_i − ∇F‖, and the root of the largest mean of its squares."""
        largest = mean = 0.0
        for x in self.path()[:until]:
            each = [self.problem.gradient(i, x) for i in range(self.problem.n)]
            total = sum(float(p) * g for p, g in zip(self.mean, each, strict=True))
            away = [float(np.linalg.norm(g - total)) for g in each]
            largest, mean = max(largest, *away), max(mean, float(np.mean(np.square(away))))
        return largest, mean**0.5

    def segments(self, dense: int = 400) -> float:
        """Return the largest ‖∇f_i‖ at many points of the segments."""
        points, start = self.path()[: self.N], self.w[0]
        shares = np.linspace(0.0, 1.0, dense)
        return max(
            float(np.linalg.norm(self.problem.gradient(i, start + share * (x - start))))
            for x in points for share in shares for i in range(self.problem.n)
        )  # fmt: skip


def read(plan: Plan, until: int) -> dict[str, float]:
    assert plan.schedules is not None
    return plan.schedules.read(recorded(plan), until, plan.fixed)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", sorted(FORMS))
def test_constants_are_the_largest_at_the_points_that_the_theorem_names(name: str) -> None:
    plan = planned(name, quadratic(3))
    twin = Twin(plan)
    words = {word for own in plan.theorem.points.values() for word in own}
    segments = "virtual-segments" in words or ("segments" in words and twin.N > 1)
    for until in (1, 2, 5, int(plan.ks[-1])):
        found, local, (largest, mean) = read(plan, until), twin.local(until), twin.apart(until)
        if (G := found.get("G", found.get("G_sq", np.nan) ** 0.5)) == G:
            least = max(local, twin.segments()) if segments else local
            assert least * (1 - 1e-9) <= G <= least * (1.1 if segments else 1 + 1e-9)
        assert "sigma_g" not in found or found["sigma_g"] == pytest.approx(largest, rel=1e-9)
        assert "sigma_g_mean" not in found or found["sigma_g_mean"] == pytest.approx(mean, rel=1e-9)
    assert all(one.certified for one in plan.symbols)


@pytest.mark.parametrize("name", ["fedbuff.rf1", "fedcompass.window.b.noiseless", "fedfa.delta.a", "fedfa.param.a"])
def test_machine_code_finds_the_same_gradients(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """FedCompass's updates hold the difference of a result and its start in a longer sum: it is proved all the same."""
    pytest.importorskip("numba")
    plan = planned(f"{name}.along-run", quadratic(7))
    monkeypatch.setattr(iterates, "worth", lambda _: True)
    monkeypatch.setattr(iterates.enclosed, "run", lambda *_: pytest.fail("the loop gave up"))
    again = planned(f"{name}.along-run", quadratic(7))
    assert {one.name: one.value for one in again.symbols} == pytest.approx(
        {one.name: one.value for one in plan.symbols}, rel=1e-12
    )


@pytest.mark.sweep(2)
@pytest.mark.parametrize("by_machine_code", [False, True], ids=["loop", "machine code"])
@pytest.mark.parametrize("name", ["fedbuff.rf1", "fedfa.delta.b"])
def test_how_many_points_are_looked_at_together_changes_nothing(
    name: str, by_machine_code: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of T + 1 models, or T + 2 points with v, some blocks are full when the run ends, and others are not."""
    if by_machine_code:
        pytest.importorskip("numba")
        monkeypatch.setattr(iterates, "worth", lambda _: True)
    problem, found = quadratic(7), []
    for points in (1, 2, 3, 13, 100):
        monkeypatch.setattr(iterates, "_BLOCK", points * problem.d)
        plan = planned(f"{name}.along-run", problem)
        found.append({one.name: one.value for one in plan.symbols})
    assert all(one == pytest.approx(found[-1], rel=1e-12) for one in found)


def test_where_rounding_is_not_enclosed_a_verdict_leans_on_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare(planned("fedbuff.rf1.along-run", quadratic(1), trials=2), 2, 0).verdict is Verdict.HOLDS
    monkeypatch.setattr(QuadraticForm, "step_bounds", lambda *_: None)
    found = compare(planned("fedbuff.rf1.along-run", quadratic(1), trials=2), 2, 0)
    assert found.verdict is not Verdict.HOLDS
    assert any("rounding is not enclosed" in one.how and not one.certified for one in found.plan.symbols)


def test_compare_takes_the_form_where_only_bounds_of_gradients_are_missing() -> None:
    spec = "quadratic:A=[[[1]],[[2]]],b=[[0],[1]],x0=3"
    found = bl.compare("fedbuff.rf1", spec, "deterministic:rates=[2,1]", iterations=6, trials=2)
    assert found.plan.theorem.id == "fedbuff.rf1.along-run"
    assert found.as_dict()["asked"] == "fedbuff.rf1"
    assert "instead of fedbuff.rf1, which needs bounds of gradients everywhere" in " ".join(texts(page_of(found)))
    bounded = bl.compare("fedbuff.rf1", "huber:c=[0,1],x0=3", "deterministic:rates=[2,1]", iterations=6, trials=2)
    assert bounded.plan.theorem.id == "fedbuff.rf1"
    assert "asked" not in bounded.as_dict()


@pytest.mark.parametrize(
    "name", ["fedcompass.theorem1", "afl_dga.theorem1", "fedfa.theorem1", "fedstaleweight.theorem1"]
)
def test_a_refusal_for_want_of_such_a_bound_names_the_repairs_that_need_none(name: str) -> None:
    with pytest.raises(AssumptionError, match=r"set nu=0; true instead, with bounded-\S+ along the run only: ") as told:
        bl.compare(name, "logistic:clients=2,samples=40", K=4)
    repairs = str(told.value).rpartition(": ")[2].split(", ")
    assert {one.removesuffix(".along-run") for one in repairs} <= {*bl.theorem(name).repaired_by}
    assert all("bounded-run" in bl.theorem(one).assumptions for one in repairs)


def test_with_noise_no_run_shows_how_large_gradients_are() -> None:
    noisy = "quadratic:A=[[[1]],[[2]]],b=[[0],[1]],x0=3,sigma=1"
    with pytest.raises(AssumptionError, match=r"fedbuff\.rf1\.along-run reads G_sq and sigma_g_mean off the run, but"):
        bl.compare("fedbuff.rf1", noisy, "deterministic:rates=[2,1]", iterations=6)
    with pytest.raises(AssumptionError, match=r"assumes deterministic .* would fit"):
        bl.compare("fedbuff.rf1.along-run", noisy, "deterministic:rates=[2,1]", iterations=6)


def own_form(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """Return a file of a theorem along the run, with some of its text replaced."""
    text = as_toml(load_theorem("fedbuff.rf1.along-run").core, "own")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "own.toml"
    path.write_text(text)
    return path


def test_nothing_is_read_off_a_run_with_noise_whatever_the_theorem_assumes(tmp_path: Path) -> None:
    """The run without noise is another one: gradients there say nothing of those that the noisy run takes."""
    noisy, delays = "quadratic:A=[[[1]],[[2]]],b=[[0],[1]],x0=3,sigma=1", "deterministic:rates=[2,1]"
    file = own_form(tmp_path, ('"deterministic", ', ""))
    for theorem, beyond in ((file, ()), ("fedbuff.rf1.along-run", ("deterministic",))):
        with pytest.raises(AssumptionError, match="with noise no run shows how large gradients may be"):
            bl.compare(theorem, noisy, delays, iterations=6, trials=2, beyond=beyond)


def test_what_sampled_runs_show_certifies_nothing_of_a_mean_over_all_of_them(tmp_path: Path) -> None:
    file = own_form(tmp_path, ('about = "each schedule"', 'about = "the mean"'), ('"fixed-schedule", ', ""))
    spec = "quadratic:A=[[[1]],[[2]]],b=[[0],[1]],x0=3"
    found = bl.compare(str(file), spec, "exponential:rates=[2,1]", iterations=6, trials=4)
    certified = {one.name: one.certified for one in found.plan.symbols}
    assert not certified["G_sq"]
    assert not certified["sigma_g_mean"]
    assert found.verdict is not Verdict.HOLDS


def test_a_constant_of_ones_own_has_to_be_no_smaller_than_the_run_has_it() -> None:
    spec = "quadratic:A=[[[1]],[[2]]],b=[[0],[1]],x0=3"
    with pytest.raises(AssumptionError, match="G_sq = 1 is set"):
        bl.compare("fedbuff.rf1.along-run", spec, "deterministic:rates=[2,1]", iterations=6, G_sq=1)
    larger = bl.compare("fedbuff.rf1.along-run", spec, "deterministic:rates=[2,1]", iterations=6, G_sq=100, trials=2)
    assert larger.verdict is Verdict.HOLDS


def test_a_file_names_points_and_says_the_same(tmp_path: Path) -> None:
    form = load_theorem("fedstaleweight.rf1.along-run")
    path = tmp_path / "own.toml"
    path.write_text(as_toml(form.core, "own"))
    assert load_theorem(path).core.fields == form.core.fields != load_theorem("fedstaleweight.rf1").core.fields
    path.write_text(path.read_text().replace('"server"', '"serve"'))
    with pytest.raises(SpecError, match="names no set of points: 'serve'"):
        load_theorem(path)
    with pytest.raises(SpecError, match="names no set of points"):
        replace(load_theorem("fedbuff.rf1"), points={"G_sq": ("everywhere",)})


def test_a_plan_that_reads_nothing_off_a_run_takes_any_step() -> None:
    one = CompareOptions(load_theorem("area.theorem7.recursion"), "quadratic:sigma=0.1", settings={"alpha": "0.01"})
    assert one.plan(trials=2).parameter_values["alpha"] == 0.01


ROWS = "logistic:features=[[1,0],[1,1],[0,2],[1,-1]],owners=[0,0,1,1],targets=[1,0,1,0]"
RUNS: list[tuple[str, dict[str, Any]]] = [
    ("fedbuff.rf2.along-run", {"eta_l": 0.5}),
    ("fedbuff.rf2.along-run", {"eta_l": 0.05, "M": 3, "count": 2, "reply": "pre"}),
    ("fedbuff.rf3.along-run", {"eta_l": 0.02, "M": 2, "count": 2, "eta_g": 2}),
    ("fedstaleweight.rf2.along-run", {"eta_l": 0.1, "scale": 0, "count": 2}),
    ("area.theorem8.repaired.fixed-step.along-run", {"alpha": 0.2, "M": 3}),
    ("area.theorem8.algorithm-start.along-run", {"alpha": 0.05, "M": 2}),
]


def planned_unequal(name: str, problem: Problem | str, T: int = 30, **settings: Any) -> Plan:
    """Return a plan under exponential delays with unequal rates, of two clients or as many as there are."""
    clients = problem.n if isinstance(problem, Problem) else 2
    rates = [1 + client for client in range(clients)]
    return plan_of(name, problem, f"exponential:rates={rates}".replace(" ", ""), T, **settings)


@pytest.mark.sweep(14)
@pytest.mark.parametrize(("name", "settings"), RUNS, ids=str)
@pytest.mark.parametrize("batch", ["full", 1])
@pytest.mark.parametrize("seed", range(3))
def test_no_run_has_a_larger_gradient_than_the_set(
    name: str, settings: dict[str, Any], batch: str | int, seed: int
) -> None:
    problem = tiny("logistic", seed, **({} if batch == "full" else {"batch": batch}), weights="equal")
    plan = planned_unequal(name, problem, 100, **settings)
    region, known = plan.problem.region, plan.problem.constants()  # type: ignore[attr-defined]
    centre, _, radius = region.around()
    server = "poisson:rate=1" if plan.algorithm.server == "any" else None
    delays = f"exponential:rates={[1 + client for client in range(problem.n)]}".replace(" ", "")
    for trial in range(3):
        tape = tape_of(
            plan.algorithm.id,
            dict(plan.parameter_values),
            problem.n,
            100,
            delays,
            server=server,
            records=RecordAt(),
            trial=trial,
        )
        watched, apart = Watched(problem), [0.0]

        def look(_row: int, x: np.ndarray, apart: list[float] = apart) -> None:
            away = [np.linalg.norm(problem.gradient(i, x) - problem.full_gradient(x)) for i in range(problem.n)]
            apart.append(float(np.sqrt(np.mean(np.square(away)))))

        run(tape, np.array(problem.x0), watched, look)
        steep = max(float(np.linalg.norm(problem.gradient(client, x))) for client, x in watched.begun)
        assert watched.far(centre) <= radius * (1 + 1e-12)
        assert steep <= known["B"].value * (1 + 1e-12)
        assert steep**2 <= known["G_sq"].value * (1 + 1e-12)
        assert max(apart) <= known["sigma_g_mean"].value * (1 + 1e-12)


def test_the_theorem_sets_its_own_step_and_the_set_is_that_of_this_step() -> None:
    plan = planned_unequal("fedbuff.rf2.along-run", f"{ROWS},nu=0.5")
    step = plan.parameter_values["eta_l"]
    assert plan.problem.run_limit == step
    again = planned_unequal("fedbuff.rf2.along-run", f"{ROWS},nu=0.5", eta_l=step)
    assert plan.problem.constants()["G_sq"] == again.problem.constants()["G_sq"]


@pytest.mark.parametrize(("name", "steps"), [("fedbuff.rf2", {"eta_l": "0.1"}), ("area.theorem8.repaired", {})])
def test_a_plain_theorem_in_the_mean_takes_its_form_where_gradients_have_no_bound(name: str, steps: Any) -> None:
    problem, theorem = problem_from(f"{ROWS},nu=0.5"), load_theorem(name)
    model = delays_from("exponential", problem.n)
    policy = lookup("algorithms", theorem.algorithm).policy(None, model)
    plan = make_plan(theorem, problem, model, policy, 20, steps, forms=True)
    assert (plan.theorem.id, plan.asked) == (f"{name}.along-run", name)


@pytest.mark.parametrize(
    ("name", "problem", "settings", "says"),
    [
        ("fedbuff.rf2", "quadratic:clients=2,sigma=1", {"eta_l": 0.01}, "its noise does not leave; sigma=0 would fit"),
        ("area.theorem8.repaired", "quadratic:clients=2,sigma=1", {}, "its noise does not leave; sigma=0 would fit"),
        ("fedbuff.rf2", f"{ROWS},nu=0.5", {"eta_l": 9}, "its steps do not leave; shorter steps, or full gradients"),
        ("area.theorem8.repaired.fixed-step", f"{ROWS},nu=0.5", {"alpha": 9}, "no step of at most"),
    ],
)
def test_where_no_set_is_known_the_refusal_says_so(name: str, problem: str, settings: Any, says: str) -> None:
    with pytest.raises(AssumptionError, match=says):
        planned_unequal(f"{name}.along-run", problem, **settings)


@pytest.mark.parametrize("name", sorted({name for name, _ in RUNS}))
def test_a_theorem_in_the_mean_names_the_points_of_all_its_constants(name: str) -> None:
    theorem = load_theorem(name)
    bounds = {"B", "G_sq", "sigma", "sigma_l", "sigma_g_mean"} & {*theorem.inputs()}
    assert theorem.points.keys() >= bounds


def test_no_search_shares_runs_whose_sets_differ() -> None:
    with pytest.raises(AssumptionError, match="a set of each run's own steps"):
        falsify(load_theorem("fedbuff.rf2.along-run"), limit=1)


# For x ← x − α∇f(x) within R of x*: Σ_k (f(x_k) − f*)/K ≤ R²/(2αK) + αL²R²/2, whatever α is.
THEOREM = """
id = "in-ball"
algorithm = "gd"
assumptions = ["convex", "smooth", "minimiser", "run-in-ball"]
settable = ["alpha"]
[left]
quantity = "gap"
over = "mean"
[step]
alpha = "1/L"
[terms]
start = "R**2/(2*alpha*K)"
square = "alpha*L**2*R**2/2"
"""
PARABOLA = "quadratic:A=[[[1]]],b=[[0]],x0=1"


def theorem(folder: Path, *changes: tuple[str, str]) -> Theorem:
    text = THEOREM
    for old, new in changes:
        text = text.replace(old, new)
    path = folder / "in_ball.toml"
    path.write_text(text)
    return load_theorem(path)


def compared(claim: Theorem, problem: str = PARABOLA, **more: Any) -> Any:
    return bl.compare(claim, problem, **{"iterations": 3, "trials": 2, "alpha": 3, **more})


@pytest.mark.parametrize(
    ("changes", "problem", "more", "why"),
    [
        # From 1 with α = 3 the models of x²/2 are −2, 4, −8.
        ([], PARABOLA, {}, r"server model 1 .* is 4, more than R\*\*2 = 1"),
        ([], PARABOLA, {"R": 8}, r"server model 3 .* may be, as far as rounding tells, more than R\*\*2 = 64"),
        # Noise takes each run elsewhere.
        ([('"minimiser", ', '"minimiser", "bounded-variance", ')], f"{PARABOLA},sigma=1", {}, "are stochastic"),
        # Without a minimiser nothing is within R of it.
        (
            [('"minimiser"', '"bounded-below"'), ("R**2/(2*alpha*K)", "F0"), ("square", "# square")],
            "logistic:features=[[-1],[2]],targets=[0,1],owners=[0,1],nu=0",
            {"alpha": 0.1},
            "assumes run-in-ball .*separable data have none",
        ),
        # A mean over schedules is one over runs that nobody looks at.
        (
            [("settable", 'options = {sampling = "uniform"}\nsettable')],
            "quadratic:A=[[[1]],[[1]]],b=[[0],[0]],x0=1",
            {"alpha": 1},
            "of all runs that it takes the mean of",
        ),
    ],
)
def test_a_run_that_is_not_known_to_stay_in_the_ball_is_not_judged(
    changes: list[tuple[str, str]], problem: str, more: dict[str, Any], why: str, tmp_path: Path
) -> None:
    with pytest.raises(AssumptionError, match=why):
        compared(theorem(tmp_path, *changes), problem, **more)


def test_in_a_ball_that_holds_the_run_the_theorem_holds_and_without_one_it_is_violated(tmp_path: Path) -> None:
    assert compared(theorem(tmp_path), alpha=1.5).verdict is Verdict.HOLDS
    assert compared(theorem(tmp_path), R=8.5).verdict is Verdict.HOLDS
    assert compared(theorem(tmp_path, (', "run-in-ball"', ""))).verdict is Verdict.VIOLATED


def test_beyond_it_nothing_is_refuted(tmp_path: Path) -> None:
    found = compared(theorem(tmp_path), beyond=["run-in-ball"])
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert "run-in-ball is not looked at" in found.reason


def test_what_is_assumed_of_runs_is_one_entry_of_a_list(tmp_path: Path) -> None:
    """From 1 with α = 3 the values of x²/2 are 1/2, 2: the run climbs above f(x0). With α = 3/2 it never does."""
    plugin = tmp_path / "mine_runs.py"
    plugin.write_text(
        "from boundlab.assumptions import Assumption\n"
        "no_climb = Assumption('no-climb', 'no server model of the run is above x0', along=('gap', 'F0', 1),\n"
        "                      check=lambda problem: problem.why_not('minimiser'))\n"
        "BOUNDLAB = {'assumptions': no_climb}\n"
    )
    with using([plugin]):
        claim = theorem(tmp_path, ("run-in-ball", "no-climb"))
        assert compared(claim, alpha=1.5).verdict is Verdict.HOLDS
        with pytest.raises(AssumptionError, match=r"no-climb, and at server model 1 .* is 2, more than F0 = 0.5"):
            compared(claim)
        assert compared(claim, beyond=["no-climb"]).verdict is Verdict.NOT_APPLICABLE
        assert not falsify(claim, limit=10).violated


def test_a_case_file_of_such_a_run_refutes_nothing(tmp_path: Path) -> None:
    """The smallest counterexample to the claim without the assumption is a run that leaves the ball."""
    anywhere = falsify(theorem(tmp_path, (', "run-in-ball"', "")), limit=60)
    assert anywhere.violated
    assert anywhere.case is not None
    case = tmp_path / "case.json"
    case.write_text(json.dumps(anywhere.case), encoding="utf-8")
    with pytest.raises(AssumptionError, match="assumes run-in-ball"):
        bl.exact(theorem(tmp_path), case)


def test_a_search_still_refutes_what_is_false_in_the_ball(tmp_path: Path) -> None:
    assert falsify(theorem(tmp_path, ("square", "# square"), ("2*alpha", "4*alpha")), limit=60).violated


def test_no_shape_is_followed_out_of_the_ball(tmp_path: Path) -> None:
    shape = 'shape = true\n[growth]\nin = ["K"]\n[left]'
    with pytest.raises(SpecError, match="growth looks along families of problems, and run-in-ball at one"):
        theorem(tmp_path, ("[left]", shape))


def test_a_constant_is_read_where_its_points_give_it() -> None:
    """‖∇f_i − ∇f‖ is read at server models; taken for G it had been too small a bound of ‖∇f_i‖."""
    form = load_theorem("fedbuff.rf1.along-run")
    with pytest.raises(SpecError, match="server is where sigma_g, sigma_g_mean are read, and G_sq is none of them"):
        replace(form, points={"G_sq": ("server",)})
    with pytest.raises(SpecError, match="local-steps is where B, G, G_sq are read, and R is none"):
        replace(form, points={"R": ("local-steps",)})
