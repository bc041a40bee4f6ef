"""Constants along the run: they bound gradients where the proof asks for it, and the bounds that read them hold."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from core_files import as_toml
from page_makers import page_of, texts
from run_makers import plan_of
from tape_makers import interpret

import boundlab as bl
from boundlab.case import problem_from
from boundlab.compare import compare
from boundlab.errors import AssumptionError, SpecError
from boundlab.execute import iterates
from boundlab.instance import Plan
from boundlab.instance.fitting import CompareOptions
from boundlab.objective import Problem, QuadraticForm
from boundlab.registry import registered
from boundlab.tape import RecordAt, Tape
from boundlab.theorems import load_theorem, read_off_runs
from boundlab.verdict import Verdict

FORMS = {name: one for name, one in registered("theorems").items() if read_off_runs(one)}
# The conditions of these ask for runs of their own.
OPTIONS: dict[str, dict[str, Any]] = {
    "fedcompass.group.along-run": {"warmup": "speeds", "speeds": "[1, 1, 1]", "Qmin": 2, "Qmax": 2},
    "afl_dga.r0.along-run": {"local_steps": 1},
    "fedfa.param.a.along-run": {"N": 2, "K": 3},
    "fedfa.param.b.along-run": {"K": 2},
}
EQUAL = ("fedcompass.group.along-run", "afl_dga.r0.along-run", "fedfa.param")
ANY_ORDER = "explicit"
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


def tape_of(plan: Plan) -> Tape:
    assert plan.schedules is not None
    return plan.schedules.tape(0, RecordAt(np.arange(plan.iterations + 1)))


class Twin:
    """The points of a run, as the definitions list them, from the second interpreter of tapes."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.tape = plan, tape_of(plan)
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
    return plan.schedules.read(tape_of(plan), until, plan.fixed)


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


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", sorted(FORMS))
@pytest.mark.parametrize("seed", [0, 1])
def test_no_bound_along_the_run_is_violated(name: str, seed: int) -> None:
    found = compare(planned(name, quadratic(seed), trials=3), 3, 0)
    assert found.verdict in (Verdict.HOLDS, Verdict.CONSISTENT)
    assert found.plan.theorem.id == name


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", sorted(FORMS))
def test_a_longer_run_reads_no_smaller_constants(name: str) -> None:
    plan = planned(name, quadratic(5))
    each = [read(plan, until) for until in range(1, int(plan.ks[-1]) + 1)]
    for name_ in plan.schedules.points.wanted if plan.schedules and plan.schedules.points else ():
        values = [one[name_] for one in each]
        assert values == sorted(values)


def test_the_run_of_a_buffer_in_fractions_has_these_constants() -> None:
    """A buffer of two, filled by clients 0, 1, 0, 0, 1, 2: its runs worked out by messages in fractions."""
    a, b, eta, x0 = [1, 2, Fraction(1, 2)], [0, 1, -2], Fraction(1, 8), Fraction(3)
    case = {
        "schema": "boundlab/case/1", "algorithm": "fedbuff", "theorem": "fedbuff.rf1.along-run",
        "problem": {"type": "quadratic", "A": [[[float(one)]] for one in a], "b": [[one] for one in b]}, "x0": [3],
        "parameters": {"eta_l": "1/8", "count": 2}, "events": [[t, i] for t, i in enumerate([0, 1, 0, 0, 1, 2], 1)],
        "iterations": 3,
    }  # fmt: skip
    w, hand, buffer, models, slopes = x0, [x0] * 3, [], [x0], []
    for client in (0, 1, 0, 0, 1, 2):
        g = a[client] * (hand[client] - b[client])
        slopes.append(abs(g))
        buffer.append(-eta * g)
        if len(buffer) == 2:
            w, buffer = w + sum(buffer) / 2, []
            models.append(w)
        hand[client] = w
    each = [[a[i] * (x - b[i]) for i in range(3)] for x in models[:3]]
    spread = max(sum((g - sum(own) / 3) ** 2 for g in own) / 3 for own in each)
    found = bl.exact("fedbuff.rf1.along-run", case)
    G_sq, sigma_g_mean = (Fraction(float(found.values[name])) for name in ("G_sq", "sigma_g_mean"))
    assert max(slopes) ** 2 <= G_sq <= max(slopes) ** 2 * (1 + Fraction(1, 10**12))
    assert spread <= sigma_g_mean**2 <= spread * (1 + Fraction(1, 10**12))
    assert not found.violated


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


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "settings"), [("fedbuff.rf1", {"count": 2}), ("fedfa.delta.b.noiseless", {"K": 4, "eta_l": 0.05})]
)
def test_what_is_certified_depends_on_no_machine_code(
    name: str, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machine code loses digits in long runs of late updates, and is there or not by what was asked before."""
    pytest.importorskip("numba")
    for there in (False, True):
        monkeypatch.setattr(iterates, "worth", lambda _, there=there: there)
        plan = planned(f"{name}.along-run", "pseudo-huber:clients=3,dimension=2,x0=3", 1500, **settings)
        assert all(one.certified for one in plan.symbols)


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
    assert load_theorem(path).core == form.core != load_theorem("fedstaleweight.rf1").core
    path.write_text(path.read_text().replace('"server"', '"serve"'))
    with pytest.raises(SpecError, match="names no set of points: 'serve'"):
        load_theorem(path)
    with pytest.raises(SpecError, match="names no set of points"):
        replace(load_theorem("fedbuff.rf1"), points={"G_sq": ("everywhere",)})


def test_a_plan_that_reads_nothing_off_a_run_takes_any_step() -> None:
    one = CompareOptions(load_theorem("area.theorem7.recursion"), "quadratic:sigma=0.1", settings={"alpha": "0.01"})
    assert one.plan(trials=2).parameter_values["alpha"] == 0.01
