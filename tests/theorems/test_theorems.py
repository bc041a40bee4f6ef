"""Theorem objects and their files: inputs, evaluation, units, errors, what registered ones keep, where they lead."""

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, final

import numpy as np
import pytest
import sympy
from page_makers import texts
from paper_theorems import AREA as BY_ID
from python_calls import calls_counted
from statements import statement, statement_file
from theorem_points import AREA as FULL, values_at
from typer.testing import CliRunner

from boundlab.assumptions import BOUNDED_RUN, DETERMINISTIC
from boundlab.case import load_case, own_case
from boundlab.checks import check
from boundlab.cli._app import application
from boundlab.errors import AssumptionError, BoundlabError, FormulaError, SpecError, SymbolError
from boundlab.exact import evaluate
from boundlab.formulas.symbols import symbol
from boundlab.formulas.units import degrees
from boundlab.metrics import METRICS
from boundlab.pages.theorem import related_links, theorem_page
from boundlab.registry import registered
from boundlab.theorems import ALONG_RUN, Bound, FormulaBound, Theorem, core, load_theorem
from boundlab.theorems.record import of_package, read_theorem
from boundlab.verdict import ExitCode

THEOREM7, THEOREM8 = BY_ID["area.theorem7"], BY_ID["area.theorem8"]


def test_a_sum_of_different_units_is_told_apart() -> None:
    with pytest.raises(FormulaError, match=r"has units \((1, −2|0, 1)\), but . has \((1, −2|0, 1)\)"):
        degrees(symbol("L") + symbol("R"))
    with pytest.raises(FormulaError, match="exp of"):
        degrees(sympy.exp(symbol("L")))
    with pytest.raises(FormulaError, match="exponent"):
        degrees(symbol("L") ** symbol("R"))
    assert degrees(sympy.S.Zero) is None


def test_a_million_points_are_one_array_and_no_warning() -> None:
    grid = {**FULL, "K": np.arange(1, 10**6 + 1), "M": 1}
    with warnings.catch_warnings(), calls_counted() as calls:
        warnings.simplefilter("error")
        for theorem in BY_ID.values():
            if isinstance(theorem.bound, FormulaBound):
                step = {"alpha": 0.01} if "alpha" in theorem.inputs() else {}
                assert theorem.evaluate({**grid, **step}).total.shape == (10**6,)
    assert len(calls) < 10**6  # no function is called point by point


def test_grids_broadcast() -> None:
    found = THEOREM8.evaluate({**FULL, "K": np.array([[10, 100]]), "sigma": np.array([[0.0], [1.0], [2.0]])})
    assert found.total.shape == (3, 2)
    assert (np.diff(found.total, axis=0) > 0).all()
    assert (np.diff(found.total, axis=1) < 0).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sigma": -1}, "sigma must be ≥ 0, got -1 (noise level"),
        ({"K": 2.5}, "K must be an integer ≥ 1, got 2.5"),
        ({"R": np.nan}, "R must be ≥ 0, got nan"),
        (
            {"alpha": 0.1},
            "area.theorem8 defines alpha itself (constant step size); area.theorem8.fixed-step takes it",
        ),
        ({"A": 1}, "area.theorem8 defines A itself"),
        ({"zetta": 1}, "unknown symbol 'zetta'; did you mean zeta?"),
        ({"R": 1e200}, "area.theorem8: term bound is infinite at"),
    ],
)
def test_wrong_values_are_answered_in_one_line(values: dict[str, Any], message: str) -> None:
    with pytest.raises(SymbolError) as error:
        THEOREM8.evaluate({**FULL, **values})
    assert str(error.value).startswith(message)


def test_a_point_of_a_grid_that_overflows_is_named() -> None:
    with pytest.raises(SymbolError, match=r"term bound is infinite at .*R=1e\+200"):
        THEOREM8.evaluate({**FULL, "R": np.array([1.0, 1e200, 2.0])})


def test_step_sizes_are_options_of_the_algorithm() -> None:
    assert set(THEOREM8.step_options(FULL)) == {"alpha"}
    assert set(THEOREM7.step_options(FULL)) == {"c", "d"}
    recursion = BY_ID["area.theorem7.recursion"]
    assert recursion.step_options({**FULL, "alpha": 0.25}) == {"alpha": 0.25}
    assert recursion.step_options({**FULL, "c": 1.0, "d": 4.0}) == {"c": 1.0, "d": 4.0}
    assert recursion.step_sizes({**FULL, "c": 1.0, "d": 4.0}, 2).tolist() == [1 / 4, 1 / 5, 1 / 6]
    assert BY_ID["area.theorem8.fixed-step"].step_sizes({**FULL, "alpha": 0.5}, 3).tolist() == [0.5] * 4
    with pytest.raises(AssumptionError, match=r"the step alpha divides by 0, .*, at B = 0, sigma = 0; multiply it out"):
        THEOREM8.step_options({**FULL, "sigma": 0, "B": 0})


