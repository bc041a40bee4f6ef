"""The battery of tests/battery put to every tool: false alarms on true theorems, and which tool kills which mutant.

python benchmarks/battery_scores.py                   # everything: writes benchmarks/battery.json and docs/about.md
python benchmarks/battery_scores.py --only gd-last    # what begins so, printed only
python benchmarks/battery_scores.py --true --tools check compare
"""

import argparse
import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import final

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "battery"))

from referee.claims import Claim  # noqa: E402
from referee.mutants import read_mutants, true_claims  # noqa: E402
from referee.tools import TOOLS, Tool, arguments  # noqa: E402

CANDIDATES = 300
_SECONDS = 1800
STANDS, REFUTED, UNFORESEEN, HUNG = 0, 1, 70, -1
_BEGIN, _END = "<!-- scores: written by benchmarks/battery_scores.py -->", "<!-- end of scores -->"


@final
@dataclass(frozen=True, slots=True)
class Answer:
    """What one command line ended with; ``code`` is −1 where it did not end in time."""

    claim: str
    tool: Tool
    code: int
    seconds: float
    line: str
    words: str

    @property
    def refutes(self) -> bool:
        """Whether it says that the claim is false; a failed check whose consequence is another does not."""
        return self.code == REFUTED and self.words != "remark"


def ask(claim: Claim, path: Path, tools: Sequence[Tool], candidates: int = CANDIDATES) -> Iterator[Answer]:
    """Yield the answer of each command line, in this process; a refuted claim is not asked again by the same tool."""
    from boundlab.cli import invoke

    for tool in tools:
        for line in arguments(claim, path, tool, candidates):
            out, err = io.StringIO(), io.StringIO()
            begin = time.perf_counter()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = invoke(line)
            seconds = time.perf_counter() - begin
            words = _words(tool, code, out.getvalue(), err.getvalue())
            answer = Answer(claim.id, tool, code, round(seconds, 2), " ".join(line), words)
            yield answer
            if answer.refutes:
                break


def _words(tool: Tool, code: int, out: str, err: str) -> str:
    """Return the line that says why, or ``remark`` where no failed check says that the claim is false or ill-typed."""
    from boundlab.checks import CONSEQUENCES

    if tool == "check" and code == REFUTED:
        failed = [" ".join(line.split()) for line in out.splitlines() if " failed " in line]
        told = " ".join(out.split())
        return (
            "; ".join(failed) if any(CONSEQUENCES[key] in told for key in ("claim false", "not defined")) else "remark"
        )
    return (err.strip() or out.strip()).splitlines()[-1] if (err + out).strip() else ""


def _work(path: Path, tools: Sequence[Tool]) -> None:
    """Answer for one file, a line of JSON for each command."""
    os.chdir(path.parent)  # where tools leave their case files
    for answer in ask(Claim.read(path), path, tools):
        sys.stdout.write(json.dumps(asdict(answer)) + "\n")
        sys.stdout.flush()


def _answers(path: Path, tools: Sequence[Tool]) -> list[Answer]:
    """Ask in a process of its own, which may hang or die."""
    command = [sys.executable, __file__, "--file", str(path), "--tools", *tools]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        try:
            done = subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, timeout=_SECONDS, check=False)
            code = done.returncode
        except subprocess.TimeoutExpired:
            code = HUNG
        file.seek(0)
        found = [Answer(**json.loads(line)) for line in file]
    if code != 0:
        tool = found[-1].tool if found else tools[0]
        found.append(Answer(Claim.read(path).id, tool, code if code == HUNG else UNFORESEEN, _SECONDS, "", "died"))
    return found


def _table(true: Mapping[str, list[Answer]], false: Mapping[str, list[Answer]], tools: Sequence[Tool]) -> list[str]:
    """Return the score table, in Markdown."""
    rows = [
        "| tool | true: false alarms | crashes | refused | mutants killed | crashes | median seconds to a kill |",
        "|---|---|---|---|---|---|---|",
    ]
    for tool in tools:
        good, bad = _asked(true, tool), _asked(false, tool)
        kills = [sum(one.seconds for one in some) for some in bad.values() if any(one.refutes for one in some)]
        rows.append(
            f"| `{tool}` | {_count(good, lambda one: one.refutes)} of {len(good)} "
            f"| {_count(good, _crashed)} | {_count(good, lambda one: one.code == 2)} "
            f"| {len(kills)} of {len(bad)} | {_count(bad, _crashed)} "
            f"| {statistics.median(kills) if kills else float('nan'):.1f} |"
        )
    killed = _count(false, lambda one: one.refutes)
    rows.append(
        f"| any | {_count(true, lambda one: one.refutes)} of {len(true)} | {_count(true, _crashed)} "
        f"| {_count(true, lambda one: one.code == 2)} | {killed} of {len(false)} ({killed / max(1, len(false)):.1%}) "
        f"| {_count(false, _crashed)} | |"
    )
    return rows


