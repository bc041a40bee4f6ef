"""Every page: its theorems are written, its commands and its Python are run, in its order, and print what is shown."""

import contextlib
import io
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from own_theorem import of_gradient_descent
from tutorial_page import matches

from boundlab.cli import invoke
from boundlab.theorems import load_theorem
from boundlab.verdict import ExitCode

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
PART = re.compile(
    r"^```(toml|python)(?: file=(\S+))?\n(.*?)^```\n(?:\n^```\n(.*?)^```\n)?"
    r"|^    (\$ |)(boundlab (?:[^\n]*\\\n)*[^\n]*)\n((?:\n(?=    )|    (?!\$ |boundlab )[^\n]*\n)*)",
    re.MULTILINE | re.DOTALL,
)
# A GPU, and a package that cannot be loaded (tests/registry has one).
ELSEWHERE = ("--device cuda", "boundlab list algorithms")
SHORT = {"falsify": ("--candidates", "40"), "audit": ("--candidates", "20", "--budget", "10")}
# What a reader of the page has: files of their own, and a plug-in that the page describes.
FILES = {
    "runs.csv": "time,heat,device,failed\n12,0.5,wall,0\n13,0.7,roof,1\n14,0.1,wall,0\n15,0.9,roof,1\n",
    "rounds.csv": "time,client\n1,0\n1,1\n1,2\n2,0\n2,2\n3,1\n3,2\n",
    "log.csv": "ts,device,sent,read\n1.5,phone,0,0\n2.0,tablet,0,0\n3.5,phone,1.5,1\n4.0,watch,0,0\n",
    "vsim.log": "".join(
        f"[vt=   {at}.0000] START  Client{at % 3}  dur= 0.50 (compute=0.40+comm=0.10)\n"
        f"[vt=   {at}.5000] DONE   Client{at % 3}  epoch= {at}  staleness= 0\n"
        for at in range(1, 211)
    ),
    "durations.csv": "start,client,duration\n" + "".join(f"0,{at % 3},{1 + at % 7 / 4}\n" for at in range(60)),
    "mine.toml": of_gradient_descent("(4*K + 2)"),
    "mine.py": "from boundlab.delays import DelayType\n\n\ndef never(*_):\n"
    '    """Give no delays."""\n    raise ValueError("no delays today")\n\n\n'
    'BOUNDLAB = {"delays": DelayType("sleepy", "delays that fail", never, {})}\n',
}


def parts(page: Path) -> Iterator[tuple[str, ...]]:
    yield from PART.findall(page.read_text(encoding="utf-8"))


def lines(text: str) -> list[str]:
    return [one.strip() for one in text.splitlines() if one.strip()]


PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
    if any(parts(page))
]


# By day the page that a newcomer reads first after README.
@pytest.mark.parametrize(
    "page",
    [pytest.param(one, id=one.stem, marks=[pytest.mark.nightly] * (one.stem != "write-a-theorem")) for one in PAGES],
)
def test_the_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    whole = page.stem == "tutorial"  # in an empty folder, with the searches that it shows
    for name, text in FILES.items() if not whole else ():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in ("tests", "proofs"):
        (tmp_path / name).symlink_to(ROOT / name)
    example = runpy.run_path(str(ROOT / "tests" / "plugin_example" / "example.py"))
    names: dict[str, object] = {"__name__": page.stem, "MYRENNALA": example["BOUNDLAB"]["algorithms"]}
    for language, file, text, printed, prompt, command, shown in parts(page):
        if file:
            (tmp_path / file).write_text(text, encoding="utf-8")
        elif language == "toml" and (found := re.search(r'^id = "(\S+)"', text, re.MULTILINE)):
            (tmp_path / f"{found[1]}.toml").write_text(text, encoding="utf-8")
            load_theorem(f"{found[1]}.toml")
        elif language == "python":
            code = compile(text, page.name, "exec")
            if "flwr" not in text:  # Flower is no dependency, of the tests neither
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(code, names)  # noqa: S102  (the page's own code)
                assert printed in ("", out.getvalue())
        elif command and not command.strip().endswith(ELSEWHERE):
            words = shlex.split(command.replace("\\\n", ""), comments=True)[1:]
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                ending = invoke([*words, *(SHORT.get(words[0], ()) if not whole else ())])
            if prompt and shown:
                assert any(matches(lines(shown), lines(one.getvalue())) for one in (out, err)), out.getvalue()
            else:
                assert ending not in (ExitCode.USAGE, ExitCode.UNFORESEEN), f"{command}\n{err.getvalue()}"