def test_a_step_may_be_what_its_symbol_may_be() -> None:
    heavy_ball = load_theorem("classics.heavy-ball")
    without = replace(heavy_ball, id="mine", step={**heavy_ball.step, "beta": sympy.S.Zero})
    assert without.step_options({"L": 2, "R": 1})["beta"] == 0.0
    below = replace(without, step={"alpha": 1 / symbol("L"), "beta": 1 - symbol("L")})
    with pytest.raises(SymbolError, match=r"needs one finite beta, in \[0, 1\]"):
        below.step_options({"L": 2, "R": 1})


def test_what_may_still_be_set() -> None:
    assert "alpha" in BY_ID["area.theorem8.fixed-step"].free(FULL)
    assert BY_ID["area.theorem8"].free(FULL) == frozenset()
    assert {"alpha", "c", "d", "D", "G_star"} <= BY_ID["area.theorem7.recursion"].free(FULL)
    assert BY_ID["area.theorem7.explicit"].free(FULL) == {"D"}
    assert THEOREM8.unused(["L", "p", "sigma", "K"]) == ("L",)


def test_a_fixed_horizon_is_not_read_as_a_bound_at_every_iteration() -> None:
    assert THEOREM8.at_iterations(FULL, np.array([1000])).total == THEOREM8.evaluate(FULL).total
    with pytest.raises(SymbolError, match="about the one K"):
        THEOREM8.at_iterations(FULL, np.array([10, 1000]))
    fixed = BY_ID["area.theorem8.fixed-step"]
    assert (np.diff(fixed.at_iterations({**FULL, "alpha": 0.1}, np.array([10, 1000])).total) < 0).all()
    with pytest.raises(SymbolError, match="K must be an integer ≥ 1, got 0"):
        fixed.at_iterations({**FULL, "alpha": 0.1}, np.array([0]))


def test_definitions_that_go_round_in_a_circle_are_refused() -> None:
    kappa, delta = symbol("kappa"), symbol("delta")
    with pytest.raises(SpecError, match=r"go round in a circle: (kappa → delta|delta → kappa)"):
        replace(THEOREM7, definitions={**THEOREM7.definitions, "kappa": delta, "delta": kappa})


def test_fields_with_other_values_are_refused() -> None:
    with pytest.raises(SpecError, match="status must be one of"):
        replace(THEOREM8, status="proved")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="step must give alpha, or c and d"):
        replace(THEOREM8, step={"c": symbol("c")})
    with pytest.raises(SpecError, match=r"step must give alpha, or c and d.*got nothing"):
        replace(THEOREM8, step={})
    with pytest.raises(SymbolError, match="unknown symbol 'eta_x'"):
        replace(THEOREM8, step={"eta_x": symbol("alpha")})
    with pytest.raises(SymbolError, match="unknown symbol 'W'"):
        replace(THEOREM8, parameters={"M": "W"})
    with pytest.raises(SymbolError, match="unknown symbol 'zz'"):
        replace(THEOREM8, bound=FormulaBound({"x": sympy.Symbol("zz")}))


def test_theorems_are_found_by_id_and_misspelt_ids_are_answered_with_the_nearest() -> None:
    assert load_theorem("area.theorem8") is THEOREM8
    with pytest.raises(SpecError, match=r"did you mean area.theorem8"):
        load_theorem("area.theorem88")


@final
@dataclass(frozen=True)
class Tabulated(Bound):
    """A bound of a third kind: a table of numbers, times R."""

    table: tuple[float, ...]

    @property
    def closed(self) -> bool:
        return False

    def reads(self, given: frozenset[str]) -> tuple[str, ...]:
        return ("R",)

    def terms_at(self, found, symbols, counter, theorem):
        yield "table", "the table", np.take(self.table, found[counter].astype(int), mode="clip") * found["R"]

    def right_side(self, tex: Callable[[sympy.Expr], str], shape: bool) -> str:
        return rf"\le t_K {tex(symbol('R'))}"

    def as_dict(self) -> dict[str, Any]:
        return {"terms": {}, "recursion": "a table"}


