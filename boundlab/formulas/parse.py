"""Read formulas that people type or that stand in files, without evaluating any of them as code.

A formula is parsed by :mod:`ast` and rebuilt from a whitelist: numbers, known names, ``+ − * / **``,
parentheses, the functions of :data:`FUNCTIONS`, sums over an index (:mod:`boundlab.formulas.folds`) and entries
``NAME[i]``. There is no ``eval``, no ``sympify`` of text, no attribute, keyword, comparison or string. Integers stay
exact, and a decimal means exactly what it says: ``0.1`` is 1/10.

Every part without symbols is also computed in floating point before SymPy sees the whole, so that a part
that overflows, is complex or is not a number is refused instead of keeping SymPy busy.
"""

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import sympy

from boundlab.errors import FormulaError, shortened
from boundlab.formulas.defined import Demand, Demands, Least, everywhere, iteration, least, logarithm, power, where
from boundlab.formulas.folds import (
    FOLDS,
    IF,
    MEAN,
    MOST_DEPTH,
    NAMES,
    OVER_CLIENTS,
    STEP_AT,
    Choice,
    ClientVector,
    EntryOf,
    FoldIndex,
    StepAt,
)
from boundlab.options import nearest

# Functions that formulas may call, and the words for what they may not hold.


@dataclass(frozen=True, slots=True)
class KnownFunction:
    """How a whitelisted function acts on numbers and on expressions."""

    numeric: Callable[..., float]
    symbolic: Callable[..., Any]
    variadic: bool = False


def _lazy(kind: Any) -> Callable[..., Any]:
    # An evaluated Min or Max compares its arguments, which can take seconds on nested input.
    return lambda *parts: kind(*parts, evaluate=False) if len(parts) > 1 else parts[0]


MIN = KnownFunction(min, _lazy(sympy.Min), variadic=True)
_MAX = KnownFunction(max, _lazy(sympy.Max), variadic=True)
_ABS = KnownFunction(abs, sympy.Abs)
_CEIL = KnownFunction(math.ceil, sympy.ceiling)
FUNCTIONS: Final[Mapping[str, KnownFunction]] = MappingProxyType(
    {
        "sqrt": KnownFunction(math.sqrt, sympy.sqrt),
        "exp": KnownFunction(math.exp, sympy.exp),
        "log": KnownFunction(math.log, sympy.log),
        "floor": KnownFunction(math.floor, sympy.floor),
        "ceiling": _CEIL,
        "ceil": _CEIL,
        "Min": MIN,
        "min": MIN,
        "Max": _MAX,
        "max": _MAX,
        "Abs": _ABS,
        "abs": _ABS,
    }
)

_ALLOWED: Final = re.compile(r"[A-Za-z0-9_.,()\[\]+\-*/<>= ]")
_ADVICE: Final[Mapping[str, str]] = {
    "^": "write ** for powers",
    "×": "write * for products",
    "·": "write * for products",
    "÷": "write / for quotients",
    "−": "write - for minus",
    "√": "write sqrt(…)",
    "%": "there is no remainder",
}
REFUSED: Final[dict[type[ast.AST], str]] = {
    ast.Attribute: "an attribute (a dot after a name)",
    ast.Tuple: "a list of several values",
    ast.Starred: "a starred argument",
    ast.BoolOp: "and/or",
    ast.IfExp: "if/else",
    ast.Lambda: "lambda",
    ast.Compare: "a comparison",
    ast.Await: "await",
}


def require_letters(text: str, what: str) -> None:
    """Make sure that a formula holds no letter that means nothing there.

    Raises
    ------
    FormulaError
        Naming the first one, with what to write in its place.
    """
    for column, letter in enumerate(text, 1):
        if not _ALLOWED.fullmatch(letter):
            advice = _ADVICE.get(letter) or (
                "write Greek letters out, as in mu or sigma"
                if letter.isalpha()
                else "use numbers, names, + - * / ** ( )"
            )
            raise FormulaError(f"{what}: {letter!r} at column {column} is not allowed; {advice}")


