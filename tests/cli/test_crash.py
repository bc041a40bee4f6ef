"""A crash, whoever's code it is in, ends with 70 and one line that names the place; --debug shows the traceback."""

import json
import os

import pytest

from boundlab.cli import invoke
from boundlab.errors import ExecutorError, TapeError
from boundlab.verdict import ExitCode

PLUGIN = """
import dataclasses

import click

from boundlab.algorithms import Algorithm
from boundlab.checks import group
from boundlab.delays import DelayType
from boundlab.objective import ProblemType
from boundlab.prove import Script
from boundlab.theorems import load_theorem


class Unspeakable(Exception):
    def __str__(self):
        raise ValueError("not even this")


class Talkative(Exception):
    def format_message(self):
        return "as Click's own errors do"


def fail(*_args, **_options):
    {statement}


class Bad(Algorithm):
    id, summary, server = "bad", "raises", "any"
    parameters = property(fail)

    policy = read = read_events = schedule = compile = uses = figures = own_policy = as_dict = describe = fail


Bad.__abstractmethods__ = frozenset()


class Bound:
    __getattr__ = fail


BAD = dataclasses.replace(load_theorem("area.theorem8.repaired"), id="bad.theorem")
object.__setattr__(BAD, "bound", Bound())
BAD_ALGORITHM = dataclasses.replace(BAD, id="bad.algorithm", algorithm="bad", bound=load_theorem("area.theorem8").bound)


class Leaving(Exception):
    def __str__(self):
        raise SystemExit(1)


BOUNDLAB = {{
    "algorithms": (Bad(),),
    "theorems": [BAD, BAD_ALGORITHM],
    "problems": ProblemType("bad", "raises", fail, {{}}),
    "delays": DelayType("bad", "raises", fail, {{}}),
    "checks": group("bad", "raises")(fail),
    "proofs": Script("bad.proof", "raises", "nowhere", fail),
}}
"""
CASE = {
    "algorithm": "bad",
    "problem": {"type": "quadratic", "A": [[[1]]], "b": [[0]]},
    "x0": [1],
    "parameters": {"alpha": 1},
    "events": [[1, 0]],
}
LAW = {"algorithm": "area", "problem": {"type": "lad"}, "delays": "iid", "iterations": 3}
RAISED = {
    "ValueError": "raise ValueError('no')",
    "KeyError": "raise KeyError('K')",
    "AssertionError": "assert not 1",
    # One positional argument: before 3.13.8, Python 3.13 counts no calls with defaults or *args (CPython issue 132744).
    "RecursionError": "(again := lambda deeper: deeper(deeper))(again)",
    "StopIteration": "raise StopIteration",
    "EOFError": "raise EOFError",
    "GeneratorExit": "raise GeneratorExit",
    "SystemExit": "raise SystemExit(1)",
    "Exit": "raise click.exceptions.Exit(1)",
    "Exit as for --help": "raise click.exceptions.Exit(0)",
    "Unspeakable": "raise Unspeakable",
    "Leaving": "raise Leaving",
    "Talkative": "raise Talkative",
}
REACHING = [
    ("list", "algorithms"),
    ("run", "bad", "--set=alpha=1"),
    ("run", "area", "--set=alpha=1", "--problem=bad"),
    ("run", "area", "--set=alpha=1", "--delays=bad"),
    ("run", "{case}"),
    ("show", "bad.theorem"),
    ("eval", "bad.theorem", "--set=p=0.5", "--set=M=2", "--set=B=1", "--set=sigma=0", "--set=R=1", "--set=K=3"),
    ("check", "bad.theorem"),
    ("check", "area.theorem8.repaired", "--only=bad"),
    ("compare", "bad.theorem", "--problem=lad", "--delays=iid", "--iterations=5", "--trials=2"),
    ("compare", "bad.algorithm", "--problem=lad", "--delays=iid", "--iterations=5", "--trials=2"),
    ("exact", "bad.theorem", "{area}"),
    ("exact", "bad.algorithm", "{case}"),
    ("worst-case", "bad.theorem", "--iterations=2", "--p=0.5"),
    ("worst-case", "bad.algorithm", "--iterations=2", "--p=0.5"),
    ("falsify", "bad.theorem", "--candidates=3"),
    ("falsify", "bad.algorithm", "--candidates=3"),
    ("prove", "bad.proof"),
    pytest.param(("prove",), marks=pytest.mark.nightly),  # all proofs before the one that raises
]


