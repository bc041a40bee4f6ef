"""Formulas as people write them: ``√(A·(σ² + (M + 1)·B²/2)/(M·K))``, on one line.

What :func:`written` prints is for reading. Text that :func:`boundlab.formulas.parse.parse` reads back is ``str(…)``.
"""

import math
import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import sympy
from sympy.printing.precedence import PRECEDENCE, precedence
from sympy.printing.str import StrPrinter

from boundlab.errors import UndecidedError
from boundlab.formulas.symbols import SYMBOLS, SymbolInfo
from boundlab.greek import LETTERS

_STEP = (-1, 2)
_COUNTERS = {"K", "T"}
_SQUARE = 2
_DIGITS: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED: Final = str.maketrans("0123456789", _DIGITS)
# A letter or a name with marks, prime and index: it needs no parentheses to stand below a root or to be raised.
_PLAIN = re.compile(rf"(?:(?![{_DIGITS}])[\w\u0300-\u036f])+[′₊₋]?(?:(?![{_DIGITS}])[\w\u0300-\u036f])*")
_CLOSED = re.compile(r"\([^()]*\)")


def letters_of(names: Iterable[str], symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> dict[str, str]:
    """Return name → what is written for it: its Unicode letter, or the name itself where two would look alike.

    Parameters
    ----------
    names
        All names that stand side by side; ``p`` is written as such if nothing else is.
    symbols
        The table of the names.

    Examples
    --------
    >>> letters_of(["sigma", "K"])
    {'sigma': 'σ', 'K': 'K'}
    >>> letters_of(["sigma", "sigma2"])
    {'sigma': 'sigma', 'sigma2': 'sigma2'}
    """
    found = {name: symbols[name].unicode if name in symbols else name for name in names}
    # A σ beside a σ² that is one symbol: nobody could tell that symbol from the square.
    bare = {name: letter.rstrip(_DIGITS) for name, letter in found.items()}
    seen = list(bare.values())
    return {name: name if seen.count(bare[name]) > 1 else letter for name, letter in found.items()}


def written(
    expression: sympy.Expr, symbols: Mapping[str, SymbolInfo] = SYMBOLS, letters: Mapping[str, str] | None = None
) -> str:
    """Return a formula on one line, as people write it.

    Parameters
    ----------
    symbols
        The table of its names, which also says in which order they stand.
    letters
        Name → letter; :func:`letters_of` the names of the formula where it is not given.

    Examples
    --------
    >>> from boundlab.formulas.symbols import symbol
    >>> K, sigma, alpha = symbol("K"), symbol("sigma"), symbol("alpha")
    >>> written(sympy.sqrt((K + 1) * sigma**2 / 2) - alpha / (K - 1))
    'σ·√(2·(K + 1))/2 − α/(K − 1)'
    """
    names = sorted(symbol.name for symbol in expression.free_symbols)
    return str(_Printer(symbols, letters_of(names, symbols) if letters is None else letters).doprint(expression))


def letter_of_latex(text: str) -> str:
    r"""Return a letter that is given in LaTeX as plain text: ``\tau_{\max}`` is ``τ_max``, ``F^*`` is ``F*``."""
    for mark, plain in ((r"^\star", "*"), ("^*", "*"), ("'", "′"), (r"\ell", "ℓ")):
        text = text.replace(mark, plain)
    text = re.sub(r"\\([A-Za-z]+) ?", lambda command: LETTERS.get(command[1], command[1]), text)
    text = re.sub(r"\^\{?(\d+)\}?", lambda found: found[1].translate(_RAISED), text)
    return text.replace("{", "").replace("}", "")


class _Printer(StrPrinter):  # type: ignore[misc]  # SymPy has no types
    """The printer; its order of terms and factors depends on the table of symbols alone."""

    printmethod = None  # how parts print themselves is for text that is read back

    def __init__(self, symbols: Mapping[str, SymbolInfo], letters: Mapping[str, str]) -> None:
        super().__init__()
        self._symbols = symbols
        self._letters = letters
        self._place = {name: place for place, name in enumerate(symbols)}

    # ------------------------------------------------------------------------------------------ atoms

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802
        return str(self._letters.get(expr.name, expr.name))

    def _print_Integer(self, expr: Any) -> str:  # noqa: N802
        return str(expr.p).replace("-", "−")

    def _print_Rational(self, expr: Any) -> str:  # noqa: N802
        return f"{expr.p}/{expr.q}".replace("-", "−")

    def _print_Float(self, expr: Any) -> str:  # noqa: N802
        return str(super()._print_Float(expr)).replace("-", "−")

    # -------------------------------------------------------------------------------------- functions

    def _called(self, name: str, parts: Iterable[Any]) -> str:
        return f"{name}({', '.join(self._print(part) for part in parts)})"

    def _print_Max(self, expr: Any) -> str:  # noqa: N802
        return self._called("max", sorted(expr.args, key=self._term_key))

    def _print_Min(self, expr: Any) -> str:  # noqa: N802
        return self._called("min", sorted(expr.args, key=self._term_key))

    def _print_floor(self, expr: Any) -> str:
        return f"⌊{self._print(expr.args[0])}⌋"

    def _print_ceiling(self, expr: Any) -> str:
        return f"⌈{self._print(expr.args[0])}⌉"

    def _print_Abs(self, expr: Any) -> str:  # noqa: N802
        inside = self._print(expr.args[0])
        return f"abs({inside})" if "|" in inside else f"|{inside}|"

    def _print_FoldIndex(self, expr: Any) -> str:  # noqa: N802
        return str(expr.plain)

    def _print_OwnPart(self, expr: Any) -> str:  # noqa: N802
        return str(expr.shown(expr.for_people, self._print))

    def _print_Exp1(self, expr: Any) -> str:  # noqa: N802
        return "exp(1)"

    def _print_ExpBase(self, expr: Any) -> str:  # noqa: N802
        return self._called("exp", (expr.exp,))

    # ---------------------------------------------------------------------------- powers and products

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:  # noqa: N802
        base, exponent = expr.as_base_exp()
        if base is sympy.E:
            return self._called("exp", (exponent,))
        if exponent.could_extract_minus_sign():
            return f"1/{self._factor(base**-exponent)}"
        if exponent == sympy.Rational(1, _SQUARE):
            inside = self._print(base)
            return f"√{inside}" if self._simple(base, inside) else f"√({inside})"
        inside = self._print(base)
        raised = inside if self._simple(base, inside) else f"({inside})"
        if exponent.is_Integer:
            return raised + str(exponent.p).translate(_RAISED)
        power = self._print(exponent)
        return f"{raised}^{power}" if self._simple(exponent, power) else f"{raised}^({power})"

    @staticmethod
    def _simple(part: Any, text: str) -> bool:
        """Return whether a part needs no parentheses below a root, or to be raised."""
        if part.is_Integer:
            return bool(part >= 0)
        if part.is_Symbol:  # which a number may stand for, in parentheses of its own
            return bool(_PLAIN.fullmatch(text) or _CLOSED.fullmatch(text))
        return bool(part.is_Function) and text[-1] in ")⌋⌉|"

    def _print_Mul(self, expr: Any) -> str:  # noqa: N802
        number, rest = expr.as_coeff_Mul()
        over, under, roots = _sorted_out(rest)
        above, below = self._product(over), self._product(under)
        for degree, inside in roots.items():
            powers = [(base, power) for base, power in inside if power > 0]
            whole = sympy.Mul(*(base**power for base, power in inside), evaluate=False)
            if powers:
                above.append(self._root(whole, degree))
            else:
                below.append(self._root(sympy.Mul(*(base**-power for base, power in inside), evaluate=False), degree))
        if number.is_Rational:
            above = ([self._print(sympy.Integer(abs(number.p)))] if abs(number.p) != 1 or not above else []) + above
            below = ([self._print(sympy.Integer(number.q))] if number.q != 1 else []) + below
        else:
            above = [self._factor(abs(number)), *above]
        top = ("−" if number.is_negative else "") + "·".join(above)
        if not below:
            return top
        return f"{top}/{below[0]}" if len(below) == 1 else f"{top}/({'·'.join(below)})"

    def _product(self, factors: Iterable[Any]) -> list[str]:
        return [self._factor(part) for part in sorted(factors, key=self._factor_key)]

    def _root(self, inside: Any, degree: int) -> str:
        """Return the root of a product of several factors."""
        return f"√({self._print(inside)})" if degree == _SQUARE else f"({self._print(inside)})^(1/{degree})"

    def _factor(self, part: Any) -> str:
        text = self._print(part)
        return f"({text})" if precedence(part) < PRECEDENCE["Mul"] or part.is_Mul else text

    def _factor_key(self, part: Any) -> tuple[Any, ...]:
        """Order factors: numbers, what has no units, step sizes, constants, roots, and last the counter of iterations.

        Of each kind letters come before sums, and what stands first in the table before what comes later.
        """
        base, power = part.as_base_exp()
        names = [symbol.name for symbol in part.free_symbols]
        units = {self._symbols[name].units for name in names if name in self._symbols}
        if set(names) <= _COUNTERS and names:
            kind = 5
        elif not names or part.is_number:
            kind = 0
        elif not power.is_Integer:
            kind = 4
        else:
            kind = 1 if units <= {(0, 0)} else 2 if units <= {_STEP, (0, 0)} else 3
        return kind, not base.is_Symbol, *self._places(names)

    # ------------------------------------------------------------------------------------------- sums

    def _print_Add(self, expr: Any, order: Any = None) -> str:  # noqa: N802
        terms = list(expr.args)
        numbers = [part for part in terms if part.is_number]
        rest = sorted((part for part in terms if not part.is_number), key=self._term_key)
        # M + 1 and K − 1, but 1 − α·μ and 1 + 1/d: a number comes first where the others are more than letters.
        first = any(map(_minus, rest[:1])) or not all(map(_letters_only, rest))
        first &= not any(map(_minus, numbers))
        found = ""
        for part in (*numbers, *rest) if first else (*rest, *numbers):
            text = self._print(part)
            if not found:
                found = text
            elif text.startswith("−"):
                found += f" − {text[1:]}"
            else:
                found += f" + {text}"
        return found

    def _term_key(self, part: Any) -> tuple[Any, ...]:
        """Order terms: what is added before what is subtracted, then by the letter that stands last in the table."""
        return _minus(part), *self._places(symbol.name for symbol in part.free_symbols), part.count_ops()

    def _places(self, names: Iterable[str]) -> tuple[Any, ...]:
        """Return a key that sorts by places in the table, the last one first; names beyond it by themselves."""
        ranked = sorted(((self._place.get(name, len(self._place)), name) for name in names), reverse=True)
        return (ranked,)


def _sorted_out(product: Any) -> tuple[list[Any], list[Any], dict[int, list[tuple[Any, Any]]]]:
    """Return the factors above and below the line, and by degree what several factors have below one root."""
    over: list[Any] = []
    under: list[Any] = []
    roots: dict[int, list[tuple[Any, Any]]] = {}
    for part in sympy.Mul.make_args(product):
        base, power = part.as_base_exp()
        if base is sympy.E:
            over.append(part)
        # √a·√b is √(a·b) where one knows that both are real.
        elif power.is_Rational and not power.is_Integer and base.is_nonnegative:
            roots.setdefault(int(power.q), []).append((base, int(power.p)))
        elif power.could_extract_minus_sign():
            under.append(base**-power)
        else:
            over.append(part)
    for degree in [degree for degree, inside in roots.items() if len(inside) == 1]:
        ((base, power),) = roots.pop(degree)
        (over if power > 0 else under).append(base ** sympy.Rational(abs(power), degree))
    return over, under, roots


def _minus(part: Any) -> bool:
    return bool(part.could_extract_minus_sign()) and (part.is_number or part.is_Mul)


def _letters_only(part: Any) -> bool:
    """Return whether a term is a product of letters, and of powers of letters."""
    if _minus(part):
        return True
    factors = (factor.as_base_exp() for factor in sympy.Mul.make_args(part))
    return all(base.is_number or (base.is_Symbol and power.is_Integer and power > 0) for base, power in factors)


# Put values into formulas, without SymPy's comparisons and without numbers of any length.

MAX_BITS = 1 << 16
_MAX_ROOT = 1 << 10


def substitute(expression: sympy.Expr, values: Mapping[sympy.Symbol, sympy.Expr]) -> sympy.Expr:
    """Replace symbols, and leave Min and Max unevaluated: SymPy would compare their arguments, which takes long.

    Raises
    ------
    UndecidedError
        If the result is infinite or not a number, or a power of numbers has more than 2^16 bits.
    """
    memo: dict[sympy.Expr, sympy.Expr] = {}

    def visit(part: sympy.Expr) -> sympy.Expr:
        if part in memo:
            return memo[part]
        if part.is_Symbol:
            found = values.get(part, part)
        elif not part.args:
            found = part
        else:
            found = _rebuild(part.func, [visit(argument) for argument in part.args])
        if found is sympy.nan:
            raise UndecidedError(f"{part} has no value there")
        memo[part] = found
        return found

    result = visit(sympy.sympify(expression))
    if result.has(sympy.zoo, sympy.oo, -sympy.oo, sympy.nan):
        raise UndecidedError("the value is infinite there")
    return result


def _rebuild(kind: Any, arguments: list[sympy.Expr]) -> sympy.Expr:
    if kind in (sympy.Min, sympy.Max):
        return extremum(kind, arguments)
    if kind is sympy.Derivative:  # such as that of a sum whose ends move
        raise UndecidedError("no rule gives a derivative there")
    if kind is sympy.Pow:
        _short(*arguments)
    return kind(*arguments)


def _short(base: sympy.Expr, exponent: sympy.Expr) -> None:
    """Refuse a power of rational numbers that SymPy would write in too many digits, or a root that it would factor."""
    if not (base.is_Rational and exponent.is_Rational) or base in (0, 1, -1):
        return
    bits = max(int(base.p).bit_length(), int(base.q).bit_length())
    # A root of a number is written with the powers of its prime factors, numerator of the exponent by numerator.
    if abs(int(exponent.p)) * bits > MAX_BITS or (not exponent.is_Integer and max(bits, int(exponent.q)) > _MAX_ROOT):
        raise UndecidedError(f"a power has more than {MAX_BITS} bits")


def extremum(kind: Any, arguments: list[sympy.Expr]) -> sympy.Expr:
    """Return Min or Max, with its numbers merged and infinities taken out.

    Parameters
    ----------
    kind
        ``sympy.Min`` or ``sympy.Max``.
    """
    # With M = 1 the D of AREA's Theorem 7 holds γ/(L²(M−1)) inside a Min: all symbols are ≥ 0, so that it is +∞.
    infinite = [part for part in arguments if part in (sympy.zoo, sympy.oo)]
    if infinite and kind is sympy.Max:
        return sympy.oo
    arguments = [part for part in arguments if part not in infinite]
    if not arguments:
        return sympy.oo
    numbers = [part for part in arguments if part.is_number and part.is_comparable]
    rest = list(dict.fromkeys(part for part in arguments if part not in numbers))
    if numbers:
        best = numbers[0]
        for number in numbers[1:]:
            larger = bool(sympy.N(number - best, 30) > 0)
            best = number if larger == (kind is sympy.Max) else best
        # All symbols are ≥ 0, and so is what they make up where a 0 stands beside it in a Max.
        if not (kind is sympy.Max and best == 0 and any(part.is_nonnegative for part in rest)):
            rest.append(best)
    return rest[0] if len(rest) == 1 else kind(*rest, evaluate=False)


# Multiply formulas out, where the result is predicted to be short.

MAX_TERMS = 2000


def expand(expression: sympy.Expr, most: int = MAX_TERMS) -> sympy.Expr:
    """Return ``sympy.expand`` of an expression.

    Raises
    ------
    UndecidedError
        If more than ``most`` terms are predicted, before any of them is made.

    Examples
    --------
    >>> x, y = sympy.symbols("x y")
    >>> expand((x + y) ** 2)
    x**2 + 2*x*y + y**2
    """
    count = predicted(expression)
    if count > most:
        raise UndecidedError(f"multiplied out it has more than {most} terms")
    return sympy.expand(expression)


def predicted(expression: sympy.Expr) -> float:
    """Return an upper bound on the number of terms that ``sympy.expand`` writes down anywhere, ∞ if beyond counting."""
    if not expression.args:
        return 1
    counts = [predicted(part) for part in expression.args]
    if expression.is_Add:
        return sum(counts)
    if expression.is_Mul:
        return math.prod(counts)
    if expression.is_Pow and expression.exp.is_Rational:
        return powers(counts[0], math.ceil(abs(expression.exp)))
    return max(counts)


def powers(terms: float, exponent: int) -> float:
    """Return the number of monomials of that degree in so many terms, C(terms + exponent − 1, exponent)."""
    if terms == 1 or exponent == 0:
        return 1
    if not math.isfinite(terms) or exponent > MAX_TERMS or terms > MAX_TERMS:
        return math.inf
    return math.comb(int(terms) + exponent - 1, exponent)


def size(expression: sympy.Expr, sizes: Mapping[sympy.Symbol, int] = MappingProxyType({})) -> int:
    """Return the number of nodes of the tree, counted without walking through equal parts twice.

    Parameters
    ----------
    sizes
        How many nodes will stand in place of a symbol.
    """
    memo: dict[sympy.Basic, int] = dict(sizes)

    def count(part: sympy.Basic) -> int:
        if part not in memo:
            memo[part] = 1 + sum(count(one) for one in part.args)
        return memo[part]

    return count(expression)


# Leading terms by the rules of dominated terms: exact where they apply, and quick.

Lead = tuple[sympy.Expr, sympy.Expr]


def leading(expression: sympy.Expr, small: sympy.Symbol) -> Lead:
    """Return (coefficient, power) of the leading term as ``small`` tends to 0 from above; (0, ∞) for 0.

    The rules are those of dominated terms: sums keep the smallest power, Max the largest part, and so on. They
    are exact; where leading terms cancel or a function is not among them, there is no answer.

    Raises
    ------
    UndecidedError
        If the rules do not decide it.
    """
    if expression == 0:
        return sympy.S.Zero, sympy.oo
    if small not in expression.free_symbols:
        return expression, sympy.S.Zero
    if expression == small:
        return sympy.S.One, sympy.S.One
    parts = expression.args
    if expression.is_Add:
        return _sum([leading(part, small) for part in parts])
    if expression.is_Mul:
        leads = [leading(part, small) for part in parts]
        return sympy.Mul(*(lead[0] for lead in leads)), sympy.Add(*(lead[1] for lead in leads))
    if expression.is_Pow and parts[1].is_number:
        coefficient, power = leading(parts[0], small)
        if not (coefficient.is_positive or (parts[1].is_integer and (coefficient != 0 or parts[1].is_positive))):
            raise UndecidedError(f"a power of {parts[0]}")
        return coefficient ** parts[1], power * parts[1]
    if expression.is_Pow:
        return _exponential(expression, small)
    if isinstance(expression, (sympy.Max, sympy.Min)):
        return _extreme_lead(expression.func, [leading(part, small) for part in parts])
    if isinstance(expression, sympy.exp):
        coefficient, power = leading(parts[0], small)
        if power >= 0:
            return (sympy.S.One if power > 0 else sympy.exp(coefficient)), sympy.S.Zero
    raise UndecidedError(f"no rule for {expression.func.__name__}")


def _extreme_lead(kind: Any, leads: list[Lead]) -> Lead:
    """Return the leading term of a Max or Min: negative parts lose a Max to any that is not negative."""
    positive = [lead for lead in leads if lead[0].is_nonnegative]
    if any(lead[0].is_nonnegative is None for lead in leads) or len(positive) < (
        1 if kind is sympy.Max else len(leads)
    ):
        raise UndecidedError("Min or Max of what may be negative")
    powers = [power for _, power in positive]
    chosen = min(powers) if kind is sympy.Max else max(powers)
    return extremum(kind, [coefficient for coefficient, power in positive if power == chosen]), chosen


def _sum(leads: list[Lead]) -> Lead:
    power = min(lead[1] for lead in leads)
    largest = [lead[0] for lead in leads if lead[1] == power]
    coefficient = sympy.Add(*largest)
    # One alone has nothing to cancel with.
    if power != sympy.oo and len(largest) > 1 and coefficient.is_zero is not False:
        # n − n cancels to 0; what has a known sign does not.
        coefficient = expand(coefficient)
        if coefficient == 0 or not (coefficient.is_nonnegative or coefficient.is_zero is False):
            raise UndecidedError("leading terms may cancel")
    return coefficient, power


def _exponential(expression: sympy.Expr, small: sympy.Symbol) -> Lead:
    """Return the leading term of base**exponent where the base tends to 1: (1 − a·small)**(b/small) → exp(−a·b)."""
    base, exponent = expression.args
    if isinstance(base, sympy.Max):
        positive = [part for part in base.args if leading(part, small)[0].is_nonnegative]
        base = positive[0] if len(positive) == 1 else base
    b, q = leading(exponent, small)
    if q < 0 and small not in base.free_symbols:
        # A rate between 0 and 1, to the power of the horizon, falls below every power.
        parts = base.args if isinstance(base, sympy.Max) else (base,)
        if b.is_positive and all(_positive(1 - part) for part in parts):
            return sympy.S.Zero, sympy.oo
        if b.is_negative and all(_positive(part - 1) for part in parts):
            return sympy.S.Zero, sympy.oo
    if leading(base, small) != (1, 0):
        raise UndecidedError(f"the power {expression}")
    a, p = leading(expand(base - 1), small)
    if p + q > 0:
        return sympy.S.One, sympy.S.Zero
    if p + q == 0:
        return sympy.exp(a * b), sympy.S.Zero
    if (a * b).is_negative:
        return sympy.S.Zero, sympy.oo  # below every power
    raise UndecidedError(f"the power {expression}")


def _positive(expression: sympy.Expr) -> bool:
    expand(expression)  # refuses what SymPy would multiply out for long
    return bool(sympy.together(expression).is_positive)
