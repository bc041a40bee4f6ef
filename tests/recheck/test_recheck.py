"""Certificates of worst cases and their checker: it accepts what is right, and no forgery of it."""

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from boundlab.cli import invoke
from boundlab.recheck import Form, Sample, gradient_bound, interpolation, recheck, text_of
from boundlab.recheck._forms import number_of
from boundlab.theorems import load_theorem
from boundlab.worst_case.analysis import bound

pytest.importorskip("cvxpy")

ASKED: dict[str, tuple[str, int, dict[str, Any], str]] = {
    "smooth, attained": ("classics.gd.convex", 2, {}, "upper"),
    "strongly convex": ("classics.gd.strongly-convex", 2, {"mu": "1/10"}, "upper"),
    "Lipschitz": ("classics.subgradient.fixed-step", 2, {"alpha": "1/2"}, "upper"),
    "in units of the step": ("classics.sgd.convex", 2, {"n": 2}, "upper"),
    "not convex": ("classics.gd.gradient", 2, {}, "upper"),
    "random events, a function": ("area.theorem8", 5, {"p": [0.5], "M": 3}, "lower"),
}


UNREAD = ("words", "claim", "class", "schema", "kind", "basis", "question")


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    from boundlab.worst_case import worst_case

    found = {}
    for name, (theorem, iterations, settings, side) in ASKED.items():
        result = worst_case(load_theorem(theorem), iterations, settings)
        found[name] = result.certificates[side], result
    return found


def judged(certificate: Any, folder: Path) -> Any:
    path = folder / "certificate.json"
    path.write_text(json.dumps(certificate), encoding="utf-8")
    return bound(certificate, recheck(path))


def numbers_of(raw: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of all fractions."""
    if isinstance(raw, dict):
        for key, one in raw.items():
            if key not in (*UNREAD, "values" if path == () else ""):
                yield from numbers_of(one, (*path, key))
    elif isinstance(raw, list):
        for place, one in enumerate(raw):
            yield from numbers_of(one, (*path, place))
    elif isinstance(raw, str):
        yield path


@pytest.mark.parametrize("name", ASKED)
def test_what_the_first_checker_has_accepted_is_accepted(name: str, kept: dict[str, Any], tmp_path: Path) -> None:
    certificate, result = kept[name]
    found = judged(certificate, tmp_path)
    assert found.accepted, found.reason
    value = Fraction(certificate["value"])
    if ASKED[name][3] == "lower":
        assert value == result.certified_lower
    elif name != "in units of the step":
        assert value == result.certified_upper
    # What is given is the start alone: all other rows are inequalities of the class, made anew from the samples.
    assert found.given == ("‖x_0 − x*‖² ≤ 1",) or name == "not convex"


@pytest.mark.parametrize("name", ASKED)
def test_no_number_can_be_forged(name: str, kept: dict[str, Any], tmp_path: Path) -> None:
    certificate, _ = kept[name]
    for place in numbers_of(certificate):
        if certificate["kind"] == "lower" and place[0] not in ("value", "objective"):  # a point may have room to move
            continue
        for change in (Fraction(1, 7), Fraction(-1, 10**9)):
            forged = copy.deepcopy(certificate)
            target = forged
            for key in place[:-1]:
                target = target[key]
            target[place[-1]] = text_of(number_of(target[place[-1]]) + change)
            assert not judged(forged, tmp_path).accepted, place


@given(
    st.fractions(Fraction(1, 4), 4),
    st.fractions(-3, 3),
    st.fractions(-3, 3),
    st.fractions(0, 4),
    st.fractions(-2, 2),
)
def test_the_inequalities_hold_for_functions_of_the_class(
    L: Fraction, x: Fraction, y: Fraction, mu: Fraction, c: Fraction
) -> None:
    # In one dimension, with the basis vector 1: Huber's function of curvature L, and a·u²/2 for mu ≤ a ≤ L.
    def huber(u: Fraction) -> Sample:
        inside = abs(u) <= 1
        value = L * u * u / 2 if inside else L * (abs(u) - Fraction(1, 2))
        return Sample({0: u}, {0: L * (u if inside else Fraction(1 if u > 0 else -1))}, Form(constant=value))

    def parabola(a: Fraction, u: Fraction) -> Sample:
        return Sample({0: u}, {0: a * (u - c)}, Form(constant=a * (u - c) ** 2 / 2))

    def at(form: Form) -> Fraction:
        return form.constant + form.gram.get((0, 0), Fraction(0))

    assert at(interpolation(huber(x), huber(y), Fraction(0), 1 / L)) <= 0
    assert at(gradient_bound(huber(x), L * L)) <= 0
    low = min(mu, L / 2)
    for curvature in (low, (low + L) / 2, L):
        assert at(interpolation(parabola(curvature, x), parabola(curvature, y), low, 1 / L)) <= 0
    assert at(interpolation(parabola(-L, x), parabola(-L, y), -L, 1 / L)) == 0
    # Not idle: a steeper parabola breaks it.
    if x != y:
        assert at(interpolation(parabola(2 * L, x), parabola(2 * L, y), Fraction(0), 1 / L)) > 0


@given(st.fractions())
def test_fractions_are_read_as_they_are_written(number: Fraction) -> None:
    assert number_of(text_of(number)) == number


def test_long_fractions_are_written_too() -> None:
    long = Fraction(3**20_000, 7**20_000)
    assert number_of(text_of(-long)) == -long


def test_the_checker_shares_nothing_with_the_search() -> None:
    code = (
        "import sys, boundlab.recheck; "
        "heavy = ('sympy', 'numpy', 'scipy', 'cvxpy', 'PEPit', 'flint'); "
        "own = ('boundlab.recheck', 'boundlab.__about__'); "
        "print(sorted(one for one in sys.modules if one.split('.')[0] in heavy "
        "or one.startswith('boundlab.') and not one.startswith(own)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


class TestCommand:
    """``boundlab worst-case --certificate`` and ``boundlab recheck``."""

    def test_what_one_writes_the_other_accepts(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "certificate.json"
        assert invoke(["worst-case", "classics.gd.convex", "--iterations", "1", "--certificate", str(file)]) == 0
        assert f"written: {file}" in capsys.readouterr().out
        assert invoke(["recheck", str(file)]) == 0
        shown = capsys.readouterr().out
        assert "accepted: classics.gd.convex: the objective is at most 1/6" in shown
        assert "‖x_0 − x*‖² ≤ 1" in shown
        raw = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**raw, "value": "1/7"}), encoding="utf-8")
        assert invoke(["recheck", str(file), "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["verdict"] == "rejected"

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("{}", "is no certificate"),
            ("[", "is no JSON file"),
            ("\udcff", "is no JSON file"),
            ("[" * 100_000, "no JSON file"),
            ("[" + 5000 * "7" + "]", "too many digits"),
        ],
    )
    def test_what_is_none_is_one_line(
        self, text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "x.json"
        file.write_text(text, encoding="utf-8", errors="surrogateescape")
        assert invoke(["recheck", str(file)]) == 2
        assert words in capsys.readouterr().err
        assert invoke(["recheck", str(tmp_path)]) == 2
        assert invoke(["recheck", str(tmp_path / "nothing")]) == 2
