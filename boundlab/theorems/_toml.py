"""Theorems from TOML files: the registered ones, and a user's own."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Any, Final, get_args

import sympy

from boundlab.assumptions import assumption
from boundlab.errors import BoundlabError, SpecError
from boundlab.files import decimal, other_kind, read_text
from boundlab.formulas.choice import sides
from boundlab.formulas.defined import Demands
from boundlab.formulas.folds import NAMES, STEP_AT
from boundlab.formulas.parse import FUNCTIONS
from boundlab.formulas.symbols import DOMAINS, SIDES, SYMBOLS, Role, SymbolInfo, make_symbol
from boundlab.metrics import INDEX, index_symbol, metric
from boundlab.options import nearest
from boundlab.registry import find, lookup, running
from boundlab.theorems._assume import Inequality, inequality
from boundlab.theorems._bound import Bound, Condition, FormulaBound
from boundlab.theorems._clock import SECONDS
from boundlab.theorems._left import formula as _formula, known as _known, left_side, reached
from boundlab.theorems._over import over
from boundlab.theorems._steps_at import at_steps, reads_steps
from boundlab.theorems._theorem import Theorem

_ALGORITHM = "area"
_LARGEST = 1 << 20
_LONGEST = 1024
_TEXT = (
    "id",
    "title",
    "paper",
    "place",
    "status",
    "source",
    "algorithm",
    "metric",
    "horizon",
    "about",
    "note",
    "refuted_by",
    "page",
    "proof",
    "recursion",
)
_TABLES = (
    "assume",
    "options",
    "step",
    "parameters",
    "definitions",
    "terms",
    "symbols",
    "letters",
    "generous",
    "growth",
    "points",
)
_LISTS = ("assumptions", "settable", "repaired_by", "proofs")
_KEYS = (*_TEXT, "left", *_TABLES, *_LISTS, "conditions", "shape", "first")
_SYMBOL_KEYS = ("meaning", "domain", "units", "latex", "unicode", "side", "role")
_INDICES: Final = re.compile(rf"\b({'|'.join((*(one.name for one in INDEX.values()), 'tau'))})\b")
_RECURSIONS: Final = {one: f"boundlab.theorems.{one}_recursion:bound" for one in ("area", "ogm")}
_LATEX = re.compile(r"^\s*(?:\\[A-Za-z\[(]|\$)", re.MULTILINE)  # no line of TOML begins so
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")


def of_package(folder: Path, names: Iterable[str]) -> dict[str, Callable[[], Theorem]]:
    """Return by id what reads a theorem of boundlab from its file ``ID.toml``, when it is asked for and once."""
    return {name: cache(partial(read_theorem, folder / f"{name}.toml", registered=True)) for name in names}


def read_theorem(path: Path, *, registered: bool = False) -> Theorem:
    """Read a theorem.

    The file gives ``id``, ``metric`` (or a table ``[left]`` with ``quantity``, ``over``, ``index``, ``reach``,
    ``weights``, ``from`` and ``to``, or several ``[[left]]`` with ``quantity``, ``point`` and ``times``, which are
    added) and the tables ``[terms]`` and ``[step]``; further ``title``, ``paper``, ``place``, ``note``, ``status``
    (``user`` where absent), ``source`` (what the file was written from: ``print``, ``memory`` or ``own``),
    ``algorithm`` (``area``), ``horizon`` (what the step says: ``fixed`` where it depends on
    K), ``about`` (``each schedule`` or ``the mean``: what the expectation covers beside the noise), ``first`` (1; with
    0 the theorem is about K = 0, too), ``assumptions``, ``shape``, ``settable``, ``conditions`` (each
    ``"left <= right"`` or ``"left < right"``, or a table with that under ``holds`` and with words for people under
    ``says``), ``[assume]`` (name = ``"left >= right"``, between quantities of a point, at every x),
    ``[options]`` (``any`` leaves one open; what is not named stands at its default), ``[parameters]`` (parameter of
    the algorithm = "symbol"; M = "M" for area where absent), ``[definitions]``, and a table ``[symbols.NAME]`` with
    ``meaning``, ``domain`` and ``units`` for every symbol that boundlab does not know, ``[generous]`` (symbol = by how
    much the paper may count it larger), ``[growth]`` (``in``: symbols along which unknown constants stay the same); and
    what leads on: ``refuted_by``, ``repaired_by``, ``page``, ``proof``,
    ``proofs``, and ``[letters]`` (symbol = "the paper's letter in LaTeX"). In place of ``[terms]`` stands
    ``recursion`` where the bound is iterated numerically: ``area`` or ``ogm``.

    Parameters
    ----------
    registered
        Whether it is one of boundlab's own: its file is not part of what it says, and tests have made sure that what it
        names is registered, that it has one reading, and that nothing cancels in its formulas.

    Raises
    ------
    SpecError
        If the file cannot be read, a key is unknown or missing, or a value has the wrong type.
    FormulaError
        If a formula cannot be read; the message names file and key.
    """
    text, data = _load(path)
    where = str(path)
    if "direction" in data:
        raise SpecError(
            f"{where}: direction: terms bound the left side from above, for every function; a lower bound cannot be "
            "stated, but boundlab worst-case computes the largest left side of a class"
        )
    _known(data, _KEYS, where)
    for key, kind, noun in (
        *((key, str, "text") for key in _TEXT),
        *((key, dict, "a table") for key in _TABLES),
        *((key, list, "a list of texts") for key in _LISTS),
        ("shape", bool, "true or false"),
        ("first", int, "0 or 1"),
    ):
        if key in data and (not isinstance(data[key], kind) or (kind is int and isinstance(data[key], bool))):
            raise SpecError(f"{where}: {key} must be {noun}, got {data[key]!r}")
        if kind is list and not all(isinstance(entry, str) for entry in data.get(key, ())):
            raise SpecError(f"{where}: {key} must be a list of texts, got {data[key]!r}")
    for key in ("id", "metric", "terms", "step"):
        if not data.get(key) and not data.get({"metric": "left", "terms": "recursion"}.get(key, key)):
            raise SpecError(f"{where}: {key} is missing; a theorem needs id, metric or [left], [terms] and [step]")
    if data.get("metric") and data.get("left"):
        raise SpecError(f"{where}: metric and [left] both say what the left side is; give one of them")
    lefts = data["left"] if isinstance(data.get("left"), list) else [data.get("left", {})]
    if not all(isinstance(one, dict) for one in lefts):
        raise SpecError(f"{where}: left must be a table [left], or several [[left]]; got {data['left']!r}")
    symbols = _symbols(data.get("symbols", {}), where)
    for name in (*data.get("definitions", ()), *data.get("step", ()), *data.get("settable", ())):
        if name in symbols and symbols[name].vector:
            raise SpecError(f"{where}: {name} is one number per client, whose values are those of the problem")
        if name not in symbols:
            raise SpecError(
                f"{where}: {name} is defined but unknown; add [symbols.{name}] with meaning and units; "
                f"{nearest(name, symbols)}"
            )
    written: dict[sympy.Expr, Demands] = {}
    indices = {name: index_symbol(name) for name in (*(one.name for one in INDEX.values()), "tau")}
    steps = {**{name: index for name, index in indices.items() if name not in symbols}, **symbols}
    formulas = {
        table: {
            name: _formula(text, steps if table == "step" else symbols, f"{where}, {table}.{name}", written)
            for name, text in data.get(table, {}).items()
        }
        for table in ("step", "definitions", "terms")
    }
    if not registered:
        _choices(data, where)
    options = {key: str(value) for key, value in data.get("options", {}).items()}
    inequalities = _conditions(data.get("conditions", []), where)
    algorithm = data.get("algorithm", _ALGORITHM)
    steps_k = rule = None
    if STEP_AT in text or any(_INDICES.search(str(one)) for one in data["step"].values()):
        from boundlab.theorems._steps_in_files import step_of_each

        own = [*(holds for holds, _ in inequalities), *(str(value) for one in lefts for value in one.values())]
        steps_k, rule = step_of_each(formulas, options, symbols, own, written, algorithm, where)
    left = left_side(data["left"], symbols, where) if data.get("left") else None
    conditions = [_condition(*one, symbols, where, written) for one in inequalities]
    if "reach" in lefts[0]:
        if SECONDS in formulas["definitions"]:
            raise SpecError(f"{where}: with reach the terms are the seconds; leave definitions.{SECONDS} out")
        formulas["terms"], within = reached(lefts[0], formulas["terms"], symbols, where, written)
        if left is not None and left.in_seconds:
            formulas["definitions"] = {**formulas["definitions"], SECONDS: within}
        elif left is not None:
            said = " + ".join(map(str, data["terms"].values()))
            conditions.append(Condition(within, symbols[left.counter].symbol, f"{said} ≤ {left.counter}"))
    points = _entries(data, "points", _texts, 'a list of sets of points, such as ["server"]', where)
    try:
        theorem = Theorem(
            id=data["id"],
            title=data.get("title", data["id"]),
            paper=data.get("paper", ""),
            place=data.get("place", where),
            status=data.get("status", "user"),
            origin=data.get("source", ""),
            assumptions=tuple(data.get("assumptions", ())),
            algorithm=algorithm,
            options=options,
            metric=data.get("metric", ""),
            left_side=left,
            horizon=data.get("horizon"),
            about=data.get("about"),
            first=data.get("first", 1),
            step=formulas["step"],
            bound=_bound(data, formulas["terms"], options, where),
            definitions=formulas["definitions"],
            settable=tuple(data.get("settable", ())),
            conditions=tuple(conditions),
            parameters=_parameters(data, symbols, where)
            if "parameters" in data or algorithm != _ALGORITHM
            else {"M": "M"},
            shape=data.get("shape", False),
            note=data.get("note", ""),
            symbols=symbols,
            source="" if registered else text,
            refuted_by=data.get("refuted_by", ""),
            repaired_by=tuple(data.get("repaired_by", ())),
            page=data.get("page", ""),
            proof=data.get("proof", ""),
            proofs=tuple(data.get("proofs", ())),
            letters=_letters(data, where),
            growth=_growth(data, where),
            generous=_entries(data, "generous", _counts, "a whole number of at least 1", where),
            written={} if registered else written,
            rule=rule,
            assume=_assume(data, symbols, where),
            points={name: tuple(words) for name, words in points.items()},
        )
        if steps_k is not None and reads_steps(theorem):
            theorem = at_steps(theorem, steps_k)
        read = theorem.read
        for option, name in data.get("parameters", {}).items():
            if name not in read:
                raise SpecError(
                    f"{where}: parameters.{option}: no formula reads {name}, so that {option} stands at its default; "
                    f'leave the entry out, or write {option} = "any" under [options]'
                )
        if not registered:
            _require_clear(theorem, data.get("symbols", {}), where)
    except BoundlabError as error:
        if str(error).startswith(where):
            raise
        raise type(error)(f"{where}: {error}") from None
    return theorem


def _require_clear(theorem: Theorem, own: Mapping[str, Any], where: str) -> None:
    """Refuse a file that leaves two readings, where it is read."""
    if own:
        from boundlab.theorems._letters import refuse_lookalikes

        refuse_lookalikes(own, theorem.read, theorem.symbols, where)
    if find("algorithms", theorem.algorithm) is not None:
        over(theorem)


def _bound(data: Mapping[str, Any], terms: Mapping[str, sympy.Expr], options: Mapping[str, str], where: str) -> Bound:
    """Return the right side: the sum of the terms, or what is iterated in their place."""
    if (name := data.get("recursion")) is None:
        return FormulaBound(terms)
    if terms:
        raise SpecError(f"{where}: [terms] and recursion both say what the right side is; give one of them")
    if name not in _RECURSIONS:
        raise SpecError(f"{where}: unknown recursion {name!r}; {nearest(name, _RECURSIONS)}")
    found: Bound = resolve_name(_RECURSIONS[name])(options)
    return found


def _growth(data: Mapping[str, Any], where: str) -> tuple[str, ...]:
    if "growth" not in data:
        return ()
    table = data["growth"]
    if {*table} != {"in"} or not _texts(table["in"]):
        raise SpecError(f'{where}: growth must be in = ["T", …], a list of symbols; got {dict(table)!r}')
    return tuple(table["in"])


def _entries(data: Mapping[str, Any], key: str, fits: Callable[[Any], bool], what: str, where: str) -> dict[str, Any]:
    """Return a table each of whose entries is what it says."""
    table: dict[str, Any] = data.get(key, {})
    for name, value in table.items():
        if not fits(value):
            raise SpecError(f"{where}: {key}.{name} must be {what}; got {value!r}")
    return table


def _texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def _counts(value: Any) -> bool:
    return type(value) is int and value >= 1


def _assume(data: Mapping[str, Any], symbols: Mapping[str, SymbolInfo], where: str) -> dict[str, Inequality]:
    found = _entries(data, "assume", lambda value: isinstance(value, str), "text, 'left >= right'", where)
    return {name: inequality(text, symbols, f"{where}, assume.{name}") for name, text in found.items()}


def _parameters(data: Mapping[str, Any], symbols: Mapping[str, SymbolInfo], where: str) -> dict[str, str]:
    found = data.get("parameters", {})
    for key, name in found.items():
        if not isinstance(name, str) or name not in symbols or symbols[name].vector:
            hint = nearest(name, symbols) if isinstance(name, str) and name not in symbols else "write a number's name"
            raise SpecError(f"{where}: parameters.{key} must name a symbol, got {name!r}; {hint}")
    return dict(found)


def _letters(data: Mapping[str, Any], where: str) -> dict[str, str]:
    found = _entries(data, "letters", lambda value: isinstance(value, str), "text, a letter in LaTeX", where)
    if found:
        from boundlab.theorems._letters import checked_latex

        for name, letter in found.items():
            checked_latex(letter, f"{where}: letters.{name}")
    return found


def _load(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of the file and what it holds."""
    try:
        text = read_text(path, SpecError, _LARGEST)
        return text, _measured(tomllib.loads(text, parse_float=decimal))
    except RecursionError:
        raise SpecError(f"{path} is nested too deeply") from None
    except ValueError as reason:  # no TOML, numbers that floats round, integers of over 4300 digits
        if _LATEX.search(text):
            raise SpecError(
                f"{str(path)!r} is LaTeX, and a theorem is a TOML file with formulas such as L*R**2/(2*K): "
                "boundlab new theorem NAME writes one to fill in"
            ) from None
        raise SpecError(f"{str(path)!r}: {reason}{other_kind(path, '.toml')}") from None


