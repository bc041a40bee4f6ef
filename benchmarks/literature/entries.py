"""The entries of the table: a published theorem, what it is compared on, and its false mutant."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import sympy

from boundlab.errors import SpecError
from boundlab.formulas.defined import Demands
from boundlab.formulas.parse import parse
from boundlab.registry import registered
from boundlab.theorems import Condition, FormulaBound, Theorem, load_theorem

HERE = Path(__file__).parent
TABLE = HERE / "entries.toml"
FILES = HERE / "theorems"
OWN = "derived here"  # the status of registered theorems that are in no paper
_KEYS = {"theorem", "on", "k", "settings", "delays", "worst", "candidates", "mutant"}


@dataclass(frozen=True, slots=True)
class Change:
    """A small change that makes a theorem false.

    Parameters
    ----------
    changed
        In words.
    terms, drop, times
        New formulas by the name of the term; terms that are left out; a factor of all terms.
    step, definitions, conditions
        New formulas of steps and definitions; the conditions in place of all.
    why
        Why it is false, where that is not obvious.
    """

    changed: str
    terms: Mapping[str, str] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    times: str = "1"
    step: Mapping[str, str] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)
    conditions: tuple[str, ...] | None = None
    why: str = ""

    def of(self, theorem: Theorem) -> Theorem:
        """Return the mutant.

        Raises
        ------
        SpecError
            If it names a term or a step that the theorem has not, or changes nothing.
        """
        written: dict[sympy.Expr, Demands] = dict(theorem.written)

        def read(text: str, what: str) -> sympy.Expr:
            known = {name: info.symbol for name, info in theorem.symbols.items()}
            return parse(text, known, f"mutant of {theorem.id}, {what}", written)

        own = dict(theorem.bound.terms)
        known_terms = {*own, "bound"} if not theorem.bound.closed else {*own}
        for what, names, known in (
            ("term", {*self.terms, *self.drop}, known_terms),
            ("step", {*self.step}, {*theorem.step}),
            ("definition", {*self.definitions}, {*theorem.definitions}),
        ):
            if names - known:
                raise SpecError(f"mutant of {theorem.id}: no {what} {', '.join(sorted(names - known))}")
        factor = read(self.times, "times")
        new = {**own, **{name: read(text, f"term {name}") for name, text in self.terms.items()}}
        terms = {name: term if factor == 1 else factor * term for name, term in new.items() if name not in self.drop}
        step = {**theorem.step, **{name: read(text, f"step {name}") for name, text in self.step.items()}}
        rules = {name: read(text, f"definition {name}") for name, text in self.definitions.items()}
        definitions = {**theorem.definitions, **rules}
        conditions = theorem.conditions
        if self.conditions is not None:
            sides = [one.partition("<=") for one in self.conditions]
            conditions = tuple(
                Condition(read(left, "condition"), read(right, "condition"), f"{left.strip()} ≤ {right.strip()}")
                for left, _, right in sides
            )
        same = terms == own and step == dict(theorem.step) and definitions == dict(theorem.definitions)
        if same and conditions == theorem.conditions:
            raise SpecError(f"mutant of {theorem.id}: nothing is changed")
        return replace(
            theorem,
            id=f"mutant.{theorem.id}",
            status="user",
            bound=FormulaBound(terms),
            step=step,
            definitions=definitions,
            conditions=conditions,
            proofs=(),
            written=written,
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table.

    Parameters
    ----------
    id
        Of the theorem.
    problems, delays, ks, settings
        What it is compared on.
    worst
        Settings of the semidefinite program.
    candidates
        How many instances the search tries.
    """

    id: str
    problems: tuple[str, ...]
    change: Change
    delays: str = "exponential"
    ks: tuple[int, ...] = (1, 5, 20)
    settings: Mapping[str, str] = field(default_factory=dict)
    worst: Mapping[str, str] = field(default_factory=dict)
    candidates: int = 60

    @property
    def file(self) -> Path | None:
        """Its file; None where it is registered."""
        path = FILES / f"{self.id}.toml"
        return path if path.exists() else None

    def theorem(self) -> Theorem:
        """Return the theorem."""
        return load_theorem(str(self.file or self.id))

    def mutant(self) -> Theorem:
        """Return the false one."""
        return self.change.of(self.theorem())


def _entry(raw: Mapping[str, Any], instances: Mapping[str, list[str]], candidates: int) -> Entry:
    name = raw.get("theorem", "?")
    if set(raw) - _KEYS or not {"theorem", "on", "mutant"} <= set(raw):
        raise SpecError(f"{TABLE.name}: entry {name} must have theorem, on and mutant; known are {sorted(_KEYS)}")
    if raw["on"] not in instances:
        raise SpecError(f"{TABLE.name}: entry {name}: no instances are called {raw['on']!r}")
    change = dict(raw["mutant"])
    for key in ("drop", "conditions"):
        if key in change:
            change[key] = tuple(change[key])
    return Entry(
        id=name,
        problems=tuple(instances[raw["on"]]),
        change=Change(**change),
        delays=raw.get("delays", "exponential"),
        ks=tuple(raw.get("k", (1, 5, 20))),
        settings=raw.get("settings", {}),
        worst=raw.get("worst", {}),
        candidates=raw.get("candidates", candidates),
    )


def entries(only: str = "") -> list[Entry]:
    """Return the entries whose id begins so.

    Raises
    ------
    SpecError
        If the table is not what it should be.
    """
    data = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    found = [_entry(raw, data["instances"], data["candidates"]) for raw in data["entry"]]
    twice = {one.id for one in found if sum(other.id == one.id for other in found) > 1}
    if twice:
        raise SpecError(f"{TABLE.name}: twice: {', '.join(sorted(twice))}")
    return [one for one in found if one.id.startswith(only)]


def expected() -> set[str]:
    """Return the ids that the table must hold: textbook theorems that are registered, and the files."""
    textbook = {name for name, one in registered("theorems").items() if name.startswith("classics.")}
    own = {name for name in textbook if registered("theorems")[name].status == OWN}
    return (textbook - own) | {path.stem for path in FILES.glob("*.toml")}
