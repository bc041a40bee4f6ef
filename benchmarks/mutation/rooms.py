"""Which tests guard which room, and in which rooms a slip makes a wrong verdict."""

from collections.abc import Sequence
from pathlib import Path

# Every room, and the tests that know it best: they are asked first.
GUARDS = {
    "__about__": ("tests/test_package.py",),
    "__init__": ("tests/api", "tests/test_package.py"),
    "__main__": ("tests/cli",),
    "algorithms": ("tests/algorithms",),
    "api": ("tests/api",),
    "arithmetic": ("tests/arithmetic",),
    "assumptions": ("tests/test_assumptions.py", "tests/theorems"),
    "audit": ("tests/audit",),
    "case": ("tests/exact", "tests/test_provenance.py"),
    "checks": ("tests/checks",),
    "classes": ("tests/classes",),
    "cli": ("tests/cli",),
    "compare": ("tests/compare",),
    "delays": ("tests/delays",),
    "documentation": ("tests/cli/test_pages_command.py", "tests/theorems/test_theorems.py"),
    "errors": ("tests/test_text_of_strangers.py", "tests/cli"),
    "events": ("tests/delays", "tests/algorithms"),
    "exact": ("tests/exact",),
    "execute": ("tests/execute",),
    "expectation": ("tests/expectation",),
    "falsify": ("tests/falsify", "tests/battery"),
    "files": ("tests/test_files.py",),
    "formulas": ("tests/formulas", "tests/test_symbol_tables.py"),
    "instance": ("tests/instance",),
    "arguments": ("tests/api/test_wrong_types.py",),
    "greek": ("tests/test_greek.py", "tests/cli"),
    "mechanism": ("tests/mechanism",),
    "metrics": ("tests/test_metrics.py",),
    "objective": ("tests/objective", "tests/problems"),
    "options": ("tests/test_options.py",),
    "problems": ("tests/problems",),
    "proofs": ("tests/proofs", "tests/prove"),
    "prove": ("tests/prove", "tests/recheck", "tests/proofs"),
    "randomness": ("tests/test_randomness.py",),
    "recheck": ("tests/recheck",),
    "records": ("tests/test_records.py", "tests/theorems"),
    "references": ("tests/test_references.py",),
    "registry": ("tests/registry",),
    "result": ("tests/api", "tests/pages", "tests/compare"),
    "pages": ("tests/pages", "tests/api", "tests/cli", "tests/test_what_is_shown.py"),
    "server_rate": ("tests/test_server_rate.py",),
    "signs": ("tests/signs", "tests/prove", "tests/checks"),
    "simulate": ("tests/execute", "tests/compare"),
    "sweep": ("tests/sweep",),
    "tape": ("tests/tape",),
    "testing": ("tests/testing",),
    "theorems": ("tests/theorems",),
    "traces": ("tests/traces", "tests/instance"),
    "verdict": ("tests/cli", "tests/compare"),
    "worst_case": ("tests/worst_case",),
}

# Rooms whose slips show a reader something wrong, or nothing, but make no verdict: planted where they are asked for.
_NO_VERDICT = frozenset(
    {
        "__about__",
        "__init__",
        "__main__",
        "api",
        "audit",
        "cli",
        "documentation",
        "errors",
        "files",
        "arguments",
        "greek",
        "options",
        "proofs",
        "references",
        "registry",
        "pages",
        "testing",
    }
)
# The one module of the card that decides.
GUARDED = (
    *(name if name == "problems" else f"boundlab/{name}" for name in GUARDS if name not in _NO_VERDICT),
    "boundlab/audit/_ruling.py",
)
# Text for people, files of data, and the reading of options: no number of a verdict.
LEFT_OUT = (
    "boundlab/formulas/assignments.py",
    "boundlab/prove/_witness.py",
    "boundlab/prove/latex.py",
    "boundlab/theorems/record.py",
    "problems/data.py",
)


def room(file: str) -> str:
    """Return the room of a module: boundlab/checks/units.py → checks."""
    parts = Path(file).parts
    return parts[0] if parts[0] != "boundlab" else parts[1].removesuffix(".py")


def modules(root: Path, places: Sequence[str] = GUARDED) -> list[str]:
    """Return the modules of some rooms, folders or files, relative to the root of the repository."""
    found = []
    for place in places:
        path = root / place
        path = path if path.exists() else path.with_suffix(".py")
        found += [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))
    names = [str(file.relative_to(root)) for file in found]
    return [name for name in names if name not in LEFT_OUT]
