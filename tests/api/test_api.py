"""The Python API: strings or objects, results with a line and a page, and the same answers as the command line."""

import contextlib
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import own_theorem
import pytest
from hypothesis import given, strategies as st
from statements import statement_file

import boundlab as bl
from boundlab.api._ask import texts
from boundlab.case import build_delays, build_problem
from boundlab.cli import invoke
from boundlab.errors import AssumptionError, BoundlabError, MissingExtraError, SpecError
from boundlab.options import number, numbers
from boundlab.verdict import ExitCode, Verdict

FALSE = ("area.theorem8", "lad:x0=3", "iid:p_s=0.5")
HORIZONS = [3, 6, 12]
QUESTIONS = ("compare", "exact", "falsify", "prove", "worst_case")


@pytest.fixture(scope="module")
def violated() -> Any:
    return bl.compare(*FALSE, iterations=6, M=50)


@pytest.fixture(scope="module")
def curve() -> Any:
    return bl.compare(*FALSE, iterations=HORIZONS, M=50)


# ---- what it is ----------------------------------------------------------------------------------------------------


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in bl.__all__:
        found = getattr(bl, name)
        assert found is not None
        assert inspect.getdoc(found), name


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_package_that_is_a_question_can_be_called_and_imported_from(name: str) -> None:
    package = importlib.import_module(f"boundlab.{name}")
    assert getattr(bl, name) is package
    assert package is sys.modules[f"boundlab.{name}"]
    assert inspect.signature(package).parameters
    asked = importlib.import_module("boundlab.api")
    assert inspect.signature(package) == inspect.signature(getattr(asked, name))


@pytest.mark.nightly
@pytest.mark.parametrize("first", ["import boundlab.{name}", "from boundlab.{name} import __doc__", "boundlab.cli", ""])
def test_the_order_of_imports_changes_nothing(first: str) -> None:
    lines = ["import boundlab as bl", "import boundlab.cli" if first == "boundlab.cli" else ""]
    for name in QUESTIONS:
        lines += [first.format(name=name), f"assert callable(bl.{name})", f"import boundlab.{name} as p", "p.__path__"]
    program = "\n".join(lines)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_import_is_light() -> None:
    program = "import boundlab as bl, sys; dir(bl); sys.exit(bool({'numpy', 'sympy', 'rich'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


# ---- strings or objects --------------------------------------------------------------------------------------------


def test_objects_and_strings_give_the_same(violated: Any) -> None:
    problem = build_problem("lad", {"x0": "3"})
    again = bl.compare(bl.theorem("area.theorem8"), problem, build_delays("iid", {"p_s": "0.5"}, 1), iterations=6, M=50)
    assert again.as_dict() == violated.as_dict()
    settings = bl.compare(*FALSE, iterations=6, settings={"M": "50"})
    assert settings.as_dict() == violated.as_dict()


values = st.one_of(st.integers(-9, 10**6), st.floats(1e-6, 1e6), st.fractions(-5, 5, max_denominator=99))


@given(values)
def test_a_number_is_read_as_itself(value: Any) -> None:
    assert number(texts({"a": value})["a"], "a") == pytest.approx(float(value), rel=1e-15)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=5))
def test_lists_and_arrays_are_read_as_themselves(entries: list[float]) -> None:
    for value in (entries, tuple(entries), np.array(entries)):
        assert numbers(texts({"p": value})["p"], "p") == entries


@pytest.mark.parametrize("value", [None, {"a": 1}, object(), [None], {1, 2}])
def test_what_is_no_number_is_refused_by_name(value: Any) -> None:
    with pytest.raises(SpecError, match="M must be a number, text or a list of numbers"):
        bl.compare(*FALSE, iterations=6, M=value)


def test_an_unknown_symbol_and_a_problem_outside_are_errors_of_ours() -> None:
    with pytest.raises(BoundlabError, match="Mm"):
        bl.compare(*FALSE, iterations=6, Mm=3)
    with pytest.raises(AssumptionError):
        bl.compare("area.theorem7.explicit", "lad:x0=3", iterations=6)
    for wrong in (0, -1, 2.5, [], [3, 3], "many"):
        with pytest.raises(SpecError, match="iterations"):
            bl.compare(*FALSE, iterations=wrong, M=50)


@pytest.mark.nightly
def test_a_case_may_be_named_by_the_theorem_that_it_refutes() -> None:
    refuted = {name: one for name, one in bl.registered("theorems").items() if one.refuted_by}
    for name, one in refuted.items():
        for repair in one.repaired_by[:1]:
            with contextlib.suppress(BoundlabError):  # windows that are longer than the case
                assert not bl.exact(repair, name).violated
    found = bl.exact("area.theorem8.repaired", "area.theorem8")
    assert found.right == pytest.approx(1.5**0.5, rel=1e-12)
    with pytest.raises(BoundlabError, match="names no counterexample"):
        bl.exact("area.theorem8.repaired", "classics.gd.convex")
    with pytest.raises(BoundlabError, match="there is no such file"):
        bl.exact("area.theorem8.repaired", "nothing")


