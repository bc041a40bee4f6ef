"""Mutation testing: what is planted, that it is found or not, and how it is counted."""

import ast
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.mutation import report  # noqa: E402 -- the benchmarks are no installed package
from benchmarks.mutation.edits import mutants, sample  # noqa: E402
from benchmarks.mutation.rooms import GUARDED, GUARDS, LEFT_OUT, modules, room  # noqa: E402
from benchmarks.mutation.run import Result  # noqa: E402
from benchmarks.mutation.tests_of import Records  # noqa: E402

MODULE = '''
"""A text, 1 + 2."""

LIMIT = 3


def size(a: float, b: float = 0.5) -> float:
    """Return a size, min(a, b)."""
    if a < b and not b:
        raise ValueError(f"{a + 1} is too small")
    total = min(a, b) ** 2 - a * b
    total += LIMIT
    return total
'''


def plant(folder: Path, text: str = MODULE) -> list[tuple[str, str, str]]:
    (folder / "module.py").write_text(text, encoding="utf-8")
    return [(one.place, one.before, one.after) for one in mutants(folder, "module.py")]


def test_operators_signs_constants_terms_bounds_and_statements_are_changed(tmp_path):
    found = plant(tmp_path)
    assert {
        ("", "3", "4"),
        ("size", "a < b", "(a <= b)"),
        ("size", "a < b", "(a > b)"),
        ("size", "a < b and not b", "(a < b or not b)"),
        ("size", "a < b and not b", "(a < b)"),
        ("size", "a < b and not b", "(not (a < b and (not b)))"),
        ("size", "not b", "(b)"),
        ("size", "min(a, b)", "(max(a, b))"),
        ("size", "min(a, b) ** 2", "(min(a, b))"),
        ("size", "min(a, b) ** 2", "(min(a, b) ** (2 + 1))"),
        ("size", "a * b", "(a / b)"),
        ("size", "a * b", "(a)"),
        ("size", "min(a, b) ** 2 - a * b", "(min(a, b) ** 2 + a * b)"),
        ("size", "total += LIMIT", "pass"),
    } <= set(found)
    # Docstrings, messages and annotations hold no number of a verdict.
    assert not any("text" in before or "too small" in before or before == "a + 1" for _, before, _ in found)


def test_each_edit_changes_the_meaning_of_the_module_in_one_place(tmp_path):
    plant(tmp_path)
    source = (tmp_path / "module.py").read_bytes()
    everything = mutants(tmp_path, "module.py")
    assert len({one.id for one in everything}) == len(everything)
    for one in everything:
        changed = one.applied(source)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
        assert changed.startswith(source[: one.start])
        assert changed.endswith(source[one.end :])


def test_every_room_has_tests_that_guard_it_and_what_is_left_out_exists():
    every = {room(str(path.relative_to(ROOT))) for path in (ROOT / "boundlab").iterdir()} - {
        "__pycache__",
        "schemas",
        "py",
    }
    assert set(GUARDS) == {one for one in every if not one.endswith(".typed")} | {"problems", "proofs"}
    for test in {test for tests in GUARDS.values() for test in tests}:
        assert (ROOT / test).exists(), test
    for file in LEFT_OUT:
        assert (ROOT / file).is_file(), file
    found = modules(ROOT)
    assert {room(name) for name in found} == {room(place) for place in GUARDED}
    assert "boundlab/prove/_kernel.py" in found
    assert "boundlab/audit/_ruling.py" in found
    assert not {"boundlab/pages/html.py", *LEFT_OUT} & set(found)


def test_the_sample_is_a_function_of_its_seed_and_spread_over_the_text():
    everything = mutants(ROOT, "boundlab/theorems/recursions.py")
    first = sample(everything, 30, seed=0)
    assert first == sample(everything, 30, seed=0) != sample(everything, 30, seed=1)
    places = [everything.index(one) for one in first]
    gaps = {b - a for a, b in pairwise(places)}
    assert len(gaps) <= 2
    assert sample(everything, 10**6, seed=0) == everything