def test_a_bound_of_another_kind_is_evaluated_shown_and_checked() -> None:
    theorem = replace(
        THEOREM8,
        id="table",
        bound=Tabulated((4.0, 2.0, 1.0)),
        conditions=(),
        step={"alpha": symbol("R")},
        horizon="every",
    )
    assert theorem.inputs() == ("R", "K")
    found = theorem.evaluate({"R": 3.0, "K": [1, 2]})
    assert found.total.tolist() == [6.0, 3.0]
    assert set(found.terms) == {"table"}
    assert r"\le t_K R" in theorem.latex()
    assert theorem.as_dict()["recursion"] == "a table"
    with pytest.raises(SymbolError, match="table: the table is infinite at R=3, K=1"):
        replace(theorem, bound=Tabulated((1.0, np.inf))).at_iterations({"R": 3.0}, [1])
    assert {one.verdict for one in check(theorem, ["monotone"])} <= {"unknown", "not applicable"}


def test_a_theorem_is_a_frozen_value_of_its_fields() -> None:
    values = [getattr(THEOREM8, one.name) for one in fields(Theorem)]
    again = Theorem(*values)
    assert again == THEOREM8 == replace(THEOREM8)
    assert repr(again) == "<Theorem area.theorem8 (as printed): E f(x̄_K) − f* for area>"
    assert again.takes
    assert again == THEOREM8  # what follows from the fields is no part of it
    assert again.__getstate__().keys() == {one.name for one in fields(Theorem)}
    with pytest.raises(FrozenInstanceError):
        again.id = "other"  # type: ignore[misc]


GOOD = """
id = "mine.theorem1"
title = "Theorem 8, written down again"
algorithm = "area"
metric = "ergodic-gap"
assumptions = ["lipschitz", "bounded-variance", "iid-events"]
conditions = ["alpha <= 1/w"]

[options]
start = "analysis"

[step]
alpha = "alpha"

[symbols.w]
meaning = "a curvature that I need"
domain = "positive"
units = [1, -2]

[definitions]
A = "(1/p_s + 2*qbar)*R**2"

[terms]
initial = "A/(2*alpha*M*K)"
noise = "alpha*sigma**2/2"
subgradient = "0.25*alpha*(M+1)*B**2"
"""
VALUES: dict[str, Any] = {"p": np.array([0.5]), "R": 3, "M": 50, "K": 6, "B": 1, "sigma": 0.5, "alpha": 0.1, "w": 2}


def _load(tmp_path: Path, text: str) -> Theorem:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return load_theorem(str(path))


def test_a_file_gives_the_same_object_as_a_built_in_theorem(tmp_path: Path) -> None:
    mine = _load(tmp_path, GOOD)
    assert (mine.id, mine.status, mine.algorithm, mine.horizon) == ("mine.theorem1", "user", "area", "every")
    assert mine.options == {"start": "analysis"}
    theirs = {name: value for name, value in VALUES.items() if name != "w"}
    registered = load_theorem("area.theorem8.fixed-step")
    assert mine.evaluate(VALUES).total == pytest.approx(registered.evaluate(theirs).total, rel=1e-15)
    assert "w" in mine.inputs()
    assert mine.as_dict()["inputs"]["w"].startswith("a curvature that I need")


def test_a_condition_of_the_file_is_checked(tmp_path: Path) -> None:
    with pytest.raises(BoundlabError, match=r"needs alpha ≤ 1/w, got 0.6 > 0.5") as error:
        _load(tmp_path, GOOD).evaluate({**VALUES, "alpha": 0.6})
    assert error.value.exit_code == 4


def test_a_file_may_be_about_another_algorithm_and_name_its_parameters(tmp_path: Path) -> None:
    mine = statement(
        tmp_path,
        metric="gradient-norm",
        algorithm="fedbuff",
        conditions=["L*eta_l*Q <= 1"],
        settable=["eta_l", "eta_g"],
        step={"eta_l": "1/(2*L*Q)", "eta_g": "1"},
        parameters={"M": "Q"},
        terms={"initial": "2*F0/(eta_g*eta_l*Q*T)"},
    )
    assert (mine.horizon_symbol, mine.parameters) == ("T", {"M": "Q"})
    values = {"L": 2, "Q": 5, "F0": 3, "T": 10}
    assert mine.step_options(values) == {"eta_l": 0.05, "eta_g": 1}
    assert float(mine.evaluate(values).total) == pytest.approx(2 * 3 / (0.05 * 5 * 10))