# ---- results -------------------------------------------------------------------------------------------------------


def test_nothing_of_a_theorem_is_markup(tmp_path: Path) -> None:
    mine = statement_file(tmp_path, title="<script>alert(1)</script> [bold]x[/bold]", assumptions="convex")
    page = bl.check(mine, "units")._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "[bold]" in page


def test_a_case_is_saved_and_decided_exactly(violated: Any, tmp_path: Path) -> None:
    path = violated.case.save(tmp_path / "c.json")
    first, second = bl.exact("area.theorem8", path), bl.exact("area.theorem8", violated.case)
    assert first.verdict is second.verdict is Verdict.VIOLATED
    assert first.left_text == second.left_text
    assert first.derivation is not None
    assert bl.exact("area.theorem8", str(path), derivation=False).derivation is None


@pytest.mark.parametrize("theorem", ["area.theorem8.repaired", "classics.gd.convex"])
def test_a_search_says_of_how_many_clients_its_candidates_were(theorem: str) -> None:
    found = bl.falsify(theorem, candidates=6, jobs=1)
    assert found.best.candidate.clients <= found.clients
    assert f"candidates of up to {found.clients} client" in found.line()
    assert found.looked_at in str(found.page()[0])
    assert found.as_dict()["clients"] == found.clients


# ---- several horizons ----------------------------------------------------------------------------------------------


def test_a_curve_is_its_comparisons(curve: Any) -> None:
    alone = [bl.compare(*FALSE, iterations=K, M=50) for K in HORIZONS]
    assert curve.iterations == HORIZONS
    for one, other in zip(curve.comparisons, alone, strict=True):
        assert one.bound[-1] == other.bound[-1]
        assert one.band.mean[-1] == other.band.mean[-1]
    assert curve.verdict is Verdict.VIOLATED
    assert "K = 6" in curve.reason
    assert curve.case["iterations"] == 6


def test_a_theorem_about_windows_has_a_curve_that_ends_with_the_last_window() -> None:
    curve = bl.compare("fedcompass.window.b", "huber", "deterministic:spread=2", iterations=[20, 40], trials=4, N=4)
    assert [int(one.plan.ks[-1]) for one in curve.comparisons] == [17, 37]
    assert list(curve.to_frame()["T"]) == [17, 37]


@pytest.mark.parametrize("K", ["3,6,12", "3,6,1.2e1"])
def test_the_command_line_takes_horizons(K: str, curve: Any, capsys: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["compare", FALSE[0], "--problem", FALSE[1], "--delays", FALSE[2], "-k", K, "--set", "M=50"]
    assert invoke([*words, "--json", "--out", "out", "--plot", "c.svg"]) == ExitCode.REFUTED
    fields = json.loads(capsys.readouterr().out)
    assert fields.pop("written")
    assert fields == json.loads(json.dumps(curve.as_dict()))
    assert (tmp_path / "c.svg").read_text().startswith("<?xml")
    assert bl.exact(FALSE[0], tmp_path / "out" / "area.theorem8.case.json").violated
    assert invoke([*words, "--terms"]) == ExitCode.REFUTED
    assert "violated" in capsys.readouterr().out
    assert invoke([*words[:-4], "-k", "3,3"]) == ExitCode.USAGE


# ---- plots and frames ----------------------------------------------------------------------------------------------


def test_a_frame_needs_pandas_and_says_so(violated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"boundlab\[notebook\]"):
        violated.to_frame()


@pytest.mark.parametrize("window", [2, 3])
def test_an_option_of_the_letter_that_counts_iterations_is_set_beside_these(tmp_path: Path, window: int) -> None:
    """FedFa's window is K, as are the iterations of most left sides: run had told them apart, and nothing else."""
    text = own_theorem.of_gradient_descent("(2*K)").replace('"gd"', '"fedfa"').replace("alpha =", "eta_l =")
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("[step]", '[options]\nmode = "delta"\nK = "any"\n[step]'), encoding="utf-8")
    compared = bl.compare(path, "huber", "deterministic", iterations=5, K=window)
    assert (compared.plan.parameters.K, compared.plan.iterations) == (window, 5)
    worst = bl.worst_case(path, iterations=2, K=window)
    assert (worst.plan.options["K"], worst.plan.horizon) == (str(window), 2)
