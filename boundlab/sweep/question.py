"""One cell of a sweep: its key, its answer as a row, and the command that repeats it."""

import json
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from math import log10
from pathlib import Path
from types import MappingProxyType
from typing import Any

from boundlab.__about__ import __version__
from boundlab.case.build import problem_from
from boundlab.case.provenance import plain, versions
from boundlab.errors import AssumptionError, BoundlabError, SpecError
from boundlab.files import hashes, is_file
from boundlab.objective import Problem
from boundlab.options import parse_spec
from boundlab.registry import command_line, lookup
from boundlab.registry import files as plugins
from boundlab.sweep.cell import Ask, Cell, Row, normal
from boundlab.theorems import Theorem, core, form_along_run, load_theorem
from boundlab.verdict import ExitCode

NO_CASE = "CASE.json"  # in a command, where the case of its row belongs


_Stamps = tuple[tuple[str, int, int, int], ...]  # of files: another one where one was written again


def _stamps(files: Iterable[Path]) -> _Stamps:
    """Return the stamps of those files that are there."""
    there = [(file, file.stat()) for file in files if is_file(file)]
    return tuple((str(file), found.st_mtime_ns, found.st_size, found.st_ino) for file, found in there)


def theorem_of(name: str) -> Theorem:
    """Return a theorem, read once, and again where its file has changed."""
    return _theorem(name, _stamps([Path(name)]))[0]


@lru_cache(maxsize=256)
def _theorem(name: str, _of: _Stamps) -> tuple[Theorem, tuple[str, ...]]:
    """Return a theorem, its id, and the hashes of the cores that an answer may be about: a form may take its place."""
    found = load_theorem(name)
    return found, (found.id, *(core(one).sha256 for one in (found, form_along_run(found)) if one is not None))


def problem_of(spec: str) -> Problem:
    """Return a problem, built once, and again where its files have changed."""
    return _problem(spec, _stamps(_named(spec, True)))


@lru_cache(maxsize=16)  # constants and x* are computed once for all cells of a problem
def _problem(spec: str, _of: _Stamps) -> Problem:
    return problem_from(spec)


def key(cell: Cell) -> str:
    """Return the SHA-256 of all that decides the answer; the versions of libraries are columns of the row instead.

    Nothing is built for it: whatever building a problem takes, a worker takes it, under its limits.

    Raises
    ------
    BoundlabError
        If the theorem is none.
    """
    fields = {
        "ask": cell.run.ask,
        "theorem": _theorem(cell.theorem, _stamps([Path(cell.theorem)]))[1],
        "problem": _words(cell.problem, True),
        "delays": _words(cell.delays),
        "server": _words(cell.server),
        "settings": [
            (name, _words(value) if value.startswith("@") else value) for name, value in sorted(cell.settings)
        ],
        "iterations": cell.run.iterations,
        "trials": cell.run.trials,
        "seed": cell.seed,
        "candidates": cell.run.candidates,
        "level": cell.level,
        "backend": "numpy",
        "plugins": _hashes(map(Path, plugins())),
    }
    return sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def _words(spec: str, is_problem: bool = False) -> Any:
    """Return a spec in any order of its options, and what the files that it names hold."""
    return normal(spec), _hashes(_named(spec, is_problem))


def _hashes(files: Iterable[Path]) -> list[str]:
    return sorted(_sha256(path, *stamp) for path, *stamp in _stamps(files))


@lru_cache(maxsize=4096)
def _sha256(path: str, *_stamp: int) -> str:
    return next(iter(hashes([Path(path)]).values()))


@lru_cache(maxsize=4096)
def _named(spec: str, is_problem: bool) -> tuple[Path, ...]:
    """Return the files that a spec may name."""
    kind, options = "", {"": spec}
    if not spec.startswith("@"):
        with suppress(SpecError):
            kind, options = parse_spec(spec, "spec")
    files = [Path(value.removeprefix("@")) for value in options.values()]
    files += [Path(value.rpartition(":")[2]).expanduser() for value in options.values()]
    with suppress(BoundlabError):  # which the answer will name
        files += lookup("problems", kind).files(options) if is_problem and kind else ()
    return tuple(dict.fromkeys(files))


def machine() -> Row:
    """Return what the rows of one process have in common: versions, processor, machine."""
    return {"boundlab": __version__, **versions(), "processor": _processor(), "host": platform.node()}


@lru_cache(maxsize=1)
def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def command(cell: Cell) -> str:
    """Return the command that repeats a cell by itself."""
    words = [*_ARGUMENTS[cell.run.ask](cell)]
    if cell.run.ask in ("compare", "worst-case"):
        words += [word for name, value in cell.settings for word in ("--set", f"{name}={value}")]
    if cell.run.ask == "compare":
        words += ["--trials", str(cell.run.trials), "--seed", str(cell.seed), "--level", repr(cell.level)]
    return command_line(cell.run.ask, *words)


def _world(cell: Cell) -> list[str]:
    server = ["--server", cell.server] if cell.server else []
    return [cell.theorem, "--problem", cell.problem, "--delays", cell.delays, *server]