def _measured(value: Any) -> Any:
    """Refuse integers, which may be hexadecimal, of more digits than Python prints.

    Raises
    ------
    ValueError
        If there is one.
    """
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _measured(entry)
    if isinstance(value, int) and value.bit_length() > _LONGEST:
        raise ValueError(f"an integer has more than {_LONGEST} binary digits")
    return value


def _choices(data: Mapping[str, Any], where: str) -> None:
    """Check the ids that other parts of boundlab give a meaning to."""
    try:
        if not running():  # a plug-in reads theorems of its own algorithm; who asks for one of them looks it up
            lookup("algorithms", data.get("algorithm", _ALGORITHM))
        for name in data.get("assumptions", ()):
            assumption(name)
        if "left" not in data:
            metric(data["metric"])
    except SpecError as error:
        raise SpecError(f"{where}: {error}") from None


def _symbols(table: Mapping[str, Any], where: str) -> Mapping[str, SymbolInfo]:
    if not table:
        return SYMBOLS
    from boundlab.theorems._letters import checked_latex, checked_letter

    found = dict(SYMBOLS)
    for name, fields in table.items():
        place = f"{where}, symbols.{name}"
        if not _NAME.fullmatch(name) or name in FUNCTIONS or name in NAMES:
            raise SpecError(f"{place}: a symbol is a letter, then letters, digits and _, and no function")
        if name in SYMBOLS:
            raise SpecError(f"{place}: {name} is built in ({SYMBOLS[name].meaning}); choose another name")
        if not isinstance(fields, dict):
            raise SpecError(f"{place} must be a table with meaning, domain and units")
        _known(fields, _SYMBOL_KEYS, place)
        for key in ("meaning", "domain", "latex", "unicode"):
            if not isinstance(fields.get(key, ""), str) or (key == "meaning" and not fields.get(key)):
                raise SpecError(f"{place}: {key} must be text")
        if fields.get("side", "exact") not in SIDES:
            raise SpecError(f"{place}: side must be one of {', '.join(SIDES)}, got {fields['side']!r}")
        if fields.get("role", "user") not in get_args(Role):
            raise SpecError(f"{place}: role must be one of {', '.join(get_args(Role))}, got {fields['role']!r}")
        domain, units = fields.get("domain", "real"), fields.get("units")
        if domain not in DOMAINS:
            raise SpecError(f"{place}: unknown domain {domain!r}; {nearest(domain, DOMAINS)}")
        if not (isinstance(units, list) and len(units) in (2, 3) and all(type(degree) is int for degree in units)):
            more = "or [a, b, c] with seconds to the power c"
            raise SpecError(f"{place}: units must be two integers [a, b] (f → c·f, x → s·x), {more}; got {units!r}")
        found[name] = make_symbol(
            name,
            fields["meaning"],
            domain,
            (units[0], units[1], *units[2:]),
            checked_latex(fields.get("latex", ""), f"{place}: latex"),
            checked_letter(fields.get("unicode", ""), f"{place}: unicode"),
            side=fields.get("side", "exact"),
            role=fields.get("role", "user"),
        )
    return MappingProxyType(found)


def _conditions(found: Any, where: str) -> list[tuple[str, str]]:
    """Return each condition as text, and how people read it."""
    listed = found if isinstance(found, list) else [found]
    tables = [{"holds": one, "says": one.replace("<=", "≤")} if isinstance(one, str) else one for one in listed]
    for one in tables:
        if not isinstance(found, list) or not isinstance(one, dict) or {*map(type, one.values())} != {str}:
            raise SpecError(f"{where}: conditions must be a list of texts, got {found!r}")
        _known(one, ("holds", "says"), f"{where}, conditions")
    return [(one.get("holds", ""), one.get("says", one.get("holds", ""))) for one in tables]


def _condition(
    text: str, says: str, symbols: Mapping[str, SymbolInfo], where: str, written: dict[sympy.Expr, Demands]
) -> Condition:
    found = sides(text, "<=?")
    if found is None:
        raise SpecError(f"{where}: condition {text!r} must be one inequality, left <= right or left < right")
    what = f"{where}, condition {text!r}"
    quantity, limit = (_formula(side, symbols, what, written) for side in (found[0], found[2]))
    return Condition(quantity, limit, says, strict=found[1] == "<")
