"""The plan of a sweep: which questions are asked, read from a TOML file.

A plan has lists of theorems, problems and delay models, which multiply; under ``[set]`` values of symbols, options and
of the ``{names}`` in specs, which multiply, too; ``[[zip]]`` tables whose values go in step; ``[[exclude]]`` tables of
what is left out; and under ``[run]`` the question. See docs/sweep.md.
"""

import itertools
import json
import platform
import re
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b, sha256
from math import log10, prod
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, final, get_args

import msgspec
from msgspec.structs import replace

from boundlab import api
from boundlab.__about__ import __version__
from boundlab.case import as_json, problem_from, versions
from boundlab.errors import AssumptionError, BoundlabError, SpecError
from boundlab.files import hashes, is_file, read_text
from boundlab.formulas.assignments import axis_texts
from boundlab.objective import Problem
from boundlab.options import MOST_ITERATIONS, MOST_TRIALS, Default, nearest, number, parse_spec, typed
from boundlab.records import record, what
from boundlab.registry import command_line, files as plugins, lookup
from boundlab.theorems import Theorem, core, form_along_run, load_theorem
from boundlab.verdict import ExitCode

# One question of a sweep.

Row = dict[str, Any]  # of a cell: its coordinates and its answer, as JSON has them
Ask = Literal["compare", "exact", "worst-case", "falsify", "check", "prove"]
ASKS: tuple[Ask, ...] = get_args(Ask)
DEFAULT_RATE = 0.01  # of false alarms of a whole sweep
UNANSWERED = ("over time", "over memory", "killed", "crashed", "refused")  # of a row, how its cell failed
# Of a cell, and the list of a plan that holds their values.
COORDINATES = {"theorem": "theorems", "problem": "problems", "delays": "delays", "server": "servers"}


_LEAST_RATE = 1e-6  # a level of a cell of the largest sweep that is not 1 in floats
_LEAST_MEMORY, _MOST_MEMORY = 1 << 26, 1 << 60  # bytes: Python and NumPy alone take the least
_MOST_SECONDS = 1e9


class CellQuestion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The question that every cell asks, and the limits of a cell: the table [run] of a plan."""

    ask: Ask = "compare"
    iterations: Annotated[
        tuple[Annotated[int, msgspec.Meta(ge=1, le=MOST_ITERATIONS)], ...],
        what(
            "Horizons; a cell is one run for each, judged jointly.",
            f"a number, or a list of different numbers, from 1 to {MOST_ITERATIONS}",
            min_length=1,
        ),
    ] = (Default.ITERATIONS,)
    trials: Annotated[int, what("Of a sample.", f"a whole number from 2 to {MOST_TRIALS}", ge=2, le=MOST_TRIALS)] = (
        Default.TRIALS
    )
    seeds: Annotated[
        tuple[Annotated[int, msgspec.Meta(ge=0, lt=2**53)], ...],
        what("A cell for each.", "a whole number of at least 0 and below 2^53, or a list of such", min_length=1),
    ] = (Default.SEED,)
    candidates: Annotated[int, what("Of a search.", "a whole number from 1 to 10^9", ge=1, le=10**9)] = 100
    rate: Annotated[
        float,
        what(
            "Of false alarms among all sampled cells together.",
            f"the share of false alarms of the whole sweep, in [{_LEAST_RATE:g}, 1)",
            ge=_LEAST_RATE,
            lt=1.0,
        ),
    ] = DEFAULT_RATE
    seconds: Annotated[
        float, what("Of a cell.", f"a limit above 0 and at most {_MOST_SECONDS:g}", gt=0.0, le=_MOST_SECONDS)
    ] = 600.0
    memory: (
        Annotated[int, what("In bytes.", "a size from 64 MiB to 1 EiB", ge=_LEAST_MEMORY, le=_MOST_MEMORY)] | None
    ) = None


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """One question of a sweep.

    Parameters
    ----------
    problem, delays, server
        Specs with every name filled in; empty where the question is not about them.
    settings
        Symbols and options, as text.
    level
        At which a sample is judged.
    filled
        The names that its specs had in braces, with their values.
    """

    run: CellQuestion
    theorem: str
    problem: str
    delays: str
    server: str
    settings: tuple[tuple[str, str], ...]
    seed: int
    level: float
    filled: tuple[tuple[str, str], ...] = ()

    def asked(self) -> dict[str, Any]:
        """Return the keywords of the question, which its command has as options."""
        run, settings = self.run, dict(self.settings)
        match run.ask:
            case "compare":
                world = {"problem": self.problem, "delays": self.delays, "server": self.server or None}
                sample = {"iterations": list(run.iterations), "trials": run.trials, "seed": self.seed}
                return {**world, **sample, "level": self.level, "settings": settings}
            case "worst-case":
                return {"iterations": run.iterations[0], "delays": self.delays or None, "settings": settings}
            case "falsify":
                return {"candidates": run.candidates, "seed": self.seed}
        return {}

    def where(self) -> dict[str, Any]:
        """Return the coordinates, as a row has them."""
        own = {name: getattr(self, name) for name in (*COORDINATES, "seed")}
        return {"ask": self.run.ask, **own, "settings": dict(self.filled + self.settings)}


def shown(value: Any) -> str:
    """Return a value of a row: a float with four significant digits, nothing where there is none."""
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)


@lru_cache(maxsize=4096)
def normal(spec: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a spec in any order of its options; what is none, as it is."""
    try:
        kind, options = parse_spec(spec, "spec")
    except SpecError:
        return spec, ()
    return kind, tuple(sorted(options.items()))


