"""The page of a theorem."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from boundlab.assumptions import assumption
from boundlab.documentation import pointers
from boundlab.formulas.written import letter_of_latex, written
from boundlab.pages.blocks import GAP, Block, Line, Part, Rows, Tone, Words, line, points, table, tone_of, words
from boundlab.references import reference

if TYPE_CHECKING:
    from boundlab.checks import Check, Checks
    from boundlab.theorems import Theorem
    from boundlab.theorems.grid import EvaluatedGrid


def theorem_page(theorem: "Theorem") -> list[Block]:
    """Return what a theorem says: head, assumptions, bound, definitions, symbols to set."""
    page = Wording(theorem)
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


class Wording:
    """A theorem in words and formulas, with one letter for each of its symbols."""

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
        beyond = "" if "N" in theorem.read else " + N − 1"  # a window of one update ends with it
        for name, own in theorem.points.items():
            where = re.sub(r"\bT\b", theorem.horizon_symbol, places(own).replace(beyond, ""))
            found.append(f"{self._letters.get(name, name)} is needed only {where}")
        return [*found, *self.inequalities(), *self.conditions()]

    def conditions(self) -> list[str]:
        """Return the conditions: what a file says is a formula; the words of a package may say more than that."""
        return [
            f"{self._text(one.quantity)} {one.sign} {self._text(one.limit)}" if self._theorem.source else one.statement
            for one in self._theorem.conditions
        ]

    def inequalities(self) -> Iterator[str]:
        """Yield what holds at every x, by name."""
        from boundlab.theorems import POINTWISE

        symbols = {**self._theorem.symbols, **POINTWISE}
        shown = {**self._letters, **{name: info.unicode for name, info in POINTWISE.items()}}
        for name, one in self._theorem.assume.items():
            smaller, larger = (written(side, symbols, shown) for side in (one.smaller, one.larger))
            more = ", g that of a client drawn uniformly" if "g(x)" in smaller + larger else ""
            yield f"{name}: {smaller} ≤ {larger} at every x{more}"

    def claim(self) -> tuple[str, ...]:
        """Return the inequality, the step size and what else is defined, and the conditions."""
        theorem, each = self._theorem, self._theorem.step_of_each
        right = " + ".join(map(self._text, theorem.terms.values())) or theorem.bound.as_dict()["recursion"]
        bound = f"= O({right})" if theorem.shape else f"≤ {right}"
        chosen = {name: rule for name, rule in theorem.step.items() if rule != theorem.symbols[name].symbol}
        rules = [
            f"{self._letters.get(name, name)} = {self._text(rule)}" for name, rule in (chosen | self._rules).items()
        ]
        if "c" in theorem.step:
            rules.insert(0, "α_k = c/(k + d)")
        elif each is not None:
            own = f"{self._letters.get('alpha', 'α')}·({each})" if isinstance(each, str) else self._text(each)
            rules.insert(0, f"α_k = {own}")
        return (f"{theorem.left.expectation} {bound}", *rules, *self.inequalities(), *self.conditions())

    def title(self) -> str:
        """Return what stands above the terms."""
        if self._theorem.shape:
            same = ", ".join(self._theorem.growth)
            return "shape of the printed O(·), constants unknown" + (f", the same for all {same}" if same else "")
        return "bound" if len(self._theorem.bound.terms) < 2 else "bound, the sum of"

    def bound(self) -> list[str]:
        """Return the terms, or what is iterated in their place."""
        bound = self._theorem.bound
        terms = [("" if name == "bound" else f"{name}: ", term) for name, term in bound.terms.items()]
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
            info = theorem.symbols[name].describe()
            if name == theorem.horizon_symbol:
                info = info.replace("an integer ≥ 1", f"an integer ≥ {theorem.first_iteration}")
            lines.append(f"{self._called(name)}: {info}{parameter}")
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


# The page of the checks of a theorem: what failed first, what passed in a line.

# In the order of the page.
_ORDER = ("failed", "suspicious", "unknown", "passed", "not applicable")
_FOLDED = ("passed", "not applicable")
_WITNESS: dict[str, Tone] = {"failed": "", "suspicious": ""}


def checks_page(found: "Checks", verbose: bool = False) -> list[Block]:
    """Return the table id | verdict | statement and witness, what follows from the failures, and the counts.

    Parameters
    ----------
    verbose
        Whether what passed and what does not apply stands in the table, too, and not in one line each.
    """
    theorem, checks = found.theorem, found.checks
    shown = [one for one in checks if verbose or one.verdict not in _FOLDED]
    page: list[Block] = [words(f"{theorem.id} ({theorem.status}): {theorem.title}"), GAP]
    if shown:
        page.append(_table(sorted(shown, key=lambda one: _ORDER.index(one.verdict))))
    if not verbose:
        page += _folded(checks)
    counts: Counter[str] = Counter(one.verdict for one in checks)
    summary = ", ".join(f"{counts[word]} {word}" for word in _ORDER if counts[word])
    hint = "" if verbose or len(shown) == len(checks) else "; -v shows all"
    return [*page, GAP, words(f"{summary}{hint}")]


def _table(checks: "list[Check]") -> Rows:
    rows = [(one.id, line((one.verdict, tone_of(one.verdict))), _said(one)) for one in checks]
    return table("", ("check", "verdict", "statement, and what shows or contradicts it"), rows, whole=(0, 1))


def _said(one: "Check") -> Line:
    from boundlab.checks import CONSEQUENCES

    found = line(one.statement)
    if one.witness:
        found += line((f"\n{one.witness}", _WITNESS.get(one.verdict, "dim")))
    if one.consequence:
        found += line((f"\n⇒ {CONSEQUENCES[one.consequence]}", tone_of(one.verdict)))
    return found


def _folded(checks: "tuple[Check, ...]") -> list[Words]:
    """Return a line for each verdict that is no news, with the groups, and the notes on the statement itself."""
    found = []
    for word in _FOLDED:
        groups: Counter[str] = Counter(one.group for one in checks if one.verdict == word)
        if groups:
            named = ", ".join(f"{group} {count}" if count > 1 else group for group, count in groups.items())
            found.append(words((word, tone_of(word)), f": {named}"))
    found += [
        words((f"note: {one.witness}", "dim"))
        for one in checks
        if one.group == "scope" and one.verdict == "passed" and one.witness
    ]
    return found


# How the values of a bound are shown: plain text, since ``boundlab eval`` must start fast.

_ROWS = 200


def values_page(result: "EvaluatedGrid", terms: bool) -> Iterator[str]:
    """Yield the lines of ``boundlab eval``."""
    evaluation = result.evaluation
    names = list(evaluation.terms) if terms else []
    yield f"{result.theorem.id} ({result.theorem.status})"
    derived = [
        f"{name} = {float(array.reshape(-1)[0]):.4g}" for name, array in evaluation.derived.items() if array.size == 1
    ]
    if derived:
        yield "with " + ", ".join(derived)
    total = result.column(evaluation.total)
    if result.values.shape:
        header = [*result.axes, *names, evaluation.kind]
        columns = [*result.axes.values(), *(result.column(evaluation.terms[name]) for name in names), total]
        rows = zip(*(column[:_ROWS].tolist() for column in columns), strict=True)
        yield from _aligned([header, *([f"{value:.6g}" for value in row] for row in rows)])
        if len(total) > _ROWS:
            yield f"… {len(total) - _ROWS} more rows; --csv or --json gives all"
    else:
        shown = [[name, f"{result.column(evaluation.terms[name])[0]:.6g}"] for name in names]
        yield from _aligned([*shown, [evaluation.kind, f"{total[0]:.6g}"]])
    if evaluation.kind == "shape":
        yield "a shape: each term has an unknown constant in the paper, taken as 1 here"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        first = row[0].ljust(widths[0])
        yield "  ".join([first, *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])


# From "false" to "why" to "what is true": the lines with which a command about a theorem ends.


def related_links(theorem: "Theorem") -> str:
    """Return where the counterexample, the repairs, the argument and the proof stand, a line each; or nothing.

    Examples
    --------
    >>> from boundlab.theorems import load_theorem
    >>> print(related_links(load_theorem("area.theorem8")))
    counterexample: boundlab exact area.theorem8
    true instead: area.theorem8.repaired
    step by step: boundlab prove area.theorem8
    why: boundlab docs area
    """
    answered, replayed = theorem.refuted_by or theorem.repaired_by, f"boundlab exact {theorem.id}"
    return "\n".join(
        f"{what}: {where}"
        for what, where in (
            ("counterexample", replayed if theorem.refuted_by.startswith("proofs/") else theorem.refuted_by),
            ("true instead", ", ".join(theorem.repaired_by)),
            ("proof", pointers(theorem.proof)),
            ("step by step", ", ".join(f"boundlab prove {one}" for one in theorem.proofs)),
            ("why" if answered else "page", pointers(theorem.page) if answered or not theorem.proof else ""),
        )
        if where
    )
