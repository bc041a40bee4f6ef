"""Ask a recorded question once more."""

import contextlib
import io
import json
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.golden.functions import certificate, formal, functions, semidefinite, symbols, tensors
from benchmarks.golden.lines import HERE, Line, unpack
from benchmarks.golden.parts import choices, near, simple, surds, usage, weighted
from benchmarks.golden.view import constants, kept, rounded
from boundlab.errors import BoundlabError

DRAWS = 50
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\w)")


def ask(line: Line) -> Line:
    """Return the line with the answer of today's code."""
    before = time.process_time()
    nouns = {
        "constants": _constants,
        "core": _core,
        "draws": _draws,
        "functions": functions,
        "notebook": _notebook,
        "certificate": certificate,
        "formal": formal,
        "semidefinite": semidefinite,
        "symbols": symbols,
        "tensors": tensors,
        "choices": choices,
        "near": near,
        "simple": simple,
        "surds": surds,
        "usage": usage,
        "weighted": weighted,
    }
    if line.kind in nouns:
        with _folder(line.files):
            try:
                made = nouns[line.kind](line.words[1:])
            except BoundlabError as error:
                made = {"refused": type(error).__name__}
    else:
        made = _command(line)
    return line.answered(json.loads(json.dumps(made)), time.process_time() - before)


def _command(line: Line) -> Any:
    from boundlab.cli import invoke

    with _folder(line.files) as place, captured() as (out, err):
        code = int(invoke([word.replace(HERE, str(place)) for word in line.words]))
    found: dict[str, Any] = {"exit": code}
    try:
        answer = kept(json.loads(out.getvalue())) if out.getvalue().startswith("{") else None
    except ValueError:
        answer = None
    if answer is not None:
        found["answer"] = answer
    said = err.getvalue().replace(str(place), HERE)
    if line.kind == "bad":
        found["seen"] = said
    return {**found, "lines": said.count("\n")} if code == 2 else found


@contextlib.contextmanager
def _folder(files: Sequence[str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="golden") as name:
        place = Path(name)
        unpack(files, place)
        with contextlib.chdir(place):
            yield place


@contextlib.contextmanager
def captured() -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """Yield what is printed."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield out, err


def _constants(words: Sequence[str]) -> Any:
    from boundlab.case import problem_from

    problem = problem_from(words[0])
    found = {name: {"value": one.value, "side": one.side} for name, one in problem.constants().items()}
    assumptions = sorted(name for name, why in problem.assumptions().items() if not why)
    return rounded({"constants": constants(found), "assumptions": assumptions})


def _core(words: Sequence[str]) -> Any:
    from boundlab.theorems import load_theorem

    return {"core": load_theorem(words[0]).core.sha256}


def _draws(words: Sequence[str]) -> Any:
    """Return the first events of a run, with what is drawn beside who acts and when."""
    from boundlab.case import delays_from
    from boundlab.options import Options
    from boundlab.randomness import Streams
    from boundlab.registry import lookup

    name, options, delays, clients = words[0], json.loads(words[1]), words[2], int(words[3])
    algorithm = lookup("algorithms", name)
    parameters, model = algorithm.read(Options(name, options)), delays_from(delays, clients)
    policy = algorithm.policy(None, model)
    events = algorithm.sample(parameters, model, policy, Streams(0), clients, DRAWS)
    actors, times = events.actor[:DRAWS].tolist(), events.time[:DRAWS].tolist()
    return rounded({"actors": actors, "times": times, "details": _listed(getattr(events, "detail", None))})


def _listed(detail: Any) -> Any:
    if detail is None:
        return None
    return [one.tolist() if hasattr(one, "tolist") else one for one in list(detail)[:DRAWS]]


def _notebook(words: Sequence[str]) -> Any:
    """Return the numbers that a notebook prints, in their order, and how many figures it draws.

    Of each cell together: into how many pieces its output comes is a matter of time.
    """
    from benchmarks.store_notebooks import FOLDER, executed

    with captured():
        cells = executed(FOLDER / f"{words[0]}.py").cells
    outputs = [cell.get("outputs", ()) for cell in cells]
    texts = ["".join(one.get("text", "") or one.get("data", {}).get("text/plain", "") for one in of) for of in outputs]
    found = [_NUMBER.findall(text) for text in texts]
    return {"numbers": [[float(one) for one in some] for some in found if some],
            "figures": sum("image/png" in one.get("data", {}) for of in outputs for one in of)}  # fmt: skip