# What a question is about.
_ABOUT: Mapping[Ask, frozenset[str]] = MappingProxyType(
    {
        "compare": frozenset({"theorems", "problems", "delays", "servers", "set", "iterations", "seeds", "trials"}),
        "exact": frozenset({"theorems", "problems", "delays", "servers", "set", "iterations"}),
        "worst-case": frozenset({"theorems", "delays", "set", "iterations"}),
        "falsify": frozenset({"theorems", "candidates", "seeds"}),
        "check": frozenset({"theorems"}),
        "prove": frozenset({"theorems"}),
    }
)
_LISTS = ("theorems", "problems", "delays", "servers")
_EXAMPLES = {
    "theorems": "area.theorem8",
    "problems": "huber:x0=3",
    "delays": "iid:p_s=0.5",
    "servers": "poisson:rate=4",
}
_NAME = re.compile(r"\{(\w+)\}")
_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
MOST_CELLS = 10**7


@final
@dataclass(frozen=True, slots=True)
class SweepPlan:
    """The questions of a sweep; :meth:`cells` yields them.

    Parameters
    ----------
    axes
        What multiplies: each a list of assignments of names to texts.
    raw
        What the file says; theorems that are files by their absolute paths.
    exclude
        A cell that has all of the values of one of these is left out.
    """

    theorems: tuple[str, ...]
    problems: tuple[str, ...]
    delays: tuple[str, ...]
    servers: tuple[str, ...]
    axes: tuple[tuple[Mapping[str, str], ...], ...]
    exclude: tuple[Mapping[str, frozenset[str]], ...]
    run: CellQuestion = field(default_factory=CellQuestion)
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def read(cls, path: Path) -> "SweepPlan":
        """Read a plan; theorems that are files are looked for beside it.

        Raises
        ------
        SpecError
            Naming the file, the key, and what would be right.
        """
        try:
            raw = tomllib.loads(read_text(path, SpecError))
        except tomllib.TOMLDecodeError as reason:
            raise SpecError(f"{path}: {reason}") from None
        return cls.of(raw, str(path), path.parent)

    @classmethod
    def of(cls, raw: Mapping[str, Any], name: str = "the plan", beside: Path = Path()) -> "SweepPlan":
        """Read what such a file says; errors are those of :meth:`read`."""
        return _PlanReader(raw, name, beside).plan()

    def size(self) -> int:
        """Return how many cells there are before any is left out."""
        return prod(map(len, (self.theorems, self.problems, self.delays, self.servers, self.run.seeds, *self.axes)))

    def total(self) -> int:
        """Return how many cells there are."""
        return sum(1 for _ in self._cells(0.0)) if self.exclude or self.inside() else self.size()

    def names(self) -> tuple[str, ...]:
        """Return the names that are given values: symbols, options, and those in braces."""
        return tuple(name for axis in self.axes for name in axis[0])

    def templates(self, row: Row) -> Row:
        """Return a row with its specs as the plan has them, names in braces: cells that differ in a name alone."""
        values = {**row, **row.get("settings", {})}
        found = {}
        for key in COORDINATES.keys() & row.keys():
            some = getattr(self, COORDINATES[key])
            found[key] = next((one for one in some if _filled(one, values) == row[key]), row[key])
        return row | found

    def cells(self) -> Iterator[Cell]:
        """Yield the cells: those of one problem together, each once."""
        sampled = self.run.ask == "compare"
        yield from self._cells(1.0 - self.run.rate / max(self.total(), 1) if sampled else 1.0)

    def _cells(self, level: float) -> Iterator[Cell]:
        run, inside = self.run, self.inside()
        seen: set[bytes] = set()  # a name that a spec does not have makes no cell of its own
        grid = ((problem, few) for problem in self.problems for few in itertools.product(*self.axes))
        for problem, few in grid:
            assigned = {name: value for one in few for name, value in one.items()}
            settings = tuple((name, value) for name, value in assigned.items() if name not in inside)
            others = itertools.product(self.theorems, self.delays, self.servers, run.seeds)
            for theorem, delays, server, seed in others:
                found = Cell(
                    run,
                    theorem,
                    _filled(problem, assigned),
                    _filled(delays, assigned),
                    _filled(server, assigned),
                    settings,
                    seed,
                    level,
                    tuple((name, assigned[name]) for name in dict.fromkeys(_NAME.findall(problem + delays + server))),
                )
                specs = (normal(one) for one in (found.problem, found.delays, found.server))
                mark = blake2b(repr((theorem, *specs, settings, seed)).encode(), digest_size=16).digest()
                if mark not in seen and not self._excluded(found, assigned):
                    seen.add(mark)
                    yield found

    def inside(self) -> frozenset[str]:
        """Return the names that stand in specs: they are no symbols."""
        return frozenset(name for text in (*self.problems, *self.delays, *self.servers) for name in _NAME.findall(text))

    def _excluded(self, cell: Cell, assigned: Mapping[str, str]) -> bool:
        own = {**assigned, "seed": str(cell.seed), **{name: getattr(cell, name) for name in COORDINATES}}
        return any(all(own.get(key) in some for key, some in one.items()) for one in self.exclude)


