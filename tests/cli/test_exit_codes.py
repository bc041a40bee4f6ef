"""One table of exit codes: the enum, the commands, their help and the page say the same."""

import ast
import re
from pathlib import Path

import typer.main

from boundlab.cli import invoke
from boundlab.cli._app import application
from boundlab.cli.terminal import ENDINGS, epilog
from boundlab.errors import BoundlabError
from boundlab.verdict import ExitCode

ROOT = Path(__file__).parents[2]
COMMANDS = sorted(typer.main.get_command(application()).commands)  # type: ignore[attr-defined]


def unwrapped(text: str) -> str:
    """Return a text without its spaces: help is wrapped, at hyphens too."""
    return "".join(text.split())


def test_the_codes_are_the_published_ones() -> None:
    assert [int(code) for code in ExitCode] == [0, 1, 2, 3, 4, 70, 130]
    assert all(code.meaning for code in ExitCode)
    assert ExitCode(1) is ExitCode.REFUTED


def test_every_command_says_how_it_ends() -> None:
    assert sorted(ENDINGS) == COMMANDS
    assert [name for name, words in ENDINGS.items() if not words] == []


def test_the_help_of_every_command_shows_its_codes(capsys) -> None:
    invoke(["--help"])
    page = unwrapped(capsys.readouterr().out)
    assert all(unwrapped(f"{code:d} {code.meaning}") in page for code in ExitCode)
    for command in COMMANDS:
        assert invoke([command, "--help"]) == ExitCode.STANDS
        shown = unwrapped(capsys.readouterr().out)
        assert unwrapped(epilog(command, "").partition("\n")[2]) in shown
        assert "Example:boundlab" in shown


def test_every_error_ends_with_a_code_that_is_no_verdict_on_a_claim() -> None:
    errors = [BoundlabError, *BoundlabError.__subclasses__()]
    assert len(errors) > 9
    for error in errors:
        assert isinstance(error.exit_code, ExitCode)
        assert error.exit_code not in (ExitCode.STANDS, ExitCode.REFUTED, ExitCode.INTERRUPTED)


def test_no_module_writes_an_exit_code_as_a_number() -> None:
    ending = re.compile(r"[Ee]xit\(|_complain|exit_code")
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "boundlab").rglob("*.py")}
    for path, text in ((path, text) for path, text in texts.items() if ending.search(text)):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("Exit", "sys.exit", "_complain")):
                numbers = [ast.unparse(one) for one in node.args if isinstance(one, ast.Constant)]
                assert not [one for one in numbers if one.isdigit()], f"{path}:{node.lineno}"
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "exit_code":
                assert not isinstance(node.value, ast.Constant), f"{path}:{node.lineno}"