_ARGUMENTS: Mapping[Ask, Callable[[Cell], list[str]]] = MappingProxyType(
    {
        "compare": lambda cell: [*_world(cell), "--iterations", ",".join(map(str, cell.run.iterations))],
        "exact": lambda cell: [cell.theorem, NO_CASE],
        "worst-case": lambda cell: [
            cell.theorem, "--iterations", str(cell.run.iterations[0]),
            *(["--delays", cell.delays] if cell.delays else []),
        ],
        "falsify": lambda cell: [cell.theorem, "--candidates", str(cell.run.candidates), "--seed", str(cell.seed)],
        "check": lambda cell: [cell.theorem],
        "prove": lambda cell: [*theorem_of(cell.theorem).proofs],
    }
)  # fmt: skip


def answer(cell: Cell) -> Row:
    """Answer a cell and return its row: status, verdict, why, the numbers, the case, and what it took.

    An error of boundlab is an answer, too: ``not applicable`` where an assumption is not met, else ``refused``. Any
    other exception is raised.
    """
    start, wall = time.process_time(), time.perf_counter()
    try:
        found = {"status": "done", **_ASK[cell.run.ask](cell)}
    except AssumptionError as error:
        found = {"status": "done", "verdict": "not applicable", "code": ExitCode.NOT_APPLICABLE, "reason": str(error)}
    except BoundlabError as error:
        found = {"status": "refused", "verdict": "", "code": ExitCode.USAGE, "reason": str(error)}
    spent = {"cpu": round(time.process_time() - start, 4), "seconds": round(time.perf_counter() - wall, 4)}
    return {"key": key(cell), "command": command(cell), **cell.where(), **found, **spent}


def _compared(cell: Cell) -> Row:
    from boundlab.api import compare

    found: Any = compare(
        theorem_of(cell.theorem),
        problem_of(cell.problem),
        cell.delays,
        server=cell.server or None,
        iterations=list(cell.run.iterations),
        trials=cell.run.trials,
        seed=cell.seed,
        level=cell.level,
        jobs=1,
        settings=dict(cell.settings),
    )
    points = [
        [int(k), *(float(column) for column in row)]
        for one in found.comparisons
        for k, *row in zip(one.plan.ks, one.band.mean, one.band.lower, one.band.upper, one.bound, strict=True)
    ]
    least = max(points, key=lambda point: point[1] / point[4] if point[4] else point[1])  # where the bound is nearest
    row = _sides(least[1], least[4]) | {"headline": found.headline, "points": points}
    form = next((f"of {one.plan.theorem.id}, in its place: " for one in found.comparisons if one.plan.asked), "")
    return _judged(found.verdict, f"{form}{found.reason}") | row | {"case": found.case}


def _exactly(cell: Cell) -> Row:
    from boundlab.api import exact

    theorem, problem = theorem_of(cell.theorem), plain(problem_of(cell.problem).spec())
    case = {
        "algorithm": theorem.algorithm,
        "problem": problem,
        "parameters": dict(cell.settings),
        "delays": cell.delays,
        **({"server": cell.server} if cell.server else {}),
        "iterations": cell.run.iterations[0],
        "theorem": theorem.id,
    }
    found = exact(theorem, case, derivation=False)
    return _judged(found.verdict, found.reason) | _sides(found.left, found.right) | {"case": case}


def _worst(cell: Cell) -> Row:
    from boundlab.api import worst_case

    delays, settings = cell.delays or None, dict(cell.settings)
    found = worst_case(theorem_of(cell.theorem), cell.run.iterations[0], delays=delays, settings=settings)
    return _judged(found.verdict, found.reason) | _sides(found.primal, float(found.bound))


def _searched(cell: Cell) -> Row:
    from boundlab.api import falsify

    found = falsify(theorem_of(cell.theorem), candidates=cell.run.candidates, seed=cell.seed, jobs=1)
    case = {} if found.best is None else {"case": found.case, "ratio": float(found.best.ratio)}
    return _judged(found.verdict, found.line()) | case


def _checked(cell: Cell) -> Row:
    from boundlab.api import check

    found = check(theorem_of(cell.theorem))
    return {"verdict": found.verdict, "code": found.exit_code, "reason": found.line()}


def _proved(cell: Cell) -> Row:
    from boundlab.api import prove
    from boundlab.pages.proofs import ending

    ids = theorem_of(cell.theorem).proofs
    if not ids:
        raise SpecError(f"{cell.theorem} has no registered proof")
    found = [prove(one) for one in ids]
    code = max((ending(one)[1] for one in found), key=[ExitCode.STANDS, ExitCode.UNDECIDED, ExitCode.REFUTED].index)
    verdict = "proved" if code == ExitCode.STANDS else "refuted" if code == ExitCode.REFUTED else "not proved"
    return {"verdict": verdict, "code": code, "reason": "; ".join(one.line() for one in found)}


_ASK: Mapping[Ask, Callable[[Cell], Row]] = MappingProxyType(
    {
        "compare": _compared,
        "exact": _exactly,
        "worst-case": _worst,
        "falsify": _searched,
        "check": _checked,
        "prove": _proved,
    }
)


def _judged(verdict: Any, reason: str) -> Row:
    return {"verdict": str(verdict), "code": verdict.exit_code, "reason": reason}


def _sides(left: float, bound: float) -> Row:
    """Return both sides, and by how many powers of ten the bound is above the left side."""
    slack = log10(bound / left) if left > 0.0 and 0.0 < bound < float("inf") else None
    return {"left": left, "bound": bound, "ratio": left / bound if bound else None, "log_slack": slack}
