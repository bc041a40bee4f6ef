"""Theorems of the user's own from TOML files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_makers import texts
from statements import statement

from boundlab.errors import BoundlabError, FormulaError, SpecError
from boundlab.pages.theorem import theorem_page
from boundlab.theorems import Theorem, load_theorem

GOOD = """
id = "mine.theorem1"
title = "Theorem 8, written down again"
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
        (
            GOOD.replace('"lipschitz"', '"lipshitz"'),
            SpecError,
            "unknown assumption 'lipshitz'; did you mean lipschitz?",
        ),
        (GOOD.replace('"lipschitz"', "1"), SpecError, "assumptions must be a list of texts"),
        (GOOD.replace("sigma**2", "sigm**2"), FormulaError, "terms.noise: unknown symbol 'sigm'; did you mean sigma?"),
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
        (GOOD + "\n[parameters]\nM = 3", SpecError, "parameters.M must name a symbol, got 3"),
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
