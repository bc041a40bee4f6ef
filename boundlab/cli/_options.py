"""Options and arguments of all commands, declared once: names, help, the reader of a value, and its completion.

A value without a completion is free: a number, a list of numbers, or a name of one's own. The defaults and words that
:mod:`boundlab.api` has, too, stand in :mod:`boundlab.options`.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from boundlab.cli import _complete as complete
from boundlab.errors import SpecError
from boundlab.options import BACKENDS, LOG_FORMS, Axis, BandKind, Objective, number, numbers, split_setting, whole

LISTED = ("theorems", "algorithms", "problems", "delays", "metrics", "assumptions", "checks", "proofs", "symbols")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
BEGUN = ("algorithm", "theorem", "problem", "delays", "metric", "check", "proof")


def _option(shown: str, words: str, offer: Any = None, *, reader: Any = None) -> Any:
    """Declare an option by what the help shows, ``--problem -p SPEC``: its names and the letters for its value."""
    names = [word for word in shown.split() if word.startswith("-")]
    letters = shown.split()[len(names) :]
    return typer.Option(
        *names, metavar=letters[0] if letters else None, help=words, autocompletion=offer, parser=reader
    )


def _integer(names: str, words: str) -> Any:
    """Declare an option that is an integer, as 1e4 and 10_000 are; one of type ``int`` refuses the first.

    Its limits are those of the question that it goes to.
    """
    return _option(f"{names} N", words, reader=lambda value: whole(value, names.split()[0]))


def _file(shown: str, words: str) -> Any:
    """Declare an option that names a file, or a folder."""
    return _option(shown, words, complete.files(shown.split()[-1]))


def _argument(shown: str, words: str | None, offer: Any = None) -> Any:
    """Declare an argument by what the help shows: the letters for its value."""
    return typer.Argument(metavar=shown, help=words, autocompletion=offer)


def _file_argument(shown: str, words: str) -> Any:
    return _argument(shown, words, complete.files(shown))


def _read_horizons(given: Any) -> list[int] | int:
    """Read ``1000``, or ``10,100,1000``: each of these is a run of its own."""
    found = [whole(one, "--iterations") for one in numbers(given, "--iterations")]
    return found if "," in str(given) else found[0]


def _read_fitted(given: Any) -> list[int]:
    found = sorted({whole(one, "--fit") for one in numbers(given, "--fit")})
    if len(found) < 2:
        raise SpecError(f"--fit asks for two or more horizons, such as 2,3,4,5; got {given}")
    return found


def _one_of(shown: str, words: str, *known: str) -> Any:
    """Declare an option that is one of a few words."""

    def read(given: Any) -> str:
        if given not in known:
            raise SpecError(f"{shown.split()[0]} is {' or '.join(known)}, got {given!r}")
        return str(given)

    return _option(shown, words, complete.words(known), reader=read)


def _read_time(given: Any) -> float:
    """Return seconds: 90, 90s, 1.5m or 2h."""
    text = str(given).strip()
    unit = text[-1:] if text[-1:] in _SECONDS else "s"
    return _SECONDS[unit] * number(text.removesuffix(unit), "--budget")


# What a command is about.
Theorem = Annotated[
    str, _argument("THEOREM", "an id (boundlab list) or a TOML file", complete.ids("theorems", ".toml"))
]
Algorithm = Annotated[
    str,
    _argument(
        "ALGORITHM|CASE.json", "an id (boundlab list algorithms) or a case file", complete.ids("algorithms", ".json")
    ),
]
Proofs = Annotated[
    str | None,
    _argument(
        "[ID|FILE.py]",
        "A registered proof (boundlab list proofs), or a Python file with PROOFS = (Script(…), …) or BOUNDLAB, as "
        "boundlab new proof writes it. The file is run. Default: all registered proofs, a line each.",
        complete.ids("proofs", ".py"),
    ),
]
CaseOrOwn = Annotated[
    Path | None,
    _file_argument(
        "[CASE.json]",
        "a case file with events, or with delays, server and iterations; or the id of a theorem, for its "
        "counterexample; default: that of THEOREM",
    ),
]
Log = Annotated[Path, _file_argument("FILE", "The log of a system, or a trace; .gz may be compressed.")]
Fit = Annotated[bool, _option("--fit", "Print the law of delays that fits the durations best, as --delays takes it.")]
LogForm = Annotated[
    str,
    _option("--as FORM", "csv (default), or appfl: the simulator of virtual time of APPFL.", complete.words(LOG_FORMS)),
]
LogColumns = Annotated[
    str | None,
    _option(
        "--map KEY=NAME,…",
        "Your names of the columns time, client, dispatch, version, steps, status and staleness.",
    ),
]
Plugin = Annotated[Path | None, _file_argument("[PLUGIN.py]", "A plug-in. It is run, and its objects are tested.")]
Listed = Annotated[str, _argument(f"[{'|'.join(LISTED)}]", None, complete.words(LISTED))]
Word = Annotated[str | None, _argument("[WORD]", "Only objects with this word in the id or summary.")]
For = Annotated[
    str | None, _option("--for PROBLEM", "Show which theorems apply to this problem.", complete.specs("problems"))
]
Begun = Annotated[str, _argument("|".join(BEGUN), "What to start.", complete.words(BEGUN))]
Name = Annotated[str, _argument("NAME", "Its id: letters, digits, -, _ and dots.")]
Page = Annotated[
    str | None, _argument("[PAGE]", "verdicts, theorems, area#anchor, …; default: a list.", complete.pages)
]
Schema = Annotated[
    bool, _option("--schema", "Print the JSON Schema named instead: case, theorem, result, …; default: a list.")
]

# Runs.
AskedProblem = Annotated[
    str, _argument("PROBLEM", "NAME:key=value,… (boundlab list problems)", complete.specs("problems"))
]
Problem = Annotated[
    str, _option("--problem -p SPEC", "NAME:key=value,… (boundlab list problems).", complete.specs("problems"))
]
Delays = Annotated[
    str, _option("--delays -d SPEC", "NAME:key=value,… (boundlab list delays).", complete.specs("delays"))
]
Server = Annotated[
    str | None,
    _option(
        "--server SPEC", "poisson:rate=4 (default: rate=optimal), count:every=4 or periodic:every=1.", complete.policies
    ),
]
Settings = Annotated[
    list[str] | None, _option("--set NAME=VALUE", "Set a symbol or a parameter; may be repeated.", complete.symbols)
]
Iterations = Annotated[
    int, _integer("--iterations -k", "K: events for area (updates, aggregations), server updates for others.")
]
Horizons = Annotated[
    Any,
    _option(
        "--iterations -k K|K1,K2,…",
        "Events for area (client updates and aggregations), server updates for the others. Several horizons "
        "give a separate run each.",
        reader=_read_horizons,
    ),
]
Trials = Annotated[int, _integer("--trials -r", "Independent trials.")]
Seed = Annotated[int, _integer("--seed -s", "Seed of all random numbers.")]
Backend = Annotated[
    str,
    _option(
        "--backend",
        "numpy (the reference), compiled (Numba), torch (trials in lock step), or auto.",
        complete.words(BACKENDS),
    ),
]
Device = Annotated[str | None, _option("--device", "For torch: cpu, cuda or cuda:1. Default: a GPU if there is one.")]
Jobs = Annotated[
    int | None, _integer("--jobs -j", "Number of processes. Default: one a core. Results do not depend on it.")
]

# Sweeps.
Swept = Annotated[
    Path, _file_argument("PLAN.toml|DIR", "A plan to ask (boundlab docs sweep), or the folder of a sweep to show.")
]
Shard = Annotated[str | None, _option("--shard i/n", "Only the i-th of n parts of the cells.")]
DaskAddress = Annotated[
    str | None, _option("--dask ADDRESS", "Use a Dask cluster: tcp://HOST:8786, or its scheduler file.")
]
Again = Annotated[
    str | None,
    _option(
        "--again WHICH",
        "Ask failed cells again, or stale ones (answered by other versions).",
        complete.words(("failed", "stale")),
    ),
]
DryRun = Annotated[
    bool, _option("--dry-run", "Only show how many cells there are, which do not apply, and about how long it takes.")
]
Where = Annotated[
    str | None, _option("--where SQL", "Of DIR: rows for which this is true: \"verdict = 'violated' AND M > 5\".")
]
Heat = Annotated[
    str | None,
    _option("--heat x=NAME,y=NAME", "Of DIR: draw verdicts and slack over two coordinates, such as x=M,y=alpha."),
]
Curve = Annotated[bool, _option("--curve", "Of DIR: draw bounds and bands over the iterations, one panel a cell.")]
SweepPlot = Annotated[
    Path | None,
    _file("--plot FILE", "Of DIR: where the picture goes (png, svg, pdf). Default: heat.png or curve.png in DIR."),
]
ParquetFile = Annotated[
    Path | None, _file("--parquet FILE", "Of DIR: write these rows, or all, for pandas, polars or DuckDB.")
]
CsvFile = Annotated[Path | None, _file("--csv FILE", "Of DIR: write these rows, or all.")]
Against = Annotated[Path | None, _file("--against DIR", "Of DIR: show what differs from another sweep.")]

# Comparisons.
Level = Annotated[float, _option("--level", "Joint confidence level.")]
Band = Annotated[
    str, _option("--band", "How upper limits are made: bootstrap or student.", complete.words(get_args(BandKind)))
]
Beyond = Annotated[
    list[str] | None,
    _option(
        "--beyond ASSUMPTION", "Compare although this assumption fails; may be repeated.", complete.ids("assumptions")
    ),
]
Exact = Annotated[
    bool | None,
    _option(
        "--exact/--sampled",
        "Always compute expectations, or always sample. Default: compute if that is predicted to take seconds.",
    ),
]
Enclose = Annotated[
    bool,
    _option(
        "--enclose",
        "Decide in exact numbers what floats leave open, however long it takes. Default: if that is predicted to "
        "take seconds.",
    ),
]
Require = Annotated[
    str | None,
    _one_of("--require VERDICT", "holds: exit 3 if the trials are only consistent.", "holds"),
]

# Worst cases.
Probabilities = Annotated[str | None, _option("--p P1,P2,…", "Arrival probabilities of the clients; the rest is p_s.")]
Schedule = Annotated[
    str | None,
    _option(
        "--delays -d SPEC",
        "iid:p_s=0.5 for the average over events; other delays give the schedule of one run.",
        complete.specs("delays"),
    ),
]
Events = Annotated[Path | None, _file("--events FILE", "The events of one run: a JSON list, or a case file.")]
Average = Annotated[
    bool | None,
    _option(
        "--average/--single", "Average over all event sequences, or take one run. Default: what the theorem is about."
    ),
]
Function = Annotated[
    bool,
    _option("--function", "Also look for a function that attains the worst case, and replay it. --out implies this."),
]
Fitted = Annotated[
    Any,
    _option(
        "--fit K1,K2,…",
        "Take these horizons instead, and fit closed forms to the multipliers of their certificates.",
        reader=_read_fitted,
    ),
]

# Checks, searches, proofs, the best rate.
Groups = Annotated[
    str | None, _option("--only GROUPS", "Some of scope, units, … (boundlab list checks).", complete.ids("checks"))
]
SearchBudget = Annotated[float, _option("--budget TIME", "Time limit of the search: 90, 90s, 1.5m.", reader=_read_time)]
AuditBudget = Annotated[float, _option("--budget TIME", "Approximate time limit: 90, 90s, 1.5m.", reader=_read_time)]
SearchCandidates = Annotated[
    int | None,
    _integer("--candidates", "About how many instances to try, before shrinking. Replaces the time limit."),
]
AuditCandidates = Annotated[
    int | None, _integer("--candidates", "About how many instances each search tries. Replaces the time limit.")
]
Search = Annotated[
    bool,
    _option("--search", "Search for a proof of a theorem (ID or FILE.toml), and write NAME_proof.py."),
]
Recheck = Annotated[
    bool,
    _option("--recheck", "Check a file of prove --trace or of worst-case --certificate again, by another checker."),
]
OfTheorem = Annotated[
    str | None,
    _option(
        "--theorem FILE.toml",
        "With --recheck: the theorem that a proof ends in, if it is not registered.",
        complete.ids("theorems", ".toml"),
    ),
]
Axioms = Annotated[
    bool,
    _option("--axioms", "Show everything a proof rests on: the class of its runs, its axioms, the rules."),
]
WithScript = Annotated[
    str | None,
    _option(
        "--with SCRIPT",
        "Prove a theorem (ID or FILE.toml) with the steps of SCRIPT: a registered proof, or FILE.py with one.",
        complete.ids("proofs", ".py"),
    ),
]
Step = Annotated[str | None, _option("--step NAME", "Show one step in full: facts and multipliers.")]
Rates = Annotated[str, _option("--rates LIST", "Client rates λ_i: 10,10,2.5, or @FILE, one or more a line.")]
RateObjective = Annotated[
    str,
    _option(
        "--objective",
        "per-iteration (fixed K, as in the paper) or per-time (fixed wall-clock time).",
        complete.words(get_args(Objective)),
    ),
]
ServerCost = Annotated[float, _option("--server-cost C", "per-time: the time of one aggregation.")]
Epsilon = Annotated[float, _option("--epsilon", "per-time: how close to the limit the bound must come.")]

# Of all commands.
PluginFiles = Annotated[
    list[Path] | None, _file("--plugin FILE.py", "Run this file and use what it registers; may be repeated.")
]
Debug = Annotated[bool, _option("--debug", "Show the traceback of an unexpected error.")]

# What is printed.
Quiet = Annotated[bool, _option("--quiet -q", "Print only the answer, in one line.")]
_MORE = "Print more: derivations, terms, checks that passed."
Verbose = Annotated[bool, _option("--verbose -v", _MORE)]
Brief = Annotated[bool, _option("--brief", "Print ten lines for a review.")]
VerboseOrAll = Annotated[bool, _option("--verbose -v --all", _MORE)]
AsJson = Annotated[bool, _option("--json", "Print JSON instead of a table.")]
Terms = Annotated[bool, _option("--terms", "Show the named terms of the bound.")]
Csv = Annotated[bool, _option("--csv", "Print CSV instead of a table.")]
Core = Annotated[bool, _option("--core", "Print the complete statement and its hash.")]
BoundLatex = Annotated[bool, _option("--latex", "Print the bound as LaTeX.")]
DerivationLatex = Annotated[bool, _option("--latex", "Print the derivation as LaTeX.")]
ProofLatex = Annotated[bool, _option("--latex", "Print LaTeX with verdicts in the margin.")]
Derivation = Annotated[bool, _option("--derivation", "Print the calculation of both sides, for checking by hand.")]
RateDerivation = Annotated[bool, _option("--derivation", "Show the derivation; the kernel of prove decides each step.")]

# Files that are written.
RunFile = Annotated[Path | None, _file("--out FILE", "Also write the JSON here.")]
RunCsv = Annotated[Path | None, _file("--csv FILE", "Also write each trial's metrics here, as CSV.")]
RunTrace = Annotated[Path | None, _file("--trace-out FILE", "Also write the first trial as a trace, CSV.")]
TraceOut = Annotated[Path | None, _file("--out TRACE.csv", "Write a trace for --delays trace:file=….")]
ComparisonCsv = Annotated[Path | None, _file("--csv FILE", "Also write left side, limits and bound here, as CSV.")]
TrajectoryFile = Annotated[Path | None, _file("--out FILE", "Also write the trajectory here, as JSON.")]
WorstFile = Annotated[Path | None, _file("--out CASE.json", "Write the function as a case file.")]
CertificateFile = Annotated[
    Path | None, _file("--certificate FILE", "Write the certificate of the value, for --recheck.")
]
CoqFile = Annotated[Path | None, _file("--coq FILE", "Write each step as a lemma for Coq.")]
TraceFile = Annotated[Path | None, _file("--trace FILE", "Write all facts, for --recheck.")]
HtmlFile = Annotated[Path | None, _file("--html FILE", "Write one self-contained HTML page.")]
LatexFile = Annotated[Path | None, _file("--latex FILE", "Write a fragment of LaTeX.")]
MarkdownFile = Annotated[Path | None, _file("--md FILE", "Write Markdown.")]
JsonFile = Annotated[Path | None, _file("--json FILE", "Write JSON.")]
PlotAxis = Annotated[
    str,
    _one_of("--axis WORD", "Draw over iterations, or over time.", *get_args(Axis)),
]
BandPlot = Annotated[Path | None, _file("--plot FILE", "Draw band and bound (png, svg, pdf).")]
RatesPlot = Annotated[Path | None, _file("--plot FILE", "Draw the curves (png, svg, pdf).")]
SweepFolder = Annotated[Path | None, _file("--out DIR", "The folder of the answers. What is there is not asked again.")]
ComparisonFolder = Annotated[
    Path | None, _file("--out DIR", "Write result.json here, and the case file when violated.")
]
SearchFolder = Annotated[Path | None, _file("--out DIR", "Write the case file and result.json here.")]
DemoFolder = Annotated[Path, _file("--out DIR", "Where the plot and the case files go.")]
Drafted = Annotated[
    Path | None, _file("--latex FILE", "Draft a theorem from the one in a LaTeX file; you tick its assumptions.")
]
NewFolder = Annotated[Path, _file("--out DIR", "The folder of the two files.")]


def alone(given: object, what: str = "-q prints the answer alone", **others: object) -> None:
    """Refuse ``-q``, or another option that says what is printed, beside options that print something else.

    Raises
    ------
    SpecError
        If one of the others is given.
    """
    found = [name.replace("_", "-") for name, one in others.items() if one]
    if given and found:
        raise SpecError(f"{what}: leave it out, or --{found[0]}")


def form(context: typer.Context, shown: str, *taken: str) -> None:
    """Refuse the options of a command that one of its forms does not take.

    Raises
    ------
    SpecError
        If one of the others is given.
    """
    for one in context.command.params:
        source = context.get_parameter_source(str(one.name))
        if one.name not in taken and source is not None and source.name == "COMMANDLINE":
            raise SpecError(f"{shown} takes no {one.opts[0]}: leave it out")


def settings_map(settings: list[str] | None) -> dict[str, str]:
    """Turn repeated NAME=VALUE options into a mapping."""
    return _pairs(settings or [], "--set", "NAME=VALUE")


def columns_map(columns: str | None) -> dict[str, str]:
    """Turn KEY=NAME,KEY=NAME into a mapping."""
    return _pairs(
        [part.strip() for part in (columns or "").split(",") if part.strip()], "--map", "KEY=NAME, as time=ts"
    )


def _pairs(texts: Iterable[str], shown: str, like: str) -> dict[str, str]:
    """Read names and values.

    Raises
    ------
    SpecError
        If one has no ``=`` or a name stands twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        setting = split_setting(text)
        if setting is None:
            raise SpecError(f"{shown} {text!r} is not {like}")
        name, value = setting
        if name in found:
            raise SpecError(f"{shown} {name} is given twice")
        found[name] = value
    return found
