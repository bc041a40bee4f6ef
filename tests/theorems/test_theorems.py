"""Theorem objects: inputs, evaluation, step sizes, units, errors."""

import warnings
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from typing import Any, final

import numpy as np
import pytest
import sympy
from paper_theorems import AREA as BY_ID
from python_calls import calls_counted
from theorem_points import AREA as FULL

from boundlab.checks import check
from boundlab.errors import AssumptionError, FormulaError, SpecError, SymbolError
from boundlab.formulas.symbols import symbol
from boundlab.formulas.units import degrees
from boundlab.theorems import Bound, FormulaBound, Theorem, load_theorem

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
    below = replace(without, step={"alpha": 1 / symbol("L"), "beta": -sympy.S.One})
    with pytest.raises(SymbolError, match=r"needs one finite beta, in \[0, 1\]"):
        below.step_options({"L": 2, "R": 1})


def test_what_may_still_be_set() -> None:
    assert "alpha" in BY_ID["area.theorem8.fixed-step"].free(FULL)
    assert BY_ID["area.theorem8"].free(FULL) == frozenset()
    assert {"alpha", "c", "d", "D", "G_star"} <= BY_ID["area.theorem7.recursion"].free(FULL)
    assert BY_ID["area.theorem7.explicit"].free(FULL) == {"D"}
    assert THEOREM8.unused(["L", "p", "sigma", "K"]) == ("L",)


def test_a_fixed_horizon_is_not_read_as_a_bound_at_every_iteration() -> None:
    assert THEOREM8.value_at(FULL, np.array([1000])) == THEOREM8.evaluate(FULL).total
    with pytest.raises(SymbolError, match="about the one K"):
        THEOREM8.value_at(FULL, np.array([10, 1000]))
    fixed = BY_ID["area.theorem8.fixed-step"]
    assert (np.diff(fixed.value_at({**FULL, "alpha": 0.1}, np.array([10, 1000]))) < 0).all()
    with pytest.raises(SymbolError, match="K must be an integer ≥ 1, got 0"):
        fixed.value_at({**FULL, "alpha": 0.1}, np.array([0]))


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
    assert not hasattr(again, "__dict__")
    with pytest.raises(FrozenInstanceError):
        again.id = "other"  # type: ignore[misc]
