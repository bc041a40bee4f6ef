"""What a theorem's file says is text: in no command does a character of it steer a terminal, or turn what follows."""

import json
import math
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from own_theorem import own_theorem

import boundlab as bl
from boundlab.cli import invoke

HOSTILE = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202e \u2066 \u200b \x08\r"
SETTINGS = [f"--set={one}" for one in ("B=1", "sigma=0", "R=1", "p_s=0.5", "qbar=2", "M=2", "K=10", "alpha=0.1")]
RUN = ["--problem=lad", "--delays=iid:p_s=0.5", "--iterations=5", "--trials=5", "--set=alpha=0.1"]
COMMANDS = {
    "show": [],
    "eval": SETTINGS,
    "check": [],
    "compare": RUN,
    "falsify": ["--candidates=5", "--jobs=1"],
    "worst-case": ["--iterations=1", "--set=M=1", "--set=alpha=0.1", "--delays=iid:p=[0.5]", "--set=B=1", "--set=R=1"],
}


def steering(text: str) -> list[str]:
    """Return the characters that steer, but for the ends of lines."""
    return [one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") and one != "\n"]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    texts = dict.fromkeys(("paper", "place", "note"), HOSTILE) | {"title": HOSTILE.replace("\r", "")}
    path.write_text(own_theorem(**texts), encoding="utf-8")
    return path


@pytest.mark.sweep(3)
@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_what_steers(command: str, form: str, mine: Path, capsys: Any) -> None:
    code = invoke([command, str(mine), *COMMANDS[command], *(["--json"] if form == "json" else [])])
    shown = capsys.readouterr()
    assert code in (0, 1, 3), shown.err
    assert shown.out
    assert steering(shown.out + shown.err) == []
    if form == "json":
        json.loads(shown.out)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize("key", ["id", "title"])
def test_no_stranger_puts_a_line_before_a_verdict(key: str, end: str, tmp_path: Path, capsys: Any) -> None:
    """The title and the id stand before the one line of -q: mine⏎mine: holds."""
    path = tmp_path / "mine.toml"
    for text in (f"holds{end}mine", f"mine{end}"):
        path.write_text(own_theorem(**{key: text}), encoding="utf-8")
        assert invoke(["compare", str(path), "-q", *RUN]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert f"{key} must be one line" in shown.err
        assert steering(shown.err) == []


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "letter",
    [
        HOSTILE,
        "K - 1",
        r"\sigma^2",
        r"\sigma^{12}",
        "ab",
        r"\frac{1}{2}",
        r"x\cdot 0",
        r"\phantom{x}",
        r"x}{",
        "$x$",
        r"\sigma\!",
        r"\def\sigma{0}",
        "x_{",
        r"\href{x}",
        r"\input{x}",
        "%",
        "x%",
        r"\alphabet",
        r"\text{holds}",
        "x'^{y}_{z}^{w}",
    ],
)
def test_a_papers_letter_is_one_letter(letter: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(own_theorem(letter=letter), encoding="utf-8")
    assert invoke(["show", str(path)]) == 2
    assert "must be one letter in LaTeX" in capsys.readouterr().err


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "letter",
    [
        "x",
        r"\Gamma",
        r"\bar\tau_{\max}",
        r"\tilde K",
        r"\hat{x}",
        "F^*",
        "D_0",
        r"\sigma_\ell",
        r"G^\star",
        r"\mathcal{D}",
        "x'",
        r"x_{\mathrm{init}}",
        r"V_+",
        r"\varepsilon",
        r"s_{k-1}",
        r"\overline{x}_0",
    ],
)
def test_letters_with_accents_and_indices_are_letters(letter: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(own_theorem(letter=letter), encoding="utf-8")
    assert invoke(["show", str(path)]) == 0


def with_symbol(folder: Path, name: str, term: str, **fields: str) -> Path:
    path = folder / "mine.toml"
    more = "".join(f"{key} = {json.dumps(text, ensure_ascii=False)}\n" for key, text in fields.items())
    own = f'[symbols.{name}]\nmeaning = "my own"\nunits = [0, 0]\ndomain = "positive"\n{more}'
    path.write_text(own_theorem().replace("FACTOR", "2") + f'mine = "{term}"\n{own}', encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("x", {"unicode": "K"}),
        ("x", {"unicode": "Κ"}),
        ("x", {"unicode": "M"}),
        ("x", {"unicode": "Μ"}),
        ("x", {"latex": "K"}),
        ("x", {"latex": r"\sigma"}),
        ("x", {"unicode": "σ"}),
        ("x", {"unicode": "p_s"}),
        ("x", {"unicode": "q̄"}),
        ("x", {"latex": "p_s"}),
    ],
)
def test_no_letter_looks_like_that_of_another_symbol_in_use(
    name: str, fields: dict[str, str], tmp_path: Path, capsys: Any
) -> None:
    assert invoke(["show", str(with_symbol(tmp_path, name, f"{name}*alpha*B**2", **fields))]) == 2
    assert "it is written like" in capsys.readouterr().err


@pytest.mark.sweep(2)
@pytest.mark.parametrize("letter", ["K − 1", "σ²", "ab", "1", "x y", "∞", "√", "к", "x(", "", "max", "𝐊x", "⁻x", "x\n"])
def test_what_is_displayed_is_one_letter(letter: str, tmp_path: Path) -> None:
    path = with_symbol(tmp_path, "x", "x*alpha*B**2", unicode=letter)
    assert invoke(["show", str(path)]) == (2 if letter else 0)


@pytest.mark.parametrize("name", ["e", "pi", "maximum", "minimum", "abs_", "reduce", "I", "E", "N1", "numpy", "x"])
def test_a_symbol_may_have_any_name(name: str, tmp_path: Path) -> None:
    """A symbol e beside exp(1): e·e was computed, and a true bound was violated."""
    parts = f"exp(1)*{name} + max(1, {name}) + min({name}, 2)*exp({name}) + abs({name})"
    theorem = bl.theorem(str(with_symbol(tmp_path, name, f"alpha*B**2*({parts})")))
    values = {"alpha": 1, "B": 1, "sigma": 0, "R": 0, "p_s": 0.5, "qbar": 2, "M": 1, "K": 1, name: 3}
    expected = math.e * 3 + 3 + 2 * math.exp(3) + 3
    assert float(theorem.evaluate(values).terms["mine"]) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    "number", ["sqrt(10**30 + 1)", "sqrt(2**64)", "3**50/(3**50 + 1)", "log(10**40)", "10**25*10**(-25)"]
)
def test_integers_of_any_size_have_roots(number: str, tmp_path: Path) -> None:
    theorem = bl.theorem(str(with_symbol(tmp_path, "x", f"alpha*B**2*x*{number}")))
    values = {"alpha": 1, "B": 1, "sigma": 0, "R": 0, "p_s": 0.5, "qbar": 2, "M": 1, "K": 1, "x": 1}
    with_math = eval(number, {"sqrt": math.sqrt, "log": math.log})  # noqa: S307  (of this file)
    assert float(theorem.evaluate(values).terms["mine"]) == pytest.approx(with_math, rel=1e-14)


@pytest.mark.parametrize("power", ["1.0000001**1.0000001**2", "x**1.0000001", "2**(1/1009)", "(2*x)**0.33333"])
def test_an_exponent_of_many_digits_is_refused_and_no_display_waits_for_it(
    power: str, tmp_path: Path, capsys: Any
) -> None:
    assert invoke(["show", str(with_symbol(tmp_path, "x", f"alpha*B**2*x*{power}"))]) == 2
    assert "has too many digits; write it as a fraction" in capsys.readouterr().err


def test_no_latex_line_or_page_of_a_notebook_has_what_steers(mine: Path, capsys: Any) -> None:
    assert invoke(["show", str(mine), "--latex"]) == 0
    assert steering(capsys.readouterr().out) == []
    assert steering(bl.check(mine)._repr_html_()) == []


def test_an_error_that_quotes_a_file_has_nothing_that_steers(mine: Path, capsys: Any) -> None:
    assert invoke(["show", f"{mine}{HOSTILE}"]) == 2
    mine.write_text(mine.read_text(encoding="utf-8").replace('"ergodic-gap"', json.dumps(HOSTILE)), encoding="utf-8")
    assert invoke(["show", str(mine)]) == 2
    assert steering(capsys.readouterr().err) == []
