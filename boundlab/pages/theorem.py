"""The page of a theorem."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from boundlab.assumptions import assumption
from boundlab.formulas.written import letter_of_latex, written
from boundlab.pages.blocks import GAP, Block, Line, Part, Words, line, points, words
from boundlab.references import reference

if TYPE_CHECKING:
    from boundlab.theorems import Theorem


def theorem_page(theorem: "Theorem") -> list[Block]:
    """Return what a theorem says: head, assumptions, bound, definitions, symbols to set."""
    page = _TheoremPage(theorem)
    return [
        *map(Words, page.head()),
        *page.part("assumptions", page.assumptions()),
        *page.part(page.title(), page.bound()),
        *page.part("where", page.definitions()),
        *page.part("symbols to set", page.symbols()),
        *([GAP, words((theorem.note, "note"))] if theorem.note else []),
    ]


def source_of(theorem: "Theorem") -> str:
    """Return where a theorem stands, and how it is registered."""
    places = (theorem.paper, theorem.place, reference(theorem.paper).words())
    from boundlab.theorems import ORIGINS

    known = "; ".join(one for one in (theorem.status, ORIGINS.get(theorem.origin, "")) if one)
    return f"{', '.join(one for one in places if one)} ({known})"


def inequalities(theorem: "Theorem", letters: Mapping[str, str]) -> Iterator[str]:
    """Yield what holds at every x, by name."""
    from boundlab.theorems import POINTWISE

    symbols = {**theorem.symbols, **POINTWISE}
    shown = {**letters, **{name: info.unicode for name, info in POINTWISE.items()}}
    for name, one in theorem.assume.items():
        smaller, larger = (written(side, symbols, shown) for side in (one.smaller, one.larger))
        more = ", g that of a client drawn uniformly" if "g(x)" in smaller + larger else ""
        yield f"{name}: {smaller} ≤ {larger} at every x{more}"


class _TheoremPage:
    """The parts of a theorem's page, with one letter for each of its symbols."""

    def __init__(self, theorem: "Theorem") -> None:
        self._theorem = theorem
        self._rules = theorem.rules()
        self._letters = theorem.spelling()

    def _text(self, formula: Any) -> str:
        return written(formula, self._theorem.symbols, self._letters)

    def _own(self, name: str) -> str:
        """Return what the paper calls a symbol; empty where that is nothing else."""
        letter = self._theorem.letters.get(name)
        return f"the paper's {letter_of_latex(letter)}" if letter else ""

    def _called(self, name: str) -> str:
        """Return how a symbol is set, and in parentheses how it is written here and in the paper."""
        letter = self._letters.get(name, name)
        others = [one for one in ("" if letter == name else letter, self._own(name)) if one]
        return f"{name} ({', '.join(others)})" if others else name

    @staticmethod
    def part(title: str, lines: Sequence[str]) -> list[Block]:
        """Return a part with its title, or nothing if it has no lines."""
        return [GAP, Part(title, (points(lines),))] if lines else []

    def head(self) -> list[Line]:
        """Return what the theorem is about, a line each."""
        theorem = self._theorem
        runs = (
            f"every {theorem.horizon_symbol} ≥ {theorem.first_iteration} of one run"
            if theorem.horizon == "every" and not theorem.left.in_seconds
            else f"{theorem.horizon_symbol}, read off each run"
            if theorem.left.in_seconds
            else f"the {theorem.horizon_symbol} its step is chosen for"
        )
        return [
            line((f"{theorem.id}: {theorem.title}", "strong")),
            line(source_of(theorem)),
            (),
            line(f"left side    {theorem.left.expectation}"),
            line(f"holds for    {runs}"),
            line(f"algorithm    {theorem.algorithm}{_options(theorem)}"),
            *map(line, self._steps()),
        ]

    def _steps(self) -> Iterator[str]:
        theorem = self._theorem
        for name, rule in theorem.step.items():
            noun = "step size    " if name == "d" or theorem.symbols[name].is_step_size else "sets         "
            letter = self._letters[name]
            shown = f"{letter}, given" if rule == theorem.symbols[name].symbol else f"{letter} = {self._text(rule)}"
            given = " (or given)" if name in theorem.settable else ""
            each = theorem.step_of_each if name == "alpha" else None
            falls = "" if each is None or isinstance(each, str) else f", α_k = {self._text(each)}"
            yield noun + shown + given + (", α_k = c/(k + d)" if name == "d" else falls)

    def assumptions(self) -> list[str]:
        """Return the assumptions in words, and the conditions."""
        from boundlab.theorems import places

        theorem = self._theorem
        found = [f"{name}: {assumption(name).words}" for name in theorem.assumptions]
        found += [
            f"{self._letters.get(name, name)} is asked for at {places(own)}" for name, own in theorem.points.items()
        ]
        found += list(inequalities(theorem, self._letters))
        for one in theorem.conditions:
            # What a file says is a formula; the words of a package may say more than that.
            formula = f"{self._text(one.quantity)} {one.sign} {self._text(one.limit)}"
            found.append(formula if theorem.source else one.statement)
        return found

    def title(self) -> str:
        """Return what stands above the terms."""
        if self._theorem.shape:
            same = ", ".join(self._theorem.growth)
            return "shape of the printed O(·), constants unknown" + (f", the same for all {same}" if same else "")
        return "bound" if len(self._theorem.bound.expressions()) < 2 else "bound, the sum of"

    def bound(self) -> list[str]:
        """Return the terms, or what is iterated in their place."""
        bound = self._theorem.bound
        terms = [("" if name == "bound" else f"{name}: ", term) for name, term in bound.expressions().items()]
        recursion = bound.as_dict()["recursion"]
        return [f"{name}{self._text(term)}" for name, term in terms] + ([recursion] if recursion else [])

    def definitions(self) -> list[str]:
        """Return how symbols follow from others, those of the step apart."""
        return [
            f"{self._letters[name]} = {self._text(rule)}" + (f" ({self._own(name)})" if self._own(name) else "")
            for name, rule in self._rules.items()
            if name not in self._theorem.step
        ]

    def symbols(self) -> list[str]:
        """Return the symbols that need a value, and those that may be given one."""
        theorem = self._theorem
        options = {name: key for key, name in theorem.core.read_as.items() if name != key}
        lines = []
        for name in theorem.inputs():
            parameter = f" (the parameter {options[name]} of {theorem.algorithm})" if name in options else ""
            lines.append(f"{self._called(name)}: {theorem.symbols[name].describe()}{parameter}")
        more = f"may be set: {', '.join(map(self._called, theorem.settable))}"
        return [*lines, more] if theorem.settable else lines


def _options(theorem: "Theorem") -> str:
    """Return which options the run has: those of the proof, those left open, and what becomes of the others."""
    from boundlab.registry import lookup

    algorithm = lookup("algorithms", theorem.algorithm)
    told = {*theorem.step, *theorem.core.fixed, *algorithm.step_size_symbols, "d"}  # alpha_k = c/(k + d)
    rest = [name for name in algorithm.parameters if name not in told]
    free = [name for name in rest if theorem.core.varies(name)]
    said = "".join(f", {key} = {value}" for key, value in theorem.core.fixed.items())
    said += f", any {', '.join(free)}" if free else ""
    kept = [name for name in rest if name not in free]
    return said + (f"; {', '.join(kept)} at the default" + "s" * (len(kept) > 1) if kept else "")