def _without(line: str) -> str:
    return GOOD.replace(line + "\n", "")


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("id = ", SpecError, "Invalid value"),
        ("id = 3 4\n", SpecError, "line 1"),
        ("", SpecError, "id is missing"),
        (_without('metric = "ergodic-gap"'), SpecError, "metric is missing"),
        (GOOD.replace("metric", "metrik"), SpecError, "unknown key 'metrik'; did you mean metric?"),
        (GOOD.replace('"ergodic-gap"', '"ergodic-gab"'), SpecError, "did you mean ergodic-gap?"),
        (GOOD.replace('"ergodic-gap"', "3"), SpecError, "metric must be text, got 3"),
        (GOOD.replace('"ergodic-gap"', "gap"), SpecError, "column 10); text stands in quotes"),
        (GOOD.replace("[terms]", "[bound]"), SpecError, "unknown key 'bound'; the bound's terms stand under [terms]"),
        (GOOD.replace("sigma**2", "BR**2"), FormulaError, "terms.noise: unknown symbol 'BR'; did you mean B*R?"),
        (GOOD.replace('alpha = "alpha"', 'stepsize = "1"'), SpecError, "with meaning and units; steps of area: alpha"),
        (
            GOOD.replace('"lipschitz"', '"lipshitz"'),
            SpecError,
            "unknown assumption 'lipshitz'; did you mean lipschitz?",
        ),
        (GOOD.replace('"lipschitz"', "1"), SpecError, "assumptions must be a list of texts"),
        (GOOD.replace("sigma**2", "sigm**2"), FormulaError, "terms.noise: unknown symbol 'sigm'; did you mean sigma?"),
        (GOOD.replace("sigma**2", "2sigma"), FormulaError, "write 2*sigma for 2sigma"),
        (GOOD.replace('alpha = "alpha"', 'c = "1/(L*(1 + tau))"'), SpecError, "only a step alpha changes with tau"),
        (GOOD.replace("sigma**2", "__import__(1)"), FormulaError, "terms.noise: __import__ is not a known function"),
        (GOOD.replace("sigma**2", "sigma.real"), FormulaError, "terms.noise: an attribute"),
        (GOOD.replace("sigma**2", "p"), FormulaError, "p is one number per client; write p[i] in a mean_i(…)"),
        (GOOD.replace('"alpha*sigma**2/2"', "[1]"), FormulaError, "terms.noise: a formula must be text, got list"),
        (GOOD.replace('alpha = "alpha"', 'omega = "alpha"'), SpecError, "omega is defined but unknown"),
        (
            GOOD.replace("[definitions]", '[definitions]\nrho = "1/w"').replace("sigma**2", "sigma**2*rho"),
            SpecError,
            "rho is defined but unknown; add [symbols.rho] with meaning and units",
        ),
        ('source = "dream"' + GOOD, SpecError, "source must be one of print, memory, own, got 'dream'"),
        (GOOD + '\n[parameters]\nM = "W"', SpecError, "parameters.M must name a symbol, got 'W'"),
        (GOOD + '\n[parameters]\nM = "n"', SpecError, "no formula reads n, so that M stands at its default; leave"),
        (GOOD + '\n[parameters]\nM = "M"\nreply = "Q"', SpecError, "no formula reads Q, so that reply stands"),
        (GOOD + "\n[parameters]\nM = 3", SpecError, "parameters.M must be text, got 3"),
        (GOOD.replace('alpha = "alpha"', 'alpha = "-1/w"'), SpecError, "step.alpha must be > 0, got -1/w"),
        (GOOD.replace('alpha = "alpha"', 'alpha = "K - K"'), SpecError, "step.alpha must be > 0, got 0"),
        (GOOD.replace('alpha = "alpha"', 'c = "alpha"'), SpecError, "step must give alpha, or c and d"),
        (GOOD.replace("symbols.w]", "symbols.L]"), SpecError, "L is built in"),
        (GOOD.replace("symbols.w]", "symbols.sqrt]"), SpecError, "no function"),
        (GOOD.replace("[1, -2]", "[1]"), SpecError, "units must be two integers"),
        (GOOD.replace('"positive"', '"positiv"'), SpecError, "unknown domain 'positiv'; did you mean positive?"),
        (_without('meaning = "a curvature that I need"'), SpecError, "meaning must be text"),
        (GOOD.replace("alpha <= 1/w", "alpha > 1/w"), SpecError, "be one inequality, left <= right or left < right"),
        (r"\begin{theorem} $f$ is convex. \end{theorem}", SpecError, "is LaTeX, and a theorem is a TOML file"),
        (GOOD.replace("A/(2*alpha*M*K)", "A/(alpha-alpha)"), FormulaError, "terms.initial: division by zero"),
        (GOOD.replace('A = "(1/p_s', 'A = "A*(1/p_s'), SpecError, "go round in a circle"),
        (GOOD + '\nhorizon = "some"', FormulaError, "terms.horizon: unknown symbol 'some'"),
        ('horizon = "some"\n' + GOOD, SpecError, "horizon must be one of every, fixed, got 'some'"),
        ("shape = 1\n" + GOOD, SpecError, "shape must be true or false, got 1"),
    ],
)
def test_a_wrong_file_is_answered_in_one_line_that_names_it(
    tmp_path: Path, text: str, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as error:
        _load(tmp_path, text)
    assert message in str(error.value)
    assert "mine.toml" in str(error.value)
    assert "\n" not in str(error.value)


def test_what_cannot_be_read_as_text_is_said(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"cannot read .*nothing.toml: there is no such file"):
        load_theorem(str(tmp_path / "nothing.toml"))
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    with pytest.raises(SpecError, match=r"cannot read"):
        load_theorem(str(folder))
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match=r"is not UTF-8 text"):
        load_theorem(str(binary))
    deep = tmp_path / "deep.toml"
    deep.write_text("a = " + "[" * 5000)
    with pytest.raises(SpecError, match=r"deep.toml"):
        load_theorem(str(deep))


