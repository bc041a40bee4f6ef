"""The command line, as a user sees it."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from boundlab.cli import invoke
from boundlab.cli.terminal import ENDINGS

EVAL = ["eval", "area.theorem8", *(f"--set={pair}" for pair in ("p=0.5", "M=50", "B=1", "sigma=0", "R=3"))]


def output(capsys, *arguments, code=0):
    assert invoke(list(arguments)) == code
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.sweep(2)
@pytest.mark.parametrize("what", ["theorems", "algorithms", "problems", "delays", "proofs"])
def test_list_names_what_is_registered(capsys, what):
    table, entries = output(capsys, "list", what), json.loads(output(capsys, "list", what, "--json"))["entries"]
    assert entries
    assert all(entry["id"] in table for entry in entries)


def test_eval_over_a_grid_prints_the_same_numbers_as_csv_and_json(capsys):
    grid = [*EVAL, "--set=K=1:1e6:log:7"]
    rows = list(csv.DictReader(io.StringIO(output(capsys, *grid, "--csv", "--terms"))))
    value = json.loads(output(capsys, *grid, "--json"))
    assert [float(row["K"]) for row in rows] == value["axes"]["K"] == [10.0**e for e in range(7)]
    assert [float(row["bound"]) for row in rows] == value["bound"]


@pytest.mark.nightly  # CI runs make demo
def test_the_demo_refutes_printed_theorems_and_draws_a_plot(capsys, tmp_path):
    page = output(capsys, "demo", "--out", str(tmp_path))
    five = page[page.index("2. Five papers on one problem") : page.index("3. One comparison in full")]
    assert five.count("never moves") == five.count("holds: ") + five.count("consistent: ") == 5
    refuted = ("area.theorem8", "fedfa.theorem1", "fedstaleweight.theorem1")
    assert page.count("violated:") == len(refuted)
    assert page.rstrip().rpartition("\n")[2].startswith("next: boundlab audit ")
    assert page.count("holds, but vacuous here:") == 2
    for name in refuted:
        assert (tmp_path / f"{name}.case.json").exists()
    assert (tmp_path / "theorem7.png").read_bytes().startswith(b"\x89PNG")


def test_bare_boundlab_shows_three_commands_and_where_to_go_on(capsys):
    page = output(capsys)
    assert len(page.splitlines()) < 12
    for line in (line.split() for line in page.splitlines() if line.startswith("  ")):
        assert output(capsys, line[1], "--help")
    for words in (["docs", "questions"], ["docs", "tutorial"], ["--help"]):
        assert " ".join(["boundlab", *words]) in page
        assert output(capsys, *words)


def test_the_help_groups_at_most_twenty_commands(capsys):
    page = output(capsys, "--help")
    groups = ("Is it true?", "My system", "Many", "Write and look")
    places = [page.index(f"\n{group}\n") for group in groups]
    assert places == sorted(places)
    shown = re.findall(r"(?m)^  ([a-z-]+)  +[A-Z]", page[places[0] :])
    assert sorted(shown) == sorted(ENDINGS)
    assert len(shown) <= 20


@pytest.mark.parametrize(
    ("former", "today"),
    [
        (("replay", "case.json"), ("run", "case.json")),
        (("fit", "trace.csv"), ("trace", "trace.csv", "--fit")),
        (("recheck", "certificate.json"), ("worst-case", "certificate.json", "--recheck")),
        (("results", "swept"), ("sweep", "swept")),
        (("schema", "case"), ("docs", "case", "--schema")),
    ],
)
def test_a_former_name_answers_as_the_form_of_today_and_names_it(former, today, place, capsys):
    code = invoke(list(today))
    expected = capsys.readouterr()
    assert expected.err == ""
    assert invoke(list(former)) == code
    out, err = capsys.readouterr()
    assert out == expected.out
    assert err.startswith(f"boundlab: {former[0]} is now boundlab ")
    assert err.endswith("; the old name goes with 0.7\n")
    assert invoke([former[0], "--no-such-option"]) == 2
    assert capsys.readouterr().err.count("\n") == 1  # what fails is one line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("run case.json --trials 3", "run CASE.json takes no --trials"),
        ("prove certificate.json --recheck --axioms", "prove FILE --recheck takes no --axioms"),
        ("prove --recheck", "name it"),
        ("prove area.theorem8 --theorem x.toml", "--theorem goes with --recheck"),
        ("worst-case certificate.json --recheck -k 3", "worst-case FILE --recheck takes no --iterations"),
        (
            "sweep plan.toml --curve",
            "sweep PLAN.toml takes no --curve: leave it out; boundlab sweep DIR --curve takes it",
        ),
        ("sweep swept --jobs 2", "sweep DIR takes no --jobs"),
    ],
)
def test_a_form_refuses_what_another_one_takes(line, words, place, capsys):
    assert invoke(line.split()) == 2
    assert words in capsys.readouterr().err


JUDGES = {"audit", "checks", "compare", "exact", "falsify", "proofs", "prove", "recheck", "signs", "worst_case"}


@pytest.mark.sweep(7)
@pytest.mark.parametrize(
    ("line", "judges", "most"),
    [
        ("show area.theorem7", set(), 109),
        ("list theorems", set(), 118),
        ("run gd -k 3 -r 2", set(), 177),
        ("check classics.gd.convex", {"checks", "signs"}, 171),
        ("compare classics.gd.convex -k 5 -r 2", {"compare"}, 263),
        ("exact area.theorem8", {"exact"}, 284),
        # It reads symbols off runs, and a check says whether any run can give them.
        ("falsify fedstaleweight.theorem1 --candidates 3", {"checks", "compare", "exact", "falsify", "signs"}, 320),
    ],
)
def test_a_command_loads_the_judges_that_it_asks(line: str, judges: set[str], most: int, tmp_path: Path) -> None:
    program = (
        "import sys; from boundlab.cli import invoke; invoke(sys.argv[1:]); "
        "sys.stderr.write(' '.join(name for name in sys.modules if name.startswith('boundlab.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *line.split()], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    loaded = done.stderr.splitlines()[-1].split()
    assert {name.split(".")[1] for name in loaded} & JUDGES == judges
    assert len(loaded) <= most


@pytest.mark.slow  # it starts processes
def test_eval_and_help_import_nothing_heavy():
    program = (
        "import sys; from boundlab.cli import invoke; code = invoke(sys.argv[1:]); "
        "heavy = {'torch', 'cvxpy', 'matplotlib', 'sklearn', 'scipy'} & set(sys.modules); "
        "sys.exit(code or (f'imported {heavy}' if heavy else 0))"
    )
    for arguments in ([*EVAL, "--set=K=6"], ["--help"], ["list"]):
        done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
