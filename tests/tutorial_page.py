"""docs/tutorial.md as it is typed: files are written and commands run, in its order, and print what it shows."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

PAGE = (
    next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists()) / "docs" / "tutorial.md"
)
PART = re.compile(
    r"^```(?:toml file=(\S+)|python)\n(.*?)^```|^    \$ (boundlab [^\n]*)\n((?:    [^$\n][^\n]*\n)*)",
    re.MULTILINE | re.DOTALL,
)


def matches(shown: list[str], printed: list[str]) -> bool:
    """Return whether the lines are those that are shown; … stands for any number of lines, or for the rest of one."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(matches(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    if not printed:
        return False
    first = printed[0].startswith(shown[0][:-1]) if shown[0].endswith("…") else printed[0] == shown[0]
    return first and matches(shown[1:], printed[1:])


def follow(folder: Path, python: Callable[[str], object], boundlab: Callable[[str], str]) -> Iterator[str]:
    """Do what the page says in an empty folder; yield what each command prints.

    Parameters
    ----------
    python, boundlab
        Runs code, and a command line, of which it returns the output.
    """
    parts = PART.findall(PAGE.read_text(encoding="utf-8"))
    assert sum(bool(command) for *_, command, _ in parts) > 9
    for file, text, command, shown in parts:
        if file:
            (folder / file).write_text(text, encoding="utf-8")
        elif text:
            python(text)
        else:
            out = boundlab(command)
            printed = [line.rstrip() for line in out.splitlines()]
            wanted = [line[4:].rstrip() for line in shown.splitlines()]
            assert matches(wanted, [line for line in printed if line]), f"{command}\n{out}"
            yield out