def test_the_tests_that_run_a_line_guard_it_the_rooms_own_and_the_quick_ones_first(tmp_path):
    folder = tmp_path / "boundlab" / "checks"
    folder.mkdir(parents=True)
    (folder / "units.py").write_text(MODULE, encoding="utf-8")
    everything = mutants(tmp_path, "boundlab/checks/units.py")
    record = {
        "seconds": {
            "tests/cli/test_cli.py::quick": 0.1,
            "tests/checks/test_checks.py::slow": 5,
            "tests/checks/test_checks.py::quick": 1,
        },
        "lines": {"boundlab/checks/units.py": {"11": [0, 1, 2], "9": [0]}},
    }
    (tmp_path / "record.json").write_text(json.dumps(record))
    records = Records.read([tmp_path / "record.json"])
    body = next(one for one in everything if one.before == "a * b")
    assert records.guards(body, 60) == [
        "tests/checks/test_checks.py::quick",
        "tests/checks/test_checks.py::slow",
        "tests/cli/test_cli.py::quick",
    ]
    assert records.guards(body, 2) == ["tests/checks/test_checks.py::quick"]
    # What one test runs may be computed once, and looked at by those of the room.
    alone = next(one for one in everything if one.before == "a < b")
    assert records.guards(alone, 60) == ["tests/cli/test_cli.py::quick", *records.guards(body, 60)[:2]]
    # What runs at import belongs to no test: all of the module, and all of the room.
    assert len(records.guards(next(one for one in everything if not one.place), 60)) == 3


def test_equivalent_errors_do_not_count_and_unjudged_ones_do(monkeypatch):
    results = [Result(f"boundlab/checks/units.py f: {number}", "killed", 1, 0.1) for number in range(19)]
    results += [
        Result("boundlab/checks/units.py f: same", "survived", 3, 0.1),
        Result("problems/risk.py: left", "survived", 3, 0.1),
    ]
    monkeypatch.setattr(
        report, "judged", lambda: {"boundlab/checks/units.py f: same": ("equivalent", "it changes nothing")}
    )
    found = report.table(results, seed=0)
    assert "21 errors planted (seed 0): 19 noticed, 1 equivalent, 1 not noticed; 95.0 %" in found.text
    assert "| checks | 20 | 19 | 1 | 0 |" in found.text
    assert "| `boundlab/checks/units.py f: same` | equivalent: it changes nothing |" in found.text
    assert "| `problems/risk.py: left` | not judged |" in found.text
    assert found.enough
    assert not report.table(results[2:], seed=0).enough


def test_every_judgement_says_equivalent_or_gap_and_why():
    for mutant, (kind, reason) in report.judged().items():
        assert kind in ("equivalent", "gap"), mutant
        assert reason.strip(), mutant


@pytest.mark.nightly  # as are the errors that are planted
def test_every_judgement_is_about_an_error_that_can_be_planted():
    judged = set(report.judged())
    files = {mutant.partition(" ")[0] for mutant in judged}
    assert files <= set(modules(ROOT, GUARDED))
    assert judged <= {one.id for name in files for one in mutants(ROOT, name)}


JUDGE = """
import sys
from itertools import pairwise
from pathlib import Path
from benchmarks.mutation.edits import mutants
from benchmarks.mutation.run import judge

tree = Path(sys.argv[1])
wanted = {"x - 2": "(x + 2)", "k + 1": "(k - 1)", "x >= 2": "(x > 2)"}
for one in mutants(tree, "toys/loop.py"):
    if wanted.get(one.before) == one.after:
        print(one.before, "→", one.after, ":", judge(tree, one, sys.argv[2:], 5.0).outcome)
"""


@pytest.mark.nightly  # as are the errors that are planted
def test_an_error_is_noticed_or_not_and_an_endless_loop_is_stopped(tmp_path):
    (tmp_path / "toys").mkdir()
    loop = tmp_path / "toys" / "loop.py"
    text = "def halvings(x):\n    k = 0\n    while x >= 2:\n        x, k = x - 2, k + 1\n    return k\n"
    loop.write_text(text)
    test = tmp_path / "test_loop.py"
    test.write_text("from toys.loop import halvings\n\n\ndef test_it():\n    assert halvings(5) == 2\n")
    done = subprocess.run(
        [sys.executable, "-c", JUDGE, str(tmp_path), "test_loop.py::test_it"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert dict(line.rsplit(" : ", 1) for line in done.stdout.splitlines()) == {
        "x - 2 → (x + 2)": "timed out",
        "k + 1 → (k - 1)": "killed",
        "x >= 2 → (x > 2)": "survived",
    }
    assert loop.read_text() == text