MAX_LENGTH = 2000
MAX_DEPTH = 100
MAX_DIGITS = 40
MAX_EXPONENT = 64
MAX_ROOT = 1000
MAX_BITS = 8192
_CHOICE = 3  # comparison, then, otherwise
_ORDERS = (ast.LtE, ast.Lt, ast.GtE, ast.Gt)
_FOLDED = 4  # term, index, first, last
_LARGEST = 1e300

_PLAIN_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
Operation = Callable[[Any, Any], Any]
_OPERATORS: dict[type[ast.operator], Operation] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def parse(
    text: str, names: Mapping[str, Any], what: str = "formula", written: dict[sympy.Expr, Demands] | None = None
) -> Any:
    """Read a formula as a SymPy expression.

    Parameters
    ----------
    text
        At most 2000 characters, ASCII.
    names
        What each name stands for: SymPy symbols or expressions.
    what
        The noun with which messages start, e.g. ``my.toml, terms.noise``.
    written
        Gets, under the formula, what it demands as it is written: of x/x that x is not 0, though it is 1 for SymPy.

    Returns
    -------
    sympy.Expr
        The formula. Numbers are exact; ``Min`` and ``Max`` are left unevaluated.

    Raises
    ------
    FormulaError
        In one line: what is wrong, at which column, and what would be right.

    Examples
    --------
    >>> x = sympy.Symbol("x", positive=True)
    >>> parse("sqrt(x)/0.1 + 1/3", {"x": x})
    10*sqrt(x) + 1/3
    """
    demands: list[Demand | Least] = []
    found = _read(text, names, what, symbolic=True, demands=demands)[0]
    if written is not None and demands:
        written[found] = tuple(dict.fromkeys((*written.get(found, ()), *demands)))
    return found


def number_value(text: str, what: str = "value") -> float:
    """Read a formula of numbers only, such as ``1/3``, ``2**10`` or ``sqrt(2)``, in floating point.

    Raises
    ------
    FormulaError
        As :func:`parse`, and if a name stands in it.

    Examples
    --------
    >>> number_value("2**3 + 1/4")
    8.25
    """
    if isinstance(text, str) and _PLAIN_NUMBER.fullmatch(text.strip()) and len(text) <= MAX_LENGTH:
        value = float(text)
        if math.isfinite(value):
            return value
    result = _read(text, {}, what, symbolic=False)[1]
    if result is None:  # pragma: no cover - a formula without names always has a value
        raise FormulaError(f"{what}: {text!r} is not a number")
    return result