def _listed(value: Any) -> list[Any]:
    """Return a list as it is, and anything else as a list of itself."""
    return value if isinstance(value, list) else [value]


def _filled(spec: str, values: Mapping[str, Any]) -> str:
    """Return a spec with every name in braces replaced by its value, where it has one."""
    return _NAME.sub(lambda match: str(values.get(match[1], match[0])), spec)


_Texts = Annotated[list[str] | str, what("Specs, or ids of theorems.", "a list of texts")]


class PlanFile(msgspec.Struct, forbid_unknown_fields=True):
    """The TOML file of a plan."""

    theorems: _Texts = ""
    problems: _Texts = ""
    delays: _Texts | None = None
    servers: _Texts = ""
    set: Annotated[dict[str, Any], what("Name = values.", "a table, [set]")] = {}
    zip: Annotated[list[dict[str, Any]], what("Values that go in step.", "a list of tables, [[zip]]")] = []
    exclude: Annotated[list[dict[str, Any]], what("Cells that are left out.", "a list of tables, [[exclude]]")] = []
    run: Annotated[dict[str, Any], what("The question.", "a table, [run]")] = {}


@final
class _PlanReader:
    """Reads what a plan says, and refuses what it does not understand."""

    def __init__(self, raw: Mapping[str, Any], name: str, beside: Path) -> None:
        self.raw, self.name, self.beside = raw, name, beside
        self.file = record(PlanFile, dict(raw), name)

    def plan(self) -> SweepPlan:
        file = self.file
        run = self._run(file.run)
        lists = self._lists(run.ask)
        grid = self._axes("set", file.set)
        axes = [[{key: one} for one in some] for key, some in grid.items()]
        for number_, table in enumerate(file.zip, 1):
            columns = self._axes(f"zip {number_}", table)
            if len({len(one) for one in columns.values()}) > 1:
                long = ", ".join(f"{key} has {len(one)}" for key, one in columns.items())
                raise self._wrong(f"[[zip]] {number_}: values that go in step are equally many; {long}")
            rows = dict.fromkeys(zip(*columns.values(), strict=True))
            axes.append([dict(zip(columns, row, strict=True)) for row in rows])
        names = [key for axis in axes for key in axis[0]]
        twice = next((key for place, key in enumerate(names) if key in names[:place]), None)
        if twice is not None:
            raise self._wrong(f"{twice} is set twice")
        exclude = tuple(self._exclude(number_, table, names) for number_, table in enumerate(file.exclude, 1))
        theorems = tuple(self._beside(one) for one in lists["theorems"])
        problems, delays, servers = (lists[key] for key in _LISTS[1:])
        raw = {**self.raw, "theorems": list(theorems)}
        found = SweepPlan(theorems, problems, delays, servers, tuple(map(tuple, axes)), exclude, run, raw)
        missing = sorted(found.inside() - {*names})
        if missing:
            raise self._wrong(
                f"a spec has {{{missing[0]}}}, and [set] gives it no values; {nearest(missing[0], names)}"
            )
        if found.size() > MOST_CELLS:
            raise self._wrong(f"these are {found.size()} cells, at most {MOST_CELLS} are one sweep")
        if found.exclude and next(found._cells(0.0), None) is None:
            raise self._wrong("[[exclude]] leaves out every cell")
        return found

    def _lists(self, ask: Ask) -> dict[str, tuple[str, ...]]:
        """Return the lists; where the question is not about one, the empty word."""
        for key in ("theorems", "problems"):
            if key in _ABOUT[ask] and not self.raw.get(key):
                raise self._wrong(f'it needs {key}, a list such as {key} = ["{_EXAMPLES[key]}"]')
        usual = "" if ask == "worst-case" else Default.DELAYS
        given = {key: getattr(self.file, key) for key in _LISTS} | {"delays": self.file.delays or usual}
        return {key: self._texts(key, given[key]) if key in _ABOUT[ask] else ("",) for key in _LISTS}

    def _run(self, table: Mapping[str, Any]) -> CellQuestion:
        listed = {key: _listed(table[key]) for key in ("iterations", "seeds") if key in table}
        sized = {"memory": self._memory(table["memory"])} if "memory" in table else {}
        run = record(CellQuestion, {**table, **listed, **sized}, f"{self.name}, [run]")
        for key in (*_LISTS, "set", "iterations", "trials", "seeds", "candidates"):
            if key not in _ABOUT[run.ask] and (self.raw.get(key) or key in table):
                raise self._wrong(f"{key}: {run.ask} has none; leave it out")
        if len(set(run.iterations)) < len(run.iterations):
            raise self._wrong("[run] iterations: a number, or a list of different numbers")
        if run.ask in ("exact", "worst-case") and len(run.iterations) > 1:
            raise self._wrong(f"[run] iterations: {run.ask} is asked at one horizon; give one number")
        horizons = tuple(sorted(run.iterations)) if "iterations" in _ABOUT[run.ask] else ()
        return replace(run, iterations=horizons, seeds=tuple(dict.fromkeys(run.seeds)))

    def _memory(self, given: Any) -> int:
        match = re.fullmatch(r"\s*([0-9.]+)\s*([KMG]iB)\s*", str(given))
        if match is None:
            raise self._wrong(f'[run] memory: a size such as "2 GiB" or "500 MiB", got {given!r}')
        return int(number(match[1], "[run] memory") * _UNITS[match[2]])

    def _axes(self, where: str, table: Mapping[str, Any]) -> dict[str, list[str]]:
        """Return the values of each name, as texts that are read alone."""
        found = {}
        for key, value in table.items():
            some = axis_texts(key, value) if isinstance(value, str) else _listed(value)
            if any(isinstance(one, list | dict) for one in some):
                raise self._wrong(f"{where}: a value of {key} is a list or a table; write numbers or texts")
            texts = [typed(one) for one in some]
            if not texts:
                raise self._wrong(f'{where}: {key} has no values; write {key} = [1, 10], or "1:1e3:log:4"')
            found[key] = list(dict.fromkeys(texts)) if where == "set" else texts
        return found

    def _exclude(self, place: int, table: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, frozenset[str]]:
        known = (*COORDINATES, "seed", *names)
        for key in table:
            if key not in known:
                raise self._wrong(f"[[exclude]] {place}: unknown key {key!r}; {nearest(key, known)}")
        values = {key: frozenset(one) for key, one in self._axes(f"exclude {place}", table).items()}
        if not values:
            raise self._wrong(f"[[exclude]] {place} names nothing, and would leave out every cell")
        return {key: frozenset(map(self._beside, one)) if key == "theorem" else one for key, one in values.items()}

    def _beside(self, theorem: str) -> str:
        """Return the path of a theorem that is a file beside the plan."""
        return str((self.beside / theorem).absolute()) if theorem.endswith(".toml") else theorem

    def _texts(self, key: str, value: Any) -> tuple[str, ...]:
        some = _listed(value)
        if not some:
            raise self._wrong(f'{key}: a list of texts, such as {key} = ["{_EXAMPLES[key]}"]')
        return tuple({normal(one): one for one in some}.values())  # each once, however it is written

    def _wrong(self, words: str) -> SpecError:
        return SpecError(f"{self.name}: {words}")