def _asked(answers: Mapping[str, list[Answer]], tool: Tool) -> dict[str, list[Answer]]:
    """Return what a tool answered, for the claims that it was asked about."""
    found = {name: [one for one in some if one.tool == tool] for name, some in answers.items()}
    return {name: some for name, some in found.items() if some}


def _crashed(answer: Answer) -> bool:
    return answer.code in (UNFORESEEN, HUNG)


def _count(answers: Mapping[str, list[Answer]], what: Callable[[Answer], bool]) -> int:
    return sum(any(what(one) for one in some) for some in answers.values())


def _failures(true: Mapping[str, list[Answer]], false: Mapping[str, list[Answer]]) -> Iterable[str]:
    """Yield what is not as it should be."""
    for name, some in true.items():
        for one in some:
            if one.refutes or _crashed(one) or one.code == 2:
                yield f"true {name}: {one.tool} ended with {one.code}: {one.words} ({one.line})"
    for name, some in false.items():
        for one in some:
            if _crashed(one):
                yield f"mutant {name}: {one.tool} ended with {one.code}: {one.words} ({one.line})"
        if not any(one.refutes for one in some):
            yield f"mutant {name}: survives"


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="the beginning of a name")
    parser.add_argument("--true", action="store_true", help="the true theorems only")
    parser.add_argument("--mutants", action="store_true", help="the mutants only")
    parser.add_argument("--tools", nargs="+", default=TOOLS, choices=TOOLS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.file:
        _work(given.file, given.tools)
        return
    claims = {} if given.mutants else {name: claim for name, (claim, _) in true_claims().items()}
    wrong = {} if given.true else {mutant.id: mutant for mutant in read_mutants()}
    claims = {name: claim for name, claim in claims.items() if name.startswith(given.only)}
    wrong = {name: mutant for name, mutant in wrong.items() if name.startswith(given.only)}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.workers) as pool:
        paths = {}
        for name, claim in {**claims, **{name: mutant.claim for name, mutant in wrong.items()}}.items():
            paths[name] = Path(folder) / name / "theorem.toml"
            paths[name].parent.mkdir()
            paths[name].write_text(claim.text(), encoding="utf-8")
        answers = {}
        for name, found in zip(paths, pool.map(lambda path: _answers(path, given.tools), paths.values()), strict=True):
            answers[name] = found
            sys.stderr.write(f"{name}: {', '.join(f'{one.tool} {one.code}' for one in found)}\n")
    true, false = ({name: answers[name] for name in some} for some in (claims, wrong))
    table = _table(true, false, given.tools)
    failures = [
        text + (f" ({wrong[text.split(':')[0].removeprefix('mutant ')].what})" if text.endswith("survives") else "")
        for text in _failures(true, false)
    ]
    sys.stdout.write("\n".join([*table, "", *failures]) + "\n")
    if not (given.only or given.true or given.mutants) and tuple(given.tools) == TOOLS:
        _write(answers, table)


def _by_tool(answers: Sequence[Answer]) -> dict[Tool, list[Answer]]:
    return {tool: some for tool in TOOLS if (some := [one for one in answers if one.tool == tool])}


def _row(answers: Sequence[Answer], tool: Tool) -> dict[str, object]:
    """Return what one tool said of one claim: all exit codes, and of the first refutation what was asked and said."""
    told = next((one for one in answers if one.refutes), None)
    row = {"claim": answers[0].claim, "tool": tool, "codes": [one.code for one in answers]}
    row["seconds"] = round(sum(one.seconds for one in answers), 2)
    if told is None:
        return row
    return {**row, "asked": told.line.split("theorem.toml")[-1].strip(), "said": told.words[:120]}


def _write(answers: Mapping[str, list[Answer]], table: Sequence[str]) -> None:
    """Write all answers, and the table into its place in the documentation."""
    rows = [json.dumps(_row(some, tool)) for each in answers.values() for tool, some in _by_tool(each).items()]
    (ROOT / "benchmarks" / "battery.json").write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")
    page = ROOT / "docs" / "about.md"
    before, rest = page.read_text(encoding="utf-8").split(_BEGIN)
    after = rest.split(_END)[1]
    page.write_text("\n".join([before + _BEGIN, "", *table, "", _END]) + after, encoding="utf-8")


if __name__ == "__main__":
    main()