def _read(
    text: str, names: Mapping[str, Any], what: str, *, symbolic: bool, demands: list[Demand | Least] | None = None
) -> tuple[Any, float | None]:
    if not isinstance(text, str):
        raise FormulaError(f"{what}: a formula must be text, got {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"{what}: the formula has {len(text)} characters, at most {MAX_LENGTH} are read")
    flat = text.replace("\n", " ").replace("\r", " ").replace("\t", " ")
    if not flat.strip():
        raise FormulaError(f"{what}: the formula is empty")
    require_letters(flat, what)
    lead = len(flat) - len(flat.lstrip())
    body = flat.strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "1if" and the like warn before they are refused below
            tree = ast.parse(body, mode="eval")
        return _TreeReader(body, lead, names, what, symbolic, [] if demands is None else demands).visit(tree.body, 0)
    except SyntaxError as error:
        glued = re.search(r"(?<![\w.])(\d+)([A-Za-z]\w*)", body)
        why = (
            f"{error.msg} at column {lead + (error.offset or 1)}"
            if glued is None
            else f"write {glued[1]}*{glued[2]} for {glued[0]}"
        )
        raise FormulaError(f"{what}: cannot read {_short(body)!r}: {why}") from None
    except (RecursionError, MemoryError):
        raise FormulaError(f"{what}: {_short(body)!r} is nested too deeply; at most {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise FormulaError(f"{what}: cannot read {_short(body)!r}: {error}") from None


def _short(text: str) -> str:
    return shortened(text, 60)


@dataclass(frozen=True, slots=True)
class _TreeReader:
    """Rebuild one tree; each visit returns (expression, value or None if it holds symbols)."""

    text: str
    lead: int
    names: Mapping[str, Any]
    what: str
    symbolic: bool
    demands: list[Demand | Least]

    def fail(self, node: ast.AST, message: str) -> FormulaError:
        column = self.lead + getattr(node, "col_offset", 0) + 1
        return FormulaError(f"{self.what}: {message} (column {column} of {_short(self.text)!r})")

    def visit(self, node: ast.AST, depth: int) -> tuple[Any, float | None]:
        if depth > MAX_DEPTH:
            raise self.fail(node, f"nested too deeply; at most {MAX_DEPTH} levels")
        if isinstance(node, ast.Constant):
            return self.number(node)
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
            expression, value = self.visit(node.operand, depth + 1)
            if isinstance(node.op, ast.UAdd):
                return expression, value
            return (-expression if self.symbolic else None), (None if value is None else -value)
        if isinstance(node, ast.BinOp):
            return self.operation(node, depth)
        if isinstance(node, ast.Call):
            return self.call(node, depth)
        if isinstance(node, ast.Subscript):
            return self.entry(node, depth), None
        kind = REFUSED.get(type(node), type(node).__name__)
        raise self.fail(node, f"{kind} is not allowed; use numbers, names, + - * / ** and functions")

    def number(self, node: ast.Constant) -> tuple[Any, float | None]:
        raw = node.value
        if isinstance(raw, bool) or not isinstance(raw, (int, float)):
            raise self.fail(node, f"{raw!r} is not a real number")
        source = self.text[node.col_offset : node.end_col_offset].replace("_", "")
        if len(re.sub(r"[eE].*|\D", "", source)) > MAX_DIGITS:
            raise self.fail(node, f"a number of more than {MAX_DIGITS} digits")
        value = self.finite(node, float(raw))
        if not self.symbolic:
            return None, value
        if isinstance(raw, int):
            return sympy.Integer(raw), value
        if 0 < abs(value) < 1 / _LARGEST or (value == 0 and re.search(r"[1-9]", source.lower().split("e")[0])):
            raise self.fail(node, f"{_short(source)} is too small")
        return sympy.Rational(source), value

    def name(self, node: ast.Name) -> tuple[Any, float | None]:
        if node.id in self.names:
            found = self.names[node.id]
            if isinstance(found, ClientVector):
                raise self.fail(node, f"{node.id} is one number per client; write {node.id}[i] in a mean_i(…)")
            return found, None
        if node.id in FUNCTIONS or node.id in NAMES:
            raise self.fail(node, f"function {node.id} needs its argument in parentheses")
        if not self.names:
            raise self.fail(node, f"{node.id!r} is a name where a number is expected")
        halves = ((node.id[:at], node.id[at:]) for at in range(1, len(node.id)))
        product = next((f"did you mean {a}*{b}?" for a, b in halves if {a, b} <= self.names.keys()), "")
        raise self.fail(node, f"unknown symbol {node.id!r}; {product or nearest(node.id, self.names)}")

    def operation(self, node: ast.BinOp, depth: int) -> tuple[Any, float | None]:
        do = _OPERATORS.get(type(node.op))
        if do is None:
            raise self.fail(node, f"operator {type(node.op).__name__} is not allowed; use + - * / **")
        left, a = self.visit(node.left, depth + 1)
        right, b = self.visit(node.right, depth + 1)
        value = self.combine(node, do, a, b, right)
        if not self.symbolic:
            return None, value
        result = do(left, right)
        if do is operator.truediv:
            self.demands.extend(power(right, sympy.S.NegativeOne, self.source(node.right)))
        elif do is operator.pow:
            self.demands.extend(power(left, right, self.source(node.left)))
        return self.sound(node, result), value

    def source(self, node: ast.AST) -> str:
        """Return a part as it is written."""
        return _short(ast.get_source_segment(self.text, node) or "")

    def combine(
        self, node: ast.BinOp, do: Operation, a: float | None, b: float | None, power: Any = None
    ) -> float | None:
        """Guard one operation, and do it in floating point if both sides are numbers."""
        if do is operator.truediv and b == 0:
            raise self.fail(node, "division by zero")
        if do is operator.pow and b is not None and abs(b) > MAX_EXPONENT and self.symbolic:
            raise self.fail(node, f"the exponent {b:g} is too large; at most {MAX_EXPONENT}")
        if do is operator.pow and power is not None and power.is_Rational and power.q > MAX_ROOT:
            what = f"the exponent {self.source(node.right)} has too many digits"
            raise self.fail(node, f"{what}; write it as a fraction, 1/{MAX_ROOT} at least")
        if a is None or b is None:
            return None
        try:
            value = do(a, b)
        except ZeroDivisionError:
            raise self.fail(node, "division by zero") from None
        except OverflowError:
            raise self.fail(node, "the power is too large") from None
        if isinstance(value, complex):
            raise self.fail(node, "a power of a negative number that is not real")
        return self.finite(node, value)

    def call(self, node: ast.Call, depth: int) -> tuple[Any, float | None]:
        if not isinstance(node.func, ast.Name):
            raise self.fail(node, "only the known functions can be called")
        name = node.func.id
        if name in NAMES and name not in self.names:
            return self.choice(node, depth) if name == IF else self.fold(node, name, depth), None
        if name not in FUNCTIONS:
            what = "a symbol, not a function; write * for products" if name in self.names else "not a known function"
            raise self.fail(node, f"{name} is {what}; {nearest(name, FUNCTIONS)}")
        if node.keywords:
            raise self.fail(node, f"{name} takes no named arguments")
        function = FUNCTIONS[name]
        count = len(node.args)
        if count == 0 or (count > 1 and not function.variadic):
            raise self.fail(node, f"{name} takes {'at least ' if function.variadic else ''}one argument, got {count}")
        parts = [self.apart(argument, depth + 1) for argument in node.args]
        numbers = [value for _, value, _ in parts if value is not None]
        value = None
        if len(numbers) == count:
            try:
                value = self.finite(node, float(function.numeric(*numbers)))
            except OverflowError:
                raise self.fail(node, f"{name} is too large here") from None
            except (ValueError, TypeError):
                if count == 1 and function.variadic:
                    value = numbers[0]
                else:
                    raise self.fail(node, f"{name} of {numbers[0]:g} is not a real number") from None
        if not self.symbolic:
            return None, value
        if function is MIN and count > 1:
            self.demands.extend(least((expression, own) for expression, _, own in parts))
        else:
            self.demands.extend(one for _, _, own in parts for one in own)
        if name in ("sqrt", "log"):
            root = power(parts[0][0], sympy.S.Half, self.source(node.args[0]))
            self.demands.extend(root if name == "sqrt" else logarithm(parts[0][0], self.source(node.args[0])))
        return self.sound(node, function.symbolic(*(expression for expression, _, _ in parts))), value

    def apart(self, node: ast.AST, depth: int, **names: FoldIndex) -> tuple[Any, float | None, Demands]:
        """Return a part, over more names, and what it demands by itself."""
        inside = replace(self, names={**self.names, **names} if names else self.names, demands=[])
        return *inside.visit(node, depth), tuple(inside.demands)

    def entry(self, node: ast.Subscript, depth: int) -> Any:
        """Read NAME[place]: of a vector, or of the vector NAME_i where NAME is one number."""
        if not isinstance(node.value, ast.Name):
            raise self.fail(node, "only a symbol has entries, as in L[i]")
        name = node.value.id
        vector = next(
            (self.names.get(one) for one in (name, f"{name}_i") if isinstance(self.names.get(one), ClientVector)), None
        )
        if vector is None:
            known = [one for one, symbol in self.names.items() if isinstance(symbol, ClientVector)]
            raise self.fail(node, f"{name} is not one number per client; {nearest(name, known)}")
        place = self.visit(node.slice, depth + 1)[0]
        if place.is_number and not (place.is_Integer and place >= vector.begins):
            raise self.fail(node, "clients are counted from 1")
        return EntryOf(vector, place - vector.begins)

    def fold(self, node: ast.Call, name: str, depth: int) -> Any:
        """Read Sum(term, index, first, last) and its like, or mean_i(term) and its like."""
        if not self.symbolic:
            raise self.fail(node, f"{name} stands where a number is expected")
        wanted = _FOLDED if name in FOLDS else 1
        if node.keywords or len(node.args) != wanted:
            example = (
                f"{name}({'k' if name == STEP_AT else 'L[i]'})" if wanted == 1 else f"{name}(1/(k + 1), k, 0, K - 1)"
            )
            raise self.fail(node, f"{name} takes {wanted} argument{'s' * (wanted > 1)}, as in {example}")
        if name == STEP_AT:
            if "alpha" not in self.names:
                raise self.fail(node, f"{name} is the step of an iteration, and there is none here")
            k = self.visit(node.args[0], depth + 1)[0]
            if not k.is_integer or k.is_negative:
                raise self.fail(node, f"{name} takes the number of an iteration, a whole one from 0 on")
            self.demands.extend(iteration(k, self.source(node.args[0])))
            return StepAt(self.names["alpha"], k)
        if wanted == 1:
            if "n" not in self.names:
                raise self.fail(node, f"{name} is over clients, and there are none here")
            word, ends = "i", (sympy.S.One, self.names["n"])
        else:
            if not isinstance(node.args[1], ast.Name):
                raise self.fail(node.args[1], f"the second argument of {name} is its index, a name such as k")
            word = node.args[1].id
            ends = (self.visit(node.args[2], depth + 1)[0], self.visit(node.args[3], depth + 1)[0])
        taken = word in self.names or word in FUNCTIONS or word in NAMES
        for wrong, right in (
            (not word[0].isalpha(), f"the index of {name} begins with a letter, got {word}"),
            (taken, f"the index {word} of {name} has another meaning here; choose another letter"),
            (not all(end.is_integer for end in ends), f"{name} runs between whole numbers; take a floor"),
        ):
            if wrong:
                raise self.fail(node, right)
        index = FoldIndex.named(word, ends[0])
        body, _, inside = self.apart(node.args[0], depth + 1, **{word: index})
        self.demands.extend(everywhere(inside, index, *ends))
        found = (FOLDS | OVER_CLIENTS)[name](body, index, *ends)
        if found.depth > MOST_DEPTH:
            raise self.fail(node, f"more than {MOST_DEPTH} of {name} and its like stand in one another")
        return self.sound(node, found / ends[1] if name == MEAN else found)

    def choice(self, node: ast.Call, depth: int) -> Any:
        """Read If(a <= b, x, y), or with <, >= or > between a and b."""
        if not self.symbolic:
            raise self.fail(node, f"{IF} stands where a number is expected")
        test = node.args[0] if node.args else None
        order = type(test.ops[0]) if isinstance(test, ast.Compare) and len(test.ops) == 1 else None
        if node.keywords or len(node.args) != _CHOICE or not isinstance(test, ast.Compare) or order not in _ORDERS:
            raise self.fail(node, f"{IF} takes a comparison and two values, as in {IF}(k < 10, 1/L, 2/(mu*(k + 1)))")
        sides = [self.visit(side, depth + 1)[0] for side in (test.left, test.comparators[0])]
        branches = [self.apart(value, depth + 1) for value in node.args[1:]]
        # a < b is the contrary of b <= a, and a >= b is b <= a.
        turned, contrary = order in (ast.Lt, ast.GtE), order in (ast.Lt, ast.Gt)
        low, high = reversed(sides) if turned else sides
        (then, _, own), (otherwise, _, others) = reversed(branches) if contrary else branches
        self.demands.extend(where(low, high, own, others))
        return self.sound(node, Choice(low, high, then, otherwise))

    def finite(self, node: ast.AST, value: float) -> float:
        if not math.isfinite(value) or abs(value) > _LARGEST:
            raise self.fail(node, "the number is too large")
        return value

    def sound(self, node: ast.AST, result: Any) -> Any:
        """Refuse infinities, complex numbers and numbers of thousands of digits."""
        if result.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
            raise self.fail(node, "division by zero, whatever the values")
        if result.has(sympy.I):
            raise self.fail(node, "the value is not real")
        for number in result.atoms(sympy.Rational):
            if number.p.bit_length() > MAX_BITS or number.q.bit_length() > MAX_BITS:
                raise self.fail(node, "the numbers become too long")
        return result