THEOREMS: dict[str, Theorem] = registered("theorems")
EVERY = pytest.mark.parametrize("theorem", THEOREMS.values(), ids=THEOREMS)
SHAPES = {"area.theorem7", "fedcompass.corollary1", "fedfa.corollary", "afl_dga.corollary1"}

# Printed formulas whose two sides behave differently under f → c·f and x → s·x; the checks say how (units.terms).
WRONG_UNITS = {"area.theorem7", "fedcompass.corollary1", "fedfa.theorem1.squared-smoothness", "fedfa.corollary"}


@pytest.mark.sweep(10)
@EVERY
def test_what_a_theorem_asks_for_is_what_it_takes_to_evaluate_it(theorem: Theorem) -> None:
    values = values_at(theorem)
    found = theorem.evaluate(values)
    assert float(found.total) > 0
    assert sum(float(term) for term in found.terms.values()) == pytest.approx(float(found.total))
    assert theorem.unused([name for name in values if name in theorem.inputs()]) == ()
    for name in theorem.inputs():
        rest = {other: value for other, value in values.items() if other != name}
        if name == "p" or (name in ("p_s", "p_min", "qbar") and "p" in values):
            continue  # these follow from p
        with pytest.raises(SymbolError, match=rf"{theorem.id} needs {name}: .*units .*; set {name}="):
            theorem.evaluate(rest)


@pytest.mark.sweep(8)
@EVERY
def test_it_prints_its_left_side_its_symbols_and_its_step(theorem: Theorem) -> None:
    latex = theorem.latex()
    assert latex.startswith(METRICS[theorem.metric].latex)
    assert r"\le" in latex or r"\mathcal{O}" in latex
    used = {one.name for term in theorem.bound.terms.values() for one in term.free_symbols}
    assert all(theorem.symbols[name].latex in latex for name in used)
    letters = {name: r"\alpha_k" if name == "alpha" else theorem.symbols[name].latex for name in theorem.step}
    assert all(f"{letters[name]} = " in latex for name, rule in theorem.step.items() if str(rule) != name)
    assert json.loads(json.dumps(theorem.as_dict()))["id"] == theorem.id
    assert theorem.kind == theorem.evaluate(values_at(theorem)).kind == ("shape" if theorem.id in SHAPES else "bound")


@pytest.mark.sweep(21)
@pytest.mark.parametrize(("c", "s"), [(7.0, 1.0), (1.0, 3.0)])
@EVERY
def test_rescaling_f_or_x_rescales_the_number_by_the_units(theorem: Theorem, c: float, s: float) -> None:
    values: dict[str, Any] = values_at(theorem)
    if theorem.id == "fedfa.theorem1.squared-smoothness":  # a short step leaves room for sides that scale differently
        values |= {name: size / 400 for name, size in theorem.step_options(values).items() if name != "eta_g"}
    scaled = {
        name: np.asarray(value) * c ** theorem.symbols[name].units[0] * s ** theorem.symbols[name].units[1]
        for name, value in values.items()
    }
    a, b = METRICS[theorem.metric].units
    ratio = theorem.evaluate(scaled).total / theorem.evaluate(values).total
    assert (ratio == pytest.approx(c**a * s**b, rel=1e-9)) == (theorem.id not in WRONG_UNITS)


FOLDER = Path(__file__).parents[2] / "boundlab" / "theorems"
FILES = {path.stem: path for path in FOLDER.glob("*/*.toml")}
RECORDED = json.loads(Path(__file__).with_name("cores.json").read_text(encoding="utf-8"))


def test_every_file_is_registered_under_its_name_and_everything_registered_has_a_file() -> None:
    assert FILES.keys() == THEOREMS.keys()
    assert all(theorem.id == name for name, theorem in THEOREMS.items())


def test_ids_order_and_hashes_of_cores_are_those_that_are_recorded() -> None:
    """Who changes a statement on purpose writes the new hash down."""
    assert [(name, core(theorem).sha256) for name, theorem in THEOREMS.items()] == list(RECORDED.items())


