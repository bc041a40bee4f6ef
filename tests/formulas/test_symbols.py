"""Symbols: meanings, domains, units."""

import numpy as np
import pytest

from boundlab.errors import SymbolError
from boundlab.formulas.symbols import DOMAINS, SYMBOLS, check, lookup, make_symbol, symbol


def test_every_symbol_says_what_it_is_and_prints_in_latex_and_unicode() -> None:
    for name, info in SYMBOLS.items():
        assert info.name == name == info.symbol.name
        assert info.meaning
        assert info.latex
        assert info.unicode
        assert info.domain.id in DOMAINS
        assert info.as_dict()["units"] == list(info.units)


@pytest.mark.parametrize(
    ("names", "units"),
    [
        ("mu L gamma", (1, -2)),
        ("B G sigma G_star", (1, -1)),
        ("zeta R", (0, 1)),
        ("F0", (1, 0)),
        ("sigma_l sigma_g sigma_g_mean", (1, -1)),
        ("G_sq", (2, -2)),
        ("L_sq", (2, -4)),
        ("eta eta_l eta_sum", (-1, 2)),
        ("eta_sq drift", (-2, 4)),
        ("eta_g T Q N tau_max share_bias W_min W_max V_max chi2 kappa_lag C_lag S M_own SM2", (0, 0)),
        ("alpha c D a0 a_init", (-1, 2)),
        ("p p_s p_min qbar n M K kappa delta d", (0, 0)),
    ],
)
def test_units_are_those_of_the_design(names: str, units: tuple[int, int]) -> None:
    assert {lookup(name).units for name in names.split()} == {units}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("sigma", -1, "sigma must be ≥ 0, got -1 (noise level"),
        ("mu", 0, "mu must be > 0, got 0 (strong convexity"),
        ("L", np.nan, "L must be > 0, got nan"),
        ("L", np.inf, "L must be > 0, got inf"),
        ("K", 2.5, "K must be an integer ≥ 1, got 2.5"),
        ("M", 0, "M must be an integer ≥ 1, got 0"),
        ("p_s", 0, "p_s must be in (0, 1], got 0"),
        ("p_s", 1.5, "p_s must be in (0, 1], got 1.5"),
        ("qbar", 0.5, "qbar must be ≥ 1, got 0.5"),
        ("p", [0.5, -0.1], "p must be in (0, 1], got -0.1"),
        ("p", 0.5, "p must be a list of numbers, one per client"),
        ("R", [], "R is empty"),
        ("R", "three", "R must be ≥ 0, got 'three'"),
        ("R", 1j, "R must be ≥ 0, got 1j"),
        ("R", True, "R must be ≥ 0, got True"),
        ("zetta", 1, "unknown symbol 'zetta'; did you mean zeta?"),
    ],
)
def test_a_value_outside_its_domain_is_answered_with_the_symbols_meaning(
    name: str, value: object, message: str
) -> None:
    with pytest.raises(SymbolError) as error:
        check(name, value)  # type: ignore[arg-type]
    assert str(error.value).startswith(message)


def test_values_inside_the_domain_come_back_as_float64_of_the_same_shape() -> None:
    assert check("K", [[1, 2], [3, 4]]).shape == (2, 2)
    assert check("sigma", 0).dtype == np.float64
    assert check("p_s", 1).item() == 1.0


def test_sympy_knows_the_domain() -> None:
    assert symbol("L").is_positive
    assert symbol("sigma").is_nonnegative
    assert symbol("K").is_integer


def test_a_symbol_of_an_unknown_domain_is_refused() -> None:
    with pytest.raises(SymbolError, match="unknown domain 'positiv'; did you mean positive"):
        make_symbol("q", "a thing", "positiv", (0, 0))
