"""Whatever theorem a file states, ``check`` ends with a table: no crash, no minutes, the same answer again."""

import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from own_theorems import own_theorem

from boundlab.checks import Check, check, groups
from boundlab.errors import BoundlabError
from boundlab.metrics import METRICS
from boundlab.theorems import load_theorem

NAMES = (
    "K",
    "T",
    "L",
    "mu",
    "B",
    "G",
    "sigma",
    "zeta",
    "R",
    "F0",
    "sigma_g",
    "n",
    "M",
    "p_s",
    "qbar",
    "tau_max",
    "kappa",
    "alpha",
    "eta_l",
    "V",
    "w",
    "share_bias",
)
ASSUMPTIONS = ("smooth", "strongly-convex", "convex", "lipschitz", "bounded-variance", "minimiser", "iid-events")
EXPONENTS = ("2", "3", "64", "(-1)", "(-64)", "(1/2)", "(-3/2)", "K", "(2*K)", "(-K)")
FUNCTIONS = ("sqrt", "exp", "log", "floor", "ceiling", "Abs")
ALGORITHMS = {"gd": "alpha", "area": "alpha", "fedbuff": "eta_l", "nesterov": "alpha", "areas": "alpha"}


@st.composite
def formulas(draw: st.DrawFn, depth: int = 3) -> str:
    """Any formula of the whitelist: sums, products, powers with any exponent, roots, logarithms, Min and Max."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from((*NAMES, *NAMES, "0", "1", "2", "3/7", "0.1", "1e9")))
    one, other = draw(formulas(depth - 1)), draw(formulas(depth - 1))
    kind = draw(st.sampled_from(("+", "-", "*", "/", "**", "power", "function", "Min", "Max")))
    if kind == "power":
        return f"({one})**{draw(st.sampled_from(EXPONENTS))}"
    if kind == "function":
        return f"{draw(st.sampled_from(FUNCTIONS))}({one})"
    return f"{kind}({one}, {other})" if kind in ("Min", "Max") else f"({one}){kind}({other})"


@st.composite
def files(draw: st.DrawFn) -> str:
    """The text of a theorem, well formed and otherwise arbitrary."""
    algorithm = draw(st.sampled_from(sorted(ALGORITHMS)))
    step = ALGORITHMS[algorithm]
    rule = draw(st.just(step) | formulas(2))
    conditions = draw(st.lists(st.tuples(formulas(2), formulas(2)), max_size=2))
    terms = draw(st.lists(formulas(), min_size=1, max_size=3))
    sides = ", ".join(f'"{left} <= {right}"' for left, right in conditions)
    assumed = ", ".join(f'"{name}"' for name in sorted(draw(st.sets(st.sampled_from(ASSUMPTIONS)))))
    lines = [
        'id = "any"',
        f'metric = "{draw(st.sampled_from(sorted(METRICS)))}"',
        f'algorithm = "{algorithm}"',
        f"assumptions = [{assumed}]",
        f"conditions = [{sides}]",
        f"shape = {draw(st.sampled_from(('true', 'false')))}",
        "[step]",
        f'{step} = "{rule}"',
        "[definitions]",
        f'kappa = "{draw(formulas(2))}"',
        "[symbols.V]",
        'meaning = "anything"',
        "units = [1, -1]",
        'domain = "real"',
        "[symbols.w]",
        'meaning = "a share"',
        "units = [0, 0]",
        'domain = "fraction"',
        "[terms]",
        *(f'{name} = "{term}"' for name, term in zip(string.ascii_lowercase, terms, strict=False)),
    ]
    return "\n".join(lines)


def table(path: Path) -> tuple[Check, ...] | None:
    """Return what the checks find, None where the file is refused."""
    try:
        theorem = load_theorem(str(path))
    except BoundlabError:
        return None
    return check(theorem)


@pytest.mark.nightly
@given(text=files())
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_theorem_gets_its_table(tmp_path: Path, text: str) -> None:
    path = tmp_path / "any.toml"
    path.write_text(text, encoding="utf-8")
    found = table(path)
    if found is not None:
        assert {one.group for one in found} == set(groups())
        assert len({one.id for one in found}) == len(found)
        assert all(bool(one.consequence) == (one.verdict in ("failed", "suspicious")) for one in found)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "term",
    [
        "(K+L+M+R+B+sigma+mu+alpha)**64",
        "1/(K+L+M+R+B+sigma+mu+alpha)**64",
        "R*((K+L+M+R+B)**32 - (sigma+mu+alpha)**32)",
        "K**K**K",
        "exp(exp(exp(exp(K))))",
        "R**2*(1-alpha*mu)**(K**K)",
    ],
)
def test_a_formula_that_explodes_is_not_multiplied_out(tmp_path: Path, term: str) -> None:
    found = check(own_theorem(tmp_path, term=term))
    assert {one.group for one in found} == set(groups())
    # Nothing came to the last resort: all work is bounded by predicted counts.
    assert not any("not decided in" in one.witness for one in found)


# Bounds that read no counter, of right and of wrong units and of none; and bounds that are 0 where mu = L.
CORNERS = {
    "squared-distance": (
        "R**2",
        "sigma**2",
        "n",
        "R**2*((L-mu)/(L+mu))**(2*K)",
        "R**2*(L-mu)/L",
        "R**2*(1-mu/L)**K",
        "R**2*log(L/mu)",
    ),
    "ergodic-gap": ("L*R**2", "B*R", "alpha*B**2"),
    "gap": ("F0", "mu*R**2", "0"),
    "gradient-norm": ("2*L*F0", "G_sq", "alpha"),
    "gradient-norm-last": ("G_sq", "3"),
}


@pytest.mark.sweep(5)
@pytest.mark.parametrize(("metric", "term"), [(metric, term) for metric, terms in CORNERS.items() for term in terms])
def test_a_bound_without_its_counter_or_zero_where_mu_is_l_gets_its_table(
    tmp_path: Path, metric: str, term: str
) -> None:
    for step in ('alpha = "alpha"', 'alpha = "1/L"', 'alpha = "2/(mu + L)"'):
        found = check(own_theorem(tmp_path, metric=metric, term=term, step=step, conditions=""))
        assert {one.group for one in found} == set(groups())
        assert len({one.id for one in found}) == len(found)