@pytest.fixture
def arguments(tmp_path, monkeypatch):
    """Return a function that lays out the plug-in and completes a command line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BOUNDLAB_DEBUG", raising=False)
    (tmp_path / "case.json").write_text(json.dumps(CASE))
    (tmp_path / "area.json").write_text(json.dumps({**{key: CASE[key] for key in CASE if key != "events"}, **LAW}))

    def lay_out(statement: str, command: tuple[str, ...]) -> list[str]:
        (tmp_path / "bad.py").write_text(PLUGIN.format(statement=statement))
        return ["--plugin", "bad.py", *(one.format(case="case.json", area="area.json") for one in command)]

    return lay_out


@pytest.mark.sweep(2)
@pytest.mark.parametrize("command", REACHING, ids=" ".join)
def test_a_plugin_that_raises_ends_every_command_with_one_line_and_70(command, arguments, capsys):
    line = arguments(RAISED["ValueError"], command)
    assert invoke(line) == ExitCode.UNFORESEEN
    err = capsys.readouterr().err
    assert err.startswith("boundlab: unexpected ValueError in ")
    assert "the plug-in bad.py:2" in err
    assert "(no); --debug shows the traceback" in err
    assert err.count("\n") == 1
    assert "BOUNDLAB_PLUGINS" not in os.environ


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", RAISED)
@pytest.mark.parametrize("command", [REACHING[1], REACHING[2], REACHING[8]], ids=" ".join)
def test_whatever_is_raised_never_chooses_the_exit_code(name, command, arguments, capsys):
    assert invoke(arguments(RAISED[name], command)) == ExitCode.UNFORESEEN
    err = capsys.readouterr().err
    assert err.startswith("boundlab: unexpected ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", [REACHING[1], REACHING[7], REACHING[8]], ids=" ".join)
def test_debug_shows_the_traceback_before_the_line(command, arguments, capsys, monkeypatch):
    line = arguments(RAISED["KeyError"], command)
    assert invoke(["--debug", *line]) == ExitCode.UNFORESEEN
    *trace, last = capsys.readouterr().err.splitlines()
    assert trace[0].startswith("Traceback")
    assert any("raise KeyError('K')" in one for one in trace)
    assert last.startswith("boundlab: unexpected KeyError in ")
    monkeypatch.setenv("BOUNDLAB_DEBUG", "1")
    assert invoke(line) == ExitCode.UNFORESEEN
    assert "Traceback" in capsys.readouterr().err


CHECK = ["check", "area.theorem8.repaired", "--only=vacuity"]
RUN = ["run", "area", "--set=alpha=0.1", "--iterations=5", "--trials=1"]
LOST = "the executor failed (gone); what is finished is kept, ask again for the rest"


@pytest.mark.parametrize(
    ("place", "error", "line", "code", "words"),
    [
        ("boundlab.checks.behaviour.trivial", ValueError, CHECK, ExitCode.UNFORESEEN, "boundlab/checks/behaviour.py:"),
        ("boundlab.registry.sources", AttributeError, ["list"], ExitCode.UNFORESEEN, "boundlab/registry.py:"),
        ("typer.main.get_command", AttributeError, ["list"], ExitCode.UNFORESEEN, "boundlab/cli/"),
        # A run that breaks an invariant is a defect; an executor that is lost, and too little memory, are none.
        ("boundlab.simulate.statistics", TapeError, RUN, ExitCode.UNFORESEEN, "boundlab/simulate/__init__.py:"),
        ("boundlab.registry.sources", ExecutorError, ["list"], ExitCode.UNFORESEEN, ""),
        ("boundlab.registry.sources", MemoryError, ["list"], ExitCode.USAGE, ""),
        ("boundlab.registry.sources", KeyboardInterrupt, ["list"], ExitCode.INTERRUPTED, ""),
    ],
)
def test_a_defect_of_boundlab_itself_is_one_line_that_names_its_place(
    place, error, line, code, words, capsys, monkeypatch
):
    def defect(*_args, **_options):
        raise error(LOST)

    monkeypatch.setattr(place, defect)
    assert invoke(line) == code
    err = capsys.readouterr().err
    assert err.startswith(f"boundlab: unexpected {error.__name__} in {words}" if words else "boundlab: ")
    assert "plug-in" not in err
    assert err.count("\n") == 1
    assert (err == f"boundlab: {LOST}\n") == (error is ExecutorError)