# One cell of a sweep: its key, its answer as a row, and the command that repeats it.

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
    ask = cell.run.ask
    about = theorem_of(cell.theorem).proofs if ask == "prove" else (cell.theorem, *[NO_CASE] * (ask == "exact"))
    return command_line(ask, *about, **cell.asked())


def answer(cell: Cell) -> Row:
    """Answer a cell and return its row: status, verdict, why, the numbers, the case, and what it took.

    An error of boundlab is an answer, too: ``not applicable`` where an assumption is not met, else ``refused``. Any
    other exception is raised.
    """
    start, wall = time.process_time(), time.perf_counter()
    try:
        found, more = _ASK[cell.run.ask](cell)
        row = {"status": "done", "verdict": str(found.verdict), "code": found.exit_code, "reason": found.line()} | more
    except AssumptionError as error:
        row = {"status": "done", "verdict": "not applicable", "code": ExitCode.NOT_APPLICABLE, "reason": str(error)}
    except BoundlabError as error:
        row = {"status": "refused", "verdict": "", "code": ExitCode.USAGE, "reason": str(error)}
    spent = {"cpu": round(time.process_time() - start, 4), "seconds": round(time.perf_counter() - wall, 4)}
    return {"key": key(cell), "command": command(cell), **cell.where(), **row, **spent}


