"""A user's own theorem from a TOML file."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import sympy

from boundlab.assumptions import assumption
from boundlab.errors import BoundlabError, SpecError
from boundlab.files import decimal, other_kind, read_text
from boundlab.formulas.choice import sides
from boundlab.formulas.defined import Demands
from boundlab.formulas.folds import NAMES
from boundlab.formulas.parse import FUNCTIONS
from boundlab.formulas.symbols import DOMAINS, SIDES, SYMBOLS, Role, SymbolInfo, make_symbol
from boundlab.metrics import INDEX, index_symbol, metric
from boundlab.options import nearest
from boundlab.registry import find, lookup, running
from boundlab.theorems._assume import Inequality, inequality
from boundlab.theorems._bound import Condition, FormulaBound
from boundlab.theorems._clock import SECONDS
from boundlab.theorems._left import formula as _formula, known as _known, left_side, reached
from boundlab.theorems._letters import checked_latex, checked_letter, refuse_lookalikes
from boundlab.theorems._over import over
from boundlab.theorems._steps_at import at_steps, reads_steps
from boundlab.theorems._steps_in_files import step_of_each
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
_LISTS = ("assumptions", "settable", "conditions", "repaired_by", "proofs")
_KEYS = (*_TEXT, "left", *_TABLES, *_LISTS, "shape", "first")
_SYMBOL_KEYS = ("meaning", "domain", "units", "latex", "unicode", "side", "role")
_LOOKED_AT = 100  # models at which a divisor of a step is looked at
_LATEX = re.compile(r"^\s*(?:\\[A-Za-z\[(]|\$)", re.MULTILINE)  # no line of TOML begins so
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")


def read_theorem(path: Path) -> Theorem:
    """Read a theorem.

    The file gives ``id``, ``metric`` (or a table ``[left]`` with ``quantity``, ``over``, ``index``, ``reach``,
    ``weights``, ``from`` and ``to``, or several ``[[left]]`` with ``quantity``, ``point`` and ``times``, which are
    added) and the tables ``[terms]`` and ``[step]``; further ``title``, ``paper``, ``place``, ``note``, ``status``
    (``user`` where absent), ``source`` (what the file was written from: ``print``, ``memory`` or ``own``),
    ``algorithm`` (``area``), ``horizon`` (what the step says: ``fixed`` where it depends on
    K), ``about`` (``each schedule`` or ``the mean``: what the expectation covers beside the noise), ``first`` (1; with
    0 the theorem is about K = 0, too), ``assumptions``, ``shape``,
    ``settable``, ``conditions`` (each ``"left <= right"`` or ``"left < right"``), ``[assume]`` (name =
    ``"left >= right"``, between quantities of a point, at every x),
    ``[options]`` (``any`` leaves one open; what is not named stands at its default), ``[parameters]`` (parameter of
    the algorithm = "symbol"; M = "M" for area where absent), ``[definitions]``, and a table ``[symbols.NAME]`` with
    ``meaning``, ``domain`` and ``units`` for every symbol that boundlab does not know, ``[generous]`` (symbol = by how
    much the paper may count it larger), ``[growth]`` (``in``: symbols along which unknown constants stay the same); and
    what leads on: ``refuted_by``, ``repaired_by``, ``page``, ``proof``,
    ``proofs``, and ``[letters]`` (symbol = "the paper's letter in LaTeX").

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
        if not data.get(key) and not (key == "metric" and data.get("left")):
            raise SpecError(f"{where}: {key} is missing; a theorem needs id, metric or [left], [terms] and [step]")
    if data.get("metric") and data.get("left"):
        raise SpecError(f"{where}: metric and [left] both say what the left side is; give one of them")
    lefts = data["left"] if isinstance(data.get("left"), list) else [data.get("left", {})]
    if not all(isinstance(one, dict) for one in lefts):
        raise SpecError(f"{where}: left must be a table [left], or several [[left]]; got {data['left']!r}")
    symbols = _symbols(data.get("symbols", {}), where)
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
    _choices(data, where)
    options = {key: str(value) for key, value in data.get("options", {}).items()}
    own = [*data.get("conditions", ()), *(str(value) for one in lefts for value in one.values())]
    algorithm = data.get("algorithm", _ALGORITHM)
    steps_k, rule = step_of_each(formulas, options, symbols, own, written, algorithm, where)
    for name in (*formulas["definitions"], *formulas["step"], *data.get("settable", ())):
        if name in symbols and symbols[name].vector:
            raise SpecError(f"{where}: {name} is one number per client, whose values are those of the problem")
        if name not in symbols:
            raise SpecError(
                f"{where}: {name} is defined but unknown; add [symbols.{name}] with meaning and units; "
                f"{nearest(name, symbols)}"
            )
    left = left_side(data["left"], symbols, where) if data.get("left") else None
    conditions = [_condition(text, symbols, where, written) for text in data.get("conditions", ())]
    if "reach" in lefts[0]:
        if SECONDS in formulas["definitions"]:
            raise SpecError(f"{where}: with reach the terms are the seconds; leave definitions.{SECONDS} out")
        formulas["terms"], within = reached(lefts[0], formulas["terms"], symbols, where, written)
        if left is not None and left.in_seconds:
            formulas["definitions"] = {**formulas["definitions"], SECONDS: within}
        elif left is not None:
            said = " + ".join(map(str, data["terms"].values()))
            conditions.append(Condition(within, symbols[left.counter].symbol, f"{said} ≤ {left.counter}"))
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
            bound=FormulaBound(formulas["terms"]),
            definitions=formulas["definitions"],
            settable=tuple(data.get("settable", ())),
            conditions=tuple(conditions),
            parameters=_parameters(data, symbols, where)
            if "parameters" in data or algorithm != _ALGORITHM
            else {"M": "M"},
            shape=data.get("shape", False),
            note=data.get("note", ""),
            symbols=symbols,
            source=text,
            refuted_by=data.get("refuted_by", ""),
            repaired_by=tuple(data.get("repaired_by", ())),
            page=data.get("page", ""),
            proof=data.get("proof", ""),
            proofs=tuple(data.get("proofs", ())),
            letters=_letters(data.get("letters", {}), where),
            growth=_growth(data["growth"], where) if "growth" in data else (),
            generous=_generous(data.get("generous", {}), where),
            written=written,
            rule=rule,
            assume=_assume(data.get("assume", {}), symbols, where),
            points=_points(data.get("points", {}), where),
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
        refuse_lookalikes(data.get("symbols", {}), read, symbols, where)
        if find("algorithms", theorem.algorithm) is not None:
            over(theorem)  # a file that leaves two readings is refused where it is read
    except BoundlabError as error:
        if str(error).startswith(where):
            raise
        raise type(error)(f"{where}: {error}") from None
    return theorem


