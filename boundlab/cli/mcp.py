"""``boundlab mcp``: the questions as tools of the Model Context Protocol, for assistants that call them."""

import json
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryDirectory
from typing import Any, Final

from boundlab.__about__ import __version__
from boundlab.documentation import page_files
from boundlab.errors import SpecError
from boundlab.records import published
from boundlab.verdict import ExitCode

_LONGEST: Final = 600  # seconds that a tool may be given
_INSTRUCTIONS: Final = """boundlab checks convergence theorems of first-order methods.

`theorem` is an id, which `find` lists, or the text of a TOML file. boundlab://schema/theorem has the keys of the file,
boundlab://docs/write-a-theorem an example. `problem` is a word with options, such as huber:x0=3 or
logistic:data=breast_cancer,clients=4,nu=0.1; `delays` likewise, such as exponential:spread=10.

`violated` comes with a counterexample, confirmed in exact numbers. `holds` speaks of the instances that were compared;
only `prove` proves a theorem. `inconclusive` says nothing. A tool ends after `seconds`, and says so."""


def mcp() -> None:
    """Serve the questions to an assistant.

    Tools of the Model Context Protocol, over standard input and output: check, falsify, compare, exact, constants,
    prove, show and find. Each runs in a process of its own, and ends after the seconds that the call gives it.
    """
    with redirect_stdout(sys.__stdout__):  # the protocol's bytes, and no screen
        server().run("stdio")


def server() -> Any:
    """Return the server, with its tools and its documents."""
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError:
        raise SpecError("boundlab mcp needs the official SDK: pip install 'boundlab[mcp]'") from None
    made = MCPServer("boundlab", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    for tool in (check, falsify, compare, exact, constants, prove, show, find):
        made.add_tool(tool)
    made.resource("boundlab://docs/{page}")(documentation)
    made.resource("boundlab://schema/{kind}")(json_schema)
    return made


async def check(theorem: str, seconds: float = 60) -> dict[str, Any]:
    """Check units, domains, limits and consistency of a theorem's formulas. Nothing is run."""
    return await _asked("check", [], seconds, theorem)


async def falsify(theorem: str, seconds: float = 60) -> dict[str, Any]:
    """Search for a small counterexample, for three quarters of the seconds. Finding none proves nothing."""
    return await _asked("falsify", [f"--budget={seconds * 3 / 4:g}", "--out=found"], seconds, theorem)


async def compare(
    theorem: str,
    problem: str,
    delays: str = "",
    iterations: list[int] | None = None,
    values: dict[str, str] | None = None,
    seconds: float = 60,
) -> dict[str, Any]:
    """Compare the bound of a theorem with the error on one problem: exactly where possible, else by runs.

    `iterations` are horizons K; `values` those of symbols that the theorem leaves open, such as {"M": "3"}.
    """
    given = [f"--delays={delays}"] if delays else []
    given += [f"--iterations={','.join(map(str, iterations))}"] if iterations else []
    given += [f"--set={name}={value}" for name, value in (values or {}).items()]
    return await _asked("compare", [f"--problem={problem}", *given], seconds, theorem)


async def exact(theorem: str, case: dict[str, Any] | None = None, seconds: float = 60) -> dict[str, Any]:
    """Evaluate both sides of a theorem in exact numbers on a case, as falsify gives one, or on the stored one."""
    return await _asked("exact", [], seconds, theorem, case)


async def constants(problem: str, seconds: float = 60) -> dict[str, Any]:
    """Compute every constant of a problem (L, mu, B, G, sigma, R, ...) with its side and its certificate."""
    return await _asked("constants", ["--", problem], seconds)


async def prove(theorem: str, search: bool = False, seconds: float = 60) -> dict[str, Any]:
    """Check the stored proof of a theorem step by step, or search for a proof."""
    return await _asked("prove", ["--search"] if search else [], seconds, theorem)


async def show(theorem: str) -> dict[str, Any]:
    """Show a theorem as boundlab understands it: left side, assumptions, step, bound, symbols."""
    return await _asked("show", [], _LONGEST, theorem)


async def find(kind: str, word: str = "") -> dict[str, Any]:
    """List theorems, problems, delays, algorithms, metrics, assumptions or symbols, with a word in them if given."""
    return await _asked("list", ["--", kind, word][: 3 if word else 2], _LONGEST)


async def documentation(page: str) -> str:
    """Return a page of the documentation: write-a-theorem, theorems, verdicts, algorithms, ..."""
    return page_files()[page].read_text(encoding="utf-8")


async def json_schema(kind: str) -> str:
    """Return the JSON Schema of a theorem, a case, a certificate, a counterexample, a proof or a result."""
    return json.dumps(published(kind), ensure_ascii=False)


async def _asked(
    command: str, given: list[str], seconds: float, theorem: str = "", case: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Ask boundlab in a process and a folder of its own; return its code and its document, or raise its one line."""
    from anyio import move_on_after, run_process
    from mcp.server.mcpserver.exceptions import ToolError

    if not 0 < seconds <= _LONGEST:
        raise ToolError(f"seconds must be above 0 and at most {_LONGEST}, got {seconds:g}")
    with TemporaryDirectory() as folder:
        last = [theorem] if theorem else []
        if "=" in theorem:  # no id has the sign, and every file
            last = ["theorem.toml"]
            (Path(folder) / last[0]).write_text(theorem, encoding="utf-8")
        if case is not None:
            last.append("case.json")
            (Path(folder) / last[-1]).write_text(json.dumps(case), encoding="utf-8")
        line = [command, "--json", *given, *(["--", *last] if last else [])]
        with move_on_after(seconds) as limit:
            ended = await run_process([sys.executable, "-m", "boundlab", *line], cwd=folder, stdin=DEVNULL, check=False)
        if limit.cancelled_caught:
            return {"exit": int(ExitCode.UNDECIDED), "reason": f"no answer within {seconds:g} seconds"}
    if ended.returncode in (ExitCode.USAGE, ExitCode.UNFORESEEN):
        raise ToolError(ended.stderr.decode(errors="replace").strip())
    return {"exit": ended.returncode, "answer": json.loads(ended.stdout)}