_Found = tuple[Any, Row]  # what a question answers, and what its row says beside verdict, code and line


def _compared(cell: Cell) -> _Found:
    asked = cell.asked() | {"problem": problem_of(cell.problem), "jobs": 1}
    found: Any = api.compare(theorem_of(cell.theorem), **asked)
    points = [
        [int(k), *(float(column) for column in row)]
        for one in found.comparisons
        for k, *row in zip(one.plan.ks, one.band.mean, one.band.lower, one.band.upper, one.bound, strict=True)
    ]
    least = max(points, key=lambda point: point[1] / point[4] if point[4] else point[1])  # where the bound is nearest
    form = next((f"of {one.plan.theorem.id}, in its place: " for one in found.comparisons if one.plan.asked), "")
    more = {"vacuous": bool(found.vacuous), "points": points, "reason": f"{form}{found.reason}", "case": found.case}
    return found, _sides(least[1], least[4]) | more


def _exactly(cell: Cell) -> _Found:
    theorem, problem = theorem_of(cell.theorem), as_json(problem_of(cell.problem).spec())
    case = {
        "algorithm": theorem.algorithm,
        "problem": problem,
        "parameters": dict(cell.settings),
        "delays": cell.delays,
        **({"server": cell.server} if cell.server else {}),
        "iterations": cell.run.iterations[0],
        "theorem": theorem.id,
    }
    found = api.exact(theorem, case, derivation=False)
    return found, _sides(found.left, found.right) | {"reason": found.reason, "case": case}


def _worst(cell: Cell) -> _Found:
    found = api.worst_case(theorem_of(cell.theorem), **cell.asked())
    return found, _sides(found.primal, float(found.bound)) | {"reason": found.reason}


def _searched(cell: Cell) -> _Found:
    found = api.falsify(theorem_of(cell.theorem), **cell.asked(), jobs=1)
    return found, {} if found.best is None else {"case": found.case, "ratio": float(found.best.ratio)}


def _checked(cell: Cell) -> _Found:
    return api.check(theorem_of(cell.theorem)), {}


def _proved(cell: Cell) -> _Found:
    ids = theorem_of(cell.theorem).proofs
    if not ids:
        raise SpecError(f"{cell.theorem} has no registered proof")
    found = [api.prove(one) for one in ids]
    code = ExitCode.worst(one.exit_code for one in found)
    verdict = "proved" if code == ExitCode.STANDS else "refuted" if code == ExitCode.REFUTED else "not proved"
    return found[0], {"verdict": verdict, "code": code, "reason": "; ".join(one.line() for one in found)}


_ASK: Mapping[Ask, Callable[[Cell], _Found]] = MappingProxyType(
    {
        "compare": _compared,
        "exact": _exactly,
        "worst-case": _worst,
        "falsify": _searched,
        "check": _checked,
        "prove": _proved,
    }
)


def _sides(left: float, bound: float) -> Row:
    """Return both sides, and by how many powers of ten the bound is above the left side."""
    slack = log10(bound / left) if left > 0.0 and 0.0 < bound < float("inf") else None
    return {"left": left, "bound": bound, "ratio": left / bound if bound else None, "log_slack": slack}
