"""Theorems from TOML files: which keys a file may have, of which types, and what a theorem it then is."""

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, cast

import msgspec
import sympy

from boundlab.algorithms import VARIABLES, Algorithm
from boundlab.assumptions import assumption
from boundlab.errors import BoundlabError, FormulaError, SpecError, UndecidedError
from boundlab.files import decimal, other_kind, read_text
from boundlab.formulas.defined import Demand, Demands, demands
from boundlab.formulas.folds import NAMES, STEP_AT, StepAt, sides
from boundlab.formulas.parse import FUNCTIONS, parse
from boundlab.formulas.symbols import DOMAINS, SYMBOLS, Degrees, Role, Side, SymbolInfo, make_symbol, names_of
from boundlab.formulas.written import letter_of_latex, substitute
from boundlab.greek import COMMANDS
from boundlab.metrics import (
    INDEX,
    INDICES,
    KINDS,
    MODEL,
    QUANTITIES,
    Counter,
    Kind,
    Metric,
    Quantity,
    Term,
    compose,
    compose_sum,
    index_symbol,
    metric,
)
from boundlab.options import nearest
from boundlab.records import among, needed, record, what
from boundlab.registry import find, lookup, running
from boundlab.theorems._bound import Bound, Condition, FormulaBound
from boundlab.theorems._evaluate import over
from boundlab.theorems._statement import OTHERS, SECONDS, Origin, Status, inequality
from boundlab.theorems._steps_at import at_steps, put_in
from boundlab.theorems._theorem import Theorem

# The record of a file.

SECONDS_INDEX: Final = "seconds"
SUMMED: Final = {one.name.lower(): one for one in Quantity}
_FORMULA: Final = 'a formula, text such as "L*R**2/(2*K)", or a number'
Formula = Annotated[str | int | float, what("A formula.", _FORMULA)]
Formulas = dict[str, Formula]
Texts = list[str]
InequalityText = Annotated[str, what("left >= right", "text, 'left >= right'")]
Letter = Annotated[str, what("A letter in LaTeX.", "text, a letter in LaTeX")]


class OneLeft(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, rename={"begin": "from", "end": "to"}):
    """A left side: one quantity, how the iterates enter, and which models."""

    quantity: Annotated[str, among(QUANTITIES, "What is measured.")]
    over: Annotated[Kind, what("How the iterates enter.")] = "last"
    index: Annotated[str, among((*INDICES.values(), SECONDS_INDEX), "What the index counts.")] = "iteration"
    reach: str | None = None
    weights: Formula | None = None
    begin: Formula | None = None
    end: Formula | None = None


