"""``boundlab falsify``: output, files, exit codes, and one line for everything that is wrong."""

import json
from pathlib import Path

import pytest

from boundlab.cli import invoke
from boundlab.falsify import _result

SMALL = ("--candidates", "30")


@pytest.mark.nightly
def test_a_counterexample_leaves_a_case_file_and_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As where no sample tells an instance whose ratio is near 1: the clearest one is compared.
    monkeypatch.setattr(_result, "trials_that_tell", lambda _, one, **__: 100 if one.iterations > 4 else None)
    assert invoke(["falsify", "area.theorem8", "--candidates", "200", "--out", str(tmp_path)]) == 1
    out = " ".join(capsys.readouterr().out.split())
    case = tmp_path / "area.theorem8.counterexample.json"
    leads = (
        "counterexample, to be checked by hand: 1 client",
        "smallest instance found: 1 client",
        "largest violation found",
    )
    for words in (*leads, "upper", "ratio", "repeat: boundlab exact area.theorem8"):
        assert words in out
    assert f"step-by-step derivation: boundlab exact area.theorem8 {case} --derivation" in out
    assert "or: boundlab compare area.theorem8" in out
    assert "--iterations 6 --trials 100" in out
    shown = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert shown["verdict"] == "violated"
    assert shown["instance"]["ratio"] > 1.0
    assert shown["instance"]["compare"] is None
    assert shown["clearest"]["ratio"] >= 1.15
    assert {"B", "R"} <= set(shown["instance"]["constants"])
    assert invoke(["exact", "area.theorem8", str(case)]) == 1


def test_nothing_found_is_never_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = invoke(["falsify", "area.theorem8.repaired", *SMALL, "--out", str(tmp_path)])
    out = capsys.readouterr().out
    assert code == 3
    assert "holds" not in out
    assert "closest instance" in out
    assert "inconclusive" in out
    assert "what was tried" in out
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.nightly
def test_the_page_of_a_counterexample_that_a_large_sample_does_not_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke(["falsify", "fedstaleweight.theorem1", "--candidates", "400"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    for words in (
        "counterexample, to be checked by hand",
        "smallest instance found",
        "upper",
        "ratio",
        "repeat: boundlab exact fedstaleweight.theorem1",
        "boundlab compare",
    ):
        assert words in out
    assert (tmp_path / "fedstaleweight.theorem1.counterexample.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["area.theorem7"], 4, "printed O"),
        (["area.theorem9"], 2, "area.theorem9"),
        (["area.theorem8", "--budget", "0"], 2, "budget must be > 0"),
        (["area.theorem8", "--budget", "nan"], 2, "must be a finite number"),
        (["area.theorem8", "--candidates", "0"], 2, "candidates must be between 1 and"),
    ],
)
def test_wrong_usage_is_one_line(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["falsify", *arguments]) == code
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_a_bound_of_zero_is_refuted_with_no_finite_ratio(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "zero.toml"
    file.write_text(
        'id = "zero"\nmetric = "gap"\nalgorithm = "gd"\nassumptions = ["convex", "smooth"]\n'
        '[step]\nalpha = "1/L"\n[terms]\nmain = "0*L*R**2/K"\n'
    )
    assert invoke(["falsify", str(file), "--candidates", "3", "--json", "--out", str(tmp_path / "out")]) == 1
    best = json.loads(capsys.readouterr().out)
    case, result = tmp_path / "out" / "zero.counterexample.json", tmp_path / "out" / "result.json"
    assert best["written"] == [str(result), str(case)]
    assert case.exists()
    assert result.exists()
    assert "Infinity" not in json.dumps(best)
    assert None in [part.get("ratio", 0) for part in [best, *best.values()] if isinstance(part, dict)]