def _growth(table: Mapping[str, Any], where: str) -> tuple[str, ...]:
    names = table.get("in") if {*table} == {"in"} else None
    if not names or not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SpecError(f'{where}: growth must be in = ["T", …], a list of symbols; got {dict(table)!r}')
    return tuple(names)


def _points(table: Mapping[str, Any], where: str) -> dict[str, tuple[str, ...]]:
    for name, words in table.items():
        if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
            raise SpecError(
                f'{where}: points.{name} must be a list of sets of points, such as ["server"]; got {words!r}'
            )
    return {name: tuple(words) for name, words in table.items()}


def _assume(table: Mapping[str, Any], symbols: Mapping[str, SymbolInfo], where: str) -> dict[str, Inequality]:
    for name, text in table.items():
        if not isinstance(text, str):
            raise SpecError(f"{where}: assume.{name} must be text, 'left >= right'; got {text!r}")
    return {name: inequality(text, symbols, f"{where}, assume.{name}") for name, text in table.items()}


def _generous(found: Mapping[str, Any], where: str) -> dict[str, int]:
    for name, more in found.items():
        if not isinstance(more, int) or isinstance(more, bool) or more < 1:
            raise SpecError(f"{where}: generous.{name} must be a whole number of at least 1, got {more!r}")
    return dict(found)


def _parameters(data: Mapping[str, Any], symbols: Mapping[str, SymbolInfo], where: str) -> dict[str, str]:
    found = data.get("parameters", {})
    for key, name in found.items():
        if not isinstance(name, str) or name not in symbols or symbols[name].vector:
            hint = nearest(name, symbols) if isinstance(name, str) and name not in symbols else "write a number's name"
            raise SpecError(f"{where}: parameters.{key} must name a symbol, got {name!r}; {hint}")
    return dict(found)


def _letters(table: Mapping[str, Any], where: str) -> dict[str, str]:
    for name, letter in table.items():
        if not isinstance(letter, str):
            raise SpecError(f"{where}: letters.{name} must be text, a letter in LaTeX; got {letter!r}")
        checked_latex(letter, f"{where}: letters.{name}")
    return dict(table)


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


def _condition(
    text: str, symbols: Mapping[str, SymbolInfo], where: str, written: dict[sympy.Expr, Demands]
) -> Condition:
    found = sides(text, "<=?")
    if found is None:
        raise SpecError(f"{where}: condition {text!r} must be one inequality, left <= right or left < right")
    what = f"{where}, condition {text!r}"
    quantity, limit = (_formula(side, symbols, what, written) for side in (found[0], found[2]))
    return Condition(quantity, limit, text.replace("<=", "≤"), strict=found[1] == "<")