@pytest.mark.sweep(18)
@pytest.mark.parametrize("name", FILES)
def test_a_users_file_of_the_same_text_says_the_same(name: str) -> None:
    """It is looked up in all registries, has one reading, and no factor cancels in the formulas as they are written."""
    again, theorem = load_theorem(FILES[name]), THEOREMS[name]
    assert core(again).json == core(theorem).json
    assert again.latex() == theorem.latex()
    assert (again.note, again.letters, again.conditions) == (theorem.note, theorem.letters, theorem.conditions)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", [name for name in THEOREMS if name.endswith(ALONG_RUN)])
def test_a_form_along_the_run_claims_the_same_with_constants_of_certain_points(name: str) -> None:
    """Where one run shows all points, it is about full gradients: of noise no run shows how large it may be."""
    form, theorem = THEOREMS[name], THEOREMS[name.removesuffix(ALONG_RUN)]
    shown = form.read_off_runs == form.points.keys()
    more = [BOUNDED_RUN, *([DETERMINISTIC] if shown else [])]
    same = replace(
        theorem,
        id=name,
        title=f"{theorem.title}, constants along the run",
        assumptions=tuple(dict.fromkeys((*theorem.assumptions, *more))),
        points=form.points,
        proofs=tuple(f"{one}{ALONG_RUN}" for one in theorem.proofs),
    )
    assert form.points
    assert form == same


def test_a_file_is_read_when_its_theorem_is_asked_for_and_once(tmp_path: Path) -> None:
    found = of_package(tmp_path, ("late", "never"))
    assert list(found) == ["late", "never"]
    (tmp_path / "late.toml").write_text(FILES["area.theorem8"].read_text(encoding="utf-8"), encoding="utf-8")
    assert found["late"]() is found["late"]()
    assert found["late"]().source == ""
    with pytest.raises(SpecError, match=r"never\.toml"):
        found["never"]()


@pytest.mark.nightly
def test_who_asks_for_one_theorem_reads_one_file() -> None:
    program = (
        "from boundlab.theorems import load_theorem, record; "
        "before = record._load; record._load = lambda path: print(path.name) or before(path); "
        "load_theorem('area.theorem8.repaired')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["area.theorem8.repaired.toml"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('recursion = "ogm"', 'recursion = "gd"', "recursion must be one of area, ogm, got 'gd'"),
        ("[step]", '[terms]\nbound = "R"\n[step]', "both say what the right side is"),
        ('recursion = "ogm"', "", "terms is missing"),
        ('recursion = "ogm"', 'recursion = "area"', "needs the options start and clock"),
        ('says = "σ = 0 (full gradients)"', "says = 1", "conditions 1: says must be text, got 1"),
        ('says = "σ = 0 (full gradients)"', 'means = "σ = 0"', "unknown key 'means'"),
    ],
)
def test_a_recursion_and_words_of_conditions_are_refused_where_they_are_none(
    before: str, after: str, words: str, tmp_path: Path
) -> None:
    text = FILES["classics.ogm"].read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(SpecError, match=words):
        read_theorem(tmp_path / "mine.toml")


ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
PRINTED = [one for one in THEOREMS.values() if one.of_paper]


def own(folder: Path, **more: Any) -> Path:
    return statement_file(
        folder,
        **{
            "assumptions": "convex smooth minimiser",
            "settable": ["alpha"],
            "step": {"alpha": "1/L"},
            "terms": {"bound": "R**2/(2*alpha*K)"},
            **more,
        },
    )


@cache
def anchors(page: str) -> frozenset[str]:
    """Return the anchors that GitHub gives the headings of a page: lower case, no punctuation, hyphens for blanks."""
    headings = re.findall(r"^#+ (.*)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    slugs = [re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings]
    earlier = [slugs[:place].count(slug) for place, slug in enumerate(slugs)]
    return frozenset(f"{slug}-{count}" if count else slug for slug, count in zip(slugs, earlier, strict=True))


def mentioned(name: str, page: str) -> bool:
    """Return whether a page has the whole id; the page of the textbook theorems leaves out their prefix."""
    text = (ROOT / page).read_text(encoding="utf-8")
    own = f"`{name.removeprefix('classics.')}`" if name.startswith("classics.") else None
    return bool(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text)) or bool(own and own in text)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", sorted(THEOREMS))
