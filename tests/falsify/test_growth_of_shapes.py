"""Printed O(·) with [growth]: false ones are refuted whatever their constants are, true ones never are."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import sympy
from growth_makers import shape

import boundlab as bl
from boundlab.cli import invoke
from boundlab.errors import AssumptionError, SpecError
from boundlab.falsify import falsify
from boundlab.registry import registered
from boundlab.theorems import FormulaBound, Theorem, load_theorem
from boundlab.verdict import Verdict

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.literature.entries import FILES, entries

ASYNC = {"schedule": "constant", "sampling": "arrival"}
SHORT = 'conditions = ["4*alpha*L*concurrency <= 1"]'
MOVES = ("horizon", "noise", "start")


def unknown(theorem: Theorem, constant: sympy.Expr = sympy.S.One) -> Theorem:
    """Return a theorem as an O(·), its bound divided by a constant: nothing true becomes false by that."""
    along = [name for name in (*theorem.read, theorem.horizon_symbol) if theorem.symbols[name].role in MOVES]
    bound = theorem.bound
    if bound.closed:
        bound = FormulaBound({name: term / constant for name, term in bound.terms.items()})
    return replace(
        theorem, id=f"shape.{theorem.id}", shape=True, growth=tuple(dict.fromkeys(along)), bound=bound, refuted_by="",
        repaired_by=(), proofs=(),
    )  # fmt: skip


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("terms", "more", "family"),
    [
        # A step above 2/L: the slope grows geometrically, and nothing in the statement forbids the step.
        ({"start": "F0/(alpha*T)", "noise": "alpha*L*sigma**2"}, "", "T → ∞"),
        # A floor of noise under what tends to 0.
        (
            {"start": "F0/(alpha*T)", "noise": "alpha*L*sigma**2/T"},
            SHORT,
            "T → ∞",
        ),
        ({"start": "F0/(alpha*T)"}, SHORT, "T → ∞"),
        # σ for σ²: the unit is right with √(F0·L), and large noise breaks it.
        (
            {"start": "F0/(alpha*T)", "noise": "alpha*L*sigma*sqrt(F0*L)"},
            SHORT,
            "the noise is s times that of the case",
        ),
    ],
)
def test_false_statements_about_asynchronous_sgd_are_refuted(
    tmp_path: Path, terms: dict[str, str], more: str, family: str
) -> None:
    along = ["T"] if "T" in family else ["sigma"]
    theorem = shape(tmp_path, terms, algorithm="async_sgd", over="mean", along=along, options=ASYNC, more=more)
    found = falsify(theorem, limit=16)
    assert found.verdict is Verdict.VIOLATED
    assert found.growth is not None
    assert found.growth.family.startswith(family)
    assert found.case is not None
    assert bl.exact(theorem, dict(found.case)).verdict is Verdict.VIOLATED
    assert found.as_dict()["growth"]["refutes"] is True
    assert found.best is not None
    assert found.clients >= found.best.candidate.clients


TRUE = [
    *(one for one in registered("theorems").values() if one.status in ("textbook", "repaired", "derived here")),
    *(load_theorem(str(path)) for path in sorted(FILES.glob("*.toml"))),
]
# Growth is about updates and families of problems: seconds, constants of each run and `assume` are refused.
TRUE = [one for one in TRUE if not one.left.in_seconds and not one.points and not one.assume]


@pytest.mark.sweep(144)
@pytest.mark.parametrize("place", range(len(TRUE)))
def test_true_theorems_are_true_shapes(place: int) -> None:
    own = unknown(TRUE[place], sympy.Integer(1 + 37 * place % 100))
    assert not falsify(own, limit=8).violated


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", [*(one.id for one in registered("theorems").values() if one.shape), "stich-2020.delayed"]
)
def test_registered_shapes_keep_their_verdict(name: str) -> None:
    """Those without [growth] have none; what a table would say of them is told."""
    theorem = load_theorem(str(FILES / f"{name}.toml")) if name in {one.stem for one in FILES.glob("*.toml")} else None
    if theorem is None:
        with pytest.raises(AssumptionError, match=r"no number can refute it; a table \[growth\] says along which"):
            falsify(registered("theorems")[name], limit=2)
    else:
        assert not falsify(theorem, limit=30).violated


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["stich-2020.delayed", "koloskova-2022.mean", "woodworth-2020.local"])
def test_mutants_of_published_shapes_are_refuted(name: str) -> None:
    entry = next(one for one in entries() if one.id == name)
    found = falsify(entry.mutant(), limit=60)
    assert found.violated
    assert found.growth is not None


def test_the_command_shows_the_family_and_what_repeats_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shape(tmp_path, {"bound": "L*R**2/K"}, along=["K"])
    monkeypatch.chdir(tmp_path)
    assert invoke(["falsify", "shape.toml", "--candidates", "30"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "a family begins at: 1 client" in out
    assert "K → ∞ left = (9/4)**K/2 right = 1/K" in out
    assert "is false whatever its constants are: left like 2.25^K, right at most like K^(-1)" in out
    assert "repeat: boundlab exact shape.toml shape.counterexample.json" in out
    assert invoke(["exact", "shape.toml", "shape.counterexample.json"]) == 1
    assert "K → ∞: left like 2.25^K" in " ".join(capsys.readouterr().out.split())
    assert invoke(["compare", "shape.toml", "--problem", "quadratic:A=[[[1]]],b=[[0]],x0=1", "--set", "alpha=1"]) == 3
    assert "boundlab falsify looks for families" in " ".join(capsys.readouterr().out.split())


def test_growth_is_part_of_the_core_where_there_is_one(tmp_path: Path) -> None:
    with_, without = (shape(tmp_path, {"bound": "L*R**2/K"}, along=along) for along in (["K", "R"], []))
    other = shape(tmp_path, {"bound": "L*R**2/K"}, along=["R", "K"])
    assert with_.core.sha256 == other.core.sha256 != without.core.sha256
    assert "growth" not in without.core.as_dict()
    assert with_.core.as_dict()["growth"] == ["K", "R"]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("in = []", "a list of symbols"),
        ('in = "K"', "a list of symbols"),
        ('along = ["K"]', "unknown key 'along'; known: in"),
        ('in = ["K", "K"]', "each once; see K"),
        ('in = ["alpha_0"]', "alpha_0"),
    ],
)
def test_a_table_that_says_nothing_is_refused(tmp_path: Path, table: str, why: str) -> None:
    text = 'id = "a"\nalgorithm = "gd"\nmetric = "gap"\nassumptions = ["convex", "smooth"]\nshape = true\n'
    path = tmp_path / "a.toml"
    path.write_text(f'{text}[step]\nalpha = "1/L"\n[terms]\nbound = "L*R**2/K"\n[growth]\n{table}\n', encoding="utf-8")
    with pytest.raises(Exception, match=why) as error:
        load_theorem(str(path))
    assert not isinstance(error.value, (TypeError, KeyError))


def test_a_bound_with_constants_has_no_growth(tmp_path: Path) -> None:
    theorem = shape(tmp_path, {"bound": "L*R**2/K"}, along=["K"])
    with pytest.raises(SpecError, match="growth is of a shape"):
        replace(theorem, shape=False)


FLAT = """
id = "flat"
algorithm = "gd"
assumptions = [{assumed}"smooth", "minimiser", "deterministic"]
shape = true
[growth]
in = {along}
[left]
quantity = "{quantity}"
over = "{over}"
[step]
alpha = "1/(2*L)"
[terms]
bound = "{bound}"
"""
ALONG = ("K", "F0")


def about_gradient_descent(
    folder: Path, quantity: str, over: str, bound: str, along: tuple[str, ...] = ALONG, assumed: str = '"convex", '
) -> Theorem:
    path = folder / "flat.toml"
    words = json.dumps(list(along))
    path.write_text(FLAT.format(quantity=quantity, over=over, bound=bound, along=words, assumed=assumed))
    return load_theorem(str(path))


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("quantity", "over", "false", "true"),
    [
        ("gap", "last", "L*R**2/K**2", "L*R**2/K"),
        ("gap", "average", "L*R**2/K**(3/2)", "L*R**2/K"),
        ("slope", "best", "F0*L/K**4", "F0*L/K"),
        ("distance", "last", "R**2/sqrt(K)", "R**2"),
    ],
)
def test_rates_that_no_fixed_function_refutes_fail_for_functions_that_get_flatter(
    tmp_path: Path, quantity: str, over: str, false: str, true: str
) -> None:
    found = falsify(about_gradient_descent(tmp_path, quantity, over, false), limit=16)
    assert found.growth is not None
    assert found.growth.family == "f(x) = (x_1²/(1·K) + x_2²)/2 from (1, 0), at each K its own"
    assert bl.exact(found.theorem, dict(found.case or {})).verdict is Verdict.VIOLATED
    assert not falsify(about_gradient_descent(tmp_path, quantity, over, true), limit=16).violated


@pytest.mark.nightly
def test_constants_that_may_depend_on_what_moves_are_let_be(tmp_path: Path) -> None:
    """Flatter functions have another F0 and another mu: the unknown constants must not know them."""
    assert not falsify(about_gradient_descent(tmp_path, "gap", "last", "L*R**2/K**2", ("K",)), limit=16).violated
    strong = about_gradient_descent(tmp_path, "gap", "last", "L*R**2/K**2", ALONG, '"strongly-convex", ')
    assert not falsify(strong, limit=16).violated
    linear = about_gradient_descent(
        tmp_path, "gap", "last", "L*R**2*(1 - mu/(2*L))**K", (*ALONG, "mu"), '"strongly-convex", '
    )
    assert not falsify(linear, limit=16).violated
