"""Knowledge of a problem: its constants, what follows from them, and which theorems apply to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from boundlab.assumptions import BUILT_IN
from boundlab.errors import BoundlabError
from boundlab.files import schema
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance.fitting import Fit, LargestStep, largest_steps
from boundlab.objective import Constant, Optimum, Problem
from boundlab.result import Tabular
from boundlab.theorems import Theorem

if TYPE_CHECKING:
    from boundlab.pages import Block

_RIDGE = "nu weighs ½·nu·‖x‖² beside the mean loss; scikit-learn's C is 1/(nu·samples)"


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CertifiedConstants(Tabular):
    """The certified constants of a problem.

    Parameters
    ----------
    spec, n, d
        The problem, its clients and its dimension.
    found
        By symbol.
    missing
        Symbol → why there is none.
    minimiser
        x* with its certificate, or why there is none.
    steps
        The largest local steps of theorems, the largest first.
    notes
        What the options mean.
    """

    spec: Mapping[str, Any]
    n: int
    d: int
    found: Mapping[str, Constant]
    missing: Mapping[str, str]
    minimiser: Optimum | str
    steps: tuple[LargestStep, ...]
    notes: tuple[str, ...]

    def line(self) -> str:
        """Return those that steps are chosen by."""
        of_functions = [name for name in self.found if SYMBOLS[name].role == "function" and "_" not in name]
        shown = ", ".join(f"{name} = {self.found[name].value:.6g}" for name in of_functions)
        return f"{self.spec['type']}: {shown or 'neither L nor mu nor B'}; {len(self.found)} constants"

    def columns(self) -> dict[str, Any]:
        """Return its columns by name: symbol, value, side, meaning and where each comes from."""
        entries = self.entries()
        return {name: [one[name] for one in entries] for name in ("name", "value", "side", "meaning", "how")}

    def entries(self) -> list[dict[str, Any]]:
        """Return JSON-ready fields of each constant."""
        meanings = {name: SYMBOLS[name].meaning for name in self.found if name in SYMBOLS}
        return [{"name": name, "meaning": meanings.get(name, ""), **one.as_dict()} for name, one in self.found.items()]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        best: dict[str, Any] = {"reason": self.minimiser}
        if isinstance(self.minimiser, Optimum):
            one = self.minimiser
            best = {"value": one.value, "gap": one.gap, "distance": one.distance, "how": one.how}
        steps = [
            {"step": one.step, "condition": one.condition, "value": one.value, "theorems": one.theorems}
            for one in self.steps
        ]
        about = {"schema": schema("constants"), "problem": dict(self.spec), "n": self.n, "d": self.d}
        return about | {
            "constants": self.entries(),
            "missing": dict(self.missing),
            "minimiser": best,
            "steps": steps,
            "notes": list(self.notes),
        }

    def page(self) -> "list[Block]":
        """Return the constants, those that do not exist, the minimiser, and the largest steps."""
        from boundlab.pages.blocks import GAP, figures, table, words

        rows = [(one["name"], f"{one['value']:.6g}", one["side"], one["how"]) for one in self.entries()]
        found: list[Block] = [words(f"{self.spec['type']}: n = {self.n} clients, d = {self.d}"), GAP]
        found += [figures(("constant", "value", "side", "certificate"), rows, words=(2, 3)), GAP]
        if self.missing:
            found += [table("", ("no", "why"), list(self.missing.items()), whole=(0,)), GAP]
        found += [words(f"x*: {_certificate(self.minimiser)}"), GAP]
        if self.steps:
            steps = [(one.condition, one.words, _listed(one.theorems)) for one in self.steps]
            found += [table("", ("condition", "largest step", "theorems"), steps, whole=(0,)), GAP]
        return [*found, *map(words, self.notes)]


def constants_of(problem: Problem, theorems: "list[Theorem]") -> CertifiedConstants:
    """Return the constants of a problem, and the largest steps that these theorems allow."""
    found = problem.constants()
    missing = {
        symbol: reason
        for one in BUILT_IN
        if one.of == "functions" and (reason := problem.why_not(one.id))
        for symbol in one.defines
        if symbol not in found and symbol in SYMBOLS and not SYMBOLS[symbol].vector and symbol != "diameter"
    }
    minimiser: Optimum | str
    try:
        minimiser = problem.optimum()
    except BoundlabError as error:
        minimiser = str(error)
    found, spec = {name: found[name] for name in SYMBOLS if name in found}, problem.spec()
    notes = (_RIDGE,) if spec.get("nu") else ()
    steps = tuple(largest_steps(problem, theorems))
    return CertifiedConstants(spec, problem.n, problem.d, found, missing, minimiser, steps, notes)


def _certificate(best: Optimum | str) -> str:
    if isinstance(best, str):
        return best
    near = "" if best.distance is None else f"‖x − x*‖ ≤ {best.distance:.3g}, "
    return f"f(x) = {best.value:.10g}, {near}f(x) − f* ≤ {best.gap:.3g}; {best.how}"


def _listed(names: list[str]) -> str:
    more = len(names) - 3
    return ", ".join(names[:3]) + (f" and {more} more" if more > 0 else "")


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Applicable(Tabular):
    """Theorems with what they apply with, and the others with a reason each.

    Parameters
    ----------
    problem
        In words.
    found
        One for each theorem.
    """

    problem: str
    found: tuple[Fit, ...]

    def line(self) -> str:
        """Return how many apply."""
        return f"{sum(one.options is not None for one in self.found)} of {len(self.found)} apply to {self.problem}"

    def columns(self) -> dict[str, Any]:
        """Return its columns by name: each theorem, whether it applies, with which delays and options, or why not."""
        entries = self.entries()
        return {name: [entry[name] for entry in entries] for name in ("id", "applies", "delays", "settings", "reason")}

    def entries(self) -> list[dict[str, Any]]:
        """Return JSON-ready fields of each theorem."""
        return [
            {
                "id": one.theorem.id,
                "title": one.theorem.title,
                "status": one.theorem.status,
                "applies": one.options is not None,
                "delays": one.options and one.options.delays,
                "settings": dict(one.options.settings) if one.options else {},
                "reason": one.reason.removeprefix(f"{one.theorem.id} ").removeprefix(f"{one.theorem.id}: "),
            }
            for one in self.found
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {"schema": schema("list"), "what": "theorems", "for": self.problem, "entries": self.entries()}

    def page(self) -> "list[Block]":
        """Return two tables: what applies, and why the others do not."""
        from boundlab.pages.blocks import GAP, table, words

        entries = self.entries()
        fit = [
            (one["id"], one["status"], one["delays"], _settings(one["settings"])) for one in entries if one["applies"]
        ]
        rest = [(one["id"], one["reason"]) for one in entries if not one["applies"]]
        found: list[Block] = []
        if fit:
            found += [table("", ("applies", "status", "for example under", "with"), fit, whole=(0,)), GAP]
        if rest:
            found += [table("", ("does not apply", "why"), rest, whole=(0,)), GAP]
        return [*found, words(self.line())]


def _settings(settings: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