class LeftTerm(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One term of a left side that is a sum: a quantity, at which point, times what."""

    quantity: Annotated[str, among(SUMMED, "What is measured.")]
    point: Annotated[str, what("A point of the algorithm.", f"text, such as {MODEL!r}")] = MODEL
    times: Formula = 1


class Says(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A condition, and how people read it."""

    holds: str
    says: str = ""


class Along(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, rename={"along": "in"}):
    """Symbols along which unknown constants stay the same."""

    along: Annotated[Texts, what("Symbols.", 'a list of symbols, such as ["T"]', min_length=1)]


class OwnSymbol(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A symbol that boundlab does not know."""

    meaning: Annotated[str, what("What it is, in words.", "text", min_length=1)]
    units: Annotated[
        list[int],
        what(
            "Degrees under f → c·f, x → s·x, and of seconds.",
            "two integers [a, b] (f → c·f, x → s·x), or [a, b, c] with seconds to the power c",
            min_length=2,
            max_length=3,
        ),
    ]
    domain: Annotated[str, among(DOMAINS, "Its numbers.")] = "real"
    latex: str = ""
    unicode: str = ""
    side: Annotated[Side, what("Which side of the constant its value is.")] = "exact"
    role: Role = "user"


class TheoremFile(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, rename={"origin": "source"}):
    """The TOML file of a theorem, read as data."""

    id: Annotated[str, what("Its name.", min_length=1)]
    title: str = ""
    paper: str = ""
    place: str = ""
    status: Status = "user"
    origin: Annotated[Origin, what("What the file was written from.")] = ""
    algorithm: Annotated[str, what("boundlab list algorithms")] = ""
    metric: Annotated[str, what("boundlab list metrics")] = ""
    left: Annotated[
        OneLeft | list[LeftTerm] | None,
        what(
            "A left side that no metric is: one quantity, or the terms of a sum.", "a table [left], or several [[left]]"
        ),
    ] = None
    about: Literal["each schedule", "the mean"] | None = None
    horizon: Literal["every", "fixed"] | None = None
    first: Annotated[Literal[0, 1], what("From which K on the theorem says something.")] = 1
    note: str = ""
    refuted_by: str = ""
    repaired_by: Texts = []
    page: str = ""
    proof: str = ""
    proofs: Texts = []
    assumptions: Annotated[Texts, what("boundlab list assumptions")] = []
    assume: Annotated[
        dict[str, InequalityText], what("Inequalities between quantities of a point that hold at every x.")
    ] = {}
    options: Annotated[dict[str, Any], what('Options of the algorithm; "any" leaves one open.')] = {}
    step: Annotated[Formulas, what("Symbol = formula: how the step is chosen.", "a table with a rate", min_length=1)]
    definitions: Annotated[Formulas, what("Symbol = formula.")] = {}
    settable: Texts = []
    conditions: Annotated[
        list[str | Says],
        what(
            "Each left <= right or left < right, or a table with that under holds and words under says.",
            "a list of texts",
        ),
    ] = []
    parameters: Annotated[dict[str, str] | None, what("Parameter of the algorithm = symbol.")] = None
    terms: Annotated[
        Formulas, what("Name = formula; the bound is their sum.", extra_json_schema={"minProperties": 1})
    ] = {}
    recursion: Annotated[
        Literal["area", "ogm"] | None, what("What boundlab iterates numerically in place of terms.")
    ] = None
    letters: Annotated[dict[str, Letter], what("Symbol = the paper's letter in LaTeX.")] = {}
    generous: Annotated[
        dict[str, Annotated[int, what("At least 1.", "a whole number of at least 1", ge=1)]],
        what("Symbol = by how much the paper may count it larger."),
    ] = {}
    growth: Annotated[Along | None, what("Symbols along which the unknown constants of an O(.) stay the same.")] = None
    points: Annotated[
        dict[str, Annotated[Texts, what("Ids.", 'a list of sets of points, such as ["server"]', min_length=1)]],
        what("Constant = sets of points at which alone it bounds gradients."),
    ] = {}
    shape: Annotated[bool, what("Whether the bound is an O(.) whose constants are unknown.")] = False
    symbols: Annotated[dict[str, OwnSymbol], what("Symbols that boundlab does not know.")] = {}


_NEEDED: Final = {"allOf": [needed("metric", "left"), needed("terms", "recursion")]}
SCHEMA_OF: Final = Annotated[TheoremFile, msgspec.Meta(title="A theorem", extra_json_schema=_NEEDED)]
"""The types that the published schemas are of."""


# The left side in a file: one quantity, or the terms of a sum.

_REACHED: Final[Mapping[str, Kind]] = {
    "last": "best-expected", "mean": "best-mean", **{one: one for one in KINDS if one.startswith("best")}
}  # fmt: skip


def _left(said: OneLeft, symbols: Mapping[str, SymbolInfo], where: str) -> Metric:
    """Read the table [left]: a quantity, how the iterates enter, what the index counts, which models, their weights.

    With ``reach`` some model within so many seconds or iterations is to have a small left side: the best one.
    """
    counter: Counter = next((letter for letter, name in INDICES.items() if name == said.index), "T")
    index, own, over = INDEX[counter], dict(symbols), said.over
    if index.name in own:
        raise SpecError(f"{where}, symbols.{index.name}: in [left] {index.name} counts the models; choose another name")
    own[index.name] = index_symbol(index.name)
    formulas: dict[str, sympy.Expr] = {}
    for key, text in (("from", said.begin), ("to", said.end), ("weights", said.weights)):
        if text is not None:
            found = formula(text, own, f"{where}, left.{key}", {})
            formulas[key] = found.subs(own[index.name].symbol, index)
            if key != "weights" and index in formulas[key].free_symbols:
                raise SpecError(f"{where}, left.{key}: {index.name} counts from it; it cannot depend on {index.name}")
    if any(formulas[key].has(StepAt) for key in ("from", "to") if key in formulas):
        raise SpecError(f"{where}, left: from and to count models, and read no alpha_at")
    _refuse_vectors(formulas.values(), own, where)
    other = {"K": "T", "T": "K"}[counter]
    if any(other in names_of(one) for one in formulas.values()):
        raise SpecError(f"{where}, left: {other} is read, but the index counts {counter}; see index")
    if said.reach is not None:
        if over not in _REACHED:
            raise SpecError(f"{where}, left: reach is for a left side over {', '.join(_REACHED)}")
        if over != "last":
            over = _REACHED[over]
        elif not formulas:  # else they are refused
            over, formulas = _REACHED["last"], {"from": sympy.S.Zero, "to": own[counter].symbol}
    try:
        return compose(
            said.quantity,
            over,
            in_seconds=said.index == SECONDS_INDEX,
            counter=counter,
            begin=formulas.get("from"),
            end=formulas.get("to"),
            weights=formulas.get("weights"),
        )
    except SpecError as error:
        raise SpecError(f"{where}, left: {error}") from None


def _sum(tables: Sequence[LeftTerm], symbols: Mapping[str, SymbolInfo], where: str) -> Metric:
    """Read the tables [[left]], which are added: a quantity, at which point, times what."""
    terms = []
    for place, one in enumerate(tables, 1):
        name = f"{where}, left {place}"
        times = formula(one.times, symbols, f"{name}: times", {})
        _refuse_vectors((times,), symbols, where)
        if times.has(StepAt):
            raise SpecError(f"{name}: times = {times} is one number, and alpha_at(k) another one at each k")
        if {"K", "T"} & names_of(times):
            raise SpecError(f"{name}: times = {times} reads the horizon; terms have the same coefficients at every K")
        terms.append(Term(times, SUMMED[one.quantity], one.point))
    if terms[0].times.free_symbols or not terms[0].times.is_positive:
        raise SpecError(f"{where}, left 1: times must be a number above 0: the first term says what units they have")
    try:
        return compose_sum(terms)
    except SpecError as error:
        raise SpecError(f"{where}, left: {error}") from None


def _refuse_vectors(formulas: Iterable[sympy.Expr], symbols: Mapping[str, SymbolInfo], where: str) -> None:
    each = sorted({one for rule in formulas for one in names_of(rule) if one in symbols and symbols[one].vector})
    if each:
        raise SpecError(f"{where}, left: {each[0]} is one number per client, and left sides read none of these")


def reached(
    name: str,
    terms: Mapping[str, sympy.Expr],
    symbols: Mapping[str, SymbolInfo],
    where: str,
    written: dict[sympy.Expr, Demands],
) -> tuple[dict[str, sympy.Expr], sympy.Expr]:
    """Return the right side of a statement with ``reach`` and the seconds or iterations that its terms make.

    Raises
    ------
    SpecError
        If ``reach`` is no positive symbol.
    """
    if name not in symbols or not symbols[name].symbol.is_positive:
        raise SpecError(f"{where}, left.reach must name a positive symbol, such as eps under [symbols]; got {name!r}")
    total = sympy.Add(*terms.values())
    written[total] = tuple(one for term in terms.values() for one in written.get(term) or demands(term))
    return {name: symbols[name].symbol}, total


def formula(
    text: str | float, symbols: Mapping[str, SymbolInfo], what: str, written: dict[sympy.Expr, Demands]
) -> sympy.Expr:
    """Read a formula, or a number, over symbols; what it demands as it is written goes to ``written``."""
    own = {name: info.symbol for name, info in symbols.items()}
    return parse(text if isinstance(text, str) else repr(text), own, what, written)


# How a file may write its symbols: as one letter with accents and indices, which is that of no other symbol in use.
#
# What is displayed is to be read as the formula that it stands for: a letter called ``K − 1`` or ``σ²``, a Greek
# capital that looks like a Latin one, or LaTeX that draws something else, would show another statement than the one
# compared.

_ACCENTS = "bar hat tilde dot ddot vec check breve acute grave overline mathcal mathbf mathrm mathbb mathit"
_VARIANTS = ("varepsilon", "vartheta", "varpi", "varrho", "varsigma", "varphi")
_ANY_GREEK = rf"\\(?:{'|'.join((*COMMANDS, *_VARIANTS))})(?![A-Za-z])"
_LETTER = rf"(?:[A-Za-z]|{_ANY_GREEK}|\\ell(?![A-Za-z]))"
_BASE = rf"(?:{_LETTER}|\\(?:{_ACCENTS.replace(' ', '|')})(?:\{{{_LETTER}\}}|(?![A-Za-z]) ?{_LETTER}| {_LETTER}))"
_WORD = rf"(?:{_ANY_GREEK}|\\(?:max|min|star|ell|prime)(?![A-Za-z])|\\(?:mathrm|text)\{{[A-Za-z0-9 ]+\}})"
_INDEX = rf"(?:[A-Za-z0-9*+-]|{_WORD}|\{{(?:[A-Za-z0-9*+,' -]|{_WORD})+\}})"
# A raised number would be read as a power.
_IN_LATEX = re.compile(rf"{_BASE}'*(?:_{_INDEX}|\^(?!\{{?[0-9+-]){_INDEX}){{0,2}}'*")
_PLAIN = re.compile(r"[A-Za-z\u0370-\u03ffℓ][\u0300-\u036f]*[′*]*(?:_[A-Za-z0-9]{1,12}|[₀-₉₊₋ₐ-ₜ]{1,12})?[′*]*")
# Letters of other alphabets that look like Latin ones.
_LIKE = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ\u03f3ικνορυχ\u03f2ℓ′", "ABEZHIKMNOPTYXCjikvopuxcl'")


def checked_letter(text: str, what: str) -> str:
    """Return a letter in Unicode; raise unless it is one, with accents and indices."""
    if text and not _PLAIN.fullmatch(unicodedata.normalize("NFD", text)):
        raise SpecError(
            f"{what} must be one Latin or Greek letter with accents and indices, such as τ̄_max; got {text!r}"
        )
    return text


def checked_latex(text: str, what: str) -> str:
    r"""Return a letter in LaTeX; raise unless it is one, with accents and indices."""
    if text and not _IN_LATEX.fullmatch(text):
        raise SpecError(
            rf"{what} must be one letter in LaTeX with accents and indices, such as \bar\tau_{{\max}}; got {text!r}"
        )
    return text


def refuse_lookalikes(own: Iterable[str], read: Iterable[str], symbols: Mapping[str, SymbolInfo], where: str) -> None:
    """Refuse letters of a file's own symbols that look like those of others in use.

    Parameters
    ----------
    own
        The names that the file declares.
    read
        All names that its formulas read.
    """
    seen: dict[str, str] = {}
    names = sorted(read)
    for name in [*(one for one in names if one not in own), *(one for one in names if one in own)]:
        info = symbols[name]
        shown = {_skeleton(one) for one in (name, info.unicode, letter_of_latex(info.latex))}
        if name in own:
            for one in sorted(shown & seen.keys()):
                raise SpecError(f"{where}, symbols.{name}: it is written like {seen[one]}; choose another letter")
        seen |= dict.fromkeys(shown, name)


def _skeleton(text: str) -> str:
    """Return what a reader sees of a letter."""
    plain = unicodedata.normalize("NFKC", text.translate(_LIKE)).translate(_LIKE)
    return re.sub(r"[_ ]|mathrm", "", plain).replace("\\", "")


# Steps that a file gives as formulas of k, in the words of algorithms.

_NO_UNITS = (sympy.S.Zero, sympy.S.Zero)
_LOOKED_AT = 100  # models at which a divisor of a step is looked at


def step_of_each(
    formulas: Mapping[str, dict[str, sympy.Expr]],
    options: dict[str, str],
    symbols: Mapping[str, SymbolInfo],
    others: Sequence[str],
    written: Mapping[sympy.Expr, Demands],
    algorithm: str,
    where: str,
) -> tuple[sympy.Expr | None, sympy.Expr | None]:
    """Put a step that is another one in each iteration into the words of algorithms.

    These are c/(k + d), and alpha times the option :attr:`boundlab.algorithms.Algorithm.rule`.

    Returns
    -------
    step
        That of iteration k as a formula; None where an option says what it is, or the schedule does.
    rule
        The factor of alpha, where symbols stand in it.

    Raises
    ------
    SpecError
        If it is neither, or if another formula (or a text of ``others``) reads it.
    """
    step, k = formulas["step"], INDEX["K"]
    found = SYMBOLS["c"].symbol / (k + SYMBOLS["d"].symbol) if "c" in step else SYMBOLS["alpha"].symbol
    known = find("algorithms", algorithm)
    option = "" if known is None else known.rule
    for name, rule in list(step.items()):
        index = {one for one in rule.free_symbols if one.name not in symbols}
        if "tau" in symbols and "tau" in names_of(rule) and known is not None and "tau" in known.rule_variables:
            raise SpecError(
                f"{where}, step.{name}: tau is the staleness of the update in hand; call your symbol otherwise"
            )
        place = f"{where}, step.{name}"
        _require_kept(rule, written.get(rule, ()), symbols, place)
        if not index:
            continue
        if name != "alpha" or len(index) > 1 or option in options:
            each = " and ".join(sorted(map(str, index)))
            raise SpecError(
                f"{place}: only a step alpha changes with {each}; write {name} without it, or call the option alpha"
                if name != "alpha"
                else f"{place}: alpha depends on {each}; write it with one of them"
                if len(index) > 1
                else f"{place}: options.{option} says how alpha changes, too; leave that option out"
            )
        rules = (*formulas["definitions"].values(), *formulas["terms"].values())
        read = [str(one) for one in rules if name in names_of(put_in(one, sympy.S.Zero))]
        read += [one for one in others if re.search(rf"\b{name}\b", one)]
        stale = VARIABLES["tau"] in index
        if read:
            each = "tau" if stale else "k"
            raise SpecError(
                f"{place}: alpha is another one at each {each}, so that {read[0]} cannot read it; write it out"
            )
        (one,) = index
        variable = VARIABLES["tau" if stale else "k"]
        rule = found = rule.subs(one, variable)
        c, d = (None, sympy.S.Zero) if stale else _falling(rule, k)
        if c is not None:
            del step[name]
            step |= {"c": c, "d": d}
            return found, None
        _require_read(known, variable, place)
        step[name], factor = _factored(rule, variable, symbols, place)
        free = names_of(factor)
        if not stale and "T" in free:
            raise SpecError(f"{place}: {rule} reads T; the horizon in it is K, of a left side over iterations")
        if "K" in free:
            step["K"] = SYMBOLS["K"].symbol
        if not free & symbols.keys() - {"K", "n" if stale else "K"}:
            options[option] = str(factor)
            factor = None
        return None if stale else found, factor
    return (None if {option, OTHERS} & options.keys() else found), None


def _require_read(algorithm: Algorithm[Any] | None, variable: sympy.Symbol, place: str) -> None:
    """Make sure that the algorithm has steps that depend on a variable."""
    if algorithm is not None and variable.name not in algorithm.rule_variables:
        example = algorithm.examples(1).get(algorithm.rule, ())
        have = f"of which it says how ({algorithm.rule}), as in {example[-1]}" if example else "none that change"
        raise SpecError(f"{place}: steps of {algorithm.id} do not depend on {variable}; it has steps {have}")


def _factored(
    rule: sympy.Expr, variable: sympy.Symbol, symbols: Mapping[str, SymbolInfo], place: str
) -> tuple[sympy.Expr, sympy.Expr]:
    """Return a step size, and what it is multiplied by for each value of the variable: a number without units."""
    from boundlab.formulas.units import degrees

    alpha, rest = sympy.factor(rule).as_independent(variable, as_Add=False)
    try:
        plain = (degrees(rest, {**symbols, variable.name: index_symbol(variable.name)}) or _NO_UNITS) == _NO_UNITS
    except FormulaError as error:
        raise SpecError(f"{place}: {error}") from None
    if not plain:
        alpha = _value(rule, {variable: sympy.S.Zero})
        if alpha in (0, sympy.zoo) or (isinstance(alpha, sympy.Min) and 0 in alpha.args):
            raise SpecError(
                f"{place}: {rule} is 0, or has no value, at {variable} = 0; there a step has the size alpha"
            )
        rest = rule / alpha
    sign = -1 if alpha.could_extract_minus_sign() else 1
    return sign * alpha, sign * rest


def _require_kept(rule: sympy.Expr, written: Demands, symbols: Mapping[str, SymbolInfo], place: str) -> None:
    """Refuse a step in which a divisor cancels that is 0 at some k: there the formula has no value as it is written."""
    for one in (each for each in written if isinstance(each, Demand)):  # in a Min 1/0 is a limit that is not there
        index = [symbol for symbol in one.of.free_symbols if symbol.name not in symbols]
        rest = one.of.as_independent(*index, as_Add=False)[1] if index else sympy.S.One
        for k in range(_LOOKED_AT) if len(rest.free_symbols) == 1 else ():
            at = {index[0]: sympy.Integer(k)}
            if rest.subs(at) == 0 and _value(rule, at).is_finite is not False:
                raise SpecError(f"{place}: {one.of} is 0 at {index[0]} = {k}, and the step has no value there")


def _value(rule: sympy.Expr, at: Mapping[sympy.Symbol, sympy.Expr]) -> sympy.Expr:
    """Return what a formula is at numbers, zoo where it has no value."""
    try:
        return substitute(rule, at)
    except UndecidedError:
        return sympy.zoo


def _falling(rule: sympy.Expr, k: sympy.Symbol) -> tuple[sympy.Expr | None, sympy.Expr | None]:
    """Return c and d of c/(k + d), None where a step is not so."""
    top, below = map(sympy.expand, sympy.fraction(sympy.together(rule)))
    if k in top.free_symbols or not below.is_polynomial(k) or sympy.degree(below, k) != 1:
        return None, None
    slope, rest = below.coeff(k, 1), below.coeff(k, 0)
    return sympy.simplify(top / slope), sympy.simplify(rest / slope)


_LARGEST = 1 << 20
_LONGEST = 1024
_INDICES: Final = re.compile(rf"\b({'|'.join((*(one.name for one in INDEX.values()), 'tau'))})\b")
_NEEDS: Final = "id, algorithm, metric or [left], [terms] and [step]"
_LATEX = re.compile(r"^\s*(?:\\[A-Za-z\[(]|\$)", re.MULTILINE)  # no line of TOML begins so
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")


def of_package(folder: Path, names: Iterable[str]) -> dict[str, Callable[[], Theorem]]:
    """Return by id what reads a theorem of boundlab from its file ``ID.toml``, when it is asked for and once."""
    return {name: cache(partial(read_theorem, folder / f"{name}.toml", registered=True)) for name in names}


def read_theorem(path: Path, *, registered: bool = False) -> Theorem:
    """Read a theorem.

    The file gives ``id``, ``algorithm``, ``metric`` (or a table ``[left]`` with ``quantity``, ``over``, ``index``,
    ``reach``, ``weights``, ``from`` and ``to``, or several ``[[left]]`` with ``quantity``, ``point`` and ``times``,
    which are added) and the tables ``[terms]`` and ``[step]``; further ``title``, ``paper``, ``place``, ``note``,
    ``status`` (``user`` where absent), ``source`` (what the file was written from: ``print``, ``memory`` or ``own``),
    ``horizon`` (what the step says: ``fixed`` where it depends on
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
    file = record(TheoremFile, data, where)
    for name, given, hint in (
        ("metric", file.metric or file.left, "it says what the left side is"),
        ("terms", file.terms or file.recursion, "the bound is their sum"),
    ):
        if not given:
            raise SpecError(f"{where}: {name} is missing: {hint}; a theorem has {_NEEDS}")
    if not file.algorithm:
        raise SpecError(f'{where}: the algorithm is open: write algorithm = "…", as boundlab list algorithms shows')
    if file.metric and file.left:
        raise SpecError(f"{where}: metric and [left] both say what the left side is; give one of them")
    symbols = _symbols(file.symbols, where)
    for name in (*file.definitions, *file.step, *file.settable):
        if name in symbols and symbols[name].vector:
            raise SpecError(f"{where}: {name} is one number per client, whose values are those of the problem")
        if name not in symbols:
            hint = nearest(name, symbols)
            if name in file.step and not running():
                own = lookup("algorithms", file.algorithm)
                hint = f"steps of {own.id}: {', '.join(own.step_size_symbols)}"
            raise SpecError(
                f"{where}: {name} is defined but unknown; add [symbols.{name}] with meaning and units; {hint}"
            )
    written: dict[sympy.Expr, Demands] = {}
    indices = {name: index_symbol(name) for name in (*(one.name for one in INDEX.values()), "tau")}
    steps = {**{name: index for name, index in indices.items() if name not in symbols}, **symbols}
    formulas = {
        table: {
            name: formula(text, steps if table == "step" else symbols, f"{where}, {table}.{name}", written)
            for name, text in getattr(file, table).items()
        }
        for table in ("step", "definitions", "terms")
    }
    options = {key: str(value) for key, value in file.options.items()}
    inequalities = [
        Says(holds=one, says=one.replace("<=", "≤")) if isinstance(one, str) else one for one in file.conditions
    ]
    steps_k = rule = None
    if STEP_AT in text or any(_INDICES.search(str(one)) for one in file.step.values()):
        lefts = [] if file.left is None else file.left if isinstance(file.left, list) else [file.left]
        own = [
            *(one.holds for one in inequalities),
            *(str(said) for one in lefts for said in msgspec.structs.astuple(one)),
        ]
        steps_k, rule = step_of_each(formulas, options, symbols, own, written, file.algorithm, where)
    left, reach = None, None
    if isinstance(file.left, OneLeft):
        left, reach = _left(file.left, symbols, where), file.left.reach
    elif file.left:
        left = _sum(file.left, symbols, where)
    conditions = [_condition(one, symbols, where, written) for one in inequalities]
    if reach is not None and left is not None:
        if SECONDS in formulas["definitions"]:
            raise SpecError(f"{where}: with reach the terms are the seconds; leave definitions.{SECONDS} out")
        formulas["terms"], within = reached(reach, formulas["terms"], symbols, where, written)
        if left.in_seconds:
            formulas["definitions"] = {**formulas["definitions"], SECONDS: within}
        else:
            said = " + ".join(map(str, file.terms.values()))
            conditions.append(Condition(within, symbols[left.counter].symbol, f"{said} ≤ {left.counter}"))
    try:
        if not registered:
            _require_choices(file)
        theorem = Theorem(
            id=file.id,
            title=file.title or file.id,
            paper=file.paper,
            place=file.place or where,
            status=file.status,
            origin=file.origin,
            assumptions=tuple(file.assumptions),
            algorithm=file.algorithm,
            options=options,
            metric=file.metric,
            left_side=left,
            horizon=file.horizon,
            about=file.about,
            first=file.first,
            step=formulas["step"],
            bound=_bound(file, formulas["terms"], options, where),
            definitions=formulas["definitions"],
            settable=tuple(file.settable),
            conditions=tuple(conditions),
            parameters=_parameters(file, symbols, where),
            shape=file.shape,
            note=file.note,
            symbols=symbols,
            source="" if registered else text,
            refuted_by=file.refuted_by,
            repaired_by=tuple(file.repaired_by),
            page=file.page,
            proof=file.proof,
            proofs=tuple(file.proofs),
            letters={name: checked_latex(letter, f"{where}: letters.{name}") for name, letter in file.letters.items()},
            growth=() if file.growth is None else tuple(file.growth.along),
            generous=file.generous,
            written={} if registered else written,
            rule=rule,
            assume={name: inequality(text, symbols, f"{where}, assume.{name}") for name, text in file.assume.items()},
            points={name: tuple(words) for name, words in file.points.items()},
        )
        if steps_k is not None and theorem.reads_steps:
            theorem = at_steps(theorem, steps_k)
        read = theorem.read
        for option, name in (file.parameters or {}).items():
            if name not in read:
                raise SpecError(
                    f"{where}: parameters.{option}: no formula reads {name}, so that {option} stands at its default; "
                    f'leave the entry out, or write {option} = "any" under [options]'
                )
        if not registered:
            _require_clear(theorem, file.symbols, where)
    except BoundlabError as error:
        if str(error).startswith(where):
            raise
        raise type(error)(f"{where}: {error}") from None
    return theorem


def _require_clear(theorem: Theorem, own: Mapping[str, Any], where: str) -> None:
    """Refuse a file that leaves two readings, where it is read."""
    if own:
        refuse_lookalikes(own, theorem.read, theorem.symbols, where)
    if find("algorithms", theorem.algorithm) is not None:
        over(theorem)


def _bound(file: TheoremFile, terms: Mapping[str, sympy.Expr], options: Mapping[str, str], where: str) -> Bound:
    """Return the right side: the sum of the terms, or what is iterated in their place."""
    if file.recursion is None:
        return FormulaBound(terms)
    if terms:
        raise SpecError(f"{where}: [terms] and recursion both say what the right side is; give one of them")
    found: Bound = resolve_name(f"boundlab.theorems.recursions:{file.recursion}")(options)
    return found


def _parameters(file: TheoremFile, symbols: Mapping[str, SymbolInfo], where: str) -> dict[str, str]:
    if file.parameters is None:
        return {"M": "M"} if file.algorithm == "area" else {}
    for key, name in file.parameters.items():
        if name not in symbols or symbols[name].vector:
            hint = "write a number's name" if name in symbols else nearest(name, symbols)
            raise SpecError(f"{where}: parameters.{key} must name a symbol, got {name!r}; {hint}")
    return dict(file.parameters)


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
                f"boundlab new theorem NAME --latex {path} drafts one from it"
            ) from None
        quotes = "; text stands in quotes" if str(reason).startswith("Invalid value") else ""
        raise SpecError(f"{str(path)!r}: {reason}{quotes}{other_kind(path, '.toml')}") from None


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


def _require_choices(file: TheoremFile) -> None:
    """Make sure that ids are known that other parts of boundlab give a meaning to."""
    if not running():  # a plug-in reads theorems of its own algorithm; who asks for one of them looks it up
        lookup("algorithms", file.algorithm)
    for name in file.assumptions:
        assumption(name)
    if file.left is None:
        metric(file.metric)


def _symbols(table: Mapping[str, OwnSymbol], where: str) -> Mapping[str, SymbolInfo]:
    found = dict(SYMBOLS)
    for name, one in table.items():
        place = f"{where}, symbols.{name}"
        if not _NAME.fullmatch(name) or name in FUNCTIONS or name in NAMES:
            raise SpecError(f"{place}: a symbol is a letter, then letters, digits and _, and no function")
        if name in SYMBOLS:
            raise SpecError(f"{place}: {name} is built in ({SYMBOLS[name].meaning}); choose another name")
        found[name] = make_symbol(
            name,
            one.meaning,
            one.domain,
            cast("Degrees", tuple(one.units)),
            checked_latex(one.latex, f"{place}: latex"),
            checked_letter(one.unicode, f"{place}: unicode"),
            side=one.side,
            role=one.role,
        )
    return MappingProxyType(found) if table else SYMBOLS


def _condition(
    said: Says, symbols: Mapping[str, SymbolInfo], where: str, written: dict[sympy.Expr, Demands]
) -> Condition:
    found = sides(said.holds, "<=?")
    if found is None:
        raise SpecError(f"{where}: condition {said.holds!r} must be one inequality, left <= right or left < right")
    what = f"{where}, condition {said.holds!r}"
    quantity, limit = (formula(side, symbols, what, written) for side in (found[0], found[2]))
    return Condition(quantity, limit, said.says or said.holds, strict=found[1] == "<")