def test_what_a_theorem_names_is_there(name: str) -> None:
    theorem = THEOREMS[name]
    assert theorem.page, "a registered theorem has a page"
    assert mentioned(name, theorem.page)
    if theorem.refuted_by:
        case = json.loads((ROOT / theorem.refuted_by).read_text(encoding="utf-8"))
        assert case["theorem"] == name
    for repair in theorem.repaired_by:
        assert THEOREMS[repair].status in ("repaired", "derived here")
        assert THEOREMS[repair].algorithm == theorem.algorithm
        assert THEOREMS[repair].metric == theorem.metric
    if theorem.proof:
        page, _, anchor = theorem.proof.partition("#")
        assert anchor in anchors(page)
        assert mentioned(name, page)


def test_what_is_refuted_has_a_repair_and_nothing_true_is_refuted() -> None:
    refuted = [one for one in THEOREMS.values() if one.refuted_by]
    assert all(one.of_paper for one in refuted)
    assert not any(one.shape for one in refuted)
    assert all(one.repaired_by for one in refuted)
    assert len(refuted) >= 8
    assert all(one.repaired_by for one in PRINTED)
    assert not any(one.repaired_by for one in THEOREMS.values() if not one.of_paper)


def test_the_letters_are_those_of_the_papers() -> None:
    assert dict(THEOREMS["fedcompass.theorem1"].letters) == {
        "n": "m",
        "F0": "F^*",
        "G_sq": "M",
        "eta": r"\eta_\ell",
        "speed_ratio": r"\mu",
    }
    assert dict(THEOREMS["fedfa.delta.a"].letters) == {"F0": "F^*", "G_sq": "G", "window": "K"}
    assert dict(THEOREMS["afl_dga.r1"].letters) == {"F0": r"\Delta"}
    assert not any(one.letters for name, one in THEOREMS.items() if name.startswith(("area.", "classics.")))
    for theorem in THEOREMS.values():
        read = theorem.read_by(set(theorem.inputs()) | set(theorem.step) | set(theorem.definitions))
        assert set(theorem.letters) <= read
        assert all(letter != theorem.symbols[name].latex for name, letter in theorem.letters.items())
        assert len(set(theorem.letters.values())) == len(theorem.letters)


def test_the_lines_lead_on() -> None:
    assert related_links(THEOREMS["fedstaleweight.theorem1"]) == (
        "counterexample: boundlab exact fedstaleweight.theorem1\n"
        "true instead: fedstaleweight.rf1, fedstaleweight.rf2, fedstaleweight.rf3\n"
        "step by step: boundlab prove fedstaleweight.theorem1\n"
        "why: boundlab docs fedstaleweight"
    )
    assert related_links(THEOREMS["classics.sgd.sampled"]) == "proof: boundlab docs classics#stochastic-gradients"
    assert related_links(THEOREMS["classics.ogm"]) == "page: boundlab docs classics"
    assert related_links(THEOREMS["area.theorem7"]).startswith("true instead: area.theorem7.explicit, ")


def test_a_theorem_names_the_proofs_that_decide_it_and_no_others() -> None:
    scripts = registered("proofs").values()
    same = {"area.theorem8.printed-start": "area.theorem8"}  # printed once, for a start that Algorithm 2 does not have
    for theorem in THEOREMS.values():
        known = theorem.id, same.get(theorem.id)
        own = (one.id for one in scripts if one.id in known or (theorem.id == one.proves and not one.printed))
        assert sorted(own) == sorted(theorem.proofs), theorem.id
        assert all(f"boundlab prove {name}" in related_links(theorem) for name in theorem.proofs)


