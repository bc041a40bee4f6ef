"""Theorem objects and their files: inputs, evaluation, units, errors, what registered ones keep, where they lead."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from page_makers import texts
from paper_theorems import AREA as BY_ID
from statements import statement, statement_file
from theorem_points import AREA as FULL, values_at

from boundlab.assumptions import BOUNDED_RUN, DETERMINISTIC
from boundlab.case import load_case, own_case
from boundlab.errors import AssumptionError, FormulaError, SpecError, SymbolError
from boundlab.exact import evaluate
from boundlab.formulas.symbols import symbol
from boundlab.formulas.units import degrees
from boundlab.metrics import METRICS
from boundlab.pages.theorem import related_links, theorem_page
from boundlab.registry import registered
from boundlab.theorems import ALONG_RUN, FormulaBound, Theorem, core, load_theorem
from boundlab.theorems.record import of_package, read_theorem

THEOREM7, THEOREM8 = BY_ID["area.theorem7"], BY_ID["area.theorem8"]


def test_a_sum_of_different_units_is_told_apart() -> None:
    with pytest.raises(FormulaError, match=r"has units \((1, −2|0, 1)\), but . has \((1, −2|0, 1)\)"):
        degrees(symbol("L") + symbol("R"))
    with pytest.raises(FormulaError, match="exp of"):
        degrees(sympy.exp(symbol("L")))
    with pytest.raises(FormulaError, match="exponent"):
        degrees(symbol("L") ** symbol("R"))
    assert degrees(sympy.S.Zero) is None


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


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": "proved"}, "status must be one of"),
        ({"step": {"c": symbol("c")}}, "step must give alpha, or c and d"),
        ({"step": {}}, r"step must give alpha, or c and d.*got nothing"),
        ({"step": {"eta_x": symbol("alpha")}}, "unknown symbol 'eta_x'"),
        ({"parameters": {"M": "W"}}, "unknown symbol 'W'"),
        ({"bound": FormulaBound({"x": sympy.Symbol("zz")})}, "unknown symbol 'zz'"),
    ],
)
def test_fields_with_other_values_are_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises((SpecError, SymbolError), match=words):
        replace(THEOREM8, **fields)


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


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, r"cannot read .*mine.toml: there is no such file"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        (b"a = " + b"[" * 5000, r"mine\.toml"),
    ],
    ids=["nothing", "bytes", "deep"],
)
def test_what_cannot_be_read_as_text_is_said(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "mine.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SpecError, match=words):
        load_theorem(str(path))


THEOREMS: dict[str, Theorem] = registered("theorems")
EVERY = pytest.mark.parametrize("theorem", THEOREMS.values(), ids=THEOREMS)
SHAPES = {"area.theorem7", "fedcompass.corollary1", "fedfa.corollary", "afl_dga.corollary1"}


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


def test_letters_are_given_to_what_a_theorem_reads_and_only_where_a_paper_has_others() -> None:
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