def test_a_theorem_of_ones_own_says_what_it_knows(tmp_path: Path) -> None:
    path = own(tmp_path)
    assert related_links(load_theorem(str(path))) == ""
    said = {
        "refuted_by": "cases/mine.json",
        "repaired_by": ["classics.gd.ergodic"],
        "page": "notes.md",
        "proof": "notes.md#the-proof",
        "proofs": ["mine.first"],
        "letters": {"R": "D_0", "alpha": r"\gamma"},
    }
    theorem = load_theorem(str(own(tmp_path, **said)))
    assert related_links(theorem) == (
        "counterexample: cases/mine.json\ntrue instead: classics.gd.ergodic\nproof: notes.md#the-proof\n"
        "step by step: boundlab prove mine.first\nwhy: notes.md"
    )
    fields = json.loads(json.dumps(theorem.as_dict()))
    assert {key: fields[key] for key in said} == said
    assert theorem.latex().endswith(r"\text{the paper writes } D_0 \text{ for } R,\ \gamma \text{ for } \alpha")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"refuted_by": "case.txt"}, "refuted_by must be the path of a case file"),
        ({"refuted_by": "case.json", "shape": True}, "refuted_by must be empty, since a shape"),
        ({"repaired_by": ["mine"]}, "repaired_by must name other theorems, each once"),
        ({"repaired_by": ["a", "a"]}, "repaired_by must name other theorems, each once"),
        ({"repaired_by": "a"}, "repaired_by must be a list of texts"),
        ({"page": "a.md#b"}, "page must be a page without an anchor"),
        ({"proof": "a.md"}, "proof must be a page with an anchor"),
        ({"letters": {"sigma_l": "s"}}, "letters must give symbols that the theorem reads a letter; see sigma_l"),
        ({"letters": {"R": ""}}, "letters must give symbols that the theorem reads a letter; see R"),
        ({"letters": {"R": 1}}, "letters.R must be text"),
        ({"letters": {"RR": "s"}}, "unknown symbol 'RR'"),
    ],
)
def test_a_link_that_cannot_be_one_is_one_line(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    with pytest.raises((SpecError, SymbolError)) as caught:
        load_theorem(str(own(tmp_path, **more)))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_theorems_own_counterexample_is_replayed_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    theorem = THEOREMS["area.theorem8"]
    assert evaluate(theorem, load_case(own_case(theorem))).violated
    with pytest.raises(SpecError, match=r"area\.theorem8\.repaired names no counterexample of its own"):
        own_case(THEOREMS["area.theorem8.repaired"])
    mine = load_theorem(str(own(tmp_path, refuted_by="cases/mine.json")))
    with pytest.raises(SpecError, match="is not here"):
        own_case(mine)
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "mine.json").write_text("{}", encoding="utf-8")
    assert own_case(mine) == Path("cases/mine.json")


@pytest.mark.sweep(5)
@pytest.mark.parametrize(
    "command",
    [
        ["show", "area.theorem8"],
        ["check", "area.theorem8", "--only", "units"],
        ["exact", "area.theorem8"],
        ["falsify", "fedstaleweight.theorem1", "--candidates", "1", "--jobs", "1"],
        ["compare", "area.theorem8", "--problem", "lad:x0=3", "--delays", "iid:p_s=0.5", "-k", "6", "--set", "M=50"],
    ],
)
def test_every_command_about_a_theorem_leads_on(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    theorem, runner = THEOREMS[command[1]], CliRunner()
    shown = runner.invoke(application(), command).stdout
    assert f"\n\n{related_links(theorem)}\n" in shown
    below = shown.partition(related_links(theorem))[2].splitlines()
    assert len(below) <= 3  # only the files that were written
    fields = json.loads(runner.invoke(application(), [*command, "--json"]).stdout)
    assert {key: fields[key] for key in theorem.links()} == theorem.links()


def test_the_lines_keep_their_paths_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    found = CliRunner().invoke(application(), ["show", "fedcompass.theorem1"])
    assert found.exit_code == ExitCode.STANDS
    assert related_links(THEOREMS["fedcompass.theorem1"]) in found.stdout


def test_the_page_is_what_a_referee_reads() -> None:
    shown = CliRunner().invoke(application(), ["show", "fedcompass.theorem1"]).stdout
    for line in (
        "step size    η = 1/(2·Q_max·L) (or given)",
        "  initial: 2·γ₂·F₀/(Q_min·η·T)",
        "  γ₁ = 1 + (n − 1)/μ′",
        "  G_sq (the paper's M): bound on every ‖∇f_i‖²; ≥ 0; units (2, −2)",
        "  may be set: eta (η, the paper's η_ℓ), mu_step (μ′)",
    ):
        assert line in shown
    assert "**" not in shown
    assert "  √(A·(σ² + (M + 1)·B²/2)/(M·K))" in CliRunner().invoke(application(), ["show", "area.theorem8"]).stdout


@pytest.mark.parametrize(
    ("horizon", "window", "where"),
    [("T", "N/T", "1 … T + N − 1"), ("T", "1/T", "1 … T"), ("K", "1/K", "1 … K")],
)
def test_where_a_constant_is_needed_is_said_in_symbols_of_the_theorem(
    horizon: str, window: str, where: str, tmp_path: Path
) -> None:
    algorithm, metric, step = ("gd", "gap", "alpha") if horizon == "K" else ("fedbuff", "gradient-norm", "eta_l")
    path = tmp_path / "mine.toml"
    path.write_text(
        f'id = "mine"\nalgorithm = "{algorithm}"\nmetric = "{metric}"\n'
        'assumptions = ["smooth", "minimiser", "bounded-gradients", "bounded-run", "deterministic"]\n'
        f'[step]\n{step} = "{step}"\n[terms]\nall = "G_sq/L*{window}"\n[points]\nG_sq = ["local-steps"]\n',
        encoding="utf-8",
    )
    (line,) = (one for one in texts(theorem_page(load_theorem(path))) if "is needed only" in one)
    assert line.endswith(f"only at the local steps of all updates that enter server updates {where}")
